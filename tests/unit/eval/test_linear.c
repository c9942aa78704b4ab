/*
 * Threads with parts of their own and threads that share one tally, against
 * one thread: the digests of whole tallies.  Models are just so wide that
 * threads share, and the sums are found filled with rubbish.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/rng.h"
#include "eval/briefs.h"
#include "eval/registry.h"
#include "math/exact/tally.h"
#include "os/run/threads.h"

/* Weights from which on three threads share; two of these from which two do. */
enum { WIDE = (1 << 19) + 40 };

struct bench {
    struct dataset data;
    struct problem problem;
    double *w, *v;
    int16_t *exponent;
};

static void fill_sparse(struct dataset *data, struct rng *rng, uint32_t entries)
{
    const uint32_t each = entries / data->rows;
    const uint32_t room = data->cols / each - 1;
    uint64_t at = 0;

    for (uint32_t i = 0; i < data->rows; i++) {
        uint32_t column = 0;

        data->begin[i] = at;
        for (uint32_t k = 0; k < each; k++) {
            /* More of them in front than behind. */
            column += 1 + (uint32_t)(rng_unit(rng) * rng_unit(rng) *
                                     rng_unit(rng) * room);
            data->column[at] = column - 1;
            if (data->value != NULL)
                data->value[at] = (float)(rng_unit(rng) - 0.5);
            at++;
        }
        data->y[i] = i % 3 == 0 ? 1 : -1;
    }
    data->begin[data->rows] = at;
}

static void fill_dense(struct dataset *data, struct rng *rng)
{
    float *const x = data->x;

    for (uint32_t i = 0; i < data->rows; i++) {
        for (uint32_t j = 0; j < data->cols; j++)
            x[(size_t)i * data->stride + j] = (float)(rng_unit(rng) - 0.5);
        data->y[i] = i % 3 == 0 ? 1 : -1;
    }
}

static void *make(size_t count, size_t size)
{
    void *const made = mem_new(count, size);

    if (made == NULL)
        abort();
    return made;
}

static void bench_open(struct bench *bench, enum storage storage, uint32_t rows,
                       uint32_t cols, uint32_t chunk_rows)
{
    const struct dataset_shape shape = {.storage = storage,
                                        .rows = rows,
                                        .cols = cols,
                                        .chunk_rows = chunk_rows,
                                        .entries = (uint64_t)rows * 20};
    struct rng rng;

    rng_init(&rng, 5);
    assert_int_equal(dataset_init_shape(&bench->data, &shape), ERR_OK);
    if (dataset_is_sparse(&bench->data))
        fill_sparse(&bench->data, &rng, rows * 20);
    else
        fill_dense(&bench->data, &rng);
    for (uint32_t k = 0; k < dataset_chunks(&bench->data); k++)
        chunkset_add(&bench->data.present, k);
    bench->problem = (struct problem){.data = &bench->data,
                                      .model = model_ops(MODEL_LOGISTIC),
                                      .isa = isa_best()};
    bench->w = make(bench->data.stride, sizeof *bench->w);
    bench->v = make(bench->data.stride, sizeof *bench->v);
    bench->exponent =
        make((size_t)bench->data.stride + 1, sizeof *bench->exponent);
    for (uint32_t j = 0; j < cols; j++) {
        bench->w[j] = rng_normal_at(7, j, 1) * 1e-2;
        bench->v[j] = rng_normal_at(8, j, 1);
        bench->exponent[j] =
            storage == STORAGE_CSR ? 30 + (int16_t)(j % 9) : 38;
    }
}

static void bench_close(struct bench *bench)
{
    dataset_close(&bench->data);
    mem_free(bench->w);
    mem_free(bench->v);
    mem_free(bench->exponent);
}

/* Chunks from the second on, with so many threads. */
static enum err run(const struct bench *bench, enum evaluation_kind kind,
                    uint32_t threads, const struct flag *cancel,
                    struct digest *digest)
{
    const uint32_t chunks = dataset_chunks(&bench->data);
    struct computation asked = {
        .what = {.kind = kind, .w = bench->w, .v = bench->v},
        .first = 1,
        .end = chunks,
        .exponent = bench->exponent};
    struct evaluator *evaluator;
    struct tally tally;
    struct pool *pool;
    enum err err;

