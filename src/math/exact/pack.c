/*
 * pack.c - where blocks begin and end; pack.inc has what is done in them.
 */
#include "math/exact/pack.h"

#include <string.h>

#include "base/check.h"
#include "math/exact/pack_parts.h"

#define WIDTH_MAX 64u

#if __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "words are copied as they lie: little-endian only"
#endif

static const struct pack_ops *const variants[ISAS] =
    ISA_TABLE(&pack_portable, &pack_avx2, &pack_avx512);

const struct pack_ops *pack_ops_of(enum isa isa)
{
    return isa_row(variants, isa);
}

static size_t blocks_of(size_t count)
{
    return (count + PACK_BLOCK - 1) / PACK_BLOCK;
}

static size_t rows_of(size_t count)
{
    return (count + PACK_LANES - 1) / PACK_LANES;
}

size_t pack_bound(size_t count)
{
    return blocks_of(count) + rows_of(count) * PACK_LANES * sizeof(int64_t) +
           PACK_SPILL;
}

/* A block is read whole before it is written, and is never behind by more than
 * what a packing may take beside 8 bytes a value. */
size_t pack_lead(size_t count)
{
    return pack_bound(count) - count * sizeof(int64_t);
}

/* Fewer than PACK_BLOCK values, filled up with zeros. */
static size_t put_last(const struct pack_ops *ops, const int64_t *values,
                       size_t count, uint8_t *width, uint8_t *out)
{
    int64_t block[PACK_BLOCK] = {0};

    memcpy(block, values, count * sizeof *values);
    return ops->put(block, rows_of(count), width, out);
}

static size_t put_all(const struct pack_ops *ops, const int64_t *values,
                      size_t count, uint8_t *out)
{
    const size_t full = count / PACK_BLOCK;
    const size_t last = count % PACK_BLOCK;
    size_t size = blocks_of(count);

    size += ops->put(values, full * PACK_LANES, out, out + size);
    if (last > 0)
        size += put_last(ops, values + full * PACK_BLOCK, last, out + full,
                         out + size);
    return size;
}

size_t pack_i64(const int64_t *values, size_t count, uint8_t *out)
{
    return put_all(pack_ops_of(isa_best()), values, count, out);
}

static size_t block_bytes(unsigned width, size_t count)
{
    const size_t rows = rows_of(count < PACK_BLOCK ? count : PACK_BLOCK);

    return PACK_LANES * pack_lane_bytes(width, rows);
}

enum err packed_find(const uint8_t *in, size_t size, size_t count,
                     struct packed *packed)
{
    const size_t blocks = blocks_of(count);
    size_t all = blocks;

    if (size < blocks)
        return ERR_TRUNCATED;
    for (size_t b = 0; b < blocks; b++) {
        if (in[b] > WIDTH_MAX)
            return ERR_FORMAT;
        all += block_bytes(in[b], count - b * PACK_BLOCK);
    }
    if (size < all)
        return ERR_TRUNCATED;
    *packed = (struct packed){.bytes = in, .size = all, .count = count};
    return ERR_OK;
}

struct unpacking unpack_begin(const struct packed *packed)
{
    return (struct unpacking){
        .width = packed->bytes,
        .block = packed->bytes + blocks_of(packed->count),
        .left = packed->count,
    };
}

struct unpacking unpack_from(const struct packed *packed, size_t first)
{
    struct unpacking unpacking = unpack_begin(packed);
    const size_t blocks = first / PACK_BLOCK;
    size_t words = 0;

    CHECK(first % PACK_BLOCK == 0 && first <= packed->count);
    for (size_t b = 0; b < blocks; b++)
        words += unpacking.width[b];
    unpacking.width += blocks;
    unpacking.block += PACK_LANES * words;
    unpacking.left -= first;
    return unpacking;
}

/* Its padding is zeros: what it holds, packed again, is what it was. */
static bool get_last(const struct pack_ops *ops, const uint8_t *in,
                     unsigned width, size_t count, int64_t *values)
{
    const size_t bytes = block_bytes(width, count);
    const uint8_t widths = (uint8_t)width;
    int64_t block[PACK_BLOCK];
    uint8_t again[PACK_BLOCK * sizeof *block + PACK_SPILL];
    uint8_t width_again;

    if (!ops->get(in, &widths, rows_of(count), block))
        return false;
    memcpy(values, block, count * sizeof *values);
    return put_last(ops, block, count, &width_again, again) == bytes &&
           memcmp(again, in, bytes) == 0;
}

bool unpack_next(struct unpacking *unpacking, size_t count, int64_t *values)
{
    const struct pack_ops *const ops = pack_ops_of(isa_best());
    const size_t full = count / PACK_BLOCK;
    const size_t last = count % PACK_BLOCK;
    size_t words = 0;

    CHECK(count <= unpacking->left);
    CHECK(last == 0 || count == unpacking->left);
    if (!ops->get(unpacking->block, unpacking->width, full * PACK_LANES,
                  values))
        return false;
    for (size_t b = 0; b < full; b++)
        words += unpacking->width[b];
    unpacking->width += full;
    unpacking->block += PACK_LANES * words;
    unpacking->left -= count;
    return last == 0 || get_last(ops, unpacking->block, *unpacking->width, last,
                                 values + full * PACK_BLOCK);
}

enum err unpack_i64(const uint8_t *in, size_t size, size_t count,
                    int64_t *values, size_t *used)
{
    struct packed packed;
    struct unpacking unpacking;
    enum err err = packed_find(in, size, count, &packed);

    if (err != ERR_OK)
        return err;
    unpacking = unpack_begin(&packed);
    if (!unpack_next(&unpacking, count, values))
        return ERR_FORMAT;
    *used = packed.size;
    return ERR_OK;
}
