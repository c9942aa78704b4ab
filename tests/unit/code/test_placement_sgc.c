/*
 * The mean over all sets of answers is the sum, exactly (O4); copies lie so
 * that two slots share at most one part where there is room for that.
 */
#include "code/code.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "code/code_fixture.h"

static void check_mean(uint32_t n, uint32_t s)
{
    struct code code = code_of((struct shape){"sgc", n, s, 0, 2 * n});
    double total[SLOTS_MAX] = {0};
    uint32_t sets = 0;

    for (uint32_t mask = 0; mask < 1u << n; mask++) {
        bool in[SLOTS_MAX];
        double weight[SLOTS_MAX];
        double residual;

        if ((uint32_t)__builtin_popcount(mask) != n - s)
            continue;
        for (uint32_t slot = 0; slot < n; slot++)
            in[slot] = mask >> slot & 1u;
        assert_int_equal(code_decode(&code, in, weight, &residual), ERR_OK);
        for (uint32_t part = 0; part < n; part++) {
            for (uint32_t slot = 0; slot < n; slot++)
                total[part] += weight[slot] * code_entry(&code, slot, part);
        }
        sets++;
    }
    for (uint32_t part = 0; part < n; part++)
        assert_true(fabs(total[part] / sets - 1) < 1e-12);
    code_close(&code);
}

static void test_right_on_average(void **state)
{
    (void)state;
    for (uint32_t n = 2; n <= 11; n++) {
        for (uint32_t s = 0; s < n; s++)
            check_mean(n, s);
    }
}

static uint32_t shared(const struct code *code, uint32_t a, uint32_t b)
{
    uint32_t count = 0;

    for (uint32_t part = 0; part < code->parts; part++)
        count += code_entry(code, a, part) != 0 && code_entry(code, b, part);
    return count;
}

static void test_pairwise_balanced(void **state)
{
    (void)state;
    for (uint32_t d = 1; d <= 4; d++) {
        struct code code = code_of((struct shape){"sgc", 40, d - 1, 0, 40});

        for (uint32_t a = 0; a < 40; a++) {
            assert_int_equal(shared(&code, a, a), d);
            for (uint32_t b = 0; b < a; b++)
                assert_true(shared(&code, a, b) <= 1);
        }
        code_close(&code);
    }
}

/* Everyone has everything: still every part d times. */
static void test_no_room(void **state)
{
    struct code code = code_of((struct shape){"sgc", 4, 3, 0, 4});

    (void)state;
    assert_int_equal(code.copies, 4);
    assert_true(code_load(&code) == 1);
    code_close(&code);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_right_on_average),
        cmocka_unit_test(test_pairwise_balanced),
        cmocka_unit_test(test_no_room),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
