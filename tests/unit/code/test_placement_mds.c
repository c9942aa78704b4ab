/*
 * Every set of k answers gives the sum and every single part, to ten times the
 * condition number's worth of rounding; what is there is copied, to the bit
 * (O6).
 */
#include "code/code.h"

#include <float.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "code/code_fixture.h"

static double sum_of(const struct code *code, const double *weight,
                     uint32_t part)
{
    double total = 0;

    for (uint32_t slot = 0; slot < code->slots; slot++)
        total += weight[slot] * code_entry(code, slot, part);
    return total;
}

static double size_of(const struct code *code, const double *weight)
{
    double total = 1;

    for (uint32_t slot = 0; slot < code->slots; slot++) {
        for (uint32_t j = 0; j < code->parts; j++)
            total += fabs(weight[slot] * code_entry(code, slot, j));
    }
    return total;
}

static void check_part(const struct code *code, const bool *in, uint32_t part)
{
    double weight[SLOTS_MAX];
    double residual = -1;

    assert_int_equal(code_decode_part(code, in, part, weight, &residual),
                     ERR_OK);
    assert_true(residual >= 0 && residual <= CODE_RESIDUAL_MAX);
    for (uint32_t slot = 0; slot < code->slots; slot++) {
        if (!in[slot])
            assert_true(weight[slot] == 0);
        if (in[part])
            assert_true(weight[slot] == (slot == part));
    }
    for (uint32_t j = 0; j < code->parts; j++)
        assert_true(fabs(sum_of(code, weight, j) - (j == part)) <=
                    10 * DBL_EPSILON * size_of(code, weight));
}

static void check_set(const struct code *code, uint32_t mask)
{
    bool in[SLOTS_MAX];
    double weight[SLOTS_MAX];
    double residual = -1;
    bool systematic = true;

    for (uint32_t slot = 0; slot < code->slots; slot++) {
        in[slot] = mask >> slot & 1u;
        systematic = systematic && (in[slot] || slot >= code->parts);
    }
    assert_int_equal(code_decode(code, in, weight, &residual), ERR_OK);
    assert_true(residual <= 10 * DBL_EPSILON * size_of(code, weight));
    for (uint32_t slot = 0; systematic && slot < code->slots; slot++)
        assert_true(weight[slot] == (slot < code->parts));
    for (uint32_t part = 0; part < code->parts; part++)
        check_part(code, in, part);
}

static void test_every_set(void **state)
{
    (void)state;
    for (uint32_t n = 1; n <= 10; n++) {
        for (uint32_t s = 0; s < n; s++) {
            struct code code = code_of((struct shape){"mds", n, s, 0, 4 * n});

            assert_int_equal(code.parts, n - s);
            for (uint32_t mask = 0; mask < 1u << n; mask++) {
                const uint32_t answers = (uint32_t)__builtin_popcount(mask);

                assert_int_equal(enough_with(&code, mask), answers >= n - s);
                if (answers >= n - s)
                    check_set(&code, mask);
            }
            code_close(&code);
        }
    }
}

/* Rows of one part, then rows of all. */
static void test_systematic(void **state)
{
    struct code code = code_of((struct shape){"mds", 6, 2, 0, 24});

    (void)state;
    for (uint32_t slot = 0; slot < 4; slot++) {
        for (uint32_t part = 0; part < 4; part++)
            assert_true(code_entry(&code, slot, part) == (slot == part));
    }
    assert_true(code_load(&code) == .25);
    assert_true(code_copies(&code) == 3);
    assert_int_equal(code.exactness, EXACT_NUMERIC);
    code_close(&code);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_set),
        cmocka_unit_test(test_systematic),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
