/*
 * Every variant must reproduce the compiled-in digest; each known way of
 * computing other bits (a fused multiply-add, another order, another rounding
 * mode, flush-to-zero) is planted and must be noticed.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <fenv.h>
#include <math.h>
#include <string.h>
#ifdef __x86_64__
#include <xmmintrin.h>
#endif

#include "math/golden/golden.h"

enum plant { PLANT_NONE, PLANT_FMA_Z, PLANT_FMA_G, PLANT_ORDER, PLANT_FLOAT };

/* The squared loss in scalars, with a fault; other losses are the reference's
 * own.  PLANT_NONE shows that only the faults matter. */
static void planted(const void *context, enum loss loss,
                    const struct dense_rows *in, const double *w, double *g,
                    double *loss_sum)
{
    const enum plant plant = *(const enum plant *)context;

    kernel_gradient_ref(loss, in, w, g, loss_sum);
    if (loss != LOSS_SQUARED)
        return;
    *loss_sum = 0.0;
    memset(g, 0, in->stride * sizeof *g);
    for (uint32_t i = 0; i < in->rows; i++) {
        const float *x = (const float *)in->x + (size_t)i * in->stride;
        double a[8] = {0};
        double z;

        for (uint32_t j = 0; j < in->stride; j++) {
            if (plant == PLANT_FMA_Z)
                a[j % 8] = fma((double)x[j], w[j], a[j % 8]);
            else
                a[j % 8] += (double)x[j] * w[j];
        }
        z = ((a[0] + a[4]) + (a[2] + a[6])) + ((a[1] + a[5]) + (a[3] + a[7]));
        if (plant == PLANT_ORDER)
            z = a[0] + a[1] + a[2] + a[3] + a[4] + a[5] + a[6] + a[7];
        if (plant == PLANT_FLOAT)
            z = (double)(float)z;
        *loss_sum += (z - in->y[i]) * (z - in->y[i]);
        for (uint32_t j = 0; j < in->stride; j++) {
            const double r = 2.0 * (z - in->y[i]);

            g[j] = plant == PLANT_FMA_G ? fma((double)x[j], r, g[j])
                                        : g[j] + (double)x[j] * r;
        }
    }
}

static bool golden_with(enum plant plant)
{
    const struct digest want = golden_expected();
    const struct digest got = golden_digest_with(planted, &plant);

    return digest_equal(&want, &got);
}

static void test_all_variants(void **state)
{
    const struct digest want = golden_expected();

    (void)state;
    for (int i = ISA_PORTABLE; i <= ISA_AVX512; i++) {
        struct why why = {{0}};
        struct digest got;

        if (!isa_runs((enum isa)i)) {
            assert_int_equal(golden_check((enum isa)i, &why), ERR_UNSUPPORTED);
            assert_string_not_equal(why.text, "");
            continue;
        }
        got = golden_digest((enum isa)i);
        assert_memory_equal(got.bytes, want.bytes, sizeof got.bytes);
        assert_int_equal(golden_check((enum isa)i, &why), ERR_OK);
        assert_string_equal(why.text, "");
    }
}

static void test_parts(void **state)
{
    char text[DIGEST_TEXT];

    (void)state;
    for (int part = 0; part < GOLDEN_PARTS; part++) {
        const struct digest want = golden_part_expected((enum golden_part)part);
        const struct digest ref =
            golden_part_digest((enum golden_part)part, NULL);

        print_message("# %s %s\n", golden_part_profile((enum golden_part)part),
                      digest_text(&ref, text));
        assert_memory_equal(ref.bytes, want.bytes, sizeof ref.bytes);
        for (int i = ISA_PORTABLE; i <= ISA_AVX512; i++) {
            const enum isa isa = (enum isa)i;
            struct digest got;

            if (!isa_runs(isa))
                continue;
            got = golden_part_digest((enum golden_part)part, &isa);
            assert_memory_equal(got.bytes, want.bytes, sizeof got.bytes);
        }
    }
}

static void test_faults_are_noticed(void **state)
{
    (void)state;
    assert_true(golden_with(PLANT_NONE));
    assert_false(golden_with(PLANT_FMA_Z));
    assert_false(golden_with(PLANT_FMA_G));
    assert_false(golden_with(PLANT_ORDER));
    assert_false(golden_with(PLANT_FLOAT));
}

static void test_rounding_mode(void **state)
{
    const int modes[] = {FE_UPWARD, FE_DOWNWARD, FE_TOWARDZERO};

    (void)state;
    for (unsigned i = 0; i < sizeof modes / sizeof *modes; i++) {
        struct why why = {{0}};
        enum err err;

        if (fesetround(modes[i]) != 0)
            skip();
        err = golden_check(ISA_PORTABLE, &why);
        (void)fesetround(FE_TONEAREST);
        assert_int_equal(err, ERR_MISMATCH);
        assert_non_null(strstr(why.text, "rounding"));
    }
    assert_int_equal(golden_check(ISA_PORTABLE, NULL), ERR_OK);
}

static void test_flush_to_zero(void **state)
{
    (void)state;
#ifdef __x86_64__
    const unsigned usual = _mm_getcsr();
    const unsigned flags[] = {1u << 15, 1u << 6}; /* FTZ, DAZ. */

    for (unsigned i = 0; i < 2; i++) {
        struct why why = {{0}};
        enum err err;

        _mm_setcsr(usual | flags[i]);
        err = golden_check(ISA_PORTABLE, &why);
        _mm_setcsr(usual);
        assert_int_equal(err, ERR_MISMATCH);
        assert_non_null(strstr(why.text, "denormal"));
    }
#else
    skip();
#endif
}

/* Two machines that differ in any kind of rows must not say the same. */
static void test_arithmetic_names_every_profile(void **state)
{
    const struct digest got = golden_arithmetic();

    (void)state;
    for (int other = -1; other <= GOLDEN_PARTS; other++) {
        struct digest want = golden_expected();
        struct hasher hasher;

        hasher_init(&hasher);
        want.bytes[0] ^= other == GOLDEN_PARTS;
        hasher_add(&hasher, PROFILE_DENSE_NAME, sizeof PROFILE_DENSE_NAME);
        hasher_add(&hasher, want.bytes, sizeof want.bytes);
        for (int part = 0; part < GOLDEN_PARTS; part++) {
            const char *name = golden_part_profile((enum golden_part)part);

            want = golden_part_digest((enum golden_part)part, NULL);
            want.bytes[0] ^= part == other;
            hasher_add(&hasher, name, strlen(name) + 1);
            hasher_add(&hasher, want.bytes, sizeof want.bytes);
        }
        want = hasher_end(&hasher);
        assert_int_equal(digest_equal(&got, &want), other < 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_all_variants),
        cmocka_unit_test(test_parts),
        cmocka_unit_test(test_arithmetic_names_every_profile),
        cmocka_unit_test(test_faults_are_noticed),
        cmocka_unit_test(test_rounding_mode),
        cmocka_unit_test(test_flush_to_zero),
    };

    return cmocka_run_group_tests_name("math/golden/golden", tests, NULL, NULL);
}
