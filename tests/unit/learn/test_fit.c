/*
 * A program trains on arrays of its own, without a file and without a word on
 * the screen: the same model as from a file of the same numbers, whoever looks
 * on, in one process or with workers.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "data/read/memory.h"
#include "learn/fit.h"
#include "learn/save.h"
#include "learn/workers.h"
#include "node/arithmetic.h"

#define ROWS 600u
#define COLS 5u

static double x[ROWS][COLS];
static double y[ROWS];
static const struct memory_rows rows = {
    .rows = ROWS,
    .cols = COLS,
    .cell = CELL_F64,
    .x = x,
    .row_step = sizeof *x,
    .col_step = sizeof **x,
    .label = y,
};

static struct recipe recipe;
static struct setup setup;
static struct train_result result;
static struct why why;

static void draw_rows(void)
{
    uint32_t state = 1;

    for (uint32_t i = 0; i < ROWS; i++) {
        double sum = 0.25;

        for (uint32_t j = 0; j < COLS; j++) {
            state = state * 1664525u + 1013904223u;
            x[i][j] = (double)(state >> 20) / 4096 - 0.5;
            sum += x[i][j] * (j % 2 == 0 ? 1 : -2);
        }
        y[i] = sum + x[i][0] * x[i][1] > 0 ? 1 : -1;
    }
}

static int begin(void **state)
{
    (void)state;
    draw_rows();
    why = (struct why){0};
    setup = (struct setup){.terms = {.rows = &rows}};
    return recipe_init(&recipe, &why) == ERR_OK ? 0 : -1;
}

static int end(void **state)
{
    (void)state;
    train_result_close(&result);
    setup_close(&setup);
    recipe_close(&recipe);
    return 0;
}

static void set(const char *name, const char *text)
{
    assert_int_equal(recipe_set(&recipe, name, text, &why), ERR_OK);
}

static void prepare(void)
{
    assert_int_equal(setup_workers(&setup, &recipe, &why), ERR_OK);
    assert_int_equal(setup_load(&setup, &recipe, &why), ERR_OK);
}

static struct digest train(void)
{
    struct fit fit = {.setup = &setup, .recipe = &recipe};

    prepare();
    assert_int_equal(fit_run(&fit, &result, &why), ERR_OK);
    assert_int_equal(fit_settle(&setup, &result), ERR_OK);
    fit_close(&fit);
    return result.hash;
}

static void test_rows_in_memory(void **state)
{
    struct model_file model;

    (void)state;
    (void)train();
    assert_true(result.finished);
    assert_int_equal(setup.model, MODEL_LOGISTIC);
    assert_int_equal(result.outcome.end, OPTIM_CONVERGED);
    assert_true(result.outcome.at_model);
    assert_int_equal(save_take(&setup, result.weights, &model), ERR_OK);
    assert_int_equal(model.features, COLS);
    assert_true(model.intercept);
    assert_int_equal(model.classes, 2);
    assert_true(model.label[0] == -1);
    assert_true(model.label[1] == 1);
    assert_true(model.w[0] > 0);
    assert_true(model.w[1] < 0);
    model_file_close(&model);
}

/* The state of a run that ends in order needs a place only with workers. */
static void test_workers_give_the_same(void **state)
{
    struct digest alone;

    alone = train();
    (void)end(state);
    (void)begin(state);
    set("n", "2");
    set("optim", "newton");
    {
        const struct digest two = train();

        assert_true(digest_equal(&alone, &two));
    }
    assert_int_equal(result.stats.joined, 2);
}

/* A release whose csr sums differ in a bit does not resume what this one began:
 * the journal's config is another (node-test_keep has the refusal). */
static void test_other_arithmetic_is_another_config(void **state)
{
    struct golden_part parts[ARITHMETIC_PARTS_MAX];
    const size_t count = arithmetic_parts(parts);
    struct digest ours, theirs, arithmetic;

    (void)state;
    prepare();
    ours = config_digest(&setup);
    for (size_t i = 0; i < count; i++) {
        const char *const expected = parts[i].expected;
        char flipped[DIGEST_TEXT];

        memcpy(flipped, expected, sizeof flipped);
        flipped[0] ^= 1;
        parts[i].expected = flipped;
        arithmetic = arithmetic_digest_of(parts, count);
        theirs = config_digest_in(&setup, &arithmetic);
        assert_false(digest_equal(&ours, &theirs));
        parts[i].expected = expected;
    }
    arithmetic = arithmetic_digest_of(parts, count);
    theirs = config_digest_in(&setup, &arithmetic);
    assert_true(digest_equal(&ours, &theirs));
}

/* Of a hinge --accuracy decides the way (optim/soften.c); of a smooth loss only
 * where it ends, and a run goes on with another. */
static void test_accuracy_is_of_the_config_of_a_hinge(void **state)
{
    static const char *const models[] = {"logistic", "hinge"};

    for (uint32_t i = 0; i < 2; i++) {
        struct digest rough, fine;

        set("model", models[i]);
        set("accuracy", "1e-2");
        prepare();
        rough = config_digest(&setup);
        (void)end(state);
        (void)begin(state);
        set("model", models[i]);
        set("accuracy", "1e-4");
        prepare();
        fine = config_digest(&setup);
        (void)end(state);
        (void)begin(state);
        assert_int_equal(digest_equal(&rough, &fine), i == 0);
    }
}

