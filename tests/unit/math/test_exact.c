/*
 * Sums rounded once: against the answers of Python's math.fsum, the oracle
 * against the fast ways on awkward numbers, every order of the rows, and every
 * instruction set.
 */
#include "math/exact/exact.h"

#include <float.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/rng.h"
#include "math/exact/exact_parts.h"

#define COUNT(list) (sizeof(list) / sizeof *(list))

/* A whole block of columns and some. */
enum { ROWS = 5, MANY = 40, WIDTH = EXACT_BLOCK + 13 };

static const enum isa isas[] = {ISA_PORTABLE, ISA_AVX2, ISA_AVX512};

static const struct golden {
    double column[ROWS];
    double sum;
} golden[] = {
    {{0x1.f767c482c9b00p-2, 0x1.2e4738d8608fep+9, 0x1.b075f6c3d8588p-11,
      0x1.5c8437bb9985ep-4, 0x1.3119920d46410p-7},
     0x1.2e925613a03f6p+9},
    {{-0x1.8c13bc5069136p+4, 0x1.7949c41f8fb2cp+1, 0x1.667d2c686bfa0p+4,
      -0x1.00af72fe52464p-5, -0x1.78369970e7b00p-8},
     0x1.1f59af1bd4ab4p-1},
    {{0x1.aa5670ef08e64p+1, -0x1.5c90b69e793a6p-9, -0x1.71e6f430e7cb8p+8,
      -0x1.c3e7f37e428f0p-10, -0x1.fe2ebb038a73cp-11},
     -0x1.6e93a6573948fp+8},
    {{-0x1.2984441cfae1cp-5, 0x1.d72b8efdbff98p-6, 0x1.7d5876154f5d0p-2,
      -0x1.7da45a09dc944p-6, 0x1.4151938125520p+6},
     0x1.42af53e206403p+6},
    {{-0x1.2e4e4768bf14ep-198, 0x1.ddc308fb88474p+183, -0x1.9c1490fa7a600p+137,
      -0x1.5c8ac7ab07cf0p-305, -0x1.e3b690ef53010p+77},
     0x1.ddc308fb8840dp+183},
    {{-0x1.96d10a2ebeda8p+598, -0x1.fc8922b3b6f64p+91, -0x1.bc649c58534c8p+126,
      0x1.46299a272d1d0p+383, 0x1.92448c50d7d10p-224},
     -0x1.96d10a2ebeda8p+598},
    {{-0x1.33b7cc383dd20p-245, -0x1.c5a18c5f356f2p-555, 0x1.cc0073dff9488p+131,
      0x1.612874b3bfe88p-564, 0x1.91f2bf26a4de0p+253},
     0x1.91f2bf26a4de0p+253},
    {{-0x1.120ddf9fa6844p+582, 0x1.5d6c7881297b0p+326, -0x1.d026c425682d8p-231,
      0x1.faba83e90d568p-201, -0x1.861f799f44078p-98},
     -0x1.120ddf9fa6844p+582},
    {{0x1.7e43c8800759cp+996, 0x1.0000000000000p+0, -0x1.7e43c8800759cp+996,
      0x1.56e1fc2f8f359p-997, 0x0.0000000000001p-1022},
     0x1.0000000000000p+0},
    {{0x1.0000000000000p+0, 0x1.0000000000000p-53, 0x0.0p+0, 0x0.0p+0,
      0x0.0p+0},
     0x1.0000000000000p+0},
    {{0x1.0000000000000p+0, 0x1.0000000000000p-53, 0x0.0000000000001p-1022,
      0x0.0p+0, 0x0.0p+0},
     0x1.0000000000001p+0},
    {{0x1.0000000000001p+0, 0x1.0000000000000p-53, 0x0.0p+0, 0x0.0p+0,
      0x0.0p+0},
     0x1.0000000000002p+0},
    {{0x0.0000000000001p-1022, 0x0.0000000000001p-1022,
      -0x0.0000000000003p-1022, 0x0.0p+0, 0x0.0p+0},
     -0x0.0000000000001p-1022},
    {{0x1.1c37937e08000p+53, 0x1.0000000000000p+0, -0x1.1c37937e08000p+53,
      0x1.0000000000000p+0, -0x1.70ef54646d497p-57},
     0x1.0000000000000p+1}};

