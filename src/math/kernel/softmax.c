/*
 * softmax.c - blocks of rows, residuals and sparse rows.
 *
 * The loops over columns come from softmax.inc, once per instruction set; all
 * that happens per row and class is here, once for all.
 */
#include "math/kernel/softmax.h"

#include <math.h>
#include <string.h>
#ifdef __x86_64__
#include <immintrin.h>
#endif

#include "base/check.h"
#include "base/mem.h"
#include "math/compiler.h"
#include "math/exact/grid.h"
#include "math/kernel/dense.h"
#include "math/kernel/poly.h"

enum {
    BLOCK_MAX = 32,        /* Rows of a block, at most and ... */
    BLOCK_MIN = 4,         /* ... at least. */
    BLOCK_DOUBLES = 12800, /* ... so that they stay in L2 (100 KiB). */
};
#define FITS 0x1p62 /* TALLY_BITS */

/* A block's part of the gradient, and what to ask memory for meanwhile. */
struct g_work {
    const double *x, *r;
    double *g;
    uint32_t rows, stride, classes, padded;
    const uint8_t *next; /* Rows of the next block ... */
    size_t slice;        /* ... so many bytes for each 8 columns. */
};

struct softmax_ops {
    /* Whole rows as doubles, by enum dense_storage. */
    void (*widen[DENSE_STORAGES])(const void *from, double *to, size_t count);
    void (*exponentials)(double *z, double m, uint32_t padded);
    void (*z_block)(const double *x, const double *w, uint32_t stride,
                    double *z, uint32_t classes, uint32_t padded,
                    uint32_t rows);
    void (*g_block)(const struct g_work *work);
};

/* The same tree as the kernels': l + (l+4), + (l+2), + (l+1). */
INLINE double fold8(const double *lane)
{
    const double a = (lane[0] + lane[4]) + (lane[2] + lane[6]);
    const double b = (lane[1] + lane[5]) + (lane[3] + lane[7]);

    return a + b;
}

/* Eight columns a byte. */
static void widen_bit(const void *from, double *to, size_t count)
{
    const uint8_t *const p = from;

    for (size_t j = 0; j < count; j++)
        to[j] = (double)(p[j / 8] >> j % 8 & 1);
}

static void widen_f64(const void *from, double *to, size_t count)
{
    memcpy(to, from, count * sizeof *to);
}

/* The upper half of a float. */
INLINE double bf16(uint16_t half)
{
    const uint32_t bits = (uint32_t)half << 16;
    float x;

    memcpy(&x, &bits, sizeof x);
    return (double)x;
}

#define VL      2
#define TR      1
#define TC      3
#define N(x)    x##_portable
#define F32(p)  ((VD){(double)(p)[0], (double)(p)[1]})
#define BF16(p) ((VD){bf16((p)[0]), bf16((p)[1])})
#define I8(p)   ((VD){(double)(p)[0], (double)(p)[1]})
#define U8(p)   I8(p)
#define PIXEL(p)                                                               \
    ((VD){(double)dense_pixel((p)[0]), (double)dense_pixel((p)[1])})
#define TARGET
#include "math/kernel/softmax.inc"

#ifdef __x86_64__
#define SSE(p) ((const __m128i *)(const void *)(p))

INLINE __attribute__((target("avx2"))) __m256d four_pixels(__m128i bytes)
{
    const __m128 k = _mm_cvtepi32_ps(_mm_cvtepu8_epi32(bytes));

    return _mm256_cvtps_pd(_mm_add_ps(_mm_mul_ps(k, _mm_set1_ps(PIXEL_HIGH)),
                                      _mm_mul_ps(k, _mm_set1_ps(PIXEL_LOW))));
}

#define VL     4
#define TR     2
#define TC     3
#define N(x)   x##_avx2
#define F32(p) _mm256_cvtps_pd(_mm_loadu_ps(p))
#define BF16(p)                                                                \
    _mm256_cvtps_pd(_mm_castsi128_ps(                                          \
        _mm_slli_epi32(_mm_cvtepu16_epi32(_mm_loadl_epi64(SSE(p))), 16)))
