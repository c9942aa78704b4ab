/*
 * Every set of k answers gives every part, to ten times the rounding that it
 * lets grow, and no worse than certified; how it is undone: test_erasure.c
 * (O6).
 */
#include "code/code.h"

#include <float.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "code/code_fixture.h"

static void check_set(const struct code *code, uint32_t mask)
{
    const struct erasure_set *set;
    struct blockset answered = {0};

    for (uint32_t slot = 0; slot < code->slots; slot++)
        if (mask >> slot & 1u)
            blockset_add(&answered, slot);
    assert_int_equal(erasure_pick(&code->erasure, &answered, ERASURE_RCOND,
                                  CODE_RESIDUAL_MAX, &set),
                     ERR_OK);
    assert_int_equal(set->count, code->parts);
    assert_true(set->residual <= 10 * DBL_EPSILON * set->amplification);
    assert_true(set->residual <= code->certificate.worst_residual);
    assert_true(set->amplification <= code->certificate.worst_amplification);
    for (uint32_t i = 0; i < set->copies; i++)
        assert_true(mask >> set->block[i] & 1u);
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
    for (uint32_t i = 0; i < 6 * 4; i++)
        assert_true(code_entry(&code, i / 4, i % 4) == code.erasure.row[i]);
    assert_true(code_load(&code) == .25);
    assert_true(code_copies(&code) == 3);
    assert_int_equal(code.exactness, EXACT_NUMERIC);
    code_close(&code);
}

/* What training keeps of an elastic code is not enough for a product. */
static void test_result(void **state)
{
    struct code_spec spec = {.placement = PLACE_CEC, .blocks = 6};

    (void)state;
    assert_true(code_spec_residual_max(&spec) == CODE_RESIDUAL_BLOCKS);
    spec.result = true;
    assert_true(code_spec_residual_max(&spec) == CODE_RESIDUAL_MAX);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_set),
        cmocka_unit_test(test_systematic),
        cmocka_unit_test(test_result),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