static double wide[MANY][WIDTH];
static float wide32[MANY][WIDTH];

/* `count` rows on every instruction set against the oracle. */
static void assert_exact(enum exact_type type, uint32_t count)
{
    static double fast[WIDTH], slow[WIDTH];
    const void *rows[MANY];
    double scratch[MANY];

    for (uint32_t i = 0; i < count; i++)
        rows[i] = type == EXACT_F64 ? (void *)wide[i] : (void *)wide32[i];
    exact_sum_ref(type, rows, count, WIDTH, scratch, slow);
    for (size_t k = 0; k < COUNT(isas); k++) {
        if (!isa_runs(isas[k]))
            continue;
        memset(fast, 0x5a, sizeof fast);
        exact_sum(isas[k], type, rows, count, WIDTH, scratch, fast);
        assert_memory_equal(fast, slow, WIDTH * exact_size(type));
    }
}

/* Of one column, which is put everywhere: in blocks and behind the last. */
static double sum_f64(const double *column, uint32_t count)
{
    static double fast[WIDTH];
    const void *cells[MANY], *rows[MANY];
    double scratch[MANY];
    double slow;

    for (uint32_t i = 0; i < count; i++) {
        cells[i] = &column[i];
        rows[i] = wide[i];
        for (size_t j = 0; j < WIDTH; j++)
            wide[i][j] = column[i];
    }
    exact_sum_ref(EXACT_F64, cells, count, 1, scratch, &slow);
    for (size_t k = 0; k < COUNT(isas); k++) {
        if (!isa_runs(isas[k]))
            continue;
        exact_sum(isas[k], EXACT_F64, rows, count, WIDTH, scratch, fast);
        for (size_t j = 0; j < WIDTH; j++)
            assert_memory_equal(&fast[j], &slow, sizeof slow);
    }
    return slow;
}

static void test_golden(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(golden); i++) {
        const double sum = sum_f64(golden[i].column, ROWS);

        assert_memory_equal(&sum, &golden[i].sum, sizeof sum);
    }
}

static void test_special(void **state)
{
    const double infinite[2] = {HUGE_VAL, 1};
    const double both[2] = {HUGE_VAL, -HUGE_VAL};
    const double minus[2] = {-0.0, -0.0};
    const double mixed[2] = {-0.0, 0.0};
    const double cancel[2] = {-1, 1};
    const double huge[2] = {DBL_MAX, DBL_MAX};
    const double back[3] = {DBL_MAX, DBL_MAX, -DBL_MAX};
    const double almost[2] = {DBL_MAX, 0x1p969};

    (void)state;
    assert_true(sum_f64(infinite, 2) == HUGE_VAL);
    assert_true(isnan(sum_f64(both, 2)));
    assert_true(sum_f64(minus, 2) == 0 && signbit(sum_f64(minus, 2)));
    assert_false(signbit(sum_f64(mixed, 2)));
    assert_false(signbit(sum_f64(cancel, 2)));
    assert_true(sum_f64(huge, 2) == HUGE_VAL);
    assert_true(sum_f64(back, 3) == DBL_MAX);
    assert_true(sum_f64(almost, 2) == DBL_MAX);
}

static double awkward(struct rng *rng, int spread)
{
    const int power = (int)rng_between(rng, -spread, spread);
    const double value = ldexp(rng_unit(rng) - 0.5, power);

    return rng_below(rng, 8) == 0 ? 0 : value;
}

/* Any spread of exponents, denormals too; and the order is shuffled. */
static void test_no_order(void **state)
{
    static const int spreads[] = {0, 5, 30, 70, 300, 1040};
    struct rng rng;

    (void)state;
    rng_init(&rng, 7);
    for (int round = 0; round < 600; round++) {
        const uint32_t count = (uint32_t)rng_between(&rng, 1, MANY);
        double column[MANY];
        double first, second;

        for (uint32_t i = 0; i < count; i++)
            column[i] = awkward(&rng, spreads[round % 6]);
        first = sum_f64(column, count);
        for (uint32_t i = count; i > 1; i--) {
            const uint32_t k = (uint32_t)rng_below(&rng, i);
            const double kept = column[k];

            column[k] = column[i - 1];
            column[i - 1] = kept;
        }
        second = sum_f64(column, count);
        assert_memory_equal(&first, &second, sizeof first);
    }
}

