/*
 * sgd against the recipe of the reference systems written with long doubles
 * and without the scaled representation; sparse rows against dense ones; the
 * shuffle; options.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <string.h>

#include "base/rng.h"
#include "optim/sgd.h"

enum { ROWS = 200, DIMS = 6 };

struct table {
    float x[ROWS][DIMS];
    float value[ROWS][DIMS]; /* The same without the zeros. */
    uint32_t index[ROWS][DIMS];
    uint32_t count[ROWS];
    double y[ROWS];
    bool sparse;
};

static struct sgd_row row_of(void *context, uint32_t i)
{
    const struct table *t = context;

    if (t->sparse)
        return (struct sgd_row){.value = t->value[i],
                                .index = t->index[i],
                                .count = t->count[i],
                                .y = t->y[i],
                                .weight = 1};
    return (struct sgd_row){
        .value = t->x[i], .count = DIMS, .y = t->y[i], .weight = 1};
}

static void make(struct table *t, uint64_t seed, bool sparse)
{
    memset(t, 0, sizeof *t);
    t->sparse = sparse;
    for (uint32_t i = 0; i < ROWS; i++) {
        double z = 0.3 * rng_normal_at(seed, 99, i);

        for (uint32_t j = 0; j < DIMS; j++) {
            const float x = (float)rng_normal_at(seed, j, i);

            if (rng_unit_at(seed, 50 + j, i) < 0.4)
                continue;
            t->x[i][j] = x;
            t->value[i][t->count[i]] = x;
            t->index[i][t->count[i]++] = j;
            z += (double)x * (j % 2 == 0 ? 1 : -2);
        }
        t->y[i] = z < 0 ? -1 : 1;
    }
}

static struct sgd_options options_of(struct loss loss)
{
    return (struct sgd_options){
        .loss = loss,
        .rate = 0.7,
        .c = 2,
        .passes = 2,
        .rows = ROWS,
        .dims = DIMS,
        .shuffle = true,
        .seed = 5,
    };
}

static long double book_slope(struct loss loss, long double z, long double y)
{
    if (loss.kind == LOSS_SQUARED)
        return 2 * (z - y);
    if (loss.kind == LOSS_LOGISTIC)
        return -y / (1 + expl(y * z));
    if (loss.kind == LOSS_HINGE)
        return y * z <= 1 ? -y : 0;
    return y * z < 1 ? -2 * y * (1 - y * z) : 0;
}

/* The recipe as printed. */
static void book(const struct sgd_options *o, const struct table *t,
                 long double *w)
{
    uint32_t order[ROWS];
    uint32_t step = 0;

    for (uint32_t pass = 0; pass < o->passes; pass++) {
        sgd_order(o, pass, order);
        for (uint32_t k = 0; k < ROWS; k++, step++) {
            const float *x = t->x[order[k]];
            const long double y = (long double)t->y[order[k]];
            const long double eta = (long double)o->rate / (1 + step);
            long double z = 0, r;

            for (int j = 0; j < DIMS; j++)
                z += w[j] * (long double)x[j];
            r = book_slope(o->loss, z, y);
            for (int j = 0; j < DIMS; j++)
                w[j] = (o->has_free && (uint32_t)j == o->free ? 1 : 1 - eta) *
                           w[j] -
                       eta * (long double)o->c * r * (long double)x[j];
        }
    }
}

static void test_follows_the_recipe(void **state)
{
    static const enum loss_kind kinds[] = {LOSS_HINGE, LOSS_SQUARED_HINGE,
                                           LOSS_SQUARED, LOSS_LOGISTIC};
    static struct table t;

    (void)state;
    for (uint32_t k = 0; k < 16; k++) {
        struct sgd_options options = options_of(loss_plain(kinds[k % 4]));
        long double w[DIMS] = {0};
        double got[DIMS];

        make(&t, k, k % 2 == 0);
        if (k % 5 == 0)
            options.rate = 1; /* 1 - eta = 0 at first: all is forgotten. */
        options.c = k % 3 == 0 ? 2 : 0.05;
        options.has_free = k % 4 < 2;
        options.free = k % DIMS;
        book(&options, &t, w);
        assert_int_equal(sgd_train(&options, row_of, &t, got), ERR_OK);
        for (int j = 0; j < DIMS; j++)
            assert_true(fabsl((long double)got[j] - w[j]) <
                        1e-9L * (1 + fabsl(w[j])));
    }
}

