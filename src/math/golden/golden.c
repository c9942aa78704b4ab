/*
 * golden.c - five small problems whose gradients are known to the bit.
 *
 *     plain      what training looks like
 *     denormal   x below the least normal float
 *     huge       x near the largest float, w small in return
 *     steep      scores in the ten thousands: exp saturates
 *     mixed      x over sixty binary orders: rounding at every add
 *
 * Sizes are odd, so that blocks, steps and single rows are all visited.  Three
 * losses and the rounding of tallies go into one digest; golden_more.c has
 * those of everything else.
 */
#include "math/golden/golden.h"

#include <assert.h>
#include <float.h>
#include <math.h>
#include <stdint.h>
#include <string.h>

#include "base/check.h"
#include "base/rng.h"
#include "math/exact/tally.h"
#include "math/golden/golden_parts.h"

#define SEED       UINT64_C(0x6d7573746572)
#define UNLABELLED 5u /* This row has y = 0: it must add nothing. */
/* Tally bits dropped, so that converting has something to round. */
#define COARSE 40

static_assert(FLT_EVAL_METHOD == 0 || FLT_EVAL_METHOD == 16,
              "wider temporaries would change the bits");

enum draw { DRAW_W, DRAW_X, DRAW_POWER, DRAW_ZERO, DRAW_Y };

struct shape {
    uint32_t rows;
    uint32_t stride; /* The last three columns are padding. */
    int x_power;     /* x is of the order of 2^x_power. */
    int w_power;
    uint32_t spread; /* x_power varies by so much either way. */
};

static const struct shape shapes[] = {
    {77, 24, 0, -3, 0},     /* plain */
    {13, 56, -130, 3, 0},   /* denormal */
    {9, 520, 100, -104, 0}, /* huge */
    {37, 8, 0, 13, 0},      /* steep */
    {66, 40, 0, -8, 30},    /* mixed */
};

static_assert(sizeof shapes / sizeof *shapes == GOLDEN_PROBLEMS,
              "golden_parts.h counts them");

/* Changes only together with PROFILE_DENSE_NAME. */
static const struct digest expected = {{
    0x89, 0x76, 0x9c, 0x66, 0x63, 0xe8, 0xdc, 0x3d, 0xf2, 0x0a, 0xbe,
    0xba, 0x40, 0x2b, 0xd3, 0xb3, 0x1c, 0x3f, 0xef, 0x39, 0x13, 0xee,
    0x5f, 0xe3, 0xc4, 0xfc, 0x29, 0x92, 0x74, 0x2d, 0x7f, 0x12,
}};

/* Uniform in [-1/2, 1/2) times 2^power; exact before it becomes a float. */
static double draw(enum draw what, uint32_t shape, uint32_t at, int power)
{
    const uint64_t seed = SEED + 16 * shape + what;

    return ldexp(rng_unit_at(seed, at, 0) - 0.5, power);
}

static float draw_x(uint32_t index, uint32_t at)
{
    const struct shape *shape = &shapes[index];
    const double jump = draw(DRAW_POWER, index, at, 1) * shape->spread;

    if (draw(DRAW_ZERO, index, at, 4) >= 7.0)
        return -0.0f;
    return (float)draw(DRAW_X, index, at, shape->x_power + (int)jump);
}

void golden_problem_make(struct golden_problem *problem, uint32_t index)
{
    const struct shape *shape = &shapes[index];
    const uint32_t columns = shape->stride - 3;

    CHECK(shape->rows <= GOLDEN_ROWS_MAX);
    CHECK(shape->stride <= GOLDEN_STRIDE_MAX);
    CHECK(shape->rows * shape->stride <= GOLDEN_CELLS_MAX);
    memset(problem, 0, sizeof *problem);
    problem->rows = (struct dense_rows){
        .x = problem->x,
        .y = problem->y,
        .rows = shape->rows,
        .stride = shape->stride,
    };
    for (uint32_t j = 0; j < columns; j++)
        problem->w[j] = draw(DRAW_W, index, j, shape->w_power);
    for (uint32_t i = 0; i < shape->rows; i++) {
        problem->y[i] = draw(DRAW_Y, index, i, 0) < 0.0 ? -1.0 : 1.0;
        for (uint32_t j = 0; j < columns; j++) {
            const uint32_t at = i * shape->stride + j;

            problem->x[at] = draw_x(index, at);
        }
    }
    if (shape->rows > UNLABELLED)
        problem->y[UNLABELLED] = 0.0;
}

/* The gradient as it would be tallied: also the rounding must be right. */
static void add_tally(struct hasher *hasher, const double *g, uint32_t dims)
{
    int64_t sum[GOLDEN_STRIDE_MAX] = {0};
    uint64_t words[1] = {0};
    int16_t exponent[GOLDEN_STRIDE_MAX + 1];
    struct tally tally = {
        .dims = dims,
        .chunks = {.count = 1, .words = words},
        .sum = sum,
    };
    struct digest digest;

    for (uint32_t j = 0; j < dims; j++) {
        const double bound = isfinite(g[j]) ? fabs(g[j]) : 0.0;

        exponent[j] = (int16_t)(tally_exponent(bound) - COARSE);
    }
    exponent[dims] = GOLDEN_LOSS_EXPONENT;
    /* A broken kernel may not fit: then the empty tally is hashed. */
    if (tally_add_chunk(&tally, 0, g, 0.0, exponent) != ERR_OK)
        tally_clear(&tally);
    digest = tally_digest(&tally);
    hasher_add(hasher, digest.bytes, sizeof digest.bytes);
}

