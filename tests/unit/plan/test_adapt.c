/*
 * Rounds made by hand, so that what must be measured of them and what must be
 * chosen is known.  The whole loop, with a core and in virtual time, is in
 * tests/unit/sim/test_adapt.c.
 */
#include "plan/adapt.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "code/preset.h"
#include "plan/delay.h"

#define SLOTS    12u
#define CHUNKS   96u
#define CHUNK_US 1000

struct job {
    struct adapt adapt;
    struct code code;
    struct delay delay;
    uint32_t step;
    uint32_t stuck; /* That slot never answers; SLOTS = nobody. */
};

static struct code_spec spec_of(const char *name, uint32_t slots)
{
    const struct preset_options options = {
        .name = name, .stragglers = 1, .workers = slots, .seed = 1};
    struct code_spec spec;

    assert_int_equal(preset_spec(&options, &spec, NULL), ERR_OK);
    return spec;
}

static void begin(struct job *job, const char *code, const char *delay,
                  enum exactness worst)
{
    const struct code_spec spec = spec_of(code, SLOTS);

    *job = (struct job){.stuck = SLOTS};
    assert_int_equal(delay_parse(delay, 3, &job->delay, NULL), ERR_OK);
    assert_int_equal(code_build(&job->code, &spec, SLOTS, CHUNKS, NULL),
                     ERR_OK);
    assert_int_equal(adapt_init(&job->adapt, CHUNKS, worst, 0), ERR_OK);
    adapt_view(&job->adapt, &job->code);
}

static void end(struct job *job)
{
    adapt_close(&job->adapt);
    code_close(&job->code);
}

/* A round in which each slot answers its share in two halves. */
static void run_round(struct job *job)
{
    const uint32_t half = CHUNKS / SLOTS / 2;
    bool alive[SLOTS];
    time_us longest = 0;

    adapt_open(&job->adapt, 0);
    for (uint32_t slot = 0; slot < SLOTS; slot++) {
        const struct delay_draw draw =
            delay_draw(&job->delay, job->step, slot, NULL);
        const time_us pace = (time_us)(CHUNK_US * (1 + draw.factor));
        const time_us first = (time_us)(draw.add_s * 1e6) + half * pace;

        alive[slot] = true;
        if (slot == job->stuck)
            continue;
        adapt_answer(&job->adapt, slot, first, half, half * CHUNK_US, true);
        adapt_answer(&job->adapt, slot, first + half * pace, half,
                     half * CHUNK_US, false);
        if (first + half * pace > longest)
            longest = first + half * pace;
    }
    adapt_end(&job->adapt, longest, alive);
    job->step++;
}

static uint32_t rounds_to_change(struct job *job, uint32_t most,
                                 struct code_spec *spec,
                                 struct plan_choice *choice)
{
    for (uint32_t i = 0; i < most; i++) {
        run_round(job);
        if (adapt_look(&job->adapt, spec, choice))
            return i + 1;
    }
    return 0;
}

static void test_equal_times_stay(void **state)
{
    static const char *const names[] = {"uncoded", "steal", "stream"};
    struct code_spec spec;
    struct plan_choice choice;
    struct job job;

    (void)state;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        begin(&job, names[i], "shifted:.002,0", EXACT_BITWISE);
        assert_int_equal(rounds_to_change(&job, 150, &spec, &choice), 0);
        end(&job);
    }
}

/* The change is sure, stays within the class, and is not made again. */
static void test_slow_workers(void **state)
{
    struct code_spec spec;
    struct plan_choice choice;
    struct code next = {0};
    struct job job;
    uint32_t after;

    (void)state;
    begin(&job, "uncoded", "bimodal:.1,4", EXACT_BITWISE);
    after = rounds_to_change(&job, 60, &spec, &choice);
    assert_true(after > ADAPT_WARM + ADAPT_ROUNDS);
    assert_int_equal(spec.schedule, SCHED_STEAL);
    assert_true(choice.change);
    assert_true(choice.gain > PLAN_GAIN_MIN && choice.gain_low > 0);
    assert_non_null(strstr(choice.why, "less than uncoded"));
    assert_int_equal(code_build(&next, &spec, SLOTS, CHUNKS, NULL), ERR_OK);
    adapt_view(&job.adapt, &next);
    assert_true(job.adapt.skip >= ADAPT_ROUNDS);
    assert_int_equal(rounds_to_change(&job, 120, &spec, &choice), 0);
    code_close(&next);
    end(&job);
}

