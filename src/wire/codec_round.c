/*
 * codec_round.c - the round: pieces, weights and scale, in a message or where
 * they lie.
 */
#include <assert.h>
#include <math.h>
#include <string.h>

#include "base/check.h"
#include "base/mem.h"
#include "math/computation.h"
#include "math/exact/pack.h"
#include "math/kernel/kernel.h"
#include "wire/codec_parts.h"

#if __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "vectors are copied as they lie: little-endian only"
#endif

#define EXPONENT_LIMIT 1022 /* 2^e and 2^-e are normal numbers. */
#define PACKED_BATCH   1024u
#define DELTA_BYTES    137u /* A block of the widest differences of int16. */

static_assert(PACKED_BATCH % PACK_BLOCK == 0, "only the last block is short");

static void put_items(struct writer *out, const struct item *items,
                      uint32_t count)
{
    put_u32(out, count);
    for (uint32_t i = 0; i < count; i++) {
        put_u32(out, items[i].id);
        put_u32(out, items[i].first);
        put_u32(out, items[i].end);
        put_f64(out, items[i].coefficient);
    }
}

/* To `list`, which has room->items_max of them.  A range is of chunks or of the
 * rows of a coded block, of which there may be more than CHUNKS_MAX: how many,
 * the worker knows that is asked for it. */
static void get_items(struct reader *in, const struct codec_room *room,
                      struct item *list, uint32_t *count,
                      const struct item **items)
{
    const uint32_t declared = get_u32(in);

    must(in, declared <= room->items_max);
    for (uint32_t i = 0; in->ok && i < declared; i++) {
        struct item *item = &list[i];

        item->id = get_u32(in);
        item->first = get_u32(in);
        item->end = get_u32(in);
        must(in, item->first <= item->end);
        item->coefficient = get_f64(in);
        must(in, isfinite(item->coefficient));
    }
    *count = declared;
    *items = list;
}

/* The length of a vector must be the job's, which nobody declares. */
uint32_t get_sum_dims(struct reader *in, const struct codec_room *room)
{
    const uint32_t dims = get_u32(in);

    must(in, dims > 0 && dims <= room->sum_dims);
    return dims;
}

static double get_delay(struct reader *in)
{
    const double value = get_f64(in);

    must(in, isfinite(value) && value >= 0.0);
    return value;
}

void put_task(struct writer *out, const struct msg_round *round)
{
    put_key(out, &round->key);
    put_u64(out, round->assignment);
    put_bool(out, round->coded);
    put_f64(out, round->delay_s);
    put_f64(out, round->delay_factor);
    put_f64(out, round->delay_share_s);
    put_items(out, round->items, round->count);
}

void put_round_head(struct writer *out, const struct msg_round *round)
{
    put_task(out, round);
    put_bool(out, round->repeat);
    put_bool(out, round->patient);
    put_bool(out, round->single);
    put_u8(out, (uint8_t)round->kind);
    put_u8(out, (uint8_t)round->soft);
    put_f64(out, round->size);
    if (evaluation_is_product(round->kind)) {
        put_u32(out, round->parts);
        put_items(out, round->terms, round->term_count);
    }
    put_u32(out, round->dims);
    put_bool(out, round->narrow);
}

size_t to_line(size_t bytes)
{
    return (bytes + MEM_LINE - 1) / MEM_LINE * MEM_LINE;
}

void put_pad(struct writer *out)
{
    static const uint8_t zeros[MEM_LINE];

    put_bytes(out, zeros, to_line(out->size) - out->size);
}

static void get_pad(struct reader *in)
{
    const size_t size = to_line(in->at) - in->at;
    const uint8_t *pad = get_view(in, size);

    for (size_t i = 0; in->ok && i < size; i++)
        must(in, pad[i] == 0);
}

static size_t exponents_bound(uint32_t count)
{
    return sizeof(int16_t) + ((size_t)count / PACK_BLOCK + 1) * DELTA_BYTES;
}

