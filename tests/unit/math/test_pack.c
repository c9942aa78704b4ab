/*
 * Random vectors of every width and awkward length, packed with every
 * instruction set, are what the picture in pack.h says, bit by bit, and come
 * back; then each packing is cut at every byte and flipped at every bit, which
 * must give an error or another canonical packing, never a crash.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>

#include "base/mem.h"
#include "base/rng.h"
#include "math/exact/pack.h"
#include "math/exact/pack_parts.h"

#define COUNT_MAX 300u

struct packing {
    int64_t values[COUNT_MAX];
    size_t count;
    uint8_t *bytes; /* Exactly `size`: the sanitizer sees any overrun. */
    size_t size;
};

static void make(struct packing *packing, uint64_t seed, size_t count,
                 unsigned bits)
{
    uint8_t out[COUNT_MAX * 9 + PACK_BLOCK];
    struct rng rng;

    rng_init(&rng, seed);
    packing->count = count;
    for (size_t i = 0; i < count; i++) {
        const uint64_t word = bits == 0 ? 0 : rng_next(&rng) >> (64 - bits);

        packing->values[i] = (int64_t)(word >> 1 ^ (0 - (word & 1)));
    }
    packing->size = pack_i64(packing->values, count, out);
    assert_true(packing->size <= pack_bound(count));
    packing->bytes = mem_new(packing->size, 1);
    assert_non_null(packing->bytes);
    memcpy(packing->bytes, out, packing->size);
}

static enum err unpack(const uint8_t *bytes, size_t size, size_t count,
                       int64_t *values, size_t *used)
{
    uint8_t *copy = mem_new(size, 1);
    enum err err;

    assert_non_null(copy);
    memcpy(copy, bytes, size);
    err = unpack_i64(copy, size, count, values, used);
    mem_free(copy);
    return err;
}

static void assert_round_trip(const struct packing *packing, uint64_t seed)
{
    int64_t back[COUNT_MAX];
    size_t used = 0;

    if (unpack(packing->bytes, packing->size, packing->count, back, &used) !=
            ERR_OK ||
        used != packing->size ||
        memcmp(back, packing->values, packing->count * sizeof *back) != 0)
        fail_msg("seed %llu: %zu values do not come back",
                 (unsigned long long)seed, packing->count);
}

static void test_round_trips(void **state)
{
    const size_t counts[] = {0, 1, 2, 7, 63, 64, 65, 127, 128, 129, 300};

    (void)state;
    for (unsigned bits = 0; bits <= 64; bits++) {
        for (unsigned c = 0; c < sizeof counts / sizeof *counts; c++) {
            const uint64_t seed = bits * 100 + c;
            struct packing packing;

            make(&packing, seed, counts[c], bits);
            assert_round_trip(&packing, seed);
            mem_free(packing.bytes);
        }
    }
}

/* Where byte `k` of a lane lies in its block. */
static size_t place_of(size_t lane, size_t k, size_t lane_bytes)
{
    const size_t whole = lane_bytes / 8;

    if (k < whole * 8)
        return k / 8 * 64 + lane * 8 + k % 8;
    return whole * 64 + lane * (lane_bytes % 8) + k % 8;
}

static uint64_t zigzag(int64_t value)
{
    return (uint64_t)value << 1 ^ (value < 0 ? UINT64_MAX : 0);
}

/* One block, one bit after the other; returns its bytes. */
static size_t put_ref(const int64_t *values, size_t count, uint8_t *width,
                      uint8_t *out)
{
    uint64_t all = 0;
    size_t bytes;

    for (size_t i = 0; i < count; i++)
        all |= zigzag(values[i]);
    for (*width = 0; *width < 64 && all >> *width != 0;)
        ++*width;
    bytes = (*width * ((count + 7) / 8) + 7) / 8;
    memset(out, 0, 8 * bytes);
    for (size_t i = 0; i < count; i++) {
        for (size_t b = 0; b < *width; b++) {
            const size_t bit = i / 8 * *width + b;

            if (zigzag(values[i]) >> b & 1)
                out[place_of(i % 8, bit / 8, bytes)] |=
                    (uint8_t)(1u << bit % 8);
        }
    }
    return 8 * bytes;
}

static size_t pack_ref(const int64_t *values, size_t count, uint8_t *out)
{
    size_t size = (count + 63) / 64;

    for (size_t i = 0; i < count; i += 64)
        size += put_ref(values + i, count - i < 64 ? count - i : 64,
                        &out[i / 64], out + size);
    return size;
}

