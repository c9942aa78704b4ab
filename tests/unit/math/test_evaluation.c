/*
 * Hessian-vector products, Hessians, sample weights and narrow storage: every
 * variant bit for bit against the references, and the references against each
 * other.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <string.h>

#include "base/mem.h"
#include "math/chunks.h"
#include "math/kernel/kernel.h"

#define CHUNKS 1200u

static const enum isa isas[] = {ISA_PORTABLE, ISA_AVX2, ISA_AVX512};
#define COUNT(array) (sizeof(array) / sizeof *(array))

/* One kind of sum: all of a chunk's results, and by whom. */
enum sums { SUMS_GRADIENT, SUMS_HESSVEC, SUMS_HESSIAN };

struct results {
    double *sums;
    uint32_t count;
    double loss;
};

static uint32_t results_count(enum sums what, uint32_t stride)
{
    return what == SUMS_HESSIAN ? stride * (stride + 1) / 2 : stride;
}

/* isa NULL: the reference. */
static struct results evaluate(enum sums what, const enum isa *isa,
                               struct loss loss, const struct dense_rows *in,
                               const double *w, const double *v)
{
    struct results made = {.count = results_count(what, in->stride)};
    const size_t bytes = what == SUMS_HESSIAN
                             ? kernel_hessian_scratch_bytes(in->stride)
                             : kernel_scratch_bytes(in->stride);
    void *scratch = mem_new(bytes, 1);

    made.sums = mem_new(made.count, sizeof *made.sums);
    assert_true(made.sums != NULL && scratch != NULL);
    memset(made.sums, 0x55, made.count * sizeof *made.sums);
    memset(scratch, 0xff, bytes); /* NaN: nothing stale may count. */
    if (what == SUMS_GRADIENT && isa == NULL)
        kernel_gradient_ref(loss, in, w, made.sums, &made.loss);
    else if (what == SUMS_GRADIENT)
        kernel_gradient(*isa, loss, in, w, made.sums, &made.loss, scratch);
    else if (what == SUMS_HESSVEC && isa == NULL)
        kernel_hessvec_ref(loss, in, w, v, made.sums);
    else if (what == SUMS_HESSVEC)
        kernel_hessvec(*isa, loss, in, w, v, made.sums, scratch);
    else if (isa == NULL)
        kernel_hessian_ref(loss, in, w, made.sums);
    else
        kernel_hessian(*isa, loss, in, w, made.sums, scratch);
    mem_free(scratch);
    return made;
}

static bool same(const struct results *a, const struct results *b)
{
    return a->count == b->count && same_bits(a->sums, b->sums, a->count) &&
           same_bits(&a->loss, &b->loss, 1);
}

/* Random weights, some zero, in a chunk half of the time; returns them. */
static double *add_weights(struct chunk *chunk, uint64_t seed)
{
    double *weight = mem_new(chunk->rows.rows, sizeof *weight);

    assert_non_null(weight);
    for (uint32_t i = 0; i < chunk->rows.rows; i++)
        weight[i] = i % 7 == 3 ? 0.0 : 3.0 * rng_unit_at(seed, i, 1);
    chunk->rows.weight = seed % 2 == 0 ? weight : NULL;
    return weight;
}

static double *direction(uint32_t stride, uint64_t seed)
{
    double *v = mem_new(stride, sizeof *v);

    assert_non_null(v);
    for (uint32_t j = 0; j < stride; j++)
        v[j] = rng_unit_at(seed, j, 2) - 0.5;
    return v;
}

static void assert_variants(const struct dense_rows *rows, enum sums what,
                            struct loss loss, const double *w, const double *v,
                            uint64_t seed)
{
    struct results ref = evaluate(what, NULL, loss, rows, w, v);

    for (size_t i = 0; i < COUNT(isas); i++) {
        struct results got;

        if (!isa_runs(isas[i]))
            continue;
        got = evaluate(what, &isas[i], loss, rows, w, v);
        if (!same(&ref, &got))
            fail_msg("seed %llu: sums %d, %s, loss %d, storage %d, %u rows of "
                     "%u differ",
                     (unsigned long long)seed, (int)what, isa_name(isas[i]),
                     (int)loss.kind, (int)rows->storage, rows->rows,
                     rows->stride);
        mem_free(got.sums);
    }
    mem_free(ref.sums);
}