    assert_int_equal(threads_new(threads, &pool), ERR_OK);
    assert_int_equal(tally_init(&tally, bench->data.stride, chunks), ERR_OK);
    assert_int_equal(evaluator_open_problem(&bench->problem, &sampler_whole,
                                            pool, &evaluator),
                     ERR_OK);
    memset(tally.sum, 0x55, bench->data.stride * sizeof *tally.sum);
    tally_blank(&tally);
    asked.tally = &tally;
    err = evaluator_run(evaluator, &asked, cancel);
    *digest = tally_digest(&tally);
    evaluator_close(evaluator);
    tally_close(&tally);
    threads_free(pool);
    return err;
}

static void assert_same(const struct bench *bench)
{
    const enum evaluation_kind kinds[] = {EVALUATE_GRADIENT, EVALUATE_HESSVEC,
                                          EVALUATE_DIAGONAL};

    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
        struct digest one, more;

        assert_int_equal(run(bench, kinds[k], 1, NULL, &one), ERR_OK);
        for (uint32_t threads = 2; threads <= 5; threads++) {
            assert_int_equal(run(bench, kinds[k], threads, NULL, &more),
                             ERR_OK);
            if (!digest_equal(&one, &more))
                fail_msg("%s, kind %d, %u threads",
                         storage_name(bench->data.storage), (int)kinds[k],
                         threads);
        }
    }
}

static void test_same_bits(void **state)
{
    const enum storage storages[] = {STORAGE_CSR, STORAGE_INDEX, STORAGE_F32};
    struct bench bench;

    (void)state;
    for (size_t s = 0; s < sizeof storages / sizeof *storages; s++) {
        bench_open(&bench, storages[s], 20, WIDE, 3);
        assert_same(&bench);
        bench_close(&bench);
    }
}

/* More rows than residuals are kept of: several turns. */
static void test_several_turns(void **state)
{
    struct bench bench;

    (void)state;
    bench_open(&bench, STORAGE_CSR, 150001, WIDE, 40000);
    assert_same(&bench);
    bench_close(&bench);
}

/* Private rows: the job's chunk 10 is the first one here, of tallies that have
 * room for all of the job's. */
static void test_part(void **state)
{
    enum { FIRST = 10, CHUNKS = 20 };
    const uint32_t threads[] = {1, 3};
    struct digest digests[3];
    struct bench bench;

    (void)state;
    bench_open(&bench, STORAGE_F32, 20, 40, 3);
    for (size_t i = 0; i < 3; i++) {
        const bool part = i > 0;
        const uint32_t first = part ? FIRST : 0;
        const struct shelf shelf = {.data = &bench.data,
                                    .part = part,
                                    .first = first,
                                    .first_row = part ? 60 : 0,
                                    .chunks = CHUNKS,
                                    .isa = isa_best()};
        struct subject subject = subject_of(&bench.problem);
        struct computation asked = {
            .what = {.kind = EVALUATE_GRADIENT, .w = bench.w},
            .first = first + 1,
            .end = first + dataset_chunks(&bench.data),
            .exponent = bench.exponent};
        struct evaluator *evaluator;
        uint8_t room[BRIEF_MAX];
        struct brief brief;
        struct tally tally;
        struct pool *pool;

        subject.rows.rows += part ? 100 : 0; /* All owners' together. */
        brief = brief_linear(room, &subject, &sampler_whole);
        assert_int_equal(threads_new(threads[i % 2], &pool), ERR_OK);
        assert_int_equal(tally_init(&tally, bench.data.stride, CHUNKS), ERR_OK);
        asked.tally = &tally;
        assert_int_equal(evaluator_open(&brief, &shelf, pool, &evaluator),
                         ERR_OK);
        assert_int_equal(evaluator->chunks,
                         part ? CHUNKS : dataset_chunks(&bench.data));
        assert_int_equal(evaluator_run(evaluator, &asked, NULL), ERR_OK);
        digests[i] = tally_digest(&tally);
        evaluator_close(evaluator);
        tally_close(&tally);
        threads_free(pool);
    }
    assert_true(digest_equal(&digests[0], &digests[1]));
    assert_true(digest_equal(&digests[0], &digests[2]));
    bench_close(&bench);
}

static void test_does_not_fit(void **state)
{
    struct bench bench;
    struct digest unused;

    (void)state;
    bench_open(&bench, STORAGE_CSR, 20, WIDE, 3);
    for (uint32_t j = 0; j < WIDE; j++)
        bench.exponent[j] = 200;
    assert_int_equal(run(&bench, EVALUATE_GRADIENT, 1, NULL, &unused),
                     ERR_RANGE);
    assert_int_equal(run(&bench, EVALUATE_GRADIENT, 4, NULL, &unused),
                     ERR_RANGE);
    bench.exponent[0] = 0;
    assert_int_equal(run(&bench, EVALUATE_GRADIENT, 4, NULL, &unused),
                     ERR_RANGE);
    bench_close(&bench);
    bench_open(&bench, STORAGE_F32, 20, WIDE, 3);
    bench.w[9] = NAN;
    assert_int_equal(run(&bench, EVALUATE_GRADIENT, 4, NULL, &unused),
                     ERR_RANGE);
    bench_close(&bench);
}