struct looker {
    uint32_t rounds;
    double last;
};

static bool look(void *context, const struct optim *optim)
{
    struct looker *looker = context;

    looker->rounds++;
    looker->last = optim->objective;
    return looker->rounds < 3;
}

static void test_who_looks_on_may_stop(void **state)
{
    struct looker looker = {0};
    struct fit fit = {
        .setup = &setup, .recipe = &recipe, .context = &looker, .step = look};

    (void)state;
    set("optim", "agd");
    prepare();
    assert_int_equal(fit_run(&fit, &result, &why), ERR_OK);
    fit_close(&fit);
    assert_int_equal(looker.rounds, 3);
    assert_false(result.finished);
    assert_false(result.timed_out);
    assert_non_null(result.weights);
    assert_true(looker.last > 0);
}

static void note(void *context, const char *sentence)
{
    (void)snprintf(context, 256, "%s", sentence);
}

/* Refused with a sentence that names no file. */
static void test_refusals(void **state)
{
    char said[256] = "";

    (void)state;
    setup.terms.note = note;
    setup.terms.context = said;
    for (uint32_t i = 0; i < ROWS; i++)
        y[i] = 1;
    assert_int_equal(setup_workers(&setup, &recipe, &why), ERR_OK);
    assert_int_equal(setup_load(&setup, &recipe, &why), ERR_SHAPE);
    assert_string_equal(why.text, "the rows: all labels are the same; there is "
                                  "nothing to learn");
}

/* In batches of so many rows; 0: of all. */
static uint32_t pieces_in(uint32_t count, uint32_t cols, uint32_t delays,
                          uint32_t batch)
{
    const struct sampler batches = {.kind = SAMPLER_ROWS, .batch = batch};
    struct setup of = setup;

    of.data.rows = count;
    of.data.cols = of.data.stride = cols;
    of.delay.count = delays;
    setup.code.pieces = 0;
    workers_cut(&setup, &of, batch > 0 ? &batches : &sampler_whole);
    return setup.code.pieces;
}

static uint32_t pieces_of(uint32_t count, uint32_t cols, uint32_t delays)
{
    return pieces_in(count, cols, delays, 0);
}

/* Pieces of long vectors and of few numbers, in a batch or in all, are few,
 * unless the user said how many, or a delay says that there is more to do. */
static void test_pieces_follow_the_work(void **state)
{
    (void)state;
    set("n", "4");
    prepare();
    assert_int_equal(setup.code.pieces, 2);
    assert_int_equal(pieces_of(1u << 21, 64, 0), 0);
    assert_int_equal(pieces_of(1u << 20, 64, 0), 4);
    assert_int_equal(pieces_of(1u << 10, 64, 0), 2);
    assert_int_equal(pieces_of(1u << 10, 64, 1), 0);
    assert_int_equal(pieces_of(1u << 10, (1u << 18) - 1, 0), 0);
    assert_int_equal(pieces_of(1u << 10, 1u << 18, 0), 4);
    assert_int_equal(pieces_in(1u << 21, 64, 0, 1u << 20), 4);
    assert_int_equal(pieces_in(1u << 21, 64, 0, 1u << 10), 2);
    setup.code.pieces = 5;
    workers_cut(&setup, &setup, &sampler_whole);
    assert_int_equal(setup.code.pieces, 5);
}

/* The verdict on a network has scored its rows: nobody has to do so again. */
static void test_network_is_scored_once(void **state)
{
    struct fit fit = {.setup = &setup, .recipe = &recipe};
    struct metrics again;

    (void)state;
    set("net", "dense4 tanh dense2");
    set("steps", "20");
    prepare();
    assert_int_equal(fit_run(&fit, &result, &why), ERR_OK);
    assert_false(result.measured);
    assert_int_equal(fit_settle(&setup, &result), ERR_OK);
    assert_true(result.measured);
    again = setup_measure(&setup, &setup.data, result.weights);
    for (int i = METRIC_ACCURACY; i < METRICS; i++) {
        const double one = metric_value(&result.metrics, (enum metric)i);
        const double two = metric_value(&again, (enum metric)i);

        assert_memory_equal(&one, &two, sizeof one);
    }
    fit_close(&fit);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_rows_in_memory, begin, end),
        cmocka_unit_test_setup_teardown(test_workers_give_the_same, begin, end),
        cmocka_unit_test_setup_teardown(test_other_arithmetic_is_another_config,
                                        begin, end),
        cmocka_unit_test_setup_teardown(
            test_accuracy_is_of_the_config_of_a_hinge, begin, end),
        cmocka_unit_test_setup_teardown(test_who_looks_on_may_stop, begin, end),
        cmocka_unit_test_setup_teardown(test_refusals, begin, end),
        cmocka_unit_test_setup_teardown(test_pieces_follow_the_work, begin,
                                        end),
        cmocka_unit_test_setup_teardown(test_network_is_scored_once, begin,
                                        end),
    };

    return cmocka_run_group_tests_name("fit", tests, NULL, NULL);
}
