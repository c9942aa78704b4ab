/*
 * What a plan must choose where the answer is known, how much it loses where
 * it is not (against the best in hindsight, on delays it has not seen), and
 * scores against closed forms.
 */
#include "plan/plan.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/mem.h"
#include "plan/delay_trace.h"
#include "plan/order.h"

static struct plan_options
options_for(uint32_t workers, const struct delay *delay, uint32_t steps)
{
    return (struct plan_options){.workers = workers,
                                 .work_s = 1,
                                 .delay = delay,
                                 .steps = steps,
                                 .noise = 1};
}

/* All candidates that fit, scored.  The caller frees. */
static struct plan_table *scored(const struct plan_options *options,
                                 enum exactness worst)
{
    struct plan_table *table = mem_new(1, sizeof *table);

    assert_non_null(table);
    table->count = candidate_list(options->workers, worst, 1, table->candidate,
                                  CANDIDATES_MAX);
    assert_int_equal(plan_score_all(options, table, NULL), ERR_OK);
    assert_true(table->count > 4);
    return table;
}

static struct plan_choice chosen(const struct plan_table *table)
{
    struct plan_choice choice;

    plan_choose(table->candidate, table->score, table->count, 0, &choice);
    return choice;
}

static struct delay parsed(const char *text)
{
    struct delay delay;
    struct why why = {{0}};

    if (delay_parse(text, 3, &delay, &why) != ERR_OK)
        fail_msg("%s", why.text);
    return delay;
}

static void test_equal_times(void **state)
{
    static const char *const same[] = {"", "shifted:.5,0", "worker:none=3"};

    (void)state;
    for (size_t i = 0; i < sizeof same / sizeof *same; i++) {
        const struct delay delay = parsed(same[i]);
        const struct plan_options options = options_for(12, &delay, 40);
        struct plan_table *table = scored(&options, EXACT_APPROX);
        const struct plan_choice choice = chosen(table);

        assert_string_equal(table->candidate[choice.best].label, "uncoded");
        assert_true(!choice.change);
        mem_free(table);
    }
}

/* Five in a hundred three times as slow: computing everything twice costs more
 * than it saves next to help on demand. */
static void test_never_full_replication(void **state)
{
    const struct delay delay = parsed("bimodal:.05,3");

    (void)state;
    for (uint32_t n = 6; n <= 60; n += 18) {
        const struct plan_options options = options_for(n, &delay, 400);
        struct plan_table *table = scored(&options, EXACT_BITWISE);
        const struct plan_choice choice = chosen(table);
        const struct code_spec *best = &table->candidate[choice.best].spec;

        if (best->placement == PLACE_REP && best->schedule == SCHED_ALL)
            fail_msg("n = %u: %s", n, table->candidate[choice.best].label);
        assert_true(choice.change);
        assert_true(choice.gain > .08);
        assert_true(choice.gain_low > 0 && choice.gain_low < choice.gain);
        assert_true(choice.gain_high > choice.gain);
        mem_free(table);
    }
}

/* Candidates come from the table of presets, within the class asked for. */
static void test_classes(void **state)
{
    struct candidate list[CANDIDATES_MAX];
    const uint32_t count =
        candidate_list(12, EXACT_BITWISE, 1, list, CANDIDATES_MAX);
    const uint32_t all =
        candidate_list(12, EXACT_APPROX, 1, list, CANDIDATES_MAX);

    (void)state;
    assert_true(count >= 7);
    assert_true(all > count + 8);
    for (uint32_t i = 0; i < all; i++) {
        for (uint32_t j = 0; j < i; j++)
            assert_string_not_equal(list[i].label, list[j].label);
    }
    assert_true(candidate_list(12, EXACT_APPROX, 1, list, 3) == 3);
    assert_true(candidate_list(1, EXACT_BITWISE, 1, list, 9) >= 1);
}

static struct candidate named(const char *text, uint32_t workers)
{
    const struct preset_options defaults = {
        .stragglers = 1, .workers = workers, .seed = 1};
    struct candidate candidate;
    struct why why = {{0}};

    if (candidate_parse(text, strlen(text), &defaults, &candidate, &why) !=
        ERR_OK)
        fail_msg("%s", why.text);
    return candidate;
}

