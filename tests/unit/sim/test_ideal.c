/*
 * The ideal of a delay study: zero latency, zero compute, perfect
 * cancellation.  Through the same core, seconds per step must be those of the
 * table in the study of the seed systems (reference delays, MT19937), to the
 * three digits it is printed with: one test per cell.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "code/preset.h"
#include "sim/sim.h"

struct cell {
    const char *code;
    uint32_t n, s, collect, steps;
    double step_s;
    double coverage;  /* 0: all. */
    const char *stop; /* NULL: the code's own. */
};

static void check_cell(const struct cell *cell)
{
    const struct preset_options preset = {
        .name = cell->code,
        .stragglers = cell->s,
        .collect = cell->collect,
        .stop = cell->stop,
        .estimate = cell->stop == NULL ? NULL : "ratio",
        .workers = cell->n,
        .seed = 1};
    struct sim_options options = sim_options_default();
    struct sim_result result;
    struct why why = {{0}};

    options.ideal = true;
    options.chunk_us = 0;
    options.slots = cell->n;
    options.rows = cell->n * 8;
    options.chunk_rows = 1;
    options.optim = (struct optim_options){.kind = OPTIM_GD,
                                           .rate = 1,
                                           .decay = 1,
                                           .rows = options.rows,
                                           .steps = cell->steps};
    assert_int_equal(preset_spec(&preset, &options.code, &why), ERR_OK);
    assert_int_equal(delay_parse("reference", 0, &options.delay, &why), ERR_OK);
    assert_int_equal(sim_run(&options, &result, &why), ERR_OK);
    assert_string_equal(result.violation, "");
    assert_true(result.finished);
    assert_int_equal(result.steps, cell->steps);
    assert_true(fabs(result.mean_step_s - cell->step_s) < 0.0006);
    if (cell->coverage > 0)
        assert_true(fabs(result.coverage - cell->coverage) < 0.006);
    else
        assert_true(result.coverage == 1);
    sim_result_close(&result);
}

#define CELL(test, ...)                                                        \
    static void test(void **state)                                             \
    {                                                                          \
        const struct cell cell = {__VA_ARGS__};                                \
                                                                               \
        (void)state;                                                           \
        check_cell(&cell);                                                     \
    }

/* Of our own; the figures are those of docs/codes.md or follow from above. */
CELL(test_cb_30_1, "cb", 30, 1, 0, 100, 1.528, 0, NULL)
CELL(test_stream_30_2, "stream", 30, 2, 0, 100, 0.631, 0, NULL)
CELL(test_partial_30_1, "partial-cyclic", 30, 1, 0, 100, 1.986, 0, NULL)
CELL(test_deadline_30_1, "rep", 30, 1, 0, 100, 0.200, 0.581, "deadline:0.2")
CELL(test_groups_30_1, "rep", 30, 1, 0, 100, 0.242, 0.667, "groups:10")

CELL(test_uncoded_30, "uncoded", 30, 0, 0, 100, 1.986, 0, NULL)
CELL(test_frc_30_1, "frc", 30, 1, 0, 100, 0.804, 0, NULL)
CELL(test_cyclic_30_1, "cyclic", 30, 1, 0, 100, 1.528, 0, NULL)
CELL(test_agc_30_1, "agc", 30, 1, 11, 100, 0.216, 0.61, NULL)
CELL(test_frc_30_2, "frc", 30, 2, 0, 100, 0.500, 0, NULL)
CELL(test_cyclic_30_2, "cyclic", 30, 2, 0, 100, 1.254, 0, NULL)
CELL(test_agc_30_2, "agc", 30, 2, 11, 100, 0.216, 0.75, NULL)
CELL(test_uncoded_8, "uncoded", 8, 0, 0, 40, 1.318, 0, NULL)
CELL(test_frc_8_1, "frc", 8, 1, 0, 40, 0.460, 0, NULL)
CELL(test_cyclic_8_1, "cyclic", 8, 1, 0, 40, 0.908, 0, NULL)
CELL(test_agc_8_1, "agc", 8, 1, 5, 40, 0.387, 0.93, NULL)
CELL(test_frc_8_3, "frc", 8, 3, 0, 40, 0.187, 0, NULL)
CELL(test_cyclic_8_3, "cyclic", 8, 3, 0, 40, 0.426, 0, NULL)
CELL(test_agc_8_3, "agc", 8, 3, 2, 40, 0.134, 0.78, NULL)

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_uncoded_30),
        cmocka_unit_test(test_frc_30_1),
        cmocka_unit_test(test_cyclic_30_1),
        cmocka_unit_test(test_agc_30_1),
        cmocka_unit_test(test_frc_30_2),
        cmocka_unit_test(test_cyclic_30_2),
        cmocka_unit_test(test_agc_30_2),
        cmocka_unit_test(test_uncoded_8),
        cmocka_unit_test(test_frc_8_1),
        cmocka_unit_test(test_cyclic_8_1),
        cmocka_unit_test(test_agc_8_1),
        cmocka_unit_test(test_frc_8_3),
        cmocka_unit_test(test_cyclic_8_3),
        cmocka_unit_test(test_agc_8_3),
        cmocka_unit_test(test_cb_30_1),
        cmocka_unit_test(test_stream_30_2),
        cmocka_unit_test(test_partial_30_1),
        cmocka_unit_test(test_deadline_30_1),
        cmocka_unit_test(test_groups_30_1),
    };

    return cmocka_run_group_tests_name("ideal", tests, NULL, NULL);
}
