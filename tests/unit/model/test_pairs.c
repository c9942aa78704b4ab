/*
 * Hessians of bit rows counted in batches give the tally of the kernel's
 * chunks, digest for digest; and where counting does not do, it says so and
 * leaves the tally alone.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <string.h>

#include "base/mem.h"
#include "base/rng.h"
#include "model/linear/bounds.h"
#include "model/linear/pairs.h"
#include "model/linear/problem.h"

enum {
    COLS_MAX = 70,
    STRIDE_MAX = 72,
    SUMS = STRIDE_MAX * (STRIDE_MAX + 1) / 2
};

struct fixture {
    struct dataset data;
    struct problem problem;
    struct bounds bounds;
    struct evaluation what;
    double w[STRIDE_MAX];
    int16_t exponent[SUMS + 1];
    void *scratch;
    struct tally by_chunk, by_batch;
};

static void make_data(struct dataset *data, uint64_t seed, bool weighted)
{
    struct dataset_shape shape = {.storage = STORAGE_BIT, .weighted = weighted};
    struct rng rng;

    rng_init(&rng, seed);
    shape.rows = 1 + (uint32_t)rng_below(&rng, 3000);
    shape.cols = 1 + (uint32_t)rng_below(&rng, COLS_MAX);
    shape.chunk_rows = 1 + (uint32_t)rng_below(&rng, 300);
    assert_int_equal(dataset_init_shape(data, &shape), ERR_OK);
    for (uint32_t i = 0; i < data->rows; i++) {
        for (uint32_t j = 0; j < data->cols; j++)
            storage_put(STORAGE_BIT, dataset_row(data, i), j,
                        rng_chance(&rng, 0.3) ? 1.0f : 0.0f);
        data->y[i] = rng_chance(&rng, 0.5) ? 1 : -1;
        if (weighted) /* Two digits, or none. */
            data->weight[i] = rng_chance(&rng, 0.2) ? 0 : 1.5;
    }
    chunkset_fill(&data->present);
}

static void set_up(struct fixture *f, enum model_kind model, uint64_t seed,
                   bool weighted, double spread)
{
    memset(f, 0, sizeof *f);
    make_data(&f->data, seed, weighted);
    f->problem = (struct problem){
        .data = &f->data, .model = model_ops(model), .isa = isa_best()};
    f->what = (struct evaluation){.kind = EVALUATE_HESSIAN, .w = f->w};
    for (uint32_t j = 0; j < f->data.cols; j++)
        f->w[j] = spread * rng_normal_at(seed, j, 7);
    f->scratch = mem_new(problem_scratch_bytes(&f->problem), 1);
    assert_non_null(f->scratch);
    assert_int_equal(bounds_init(&f->bounds, f->data.stride), ERR_OK);
    assert_int_equal(bounds_measure(&f->bounds, &f->problem, pool_serial()),
                     ERR_OK);
    assert_int_equal(
        bounds_exponents(&f->bounds, &f->problem, &f->what, f->exponent),
        ERR_OK);
    for (int i = 0; i < 2; i++)
        assert_int_equal(
            tally_init(i == 0 ? &f->by_chunk : &f->by_batch,
                       evaluation_dims(EVALUATE_HESSIAN, f->data.stride),
                       dataset_chunks(&f->data)),
            ERR_OK);
}

static void tear_down(struct fixture *f)
{
    tally_close(&f->by_chunk);
    tally_close(&f->by_batch);
    bounds_close(&f->bounds);
    mem_free(f->scratch);
    dataset_close(&f->data);
}