static void test_names(void **state)
{
    const struct preset_options defaults = {.stragglers = 1, .workers = 12};
    struct candidate candidate = named("frc:s=2", 12);
    struct why why = {{0}};

    (void)state;
    assert_string_equal(candidate.label, "frc s=2");
    assert_int_equal(candidate.spec.stragglers, 2);
    candidate = named("agc:collect=5:s=3", 12);
    assert_string_equal(candidate.label, "agc s=3 k=5");
    assert_int_equal(candidate.spec.k, 5);
    assert_string_equal(named("uncoded", 12).label, "uncoded");
    candidate = named("ignore:staleness=2", 12);
    assert_string_equal(candidate.label, "ignore s=1 B=2");
    assert_int_equal(candidate.spec.staleness, 2);
    assert_int_equal(candidate_parse("frc:s=x", 7, &defaults, &candidate, &why),
                     ERR_RANGE);
    assert_string_equal(
        why.text, "frc:s=x: s=x: expected a whole number from 0 to 10000");
    assert_int_equal(candidate_parse("", 0, &defaults, &candidate, &why),
                     ERR_UNKNOWN);
    assert_int_equal(candidate_parse("mist", 4, &defaults, &candidate, &why),
                     ERR_UNKNOWN);
    assert_non_null(strstr(why.text, "mist: no code named mist; there are "));
}

/* Expected times of the handbook's schemes, 1 + Exp(1) and others, n = 30:
 * mean of 3000 steps against the closed form. */
static void test_closed_forms(void **state)
{
    static const struct {
        const char *delay;
        struct law law;
        const char *code;
        struct quorum quorum;
        double load;
    } rows[] = {
        {"exp:1/scale", {DELAY_SHIFTED, 1, 1}, "uncoded", {30, 1, 30}, 1},
        {"exp:1/scale", {DELAY_SHIFTED, 1, 1}, "ignore:s=3", {30, 1, 27}, 1},
        {"exp:1/scale", {DELAY_SHIFTED, 1, 1}, "frc:s=1", {15, 2, 15}, 2},
        {"exp:1/scale", {DELAY_SHIFTED, 1, 1}, "frc:s=2", {10, 3, 10}, 3},
        {"exp:.3/scale", {DELAY_SHIFTED, 1, .3}, "cyclic:s=1", {30, 1, 29}, 2},
        {"pareto:1,3/times", {DELAY_PARETO, 1, 3}, "uncoded", {30, 1, 30}, 1},
        {"pareto:1,3/times", {DELAY_PARETO, 1, 3}, "frc:s=2", {10, 3, 10}, 3},
        {"bimodal:.05,3", {DELAY_BIMODAL, .05, 3}, "uncoded", {30, 1, 30}, 1},
        {"bimodal:.05,10", {DELAY_BIMODAL, .05, 10}, "frc:s=1", {15, 2, 15}, 2},
        {"bimodal:.2,5", {DELAY_BIMODAL, .2, 5}, "ignore:s=3", {30, 1, 27}, 1},
        {"exp:1/scale",
         {DELAY_SHIFTED, 1, 1},
         "mds:s=2",
         {30, 1, 28},
         30 / 28.0},
        {"bimodal:.05,3",
         {DELAY_BIMODAL, .05, 3},
         "mds:s=2",
         {30, 1, 28},
         30 / 28.0},
    };

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const struct delay delay = parsed(rows[i].delay);
        const struct plan_options options = options_for(30, &delay, 3000);
        const struct candidate candidate = named(rows[i].code, 30);
        const double want =
            rows[i].load * order_closed(&rows[i].law, &rows[i].quorum);
        struct score score;

        assert_int_equal(plan_score(&options, &candidate, &score, NULL),
                         ERR_OK);
        if (fabs(score.step_s - want) > .03 * want)
            fail_msg("%s under %s: %.4f s, the closed form says %.4f",
                     rows[i].code, rows[i].delay, score.step_s, want);
    }
}