static void test_class(void **state)
{
    static const enum exactness worst[] = {EXACT_BITWISE, EXACT_NUMERIC,
                                           EXACT_APPROX};
    struct code_spec spec;
    struct plan_choice choice;
    struct job job;

    (void)state;
    for (size_t i = 0; i < 3; i++) {
        begin(&job, "uncoded", "exp:.05", worst[i]);
        assert_true(rounds_to_change(&job, 120, &spec, &choice) > 0);
        assert_true(code_spec_tally(&spec));
        assert_true(worst[i] == EXACT_APPROX || code_spec_bitwise(&spec));
        for (uint32_t j = 0; j < job.adapt.scored; j++)
            assert_true(code_spec_tally(&job.adapt.table->candidate[j].spec));
        end(&job);
    }
}

/* Waiting and pace are told apart: by two answers, or by the worker's word. */
static void test_measures(void **state)
{
    bool alive[SLOTS];
    struct job job;

    (void)state;
    begin(&job, "steal", "", EXACT_BITWISE);
    job.adapt.skip = 0;
    memset(alive, true, sizeof alive);
    alive[3] = false;
    adapt_open(&job.adapt, 1000);
    adapt_answer(&job.adapt, 0, 8000, 2, 1, true); /* 5 ms, then 1 ms each. */
    adapt_answer(&job.adapt, 0, 10000, 2, 1, true);
    adapt_answer(&job.adapt, 1, 8000, 2, 4000, false);  /* 3 ms, 2 ms each. */
    adapt_answer(&job.adapt, 1, 90000, 2, 4000, false); /* Idle in between. */
    adapt_end(&job.adapt, 101000, alive);
    assert_int_equal(job.adapt.wait.rows, 1);
    assert_true(fabs(job.adapt.wait.value[0] - .005) < 1e-9);
    assert_true(fabs(job.adapt.pace.value[0] - .001) < 1e-9);
    assert_true(fabs(job.adapt.wait.value[1] - .003) < 1e-9);
    assert_true(fabs(job.adapt.pace.value[1] - .002) < 1e-9);
    assert_true(fabs(job.adapt.wait.value[2] - .1) < 1e-9); /* Called off. */
    assert_true(job.adapt.pace.value[2] < 0);
    assert_true(job.adapt.wait.value[3] == DELAY_NEVER_S); /* Gone. */
    end(&job);
}

/* Whoever never answers is not taken for one that waits as long as the rest. */
static void test_called_off(void **state)
{
    struct code_spec spec;
    struct plan_choice choice;
    struct job job;

    (void)state;
    begin(&job, "uncoded", "", EXACT_BITWISE);
    job.stuck = 5;
    assert_true(rounds_to_change(&job, 60, &spec, &choice) > 0);
    assert_true(job.adapt.wait.value[5] > job.adapt.wait.value[4]);
    end(&job);
}

/* A look scores one code at most: no boundary waits for a whole plan. */
static void test_bounded(void **state)
{
    struct code_spec spec;
    struct plan_choice choice;
    struct job job;

    (void)state;
    begin(&job, "steal", "exp:.001", EXACT_BITWISE);
    for (uint32_t i = 0; i < ADAPT_WARM + ADAPT_ROUNDS; i++)
        run_round(&job);
    for (uint32_t i = 1; i < 8; i++) {
        assert_false(adapt_look(&job.adapt, &spec, &choice));
        assert_int_equal(job.adapt.at, i);
    }
    /* A new view: what was seen is of other workers. */
    adapt_view(&job.adapt, &job.code);
    assert_int_equal(job.adapt.wait.rows, 0);
    assert_int_equal(job.adapt.listed, 0);
    end(&job);
}

static void test_too_many(void **state)
{
    const struct code_spec spec = spec_of("uncoded", ADAPT_SLOTS_MAX + 1);
    struct code code = {0};
    struct job job;

    (void)state;
    begin(&job, "uncoded", "", EXACT_BITWISE);
    assert_true(job.adapt.on);
    assert_int_equal(code_build(&code, &spec, ADAPT_SLOTS_MAX + 1,
                                ADAPT_SLOTS_MAX + 1, NULL),
                     ERR_OK);
    adapt_view(&job.adapt, &code);
    assert_false(job.adapt.on);
    code_close(&code);
    end(&job);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_equal_times_stay),
        cmocka_unit_test(test_slow_workers),
        cmocka_unit_test(test_class),
        cmocka_unit_test(test_measures),
        cmocka_unit_test(test_called_off),
        cmocka_unit_test(test_bounded),
        cmocka_unit_test(test_too_many),
    };

    return cmocka_run_group_tests_name("adapt", tests, NULL, NULL);
}