#define I8(p)    _mm256_cvtepi32_pd(_mm_cvtepi8_epi32(_mm_loadu_si32(p)))
#define U8(p)    _mm256_cvtepi32_pd(_mm_cvtepu8_epi32(_mm_loadu_si32(p)))
#define PIXEL(p) four_pixels(_mm_loadu_si32(p))
#define TARGET   __attribute__((target("avx2")))
#include "math/kernel/softmax.inc"

#define VL     8
#define TR     4
#define TC     5
#define N(x)   x##_avx512
#define F32(p) _mm512_cvtps_pd(_mm256_loadu_ps(p))
#define BF16(p)                                                                \
    _mm512_cvtps_pd(_mm256_castsi256_ps(_mm256_slli_epi32(                     \
        _mm256_cvtepu16_epi32(_mm_loadu_si128(SSE(p))), 16)))
#define I8(p)    _mm512_cvtepi32_pd(_mm256_cvtepi8_epi32(_mm_loadl_epi64(SSE(p))))
#define U8(p)    _mm512_cvtepi32_pd(_mm256_cvtepu8_epi32(_mm_loadl_epi64(SSE(p))))
#define PIXEL(p) eight_pixels(_mm_loadl_epi64(SSE(p)))
#define TARGET   __attribute__((target("avx512f,avx512dq,avx512bw,avx512vl")))

INLINE TARGET __m512d eight_pixels(__m128i bytes)
{
    const __m256 k = _mm256_cvtepi32_ps(_mm256_cvtepu8_epi32(bytes));

    return _mm512_cvtps_pd(
        _mm256_add_ps(_mm256_mul_ps(k, _mm256_set1_ps(PIXEL_HIGH)),
                      _mm256_mul_ps(k, _mm256_set1_ps(PIXEL_LOW))));
}

/* l + (l+4). */
INLINE TARGET __m256d fold_half(__m512d a)
{
    return _mm256_add_pd(_mm512_castpd512_pd256(a),
                         _mm512_extractf64x4_pd(a, 1));
}

/* The sums of four rows, in their order. */
INLINE TARGET __m256d fold_rows(__m512d a0, __m512d a1, __m512d a2, __m512d a3)
{
    const __m256d t0 = fold_half(a0), t1 = fold_half(a1);
    const __m256d t2 = fold_half(a2), t3 = fold_half(a3);
    /* Lanes 0 and 1 (+ 2 and 3) of rows 0 and 2, then of 1 and 3. */
    const __m256d even = _mm256_add_pd(_mm256_permute2f128_pd(t0, t2, 0x20),
                                       _mm256_permute2f128_pd(t0, t2, 0x31));
    const __m256d odd = _mm256_add_pd(_mm256_permute2f128_pd(t1, t3, 0x20),
                                      _mm256_permute2f128_pd(t1, t3, 0x31));

    return _mm256_add_pd(_mm256_unpacklo_pd(even, odd),
                         _mm256_unpackhi_pd(even, odd));
}

#define FOLD(a, c)                                                             \
    fold_rows((__m512d)(a)[0][c][0], (__m512d)(a)[1][c][0],                    \
              (__m512d)(a)[2][c][0], (__m512d)(a)[3][c][0])
#include "math/kernel/softmax.inc"
#endif

static const struct softmax_ops *const variants[ISAS] =
    ISA_TABLE(&softmax_ops_portable, &softmax_ops_avx2, &softmax_ops_avx512);

/* --- one row ------------------------------------------------------------- */

static double horner(const double *c, int terms, double x)
{
    double p = c[terms - 1];

    for (int i = terms - 2; i >= 0; i--)
        p = p * x + c[i];
    return p;
}

static double log1p_of(double e)
{
    const double s = e / (e + 2.0);
    const double h = s * s;
    const double u = h * h;
    const double q = horner(poly_log_even, POLY_LOG, u) +
                     h * horner(poly_log_odd, POLY_LOG, u);

    return e - s * (e - (h * q) * 2.0);
}

/* s >= 1, or NaN. */
static double log_of(double s)
{
    uint64_t bits;
    double k, f;

    memcpy(&bits, &s, sizeof bits);
    k = (double)(int)((bits >> 52 & 0x7ff) - 1023);
    bits = (bits & ((UINT64_C(1) << 52) - 1)) | (UINT64_C(1023) << 52);
    memcpy(&f, &bits, sizeof f);
    return k * POLY_LN2_HIGH + (log1p_of(f - 1.0) + k * POLY_LN2_LOW);
}

