/*
 * vec.c - dot products, norms and updates of the optimiser's vectors.  Eight
 * lanes and a fixed tree, so that the compiler may vectorise and the bits stay.
 */
#include "math/vec.h"

#include <assert.h>
#include <math.h>
#include <stdint.h>
#include <string.h>

#include "math/isa.h"
#include "math/vec_loops.h"

#define BLOCK VEC_BLOCK
#define LANES VEC_LANES

static_assert(VEC_BLOCK == SLICE_GRAIN, "slices are whole blocks");

/* The same tree as the kernels': l + (l+4), + (l+2), + (l+1). */
static double fold(const double lane[LANES])
{
    const double a = (lane[0] + lane[4]) + (lane[2] + lane[6]);
    const double b = (lane[1] + lane[5]) + (lane[3] + lane[7]);

    return a + b;
}

static void add_lanes(const double *a, const double *b, size_t count,
                      double lane[LANES])
{
    /* Written out so that the compiler sees eight independent sums. */
    for (size_t j = 0; j < count; j += LANES) {
        lane[0] += a[j] * b[j];
        lane[1] += a[j + 1] * b[j + 1];
        lane[2] += a[j + 2] * b[j + 2];
        lane[3] += a[j + 3] * b[j + 3];
        lane[4] += a[j + 4] * b[j + 4];
        lane[5] += a[j + 5] * b[j + 5];
        lane[6] += a[j + 6] * b[j + 6];
        lane[7] += a[j + 7] * b[j + 7];
    }
}

/* The top bit is set if the exponent is all ones: NaN or infinite. */
static uint64_t endless(uint64_t bits)
{
    return (bits & VEC_ENDLESS) + (UINT64_C(1) << 52);
}

static bool finite(const double *a, size_t count)
{
    uint64_t lane[LANES] = {0};
    uint64_t all = 0;
    size_t i = 0;

    /* A loop of constant length is one the compiler makes wide. */
    for (; count - i >= LANES; i += LANES) {
        uint64_t bits[LANES];

        memcpy(bits, &a[i], sizeof bits);
        for (size_t k = 0; k < LANES; k++)
            lane[k] |= endless(bits[k]);
    }
    for (; i < count; i++) {
        uint64_t bits;

        memcpy(&bits, &a[i], sizeof bits);
        all |= endless(bits);
    }
    for (size_t k = 0; k < LANES; k++)
        all |= lane[k];
    return all >> 63 == 0;
}

/* Of finite numbers. */
static double largest(const double *a, size_t count)
{
    double lane[LANES] = {0};
    size_t i = 0;

    for (; count - i >= LANES; i += LANES) {
        for (size_t k = 0; k < LANES; k++) {
            const double here = fabs(a[i + k]);

            lane[k] = here > lane[k] ? here : lane[k];
        }
    }
    for (; i < count; i++)
        lane[0] = fmax(lane[0], fabs(a[i]));
    for (size_t k = 1; k < LANES; k++)
        lane[0] = fmax(lane[0], lane[k]);
    return lane[0];
}

static void measure(const double *sum, double rows, double twice,
                    const double *w, size_t count, double *gradient)
{
    for (size_t i = 0; i < count; i++)
        gradient[i] = sum[i] / rows + twice * w[i];
}

static void descend(double keep, double scale, const double *g, size_t count,
                    double *w)
{
    for (size_t i = 0; i < count; i++)
        w[i] = keep * w[i] - scale * g[i];
}

/* As many sums side by side as registers hold. */
static void weigh_lanes(const double *weight, const double *const *from,
                        uint32_t terms, size_t i, double *to)
{
    double sum[LANES];

    for (size_t l = 0; l < LANES; l++)
        sum[l] = weight[0] * from[0][i + l];
    for (uint32_t k = 1; k < terms; k++) {
        const double *term = from[k] + i;

        for (size_t l = 0; l < LANES; l++)
            sum[l] += weight[k] * term[l];
    }
    memcpy(to + i, sum, sizeof sum);
}

static void weigh(const double *weight, const double *const *from,
                  uint32_t terms, size_t count, double *to)
{
    size_t i = 0;

    for (; count - i >= LANES; i += LANES)
        weigh_lanes(weight, from, terms, i, to);
    for (; i < count; i++) {
        double sum = weight[0] * from[0][i];

        for (uint32_t k = 1; k < terms; k++)
            sum += weight[k] * from[k][i];
        to[i] = sum;
    }
}

