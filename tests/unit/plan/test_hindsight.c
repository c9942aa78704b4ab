/*
 * Steps made by hand, whose uncoded time can be said in the head, and a
 * recorded run of the replay itself, which must come out as it was.
 */
#include "plan/hindsight.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/rng.h"
#include "code/preset.h"

#define WORKERS 4u
#define CHUNKS  40u /* Ten each. */

static struct code_spec spec_of(const char *name, uint32_t stragglers)
{
    const struct preset_options options = {
        .name = name, .stragglers = stragglers, .workers = WORKERS};
    struct code_spec spec;

    assert_int_equal(preset_spec(&options, &spec, NULL), ERR_OK);
    return spec;
}

static double total(const struct hindsight_cell *cells, const int64_t *took_us,
                    uint32_t steps, const char *name, uint32_t stragglers,
                    uint32_t *drawn)
{
    const struct hindsight seen = {.workers = WORKERS,
                                   .steps = steps,
                                   .chunks = CHUNKS,
                                   .cells = cells,
                                   .took_us = took_us};
    const struct code_spec spec = spec_of(name, stragglers);
    struct hindsight_result result;

    assert_int_equal(hindsight_replay(&seen, &spec, &result, NULL), ERR_OK);
    assert_int_equal(result.stalled, 0);
    if (drawn != NULL)
        *drawn = result.drawn;
    return result.total_s * 1e6;
}

/* 100 us a chunk; w3 sleeps 5 ms besides. */
static void test_a_delay_counts_once(void **state)
{
    const struct hindsight_cell cells[] = {
        {1000, 1000, 10}, {1000, 1000, 10}, {1000, 1000, 10}, {6000, 1000, 10}};
    const int64_t took = 6000;

    (void)state;
    assert_true(total(cells, &took, 1, "uncoded", 0, NULL) == 6000);
    assert_true(total(cells, &took, 1, "frc", 1, NULL) == 2000);
}

/* Work was taken off w3, which is three times slower: uncoded it would have
 * had to do its ten chunks. */
static void test_pace_goes_with_the_work(void **state)
{
    const struct hindsight_cell cells[] = {
        {1200, 1200, 12}, {1200, 1200, 12}, {1200, 1200, 12}, {1200, 1200, 4}};
    const int64_t took = 1200;

    (void)state;
    assert_true(total(cells, &took, 1, "uncoded", 0, NULL) == 3000);
}

/* Called off after 2 ms: longer than that, and the same every time. */
static void test_called_off(void **state)
{
    const struct hindsight_cell cells[] = {
        {1000, 1000, 10}, {1000, 1000, 10}, {1000, 1000, 10}, {-1, 0, 0},
        {1000, 1000, 10}, {1000, 1000, 10}, {1000, 1000, 10}, {9000, 1000, 10},
    };
    const int64_t took[] = {2000, 9000};
    uint32_t drawn;
    const double once = total(cells, took, 2, "uncoded", 0, &drawn);

    (void)state;
    assert_int_equal(drawn, 1);
    assert_true(once == 18000); /* The one longer time on record. */
    assert_true(total(cells, took, 2, "uncoded", 0, &drawn) == once);
    assert_true(total(cells, took, 1, "uncoded", 0, &drawn) > 2000);
}

/* Delays that a code of two copies hid, most of them never seen to their end:
 * waiting for all four must come out as it would have. */
static void test_hidden_delays(void **state)
{
    enum { STEPS = 2000 };
    static struct hindsight_cell cells[STEPS * WORKERS];
    static int64_t took[STEPS];
    struct rng rng;
    double truth = 0, guess;
    uint32_t drawn;

    (void)state;
    rng_init(&rng, 4);
    for (uint32_t step = 0; step < STEPS; step++) {
        struct hindsight_cell *row = &cells[step * WORKERS];
        double t[WORKERS], most = 0, end;

        for (uint32_t i = 0; i < WORKERS; i++) {
            t[i] = 2000 - 20000 * log(1 - rng_unit(&rng));
            most = fmax(most, t[i] - 1000);
        }
        end = fmax(fmin(t[0], t[1]), fmin(t[2], t[3]));
        took[step] = (int64_t)end;
        truth += most;
        for (uint32_t i = 0; i < WORKERS; i++)
            row[i] = t[i] <= end
                         ? (struct hindsight_cell){(int64_t)t[i], 2000, 20}
                         : (struct hindsight_cell){HINDSIGHT_CALLED_OFF, 0, 0};
    }
    guess = total(cells, took, STEPS, "uncoded", 0, &drawn);
    assert_true(drawn > STEPS); /* Of four, more than one in each step. */
    assert_true(guess > .93 * truth);
    assert_true(guess < 1.07 * truth);
}

static void test_one_that_was_away_is_neither(void **state)
{
    const struct hindsight_cell cells[] = {
        {1000, 1000, 10}, {-2, 0, 0}, {1000, 1000, 10}, {1000, 1000, 10}};
    const int64_t took = 1000;

    (void)state;
    assert_true(total(cells, &took, 1, "uncoded", 0, NULL) == 1000);
}

static void test_nothing_measured(void **state)
{
    const struct hindsight_cell cells[WORKERS] = {
        {-1, 0, 0}, {-1, 0, 0}, {-2, 0, 0}, {-1, 0, 0}};
    const int64_t took = 5;
    const struct hindsight seen = {.workers = WORKERS,
                                   .steps = 1,
                                   .chunks = CHUNKS,
                                   .cells = cells,
                                   .took_us = &took};
    const struct code_spec spec = spec_of("uncoded", 0);
    struct hindsight_result result;

    (void)state;
    assert_int_equal(hindsight_replay(&seen, &spec, &result, NULL), ERR_SHAPE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_delay_counts_once),
        cmocka_unit_test(test_pace_goes_with_the_work),
        cmocka_unit_test(test_called_off),
        cmocka_unit_test(test_hidden_delays),
        cmocka_unit_test(test_one_that_was_away_is_neither),
        cmocka_unit_test(test_nothing_measured),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