static void test_layout(void **state)
{
    (void)state;
    for (unsigned bits = 0; bits <= 64; bits++) {
        for (size_t count = 1; count <= 200; count += 1 + count / 9) {
            uint8_t out[COUNT_MAX * 9 + PACK_BLOCK];
            struct packing packing;

            make(&packing, bits + count, count, bits);
            if (pack_ref(packing.values, count, out) != packing.size ||
                memcmp(out, packing.bytes, packing.size) != 0)
                fail_msg("%u bits, %zu values: another layout", bits, count);
            mem_free(packing.bytes);
        }
    }
}

/* Rows of zeros and of all widths side by side. */
static void test_instruction_sets(void **state)
{
    int64_t values[9 * PACK_BLOCK];
    uint8_t want[sizeof values + PACK_SPILL], got[sizeof want];
    uint8_t want_widths[9], widths[9];
    struct rng rng;

    (void)state;
    rng_init(&rng, 3);
    for (unsigned trial = 0; trial < 500; trial++) {
        const size_t rows = 1 + rng_below(&rng, 9 * PACK_LANES);
        size_t size;

        for (size_t i = 0; i < rows * PACK_LANES; i++) {
            const unsigned less = (unsigned)(i / PACK_BLOCK + trial) % 65;

            values[i] = less == 64 ? 0 : (int64_t)rng_next(&rng) >> less;
        }
        size = pack_portable.put(values, rows, want_widths, want);
        for (int isa = ISA_PORTABLE; isa <= ISA_AVX512; isa++) {
            int64_t back[9 * PACK_BLOCK];

            if (!isa_runs((enum isa)isa))
                continue;
            assert_int_equal(
                pack_ops_of((enum isa)isa)->put(values, rows, widths, got),
                size);
            assert_memory_equal(got, want, size);
            assert_memory_equal(widths, want_widths, (rows + 7) / 8);
            assert_true(
                pack_ops_of((enum isa)isa)->get(want, widths, rows, back));
            assert_memory_equal(back, values, rows * PACK_LANES * sizeof *back);
        }
    }
}

static void test_known_bytes(void **state)
{
    /* Zigzag 0 1 2 3 4 5 6 7, then 7 and 0: three bits, two rows. */
    const int64_t values[] = {0, -1, 1, -2, 2, -3, 3, -4, -4, 0};
    const uint8_t want[] = {3, 0x38, 1, 2, 3, 4, 5, 6, 7};
    const int64_t zeros[70] = {0};
    const int64_t extremes[] = {INT64_MIN, INT64_MAX, 0};
    int64_t back[3];
    uint8_t out[100];
    size_t used = 0;

    (void)state;
    assert_int_equal(pack_i64(values, 10, out), sizeof want);
    assert_memory_equal(out, want, sizeof want);
    assert_int_equal(pack_i64(zeros, 70, out), 2);
    assert_int_equal(out[0], 0);
    assert_int_equal(out[1], 0);
    assert_int_equal(pack_i64(extremes, 3, out), 65);
    assert_int_equal(unpack_i64(out, 65, 3, back, &used), ERR_OK);
    assert_memory_equal(back, extremes, sizeof back);
    assert_int_equal(pack_bound(0), PACK_SPILL);
    assert_int_equal(pack_bound(64), 513 + PACK_SPILL);
    assert_int_equal(pack_bound(65), 514 + 64 + PACK_SPILL);
}

static void test_non_canonical(void **state)
{
    const uint8_t wide[] = {65, 1};
    const uint8_t padded[9] = {2, 0x0a}; /* Bits after the only row. */
    const uint8_t filled[9] = {2, 2, 1}; /* A value after the last. */
    const uint8_t longer[9] = {3, 2};    /* 2 needs two bits, not three. */
    const uint8_t zero[9] = {1};         /* Zero needs none. */
    const uint8_t good[10] = {2, 2};     /* More may follow. */
    int64_t value = 7;
    size_t used = 0;

    (void)state;
    assert_int_equal(unpack(wide, 2, 1, &value, &used), ERR_FORMAT);
    assert_int_equal(unpack(padded, 9, 1, &value, &used), ERR_FORMAT);
    assert_int_equal(unpack(filled, 9, 1, &value, &used), ERR_FORMAT);
    assert_int_equal(unpack(longer, 9, 1, &value, &used), ERR_FORMAT);
    assert_int_equal(unpack(zero, 9, 1, &value, &used), ERR_FORMAT);
    assert_int_equal(unpack(good, 10, 1, &value, &used), ERR_OK);
    assert_int_equal(value, 1);
    assert_int_equal(used, 9);
}

