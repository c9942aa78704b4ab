/*
 * Random chunks are tallied and merged in shuffled orders and groupings: the
 * digest must never change.  Every refusal (overlap, NaN, overflow) must leave
 * the digest as it was; rounding is compared with exact long double results.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <float.h>
#include <math.h>
#include <string.h>

#include "base/rng.h"
#include "math/exact/tally.h"
#include "math/exact/tally_loops.h"
#include "math/kernel/kernel.h"

#define DIMS   37u
#define CHUNKS 24u

struct job {
    double gradient[CHUNKS][DIMS];
    double loss[CHUNKS];
    int16_t exponent[DIMS + 1];
};

static void job_make(struct job *job, uint64_t seed)
{
    double bound[DIMS] = {0};
    struct rng rng;

    rng_init(&rng, seed);
    for (unsigned c = 0; c < CHUNKS; c++) {
        job->loss[c] = ldexp(rng_unit(&rng), (int)rng_between(&rng, -70, 40));
        for (unsigned j = 0; j < DIMS; j++) {
            job->gradient[c][j] =
                ldexp(rng_unit(&rng) - 0.5, (int)rng_between(&rng, -60, 3) * 9);
            bound[j] += fabs(job->gradient[c][j]);
        }
    }
    for (unsigned j = 0; j < DIMS; j++)
        job->exponent[j] = tally_exponent(bound[j] * 1.01);
    job->exponent[DIMS] = tally_loss_exponent(0x1p40 * CHUNKS);
}

static struct tally tally_new(void)
{
    struct tally tally = {0};

    assert_int_equal(tally_init(&tally, DIMS, CHUNKS), ERR_OK);
    return tally;
}

static void add(struct tally *tally, const struct job *job, uint32_t chunk)
{
    assert_int_equal(tally_add_chunk(tally, chunk, job->gradient[chunk],
                                     job->loss[chunk], job->exponent),
                     ERR_OK);
}

static struct digest digest_in_order(const struct job *job)
{
    struct tally tally = tally_new();
    struct digest digest;

    for (uint32_t c = 0; c < CHUNKS; c++)
        add(&tally, job, c);
    assert_true(tally_in_bound(&tally));
    assert_true(chunkset_full(&tally.chunks));
    digest = tally_digest(&tally);
    tally_close(&tally);
    return digest;
}

/* Chunks in random order over four tallies, merged in random order. */
static struct digest digest_shuffled(const struct job *job, struct rng *rng)
{
    struct tally part[4];
    uint32_t order[CHUNKS];
    struct digest digest;

    for (uint32_t c = 0; c < CHUNKS; c++) {
        const uint32_t at = (uint32_t)rng_below(rng, c + 1);

        order[c] = order[at];
        order[at] = c;
    }
    for (unsigned p = 0; p < 4; p++)
        part[p] = tally_new();
    for (uint32_t c = 0; c < CHUNKS; c++)
        add(&part[rng_below(rng, 4)], job, order[c]);
    for (unsigned left = 4; left > 1; left--) {
        const unsigned from = (unsigned)rng_below(rng, left);
        const struct tally moved = part[from];

        part[from] = part[left - 1];
        part[left - 1] = moved;
        assert_int_equal(
            tally_merge(&part[rng_below(rng, left - 1)], &part[left - 1]),
            ERR_OK);
    }
    digest = tally_digest(&part[0]);
    for (unsigned p = 0; p < 4; p++)
        tally_close(&part[p]);
    return digest;
}

static void test_order_is_free(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 40; seed++) {
        struct digest want;
        struct rng rng;
        struct job job;

        job_make(&job, seed);
        want = digest_in_order(&job);
        rng_init(&rng, seed);
        for (unsigned n = 0; n < 10; n++) {
            const struct digest got = digest_shuffled(&job, &rng);

            if (!digest_equal(&want, &got))
                fail_msg("seed %llu: order %u differs",
                         (unsigned long long)seed, n);
        }
    }
}

static void test_digest_sees_all(void **state)
{
    struct tally tally = tally_new();
    struct digest digest[5];
    struct job job;

    (void)state;
    job_make(&job, 1);
    digest[0] = tally_digest(&tally);
    add(&tally, &job, 3);
    digest[1] = tally_digest(&tally);
    tally.sum[DIMS - 1] ^= 1;
    digest[2] = tally_digest(&tally);
    tally.loss += (tally_loss)1 << 100;
    digest[3] = tally_digest(&tally);
    chunkset_add(&tally.chunks, CHUNKS - 1);
    digest[4] = tally_digest(&tally);
    for (unsigned i = 1; i < 5; i++)
        assert_false(digest_equal(&digest[i - 1], &digest[i]));
    tally_clear(&tally);
    digest[1] = tally_digest(&tally);
    assert_true(digest_equal(&digest[0], &digest[1]));
    tally_close(&tally);
}