static void test_cancelled(void **state)
{
    struct bench bench;
    struct digest unused;
    struct flag flag = {0};

    (void)state;
    bench_open(&bench, STORAGE_INDEX, 20, WIDE, 3);
    flag_raise(&flag);
    for (uint32_t threads = 1; threads <= 4; threads += 3)
        assert_int_equal(
            run(&bench, EVALUATE_GRADIENT, threads, &flag, &unused),
            ERR_CANCELLED);
    bench_close(&bench);
}

/* As a network does (test_net.c). */
static void assert_forgets(const struct bench *bench, enum evaluation_kind kind)
{
    const uint32_t chunks = dataset_chunks(&bench->data);
    const double kept = bench->w[3];
    struct evaluator *evaluator;
    struct digest wanted, got;
    struct tally tally;
    const struct computation asked = {
        .what = {.kind = kind, .w = bench->w, .v = bench->v},
        .first = 1,
        .end = chunks,
        .name = 5,
        .exponent = bench->exponent,
        .tally = &tally};

    assert_int_equal(run(bench, kind, 1, NULL, &wanted), ERR_OK);
    assert_int_equal(tally_init(&tally, problem_dims(&bench->problem), chunks),
                     ERR_OK);
    assert_int_equal(evaluator_open_problem(&bench->problem, &sampler_whole,
                                            pool_serial(), &evaluator),
                     ERR_OK);
    bench->w[3] = kept + 1;
    for (int forgot = 0; forgot < 2; forgot++) {
        tally_blank(&tally);
        assert_int_equal(evaluator_run(evaluator, &asked, NULL), ERR_OK);
        got = tally_digest(&tally);
        assert_int_equal(digest_equal(&got, &wanted), forgot);
        evaluator_forget(evaluator);
        bench->w[3] = kept;
    }
    evaluator_close(evaluator);
    tally_close(&tally);
}

static void test_forgets_what_it_misread(void **state)
{
    struct bench bench;

    (void)state;
    bench_open(&bench, STORAGE_INDEX, 20, WIDE, 3);
    assert_forgets(&bench, EVALUATE_GRADIENT);
    bench_close(&bench);
}

/* --- minibatches ---------------------------------------------------------- */

static void bench_weigh(struct bench *bench)
{
    assert_int_equal(dataset_add_weights(&bench->data), ERR_OK);
    for (uint32_t i = 0; i < bench->data.rows; i++)
        bench->data.weight[i] = 0.25 * (i % 7);
}

/* Three classes of the same rows, and as many weight vectors. */
static void bench_classes(struct bench *bench)
{
    const uint32_t stride = bench->data.stride;
    double *const w = make(3 * (size_t)stride, sizeof *w);
    int16_t *const exponent = make(3 * (size_t)stride + 1, sizeof *exponent);

    for (uint32_t j = 0; j < 3 * stride; j++) {
        w[j] = rng_normal_at(9, j, 1) * (j % stride < bench->data.cols);
        exponent[j] = 30;
    }
    mem_free(bench->w);
    mem_free(bench->exponent);
    bench->w = w;
    bench->exponent = exponent;
    bench->problem.model = model_ops(MODEL_SOFTMAX);
    bench->problem.outputs = 3;
    for (uint32_t i = 0; i < bench->data.rows; i++)
        bench->data.y[i] = i % 3;
}

