/*
 * Random vectors of every width and awkward length go round and come back;
 * then each packing is cut at every byte and flipped at every bit, which must
 * give an error or another canonical packing, never a crash.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>

#include "base/mem.h"
#include "base/rng.h"
#include "math/pack.h"

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
    uint8_t out[COUNT_MAX * 8 + COUNT_MAX];
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

static void test_known_bytes(void **state)
{
    const int64_t values[] = {0, -1, 1, -2}; /* Zigzag 0 1 2 3: two bits. */
    const int64_t zeros[70] = {0};
    const int64_t extremes[] = {INT64_MIN, INT64_MAX, 0};
    int64_t back[3];
    uint8_t out[80];
    size_t used = 0;

    (void)state;
    assert_int_equal(pack_i64(values, 4, out), 2);
    assert_int_equal(out[0], 2);
    assert_int_equal(out[1], 0xe4);
    assert_int_equal(pack_i64(zeros, 70, out), 2);
    assert_int_equal(out[0], 0);
    assert_int_equal(out[1], 0);
    assert_int_equal(pack_i64(extremes, 3, out), 25);
    assert_int_equal(unpack_i64(out, 25, 3, back, &used), ERR_OK);
    assert_memory_equal(back, extremes, sizeof back);
    assert_int_equal(pack_bound(0), 0);
    assert_int_equal(pack_bound(64), 513);
    assert_int_equal(pack_bound(65), 522);
}

static void test_non_canonical(void **state)
{
    const uint8_t wide[] = {65, 1};
    const uint8_t padded[] = {2, 0x14};  /* One value of 2 bits, then ones. */
    const uint8_t longer[] = {3, 0x02};  /* 2 needs two bits, not three. */
    const uint8_t zero[] = {1, 0x00};    /* Zero needs none. */
    const uint8_t good[] = {2, 0x02, 9}; /* More may follow. */
    int64_t value = 7;
    size_t used = 0;

    (void)state;
    assert_int_equal(unpack(wide, 2, 1, &value, &used), ERR_FORMAT);
    assert_int_equal(unpack(padded, 2, 1, &value, &used), ERR_FORMAT);
    assert_int_equal(unpack(longer, 2, 1, &value, &used), ERR_FORMAT);
    assert_int_equal(unpack(zero, 2, 1, &value, &used), ERR_FORMAT);
    assert_int_equal(unpack(good, 3, 1, &value, &used), ERR_OK);
    assert_int_equal(value, 1);
    assert_int_equal(used, 2);
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
            uint8_t again[COUNT_MAX * 9];
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
        cmocka_unit_test(test_known_bytes),
        cmocka_unit_test(test_non_canonical),
        cmocka_unit_test(test_truncated),
        cmocka_unit_test(test_bit_flips),
    };

    return cmocka_run_group_tests_name("math/pack", tests, NULL, NULL);
}
