/*
 * Briefs and the table: each brief opens its evaluator and no other, and one
 * that is cut, prolonged or changed opens none that could do harm.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>

#include "base/rng.h"
#include "eval/small.h"

enum { KINDS = 6, ROWS = 20, COLS = 4, CHUNK = 4 };

static const char *const names[KINDS] = {"linear",     "local", "products",
                                         "sequential", "net",   "user"};

static int gradient(void *context, const double *w, uint32_t chunk, double *g,
                    double *loss)
{
    (void)context;
    (void)w;
    (void)chunk;
    g[0] = 0;
    *loss = 0;
    return 0;
}

static const struct user_function user = {
    .gradient = gradient, .dims = 3, .chunks = 5, .rows = 5};

static struct neural_model model;

static int open_model(void **state)
{
    const struct neural_shape in = {1, 1, COLS};
    const struct neural_units units = {1, 5, 0.5, 0, 0};

    (void)state;
    return neural_model_init(&model, "dense3 relu dense2", &in, NEURAL_SOFTMAX,
                             &units, NULL) == ERR_OK
               ? 0
               : -1;
}

static int close_model(void **state)
{
    (void)state;
    neural_model_close(&model);
    return 0;
}

static struct brief brief_of(const struct small *small, int kind,
                             uint8_t room[BRIEF_MAX])
{
    const struct local local = {.kind = OPTIM_GD,
                                .schedule = SCHEDULE_CONSTANT,
                                .rate = 0.5,
                                .decay = 1,
                                .every = 1,
                                .steps = 1};
    const struct passes passes = {.rate = 1, .l2 = 1, .count = 1};

    switch (kind) {
    case 0:
        return brief_linear(room, &small->subject, &sampler_whole);
    case 1:
        return brief_local(room, &small->subject, &local);
    case 2:
        return brief_products(room, &small->subject.rows, true);
    case 3:
        return brief_sequential(room, &small->subject, &passes);
    case 4:
        return brief_net(room, &small->subject.rows, &model, &sampler_whole, 7);
    default:
        return brief_user(room, &user);
    }
}

static enum err try_open(const struct small *small, const struct brief *brief)
{
    struct evaluator *evaluator = NULL;
    const enum err err =
        evaluator_open(brief, &small->shelf, pool_serial(), &evaluator);

    if (err == ERR_OK)
        assert_ptr_equal(evaluator->ops, evaluator_named(brief));
    evaluator_close(evaluator);
    return err;
}

static void test_each(void **state)
{
    uint8_t room[BRIEF_MAX];
    struct dataset_shape shape;
    struct small small;

    (void)state;
    small_open(&small, ROWS, COLS, CHUNK);
    small.shelf.user = &user;
    for (int kind = 0; kind < KINDS; kind++) {
        const struct brief brief = brief_of(&small, kind, room);
        const struct evaluator_ops *ops = evaluator_named(&brief);

        assert_non_null(ops);
        assert_string_equal(ops->name, names[kind]);
        assert_int_equal(try_open(&small, &brief), ERR_OK);
        if (ops->shape == NULL)
            continue;
        assert_int_equal(ops->shape(&brief, &shape), ERR_OK);
        assert_int_equal(shape.rows, ROWS);
        assert_int_equal(shape.cols, COLS);
        assert_int_equal(shape.chunk_rows, CHUNK);
    }
    small_close(&small);
}

static void test_cut(void **state)
{
    uint8_t room[BRIEF_MAX];
    struct small small;

    (void)state;
    small_open(&small, ROWS, COLS, CHUNK);
    small.shelf.user = &user;
    for (int kind = 0; kind < KINDS; kind++) {
        struct brief brief = brief_of(&small, kind, room);
        const size_t size = brief.size;

        for (brief.size = 0; brief.size < size; brief.size++)
            assert_int_not_equal(try_open(&small, &brief), ERR_OK);
        brief.size = size + 1;
        assert_int_equal(try_open(&small, &brief), ERR_FORMAT);
    }
    small_close(&small);
}

/* None of these may open rows that are not there; sizes are the shelf's. */
static void test_changed(void **state)
{
    uint8_t room[BRIEF_MAX];
    struct small small;
    struct rng rng;

    (void)state;
    small_open(&small, ROWS, COLS, CHUNK);
    small.shelf.user = &user;
    rng_init(&rng, 1);
    for (uint32_t i = 0; i < 20000; i++) {
        const struct brief brief =
            brief_of(&small, (int)rng_below(&rng, KINDS), room);
        struct dataset_shape shape;
        const struct evaluator_ops *ops;

        room[rng_below(&rng, (uint32_t)brief.size)] = (uint8_t)rng_next(&rng);
        (void)try_open(&small, &brief);
        ops = evaluator_named(&brief);
        if (ops != NULL && ops->shape != NULL &&
            ops->shape(&brief, &shape) == ERR_OK)
            assert_true(shape.rows > 0 && shape.cols > 0 &&
                        shape.chunk_rows > 0);
    }
    small_close(&small);
}

static void test_other_shelf(void **state)
{
    const struct brief none = {.bytes = (const uint8_t *)"\3\0nut", .size = 5};
    const struct user_function wider = {
        .gradient = gradient, .dims = 4, .chunks = 5};
    uint8_t room[BRIEF_MAX];
    struct small small, other;

    (void)state;
    small_open(&small, ROWS, COLS, CHUNK);
    small_open(&other, ROWS, COLS + 1, CHUNK);
    assert_null(evaluator_named(&none));
    assert_int_equal(try_open(&small, &none), ERR_UNKNOWN);
    for (int kind = 0; kind < KINDS; kind++) {
        const struct brief brief = brief_of(&other, kind, room);

        assert_int_equal(try_open(&small, &brief), ERR_SHAPE);
        small.shelf.user = &wider;
        assert_int_equal(try_open(&small, &brief), ERR_SHAPE);
        small.shelf.user = NULL;
    }
    small_close(&small);
    small_close(&other);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_each),
        cmocka_unit_test(test_cut),
        cmocka_unit_test(test_changed),
        cmocka_unit_test(test_other_shelf),
    };

    return cmocka_run_group_tests(tests, open_model, close_model);
}
