/*
 * muster_train with forked workers: the hash of one process, through codes,
 * optimisers and scales that must be found; stops, failures, a folder to go on
 * from.  Kills are in tests/net/door.py.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "api/job.h"

enum { DIMS = 5, CHUNKS = 12 };

struct curve {
    double size;
    uint32_t stop_chunk; /* Says stop when w[0] > 0.1; UINT32_MAX: never. */
    uint32_t watch_until;
    double poison;
};

/* Smooth, convex, not quadratic: many evaluations of many sizes. */
static int curve(void *context, const double *w, uint32_t chunk, double *g,
                 double *loss)
{
    const struct curve *c = context;

    for (uint32_t j = 0; j < DIMS; j++) {
        const double centre = (chunk * 7 + j * 3) % 11 / 4.0;
        const double d = w[j] - centre;

        g[j] = c->size * (d + d * d * d);
        *loss += c->size * (d * d / 2 + d * d * d * d / 4);
    }
    g[1] += chunk == 2 ? c->poison : 0;
    return chunk == c->stop_chunk && w[0] > 0.1;
}

static int product(void *context, const double *w, const double *v,
                   uint32_t chunk, double *out)
{
    const struct curve *c = context;

    for (uint32_t j = 0; j < DIMS; j++) {
        const double d = w[j] - (chunk * 7 + j * 3) % 11 / 4.0;

        out[j] = c->size * (1 + 3 * d * d) * v[j];
    }
    return 0;
}

static int watch(void *context, const struct muster_progress *progress)
{
    const struct curve *c = context;

    assert_true(isfinite(progress->objective));
    return c->watch_until != 0 && progress->step >= c->watch_until;
}

static struct job options_of(struct curve *c)
{
    struct job options = {0};

    options.dims = DIMS;
    options.chunks = CHUNKS;
    options.rows = CHUNKS;
    options.gradient = curve;
    options.hessvec = product;
    options.context = c;
    options.steps = 25;
    return options;
}

static void train(const struct job *options, enum muster_status wanted,
                  char hash[MUSTER_HASH_SIZE])
{
    struct muster_model *model = NULL;
    char why[MUSTER_WHY_SIZE];
    const enum muster_status status = job_train(options, &model, why);

    if (status != wanted)
        print_message("%s\n", why);
    assert_int_equal(status, wanted);
    if (model != NULL)
        (void)snprintf(hash, MUSTER_HASH_SIZE, "%s", muster_hash(model));
    else
        assert_true(strlen(why) > 5);
    muster_free(model);
}

static void assert_same(struct job *options)
{
    char alone[MUSTER_HASH_SIZE] = "", with[MUSTER_HASH_SIZE] = "";
    const uint32_t workers = options->workers;

    options->workers = 0;
    train(options, MUSTER_OK, alone);
    options->workers = workers;
    train(options, MUSTER_OK, with);
    assert_string_equal(alone, with);
}

static void test_optimisers(void **state)
{
    static const char *const names[] = {"gd", "adam", "lbfgs", "newton"};
    struct curve c = {.size = 1, .stop_chunk = UINT32_MAX};

    (void)state;
    for (size_t i = 0; i < 4; i++) {
        struct job options = options_of(&c);

        options.optimiser = names[i];
        options.rate = i == 0 ? 0.02 : 0;
        options.workers = 1 + (uint32_t)i;
        assert_same(&options);
    }
}

static void test_codes(void **state)
{
    static const char *const names[] = {"uncoded", "frc", "stream", "auto"};
    struct curve c = {.size = 1, .stop_chunk = UINT32_MAX};

    (void)state;
    for (size_t i = 0; i < 4; i++) {
        struct job options = options_of(&c);

        options.code = names[i];
        options.workers = 4;
        options.threads = 1 + i % 2;
        assert_same(&options);
    }
}

/* Scales that are far from where one begins, and trials that are far out: the
 * cluster finds them by the same attempts. */
static void test_sizes(void **state)
{
    static const double sizes[] = {1e-40, 1e12, 1e150};

    (void)state;
    for (int i = 0; i < 3; i++) {
        struct curve c = {.size = sizes[i], .stop_chunk = UINT32_MAX};
        struct job options = options_of(&c);

        options.workers = 3;
        options.rate = i == 0 ? 1e60 : 1e-3 / sizes[i];
        assert_same(&options);
    }
}

static void test_failures(void **state)
{
    struct curve c = {.size = 1, .stop_chunk = UINT32_MAX};
    struct job options = options_of(&c);

    (void)state;
    options.code = "stela"; /* Wrong without workers, too. */
    train(&options, MUSTER_BAD_OPTION, NULL);
    options.code = "auto";
    options.folder = "nothing-is-kept";
    train(&options, MUSTER_BAD_OPTION, NULL);
    options.folder = NULL;
    options.workers = 2;
    c.poison = (double)NAN;
    train(&options, MUSTER_DIVERGED, NULL);
    c.poison = 0;
    options.code = "stela";
    train(&options, MUSTER_BAD_OPTION, NULL);
    options.code = "local";
    train(&options, MUSTER_BAD_OPTION, NULL);
    options.code = NULL;
    options.stragglers = 2;
    train(&options, MUSTER_BAD_OPTION, NULL);
    options.stragglers = 0;
    options.listen = "0.0.0.0:0"; /* Without a token. */
    train(&options, MUSTER_REFUSED, NULL);
    options.listen = NULL;
    options.folder = "/proc/none/here";
    train(&options, MUSTER_FAILED, NULL);
}