static void test_sparse_is_dense(void **state)
{
    static struct table t;
    const struct sgd_options options = options_of(loss_plain(LOSS_HINGE));
    double a[DIMS], b[DIMS];

    (void)state;
    make(&t, 3, false);
    assert_int_equal(sgd_train(&options, row_of, &t, a), ERR_OK);
    t.sparse = true;
    assert_int_equal(sgd_train(&options, row_of, &t, b), ERR_OK);
    assert_memory_equal(a, b, sizeof a);
    assert_int_equal(sgd_train(&options, row_of, &t, b), ERR_OK);
    assert_memory_equal(a, b, sizeof a);
}

struct masked {
    struct table table;
    double weight[ROWS];
};

static struct sgd_row masked_row(void *context, uint32_t i)
{
    struct masked *m = context;
    struct sgd_row row = row_of(&m->table, i);

    row.weight = m->weight[i];
    return row;
}

/* A row of weight 0 is as if it were not there: it does not even count. */
static void test_left_out(void **state)
{
    static struct masked m;
    struct sgd_options options = options_of(loss_plain(LOSS_LOGISTIC));
    double a[DIMS], b[DIMS];

    (void)state;
    options.shuffle = false;
    options.passes = 1;
    make(&m.table, 4, false);
    for (int i = 0; i < ROWS; i++)
        m.weight[i] = i < ROWS / 2 ? 1 : 0;
    assert_int_equal(sgd_train(&options, masked_row, &m, a), ERR_OK);
    options.rows = ROWS / 2;
    assert_int_equal(sgd_train(&options, row_of, &m.table, b), ERR_OK);
    assert_memory_equal(a, b, sizeof a);
}

/* Long runs shrink the scale below its limits many times over. */
static void test_learns(void **state)
{
    static struct table t;
    struct sgd_options options = options_of(loss_plain(LOSS_HINGE));
    double w[DIMS];
    int right = 0;

    (void)state;
    make(&t, 9, true);
    options.passes = 50;
    options.rate = 10;
    assert_int_equal(sgd_train(&options, row_of, &t, w), ERR_OK);
    for (int i = 0; i < ROWS; i++) {
        double z = 0;

        for (int j = 0; j < DIMS; j++)
            z += w[j] * (double)t.x[i][j];
        right += z * t.y[i] > 0;
    }
    assert_true(right > ROWS * 9 / 10);
}

static void test_order(void **state)
{
    struct sgd_options options = options_of(loss_plain(LOSS_HINGE));
    uint32_t first[ROWS], second[ROWS];
    bool seen[ROWS] = {false};

    (void)state;
    sgd_order(&options, 0, first);
    sgd_order(&options, 1, second);
    assert_memory_not_equal(first, second, sizeof first);
    for (int i = 0; i < ROWS; i++) {
        assert_true(first[i] < ROWS && !seen[first[i]]);
        seen[first[i]] = true;
    }
    sgd_order(&options, 0, second);
    assert_memory_equal(first, second, sizeof first);
    options.shuffle = false;
    sgd_order(&options, 0, first);
    for (uint32_t i = 0; i < ROWS; i++)
        assert_int_equal(first[i], i);
}

static void assert_bad(struct sgd_options options)
{
    double w[DIMS];

    assert_int_equal(sgd_train(&options, row_of, NULL, w), ERR_SHAPE);
}

static void test_bad_options(void **state)
{
    const struct sgd_options good = options_of(loss_plain(LOSS_HINGE));
    static struct table t;
    struct sgd_options bad;
    double w[DIMS];

    (void)state;
    bad = good, bad.loss.kind = LOSSES, assert_bad(bad);
    bad = good, bad.rate = 0, assert_bad(bad);
    bad = good, bad.rate = (double)NAN, assert_bad(bad);
    bad = good, bad.c = -1, assert_bad(bad);
    bad = good, bad.rows = 0, assert_bad(bad);
    bad = good, bad.dims = 0, assert_bad(bad);
    make(&t, 1, false);
    bad = options_of(loss_plain(LOSS_SQUARED)), bad.rate = 1e200;
    assert_int_equal(sgd_train(&bad, row_of, &t, w), ERR_RANGE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_follows_the_recipe),
        cmocka_unit_test(test_sparse_is_dense),
        cmocka_unit_test(test_left_out),
        cmocka_unit_test(test_learns),
        cmocka_unit_test(test_order),
        cmocka_unit_test(test_bad_options),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