static void assert_same_tally(struct fixture *f)
{
    const uint32_t chunks = dataset_chunks(&f->data);
    const uint32_t batch = problem_batch(&f->problem, EVALUATE_HESSIAN);
    const struct problem_round none = {0};
    struct digest one, many;

    assert_int_equal(batch, PAIRS_ROWS / f->data.chunk_rows);
    for (uint32_t k = 0; k < chunks; k++)
        assert_int_equal(problem_add(&f->problem, &none, &f->what, k,
                                     f->exponent, f->scratch, &f->by_chunk),
                         ERR_OK);
    for (uint32_t k = 0; k < chunks; k += batch)
        assert_int_equal(
            problem_add_batch(&f->problem, &none, &f->what, k,
                              chunks - k < batch ? chunks - k : batch,
                              f->exponent, f->scratch, &f->by_batch),
            ERR_OK);
    one = tally_digest(&f->by_chunk);
    many = tally_digest(&f->by_batch);
    assert_true(digest_equal(&one, &many));
}

/* Does counting do for the first batch? */
static bool counts(struct fixture *f)
{
    const uint32_t chunks = dataset_chunks(&f->data);
    const uint32_t batch = problem_batch(&f->problem, EVALUATE_HESSIAN);
    double *sums = mem_new(SUMS, sizeof *sums);
    void *scratch = mem_new(pairs_scratch_bytes(f->data.stride), 1);
    bool done;

    assert_non_null(sums);
    assert_non_null(scratch);
    done = pairs_add(&f->problem, f->w, 0, chunks < batch ? chunks : batch,
                     f->exponent, sums, scratch, &f->by_batch);
    mem_free(sums);
    mem_free(scratch);
    return done;
}

static void assert_counts(enum model_kind model, uint64_t seed, bool weighted,
                          double spread, bool wanted)
{
    struct fixture f;
    struct digest before, after;

    set_up(&f, model, seed, weighted, spread);
    assert_same_tally(&f);
    tally_clear(&f.by_batch);
    before = tally_digest(&f.by_batch);
    assert_int_equal(counts(&f), wanted);
    after = tally_digest(&f.by_batch);
    assert_int_equal(digest_equal(&before, &after), !wanted);
    tear_down(&f);
}

static void test_counted(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 12; seed++) {
        assert_counts(MODEL_LOGISTIC, seed, seed % 2 != 0, 0, true);
        assert_counts(MODEL_SVM, seed, seed % 2 != 0, 0.3, true);
        assert_counts(MODEL_LINEAR, seed, seed % 2 != 0, 0.3, true);
        assert_counts(MODEL_HINGE, seed, false, 0.3, true); /* All zero. */
    }
}

static void test_left_to_the_kernel(void **state)
{
    struct fixture f;

    (void)state;
    assert_counts(MODEL_LOGISTIC, 3, false, 0.3, false);

    /* A chunk that is in already: the kernel's way says so. */
    set_up(&f, MODEL_LOGISTIC, 4, false, 0);
    assert_true(counts(&f));
    assert_false(counts(&f));
    tear_down(&f);

    /* A number of many digits: its multiples are rounded. */
    set_up(&f, MODEL_LOGISTIC, 5, true, 0);
    for (uint32_t i = 0; i < f.data.rows; i++)
        f.data.weight[i] = 0.1;
    assert_false(counts(&f));
    /* A grid too coarse for it. */
    for (uint32_t i = 0; i < f.data.rows; i++)
        f.data.weight[i] = 1;
    for (uint32_t at = 0; at < f.by_batch.dims; at++)
        f.exponent[at] = 0;
    assert_false(counts(&f));
    tear_down(&f);

    /* Chunks longer than a count. */
    set_up(&f, MODEL_LOGISTIC, 6, false, 0);
    f.data.chunk_rows = PAIRS_ROWS + 1;
    assert_int_equal(problem_batch(&f.problem, EVALUATE_HESSIAN), 1);
    f.data.chunk_rows = PAIRS_ROWS;
    assert_int_equal(problem_batch(&f.problem, EVALUATE_HESSIAN), 1);
    assert_int_equal(problem_batch(&f.problem, EVALUATE_GRADIENT), 1);
    tear_down(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_counted),
        cmocka_unit_test(test_left_to_the_kernel),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