/* What `muster train` refuses is refused here, before anything is begun. */
static void refuse_codes(uint32_t workers)
{
    static const char *const codes[] = {"mds", "local", "matrix", "agc"};
    static const char *const leave_out[] = {"ignore", "sgc", "ksync"};
    static const char *const searches[] = {NULL, "lbfgs", "newton"};
    struct curve c = {.size = 1, .stop_chunk = UINT32_MAX};
    struct job options = options_of(&c);

    options.workers = workers;
    options.optimiser = "gd";
    options.rate = 0.01;
    for (size_t i = 0; i < sizeof codes / sizeof *codes; i++) {
        options.code = codes[i];
        train(&options, MUSTER_BAD_OPTION, NULL);
    }
    for (size_t i = 0; i < 9; i++) {
        options.code = leave_out[i / 3];
        options.optimiser = searches[i % 3];
        train(&options, MUSTER_BAD_OPTION, NULL);
    }
}

static void test_codes_refused(void **state)
{
    (void)state;
    refuse_codes(4);
}

/* Alone the code does nothing, but the same options are to do with workers. */
static void test_codes_refused_alone(void **state)
{
    (void)state;
    refuse_codes(0);
}

static void test_stops(void **state)
{
    struct curve c = {.size = 1, .stop_chunk = 5};
    struct job options = options_of(&c);
    struct muster_model *model = NULL;

    (void)state;
    options.optimiser = "gd";
    options.rate = 0.01;
    options.steps = 100000;
    options.workers = 2;
    assert_int_equal(job_train(&options, &model, NULL), MUSTER_STOPPED);
    assert_true(muster_weights(model)[0] > 0.1);
    muster_free(model);
    c.stop_chunk = UINT32_MAX;
    c.watch_until = 3;
    options.watch = watch;
    assert_int_equal(job_train(&options, &model, NULL), MUSTER_STOPPED);
    assert_true(about(model).steps >= 3);
    muster_free(model);
}

/* Stopped, then gone on with: the hash of one run in one go.  With other
 * options it is another run. */
static void test_goes_on(void **state)
{
    struct curve c = {.size = 1, .stop_chunk = UINT32_MAX, .watch_until = 4};
    struct job options = options_of(&c);
    char folder[] = "/tmp/muster-test-XXXXXX";
    char command[64];
    char whole[MUSTER_HASH_SIZE], parts[MUSTER_HASH_SIZE] = "";

    (void)state;
    assert_non_null(mkdtemp(folder));
    options.watch = watch;
    options.optimiser = "adam";
    options.rate = 0.01;
    options.steps = 3000;
    options.folder = folder;
    options.workers = 2;
    train(&options, MUSTER_STOPPED, parts);
    c.watch_until = 0;
    train(&options, MUSTER_OK, parts);
    options.l2 = 1;
    train(&options, MUSTER_NOT_A_FUNCTION, NULL);
    options.l2 = 0;
    options.workers = 0;
    options.folder = NULL;
    train(&options, MUSTER_OK, whole);
    assert_string_equal(whole, parts);
    (void)snprintf(command, sizeof command, "rm -r %s", folder);
    assert_int_equal(system(command), 0);
}

static void test_join_refusals(void **state)
{
    struct curve c = {.size = 1, .stop_chunk = UINT32_MAX};
    struct job options = options_of(&c);
    char folder[] = "/tmp/muster-join.XXXXXX";
    char why[MUSTER_WHY_SIZE];

    (void)state;
    assert_non_null(mkdtemp(folder));
    assert_int_equal(job_join(&options, folder, why), MUSTER_FAILED);
    assert_non_null(strstr(why, "none was begun"));
    assert_int_equal(rmdir(folder), 0);
    assert_int_equal(job_join(&options, NULL, why), MUSTER_BAD_OPTION);
    assert_int_equal(job_join(&options, "nowhere", why), MUSTER_BAD_OPTION);
    assert_non_null(strstr(why, "which port"));
    options.name = "a/b";
    assert_int_equal(job_join(&options, ":1", why), MUSTER_BAD_OPTION);
    options.dims = 0;
    assert_int_equal(job_join(&options, ":1", why), MUSTER_BAD_OPTION);
    assert_int_equal(muster_join(NULL, NULL, ":1", NULL, why),
                     MUSTER_BAD_OPTION);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_optimisers),
        cmocka_unit_test(test_codes),
        cmocka_unit_test(test_sizes),
        cmocka_unit_test(test_failures),
        cmocka_unit_test(test_stops),
        cmocka_unit_test(test_goes_on),
        cmocka_unit_test(test_join_refusals),
        cmocka_unit_test(test_codes_refused),
        cmocka_unit_test(test_codes_refused_alone),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
