/*
 * The scale that follows the sizes seen: what fits, what is refused, where the
 * next scale lies, and that a sum of all chunks never leaves its 62 bits.
 */
#include "math/exact/follow.h"

#include <float.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/chunkset.h"
#include "math/exact/tally.h"

enum { DIMS = 3, WEIGHTS = 2 * DIMS + 1 };

static struct follow open_follow(uint32_t chunks)
{
    struct follow follow;

    assert_int_equal(follow_init(&follow, DIMS, chunks), ERR_OK);
    return follow;
}

static void exponents_of(struct follow *follow, int16_t *exponent)
{
    static const double w[1000000 + FOLLOW_SIZES_MAX];
    const struct evaluation what = {.kind = EVALUATE_GRADIENT, .w = w};

    assert_int_equal(scale_exponents(&follow->scale, &what, exponent), ERR_OK);
}

static enum scale_verdict refuse(struct follow *follow)
{
    return scale_refused(&follow->scale, EVALUATE_GRADIENT);
}

static enum scale_verdict take(struct follow *follow, double *sums)
{
    return scale_stands(&follow->scale, EVALUATE_GRADIENT, sums);
}

/* One evaluation of equal chunks, to its end; returns how many attempts. */
static uint32_t evaluate(struct follow *follow, const double *chunk,
                         enum scale_verdict *verdict)
{
    uint32_t attempts = 0;

    do {
        double values[WEIGHTS];
        int16_t exponent[WEIGHTS + 1];

        attempts++;
        exponents_of(follow, exponent);
        memcpy(values, chunk, DIMS * sizeof *chunk);
        if (!follow_measure(DIMS, follow->chunks, exponent, 0, values)) {
            *verdict = refuse(follow);
            continue;
        }
        for (int j = 0; j < WEIGHTS; j++)
            values[j] *= follow->chunks;
        *verdict = take(follow, values);
    } while (*verdict == SCALE_AGAIN);
    return attempts;
}

/* All chunks at the very limit: the tally is still in bound. */
static void test_no_sum_overflows(void **state)
{
    static const uint32_t counts[] = {1, 2, 3, 2048, 2049, CHUNKS_MAX};

    (void)state;
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
        struct follow follow = open_follow(counts[i]);
        struct tally tally;
        int16_t exponent[WEIGHTS + 1];
        double values[WEIGHTS] = {0};

        exponents_of(&follow, exponent);
        assert_int_equal(tally_init(&tally, WEIGHTS, counts[i]), ERR_OK);
        values[0] = 0x1p40;
        assert_false(follow_measure(DIMS, counts[i], exponent, 0, values));
        values[0] = 0x1p40 * (1 - 0x1p-40);
        values[1] = -values[0];
        assert_true(follow_measure(DIMS, counts[i], exponent, 0, values));
        assert_true(values[DIMS] >= values[0]);
        assert_true(values[DIMS + 1] >= values[0]);
        for (uint32_t k = 0; k < counts[i]; k++)
            assert_int_equal(tally_add_chunk(&tally, k, values, 0, exponent),
                             ERR_OK);
        assert_true(tally_in_bound(&tally));
        assert_true(counts[i] < 2048 || tally.sum[0] > INT64_C(1) << 60);
        tally_close(&tally);
        follow_close(&follow);
    }
}

static void test_measure_refuses(void **state)
{
    static const double bad[] = {(double)NAN, HUGE_VAL, -HUGE_VAL, 1e300};
    struct follow follow = open_follow(4);
    int16_t exponent[WEIGHTS + 1];

    (void)state;
    exponents_of(&follow, exponent);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        double values[WEIGHTS] = {1, bad[i], 2};

        assert_false(follow_measure(DIMS, 4, exponent, 0, values));
    }
    /* However small, it has a size: 0 means 0. */
    {
        double values[WEIGHTS] = {DBL_TRUE_MIN, 0, -1e-300};

        assert_true(follow_measure(DIMS, 4, exponent, 0, values));
        assert_true(values[DIMS] > 0);
        assert_true(values[DIMS + 1] == 0);
        assert_true(values[DIMS + 2] > 0);
    }
    follow_close(&follow);
}

