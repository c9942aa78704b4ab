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
static void planted(const void *context, struct loss loss,
                    const struct dense_rows *in, const double *w, double *g,
                    double *loss_sum)
{
    const enum plant plant = *(const enum plant *)context;

    kernel_gradient_ref(loss, in, w, g, loss_sum);
    if (loss.kind != LOSS_SQUARED)
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
    const struct digest got = golden_digest_with(planted, &plant);
    size_t count;
    char text[DIGEST_TEXT];

    return strcmp(digest_text(&got, text), golden_parts(&count)->expected) == 0;
}

static void test_all_variants(void **state)
{
    const enum isa best = isa_best();
    struct why why = {{0}};

    (void)state;
    for (int i = ISA_PORTABLE; i <= ISA_AVX512; i++) {
        if (!isa_runs((enum isa)i)) {
            assert_int_equal(golden_check((enum isa)i, &why), ERR_UNSUPPORTED);
            assert_string_not_equal(why.text, "");
            continue;
        }
        assert_int_equal(isa_choose(isa_name((enum isa)i), &why), ERR_OK);
        assert_int_equal(golden_check((enum isa)i, &why), ERR_OK);
    }
    assert_int_equal(isa_choose(isa_name(best), &why), ERR_OK);
}

static void test_parts(void **state)
{
    size_t count;
    const struct golden_part *const parts = golden_parts(&count);
    char text[DIGEST_TEXT];

    (void)state;
    for (size_t i = 0; i < count; i++) {
        const struct digest ref = parts[i].compute(NULL);

        print_message("# %s %s\n", parts[i].profile, digest_text(&ref, text));
        assert_string_equal(text, parts[i].expected);
    }
}

/* A machine that computes one bit otherwise is told which profile it breaks. */
static struct digest one_bit_off(const enum isa *isa)
{
    size_t count;
    struct digest digest = golden_parts(&count)[5].compute(isa);

    digest.bytes[31] ^= 1;
    return digest;
}

static void test_part_refused(void **state)
{
    size_t count;
    struct golden_part part = golden_parts(&count)[5];
    struct why why = {{0}};

    (void)state;
    assert_string_equal(part.profile, PROFILE_CSR_NAME);
    assert_int_equal(golden_check_part(&part, isa_best(), &why), ERR_OK);
    part.compute = one_bit_off;
    assert_int_equal(golden_check_part(&part, isa_best(), &why), ERR_MISMATCH);
    assert_non_null(strstr(why.text, PROFILE_CSR_NAME));
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_all_variants),
        cmocka_unit_test(test_parts),
        cmocka_unit_test(test_part_refused),
        cmocka_unit_test(test_faults_are_noticed),
        cmocka_unit_test(test_rounding_mode),
        cmocka_unit_test(test_flush_to_zero),
    };

    return cmocka_run_group_tests_name("math/golden/golden", tests, NULL, NULL);
}