static void test_overlap_refused(void **state)
{
    struct tally a = tally_new();
    struct tally b = tally_new();
    struct digest before;
    struct digest after;
    struct job job;

    (void)state;
    job_make(&job, 2);
    add(&a, &job, 0);
    add(&a, &job, 5);
    add(&b, &job, 5);
    add(&b, &job, 6);
    before = tally_digest(&a);
    assert_int_equal(tally_merge(&a, &b), ERR_OVERLAP);
    assert_int_equal(
        tally_add_chunk(&a, 5, job.gradient[5], job.loss[5], job.exponent),
        ERR_OVERLAP);
    after = tally_digest(&a);
    assert_true(digest_equal(&before, &after));
    tally_close(&a);
    tally_close(&b);
}

static void test_misfits_refused(void **state)
{
    const double bad[] = {(double)NAN, (double)INFINITY, -(double)INFINITY,
                          0x1p62,      -0x1p62,          DBL_MAX};
    const double bad_loss[] = {(double)NAN, (double)INFINITY, 0x1p110,
                               -0x1p110};
    const int16_t exponent[DIMS + 1] = {0};
    const int16_t tiny[DIMS + 1] = {-1022};
    struct tally tally = tally_new();
    struct digest before;
    struct digest after;
    double gradient[DIMS] = {1.0, -2.0};

    (void)state;
    assert_int_equal(tally_add_chunk(&tally, 1, gradient, 1.0, exponent),
                     ERR_OK);
    before = tally_digest(&tally);
    for (unsigned i = 0; i < sizeof bad / sizeof *bad; i++) {
        for (unsigned j = 0; j < DIMS; j++) {
            const double kept = gradient[j];

            gradient[j] = bad[i];
            assert_int_equal(
                tally_add_chunk(&tally, 2, gradient, 1.0, exponent), ERR_RANGE);
            gradient[j] = kept;
        }
    }
    for (unsigned i = 0; i < sizeof bad_loss / sizeof *bad_loss; i++)
        assert_int_equal(
            tally_add_chunk(&tally, 2, gradient, bad_loss[i], exponent),
            ERR_RANGE);
    gradient[0] = (double)INFINITY; /* However small the scale. */
    assert_int_equal(tally_add_chunk(&tally, 2, gradient, 1.0, tiny),
                     ERR_RANGE);
    after = tally_digest(&tally);
    assert_true(digest_equal(&before, &after));

    gradient[0] = 0x1.fffffffffffffp61; /* The largest that fits. */
    assert_int_equal(
        tally_add_chunk(&tally, 2, gradient, 0x1.fffffffffffffp109, exponent),
        ERR_OK);
    assert_int_equal(tally.sum[0], INT64_C(0x3ffffffffffffe00) + 1);
    tally_close(&tally);
}

/* Liars in every piece there can be: the 128-bit sum does not wrap. */
static void test_losses_do_not_wrap(void **state)
{
    struct tally tally = {0};
    const double gradient[1] = {0.0};
    const int16_t exponent[2] = {0};

    (void)state;
    assert_int_equal(tally_init(&tally, 1, CHUNKS_MAX), ERR_OK);
    for (uint32_t c = 0; c < CHUNKS_MAX; c++)
        assert_int_equal(tally_add_chunk(&tally, c, gradient,
                                         0x1.fffffffffffffp109, exponent),
                         ERR_OK);
    assert_true(tally_loss_value(&tally, exponent) == 0x1.fffffffffffffp125);
    assert_false(tally_in_bound(&tally));
    tally_close(&tally);
}

/* Losses of any size keep all their bits, given the exponent of their bound:
 * also if the bound is far above them, and many are added up. */
static void test_loss_exponents(void **state)
{
    static const int powers[] = {-900, -120, -60, 0, 53, 106, 400, 900};
    const double gradient[1] = {0.0};

    (void)state;
    for (size_t p = 0; p < sizeof powers / sizeof *powers; p++) {
        for (int above = 16; above <= 56; above += 20) {
            const double loss = ldexp(1 + 0x1p-52, powers[p]);
            const int16_t exponent[2] = {
                0, tally_loss_exponent(ldexp(loss, above))};
            struct tally tally = {0};

            assert_int_equal(tally_init(&tally, 1, 3), ERR_OK);
            for (uint32_t c = 0; c < 3; c++)
                assert_int_equal(
                    tally_add_chunk(&tally, c, gradient, loss, exponent),
                    ERR_OK);
            assert_true(tally_in_bound(&tally));
            assert_true(tally_loss_value(&tally, exponent) == 3 * loss);
            tally_close(&tally);
        }
    }
    assert_int_equal(tally_loss_exponent(0), 0);
    assert_int_equal(tally_loss_exponent(1), 109);
    assert_int_equal(tally_loss_exponent(DBL_TRUE_MIN), 1022);
}

