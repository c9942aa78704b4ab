/*
 * The fast path against the core: random codes, sizes and delays, both ways.
 * Every step must take the same time to the microsecond, and cover the same
 * share, with answers as old, unless those of one moment race to end it.
 * A failure prints the configuration.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/mem.h"
#include "base/rng.h"
#include "code/preset.h"
#include "plan/replay.h"
#include "sim/sim.h"

#define CASES 300u
#define STEPS 12u

static const char *const delays[] = {
    "",
    "reference",
    "exp:0.01",
    "exp:1/scale",
    "pareto:1,1.5/times",
    "bimodal:.2,3",
    "bimodal:.05,10+exp:.002",
    "exp:.5/scale/persistent+bimodal:1,4/burst:.1,.2",
    "bimodal:.3,2.5/rack:3",
    "shifted:.001,.004+worker:w1=7",
    "lognormal:.5,1/scale",
    "shifted:.01,.02/share+exp:.001",
};

#define DELAYS (sizeof delays / sizeof *delays)

struct configuration {
    struct preset_options preset;
    uint32_t chunks;
    time_us chunk_us;
    const char *delay;
};

/* Of the codes but that of samples, which is not replayed (code_spec_replays).
 */
static const char *drawn_code(struct rng *rng)
{
    uint32_t count, kept = 0, at;
    const struct preset *list = preset_list(&count);

    for (uint32_t i = 0; i < count; i++)
        kept += list[i].placement != PLACE_SHADOW;
    at = (uint32_t)rng_below(rng, kept);
    for (;; list++) {
        if (list->placement != PLACE_SHADOW && at-- == 0)
            return list->name;
    }
}

static struct configuration draw(struct rng *rng)
{
    struct configuration made;
    const uint32_t n = (uint32_t)rng_between(rng, 1, 24);

    made.preset = (struct preset_options){
        .name = drawn_code(rng),
        .stragglers = (uint32_t)rng_below(rng, n < 4 ? n : 4),
        .collect = (uint32_t)rng_between(rng, 1, n),
        .workers = n,
        .seed = 1,
    };
    /* Plans do not replay elastic codes. */
    if ((preset_traits(made.preset.name) & TRAIT(ELASTIC)) != 0)
        made.preset.name = "mds";
    made.chunks = n * 8;
    if (rng_chance(rng, .3))
        made.chunks = (uint32_t)rng_between(rng, 1, 12 * (int64_t)n);
    made.chunk_us = rng_chance(rng, .2) ? 0 : rng_between(rng, 1, 3000);
    made.delay = delays[rng_below(rng, DELAYS)];
    return made;
}

/* Late answers, B of them in turn. */
static struct configuration draw_stale(struct rng *rng)
{
    struct configuration made = draw(rng);

    made.preset.name = "ignore";
    made.preset.collect = 0;
    made.preset.staleness = (uint32_t)rng_between(rng, 1, 5);
    return made;
}

/* The core's steps; false if the code does not fit the shape. */
static bool run_core(const struct configuration *with,
                     const struct delay *delay, const struct code_spec *spec,
                     struct sim_result *result)
{
    struct sim_options options = sim_options_default();
    struct why why = {{0}};

    options.ideal = true;
    options.chunk_us = with->chunk_us;
    options.slots = with->preset.workers;
    options.rows = with->chunks;
    options.chunk_rows = 1;
    options.code = *spec;
    options.delay = *delay;
    options.series = true;
    /* A checkpoint holds up the next round by no time at all, but puts it
     * behind others in the order of that moment. */
    options.checkpoint_steps = STEPS + 1;
    options.optim = (struct optim_options){.kind = OPTIM_GD,
                                           .rate = 1,
                                           .decay = 1,
                                           .rows = options.rows,
                                           .steps = STEPS};
    if (sim_run(&options, result, &why) != ERR_OK)
        return false;
    if (result->violated || !result->finished)
        fail_msg("%s", result->violation);
    assert_int_equal(result->series_count, STEPS);
    return true;
}

static void check_same(const struct configuration *with, uint32_t number,
                       const struct delay *delay, const struct code *code,
                       const struct sim_result *core)
{
    struct replay replay;
    struct delay_draw draws[64];
    int64_t before = 0;
    uint64_t chunks_in = 0;
    uint64_t age_sum = 0;
    uint64_t aged = 0;
    uint32_t age_max = 0;

    assert_int_equal(replay_init(&replay, code, with->chunk_us), ERR_OK);
    for (uint32_t i = 0; i < STEPS; i++) {
        const int64_t at = llround(core->series[i].t_s * 1e6);
        struct replay_step step;

        delay_row(delay, i, code->slots, draws);
        assert_int_equal(replay_run(&replay, draws, &step), ERR_OK);
        if (step.took_us != at - before)
            fail_msg("case %u: %s n=%u s=%u collect=%u, %u chunks of %lld us, "
                     "delay %s: step %u takes %lld us, %lld in the core",
                     number, with->preset.name, code->slots,
                     with->preset.stragglers, with->preset.collect,
                     with->chunks, (long long)with->chunk_us, with->delay, i,
                     (long long)step.took_us, (long long)(at - before));
        before = at;
        chunks_in += step.chunks_in;
        aged += step.aged;
        age_sum += step.age_sum;
        age_max = step.age_max > age_max ? step.age_max : age_max;
        assert_true(step.chunks_done >= step.chunks_in ||
                    code->carrier == CARRIER_F64);
    }
    if (strstr(with->delay, "exp:0") != NULL ||
        strcmp(with->delay, "reference") == 0) {
        assert_true(fabs((double)chunks_in / (STEPS * (double)with->chunks) -
                         core->coverage) < 1e-9);
        assert_int_equal(age_sum, core->stats.age_sum);
        assert_int_equal(age_max, core->stats.age_max);
        if (with->preset.staleness > 0)
            assert_int_equal(aged, core->stats.aged);
    }
    assert_true(age_max <= with->preset.staleness);
    replay_close(&replay);
}

/* False if the code does not fit the shape. */
static bool one_case(const struct configuration *drawn, uint32_t number)
{
    const struct configuration with = *drawn;
    struct sim_result core = {0};
    struct code_spec spec;
    struct code code = {0};
    struct delay delay;
    bool fits = false;

    assert_int_equal(delay_parse(with.delay, 7 + number, &delay, NULL), ERR_OK);
    if (preset_spec(&with.preset, &spec, NULL) == ERR_OK &&
        code_build(&code, &spec, with.preset.workers, with.chunks, NULL) ==
            ERR_OK)
        fits = run_core(&with, &delay, &spec, &core);
    if (fits)
        check_same(&with, number, &delay, &code, &core);
    sim_result_close(&core);
    code_close(&code);
    return fits;
}

static void test_same_as_core(void **state)
{
    struct rng rng;
    uint32_t done = 0;

    (void)state;
    rng_init(&rng, 4);
    for (uint32_t i = 0; i < CASES; i++) {
        const struct configuration with = draw(&rng);

        done += one_case(&with, i);
    }
    assert_true(done > CASES / 2);
}

static void test_stale_same_as_core(void **state)
{
    struct rng rng;
    uint32_t done = 0;

    (void)state;
    rng_init(&rng, 5);
    for (uint32_t i = 0; i < CASES; i++) {
        const struct configuration with = draw_stale(&rng);

        done += one_case(&with, i);
    }
    assert_true(done > CASES / 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_same_as_core),
        cmocka_unit_test(test_stale_same_as_core),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