/* From any start any size is found, soon, and then the same point always
 * fits at once, with many bits. */
static void test_finds_the_scale(void **state)
{
    static const double sizes[] = {1e-250, 1e-30, 1e-3, 1, 1e9, 1e30, 1e290};
    struct follow follow = open_follow(64);

    (void)state;
    for (size_t i = 0; i < 7 * 7; i++) {
        const double size = sizes[i % 2 == 0 ? i / 7 : i % 7];
        const double chunk[DIMS] = {size, -size / 3, size * 1e-3};
        int16_t exponent[WEIGHTS + 1];
        enum scale_verdict verdict;

        assert_in_range(evaluate(&follow, chunk, &verdict), 1, 60);
        assert_int_equal(verdict, SCALE_STANDS);
        assert_int_equal(evaluate(&follow, chunk, &verdict), 1);
        assert_int_equal(verdict, SCALE_STANDS);
        exponents_of(&follow, exponent);
        for (int j = 0; j < DIMS; j++) /* 47 less 6 for 64 chunks, rounded. */
            assert_true(fabs(chunk[j]) * ldexp(1, exponent[j]) >= 0x1p39);
    }
    follow_close(&follow);
}

static void test_zero_stands(void **state)
{
    const double chunk[DIMS] = {0};
    struct follow follow = open_follow(64);
    enum scale_verdict verdict;

    (void)state;
    assert_int_equal(evaluate(&follow, chunk, &verdict), 1);
    assert_int_equal(verdict, SCALE_STANDS);
    follow_close(&follow);
}

/* What fits no scale is given up soon, and leaves no trace. */
/* Of chunks whose sizes are all one step of the grid, as in a first evaluation,
 * a numeric code may say a bit more or less than their number of steps. */
static void test_rounding_does_not_move_it(void **state)
{
    static const double errors[] = {0, DBL_EPSILON, -DBL_EPSILON / 2, -1e-13,
                                    1e-13};
    int16_t exact[WEIGHTS + 1];

    (void)state;
    for (size_t i = 0; i < sizeof errors / sizeof *errors; i++) {
        struct follow follow = open_follow(8);
        double sums[WEIGHTS] = {0};
        int16_t exponent[WEIGHTS + 1];

        exponents_of(&follow, exponent);
        for (int j = DIMS; j < WEIGHTS; j++)
            sums[j] = ldexp(8 * (1 + errors[i]), -exponent[j]);
        assert_int_equal(take(&follow, sums), SCALE_AGAIN);
        exponents_of(&follow, i == 0 ? exact : exponent);
        assert_true(i == 0 || memcmp(exponent, exact, sizeof exact) == 0);
        follow_close(&follow);
    }
}

static void test_hopeless(void **state)
{
    const double bad[DIMS] = {1, (double)NAN, 1};
    const double good[DIMS] = {1, 2, 3};
    struct follow one = open_follow(8);
    struct follow two = open_follow(8);
    int16_t a[WEIGHTS + 1], b[WEIGHTS + 1];
    enum scale_verdict verdict;

    (void)state;
    (void)evaluate(&one, good, &verdict);
    assert_in_range(evaluate(&one, bad, &verdict), 2, 10);
    assert_int_equal(verdict, SCALE_HOPELESS);
    (void)evaluate(&two, good, &verdict);
    scale_begin(&two.scale);
    exponents_of(&one, a);
    exponents_of(&two, b);
    assert_memory_equal(a, b, sizeof a);
    follow_close(&one);
    follow_close(&two);
}