static void put_exponents(struct writer *out, const int16_t *exponent,
                          uint32_t count)
{
    int64_t delta[PACKED_BATCH];
    uint8_t packed[sizeof delta + PACKED_BATCH];

    CHECK(sizeof packed >= pack_bound(PACKED_BATCH));
    if (count == 0)
        return;
    put_u16(out, (uint16_t)exponent[0]);
    for (uint32_t at = 0; at < count; at += PACKED_BATCH) {
        const uint32_t left = count - at;
        const uint32_t n = left < PACKED_BATCH ? left : PACKED_BATCH;

        for (uint32_t j = 0; j < n; j++)
            delta[j] = exponent[at + j] - exponent[0];
        put_bytes(out, packed, pack_i64(delta, n, packed));
    }
}

/* ... and these. */
static void put_round_weights(struct writer *out, const struct msg_round *round)
{
    if (round->narrow)
        put_floats(out, round->weights, round->dims);
    else
        put_vector(out, round->weights, round->dims);
    put_pad(out);
    if (round->kind != EVALUATE_HESSVEC)
        return;
    put_vector(out, round->direction, round->dims);
    put_pad(out);
}

void put_round_vectors(struct writer *out, const struct msg_round *round)
{
    put_round_weights(out, round);
    put_exponents(out, round->exponent,
                  evaluation_exponents(round->kind, round->dims));
}

static bool exponents_valid(const int16_t *exponent, uint32_t count)
{
    int16_t least = 0;
    int16_t most = 0;

    for (uint32_t j = 0; j < count; j++) {
        least = exponent[j] < least ? exponent[j] : least;
        most = exponent[j] > most ? exponent[j] : most;
    }
    return least >= -EXPONENT_LIMIT && most <= EXPONENT_LIMIT;
}

/* Exponents as they lie on a board. */
static void get_exponents(struct reader *in, int16_t *exponent, uint32_t dims)
{
    get_bytes(in, exponent, (size_t)dims * sizeof *exponent);
    must(in, in->ok && exponents_valid(exponent, dims));
}

static bool add_deltas(const int64_t *delta, uint32_t count, int64_t first,
                       int16_t *exponent)
{
    int64_t least = 0;
    int64_t most = 0;

    for (uint32_t j = 0; j < count; j++) {
        least = delta[j] < least ? delta[j] : least;
        most = delta[j] > most ? delta[j] : most;
        exponent[j] = (int16_t)(uint16_t)((uint64_t)first + (uint64_t)delta[j]);
    }
    return least >= -EXPONENT_LIMIT - first && most <= EXPONENT_LIMIT - first;
}

static void get_packed_exponents(struct reader *in, int16_t *exponent,
                                 uint32_t count)
{
    const int16_t first = count > 0 ? (int16_t)get_u16(in) : 0;
    int64_t delta[PACKED_BATCH];

    must(in, first >= -EXPONENT_LIMIT && first <= EXPONENT_LIMIT);
    for (uint32_t at = 0; in->ok && at < count; at += PACKED_BATCH) {
        const uint32_t left = count - at;
        const uint32_t n = left < PACKED_BATCH ? left : PACKED_BATCH;
        size_t used;

        if (unpack_i64(in->data + in->at, in->size - in->at, n, delta, &used) !=
            ERR_OK) {
            in->ok = false;
            return;
        }
        in->at += used;
        must(in, (at > 0 || delta[0] == 0) &&
                     add_deltas(delta, n, first, exponent + at));
    }
}

/* One whose sums have room here. */
static enum evaluation_kind get_evaluation(struct reader *in,
                                           const struct codec_room *room)
{
    const uint8_t kind = get_u8(in);

    must(in, kind <= EVALUATE_LAST);
    if (!in->ok)
        return EVALUATE_GRADIENT;
    must(in, evaluation_dims((enum evaluation_kind)kind, room->dims) <=
                 room->sum_dims);
    return (enum evaluation_kind)kind;
}

