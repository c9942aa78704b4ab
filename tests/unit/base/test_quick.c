/*
 * Names must be the same on every machine, and tell apart what a run could mix
 * up: one bit, two signs, a length, an order.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>

#include "base/quick.h"

#define COUNT 203u

static void test_names_are_fixed(void **state)
{
    static const uint8_t bytes[] = "the quick brown fox jumps over the lazy "
                                   "dog, and over a second line of 64";

    (void)state;
    assert_true(quick_u64("", 0, 0) == UINT64_C(0x35baf3542916fec9));
    assert_true(quick_u64(bytes, 3, 0) == UINT64_C(0xf4be8b20fb3ad2b2));
    assert_true(quick_u64(bytes, sizeof bytes, 5) ==
                UINT64_C(0xca6e66d1c2b3058c));
}

static void test_every_bit_counts(void **state)
{
    uint8_t bytes[COUNT] = {0};
    const uint64_t zeros = quick_u64(bytes, sizeof bytes, 0);

    (void)state;
    for (size_t bit = 0; bit < 8 * sizeof bytes; bit++) {
        bytes[bit / 8] = (uint8_t)(1u << bit % 8);
        assert_true(quick_u64(bytes, sizeof bytes, 0) != zeros);
        bytes[bit / 8] = 0;
    }
}

/* In a lane a difference in the top bit would stay there. */
static void test_two_signs_do_not_cancel(void **state)
{
    double w[64], v[64];

    (void)state;
    for (unsigned j = 0; j < 64; j++)
        w[j] = j + 1;
    for (unsigned a = 0; a < 64; a++) {
        for (unsigned b = a + 1; b < 64; b++) {
            memcpy(v, w, sizeof v);
            v[a] = -v[a];
            v[b] = -v[b];
            assert_true(quick_u64(v, sizeof v, 0) != quick_u64(w, sizeof w, 0));
        }
    }
}

static void test_length_order_and_seed_count(void **state)
{
    const uint64_t ab[] = {1, 2}, ba[] = {2, 1}, zeros[20] = {0};

    (void)state;
    assert_true(quick_u64(ab, sizeof ab, 0) != quick_u64(ba, sizeof ba, 0));
    assert_true(quick_u64(ab, sizeof ab, 0) != quick_u64(ab, sizeof ab, 1));
    for (size_t size = 1; size < sizeof zeros; size++)
        assert_true(quick_u64(zeros, size, 0) != quick_u64(zeros, size - 1, 0));
}

/* Some blocks are named together where the machine can: the sum of their names
 * is what it is one by one. */
static void test_blocks_together(void **state)
{
    enum { BLOCK = SLICE_GRAIN * 8, BLOCKS = 11 };
    static uint8_t bytes[BLOCKS * BLOCK];

    (void)state;
    for (size_t i = 0; i < sizeof bytes; i++)
        bytes[i] = (uint8_t)(i * 31 ^ i >> 9);
    for (size_t first = 0; first < BLOCKS; first++) {
        uint64_t sum = 0;

        for (size_t end = first; end < BLOCKS; end++) {
            sum += quick_part(bytes, end * BLOCK, (end + 1) * BLOCK, 7);
            assert_int_equal(
                quick_part(bytes, first * BLOCK, (end + 1) * BLOCK, 7), sum);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_names_are_fixed),
        cmocka_unit_test(test_every_bit_counts),
        cmocka_unit_test(test_two_signs_do_not_cancel),
        cmocka_unit_test(test_length_order_and_seed_count),
        cmocka_unit_test(test_blocks_together),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
