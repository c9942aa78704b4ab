/*
 * muster_train with functions of the test's own: the optimum, the same hash
 * for any number of threads, sizes that jump, stops, and what is refused.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <string.h>

#include "api/job.h"

enum { DIMS = 6, CHUNKS = 24 };

/* Chunk k: sum_j a_kj (w_j - c_kj)^2, times `size`; convex and smooth. */
struct bowl {
    double size;
    int stop_after; /* Calls; 0 = never. */
    int calls;
    int watch_until; /* Step; 0 = never. */
    double poison;   /* Added to the gradient of chunk 3. */
};

static double sharp(uint32_t k, int j)
{
    return 1 + (k * 7 + (uint32_t)j * 3) % 11;
}

static double centre(uint32_t k, int j)
{
    return sin(k + 0.7 * j) + j;
}

static int bowl(void *context, const double *w, uint32_t chunk, double *g,
                double *loss)
{
    const struct bowl *b = context;

    for (int j = 0; j < DIMS; j++) {
        const double d = w[j] - centre(chunk, j);

        g[j] += b->size * 2 * sharp(chunk, j) * d;
        *loss += b->size * sharp(chunk, j) * d * d;
    }
    if (chunk == 3)
        g[0] += b->poison;
    return 0;
}

static int bowl_product(void *context, const double *w, const double *v,
                        uint32_t chunk, double *product)
{
    const struct bowl *b = context;

    (void)w;
    for (int j = 0; j < DIMS; j++)
        product[j] = b->size * 2 * sharp(chunk, j) * v[j];
    return 0;
}

static int counting(void *context, const double *w, uint32_t chunk, double *g,
                    double *loss)
{
    struct bowl *b = context;

    if (++b->calls > b->stop_after)
        return 1;
    return bowl(context, w, chunk, g, loss);
}

/* Different each time: no function. */
static int moody(void *context, const double *w, uint32_t chunk, double *g,
                 double *loss)
{
    struct bowl *b = context;

    (void)bowl(context, w, chunk, g, loss);
    g[1] = ldexp(g[1], 20 * (b->calls++ / CHUNKS));
    return 0;
}

static int watch(void *context, const struct muster_progress *progress)
{
    const struct bowl *b = context;

    assert_int_equal(progress->size, sizeof *progress);
    assert_true(isfinite(progress->objective));
    return progress->step == (uint32_t)b->watch_until;
}

static struct job options_of(struct bowl *b)
{
    struct job options = {0};

    options.dims = DIMS;
    options.chunks = CHUNKS;
    options.rows = CHUNKS;
    options.gradient = bowl;
    options.hessvec = bowl_product;
    options.context = b;
    options.tol = 1e-9;
    options.steps = 20000;
    return options;
}

static struct muster_model *train(const struct job *options)
{
    struct muster_model *model = NULL;
    char why[MUSTER_WHY_SIZE];

    assert_int_equal(job_train(options, &model, why), MUSTER_OK);
    assert_string_equal(why, "");
    assert_non_null(model);
    return model;
}

static void assert_optimal(const struct muster_model *model, double error)
{
    assert_int_equal(about(model).dims, DIMS);
    assert_int_equal(about(model).converged, 1);
    for (int j = 0; j < DIMS; j++) {
        double top = 0, bottom = 0;

        for (uint32_t k = 0; k < CHUNKS; k++) {
            top += sharp(k, j) * centre(k, j);
            bottom += sharp(k, j);
        }
        assert_true(fabs(muster_weights(model)[j] - top / bottom) < error);
    }
}

static void test_optimisers(void **state)
{
    static const char *const names[] = {"gd",   "agd",   "momentum",
                                        "adam", "lbfgs", "newton"};
    struct bowl b = {.size = 1};

    (void)state;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        struct job options = options_of(&b);
        struct muster_model *model;

        options.optimiser = names[i];
        options.rate = i < 3 ? 0.02 : i == 3 ? 0.05 : 0;
        /* agd slows down near the optimum, adam ends in a small orbit. */
        options.tol = i == 1 ? 1e-3 : i == 3 ? 1e-6 : 1e-9;
        model = train(&options);
        assert_optimal(model, options.tol);
        muster_free(model);
    }
    muster_free(NULL);
}

static void test_threads_do_not_change_the_hash(void **state)
{
    struct bowl b = {.size = 1};
    char hash[MUSTER_HASH_SIZE] = "";

    (void)state;
    for (uint32_t threads = 0; threads < 5; threads++) {
        struct job options = options_of(&b);
        struct muster_model *model;

        options.threads = threads;
        model = train(&options);
        assert_optimal(model, 1e-9);
        if (threads == 0)
            memcpy(hash, muster_hash(model), sizeof hash);
        assert_string_equal(hash, muster_hash(model));
        assert_int_equal(strlen(hash), 64);
        muster_free(model);
    }
}

/* From 1e-200 to 1e12: the scale finds itself, also for a first step far too
 * long, whose gradients are large. */
static void test_sizes(void **state)
{
    static const double sizes[] = {1e-200, 1e-30, 1, 1e12};

    (void)state;
    for (int i = 0; i < 4; i++) {
        struct bowl b = {.size = sizes[i]};
        struct job options = options_of(&b);
        struct muster_model *model;

        options.tol = 1e-9 * sizes[i];
        options.rate = i % 2 == 0 ? 1e3 / sizes[i] : 0;
        model = train(&options);
        if (i > 0) /* 1e-200: the loss is below the grid of losses. */
            assert_optimal(model, 1e-9);
        muster_free(model);
    }
}