static void test_rounding(void **state)
{
    const double values[] = {0.5,
                             1.5,
                             2.5,
                             -0.5,
                             -1.5,
                             -2.5,
                             0x1p51 + 0.5,
                             0x1p51 + 1.5,
                             -0x1p51 - 0.5,
                             0x1p52 + 1.0,
                             0x1p53 + 2.0,
                             0x1.8p60,
                             0.49999999999999994,
                             -0.0,
                             0x1p-1074,
                             1e18,
                             -1e18,
                             0.75};
    const int64_t want[] = {0,
                            2,
                            2,
                            0,
                            -2,
                            -2,
                            INT64_C(1) << 51,
                            (INT64_C(1) << 51) + 2,
                            -(INT64_C(1) << 51),
                            (INT64_C(1) << 52) + 1,
                            (INT64_C(1) << 53) + 2,
                            INT64_C(3) << 59,
                            0,
                            0,
                            0,
                            INT64_C(1000000000000000000),
                            INT64_C(-1000000000000000000),
                            1};
    enum { COUNT = sizeof values / sizeof *values };
    const int16_t shifts[] = {0, 900, -400};
    struct tally tally = {0};

    (void)state;
    for (unsigned s = 0; s < 3; s++) {
        double gradient[COUNT];
        int16_t exponent[COUNT + 1] = {0};

        assert_int_equal(tally_init(&tally, COUNT, 1), ERR_OK);
        for (unsigned j = 0; j < COUNT; j++) {
            exponent[j] = shifts[s];
            gradient[j] = ldexp(values[j], -shifts[s]);
        }
        assert_int_equal(tally_add_chunk(&tally, 0, gradient, 0.0, exponent),
                         ERR_OK);
        assert_memory_equal(tally.sum, want, sizeof want);
        tally_close(&tally);
    }
}

static void test_gradient_back(void **state)
{
    (void)state;
    for (uint64_t seed = 100; seed < 140; seed++) {
        struct tally tally = tally_new();
        double gradient[DIMS];
        long double loss = 0.0L;
        struct job job;

        job_make(&job, seed);
        for (uint32_t c = 0; c < CHUNKS; c++) {
            add(&tally, &job, c);
            loss += (long double)job.loss[c];
        }
        tally_gradient(&tally, job.exponent, gradient);
        for (unsigned j = 0; j < DIMS; j++) {
            long double sum = 0.0L;
            long double bound = 0.0L;

            for (unsigned c = 0; c < CHUNKS; c++) {
                sum += (long double)job.gradient[c][j];
                bound += fabsl((long double)job.gradient[c][j]);
            }
            if (fabsl((long double)gradient[j] - sum) > 2e-16L * bound)
                fail_msg("seed %llu: coordinate %u", (unsigned long long)seed,
                         j);
        }
        if (fabsl((long double)tally_loss_value(&tally, job.exponent) - loss) >
            2e-16L * loss)
            fail_msg("seed %llu: loss", (unsigned long long)seed);
        tally_close(&tally);
    }
}

static void test_loss_fraction(void **state)
{
    struct tally tally = tally_new();
    const double zero[DIMS] = {0};
    const int16_t exponent[DIMS + 1] = {[DIMS] = 60};

    (void)state;
    assert_int_equal(tally_add_chunk(&tally, 0, zero, 0x1p-60, exponent),
                     ERR_OK);
    assert_true(tally.loss == 1);
    assert_int_equal(tally_add_chunk(&tally, 1, zero, 0x1p-61, exponent),
                     ERR_OK); /* Half of it: to even, 0. */
    assert_true(tally.loss == 1);
    assert_int_equal(tally_add_chunk(&tally, 2, zero, -0x1.8p-60, exponent),
                     ERR_OK); /* -1.5: to even, -2. */
    assert_true(tally.loss == -1);
    assert_true(tally_loss_value(&tally, exponent) == -0x1p-60);
    tally_close(&tally);
}