static void test_variants_agree(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < CHUNKS; seed++) {
        const enum chunk_kind kind = (enum chunk_kind)(seed % CHUNK_KINDS);
        const struct loss loss = loss_samples[seed / CHUNK_KINDS % LOSSES];
        struct chunk chunk;
        double *weight;
        double *v;

        chunk_make(&chunk, seed, kind, 100, 70);
        weight = add_weights(&chunk, seed / 3);
        v = direction(chunk.rows.stride, seed);
        assert_variants(&chunk.rows, SUMS_GRADIENT, loss, chunk.w, v, seed);
        assert_variants(&chunk.rows, SUMS_HESSVEC, loss, chunk.w, v, seed);
        if (seed % 4 == 0)
            assert_variants(&chunk.rows, SUMS_HESSIAN, loss, chunk.w, v, seed);
        mem_free(v);
        mem_free(weight);
        chunk_close(&chunk);
    }
}

/* The value that storage holds nearest to a draw, kept exact. */
static float draw_value(enum dense_storage storage, float x, uint64_t at)
{
    const uint64_t dice = rng_at(99, at, 0);
    uint32_t bits;

    switch (storage) {
    case DENSE_F32:
    case DENSE_F64:
        break;
    case DENSE_BF16:
        memcpy(&bits, &x, sizeof bits);
        bits &= 0xffff0000u;
        memcpy(&x, &bits, sizeof x);
        break;
    case DENSE_I8:
        return (float)((int)(dice % 256) - 128);
    case DENSE_BIT:
        return (float)(dice % 3 == 0);
    case DENSE_U8:
        return (float)(dice % 256);
    case DENSE_PIXEL:
        return (float)((double)(dice % 256) / 255);
    }
    return x;
}

static void put_value(enum dense_storage storage, void *to, size_t at, float x)
{
    uint32_t bits;

    switch (storage) {
    case DENSE_F32:
        ((float *)to)[at] = x;
        break;
    case DENSE_BF16:
        memcpy(&bits, &x, sizeof bits);
        ((uint16_t *)to)[at] = (uint16_t)(bits >> 16);
        break;
    case DENSE_I8:
        ((int8_t *)to)[at] = (int8_t)x;
        break;
    case DENSE_U8:
        ((uint8_t *)to)[at] = (uint8_t)x;
        break;
    case DENSE_PIXEL:
        ((uint8_t *)to)[at] = (uint8_t)lrintf(x * 255);
        break;
    case DENSE_BIT:
        if (x != 0)
            ((uint8_t *)to)[at / 8] |= (uint8_t)(1u << at % 8);
        break;
    case DENSE_F64:
        ((double *)to)[at] = (double)x;
        break;
    }
}

/* Other rows of values that fit, against fp32 rows of the same values. */
static void assert_narrow(struct chunk *chunk, enum dense_storage storage,
                          uint64_t seed)
{
    const size_t cells = (size_t)chunk->rows.rows * chunk->rows.stride;
    const struct loss loss = loss_samples[seed % LOSSES];
    void *narrow = mem_new(cells, sizeof(double));
    double *v = direction(chunk->rows.stride, seed);
    struct dense_rows rows = chunk->rows;

    assert_non_null(narrow);
    for (size_t i = 0; i < cells; i++) {
        chunk->x[i] = draw_value(storage, chunk->x[i], i + seed);
        put_value(storage, narrow, i, chunk->x[i]);
    }
    rows.storage = storage;
    rows.x = narrow;
    for (int what = SUMS_GRADIENT; what <= SUMS_HESSIAN; what++) {
        struct results wide =
            evaluate((enum sums)what, NULL, loss, &chunk->rows, chunk->w, v);
        struct results ref =
            evaluate((enum sums)what, NULL, loss, &rows, chunk->w, v);

        assert_true(same(&wide, &ref));
        assert_variants(&rows, (enum sums)what, loss, chunk->w, v, seed);
        mem_free(wide.sums);
        mem_free(ref.sums);
    }
    mem_free(v);
    mem_free(narrow);
}

