/*
 * lending.c - where on the board a peer's vectors lie, and the notes of them.
 */
#include "node/ring/lending.h"

#include <assert.h>

#include "base/check.h"
#include "base/mem.h"

#define VECTOR_MAX (UINT64_C(1) << 28) /* Bytes; longer ones are sent. */
#define HEADS      3u                  /* Seals of an answer's vectors. */

/* The place of what a peer has made of its slice of the model, in a note:
 * behind those of sums. */
#define STEPPED        PEER_ROOMS
#define STEPPED_ANSWER 1u
#define STEPPED_HEAD   2u

/* Tally and totals: which answer of the berth, and which vector of it. */
static const struct {
    uint32_t answer, vector;
} places[PEER_ROOMS] = {{0, 0}, {0, 1}, {1, 1}};

static_assert(BOARD_ANSWERS == 2, "one total each");
static_assert(sizeof(struct seal) <= MEM_LINE, "a line for each");

/* Coordinates, on whole lines. */
static size_t vector_bytes(uint32_t sum_dims)
{
    return ((size_t)sum_dims * sizeof(int64_t) + MEM_LINE - 1) / MEM_LINE *
           MEM_LINE;
}

static size_t sums_bytes(uint32_t sum_dims)
{
    return HEADS * MEM_LINE + 2 * vector_bytes(sum_dims);
}

enum err lending_new(uint32_t berths, uint32_t count, uint32_t sum_dims,
                     size_t step_bytes, struct board **board)
{
    const struct board_shape shape = {.berths = berths,
                                      .workers = count,
                                      .answer_bytes =
                                          sums_bytes(sum_dims) + step_bytes,
                                      .letters = true};

    *board = NULL;
    if (vector_bytes(sum_dims) > VECTOR_MAX)
        return ERR_OK;
    return board_new(&shape, board);
}

static struct slice_room room_at(struct board *board, uint32_t berth,
                                 uint32_t sum_dims, uint32_t place)
{
    uint8_t *const bytes =
        board_answer_open(board, berth, places[place].answer);
    const uint32_t vector = places[place].vector;

    return (struct slice_room){
        .seal = (struct seal *)(void *)(bytes + (size_t)vector * MEM_LINE),
        .sum = (int64_t *)(void *)(bytes + HEADS * MEM_LINE +
                                   vector * vector_bytes(sum_dims))};
}

void lending_rooms(struct board *board, uint32_t berth, uint32_t sum_dims,
                   struct slice_room rooms[PEER_ROOMS])
{
    for (uint32_t i = 0; i < PEER_ROOMS; i++)
        rooms[i] = room_at(board, berth, sum_dims, i);
}

struct share_room lending_stepped(struct board *board, uint32_t berth,
                                  uint32_t sum_dims)
{
    uint8_t *const bytes = board_answer_open(board, berth, STEPPED_ANSWER);
    const size_t from = sums_bytes(sum_dims);

    if (board_shape(board)->answer_bytes <= from)
        return (struct share_room){0};
    return (struct share_room){
        .seal =
            (struct seal *)(void *)(bytes + (size_t)STEPPED_HEAD * MEM_LINE),
        .memory = bytes + from};
}

/* PEER_ROOMS, STEPPED: none of the others; beyond: nowhere. */
static uint32_t place_of(struct board *board, uint32_t berth, uint32_t sum_dims,
                         const struct msg_slice *slice)
{
    uint32_t place = 0;

    if (slice->stepped != NULL)
        return lending_stepped(board, berth, sum_dims).seal == slice->seal
                   ? STEPPED
                   : STEPPED + 1;
    while (place < PEER_ROOMS &&
           room_at(board, berth, sum_dims, place).seal != slice->seal)
        place++;
    return place < PEER_ROOMS ? place : STEPPED + 1;
}

bool lending_posts(struct board *board, uint32_t berth, uint32_t sum_dims,
                   const struct msg *msg)
{
    return msg->kind == MSG_SLICE && msg->slice.seal != NULL &&
           place_of(board, berth, sum_dims, &msg->slice) <= STEPPED;
}

bool lending_fill(struct board *board, uint32_t berth, uint32_t sum_dims,
                  struct envelope *envelope, const struct msg *msg)
{
    const struct posted where = {
        .place = place_of(board, berth, sum_dims, &msg->slice),
        .sequence = msg->slice.number};

    CHECK(where.place <= STEPPED);
    if (where.place == STEPPED)
        CHECK(lending_stepped(board, berth, sum_dims).memory ==
              msg->slice.stepped);
    else
        CHECK(room_at(board, berth, sum_dims, where.place).sum +
                  msg->slice.at ==
              msg->slice.sum);
    return envelope_fill_posted(envelope, msg, &where);
}

/* Where it lies: false if there is no such place. */
static bool find_place(struct board *board, uint32_t berth, uint32_t sum_dims,
                       uint32_t place, struct msg_slice *slice)
{
    if (place == STEPPED) {
        const struct share_room room = lending_stepped(board, berth, sum_dims);

        slice->stepped = room.memory;
        slice->seal = room.seal;
        return room.memory != NULL;
    }
    if (place < PEER_ROOMS) {
        const struct slice_room room = room_at(board, berth, sum_dims, place);

        slice->sum = room.sum + slice->at;
        slice->seal = room.seal;
    }
    return place < PEER_ROOMS;
}

enum err lending_find(struct board *board, uint32_t berth, uint32_t sum_dims,
                      struct codec_room *room, const uint8_t *data, size_t size,
                      struct msg *msg)
{
    struct posted where;
    struct msg made;
    const enum err err = codec_decode_posted(data, size, room, &made, &where);

    if (err != ERR_OK)
        return err;
    if (made.kind != MSG_SLICE || made.slice.count == 0 ||
        made.slice.dims > sum_dims ||
        !find_place(board, berth, sum_dims, where.place, &made.slice))
        return ERR_FORMAT;
    made.slice.number = where.sequence;
    *msg = made;
    return ERR_OK;
}