static void test_exponents(void **state)
{
    (void)state;
    assert_int_equal(tally_exponent(0.0), 0);
    assert_int_equal(tally_exponent(1.0), 61);
    assert_int_equal(tally_exponent(0x1.fffffffffffffp-1), 62);
    assert_int_equal(tally_exponent(2.0), 60);
    assert_int_equal(tally_exponent(DBL_MAX), 62 - 1024);
    assert_int_equal(tally_exponent(0x1p-1074), 1022);
    for (int p = -950; p < 1000; p++) {
        const double bound = ldexp(1.7, p);
        const int e = tally_exponent(bound);

        assert_true(ldexp(bound, e) < 0x1p62);
        assert_true(ldexp(bound, e + 1) >= 0x1p62);
    }
}

static void test_bound(void **state)
{
    struct tally tally = tally_new();

    (void)state;
    assert_true(tally_in_bound(&tally));
    tally.sum[DIMS - 1] = (INT64_C(1) << 62) - 1;
    assert_true(tally_in_bound(&tally));
    tally.sum[DIMS - 1] = INT64_C(1) << 62;
    assert_false(tally_in_bound(&tally));
    tally.sum[DIMS - 1] = -(INT64_C(1) << 62);
    assert_false(tally_in_bound(&tally));
    tally.sum[DIMS - 1] = INT64_MIN;
    assert_false(tally_in_bound(&tally));
    tally_close(&tally);
}

/* Copied whole, whatever is found in it; judged by what was copied. */
static void test_take(void **state)
{
    enum { WIDE = 2500 }; /* Several blocks and a bit. */
    static int64_t sum[WIDE];
    struct tally tally = {0};

    (void)state;
    assert_int_equal(tally_init(&tally, WIDE, 1), ERR_OK);
    for (int j = 0; j < WIDE; j++)
        sum[j] = (j % 2 == 0 ? 1 : -1) * ((INT64_C(1) << 62) - 1 - j);
    assert_true(tally_take(&tally, sum));
    assert_memory_equal(tally.sum, sum, sizeof sum);
    for (int j = 0; j < WIDE; j += 7) {
        const int64_t good = sum[j];

        sum[j] = j % 2 == 0 ? INT64_C(1) << 62 : INT64_MIN;
        assert_false(tally_take(&tally, sum));
        assert_memory_equal(tally.sum, sum, sizeof sum);
        sum[j] = good;
    }
    tally_close(&tally);
}

static void soil(struct tally *tally)
{
    for (unsigned j = 0; j < tally->dims; j++)
        tally->sum[j] = 77 - (int64_t)j;
    tally_blank(tally);
}

static void assert_digest(const struct tally *tally,
                          const struct digest *expected)
{
    const struct digest got = tally_digest(tally);

    assert_true(digest_equal(&got, expected));
}

/* Whatever lay in the sums: blank tallies come out as cleared ones do, added
 * to, merged from and merged into. */
static void test_blank_stands_for_zeros(void **state)
{
    struct tally tally = tally_new();
    struct tally other = tally_new();
    struct tally none = tally_new();
    struct digest digest;
    struct job job;

    (void)state;
    job_make(&job, 5);
    digest = digest_in_order(&job);
    soil(&tally);
    soil(&other);
    soil(&none);
    for (uint32_t c = 0; c < CHUNKS; c++)
        add(&other, &job, c);
    assert_int_equal(tally_merge(&other, &none), ERR_OK);
    assert_digest(&other, &digest);
    assert_int_equal(tally_merge(&tally, &other), ERR_OK);
    assert_digest(&tally, &digest);
    tally_fill(&none);
    for (unsigned j = 0; j < DIMS; j++)
        assert_int_equal(none.sum[j], 0);
    tally_close(&tally);
    tally_close(&other);
    tally_close(&none);
}

/* In parts, as kernels of long rows do, and taken back where the rest does not
 * fit. */
static void test_put_and_taken_back(void **state)
{
    enum { FIRST = 16 };
    struct tally tally = tally_new();
    struct job job;
    struct digest before;

    (void)state;
    job_make(&job, 6);
    add(&tally, &job, 0);
    before = tally_digest(&tally);
    assert_true(tally_put(&tally, 0, FIRST, job.gradient[1], job.exponent));
    tally_take_back(&tally, 0, FIRST, job.gradient[1], job.exponent);
    assert_digest(&tally, &before);
    assert_true(tally_put(&tally, 0, FIRST, job.gradient[1], job.exponent));
    assert_true(tally_put(&tally, FIRST, DIMS - FIRST, job.gradient[1] + FIRST,
                          job.exponent));
    tally_mark(&tally, job.exponent, 1, job.loss[1]);
    for (uint32_t c = 2; c < CHUNKS; c++)
        add(&tally, &job, c);
    before = digest_in_order(&job);
    assert_digest(&tally, &before);
    before = tally_digest(&tally);
    job.gradient[1][FIRST] = (double)NAN;
    assert_false(
        tally_put(&tally, FIRST, 8, job.gradient[1] + FIRST, job.exponent));
    assert_digest(&tally, &before);
    tally_close(&tally);
}