/* Everything of a row but its columns. */
struct row {
    double *z;       /* Scores on entry, of a product probabilities; classes
                        rounded up to 8. */
    const double *t; /* x . v; of a product only. */
    double y;
    double weight;
};

struct shape {
    const struct softmax_ops *ops;
    uint32_t classes;
    uint32_t padded; /* classes rounded up to 8. */
    uint32_t stride;
};

static double largest(const double *z, uint32_t classes)
{
    double m = z[0];

    for (uint32_t c = 1; c < classes; c++) {
        if (z[c] > m)
            m = z[c];
    }
    return m;
}

/* +0, or NaN if a score is not finite. */
static double broken(const double *z, uint32_t classes)
{
    double sum = 0.0;

    for (uint32_t c = 0; c < classes; c++)
        sum += z[c] - z[c];
    return sum;
}

/* Scores become probabilities; returns s. */
static double to_probabilities(const struct shape *shape, double *z, double m)
{
    double s = 0.0;

    for (uint32_t c = shape->classes; c < shape->padded; c++)
        z[c] = m;
    shape->ops->exponentials(z, m, shape->padded);
    for (uint32_t c = 0; c < shape->classes; c++)
        s += z[c];
    for (uint32_t c = 0; c < shape->classes; c++)
        z[c] /= s;
    return s;
}

static bool is_class(double y, uint32_t classes)
{
    return y >= 0.0 && y < classes && y == floor(y);
}

/* z <- r; returns the loss. */
static double residuals(const struct shape *shape, const struct row *row)
{
    double *const z = row->z;
    const uint32_t classes = shape->classes;
    const double nan_or_zero =
        is_class(row->y, classes) ? broken(z, classes) : (double)NAN;
    const uint32_t y = isnan(nan_or_zero) ? 0 : (uint32_t)row->y;
    const double m = largest(z, classes);
    const double behind = m - z[y];
    const double s = to_probabilities(shape, z, m);

    z[y] -= 1.0;
    for (uint32_t c = 0; c < classes; c++)
        z[c] = (z[c] + nan_or_zero) * row->weight;
    return ((behind + log_of(s)) + nan_or_zero) * row->weight;
}

/* z <- p, or NaN where a score or the class is none. */
static void row_probabilities(const struct shape *shape, const struct row *row)
{
    double *const z = row->z;
    const uint32_t classes = shape->classes;
    const double nan_or_zero =
        is_class(row->y, classes) ? broken(z, classes) : (double)NAN;

    (void)to_probabilities(shape, z, largest(z, classes));
    for (uint32_t c = 0; c < classes; c++)
        z[c] += nan_or_zero; /* p >= +0: no bit changes. */
}

/* p in z <- s_c.  What was NaN stays it; 0 is added as the definition has it,
 * and makes -0 to +0. */
static void curvatures(const struct shape *shape, const struct row *row)
{
    double *const z = row->z;
    const uint32_t classes = shape->classes;
    double a = 0.0;

    for (uint32_t c = 0; c < classes; c++)
        a += z[c] * row->t[c];
    for (uint32_t c = 0; c < classes; c++)
        z[c] = (z[c] * (row->t[c] - a) + 0.0) * row->weight;
}

/* What x is multiplied by, in row->z; returns the loss, 0 of a product. */
static double slopes(const struct shape *shape, const struct row *row)
{
    if (row->y == SOFTMAX_NO_CLASS) {
        memset(row->z, 0, shape->padded * sizeof *row->z);
        return 0.0;
    }
    if (row->t == NULL)
        return residuals(shape, row);
    curvatures(shape, row);
    return 0.0;
}

/* --- dense rows ---------------------------------------------------------- */

uint32_t softmax_padded(uint32_t classes)
{
    return (classes + 7) / 8 * 8;
}

static uint32_t block_rows(uint32_t stride)
{
    const uint32_t fit = BLOCK_DOUBLES / stride / BLOCK_MIN * BLOCK_MIN;

    if (fit < BLOCK_MIN)
        return BLOCK_MIN;
    return fit < BLOCK_MAX ? fit : BLOCK_MAX;
}