/* Sums of the steps of a pass, in two pieces each. */
static void sum_pass(const struct bench *bench, const struct sampler *sampler,
                     uint32_t pass, uint32_t threads, int64_t *sum,
                     tally_loss *loss, struct digest *digest)
{
    const uint32_t dims = problem_dims(&bench->problem);
    struct computation asked = {
        .what = {.kind = EVALUATE_GRADIENT, .w = bench->w},
        .exponent = bench->exponent};
    struct evaluator *evaluator;
    struct tally tally;
    struct pool *pool;
    struct hasher hasher;
    uint32_t chunks;

    hasher_init(&hasher);
    assert_int_equal(threads_new(threads, &pool), ERR_OK);
    assert_int_equal(
        evaluator_open_problem(&bench->problem, sampler, pool, &evaluator),
        ERR_OK);
    chunks = evaluator->chunks;
    assert_int_equal(tally_init(&tally, dims, chunks), ERR_OK);
    asked.tally = &tally;
    memset(sum, 0, dims * sizeof *sum);
    *loss = 0;
    for (uint32_t s = 0; s < 2 * sampler_steps(sampler); s++) {
        const uint32_t half = chunks / 2;
        struct digest one;

        asked.step = pass * sampler_steps(sampler) + s / 2;
        asked.first = s % 2 == 0 ? 0 : half;
        asked.end = s % 2 == 0 ? half : chunks;
        memset(tally.sum, 0x55, dims * sizeof *tally.sum);
        tally_blank(&tally);
        assert_int_equal(evaluator_run(evaluator, &asked, NULL), ERR_OK);
        assert_int_equal(tally.chunks.members, asked.end - asked.first);
        for (uint32_t j = 0; j < dims; j++)
            sum[j] += tally.sum[j];
        *loss += tally.loss;
        one = tally_digest(&tally);
        hasher_add(&hasher, one.bytes, sizeof one.bytes);
    }
    *digest = hasher_end(&hasher);
    evaluator_close(evaluator);
    tally_close(&tally);
    threads_free(pool);
}

/* Where a chunk is a row, the sums of a pass are those of all rows, to the
 * bit: every row was in one batch, with its label and its weight. */
static void assert_pass_is_all(struct bench *bench)
{
    const uint32_t dims = problem_dims(&bench->problem);
    const uint32_t rows = bench->data.rows;
    const struct sampler whole = sampler_of(SAMPLER_WHOLE, rows, 1, 0, 0);
    int64_t *const all = make(dims, sizeof *all);
    int64_t *const pass = make(dims, sizeof *pass);
    tally_loss all_loss, loss;
    struct digest digest;

    sum_pass(bench, &whole, 0, 1, all, &all_loss, &digest);
    for (uint32_t i = 0; i < 4; i++) {
        const struct sampler sampler =
            sampler_of(SAMPLER_ROWS, rows, 1, 1 + 7 * i, i);

        sum_pass(bench, &sampler, i, 1 + i % 2, pass, &loss, &digest);
        assert_memory_equal(pass, all, dims * sizeof *all);
        assert_true(loss == all_loss);
    }
    mem_free(all);
    mem_free(pass);
}

/* Bits of batches in chunks of several rows: of threads and instruction sets
 * they do not depend, of the pass they do. */
static void assert_batches_same(struct bench *bench, enum sampler_kind kind)
{
    const uint32_t dims = problem_dims(&bench->problem);
    const struct sampler sampler =
        sampler_of(kind, bench->data.rows,
                   kind == SAMPLER_LOCAL ? bench->data.chunk_rows : 5, 17, 3);
    int64_t *const sum = make(dims, sizeof *sum);
    struct digest one, other;
    tally_loss loss;

    sum_pass(bench, &sampler, 2, 1, sum, &loss, &one);
    for (int isa = 0; isa < (int)ISAS; isa++) {
        if (!isa_runs((enum isa)isa))
            continue;
        bench->problem.isa = (enum isa)isa;
        for (uint32_t threads = 1; threads <= 4; threads++) {
            sum_pass(bench, &sampler, 2, threads, sum, &loss, &other);
            assert_true(digest_equal(&one, &other));
        }
    }
    bench->problem.isa = isa_best();
    sum_pass(bench, &sampler, 3, 2, sum, &loss, &other);
    assert_false(digest_equal(&one, &other));
    mem_free(sum);
}

static void test_batches(void **state)
{
    const enum storage storages[] = {STORAGE_CSR, STORAGE_INDEX, STORAGE_F32};

    (void)state;
    for (uint32_t i = 0; i < 12; i++) {
        struct bench bench;

        bench_open(&bench, storages[i % 3], 61, 90, i % 2 == 0 ? 1 : 8);
        if (i % 4 >= 2)
            bench_weigh(&bench);
        if (i >= 6)
            bench_classes(&bench);
        if (i % 2 == 0)
            assert_pass_is_all(&bench);
        assert_batches_same(&bench, SAMPLER_ROWS);
        if (i % 2 == 1)
            assert_batches_same(&bench, SAMPLER_LOCAL);
        bench_close(&bench);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_same_bits),
        cmocka_unit_test(test_several_turns),
        cmocka_unit_test(test_part),
        cmocka_unit_test(test_batches),
        cmocka_unit_test(test_does_not_fit),
        cmocka_unit_test(test_cancelled),
        cmocka_unit_test(test_forgets_what_it_misread),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
