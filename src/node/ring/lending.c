/*
 * lending.c - where on the board a peer's vectors lie, and the notes of them.
 */
#include "node/ring/lending.h"

#include <assert.h>

#include "base/check.h"
#include "base/mem.h"

#define VECTOR_MAX (UINT64_C(1) << 28) /* Bytes; longer ones are sent. */
#define HEADS      2u                  /* Seals of an answer's two vectors. */

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

static size_t vector_room(const struct board *board)
{
    return (board_shape(board)->answer_bytes - HEADS * MEM_LINE) / 2;
}

enum err lending_new(uint32_t berths, uint32_t count, uint32_t sum_dims,
                     struct board **board)
{
    const struct board_shape shape = {
        .berths = berths,
        .workers = count,
        .answer_bytes = HEADS * MEM_LINE + 2 * vector_bytes(sum_dims)};

    *board = NULL;
    if (vector_bytes(sum_dims) > VECTOR_MAX)
        return ERR_OK;
    return board_new(&shape, board);
}

static struct slice_room room_at(struct board *board, uint32_t berth,
                                 uint32_t place)
{
    uint8_t *const bytes =
        board_answer_open(board, berth, places[place].answer);
    const uint32_t vector = places[place].vector;

    return (struct slice_room){
        .seal = (struct seal *)(void *)(bytes + (size_t)vector * MEM_LINE),
        .sum = (int64_t *)(void *)(bytes + HEADS * MEM_LINE +
                                   vector * vector_room(board))};
}

void lending_rooms(struct board *board, uint32_t berth,
                   struct slice_room rooms[PEER_ROOMS])
{
    for (uint32_t i = 0; i < PEER_ROOMS; i++)
        rooms[i] = room_at(board, berth, i);
}

static uint32_t place_of(struct board *board, uint32_t berth,
                         const struct msg_slice *slice)
{
    uint32_t place = 0;

    while (place < PEER_ROOMS &&
           room_at(board, berth, place).seal != slice->seal)
        place++;
    return place;
}

bool lending_posts(struct board *board, uint32_t berth, const struct msg *msg)
{
    return msg->kind == MSG_SLICE && msg->slice.seal != NULL &&
           place_of(board, berth, &msg->slice) < PEER_ROOMS;
}

bool lending_fill(struct board *board, uint32_t berth,
                  struct envelope *envelope, const struct msg *msg)
{
    const struct posted where = {.place = place_of(board, berth, &msg->slice),
                                 .sequence = msg->slice.number};

    CHECK(where.place < PEER_ROOMS);
    CHECK(room_at(board, berth, where.place).sum + msg->slice.at ==
          msg->slice.sum);
    return envelope_fill_posted(envelope, msg, &where);
}

enum err lending_find(struct board *board, uint32_t berth,
                      struct codec_room *room, const uint8_t *data, size_t size,
                      struct msg *msg)
{
    struct posted where;
    struct slice_room place;
    struct msg made;
    const enum err err = codec_decode_posted(data, size, room, &made, &where);

    if (err != ERR_OK)
        return err;
    if (made.kind != MSG_SLICE || where.place >= PEER_ROOMS ||
        made.slice.count == 0 ||
        made.slice.dims * sizeof *place.sum > vector_room(board))
        return ERR_FORMAT;
    place = room_at(board, berth, where.place);
    made.slice.sum = place.sum + made.slice.at;
    made.slice.seal = place.seal;
    made.slice.number = where.sequence;
    *msg = made;
    return ERR_OK;
}