/* In pieces, as in one. */
static void test_pieces(void **state)
{
    (void)state;
    for (unsigned bits = 0; bits <= 64; bits += 5) {
        int64_t back[COUNT_MAX];
        struct packing packing;
        struct packed packed;
        struct unpacking unpacking;
        size_t at = 0;

        make(&packing, bits, COUNT_MAX, bits);
        assert_int_equal(
            packed_find(packing.bytes, packing.size, COUNT_MAX, &packed),
            ERR_OK);
        unpacking = unpack_begin(&packed);
        for (size_t piece = PACK_BLOCK; unpacking.left > 0; at += piece) {
            piece = piece == PACK_BLOCK ? 2 * PACK_BLOCK : PACK_BLOCK;
            piece = piece < unpacking.left ? piece : unpacking.left;
            assert_true(unpack_next(&unpacking, piece, back + at));
        }
        assert_int_equal(at, COUNT_MAX);
        assert_memory_equal(back, packing.values, sizeof back);
        mem_free(packing.bytes);
    }
}

/* Values that lie in the very place they are packed into. */
static void test_packed_over_themselves(void **state)
{
    static const size_t counts[] = {0, 1, 7, 8, 63, 64, 65, 129, 1000};
    static int64_t values[1000];
    static uint8_t apart[9000], over[9000];

    (void)state;
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
        const size_t count = counts[i];
        const size_t lead = pack_lead(count);
        size_t size;

        for (size_t j = 0; j < count; j++) /* As wide as can be, and not. */
            values[j] = j / 64 % 3 == 2 ? (int64_t)j : INT64_MIN + (int64_t)j;
        size = pack_i64(values, count, apart);
        memcpy(over + lead, values, count * sizeof *values);
        assert_int_equal(
            pack_i64((const int64_t *)(const void *)(over + lead), count, over),
            size);
        assert_memory_equal(over, apart, size);
    }
}

static void test_truncated(void **state)
{
    (void)state;
    for (unsigned bits = 0; bits <= 64; bits += 3) {
        int64_t back[COUNT_MAX];
        struct packing packing;
        size_t used = 0;

        make(&packing, bits, 130, bits);
        for (size_t size = 0; size < packing.size; size++) {
            if (unpack(packing.bytes, size, 130, back, &used) != ERR_TRUNCATED)
                fail_msg("%u bits cut to %zu bytes", bits, size);
        }
        mem_free(packing.bytes);
    }
}

/* What is accepted must be what the writer would have written. */
static void test_bit_flips(void **state)
{
    unsigned accepted = 0;
    unsigned refused = 0;

    (void)state;
    for (unsigned bits = 1; bits <= 64; bits += 7) {
        struct packing packing;

        make(&packing, bits, 75, bits);
        for (size_t at = 0; at < packing.size * 8; at++) {
            int64_t back[COUNT_MAX];
            uint8_t again[COUNT_MAX * 9 + PACK_BLOCK];
            size_t used = 0;

            packing.bytes[at / 8] ^= (uint8_t)(1u << at % 8);
            if (unpack(packing.bytes, packing.size, 75, back, &used) ==
                ERR_OK) {
                accepted++;
                if (pack_i64(back, 75, again) != used ||
                    memcmp(again, packing.bytes, used) != 0)
                    fail_msg("%u bits, bit %zu: not canonical", bits, at);
            } else {
                refused++;
            }
            packing.bytes[at / 8] ^= (uint8_t)(1u << at % 8);
        }
        mem_free(packing.bytes);
    }
    assert_true(accepted > 0);
    assert_true(refused > 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_round_trips),
        cmocka_unit_test(test_layout),
        cmocka_unit_test(test_instruction_sets),
        cmocka_unit_test(test_known_bytes),
        cmocka_unit_test(test_pieces),
        cmocka_unit_test(test_non_canonical),
        cmocka_unit_test(test_packed_over_themselves),
        cmocka_unit_test(test_truncated),
        cmocka_unit_test(test_bit_flips),
    };

    return cmocka_run_group_tests_name("math/exact/pack", tests, NULL, NULL);
}
