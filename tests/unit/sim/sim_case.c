#include "sim/sim_case.h"

#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/rng.h"
#include "code/preset.h"

#define ROWS       160u
#define COLS       5u
#define CHUNK_ROWS 8u
#define STEPS      12u

static void fill(struct dataset *data)
{
    float *x = data->x;

    for (uint32_t i = 0; i < data->rows; i++) {
        const double side = i % 2 == 0 ? 1 : -1;

        for (uint32_t j = 0; j < data->cols; j++)
            x[(size_t)i * data->stride + j] =
                (float)(0.2 * side + rng_unit_at(7, i, j) - 0.5);
        data->y[i] = side;
    }
    data->classes = 2;
    chunkset_fill(&data->present);
}

void sim_case_init(struct sim_case *test, const char *code, uint32_t n,
                   uint32_t s)
{
    const struct preset_options preset = {.name = code,
                                          .stragglers = s,
                                          .collect = n - s,
                                          .workers = n,
                                          .seed = 3};
    struct why why = {{0}};

    *test = (struct sim_case){.options = sim_options_default()};
    assert_int_equal(dataset_init(&test->data, ROWS, COLS, CHUNK_ROWS), ERR_OK);
    fill(&test->data);
    test->problem = (struct problem){.data = &test->data,
                                     .model = model_ops(MODEL_LOGISTIC),
                                     .isa = ISA_PORTABLE};
    test->options.problem = &test->problem;
    test->options.slots = n;
    test->options.settle_us = 5 * SECOND_US;
    test->options.optim = (struct optim_options){.kind = OPTIM_AGD,
                                                 .rate = 0.5,
                                                 .decay = 1,
                                                 .rows = ROWS,
                                                 .steps = STEPS};
    assert_int_equal(preset_spec(&preset, &test->options.code, &why), ERR_OK);
}

void sim_case_close(struct sim_case *test)
{
    dataset_close(&test->data);
}

void sim_case_passes(const struct sim_case *test, struct sim_result *result)
{
    struct why why = {{0}};

    if (sim_run(&test->options, result, &why) != ERR_OK)
        fail_msg("seed %" PRIu64 ": %s", test->options.seed, why.text);
    if (result->violated)
        fail_msg("seed %" PRIu64 ": %s", test->options.seed, result->violation);
    assert_true(result->finished);
    assert_int_equal(result->steps, test->options.optim.steps);
}