static void adam(const struct vec_adam *a, size_t count, double *u, double *v,
                 double *s)
{
    for (size_t i = 0; i < count; i++) {
        u[i] = a->beta1 * u[i] + (1 - a->beta1) * s[i];
        v[i] = a->beta2 * v[i] + (1 - a->beta2) * (s[i] * s[i]);
        s[i] =
            a->eta * (u[i] / a->warm1) / (sqrt(v[i] / a->warm2) + a->epsilon);
    }
}

static void stream(const double *from, size_t count, double *to)
{
    memcpy(to, from, count * sizeof *to);
}

static double top(const double *a, size_t count)
{
    return finite(a, count) ? largest(a, count) : HUGE_VAL;
}

/* Nothing went past the caches. */
static void past_end(void)
{
}

static const struct vec_ops vec_portable = {
    .lanes = add_lanes,
    .finite = finite,
    .top = top,
    .measure = measure,
    .descend = descend,
    .weigh = weigh,
    .weigh_past = weigh,
    .past_end = past_end,
    .adam = adam,
    .stream = stream,
};

static const struct vec_ops *const variants[ISAS] =
    ISA_TABLE(&vec_portable, &vec_portable, &vec_avx512);

static const struct vec_ops *ops(void)
{
    return variants[isa_best()];
}

/* No more than is left of the block; they go on from where it is. */
static void take(struct vec_sum *sum, const double *a, const double *b,
                 size_t count)
{
    size_t whole, i = 0;

    for (; i < count && (sum->taken + i) % LANES != 0; i++)
        sum->lane[(sum->taken + i) % LANES] += a[i] * b[i];
    whole = (count - i) / LANES * LANES;
    ops()->lanes(a + i, b + i, whole, sum->lane);
    for (i += whole; i < count; i++)
        sum->lane[(sum->taken + i) % LANES] += a[i] * b[i];
    sum->taken += count;
}

void vec_sum_add(struct vec_sum *sum, const double *a, const double *b,
                 size_t count)
{
    while (count > 0) {
        const size_t room = BLOCK - sum->taken;
        const size_t some = count < room ? count : room;

        take(sum, a, b, some);
        if (sum->taken == BLOCK)
            *sum = (struct vec_sum){.sum = sum->sum + fold(sum->lane)};
        a += some;
        b += some;
        count -= some;
    }
}

double vec_sum_end(const struct vec_sum *sum)
{
    return sum->taken > 0 ? sum->sum + fold(sum->lane) : sum->sum;
}

double vec_dot(const double *a, const double *b, size_t count)
{
    struct vec_sum sum = {0};

    vec_sum_add(&sum, a, b, count);
    return vec_sum_end(&sum);
}

/* The root is one IEEE operation too: correctly rounded everywhere. */
double vec_norm(const double *a, size_t count)
{
    return sqrt(vec_dot(a, a, count));
}

bool vec_finite(const double *a, size_t count)
{
    return ops()->finite(a, count);
}

double vec_largest(const double *a, size_t count)
{
    return ops()->top(a, count);
}

#define TOP_LEAST 16384u /* Of a slice. */

struct topping {
    const double *a;
    double top[SLICES_MAX];
};

static void top_slice(void *context, uint32_t slice, uint32_t first,
                      uint32_t end)
{
    struct topping *topping = context;

    topping->top[slice] = vec_largest(topping->a + first, end - first);
}

double vec_largest_of(struct pool *pool, const double *a, uint32_t count)
{
    struct topping topping = {.a = a};
    const uint32_t slices =
        pool_slices(pool, count, TOP_LEAST, top_slice, &topping);
    double most = 0;

    for (uint32_t i = 0; i < slices; i++)
        most = topping.top[i] > most ? topping.top[i] : most;
    return most;
}

void vec_measure(const double *sum, double rows, double twice, const double *w,
                 size_t count, double *gradient)
{
    ops()->measure(sum, rows, twice, w, count, gradient);
}

void vec_descend(double keep, double scale, const double *g, size_t count,
                 double *w)
{
    ops()->descend(keep, scale, g, count, w);
}

void vec_weigh(const double *weight, const double *const *from, uint32_t terms,
               size_t count, double *to)
{
    ops()->weigh(weight, from, terms, count, to);
}

void vec_weigh_past(const double *weight, const double *const *from,
                    uint32_t terms, size_t count, double *to)
{
    ops()->weigh_past(weight, from, terms, count, to);
}

void vec_past_end(void)
{
    ops()->past_end();
}

void vec_stream(const double *from, size_t count, double *to)
{
    ops()->stream(from, count, to);
}

void vec_adam(const struct vec_adam *adam, size_t count, double *u, double *v,
              double *s)
{
    ops()->adam(adam, count, u, v, s);
}