void get_task(struct reader *in, const struct codec_room *room,
              struct msg_round *round)
{
    get_key(in, &round->key);
    round->assignment = get_u64(in);
    round->coded = get_bool(in);
    round->delay_s = get_delay(in);
    round->delay_factor = get_delay(in);
    round->delay_share_s = get_delay(in);
    get_items(in, room, room->items, &round->count, &round->items);
}

void get_round_head(struct reader *in, const struct codec_room *room,
                    struct msg_round *round)
{
    bool product;

    get_task(in, room, round);
    round->repeat = get_bool(in);
    round->patient = get_bool(in);
    round->single = get_bool(in);
    round->kind = get_evaluation(in, room);
    round->soft = get_u8(in);
    must(in, round->soft <= LOSS_SOFTS);
    round->size = get_f64(in);
    must(in, round->size == 0 || computation_samples(round->size));
    product = evaluation_is_product(round->kind);
    round->parts = 0;
    round->term_count = 0;
    round->terms = NULL;
    if (product) {
        round->parts = get_u32(in);
        get_items(in, room, room->items + room->items_max, &round->term_count,
                  &round->terms);
    }
    round->dims = get_u32(in);
    /* A product multiplies what may be as long as an answer. */
    must(in, round->dims > 0 && (product ? round->dims <= room->sum_dims
                                         : round->dims == room->dims));
    round->narrow = get_bool(in);
    must(in, !round->narrow || round->kind == EVALUATE_GRADIENT);
}

/* A vector as long as the weights: a view of the message. */
static const uint8_t *get_weights(struct reader *in, uint32_t dims, bool narrow)
{
    const uint8_t *view =
        narrow ? get_floats(in, dims) : get_view(in, dims * sizeof(double));

    get_pad(in);
    return view;
}

/* Those of the last round, if they go by the same name: most rounds have them,
 * and reading them is a good part of reading a round. */
static void get_round_exponents(struct reader *in, struct codec_room *room,
                                struct msg_round *round)
{
    const uint32_t count = evaluation_exponents(round->kind, round->dims);

    /* A product has none: nothing follows its weights, to be skipped. */
    if (count > 0 && room->scaled == count && room->scale == round->key.scale) {
        round->exponent = room->exponent;
        skip_rest(in);
        return;
    }
    room->scaled = 0;
    get_packed_exponents(in, room->exponent, count);
    room->scaled = in->ok ? count : 0;
    room->scale = round->key.scale;
    round->exponent = room->exponent;
}

void get_round_vectors(struct reader *in, struct codec_room *room,
                       struct msg_round *round)
{
    const size_t bytes = round->dims * sizeof *room->weights;
    const uint8_t *weights = NULL;
    const uint8_t *direction = NULL;

    get_pad(in);
    if (in->ok)
        weights = get_weights(in, round->dims, round->narrow);
    if (in->ok && round->kind == EVALUATE_HESSVEC)
        direction = get_weights(in, round->dims, false);
    if (!in->ok)
        return;
    if (round->narrow)
        widen_floats(weights, round->dims, room->weights);
    else
        memcpy(room->weights, weights, bytes);
    round->weights = room->weights;
    if (direction != NULL) {
        memcpy(room->direction, direction, bytes);
        round->direction = room->direction;
    }
    get_round_exponents(in, room, round);
}

void find_round_vectors(struct reader *in, struct codec_room *room,
                        struct msg_round *round)
{
    get_pad(in);
    if (in->ok)
        round->weights = (const double *)(const void *)get_weights(
            in, round->dims, round->narrow);
    if (in->ok && round->kind == EVALUATE_HESSVEC)
        round->direction =
            (const double *)(const void *)get_weights(in, round->dims, false);
    if (in->ok)
        get_round_exponents(in, room, round);
}

void put_work(struct writer *out, const struct msg_work *work)
{
    put_key(out, &work->key);
    put_u64(out, work->assignment);
    put_items(out, work->items, work->count);
}