/* Judged and added in one: the same as one after the other, and nothing at all
 * if some sum is out of bound. */
static void test_absorb(void **state)
{
    enum { WIDE = 2500 };
    static int64_t sum[WIDE];
    struct tally into = {0}, from = {0};

    (void)state;
    assert_int_equal(tally_init(&into, WIDE, 3), ERR_OK);
    assert_int_equal(tally_init(&from, WIDE, 3), ERR_OK);
    tally_blank(&into);
    for (uint32_t chunk = 0; chunk < 2; chunk++) {
        for (int j = 0; j < WIDE; j++)
            sum[j] = (chunk == 0 ? 1 : -3) * (int64_t)j * (INT64_C(1) << 40);
        chunkset_clear(&from.chunks);
        chunkset_add(&from.chunks, chunk);
        from.loss = 5;
        assert_true(tally_absorb(&into, &from, sum));
    }
    for (int j = 0; j < WIDE; j++)
        assert_int_equal(into.sum[j], -2 * (int64_t)j * (INT64_C(1) << 40));
    assert_true(into.loss == 10 && into.chunks.members == 2);
    for (int j = 0; j < WIDE; j += 311) {
        const int64_t good = sum[j];
        const struct digest before = tally_digest(&into);

        sum[j] = j % 2 == 0 ? INT64_C(1) << 62 : INT64_MIN;
        chunkset_clear(&from.chunks);
        chunkset_add(&from.chunks, 2);
        assert_false(tally_absorb(&into, &from, sum));
        assert_digest(&into, &before);
        sum[j] = good;
    }
    tally_close(&into);
    tally_close(&from);
}

enum { MANY_DIMS = 1300, MANY = 9 };

static int64_t many[MANY][MANY_DIMS];

static void draw_many(uint64_t seed)
{
    struct rng rng;

    rng_init(&rng, seed);
    for (uint32_t i = 0; i < MANY; i++) {
        for (uint32_t j = 0; j < MANY_DIMS; j++)
            many[i][j] = (int64_t)rng_next(&rng) >> 2; /* Just in bound. */
    }
}

/* One pass over several: the same bits as one after the other, from nothing and
 * from something, whatever loop does it. */
static void test_join_many(void **state)
{
    static int64_t want[MANY_DIMS], got[MANY_DIMS], old[MANY_DIMS];
    const struct tally_ops *const loops[] = {
        tally_ops_of(ISA_PORTABLE),
        tally_ops_of(isa_best()),
    };
    const int64_t *sums[MANY];

    (void)state;
    draw_many(1);
    for (uint32_t i = 0; i < MANY; i++)
        sums[i] = many[i];
    for (uint32_t j = 0; j < MANY_DIMS; j++)
        old[j] = INT64_MAX - j;
    for (size_t l = 0; l < sizeof loops / sizeof *loops; l++) {
        for (uint32_t dims = MANY_DIMS; dims > 0; dims = dims * 2 / 3) {
            for (uint32_t j = 0; j < dims; j++) {
                want[j] = old[j];
                for (uint32_t i = 0; i < MANY; i++)
                    want[j] =
                        (int64_t)((uint64_t)want[j] + (uint64_t)sums[i][j]);
            }
            assert_int_equal(
                tally_join_many(loops[l], old, sums, MANY, got, dims), 0);
            assert_memory_equal(got, want, dims * sizeof *got);
            for (uint32_t j = 0; j < dims; j++)
                want[j] = (int64_t)((uint64_t)want[j] - (uint64_t)old[j]);
            assert_int_equal(
                tally_join_many(loops[l], NULL, sums, MANY, got, dims), 0);
            assert_memory_equal(got, want, dims * sizeof *got);
            /* The last of one, the first of another. */
            many[3][dims - 1] ^= INT64_MIN;
            many[8][0] = INT64_C(1) << 62;
            assert_int_equal(
                tally_join_many(loops[l], old, sums, MANY, got, dims),
                1u << 3 | 1u << 8);
            draw_many(1);
        }
    }
}

/* Any number of them, each with each kind of sum that is in bound or not, in a
 * whole register, in the rest of one and at the ends of blocks. */