struct digest golden_digest_with(golden_kernel kernel, const void *context)
{
    static const enum loss losses[] = {LOSS_LOGISTIC, LOSS_SQUARED,
                                       LOSS_SQUARED_HINGE};
    struct golden_problem problem;
    double g[GOLDEN_STRIDE_MAX];
    struct hasher hasher;

    hasher_init(&hasher);
    for (uint32_t i = 0; i < GOLDEN_PROBLEMS; i++) {
        golden_problem_make(&problem, i);
        for (uint32_t l = 0; l < sizeof losses / sizeof *losses; l++) {
            double loss = 0.0;

            kernel(context, losses[l], &problem.rows, problem.w, g, &loss);
            hasher_add_f64(&hasher, g, problem.rows.stride);
            hasher_add_f64(&hasher, &loss, 1);
            add_tally(&hasher, g, problem.rows.stride);
        }
    }
    return hasher_end(&hasher);
}

static void run_isa(const void *context, enum loss loss,
                    const struct dense_rows *in, const double *w, double *g,
                    double *loss_sum)
{
    const enum isa *isa = context;
    /* Enough for every shape: the larger of a full block and one step. */
    double scratch[4 * GOLDEN_STRIDE_MAX] __attribute__((aligned(64)));

    CHECK(kernel_scratch_bytes(in->stride) <= sizeof scratch);
    kernel_gradient(*isa, loss, in, w, g, loss_sum, scratch);
}

struct digest golden_digest(enum isa isa)
{
    return golden_digest_with(run_isa, &isa);
}

struct digest golden_expected(void)
{
    return expected;
}

static void add_profile(struct hasher *hasher, const char *name,
                        struct digest digest)
{
    hasher_add(hasher, name, strlen(name) + 1);
    hasher_add(hasher, digest.bytes, sizeof digest.bytes);
}

struct digest golden_arithmetic(void)
{
    struct hasher hasher;

    hasher_init(&hasher);
    add_profile(&hasher, PROFILE_DENSE_NAME, expected);
    for (int part = 0; part < GOLDEN_PARTS; part++)
        add_profile(&hasher, golden_part_profile((enum golden_part)part),
                    golden_part_expected((enum golden_part)part));
    return hasher_end(&hasher);
}

/* Volatile: the machine must compute it, not the compiler. */
static bool rounds_to_nearest(void)
{
    volatile double one = 1.0;
    volatile double half_ulp = 0x1p-53;
    volatile double more = 0x1.8p-53;
    volatile double sums[4];

    sums[0] = one + half_ulp;             /* Tie: to even, down. */
    sums[1] = (one + 0x1p-52) + half_ulp; /* Tie: to even, up. */
    sums[2] = one + more;                 /* Up. */
    sums[3] = -one - more;                /* Down. */
    return sums[0] == 1.0 && sums[1] == 1.0 + 0x1p-51 &&
           sums[2] == 1.0 + 0x1p-52 && sums[3] == -1.0 - 0x1p-52;
}

static bool keeps_denormals(void)
{
    volatile double least_normal = 0x1p-1022;
    volatile double denormal = 0x1p-1060;
    volatile double results[2];

    results[0] = least_normal * 0.5; /* Lost by flush-to-zero. */
    results[1] = denormal * 0x1p60;  /* Lost by denormals-are-zero. */
    return results[0] != 0.0 && results[1] == 0x1p-1000;
}

static enum err check_profile(enum isa isa, const char *profile,
                              const struct digest *got,
                              const struct digest *want, struct why *why)
{
    if (digest_equal(got, want))
        return ERR_OK;
    return why_set(why, ERR_MISMATCH,
                   "the %s kernel computes other bits than profile %s asks "
                   "for: was it compiled with -ffast-math or fused "
                   "multiply-add?",
                   isa_name(isa), profile);
}

enum err golden_check(enum isa isa, struct why *why)
{
    const struct digest none = {{0}};
    struct digest digest;
    enum err err;

    if (!isa_runs(isa))
        return why_set(why, ERR_UNSUPPORTED,
                       "this machine cannot run the %s kernel", isa_name(isa));
    if (!rounds_to_nearest())
        return why_set(why, ERR_MISMATCH,
                       "the rounding mode is not to nearest: results would "
                       "differ from other machines'");
    if (!keeps_denormals())
        return why_set(why, ERR_MISMATCH,
                       "denormal numbers are flushed to zero: results would "
                       "differ from other machines'");
    digest = golden_digest(isa);
    err = check_profile(isa, PROFILE_DENSE_NAME, &digest, &expected, why);
    for (int part = 0; err == ERR_OK && part < GOLDEN_PARTS; part++) {
        const struct digest want = golden_part_expected((enum golden_part)part);

        digest = golden_part_digest((enum golden_part)part, &isa);
        if (digest_equal(&digest, &none))
            return why_set(why, ERR_NOMEM, "out of memory");
        err = check_profile(isa, golden_part_profile((enum golden_part)part),
                            &digest, &want, why);
    }
    return err;
}
