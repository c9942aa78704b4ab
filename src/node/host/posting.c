/*
 * posting.c - message passing by shared memory: a message's vectors go to the
 * board and its head is left as a note; whatever does not fit is sent over the
 * link instead.
 */
#include "node/host/posting.h"

#include <string.h>

#include "base/check.h"

#define ANSWER_MAX (UINT64_C(1) << 28) /* Bytes; beyond, gradients only. */

/* Short messages are copied; sharing would cost more. */
static bool is_long(const struct msg *msg)
{
    return msg->kind == MSG_TALLY || msg->kind == MSG_ROW ||
           msg->kind == MSG_SUM || msg->kind == MSG_ROUND ||
           msg->kind == MSG_DATA || msg->kind == MSG_SLICE ||
           msg->kind == MSG_STATE;
}

static bool head_room(struct envelope *envelope, size_t bound)
{
    envelope->head_size = 0;
    envelope->tail = NULL;
    envelope->tail_size = 0;
    return blob_fresh(&envelope->room, bound) != NULL;
}

bool envelope_fill(struct envelope *envelope, const struct msg *msg)
{
    const size_t bound = codec_bound(msg);

    if (!head_room(envelope, is_long(msg) ? 0 : bound))
        return false;
    if (!is_long(msg)) {
        envelope->head_size = codec_encode(msg, envelope->room->bytes);
        return true;
    }
    envelope->tail = blob_fresh(&envelope->own, bound);
    if (envelope->tail == NULL)
        return false;
    envelope->tail_size = codec_encode(msg, envelope->tail->bytes);
    return true;
}

bool envelope_fill_head(struct envelope *envelope, const struct msg *msg)
{
    if (!head_room(envelope, codec_posted_bound(msg)))
        return false;
    envelope->head_size = codec_encode_head(msg, envelope->room->bytes);
    return true;
}

void envelope_send(const struct envelope *envelope, struct link *link,
                   enum plane plane)
{
    if (envelope->tail == NULL)
        link_send(link, plane, envelope->room->bytes, envelope->head_size);
    else
        link_send_with(link, plane, envelope->room->bytes, envelope->head_size,
                       envelope->tail, envelope->tail_size);
}

/* Only what speaks of the board, or of a round there: those who read it know
 * the job. */
bool envelope_leave(const struct envelope *envelope, struct board *board,
                    uint32_t berth, enum board_side to, bool order)
{
    return board != NULL && berth != BOARD_NONE && envelope->tail == NULL &&
           (order ||
            codec_is_posted(envelope->room->bytes, envelope->head_size)) &&
           board_note_leave(board, berth, to, envelope->room->bytes,
                            envelope->head_size);
}

void envelope_close(struct envelope *envelope)
{
    blob_drop(envelope->room);
    blob_drop(envelope->own);
    *envelope = (struct envelope){0};
}

bool envelope_fill_posted(struct envelope *envelope, const struct msg *msg,
                          const struct posted *where)
{
    if (!head_room(envelope, codec_posted_bound(msg)))
        return false;
    envelope->head_size =
        codec_encode_posted(msg, where, envelope->room->bytes);
    return true;
}

/* --- the coordinator's side ---------------------------------------------- */

/* Are the exponents of this round in that place, since the last one there?
 * Else they are about to be. */
static bool laid_already(struct posting *posting, const struct msg_round *round,
                         const uint8_t *where)
{
    const struct laid now = {
        .where = where,
        .scale = round->key.scale,
        .count = evaluation_exponents(round->kind, round->dims)};
    struct laid *laid = posting->laid;

    while (laid->where != where && laid->where != NULL)
        laid++; /* There are no more places than these. */
    if (laid->where == where && laid->scale == now.scale &&
        laid->count == now.count)
        return true;
    *laid = now;
    return false;
}

/* The round that is to be posted next: opened when its first byte is written,
 * since whoever reads the one that lay there finds it gone then. */
static uint8_t *next_round(struct posting *posting)
{
    if (posting->next == NULL)
        posting->next = board_round_open(posting->board);
    return posting->next;
}

/* The weights are what a round has first. */
static double *open_mirror(struct mirror *self)
{
    struct posting *const posting = (struct posting *)(void *)self;

    posting->mirrors = true;
    return (double *)(void *)next_round(posting);
}