static double strange(struct rng *rng)
{
    static const double list[] = {0,       -0.0,     HUGE_VAL, -HUGE_VAL,
                                  DBL_MAX, -DBL_MAX, DBL_MIN,  0x1p-1074,
                                  1,       -1,       0x1p53,   0x1p-53};

    return list[rng_below(rng, COUNT(list))];
}

/* Every column its own spread; in some blocks things that are no numbers. */
static void test_blocks(void **state)
{
    struct rng rng;

    (void)state;
    rng_init(&rng, 11);
    for (uint32_t round = 0; round < 30; round++) {
        const uint32_t count = (uint32_t)rng_between(&rng, 1, MANY);

        for (uint32_t i = 0; i < count; i++) {
            for (size_t j = 0; j < WIDTH; j++)
                wide[i][j] = round % 3 == 0 && rng_below(&rng, 16) == 0
                                 ? strange(&rng)
                                 : awkward(&rng, (int)(j % 90));
        }
        assert_exact(EXACT_F64, count);
    }
}

/* Floats are rounded to floats, not by way of doubles. */
static void test_floats(void **state)
{
    struct rng rng;
    /* 1 + 2^-24 is half-way for a float; 2^-60 decides, and a double would
     * not have seen it. */
    const float twice[3] = {1, 0x1p-24f, 0x1p-60f};
    const float all[3] = {FLT_MAX, FLT_MAX, -0x1p-149f};

    (void)state;
    rng_init(&rng, 9);
    for (uint32_t round = 0; round < 30; round++) {
        for (int i = 0; i < MANY; i++) {
            for (int j = 0; j < WIDTH; j++)
                wide32[i][j] = round % 3 == 0 && rng_below(&rng, 16) == 0
                                   ? (float)strange(&rng)
                                   : (float)awkward(&rng, j % 140);
        }
        assert_exact(EXACT_F32, 1 + round % MANY);
    }
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < WIDTH; j++)
            wide32[i][j] = j % 2 == 0 ? twice[i] : all[i];
    }
    assert_exact(EXACT_F32, 3);
    assert_int_equal(exact_size(EXACT_F32), 4);
    assert_int_equal(exact_size((enum exact_type)7), 0);
}

static void test_float_once(void **state)
{
    const float twice[3] = {1, 0x1p-24f, 0x1p-60f};
    const void *rows[3] = {&twice[0], &twice[1], &twice[2]};
    double scratch[3];
    float once;

    (void)state;
    exact_sum(ISA_PORTABLE, EXACT_F32, rows, 3, 1, scratch, &once);
    assert_true(once == 1 + 0x1p-23f);
}

/* Integers may be added to one of the rows themselves. */
static void test_integers_in_place(void **state)
{
    int64_t numbers[3][WIDTH], want[WIDTH];
    const void *rows[3] = {numbers[0], numbers[1], numbers[2]};
    double scratch[3];

    (void)state;
    for (unsigned isa = 0; isa <= isa_best(); isa++) {
        for (int row = 0; row < 3; row++) {
            for (int j = 0; j < WIDTH; j++) {
                for (int i = 0; i < 3; i++)
                    numbers[i][j] = ((int64_t)j << 40) * (i + 1) - 7 * i;
                want[j] = ((int64_t)j << 40) * 6 - 21;
            }
            exact_sum((enum isa)isa, EXACT_I64, rows, 3, WIDTH, scratch,
                      numbers[row]);
            assert_memory_equal(numbers[row], want, sizeof want);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_golden),
        cmocka_unit_test(test_special),
        cmocka_unit_test(test_no_order),
        cmocka_unit_test(test_blocks),
        cmocka_unit_test(test_floats),
        cmocka_unit_test(test_float_once),
        cmocka_unit_test(test_integers_in_place),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
