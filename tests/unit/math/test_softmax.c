/*
 * The softmax kernels: every variant and storage gives the bits of the _ref
 * functions; the gradient is the derivative of the loss and the product that
 * of the gradient; sparse rows agree with dense ones up to rounding and with
 * their own oracle to the bit; what is broken is refused whole.
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

#include "base/rng.h"
#include "math/chunks.h"
#include "math/kernel/softmax.h"

enum { ROWS = 45, STRIDE_MAX = 72, CLASSES_MAX = 13 };
enum { DIMS_MAX = CLASSES_MAX * STRIDE_MAX };

struct example {
    struct dense_rows in;
    uint32_t classes;
    float f32[ROWS * STRIDE_MAX];
    uint16_t bf16[ROWS * STRIDE_MAX];
    int8_t i8[ROWS * STRIDE_MAX];
    uint8_t bit[ROWS * STRIDE_MAX / 8];
    uint8_t u8[ROWS * STRIDE_MAX], pixel[ROWS * STRIDE_MAX];
    double f64[ROWS * STRIDE_MAX];
    double y[ROWS], weight[ROWS];
    double w[DIMS_MAX], v[DIMS_MAX];
};

/* Values that `storage` holds exactly, as floats too. */
static float draw_x(enum dense_storage storage, uint64_t seed, uint32_t at)
{
    const double u = rng_unit_at(seed, 1, at);

    switch (storage) {
    case DENSE_F32:
    case DENSE_F64:
        return (float)(4 * u - 2);
    case DENSE_BF16:
        return (float)(floor(u * 200) - 100) / 64;
    case DENSE_I8:
        return (float)(floor(u * 255) - 127);
    case DENSE_U8:
        return (float)floor(u * 256);
    case DENSE_PIXEL:
        return (float)(floor(u * 256) / 255);
    case DENSE_BIT:
        break;
    }
    return u < 0.3 ? 1 : 0;
}

static void store(struct example *e, uint32_t at, float x)
{
    uint32_t bits;

    memcpy(&bits, &x, sizeof bits);
    e->f32[at] = x;
    e->f64[at] = (double)x;
    e->bf16[at] = (uint16_t)(bits >> 16);
    e->i8[at] = (int8_t)(fabsf(x) < 128 ? x : 0);
    e->u8[at] = (uint8_t)(x >= 0 ? x : 0);
    e->pixel[at] = (uint8_t)(x >= 0 && x <= 1 ? lrintf(x * 255) : 0);
    if (x == 1.0f)
        e->bit[at / 8] |= (uint8_t)(1u << at % 8);
}

static void make(struct example *e, uint64_t seed, enum dense_storage storage,
                 double size)
{
    const uint32_t stride = 8 + 8 * (uint32_t)(rng_at(seed, 90, 0) % 9);
    const uint32_t cols = stride - (uint32_t)(rng_at(seed, 91, 0) % 8);

    memset(e, 0, sizeof *e);
    e->classes = 2 + (uint32_t)(rng_at(seed, 92, 0) % (CLASSES_MAX - 1));
    e->in = (struct dense_rows){
        .storage = DENSE_F32,
        .x = e->f32,
        .y = e->y,
        .weight = seed % 3 == 0 ? e->weight : NULL,
        .rows = 1 + (uint32_t)(rng_at(seed, 93, 0) % ROWS),
        .stride = stride,
    };
    for (uint32_t i = 0; i < e->in.rows; i++) {
        e->y[i] = (double)(rng_at(seed, 2, i) % e->classes);
        e->weight[i] = rng_unit_at(seed, 3, i) * 2;
        for (uint32_t j = 0; j < cols; j++)
            store(e, i * stride + j, draw_x(storage, seed, i * stride + j));
    }
    for (uint32_t j = 0; j < e->classes * stride; j++) {
        e->w[j] = size * rng_normal_at(seed, 4, j);
        e->v[j] = rng_normal_at(seed, 5, j);
    }
}

static const void *stored(const struct example *e, enum dense_storage storage)
{
    switch (storage) {
    case DENSE_F32:
        break;
    case DENSE_BF16:
        return e->bf16;
    case DENSE_I8:
        return e->i8;
    case DENSE_BIT:
        return e->bit;
    case DENSE_F64:
        return e->f64;
    case DENSE_U8:
        return e->u8;
    case DENSE_PIXEL:
        return e->pixel;
    }
    return e->f32;
}

static double scratch[65536] __attribute__((aligned(64)));

/* Without a memo, with an empty one and with a full one, which asks for no
 * weights. */