void get_work(struct reader *in, const struct codec_room *room,
              struct msg_work *work)
{
    get_key(in, &work->key);
    work->assignment = get_u64(in);
    get_items(in, room, room->items, &work->count, &work->items);
}

size_t codec_vectors_bound(uint32_t dims, uint32_t sum_dims)
{
    return 2 * to_line((size_t)dims * sizeof(double)) +
           exponents_bound(sum_dims + 1);
}

size_t codec_encode_weights(const struct msg_round *round, uint8_t *out,
                            size_t capacity)
{
    struct writer writer = writer_on(out, capacity);

    put_round_weights(&writer, round);
    CHECK(writer.ok);
    return writer.size;
}

size_t codec_exponents_bound(const struct msg_round *round)
{
    return exponents_bound(evaluation_exponents(round->kind, round->dims));
}

size_t codec_encode_exponents(const struct msg_round *round, uint8_t *out)
{
    struct writer writer = writer_on(out, codec_exponents_bound(round));

    put_exponents(&writer, round->exponent,
                  evaluation_exponents(round->kind, round->dims));
    CHECK(writer.ok);
    return writer.size;
}

bool codec_peek_round(const uint8_t *data, size_t size, struct round_key *key)
{
    struct reader in = reader_on(data, size);

    if (get_u8(&in) != MSG_ROUND)
        return false;
    get_key(&in, key);
    return in.ok;
}

void codec_room_forget(struct codec_room *room)
{
    room->scaled = 0;
}

static size_t laid_vector(uint32_t dims)
{
    return to_line((size_t)dims * sizeof(double));
}

size_t codec_laid_bound(uint32_t dims, uint32_t sum_dims)
{
    return 2 * laid_vector(dims) +
           to_line(((size_t)sum_dims + 1) * sizeof(int16_t));
}

void codec_lay_vectors(const struct msg_round *round, struct pool *pool,
                       uint8_t *out)
{
    const size_t size = round->dims * sizeof *round->weights;
    const size_t laid = round->mirror == (const double *)(const void *)out
                            ? round->mirrored * sizeof *round->weights
                            : 0;

    pool_copy(pool, out + laid, (const uint8_t *)round->weights + laid,
              size - laid);
    out += laid_vector(round->dims);
    if (round->kind == EVALUATE_HESSVEC)
        pool_copy(pool, out, round->direction, size);
}

void codec_lay_exponents(const struct msg_round *round, struct pool *pool,
                         uint8_t *out)
{
    pool_copy(pool, out + 2 * laid_vector(round->dims), round->exponent,
              evaluation_exponents(round->kind, round->dims) *
                  sizeof *round->exponent);
}

enum err codec_find_vectors(const uint8_t *data, size_t size,
                            struct codec_room *room, struct msg_round *round)
{
    const uint32_t count = evaluation_exponents(round->kind, round->dims);
    const size_t vector = laid_vector(round->dims);
    struct reader in;

    CHECK(round->dims <= room->sum_dims);
    if (size < codec_laid_bound(round->dims,
                                evaluation_dims(round->kind, round->dims)))
        return ERR_FORMAT;
    if (room->scaled != count || room->scale != round->key.scale) {
        in = reader_on(data + 2 * vector, size - 2 * vector);
        room->scaled = 0;
        get_exponents(&in, room->exponent, count);
        if (!in.ok)
            return ERR_FORMAT;
        room->scaled = count;
        room->scale = round->key.scale;
    }
    round->exponent = room->exponent;
    round->weights = (const double *)(const void *)data;
    round->direction = NULL;
    if (round->kind == EVALUATE_HESSVEC)
        round->direction = (const double *)(const void *)(data + vector);
    return ERR_OK;
}

void codec_copy_vectors(const struct codec_room *room, struct msg_round *round)
{
    memcpy(room->weights, round->weights, round->dims * sizeof *room->weights);
    round->weights = room->weights;
    if (round->direction == NULL)
        return;
    memcpy(room->direction, round->direction,
           round->dims * sizeof *room->direction);
    round->direction = room->direction;
}
