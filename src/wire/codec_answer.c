/*
 * codec_answer.c - what workers and relays answer.
 */
#include "base/check.h"
#include "math/exact/pack.h"
#include "wire/codec_parts.h"

static void put_loss(struct writer *out, tally_loss loss)
{
    put_u64(out, (uint64_t)loss);
    put_u64(out, (uint64_t)(loss >> 64));
}

static tally_loss get_loss(struct reader *in)
{
    const uint64_t low = get_u64(in);
    const int64_t high = get_i64(in);

    return (tally_loss)high * ((tally_loss)1 << 64) + (tally_loss)low;
}

/* Before the sums themselves. */
static void put_sums_head(struct writer *out, uint32_t dims, tally_loss loss)
{
    put_u32(out, dims);
    put_loss(out, loss);
}

static void get_sums_head(struct reader *in, const struct codec_room *room,
                          uint32_t *dims, tally_loss *loss)
{
    *dims = get_sum_dims(in, room);
    *loss = get_loss(in);
}

static void put_sums(struct writer *out, const int64_t *sum, uint32_t dims)
{
    CHECK(out->ok && out->capacity - out->size >= pack_bound(dims));
    out->size += pack_i64(sum, dims, out->data + out->size);
}

/* They land in room->sum. */
static void get_sums(struct reader *in, const struct codec_room *room,
                     uint32_t dims)
{
    size_t used;

    if (!in->ok)
        return;
    must(in, unpack_i64(in->data + in->at, in->size - in->at, dims, room->sum,
                        &used) == ERR_OK);
    if (in->ok)
        in->at += used;
}

static void get_packed(struct reader *in, uint32_t dims, struct packed *packed)
{
    if (!in->ok)
        return;
    must(in, packed_find(in->data + in->at, in->size - in->at, dims, packed) ==
                 ERR_OK);
    if (in->ok)
        in->at += packed->size;
}

void put_tally_head(struct writer *out, const struct msg_tally *tally)
{
    put_key(out, &tally->key);
    put_u32(out, tally->piece);
    put_u32(out, tally->first);
    put_u32(out, tally->end);
    put_i64(out, tally->compute_us);
    put_f64(out, tally->variance);
    put_sums_head(out, tally->dims, tally->loss);
}

void put_tally(struct writer *out, const struct msg_tally *tally)
{
    put_tally_head(out, tally);
    if (tally->sum != NULL)
        put_sums(out, tally->sum, tally->dims);
    else
        put_bytes(out, tally->packed.bytes, tally->packed.size);
}

void get_tally_head(struct reader *in, const struct codec_room *room,
                    struct msg_tally *tally)
{
    get_key(in, &tally->key);
    tally->piece = get_u32(in);
    get_range(in, &tally->first, &tally->end);
    tally->compute_us = get_duration(in);
    tally->variance = get_f64(in);
    must(in, tally->variance >= 0);
    get_sums_head(in, room, &tally->dims, &tally->loss);
}

void get_tally(struct reader *in, const struct codec_room *room,
               struct msg_tally *tally)
{
    get_tally_head(in, room, tally);
    if (room->packed) {
        get_packed(in, tally->dims, &tally->packed);
        return;
    }
    get_sums(in, room, tally->dims);
    tally->sum = room->sum;
}

void put_sum(struct writer *out, const struct msg_sum *sum)
{
    put_key(out, &sum->key);
    put_u32(out, sum->count);
    for (uint32_t i = 0; i < sum->count; i++) {
        const struct answer *answer = &sum->answers[i];

        put_u32(out, answer->leaf);
        put_u32(out, answer->piece);
        put_u32(out, answer->first);
        put_u32(out, answer->end);
        put_i64(out, answer->compute_us);
        put_bool(out, answer->counted);
    }
    put_sums_head(out, sum->dims, sum->loss);
    put_sums(out, sum->sum, sum->dims);
}

void get_sum(struct reader *in, const struct codec_room *room,
             struct msg_sum *sum)
{
    get_key(in, &sum->key);
    sum->count = get_u32(in);
    must(in, sum->count <= room->answers_max);
    for (uint32_t i = 0; in->ok && i < sum->count; i++) {
        struct answer *answer = &room->answers[i];

        answer->leaf = get_u32(in);
        answer->piece = get_u32(in);
        get_range(in, &answer->first, &answer->end);
        answer->compute_us = get_duration(in);
        answer->counted = get_bool(in);
    }
    get_sums_head(in, room, &sum->dims, &sum->loss);
    get_sums(in, room, sum->dims);
    sum->answers = room->answers;
    sum->sum = room->sum;
}

void put_row(struct writer *out, const struct msg_row *row)
{
    put_key(out, &row->key);
    put_i64(out, row->compute_us);
    put_u32(out, row->dims);
    put_u32(out, row->count);
    for (uint32_t i = 0; i < row->count; i++)
        put_u32(out, row->pieces[i]);
    put_vector(out, row->row, (size_t)row->dims + 1);
}

void get_row(struct reader *in, const struct codec_room *room,
             struct msg_row *row)
{
    get_key(in, &row->key);
    row->compute_us = get_duration(in);
    row->dims = get_sum_dims(in, room);
    row->count = get_u32(in);
    must(in, row->count <= SEGMENTS_MAX);
    for (uint32_t i = 0; in->ok && i < row->count; i++)
        room->pieces[i] = get_u32(in);
    row->pieces = room->pieces;
    if (!in->ok)
        return;
    get_vector(in, room->weights, (size_t)row->dims + 1);
    row->row = room->weights;
}