static void assert_products(const struct example *e,
                            const struct dense_rows *in, enum isa isa,
                            const double *ref)
{
    const uint32_t dims = e->classes * in->stride;
    struct softmax_memo memo = {0};
    double g[DIMS_MAX];

    softmax_hessvec(isa, e->classes, in, e->w, e->v, &memo, g, scratch);
    assert_true(same_bits(g, ref, dims));
    memo.p = test_calloc((size_t)in->rows * softmax_padded(e->classes),
                         sizeof *memo.p);
    softmax_hessvec(isa, e->classes, in, e->w, e->v, &memo, g, scratch);
    assert_true(same_bits(g, ref, dims));
    memo.full = true;
    softmax_hessvec(isa, e->classes, in, NULL, e->v, &memo, g, scratch);
    assert_true(same_bits(g, ref, dims));
    test_free(memo.p);
}

static void assert_bits(const struct example *e, enum dense_storage storage,
                        enum isa isa)
{
    const uint32_t dims = e->classes * e->in.stride;
    double g[DIMS_MAX], ref[DIMS_MAX];
    struct dense_rows in = e->in;
    double loss, ref_loss;

    assert_true(softmax_scratch_bytes(in.stride, e->classes) <= sizeof scratch);
    softmax_gradient_ref(e->classes, &e->in, e->w, ref, &ref_loss);
    in.storage = storage;
    in.x = stored(e, storage);
    softmax_gradient(isa, e->classes, &in, e->w, g, &loss, scratch);
    assert_true(same_bits(g, ref, dims));
    assert_true(same_bits(&loss, &ref_loss, 1));
    softmax_gradient_ref(e->classes, &in, e->w, ref, &ref_loss);
    assert_true(same_bits(g, ref, dims));
    softmax_hessvec_ref(e->classes, &e->in, e->w, e->v, ref);
    assert_products(e, &in, isa, ref);
}

static void test_variants_agree(void **state)
{
    static const double sizes[] = {0, 0.1, 1, 100, 1e5};
    static struct example e;

    (void)state;
    for (uint64_t seed = 0; seed < 300; seed++) {
        const enum dense_storage storage =
            (enum dense_storage)(seed % DENSE_STORAGES);

        make(&e, seed, storage, sizes[seed % 5]);
        if (seed % 7 == 0)
            e.y[0] = SOFTMAX_NO_CLASS;
        for (int isa = ISA_PORTABLE; isa <= ISA_AVX512; isa++) {
            if (!isa_runs((enum isa)isa))
                continue;
            assert_bits(&e, DENSE_F32, (enum isa)isa);
            assert_bits(&e, storage, (enum isa)isa);
        }
    }
}

static double loss_of_w(const struct example *e, const double *w)
{
    double g[DIMS_MAX], loss;

    softmax_gradient_ref(e->classes, &e->in, w, g, &loss);
    return loss;
}

/* The loss in long double by the book, for the accuracy of ours. */
static long double book_loss(const struct example *e)
{
    long double sum = 0;

    for (uint32_t i = 0; i < e->in.rows; i++) {
        long double z[CLASSES_MAX] = {0}, total = 0;
        const uint32_t y = (uint32_t)e->y[i];

        for (uint32_t c = 0; c < e->classes; c++) {
            for (uint32_t j = 0; j < e->in.stride; j++)
                z[c] += (long double)e->f32[i * e->in.stride + j] *
                        (long double)e->w[c * e->in.stride + j];
        }
        for (uint32_t c = 0; c < e->classes; c++)
            total += expl(z[c] - z[y]);
        sum += logl(total) *
               (e->in.weight != NULL ? (long double)e->weight[i] : 1);
    }
    return sum;
}

static void test_derivatives(void **state)
{
    static struct example e;

    (void)state;
    for (uint64_t seed = 0; seed < 40; seed++) {
        double g[DIMS_MAX], up[DIMS_MAX], down[DIMS_MAX], hv[DIMS_MAX];
        double w[DIMS_MAX], loss, slope = 0, far = 0;
        const double h = 1e-5;

        make(&e, seed, DENSE_F32, 0.1);
        softmax_gradient_ref(e.classes, &e.in, e.w, g, &loss);
        assert_true(fabsl((long double)loss - book_loss(&e)) <
                    1e-13L * (1 + book_loss(&e)));
        softmax_hessvec_ref(e.classes, &e.in, e.w, e.v, hv);
        for (uint32_t j = 0; j < e.classes * e.in.stride; j++) {
            slope += g[j] * e.v[j];
            w[j] = e.w[j] + h * e.v[j];
        }
        softmax_gradient_ref(e.classes, &e.in, w, up, &loss);
        for (uint32_t j = 0; j < e.classes * e.in.stride; j++)
            w[j] = e.w[j] - h * e.v[j];
        softmax_gradient_ref(e.classes, &e.in, w, down, &loss);
        far = -loss_of_w(&e, w);
        for (uint32_t j = 0; j < e.classes * e.in.stride; j++)
            w[j] = e.w[j] + h * e.v[j];
        far += loss_of_w(&e, w);
        assert_true(fabs(far / (2 * h) - slope) < 1e-5 * (1 + fabs(slope)));
        for (uint32_t j = 0; j < e.classes * e.in.stride; j++)
            assert_true(fabs((up[j] - down[j]) / (2 * h) - hv[j]) <
                        1e-4 * (1 + fabs(hv[j])));
    }
}