static void test_no_function(void **state)
{
    struct follow follow = open_follow(8);
    double sums[WEIGHTS] = {0};

    (void)state;
    /* Fitted to sums of 8; then a chunk beyond 2^7. */
    sums[DIMS] = sums[DIMS + 1] = sums[DIMS + 2] = 8;
    assert_int_equal(take(&follow, sums), SCALE_AGAIN);
    assert_int_equal(refuse(&follow), SCALE_NO_FUNCTION);
    /* Refused, and then far below what was refused. */
    scale_begin(&follow.scale);
    assert_int_equal(refuse(&follow), SCALE_AGAIN);
    assert_int_equal(take(&follow, sums), SCALE_NO_FUNCTION);
    follow_close(&follow);
}

/* Losses of chunks that cancel, wholly or nearly, are as large as they are: no
 * scale is fitted to what is left of them. */
static void test_losses_may_cancel(void **state)
{
    static const double losses[][DIMS] = {{.3, .1, -.4},
                                          {1e6, -1e6, 1e-9},
                                          {1e300, -1e300, 1},
                                          {1e-200, -1e-200}};

    (void)state;
    for (size_t i = 0; i < sizeof losses / sizeof *losses; i++) {
        struct follow follow = open_follow(3);
        enum scale_verdict verdict;

        do {
            double sums[WEIGHTS] = {0};
            int16_t exponent[WEIGHTS + 1];
            bool fits = true;

            exponents_of(&follow, exponent);
            for (int k = 0; fits && k < 3; k++) {
                double values[WEIGHTS] = {1, 1, 1};

                fits = follow_measure(DIMS, 3, exponent, losses[i][k], values);
                for (int j = 0; j < WEIGHTS; j++)
                    sums[j] += values[j];
            }
            verdict = fits ? take(&follow, sums) : refuse(&follow);
        } while (verdict == SCALE_AGAIN);
        assert_int_equal(verdict, SCALE_STANDS);
        follow_close(&follow);
    }
}

/* A checkpoint in the middle of an evaluation is that of its beginning. */
static void test_save_and_load(void **state)
{
    const double chunk[DIMS] = {1, 2, 1e-3};
    const double large[DIMS] = {1e20, 2, 1e-3};
    struct follow one = open_follow(8);
    struct follow two = open_follow(8);
    uint8_t bytes[64];
    struct writer out = writer_on(bytes, sizeof bytes);
    struct reader in;
    enum scale_verdict verdict;
    int16_t before[WEIGHTS + 1], after[WEIGHTS + 1];

    (void)state;
    (void)evaluate(&one, chunk, &verdict);
    exponents_of(&one, before);
    assert_int_equal(refuse(&one), SCALE_AGAIN);
    scale_save(&one.scale, &out);
    assert_true(out.ok);
    assert_int_equal(out.size, scale_bytes(&one.scale));
    in = reader_on(bytes, out.size);
    assert_int_equal(scale_load(&two.scale, &in), ERR_OK);
    exponents_of(&two, after);
    assert_memory_equal(before, after, sizeof before);
    assert_true(evaluate(&two, large, &verdict) > 1);
    assert_int_equal(verdict, SCALE_STANDS);
    in = reader_on(bytes, out.size - 1);
    assert_int_equal(scale_load(&two.scale, &in), ERR_FORMAT);
    bytes[0] ^= 1;
    in = reader_on(bytes, out.size);
    assert_int_equal(scale_load(&two.scale, &in), ERR_FORMAT);
    follow_close(&one);
    follow_close(&two);
}

static void test_blocks(void **state)
{
    struct follow follow;

    (void)state;
    assert_int_equal(follow_dims(1), 3);
    assert_int_equal(follow_dims(4096), 8193);
    assert_int_equal(follow_dims(4097), 4097 + 2050);
    assert_int_equal(follow_dims(1000000), 1000000 + 4083);
    assert_int_equal(follow_init(&follow, 1000000, 3), ERR_OK);
    assert_int_equal(follow.blocks, 4082);
    follow_close(&follow);
}