static void test_bill(void **state)
{
    const struct delay delay = parsed("exp:.01");
    const struct plan_options options = options_for(12, &delay, 60);
    struct score uncoded;
    struct score frc;
    struct score agc;
    struct candidate candidate = named("uncoded", 12);

    (void)state;
    assert_int_equal(plan_score(&options, &candidate, &uncoded, NULL), ERR_OK);
    candidate = named("frc:s=2", 12);
    assert_int_equal(plan_score(&options, &candidate, &frc, NULL), ERR_OK);
    candidate = named("agc:s=2:collect=4", 12);
    assert_int_equal(plan_score(&options, &candidate, &agc, NULL), ERR_OK);
    assert_true(uncoded.storage == 1 && frc.storage == 3);
    assert_true(uncoded.extra_compute == 0 && frc.extra_compute == 2);
    assert_true(uncoded.answers == 12 && uncoded.coverage == 1);
    assert_true(agc.answers <= 4 && agc.coverage < 1);
    /* Half the rows at a noise scale of all of them: 1.5 steps for one. */
    assert_true(fabs(agc.progress_s - agc.step_s * (1 + 1 / agc.coverage) / 2) <
                1e-9);
    assert_int_equal(agc.exactness, EXACT_APPROX);
    /* A limit on copies is a refusal with a sentence. */
    {
        struct plan_options tight = options;
        struct why why = {{0}};

        tight.storage_max = 2;
        candidate = named("frc:s=2", 12);
        assert_int_equal(plan_score(&tight, &candidate, &frc, &why), ERR_RANGE);
        assert_string_equal(why.text, "frc s=2 stores 3 copies of the data");
    }
}

static void test_dead_stall(void **state)
{
    const struct delay delay = parsed("dead:.05");
    const struct plan_options options = options_for(30, &delay, 2000);
    const struct candidate uncoded = named("uncoded", 30);
    const struct candidate frc = named("frc:s=1", 30);
    struct score score;

    (void)state;
    assert_int_equal(plan_score(&options, &uncoded, &score, NULL), ERR_OK);
    assert_true(fabs(score.stalled - (1 - pow(.95, 30))) < .03);
    assert_true(score.step_s == 1);
    assert_int_equal(plan_score(&options, &frc, &score, NULL), ERR_OK);
    assert_true(fabs(score.stalled - (1 - pow(1 - .0025, 15))) < .012);
}

/* Choose on the first half of a trace, pay on the second. */
static double regret(const char *text, uint64_t seed, uint32_t workers,
                     enum exactness worst)
{
    struct delay delay;
    struct plan_options options;
    struct plan_table *seen;
    struct plan_table *hidden;
    struct plan_choice choice;
    double best = HUGE_VAL;
    double paid;

    assert_int_equal(delay_parse(text, seed, &delay, NULL), ERR_OK);
    options = options_for(workers, &delay, 250);
    seen = scored(&options, worst);
    choice = chosen(seen);
    options.first_step = 250;
    hidden = scored(&options, worst);
    assert_int_equal(seen->count, hidden->count);
    for (uint32_t i = 0; i < hidden->count; i++)
        best = fmin(best, hidden->score[i].progress_s);
    paid = hidden->score[choice.best].progress_s;
    mem_free(seen);
    mem_free(hidden);
    return paid / best - 1;
}

static void test_regret(void **state)
{
    static const char *const texts[] = {"exp:1/scale",
                                        "bimodal:.05,3",
                                        "bimodal:.2,5",
                                        "exp:1",
                                        "pareto:1,3/times",
                                        "lognormal:.2,1/scale/persistent",
                                        "bimodal:1,4/burst:.01,.1",
                                        "bimodal:1,3/rack:4/burst:.02,.2"};

    (void)state;
    for (size_t i = 0; i <= sizeof texts / sizeof *texts; i++) {
        const char *text =
            i < sizeof texts / sizeof *texts ? texts[i] : delay_trace_realistic;

        for (int worst = EXACT_BITWISE; worst <= EXACT_APPROX; worst += 2) {
            const double lost = regret(text, i + 1, 12, (enum exactness)worst);

            if (lost > .1)
                fail_msg("%s: %.1f %% worse than the best in hindsight", text,
                         100 * lost);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_equal_times),
        cmocka_unit_test(test_never_full_replication),
        cmocka_unit_test(test_classes),
        cmocka_unit_test(test_names),
        cmocka_unit_test(test_closed_forms),
        cmocka_unit_test(test_bill),
        cmocka_unit_test(test_dead_stall),
        cmocka_unit_test(test_regret),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