struct mirror *posting_mirror(struct posting *posting)
{
    posting->mirror.open = open_mirror;
    return posting->board != NULL ? &posting->mirror : NULL;
}

/* A key names weights and scale, so equal keys are equal vectors. */
static bool post_round(struct posting *posting, const struct msg_round *round)
{
    const size_t room = board_shape(posting->board)->round_bytes;
    struct msg_round laid = *round;
    uint8_t *bytes;

    if (posting->sequence != 0 && key_equal(&posting->posted_key, &round->key))
        return true;
    if (codec_laid_bound(round->dims,
                         evaluation_dims(round->kind, round->dims)) > room)
        return false;
    bytes = next_round(posting);
    if (!posting->mirrors) /* Others lay there since. */
        laid.mirror = NULL;
    codec_lay_vectors(&laid, posting->pool, bytes);
    if (!laid_already(posting, round, bytes))
        codec_lay_exponents(round, posting->pool, bytes);
    posting->sequence = board_round_publish(posting->board);
    posting->next = NULL;
    posting->mirrors = false;
    posting->posted_key = round->key;
    return true;
}

static bool pack_exponents(struct posting *posting,
                           const struct msg_round *round)
{
    const uint32_t count = evaluation_exponents(round->kind, round->dims);

    if (posting->scaled == count && posting->scale == round->key.scale)
        return true;
    posting->scaled = 0;
    if (blob_fresh(&posting->exponents, codec_exponents_bound(round)) == NULL)
        return false;
    posting->exponents_size =
        codec_encode_exponents(round, posting->exponents->bytes);
    posting->scaled = count;
    posting->scale = round->key.scale;
    return true;
}

/* Two in turn: memory that is given back and taken again is cleared, all of it,
 * although a network's round fills a quarter. */
static void swap_vectors(struct posting *posting)
{
    struct blob *const sent = posting->vectors;

    posting->vectors = posting->before;
    posting->before = sent;
}

static bool share_vectors(struct posting *posting,
                          const struct msg_round *round)
{
    const size_t bound = codec_vectors_bound(
        round->dims, evaluation_dims(round->kind, round->dims));
    size_t size;

    if (posting->vectors_size > 0 && key_equal(&posting->sent_key, &round->key))
        return true;
    posting->vectors_size = 0;
    if (posting->vectors != NULL && posting->vectors->holders > 1)
        swap_vectors(posting);
    if (blob_fresh(&posting->vectors, bound) == NULL)
        return false;
    size = codec_encode_weights(round, posting->vectors->bytes, bound);
    if (!evaluation_is_product(round->kind)) {
        if (!pack_exponents(posting, round))
            return false;
        memcpy(posting->vectors->bytes + size, posting->exponents->bytes,
               posting->exponents_size);
        size += posting->exponents_size;
    }
    posting->vectors_size = size;
    posting->sent_key = round->key;
    return true;
}

static bool fill_shared(struct posting *posting, struct envelope *envelope,
                        const struct msg *msg)
{
    if (!share_vectors(posting, &msg->round) ||
        !envelope_fill_head(envelope, msg))
        return false;
    envelope->tail = posting->vectors;
    envelope->tail_size = posting->vectors_size;
    return true;
}

bool posting_fill(struct posting *posting, uint32_t berth,
                  struct envelope *envelope, const struct msg *msg)
{
    struct posted where = {0};

    /* Input coding: each has a vector of its own. */
    if (msg->kind != MSG_ROUND || msg->round.kind == EVALUATE_COMBINE)
        return envelope_fill(envelope, msg);
    if (berth == BOARD_NONE || !post_round(posting, &msg->round))
        return fill_shared(posting, envelope, msg);
    where.sequence = posting->sequence;
    return envelope_fill_posted(envelope, msg, &where);
}

void posting_close(struct posting *posting)
{
    blob_drop(posting->vectors);
    blob_drop(posting->before);
    blob_drop(posting->exponents);
    *posting = (struct posting){0};
}