/* Tensors: a block each, and coordinates have the exponent of their own. */
static void test_borders(void **state)
{
    static const uint32_t end[] = {2, 3, 7};
    enum { BLOCKS = 3, ALL = 7 + BLOCKS + 1, BITS = 30 };
    double sums[ALL] = {0};
    int16_t exponent[ALL + 1];
    struct follow follow;

    (void)state;
    assert_int_equal(follow_init_blocks(&follow, end, BLOCKS, BITS, 8), ERR_OK);
    for (int round = 0; round < 2; round++) {
        sums[7] = 1;
        sums[8] = 0x1p-6;
        sums[9] = 0x1p6;
        sums[10] = 3;
        assert_int_equal(take(&follow, sums),
                         round == 0 ? SCALE_AGAIN : SCALE_STANDS);
    }
    exponents_of(&follow, exponent);
    for (int j = 0; j < 2; j++)
        assert_int_equal(exponent[j], BITS - 4);
    assert_int_equal(exponent[2], BITS + 2);
    for (int j = 3; j < 7; j++)
        assert_int_equal(exponent[j], BITS - 10);
    assert_memory_equal(exponent + 7,
                        ((int16_t[]){BITS - 4, BITS + 2, BITS - 10, BITS - 6}),
                        4 * sizeof *exponent);
    follow_close(&follow);
}

/* Few bits, blocks of different sizes: no sum of the first evaluation is
 * coarse, and that a block falls alone later on costs nothing. */
static void test_first_has_bits_everywhere(void **state)
{
    static const uint32_t end[] = {1, 2};
    static const double size[] = {8, 0x1p-9};
    uint32_t attempts = 0;
    enum scale_verdict verdict;
    struct follow follow;
    int16_t exponent[6];

    (void)state;
    assert_int_equal(follow_init_blocks(&follow, end, 2, 30, 4), ERR_OK);
    do {
        double sums[5] = {0};

        exponents_of(&follow, exponent);
        for (int b = 0; b < 2; b++)
            sums[2 + b] = 4 * ldexp(ceil(ldexp(size[b], exponent[2 + b])),
                                    -exponent[2 + b]);
        verdict = take(&follow, sums);
        attempts++;
    } while (verdict == SCALE_AGAIN);
    assert_int_equal(verdict, SCALE_STANDS);
    assert_int_equal(attempts, 3);
    for (int b = 0; b < 2; b++)
        assert_true(4 * ldexp(size[b], exponent[2 + b]) >= 0x1p24);
    {
        double sums[5] = {0, 0, 32, 4 * ldexp(1, -exponent[3]), 0};

        assert_int_equal(take(&follow, sums), SCALE_STANDS);
    }
    follow_close(&follow);
}

static void test_measure_loss(void **state)
{
    int64_t units = 0;

    (void)state;
    assert_int_equal(follow_bits(51, 8), 51);
    assert_int_equal(follow_bits(51, 4096), 50);
    assert_true(follow_measure_loss(10, 8, 3, -1.01, &units));
    assert_int_equal(units, 9);
    assert_true(follow_measure_loss(10, 8, 0, 1023, &units));
    assert_false(follow_measure_loss(10, 8, 0, 1023.5, &units));
    assert_false(follow_measure_loss(10, 8, 0, (double)NAN, &units));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_no_sum_overflows),
        cmocka_unit_test(test_measure_refuses),
        cmocka_unit_test(test_finds_the_scale),
        cmocka_unit_test(test_zero_stands),
        cmocka_unit_test(test_rounding_does_not_move_it),
        cmocka_unit_test(test_hopeless),
        cmocka_unit_test(test_no_function),
        cmocka_unit_test(test_losses_may_cancel),
        cmocka_unit_test(test_save_and_load),
        cmocka_unit_test(test_blocks),
        cmocka_unit_test(test_borders),
        cmocka_unit_test(test_first_has_bits_everywhere),
        cmocka_unit_test(test_measure_loss),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