size_t softmax_scratch_bytes(uint32_t stride, uint32_t classes)
{
    const size_t rows = block_rows(stride);

    return rows * (stride + 2 * (size_t)softmax_padded(classes)) *
           sizeof(double);
}

size_t softmax_sparse_scratch_bytes(uint32_t classes)
{
    return 2 * (size_t)softmax_padded(classes) * sizeof(double);
}

struct block {
    double *x; /* rows * stride. */
    double *z; /* rows * padded. */
    double *t;
    double *g; /* Where its sums go. */
    uint32_t rows;
};

static struct shape shape_of(enum isa isa, uint32_t classes, uint32_t stride)
{
    CHECK(classes >= 2);
    CHECK(classes <= SOFTMAX_CLASSES_MAX);
    return (struct shape){
        .ops = isa_row(variants, isa),
        .classes = classes,
        .padded = softmax_padded(classes),
        .stride = stride,
    };
}

static struct block block_in(const struct shape *shape, void *scratch)
{
    const size_t rows = block_rows(shape->stride);
    double *const base = scratch;

    CHECK(scratch != NULL);
    return (struct block){
        .x = base,
        .z = base + rows * shape->stride,
        .t = base + rows * (shape->stride + shape->padded),
    };
}

/* Rows [first, first + block->rows) as doubles. */
static void widen(const struct shape *shape, const struct dense_rows *in,
                  uint32_t first, struct block *block)
{
    const size_t bytes = dense_row_bytes(in->storage, in->stride);

    shape->ops->widen[in->storage]((const uint8_t *)in->x + first * bytes,
                                   block->x, (size_t)block->rows * in->stride);
}

static double weight_of(const double *weight, uint32_t i)
{
    return weight == NULL ? 1.0 : weight[i];
}

/* block->g += x z of the block that begins with row `first`. */
static void add_block(const struct shape *shape, const struct dense_rows *in,
                      uint32_t first, const struct block *block)
{
    const size_t bytes = dense_row_bytes(in->storage, in->stride);
    const uint32_t after = first + block->rows;
    const uint32_t left = in->rows - after;
    const uint32_t next = left < block->rows ? left : block->rows;
    const struct g_work work = {
        .x = block->x,
        .r = block->z,
        .g = block->g,
        .rows = block->rows,
        .stride = in->stride,
        .classes = shape->classes,
        .padded = shape->padded,
        .next = (const uint8_t *)in->x + after * bytes,
        .slice = next * bytes / (in->stride / 8),
    };

    shape->ops->g_block(&work);
}

static struct row row_of(const struct shape *shape, const struct dense_rows *in,
                         const struct block *block, uint32_t first, uint32_t i)
{
    return (struct row){
        .z = block->z + (size_t)i * shape->padded,
        .y = in->y[first + i],
        .weight = weight_of(in->weight, first + i),
    };
}

/* block->z <- p of the rows from `first`. */
static void find_probabilities(const struct shape *shape,
                               const struct dense_rows *in, const double *w,
                               const struct softmax_memo *memo, uint32_t first,
                               const struct block *block)
{
    const size_t bytes = (size_t)block->rows * shape->padded * sizeof(double);
    double *const kept =
        memo->p == NULL ? NULL : memo->p + (size_t)first * shape->padded;

    if (kept != NULL && memo->full) {
        memcpy(block->z, kept, bytes);
        return;
    }
    shape->ops->z_block(block->x, w, in->stride, block->z, shape->classes,
                        shape->padded, block->rows);
    for (uint32_t i = 0; i < block->rows; i++) {
        const struct row row = row_of(shape, in, block, first, i);

        row_probabilities(shape, &row);
    }
    if (kept != NULL)
        memcpy(kept, block->z, bytes);
}

/* block->z <- what the rows from `first` are multiplied by: r, or with v s.
 * Returns `loss` and theirs, one after the other. */
static double find_slopes(const struct shape *shape,
                          const struct dense_rows *in, const double *w,
                          const double *v, const struct softmax_memo *memo,
                          uint32_t first, const struct block *block,
                          double loss)
{
    if (v == NULL)
        shape->ops->z_block(block->x, w, in->stride, block->z, shape->classes,
                            shape->padded, block->rows);
    else
        find_probabilities(shape, in, w, memo, first, block);
    if (v != NULL)
        shape->ops->z_block(block->x, v, in->stride, block->t, shape->classes,
                            shape->padded, block->rows);
    for (uint32_t i = 0; i < block->rows; i++) {
        struct row row = row_of(shape, in, block, first, i);

        if (v != NULL)
            row.t = block->t + (size_t)i * shape->padded;
        loss += slopes(shape, &row);
    }
    return loss;
}