static void test_stops(void **state)
{
    struct bowl b = {.size = 1, .stop_after = 5 * CHUNKS};
    struct job options = options_of(&b);
    struct muster_model *model = NULL;
    char why[MUSTER_WHY_SIZE];

    (void)state;
    options.gradient = counting;
    options.rate = 0.01;
    options.optimiser = "gd";
    assert_int_equal(job_train(&options, &model, why), MUSTER_STOPPED);
    assert_int_equal(about(model).steps, 4); /* One pass found the scale. */
    assert_int_equal(about(model).evaluations, 4);
    muster_free(model);
    options.gradient = bowl;
    options.watch = watch;
    b.watch_until = 7;
    assert_int_equal(job_train(&options, &model, NULL), MUSTER_STOPPED);
    assert_int_equal(about(model).steps, 7);
    assert_true(about(model).objective > 0);
    muster_free(model);
    options.watch = NULL;
    options.steps = 0;
    options.tol = 0;
    model = train(&options);
    assert_int_equal(about(model).steps, 100);
    assert_int_equal(about(model).converged, 0);
    muster_free(model);
}

static void assert_fails(const struct job *options, enum muster_status status)
{
    struct muster_model *model = NULL;
    char why[MUSTER_WHY_SIZE] = "";

    assert_int_equal(job_train(options, &model, why), status);
    assert_null(model);
    assert_true(strlen(why) > 5);
    assert_int_equal(job_train(options, &model, NULL), status);
}

static void test_refusals(void **state)
{
    struct bowl b = {.size = 1};
    const struct job good = options_of(&b);
    struct job bad;

    (void)state;
    assert_int_equal(muster_version(), MUSTER_VERSION);
    bad = good, bad.size = 4096, assert_fails(&bad, MUSTER_BAD_VERSION);
    bad = good, bad.size = 8, assert_fails(&bad, MUSTER_BAD_OPTION);
    bad = good, bad.dims = 0, assert_fails(&bad, MUSTER_BAD_OPTION);
    bad = good, bad.chunks = 0, assert_fails(&bad, MUSTER_BAD_OPTION);
    bad = good, bad.rows = 0, assert_fails(&bad, MUSTER_BAD_OPTION);
    bad = good, bad.gradient = NULL, assert_fails(&bad, MUSTER_BAD_OPTION);
    bad = good, bad.l2 = -1, assert_fails(&bad, MUSTER_BAD_OPTION);
    bad = good, bad.tol = (double)NAN, assert_fails(&bad, MUSTER_BAD_OPTION);
    bad = good, bad.threads = 5000, assert_fails(&bad, MUSTER_BAD_OPTION);
    bad = good, bad.optimiser = "sdg", assert_fails(&bad, MUSTER_BAD_OPTION);
    bad = good, bad.optimiser = "newton", bad.hessvec = NULL;
    assert_fails(&bad, MUSTER_BAD_OPTION);
    bad = good, bad.chunks = 65537, assert_fails(&bad, MUSTER_BAD_OPTION);
    bad = good, bad.dims = 1 << 24, assert_fails(&bad, MUSTER_BAD_OPTION);
    bad = good, bad.workers = 5000, assert_fails(&bad, MUSTER_BAD_OPTION);
    bad = good, bad.wanted = 2, assert_fails(&bad, MUSTER_BAD_OPTION);
    assert_int_equal(muster_train(NULL, NULL, NULL, NULL), MUSTER_BAD_OPTION);
    bad = good, bad.gradient = moody, assert_fails(&bad, MUSTER_NOT_A_FUNCTION);
    bad = good, bad.optimiser = "gd", bad.rate = 1e6, bad.tol = 0;
    assert_fails(&bad, MUSTER_DIVERGED);
    b.poison = (double)NAN;
    assert_fails(&good, MUSTER_DIVERGED);
    b.poison = HUGE_VAL;
    assert_fails(&good, MUSTER_DIVERGED);
}

/* One coordinate in a thousand chunks, the others everywhere, and of very
 * different sizes: each has its own scale. */
static int spiky(void *context, const double *w, uint32_t chunk, double *g,
                 double *loss)
{
    const double size[3] = {1e6, 1, 1e-4};

    (void)context;
    for (int j = 0; j < 3; j++) {
        const double d = w[j] - (j + 1) / size[j];

        if (j == 1 && chunk != 17)
            continue;
        g[j] = size[j] * size[j] * d;
        *loss += size[j] * size[j] * d * d / 2;
    }
    return 0;
}

static void test_sizes_differ(void **state)
{
    struct job options = {0};
    struct muster_model *model;
    const double *w;

    (void)state;
    options.dims = 3, options.chunks = 1000, options.rows = 1000;
    options.gradient = spiky;
    options.steps = 2000;
    model = train(&options);
    w = muster_weights(model);
    assert_true(fabs(w[0] - 1e-6) < 1e-15);
    assert_true(fabs(w[1] - 2) < 1e-6);
    assert_true(fabs(w[2] - 3e4) < 1e-1);
    muster_free(model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_optimisers),
        cmocka_unit_test(test_threads_do_not_change_the_hash),
        cmocka_unit_test(test_sizes),
        cmocka_unit_test(test_stops),
        cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_sizes_differ),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