static void test_join_bounds(void **state)
{
    static const struct {
        int64_t sum;
        bool good;
    } cases[] = {
        {(INT64_C(1) << 62) - 1, true},
        {1 - (INT64_C(1) << 62), true},
        {INT64_C(1) << 62, false},
        {-(INT64_C(1) << 62), false},
        {INT64_MAX, false},
        {INT64_MIN, false},
        {INT64_MIN + 1, false},
    };
    static const uint32_t places[] = {0, 7, 8, 255, 256, 1290};
    static int64_t got[MANY_DIMS];
    const struct tally_ops *const loops[] = {
        tally_ops_of(ISA_PORTABLE),
        tally_ops_of(isa_best()),
    };
    const int64_t *sums[MANY];

    (void)state;
    memset(many, 0, sizeof many);
    for (uint32_t i = 0; i < MANY; i++)
        sums[i] = many[i];
    for (uint32_t at = 0; at < 2 * MANY * MANY * 6 * 7; at++) {
        const struct tally_ops *const ops = loops[at % 2];
        const uint32_t count = at / 2 % MANY + 1, i = at / 2 / MANY % MANY;
        const uint32_t j = places[at / 2 / MANY / MANY % 6];
        const size_t k = at / 2 / MANY / MANY / 6;

        many[i][j] = cases[k].sum;
        assert_int_equal(tally_join_many(ops, NULL, sums, count, got, 1291),
                         i < count && !cases[k].good ? UINT64_C(1) << i : 0);
        if (i < count && cases[k].good)
            assert_int_equal(got[j], cases[k].sum);
        many[i][j] = 0;
    }
}

/* All claims at once against one by one, number i being good if bit i of `bad`
 * is 0; the bad sum at coordinate `at`. */
static void check_many(uint32_t bad, uint32_t at, bool blank)
{
    struct tally into = {0}, room = {0}, one = {0}, from = {0};
    struct tally_claim claims[MANY];
    struct digest want, got;

    assert_int_equal(tally_init(&into, MANY_DIMS, 2 * MANY + 1), ERR_OK);
    assert_int_equal(tally_init(&room, MANY_DIMS, 2 * MANY + 1), ERR_OK);
    assert_int_equal(tally_init(&one, MANY_DIMS, 2 * MANY + 1), ERR_OK);
    assert_int_equal(tally_init(&from, MANY_DIMS, 2 * MANY + 1), ERR_OK);
    draw_many(bad + at);
    tally_clear(&room);
    if (blank) {
        tally_blank(&into);
        tally_blank(&one);
    } else {
        chunkset_add(&room.chunks, 2 * MANY);
        memcpy(room.sum, many[4], sizeof many[4]);
        assert_int_equal(tally_merge(&into, &room), ERR_OK);
        assert_int_equal(tally_merge(&one, &room), ERR_OK);
    }
    for (uint32_t i = 0; i < MANY; i++) {
        if ((bad >> i & 1) != 0)
            many[i][at] = i % 2 == 0 ? INT64_C(1) << 62 : INT64_MIN;
        claims[i] = (struct tally_claim){
            .sum = many[i], .first = 2 * i, .end = 2 * i + 2, .loss = i};
        chunkset_clear(&from.chunks);
        chunkset_add_range(&from.chunks, 2 * i, 2 * i + 2);
        from.loss = i;
        assert_int_equal(tally_absorb(&one, &from, many[i]),
                         (bad >> i & 1) == 0);
    }
    tally_absorb_many(&into, &room, claims, MANY, NULL);
    for (uint32_t i = 0; i < MANY; i++)
        assert_int_equal(claims[i].good, (bad >> i & 1) == 0);
    assert_int_equal(into.blank, one.blank);
    tally_fill(&into);
    tally_fill(&one);
    want = tally_digest(&one);
    got = tally_digest(&into);
    assert_true(digest_equal(&got, &want));
    tally_close(&into);
    tally_close(&room);
    tally_close(&one);
    tally_close(&from);
}

static void test_absorb_many(void **state)
{
    static const uint32_t places[] = {0, 255, 256, 700, MANY_DIMS - 1};

    (void)state;
    for (size_t p = 0; p < sizeof places / sizeof *places; p++) {
        for (uint32_t bad = 0; bad < 1u << MANY; bad += bad < 20 ? 1 : 7) {
            check_many(bad, places[p], true);
            check_many(bad, places[p], false);
        }
        check_many((1u << MANY) - 1, places[p], true);
        check_many((1u << MANY) - 1, places[p], false);
    }
}

