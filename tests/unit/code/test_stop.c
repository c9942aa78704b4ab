/*
 * The truth table of every preset's stop rule: all masks of arrived slots on
 * small n, against the rule said in other words.  Feasible must agree with
 * enough, since what all living slots can bring is what they bring at the end.
 */
#include "code/code.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "code/code_fixture.h"

static uint32_t bits(uint32_t mask)
{
    return (uint32_t)__builtin_popcount(mask);
}

static bool covers_pairs(uint32_t mask, uint32_t n)
{
    for (uint32_t slot = 0; slot < n; slot += 2) {
        if ((mask >> slot & 3u) == 0)
            return false;
    }
    return true;
}

/* n = 6, s = 1: groups are pairs. */
static bool expected(const char *name, uint32_t mask)
{
    switch (name[0]) {
    case 'u': /* uncoded */
        return mask == 63;
    case 'i': /* ignore */
    case 'c': /* cyclic */
        return bits(mask) >= 5;
    case 'f': /* frc */
    case 'r': /* rep */
        return covers_pairs(mask, 6);
    case 'a': /* agc, collect 4 */
        return bits(mask) >= 4 || covers_pairs(mask, 6);
    default: /* steal: own parts only, nothing stolen */
        return mask == 63;
    }
}

static void test_truth_tables(void **state)
{
    static const char *const names[] = {"uncoded", "ignore", "frc",  "rep",
                                        "cyclic",  "agc",    "steal"};

    (void)state;
    for (uint32_t i = 0; i < sizeof names / sizeof *names; i++) {
        struct code code = code_of((struct shape){names[i], 6, 1, 4, 24});

        for (uint32_t mask = 0; mask < 64; mask++) {
            assert_int_equal(enough_with(&code, mask),
                             expected(names[i], mask));
            assert_int_equal(feasible_with(&code, mask),
                             names[i][0] == 's' ? covers_pairs(mask, 6)
                                                : expected(names[i], mask));
        }
        code_close(&code);
    }
}

/* Under steal a slot's pieces may come from its partner. */
static void test_steal_counts_pieces(void **state)
{
    struct code code = code_of((struct shape){"steal", 4, 1, 0, 12});
    struct step step;

    (void)state;
    step_begin(&step, &code);
    step_arrive(&step, 0);
    step_arrive(&step, 2);
    step_arrive(&step, 3);
    for (uint32_t piece = 3; piece < 6; piece++) {
        assert_false(code_enough(&code, &step.progress));
        step_piece(&step, piece);
    }
    assert_true(code_enough(&code, &step.progress));
    code_close(&code);
}

/* Two chunks, six slots: parts 2 and 5 only.  Slots without work are in from
 * the start, told or not, dead or not, but do not end a step alone. */
static void test_slots_without_work(void **state)
{
    static const char *const names[] = {"uncoded", "ignore"};

    (void)state;
    for (uint32_t i = 0; i < 2; i++) {
        struct code code = code_of((struct shape){names[i], 6, 4, 0, 2});

        assert_int_equal(code.busy_count, 2);
        for (uint32_t mask = 0; mask < 64; mask++) {
            const uint32_t busy = mask & (1u << 2 | 1u << 5);
            const bool want = bits(busy) >= (i == 0 ? 2 : 1);

            assert_int_equal(enough_with(&code, mask), want);
            assert_int_equal(feasible_with(&code, mask), want);
        }
        code_close(&code);
    }
}

static void test_group_without_data(void **state)
{
    struct code code = code_of((struct shape){"rep", 6, 1, 0, 1});

    (void)state;
    assert_int_equal(code.piece_count, 1); /* Part 5, of the last pair. */
    assert_true(enough_with(&code, 1u << 4));
    assert_true(feasible_with(&code, 1u << 4));
    assert_false(enough_with(&code, 0xf));
    assert_false(feasible_with(&code, 0xf));
    code_close(&code);
}

/* collect:k on one group: the first arrival covers everything. */
static void test_collect_ends_early_on_cover(void **state)
{
    struct code code = code_of((struct shape){"agc", 4, 3, 4, 16});

    (void)state;
    assert_false(enough_with(&code, 0));
    assert_true(enough_with(&code, 2));
    code_close(&code);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_truth_tables),
        cmocka_unit_test(test_steal_counts_pieces),
        cmocka_unit_test(test_slots_without_work),
        cmocka_unit_test(test_group_without_data),
        cmocka_unit_test(test_collect_ends_early_on_cover),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
