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

/* Three groups of two; one of them without data. */
static void test_groups(void **state)
{
    struct code_spec spec = spec_of((struct shape){"rep", 6, 1, 0, 24});
    struct code code = {0};

    (void)state;
    spec.stop = STOP_GROUPS;
    spec.estimate = ESTIMATE_RATIO;
    for (spec.k = 1; spec.k <= 3; spec.k++) {
        assert_int_equal(code_build(&code, &spec, 6, 24, NULL), ERR_OK);
        for (uint32_t mask = 0; mask < 64; mask++) {
            const uint32_t in = ((mask & 3u) != 0 ? 1u : 0u) +
                                ((mask & 12u) != 0 ? 1u : 0u) +
                                ((mask & 48u) != 0 ? 1u : 0u);

            assert_int_equal(enough_with(&code, mask), in >= spec.k);
            assert_int_equal(feasible_with(&code, mask), in >= spec.k);
        }
        code_close(&code);
    }
    spec.k = 2;
    assert_int_equal(code_build(&code, &spec, 6, 2, NULL), ERR_OK);
    assert_int_equal(code.piece_count, 2); /* Parts 2 and 5. */
    assert_false(enough_with(&code, 3));
    assert_true(enough_with(&code, 4));
    assert_true(feasible_with(&code, 4));
    assert_false(feasible_with(&code, 3));
    code_close(&code);
}

static void test_deadline(void **state)
{
    static const char *const names[] = {"rep", "sgc"};

    (void)state;
    for (uint32_t i = 0; i < 2; i++) {
        struct code_spec spec = spec_of((struct shape){names[i], 6, 1, 0, 24});
        struct code code = {0};

        spec.stop = STOP_DEADLINE;
        spec.deadline_s = 0.5;
        spec.estimate = i == 0 ? ESTIMATE_RATIO : ESTIMATE_UNBIASED;
        assert_int_equal(code_build(&code, &spec, 6, 24, NULL), ERR_OK);
        assert_int_equal(code.exactness, EXACT_APPROX);
        for (uint32_t mask = 0; mask < 64; mask++) {
            struct step step;

            step_begin(&step, &code);
            for (uint32_t slot = 0; slot < 6; slot++) {
                if (mask >> slot & 1u)
                    step_arrive(&step, slot);
            }
            assert_int_equal(code_enough(&code, &step.progress),
                             i == 0 ? covers_pairs(mask, 6) : mask == 63);
            step.progress.late = true;
            assert_int_equal(code_enough(&code, &step.progress), mask != 0);
            assert_int_equal(feasible_with(&code, mask), mask != 0);
        }
        code_close(&code);
    }
}

/* Coded and private: every private part, and n-s coded answers. */
static void test_private_parts_are_needed(void **state)
{
    struct code code = code_of((struct shape){"partial-cyclic", 4, 1, 0, 48});
    struct step step;
    bool alive[4] = {true, true, true, false};

    (void)state;
    assert_int_equal(code.plain_count, 4);
    step_begin(&step, &code);
    for (uint32_t slot = 0; slot < 3; slot++) {
        assert_false(code_enough(&code, &step.progress));
        step_arrive(&step, slot);
    }
    assert_false(code_enough(&code, &step.progress));
    step_piece(&step, 3);
    assert_true(code_enough(&code, &step.progress));
    assert_false(code_feasible(&code, alive)); /* Nobody holds its own part. */
    assert_true(code_decodable(&code, alive)); /* Others may be sent it. */
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
        cmocka_unit_test(test_groups),
        cmocka_unit_test(test_deadline),
        cmocka_unit_test(test_private_parts_are_needed),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