/* Gradient, or with v the Hessian times v. */
static double run_dense(const struct shape *shape, const struct dense_rows *in,
                        const double *w, const double *v,
                        const struct softmax_memo *memo, double *g,
                        void *scratch)
{
    struct block block = block_in(shape, scratch);
    const uint32_t most = block_rows(in->stride);
    double loss = 0.0;

    block.g = g;
    memset(g, 0, (size_t)shape->classes * in->stride * sizeof *g);
    for (uint32_t first = 0; first < in->rows; first += block.rows) {
        block.rows = in->rows - first < most ? in->rows - first : most;
        widen(shape, in, first, &block);
        loss = find_slopes(shape, in, w, v, memo, first, &block, loss);
        add_block(shape, in, first, &block);
    }
    return loss;
}

void softmax_gradient(enum isa isa, uint32_t classes,
                      const struct dense_rows *in, const double *w, double *g,
                      double *loss_sum, void *scratch)
{
    const struct shape shape = shape_of(isa, classes, in->stride);

    *loss_sum = run_dense(&shape, in, w, NULL, NULL, g, scratch);
}

void softmax_hessvec(enum isa isa, uint32_t classes,
                     const struct dense_rows *in, const double *w,
                     const double *v, const struct softmax_memo *memo,
                     double *hv, void *scratch)
{
    const struct shape shape = shape_of(isa, classes, in->stride);

    (void)run_dense(&shape, in, w, v, memo, hv, scratch);
}

void softmax_scores(enum isa isa, uint32_t classes, const struct dense_rows *in,
                    const double *w, double *z, void *scratch)
{
    const struct shape shape = shape_of(isa, classes, in->stride);
    struct block block = block_in(&shape, scratch);
    const uint32_t most = block_rows(in->stride);

    for (uint32_t first = 0; first < in->rows; first += block.rows) {
        block.rows = in->rows - first < most ? in->rows - first : most;
        widen(&shape, in, first, &block);
        shape.ops->z_block(block.x, w, in->stride, block.z, classes,
                           shape.padded, block.rows);
        for (uint32_t i = 0; i < block.rows; i++)
            memcpy(z + (size_t)(first + i) * classes,
                   block.z + (size_t)i * shape.padded, classes * sizeof *z);
    }
}

uint32_t softmax_best(uint32_t classes, const double *z)
{
    const double m = largest(z, classes);
    uint32_t best = 0;

    while (best + 1 < classes && z[best] != m)
        best++;
    return best;
}

uint32_t softmax_probabilities(uint32_t classes, double *z)
{
    double row[SOFTMAX_CLASSES_MAX];
    const struct shape shape = shape_of(ISA_PORTABLE, classes, 8);
    const uint32_t best = softmax_best(classes, z);

    memcpy(row, z, classes * sizeof *row);
    (void)to_probabilities(&shape, row, z[best]);
    memcpy(z, row, classes * sizeof *row);
    return best;
}

double softmax_loss(uint32_t classes, const double *z, uint32_t y)
{
    double copy[SOFTMAX_CLASSES_MAX];
    const struct shape shape = shape_of(ISA_PORTABLE, classes, 8);
    const struct row row = {.z = copy, .y = (double)y, .weight = 1.0};

    CHECK(y < classes);
    memcpy(copy, z, classes * sizeof *copy);
    return residuals(&shape, &row);
}

/* --- sparse rows --------------------------------------------------------- */

struct sparse_job {
    struct shape shape;
    const struct sparse_rows *in;
    const double *w, *v;
    const int16_t *exponent;
    int64_t *sum;
    double *z, *t; /* Of one row. */
};

static double value_at(const struct sparse_rows *in, uint64_t at)
{
    return in->value == NULL ? 1.0 : (double)in->value[at];
}