static void test_narrow_storage(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 600; seed++) {
        const enum dense_storage storage =
            (enum dense_storage)(seed % DENSE_STORAGES);
        struct chunk chunk;
        double *weight;

        chunk_make(&chunk, seed,
                   (enum chunk_kind)(seed / DENSE_STORAGES % CHUNK_KINDS), 90,
                   seed % 16 == 0 ? 400 : 60);
        weight = add_weights(&chunk, seed / 24);
        assert_narrow(&chunk, storage, seed);
        mem_free(weight);
        chunk_close(&chunk);
    }
}

/* fp64 values that no float holds: every variant against the oracle, which
 * must not give the sums of the rounded ones. */
static void test_wide_values(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 60; seed++) {
        const struct loss loss = loss_samples[seed % LOSSES];
        struct chunk chunk;
        struct dense_rows rows;
        struct results wide, narrow;
        double *x, *v;
        size_t cells;

        chunk_make(&chunk, seed, (enum chunk_kind)0, 90, 60);
        rows = chunk.rows;
        cells = (size_t)rows.rows * rows.stride;
        x = mem_new(cells, sizeof *x);
        v = direction(rows.stride, seed);
        assert_non_null(x);
        for (size_t i = 0; i < cells; i++)
            x[i] = (double)chunk.x[i] * (1 + 0x1p-30 * (double)(i % 7 + 1));
        rows.storage = DENSE_F64;
        rows.x = x;
        for (int what = SUMS_GRADIENT; what <= SUMS_HESSIAN; what++)
            assert_variants(&rows, (enum sums)what, loss, chunk.w, v, seed);
        wide = evaluate(SUMS_HESSIAN, NULL, loss_plain(LOSS_SQUARED), &rows,
                        chunk.w, v);
        narrow = evaluate(SUMS_HESSIAN, NULL, loss_plain(LOSS_SQUARED),
                          &chunk.rows, chunk.w, v);
        assert_false(same(&wide, &narrow));
        mem_free(wide.sums);
        mem_free(narrow.sums);
        mem_free(v);
        mem_free(x);
        chunk_close(&chunk);
    }
}

/* -0 may be stored as 0: no bit of a sum tells. */
static void test_minus_zero_is_zero(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 50; seed++) {
        struct results sums[2];
        struct chunk chunk;

        chunk_make(&chunk, seed, CHUNK_MIXED, 40, 40);
        for (int pass = 0; pass < 2; pass++) {
            sums[pass] = evaluate(SUMS_GRADIENT, NULL, loss_samples[seed % 4],
                                  &chunk.rows, chunk.w, NULL);
            for (size_t i = 0; i < (size_t)chunk.rows.rows * chunk.rows.stride;
                 i++)
                chunk.x[i] += 0.0f;
        }
        assert_true(same(&sums[0], &sums[1]));
        mem_free(sums[0].sums);
        mem_free(sums[1].sums);
        chunk_close(&chunk);
    }
}