/* One row of x = 1 shows r itself: TALLY-4's bound. */
static void test_residual_bound(void **state)
{
    double most = 0;

    (void)state;
    for (uint64_t seed = 0; seed < 3000; seed++) {
        const float x[8] = {1};
        const double y[1] = {(double)(seed % 5)};
        const struct dense_rows in = {.x = x, .y = y, .rows = 1, .stride = 8};
        double w[40] = {0}, g[40], sum = 0, loss;

        for (uint32_t c = 0; c < 5; c++)
            w[8 * c] = rng_normal_at(seed, 1, c) * pow(10, (int)(seed % 7) - 3);
        softmax_gradient(ISA_PORTABLE, 5, &in, w, g, &loss, scratch);
        for (uint32_t c = 0; c < 5; c++) {
            most = fmax(most, fabs(g[8 * c]));
            sum += g[8 * c];
        }
        assert_true(loss >= 0 && fabs(sum) < 1e-15);
    }
    assert_true(most <= 1);
}

static void test_broken_rows(void **state)
{
    static const double bad_y[] = {-2, 0.5, 7, (double)NAN, HUGE_VAL};
    static struct example e;
    double g[DIMS_MAX], loss;

    (void)state;
    for (uint32_t k = 0; k < 5; k++) {
        make(&e, 4, DENSE_F32, 1);
        e.classes = 7;
        e.y[e.in.rows - 1] = bad_y[k];
        softmax_gradient(isa_best(), e.classes, &e.in, e.w, g, &loss, scratch);
        assert_true(isnan(loss) && isnan(g[0]));
        assert_bits(&e, DENSE_F32, isa_best());
    }
    for (int k = 0; k < 3; k++) {
        make(&e, 4, DENSE_F32, 1);
        e.w[0] = k == 0 ? (double)NAN : k == 1 ? HUGE_VAL : -HUGE_VAL;
        softmax_gradient(isa_best(), e.classes, &e.in, e.w, g, &loss, scratch);
        assert_true(isnan(loss));
        assert_bits(&e, DENSE_F32, isa_best());
    }
}

/* --- sparse -------------------------------------------------------------- */

struct entries {
    struct sparse_rows in;
    uint64_t begin[ROWS + 1];
    uint32_t column[ROWS * STRIDE_MAX];
    float value[ROWS * STRIDE_MAX];
};

static void sparsify(struct entries *s, const struct example *e, bool ones)
{
    uint64_t at = 0;

    for (uint32_t i = 0; i < e->in.rows; i++) {
        s->begin[i] = at;
        for (uint32_t j = 0; j < e->in.stride; j++) {
            const float x = e->f32[i * e->in.stride + j];

            if (x == 0.0f)
                continue;
            s->column[at] = j;
            s->value[at++] = x;
        }
    }
    s->begin[e->in.rows] = at;
    s->in = (struct sparse_rows){
        .begin = s->begin,
        .column = s->column,
        .value = ones ? NULL : s->value,
        .y = e->y,
        .weight = e->in.weight,
        .rows = e->in.rows,
        .cols = e->in.stride,
    };
}

static void assert_sparse(const struct example *e, const struct entries *s,
                          const struct evaluation *what)
{
    const uint32_t dims = e->classes * e->in.stride;
    struct tally tally, ref;
    int16_t exponent[DIMS_MAX + 1];
    double g[DIMS_MAX], dense[DIMS_MAX], loss = 0;

    for (uint32_t j = 0; j < dims; j++)
        exponent[j] = 40;
    exponent[dims] = 60;
    assert_int_equal(tally_init(&tally, dims, 2), ERR_OK);
    assert_int_equal(tally_init(&ref, dims, 2), ERR_OK);
    assert_int_equal(softmax_add_sparse(e->classes, e->in.stride, &s->in, what,
                                        exponent, 1, &tally, scratch),
                     ERR_OK);
    assert_int_equal(softmax_add_sparse_ref(e->classes, e->in.stride, &s->in,
                                            what, exponent, 1, &ref),
                     ERR_OK);
    assert_memory_equal(tally.sum, ref.sum, dims * sizeof *tally.sum);
    assert_true(tally.loss == ref.loss);
    assert_int_equal(softmax_add_sparse(e->classes, e->in.stride, &s->in, what,
                                        exponent, 1, &tally, scratch),
                     ERR_OVERLAP);
    tally_gradient(&tally, exponent, g);
    if (what->kind == EVALUATE_GRADIENT)
        softmax_gradient_ref(e->classes, &e->in, e->w, dense, &loss);
    else
        softmax_hessvec_ref(e->classes, &e->in, e->w, e->v, dense);
    for (uint32_t j = 0; j < dims; j++)
        assert_true(fabs(g[j] - dense[j]) < 1e-10 * (1 + fabs(dense[j])));
    assert_true(fabs(tally_loss_value(&tally, exponent) - loss) <
                1e-10 * (1 + loss));
    tally_close(&tally);
    tally_close(&ref);
}