/* A loss beyond what any bound allows spoils its claim alone. */
static void test_absorb_many_losses(void **state)
{
    struct tally into = {0}, room = {0};
    struct tally_claim claims[2];

    (void)state;
    draw_many(2);
    assert_int_equal(tally_init(&into, MANY_DIMS, 4), ERR_OK);
    assert_int_equal(tally_init(&room, MANY_DIMS, 4), ERR_OK);
    tally_blank(&into);
    claims[0] = (struct tally_claim){.sum = many[0],
                                     .first = 0,
                                     .end = 1,
                                     .loss = (tally_loss)1 << TALLY_LOSS_BITS};
    claims[1] = (struct tally_claim){
        .sum = many[1], .first = 1, .end = 4, .loss = claims[0].loss - 1};
    tally_absorb_many(&into, &room, claims, 2, NULL);
    assert_false(claims[0].good);
    assert_true(claims[1].good);
    assert_int_equal(into.chunks.members, 3);
    assert_true(into.loss == claims[1].loss);
    assert_memory_equal(into.sum, many[1], sizeof many[1]);
    tally_close(&into);
    tally_close(&room);
}

enum { PACKED_DIMS = 2500 };

/* Packed sums of one chunk, and where they come from. */
struct parcel {
    int64_t sum[PACKED_DIMS];
    uint8_t bytes[9 * PACKED_DIMS];
    struct packed packed;
    struct tally from;
};

static void wrap(struct parcel *parcel, uint32_t chunk)
{
    const size_t size = pack_i64(parcel->sum, PACKED_DIMS, parcel->bytes);

    assert_true(pack_bound(PACKED_DIMS) <= sizeof parcel->bytes);
    assert_int_equal(
        packed_find(parcel->bytes, size, PACKED_DIMS, &parcel->packed), ERR_OK);
    chunkset_clear(&parcel->from.chunks);
    chunkset_add(&parcel->from.chunks, chunk);
    parcel->from.loss = 5;
}

/* Nothing happens, whether there was nothing before or something. */
static void assert_refused(struct tally *into, struct parcel *parcel)
{
    const struct digest before = tally_digest(into);
    struct tally empty = {0};

    assert_false(tally_absorb_packed(into, &parcel->from, &parcel->packed));
    assert_digest(into, &before);
    assert_int_equal(tally_init(&empty, PACKED_DIMS, 3), ERR_OK);
    tally_blank(&empty);
    assert_false(tally_absorb_packed(&empty, &parcel->from, &parcel->packed));
    assert_true(empty.blank);
    assert_int_equal(empty.chunks.members, 0);
    assert_false(tally_take_packed(&empty, &parcel->packed));
    tally_close(&empty);
}

static void test_absorb_packed(void **state)
{
    static struct parcel parcel;
    struct tally into = {0}, plain = {0};
    struct rng rng;

    (void)state;
    rng_init(&rng, 8);
    assert_int_equal(tally_init(&into, PACKED_DIMS, 3), ERR_OK);
    assert_int_equal(tally_init(&plain, PACKED_DIMS, 3), ERR_OK);
    assert_int_equal(tally_init(&parcel.from, PACKED_DIMS, 3), ERR_OK);
    tally_blank(&into);
    tally_blank(&plain);
    for (uint32_t chunk = 0; chunk < 2; chunk++) {
        struct digest want;

        for (uint32_t j = 0; j < PACKED_DIMS; j++)
            parcel.sum[j] = (int64_t)rng_next(&rng) >> (j / 50 + 2);
        wrap(&parcel, chunk);
        assert_true(tally_absorb_packed(&into, &parcel.from, &parcel.packed));
        assert_true(tally_take_packed(&parcel.from, &parcel.packed));
        assert_int_equal(tally_merge(&plain, &parcel.from), ERR_OK);
        want = tally_digest(&plain);
        assert_digest(&into, &want);
    }
    for (uint32_t j = 0; j < PACKED_DIMS; j += 311) {
        const int64_t good = parcel.sum[j];

        /* The least that is too much, either way. */
        parcel.sum[j] = (j % 2 == 0 ? 1 : -1) * (INT64_C(1) << 62);
        wrap(&parcel, 2);
        assert_refused(&into, &parcel);
        parcel.sum[j] = good;
    }
    tally_close(&into);
    tally_close(&plain);
    tally_close(&parcel.from);
}

/* A width more than need be: in the first block, in one in the middle, whose
 * lane is a byte longer then, in the last. */
static void test_absorb_unpackable(void **state)
{
    static struct parcel parcel;
    struct tally into = {0};

    (void)state;
    assert_int_equal(tally_init(&into, PACKED_DIMS, 3), ERR_OK);
    assert_int_equal(tally_init(&parcel.from, PACKED_DIMS, 3), ERR_OK);
    for (uint32_t j = 0; j < PACKED_DIMS; j++)
        parcel.sum[j] = j;
    for (uint32_t block = 0; block < PACKED_DIMS / PACK_BLOCK; block += 13) {
        wrap(&parcel, 2);
        parcel.bytes[block]++;
        /* It takes in what belongs to the next. */
        assert_int_equal(packed_find(parcel.bytes, sizeof parcel.bytes,
                                     PACKED_DIMS, &parcel.packed),
                         ERR_OK);
        assert_refused(&into, &parcel);
    }
    tally_close(&into);
    tally_close(&parcel.from);
}