enum err posting_tally(const struct posting *posting, uint32_t berth,
                       struct codec_room *room, const uint8_t *data,
                       size_t size, struct msg *msg, struct posted *where)
{
    struct posted place;
    struct msg made;
    const uint8_t *bytes;
    enum err err;

    if (berth == BOARD_NONE)
        return ERR_FORMAT;
    err = codec_decode_posted(data, size, room, &made, &place);
    if (err != ERR_OK)
        return err;
    if (made.kind != MSG_TALLY ||
        (size_t)made.tally.dims * sizeof *made.tally.sum >
            board_shape(posting->board)->answer_bytes)
        return ERR_FORMAT;
    bytes = board_answer(posting->board, berth, place.place, place.sequence);
    if (bytes == NULL)
        return ERR_STALE;
    made.tally.sum = (const int64_t *)(const void *)bytes;
    *msg = made;
    *where = place;
    return ERR_OK;
}

/* --- the worker's side --------------------------------------------------- */

static int64_t *sums_at(struct board *board, uint32_t berth, uint32_t place)
{
    return (int64_t *)(void *)board_answer_open(board, berth, place);
}

/* Asked once for each answer: the coordinator may release one at any time. */
static uint32_t free_place(const struct board *board, uint32_t berth,
                           uint32_t dims)
{
    return dims * sizeof(int64_t) <= board_shape(board)->answer_bytes
               ? board_answer_free(board, berth)
               : BOARD_NONE;
}

int64_t *answer_open(struct board *board, uint32_t berth, uint32_t dims)
{
    const uint32_t place = free_place(board, berth, dims);

    return place != BOARD_NONE ? sums_at(board, berth, place) : NULL;
}

/* Sums that were computed where answer_open said are there already.  Nothing
 * was published since, so that place is free still. */
static uint32_t place_of(struct board *board, uint32_t berth,
                         const int64_t *sum)
{
    for (uint32_t place = 0; place < BOARD_ANSWERS; place++) {
        if (sums_at(board, berth, place) == sum)
            return place;
    }
    return BOARD_NONE;
}

static uint32_t lay_down(struct board *board, uint32_t berth,
                         const struct msg_tally *tally)
{
    const uint32_t place = free_place(board, berth, tally->dims);

    if (place != BOARD_NONE)
        memcpy(sums_at(board, berth, place), tally->sum,
               tally->dims * sizeof *tally->sum);
    return place;
}

bool answer_fill(struct board *board, uint32_t berth, struct envelope *envelope,
                 const struct msg *msg)
{
    struct posted where;

    if (msg->kind != MSG_TALLY)
        return envelope_fill(envelope, msg);
    where.place = place_of(board, berth, msg->tally.sum);
    if (where.place == BOARD_NONE)
        where.place = lay_down(board, berth, &msg->tally);
    if (where.place == BOARD_NONE)
        return envelope_fill(envelope, msg);
    where.sequence = board_answer_publish(board, berth, where.place);
    return envelope_fill_posted(envelope, msg, &where);
}

enum err answer_round(const struct board *board, struct codec_room *room,
                      const uint8_t *data, size_t size, struct msg *msg)
{
    struct posted where;
    struct msg made;
    const uint8_t *bytes;
    enum err err = codec_decode_posted(data, size, room, &made, &where);

    if (err != ERR_OK)
        return err;
    if (made.kind != MSG_ROUND)
        return ERR_FORMAT;
    bytes = board_round(board, where.sequence);
    if (bytes == NULL)
        return ERR_STALE;
    err = codec_find_vectors(bytes, board_shape(board)->round_bytes, room,
                             &made.round);
    /* A row may be wanted when the round is over. */
    made.round.kept = made.round.coded ? 0 : where.sequence;
    if (err == ERR_OK && made.round.coded)
        codec_copy_vectors(room, &made.round);
    if (!board_round_holds(board, where.sequence)) {
        codec_room_forget(room);
        return ERR_STALE;
    }
    if (err == ERR_OK)
        *msg = made;
    return err;
}

struct board_shape posting_shape(uint32_t berths, uint32_t dims,
                                 uint32_t sum_dims)
{
    const uint64_t whole = (uint64_t)sum_dims * sizeof(int64_t);
    const uint32_t longest = whole <= ANSWER_MAX ? sum_dims : dims;

    return (struct board_shape){
        .berths = berths,
        .round_bytes = codec_laid_bound(dims, longest),
        .answer_bytes = (size_t)longest * sizeof(int64_t),
    };
}