static void test_sparse(void **state)
{
    static struct example e;
    static struct entries s;

    (void)state;
    for (uint64_t seed = 0; seed < 100; seed++) {
        const bool ones = seed % 2 == 0;
        const struct evaluation gradient = {.kind = EVALUATE_GRADIENT,
                                            .w = e.w};
        const struct evaluation product = {
            .kind = EVALUATE_HESSVEC, .w = e.w, .v = e.v};

        make(&e, seed, ones ? DENSE_BIT : DENSE_F32, 0.3);
        if (seed % 5 == 0)
            e.y[0] = SOFTMAX_NO_CLASS;
        sparsify(&s, &e, ones);
        assert_sparse(&e, &s, &gradient);
        assert_sparse(&e, &s, &product);
    }
}

static void test_sparse_refuses_whole(void **state)
{
    static struct example e;
    static struct entries s;
    const struct evaluation gradient = {.kind = EVALUATE_GRADIENT, .w = e.w};
    int16_t exponent[DIMS_MAX + 1];
    struct tally tally;

    (void)state;
    for (int k = 0; k < 3; k++) {
        uint32_t dims;

        make(&e, 6, DENSE_F32, 0.3);
        sparsify(&s, &e, false);
        dims = e.classes * e.in.stride;
        for (uint32_t j = 0; j < dims; j++)
            exponent[j] = k == 0 && j > dims / 2 ? 70 : 40;
        exponent[dims] = 60;
        if (k == 1)
            e.y[e.in.rows - 1] = 99;
        if (k == 2)
            e.w[3] = HUGE_VAL;
        assert_int_equal(tally_init(&tally, dims, 1), ERR_OK);
        tally.sum[0] = 5;
        assert_int_equal(softmax_add_sparse(e.classes, e.in.stride, &s.in,
                                            &gradient, exponent, 0, &tally,
                                            scratch),
                         ERR_RANGE);
        assert_int_equal(softmax_add_sparse_ref(e.classes, e.in.stride, &s.in,
                                                &gradient, exponent, 0, &tally),
                         ERR_RANGE);
        assert_int_equal(tally.sum[0], 5);
        for (uint32_t j = 1; j < dims; j++)
            assert_int_equal(tally.sum[j], 0);
        assert_false(chunkset_has(&tally.chunks, 0));
        tally_close(&tally);
    }
}

/* --- scores, golden ------------------------------------------------------ */

static void test_scores_and_probabilities(void **state)
{
    static struct example e;
    static struct entries s;
    double z[ROWS * CLASSES_MAX], sparse[ROWS * CLASSES_MAX];

    (void)state;
    make(&e, 8, DENSE_F32, 1);
    sparsify(&s, &e, false);
    softmax_scores(isa_best(), e.classes, &e.in, e.w, z, scratch);
    softmax_sparse_scores(e.classes, e.in.stride, &s.in, e.w, sparse);
    for (uint32_t i = 0; i < e.in.rows; i++) {
        double *const row = z + (size_t)i * e.classes;
        double before[CLASSES_MAX], sum = 0;
        uint32_t best;

        memcpy(before, row, e.classes * sizeof *row);
        best = softmax_probabilities(e.classes, row);
        for (uint32_t c = 0; c < e.classes; c++) {
            assert_true(fabs(before[c] - sparse[i * e.classes + c]) < 1e-12);
            assert_true(row[c] >= 0 && row[c] <= row[best]);
            assert_true(before[c] <= before[best]);
            sum += row[c];
        }
        assert_true(fabs(sum - 1) < 1e-14);
        assert_int_equal(softmax_best(e.classes, before), best);
        /* The loss is -log p of the class, and never below that of the best. */
        for (uint32_t c = 0; c < e.classes; c++)
            assert_true(fabs(softmax_loss(e.classes, before, c) + log(row[c])) <
                        1e-12 * (1 + fabs(log(row[c]))));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_variants_agree),
        cmocka_unit_test(test_derivatives),
        cmocka_unit_test(test_residual_bound),
        cmocka_unit_test(test_broken_rows),
        cmocka_unit_test(test_sparse),
        cmocka_unit_test(test_sparse_refuses_whole),
        cmocka_unit_test(test_scores_and_probabilities),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
