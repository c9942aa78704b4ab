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
 * losses and the rounding of tallies go into one digest; the other parts are in
 * golden_more.c, golden_sums.c, golden_batches.c and softmax_golden.c.
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
#include "math/kernel/softmax.h"

#define SEED       UINT64_C(0x6d7573746572)
#define UNLABELLED 5u /* This row has y = 0: it must add nothing. */
/* Tally bits dropped, so that converting has something to round. */
#define COARSE 40
/* Those that the profile began with; golden_more.c has all. */
#define PLAIN_LOSSES 3u

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
    struct golden_problem problem;
    double g[GOLDEN_STRIDE_MAX];
    struct hasher hasher;

    hasher_init(&hasher);
    for (uint32_t i = 0; i < GOLDEN_PROBLEMS; i++) {
        golden_problem_make(&problem, i);
        for (uint32_t l = 0; l < PLAIN_LOSSES; l++) {
            double loss = 0.0;

            kernel(context, loss_samples[l], &problem.rows, problem.w, g,
                   &loss);
            hasher_add_f64(&hasher, g, problem.rows.stride);
            hasher_add_f64(&hasher, &loss, 1);
            add_tally(&hasher, g, problem.rows.stride);
        }
    }
    return hasher_end(&hasher);
}

static void run_isa(const void *context, struct loss loss,
                    const struct dense_rows *in, const double *w, double *g,
                    double *loss_sum)
{
    const enum isa *isa = context;
    /* Enough for every shape: the larger of a full block and one step. */
    double scratch[4 * GOLDEN_STRIDE_MAX] __attribute__((aligned(64)));

    CHECK(kernel_scratch_bytes(in->stride) <= sizeof scratch);
    kernel_gradient(*isa, loss, in, w, g, loss_sum, scratch);
}

static void run_ref(const void *context, struct loss loss,
                    const struct dense_rows *in, const double *w, double *g,
                    double *loss_sum)
{
    (void)context;
    kernel_gradient_ref(loss, in, w, g, loss_sum);
}

static struct digest plain(const enum isa *isa)
{
    return golden_digest_with(isa != NULL ? run_isa : run_ref, isa);
}

/* A digest changes only together with the profile's name, unless more is
 * covered by it. */
static const struct golden_part parts[] = {
    {PROFILE_DENSE_NAME, plain,
     "89769c6663e8dc3df20abeba402bd3b31c3fef3913ee5fe3c4fc2992742d7f12"},
    {PROFILE_DENSE_NAME, golden_dense,
     "3bb879c1756502f31532ac53786cc9c5a7a652b049629439c7e38b77dd6b9bf0"},
    {PROFILE_DENSE_NAME, golden_wide,
     "8515961fb7846e509c0fddd88b047d2f6461155f5974dec9a2f29ba45ccfc6e2"},
    {PROFILE_DENSE_NAME, golden_stripes,
     "efe24a11ba004a3f4c5c23faa360d7b04d4b0f7cc837d46e879884577df1a60b"},
    {PROFILE_INDEX_NAME, golden_index,
     "47c0bf75a70da8f455e7d4a0cc69f8723b4b703cc2801794de6016903f0ab9d9"},
    {PROFILE_CSR_NAME, golden_csr,
     "db56035ca3ca1b4d0f967eba21d550e758ea1ab1f8ce29095693db5c4dadb4c9"},
    {PROFILE_SOFTMAX_NAME, golden_softmax,
     "45f86f8e4ce78494c112f042fb3b79f3ddebb81855d1dcf282699f118d8dc055"},
    {"vectors-f64-1", golden_vectors,
     "bf3516c58f506c91e669f713fc02b6f2a80704c877e8d4ce17727e6c570b4d89"},
    {"tally-i64-1", golden_tally,
     "0c4f57d1b1a2398ff36d309fbac4297b37b552032fef81352aaeb96272a29113"},
    {"follow-2", golden_follow,
     "2aaaf3924e6d14e4c3c35b4e073c8d3314a1a27b6f610eeca804e7a19ad95177"},
    {"exact-sum-1", golden_exact,
     "4134c80d00bd34ce8223d3d728fc8d21ea7dc67277cd8030d092e2c9423dd806"},
    {"survey-f64-1", golden_survey,
     "72f2293875cfba9ac127f9f5e6a859b22570c247447f75ce2baca6b091a618fe"},
    {"solve-f64-1", golden_solve,
     "7bd2f414bc6821f4600e3fb7026d0b1b703d51ef341fa423c3ecb5a9de37151f"},
    {"batches-1", golden_batches,
     "a41cdc554097cccb1779ab68413457c376a3afc70991306cae45dbebf9a0d387"},
};

const struct golden_part *golden_parts(size_t *count)
{
    *count = sizeof parts / sizeof *parts;
    return parts;
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

enum err golden_check_mode(enum isa isa, struct why *why)
{
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
    return ERR_OK;
}

enum err golden_check_part(const struct golden_part *part, enum isa isa,
                           struct why *why)
{
    const struct digest none = {{0}};
    const struct digest got = part->compute(&isa);
    char text[DIGEST_TEXT];

    if (digest_equal(&got, &none))
        return why_set(why, ERR_NOMEM, "out of memory");
    if (strcmp(digest_text(&got, text), part->expected) == 0)
        return ERR_OK;
    return why_set(why, ERR_MISMATCH,
                   "the %s kernel computes other bits than profile %s asks "
                   "for: was it compiled with -ffast-math or fused "
                   "multiply-add?",
                   isa_name(isa), part->profile);
}

enum err golden_check(enum isa isa, struct why *why)
{
    enum err err = golden_check_mode(isa, why);

    for (size_t i = 0; err == ERR_OK && i < sizeof parts / sizeof *parts; i++)
        err = golden_check_part(&parts[i], isa, why);
    return err;
}