enum { LONG_DIMS = 40 * 1024 + 37 };

/* Items from the last to the first, as several threads might. */
static void run_backwards(struct pool *pool, pool_item item, void *context,
                          uint32_t items)
{
    for (uint32_t i = items; i-- > 0;)
        item(context, i % pool->threads, i);
}

/* Packed sums onto others, whole and by slices; what is out of bound, alone or
 * together with what is there, is found in any of them. */
static void test_add_packed(void **state)
{
    static int64_t sum[LONG_DIMS], want[LONG_DIMS], out[LONG_DIMS];
    static uint8_t bytes[9 * LONG_DIMS];
    struct pool backwards = {.threads = 2, .run = run_backwards};
    const int64_t most = (INT64_C(1) << TALLY_BITS) - 1;
    struct packed packed;
    struct rng rng;

    (void)state;
    rng_init(&rng, 11);
    for (uint32_t j = 0; j < LONG_DIMS; j++) {
        sum[j] = (int64_t)rng_next(&rng) >> (j / 700 % 50 + 7);
        want[j] = 3 * sum[j];
    }
    assert_true(pack_bound(LONG_DIMS) <= sizeof bytes);
    for (int pooled = 0; pooled < 2; pooled++) {
        struct pool *const pool = pooled == 1 ? &backwards : NULL;
        const size_t size = pack_i64(sum, LONG_DIMS, bytes);

        assert_int_equal(packed_find(bytes, size, LONG_DIMS, &packed), ERR_OK);
        memset(out, 1, sizeof out);
        assert_true(tally_add_packed(&packed, true, pool, out));
        assert_memory_equal(out, sum, sizeof sum);
        assert_true(tally_add_packed(&packed, false, pool, out));
        assert_true(tally_add_in_bound(sum, LONG_DIMS, false, out));
        assert_memory_equal(out, want, sizeof want);
        for (uint32_t j = 0; j < LONG_DIMS; j += 5003) {
            out[j] = most - sum[j]; /* The most that still fits, ... */
            assert_true(tally_add_packed(&packed, false, pool, out));
            out[j] = most - sum[j] + 1; /* ... and one more. */
            memset(out, 0, j * sizeof *out);
            assert_false(tally_add_packed(&packed, false, pool, out));
            out[j] = most - sum[j] + 1;
            assert_false(tally_add_in_bound(sum, LONG_DIMS, false, out));
            memset(out, 0, sizeof out);
        }
        bytes[LONG_DIMS / PACK_BLOCK / 2]++; /* No writer's width. */
        assert_int_equal(packed_find(bytes, sizeof bytes, LONG_DIMS, &packed),
                         ERR_OK);
        assert_false(tally_add_packed(&packed, true, pool, out));
        assert_false(tally_add_packed(&packed, false, pool, out));
    }
    sum[LONG_DIMS - 1] = most + 1;
    assert_false(tally_add_in_bound(sum, LONG_DIMS, true, out));
    assert_int_equal(
        packed_find(bytes, pack_i64(sum, LONG_DIMS, bytes), LONG_DIMS, &packed),
        ERR_OK);
    assert_false(tally_add_packed(&packed, true, NULL, out));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_order_is_free),
        cmocka_unit_test(test_digest_sees_all),
        cmocka_unit_test(test_overlap_refused),
        cmocka_unit_test(test_misfits_refused),
        cmocka_unit_test(test_losses_do_not_wrap),
        cmocka_unit_test(test_loss_exponents),
        cmocka_unit_test(test_rounding),
        cmocka_unit_test(test_gradient_back),
        cmocka_unit_test(test_loss_fraction),
        cmocka_unit_test(test_exponents),
        cmocka_unit_test(test_bound),
        cmocka_unit_test(test_take),
        cmocka_unit_test(test_blank_stands_for_zeros),
        cmocka_unit_test(test_put_and_taken_back),
        cmocka_unit_test(test_absorb),
        cmocka_unit_test(test_join_many),
        cmocka_unit_test(test_join_bounds),
        cmocka_unit_test(test_absorb_many),
        cmocka_unit_test(test_absorb_many_losses),
        cmocka_unit_test(test_absorb_packed),
        cmocka_unit_test(test_absorb_unpackable),
        cmocka_unit_test(test_add_packed),
    };

    return cmocka_run_group_tests_name("math/exact/tally", tests, NULL, NULL);
}