/* H v from the matrix and from the product, and H from the left. */
static void test_hessian_agrees_with_hessvec(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 60; seed++) {
        const struct loss loss = loss_samples[seed % 3];
        struct chunk chunk;
        struct results full, product;
        double *v;

        chunk_make(&chunk, seed, CHUNK_PLAIN, 60, 30);
        v = direction(chunk.rows.stride, seed);
        full = evaluate(SUMS_HESSIAN, NULL, loss, &chunk.rows, chunk.w, v);
        product = evaluate(SUMS_HESSVEC, NULL, loss, &chunk.rows, chunk.w, v);
        for (uint32_t j = 0; j < chunk.rows.stride; j++) {
            double sum = 0, scale = 0;

            for (uint32_t k = 0; k < chunk.rows.stride; k++) {
                const uint32_t row = j > k ? j : k, col = j > k ? k : j;
                const double h = full.sums[row * (row + 1) / 2 + col];

                sum += h * v[k];
                scale += fabs(h * v[k]);
            }
            if (!(fabs(sum - product.sums[j]) <= 1e-13 * (scale + 1)))
                fail_msg("seed %llu: coordinate %u: %g against %g",
                         (unsigned long long)seed, j, sum, product.sums[j]);
        }
        mem_free(full.sums);
        mem_free(product.sums);
        mem_free(v);
        chunk_close(&chunk);
    }
}

/* Gradients a little way along v, either side: their difference. */
static void test_hessvec_is_a_derivative(void **state)
{
    const double step = 1e-5;

    (void)state;
    for (uint64_t seed = 0; seed < 60; seed++) {
        const struct loss loss =
            loss_plain(seed % 2 == 0 ? LOSS_LOGISTIC : LOSS_SQUARED);
        struct results side[2], product;
        struct chunk chunk;
        double *weight, *v, *w;

        chunk_make(&chunk, seed, CHUNK_PLAIN, 60, 30);
        weight = add_weights(&chunk, seed / 2);
        v = direction(chunk.rows.stride, seed);
        w = mem_new(chunk.rows.stride, sizeof *w);
        assert_non_null(w);
        product = evaluate(SUMS_HESSVEC, NULL, loss, &chunk.rows, chunk.w, v);
        for (int s = 0; s < 2; s++) {
            for (uint32_t j = 0; j < chunk.rows.stride; j++)
                w[j] = chunk.w[j] + (s == 0 ? -step : step) * v[j];
            side[s] = evaluate(SUMS_GRADIENT, NULL, loss, &chunk.rows, w, v);
        }
        for (uint32_t j = 0; j < chunk.rows.stride; j++) {
            const double slope =
                (side[1].sums[j] - side[0].sums[j]) / (2 * step);

            if (!(fabs(slope - product.sums[j]) < 1e-6))
                fail_msg("seed %llu: coordinate %u: %g against %g",
                         (unsigned long long)seed, j, slope, product.sums[j]);
        }
        for (int s = 0; s < 2; s++)
            mem_free(side[s].sums);
        mem_free(product.sums);
        mem_free(weight);
        mem_free(v);
        mem_free(w);
        chunk_close(&chunk);
    }
}

/* Weights of 1 are no weights; a weight of 2 is the row twice. */
static void test_weights(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 40; seed++) {
        struct results none, ones;
        struct chunk chunk;
        double *weight;

        chunk_make(&chunk, seed, CHUNK_PLAIN, 50, 20);
        weight = add_weights(&chunk, 0);
        for (uint32_t i = 0; i < chunk.rows.rows; i++)
            weight[i] = 1.0;
        ones = evaluate(SUMS_GRADIENT, NULL, loss_samples[seed % 4],
                        &chunk.rows, chunk.w, NULL);
        chunk.rows.weight = NULL;
        none = evaluate(SUMS_GRADIENT, NULL, loss_samples[seed % 4],
                        &chunk.rows, chunk.w, NULL);
        assert_true(same(&none, &ones));
        mem_free(none.sums);
        mem_free(ones.sums);
        mem_free(weight);
        chunk_close(&chunk);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_variants_agree),
        cmocka_unit_test(test_narrow_storage),
        cmocka_unit_test(test_wide_values),
        cmocka_unit_test(test_minus_zero_is_zero),
        cmocka_unit_test(test_hessian_agrees_with_hessvec),
        cmocka_unit_test(test_hessvec_is_a_derivative),
        cmocka_unit_test(test_weights),
    };

    return cmocka_run_group_tests_name("math/evaluation", tests, NULL, NULL);
}