static double sparse_score(const struct sparse_rows *in, uint32_t i,
                           const double *w)
{
    const uint64_t first = in->begin[i], end = in->begin[i + 1];
    double lane[4] = {0};

    for (uint64_t at = first; at < end; at++)
        lane[(at - first) % 4] += value_at(in, at) * w[in->column[at]];
    return (lane[0] + lane[2]) + (lane[1] + lane[3]);
}

/* job->z of row i; returns its loss. */
static double sparse_slopes(const struct sparse_job *job, uint32_t i)
{
    const struct row row = {
        .z = job->z,
        .t = job->v != NULL ? job->t : NULL,
        .y = job->in->y[i],
        .weight = weight_of(job->in->weight, i),
    };

    for (uint32_t c = 0; c < job->shape.classes; c++) {
        const size_t at = (size_t)c * job->shape.stride;

        job->z[c] = sparse_score(job->in, i, job->w + at);
        if (job->v != NULL)
            job->t[c] = sparse_score(job->in, i, job->v + at);
    }
    if (job->v != NULL)
        row_probabilities(&job->shape, &row);
    return slopes(&job->shape, &row);
}

/* Row i into the sums, or out again.  What does not fit counts as 0. */
static bool sparse_add_row(const struct sparse_job *job, uint32_t i, bool undo)
{
    const struct sparse_rows *in = job->in;
    bool fits = true;

    for (uint32_t c = 0; c < job->shape.classes; c++)
        fits &= isfinite(job->z[c]) != 0; /* Also if the row is empty. */
    for (uint64_t at = in->begin[i]; at < in->begin[i + 1]; at++) {
        for (uint32_t c = 0; c < job->shape.classes; c++) {
            const size_t j = (size_t)c * job->shape.stride + in->column[at];
            const double scaled =
                (value_at(in, at) * job->z[c]) * power_of_two(job->exponent[j]);
            const bool good = fabs(scaled) < FITS;
            const uint64_t rounded = (uint64_t)llrint(good ? scaled : 0.0);

            fits &= good;
            job->sum[j] =
                (int64_t)((uint64_t)job->sum[j] + (undo ? -rounded : rounded));
        }
    }
    return fits;
}

/* Rows [0, end); true if all fit, else *done says how far it came. */
static bool sparse_run(const struct sparse_job *job, uint32_t end, bool undo,
                       uint32_t *done, double *loss)
{
    bool fits = true;

    *loss = 0.0;
    for (uint32_t i = 0; i < end && (fits || undo); i++) {
        *loss += sparse_slopes(job, i);
        fits = sparse_add_row(job, i, undo);
        *done = i + 1;
    }
    return fits;
}

enum err softmax_add_sparse(uint32_t classes, uint32_t stride,
                            const struct sparse_rows *in,
                            const struct evaluation *what,
                            const int16_t *exponent, uint32_t chunk,
                            struct tally *tally, void *scratch)
{
    struct sparse_job job = {
        .shape = shape_of(ISA_PORTABLE, classes, stride),
        .in = in,
        .w = what->w,
        .v = what->kind == EVALUATE_HESSVEC ? what->v : NULL,
        .exponent = exponent,
        .sum = tally->sum,
        .z = scratch,
    };
    double loss = 0.0, unused;
    uint32_t done = 0;

    CHECK(scratch != NULL);
    CHECK(what->kind != EVALUATE_HESSIAN);
    CHECK(in->cols <= stride);
    CHECK(tally->dims >= (uint64_t)classes * stride);
    CHECK(chunk < tally->chunks.count);
    job.t = job.z + job.shape.padded;
    if (chunkset_has(&tally->chunks, chunk))
        return ERR_OVERLAP;
    if (!sparse_run(&job, in->rows, false, &done, &loss) ||
        !tally_loss_fits(tally, exponent, loss)) {
        (void)sparse_run(&job, done, true, &done, &unused);
        return ERR_RANGE;
    }
    tally_mark(tally, exponent, chunk, loss);
    return ERR_OK;
}

void softmax_sparse_scores(uint32_t classes, uint32_t stride,
                           const struct sparse_rows *in, const double *w,
                           double *z)
{
    for (uint32_t i = 0; i < in->rows; i++) {
        for (uint32_t c = 0; c < classes; c++)
            z[(size_t)i * classes + c] =
                sparse_score(in, i, w + (size_t)c * stride);
    }
}
