/*
 * staleness: without late answers it is `ignore` in every number; with them
 * every slot has its own part, whoever answers counts alike, under every mask.
 */
#include "code/code.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "code/code_fixture.h"

static struct code_spec stale_spec(const char *name, uint32_t n, uint32_t s,
                                   uint32_t staleness)
{
    const struct preset_options options = {
        .name = name, .workers = n, .stragglers = s, .staleness = staleness};
    struct code_spec spec = {0};
    struct why why = {0};

    assert_int_equal(preset_spec(&options, &spec, &why), ERR_OK);
    return spec;
}

static void test_none_is_ignore(void **state)
{
    const struct preset_options plain = {
        .name = "ignore", .workers = 6, .stragglers = 2};
    const struct code_spec stale = stale_spec("ksync", 6, 2, 0);
    struct code_spec spec = {0};

    (void)state;
    assert_int_equal(preset_spec(&plain, &spec, NULL), ERR_OK);
    assert_string_equal(stale.name, spec.name);
    assert_int_equal(stale.placement, spec.placement);
    assert_int_equal(stale.stop, spec.stop);
    assert_int_equal(stale.estimate, spec.estimate);
    assert_int_equal(stale.k, spec.k);
    assert_int_equal(stale.staleness, 0);
    assert_true(code_spec_tally(&stale));
}

static void test_every_mask(void **state)
{
    (void)state;
    for (uint32_t n = 2; n <= 8; n++) {
        for (uint32_t s = 0; s < n; s++) {
            const struct code_spec spec = stale_spec("ignore", n, s, 2);
            struct code code = {0};

            assert_int_equal(code_build(&code, &spec, n, 2 * n + 1, NULL),
                             ERR_OK);
            assert_int_equal(code.exactness, EXACT_APPROX);
            assert_int_equal(code.carrier, CARRIER_F64);
            assert_int_equal(code.folds, 0); /* Kept apart, to be in order. */
            for (uint32_t mask = 0; mask < 1u << n; mask++) {
                uint32_t chunks;

                (void)decode_plainly(&code, mask, &chunks);
                assert_true(enough_with(&code, mask) ==
                            ((uint32_t)__builtin_popcount(mask) >= n - s));
            }
            code_close(&code);
        }
    }
}

static void test_other_codes_refuse(void **state)
{
    static const char *const names[] = {"uncoded", "frc",   "cyclic", "sgc",
                                        "local",   "steal", "stream"};

    (void)state;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const struct preset_options options = {
            .name = names[i], .workers = 4, .stragglers = 1, .staleness = 1};
        struct code_spec spec;
        struct why why = {0};

        assert_int_equal(preset_spec(&options, &spec, &why), ERR_SHAPE);
        assert_non_null(strstr(why.text, names[i]));
    }
}

static void refuses(const char *stop, const char *estimate)
{
    const struct preset_options options = {.name = "ignore",
                                           .workers = 4,
                                           .stop = stop,
                                           .estimate = estimate,
                                           .staleness = 3};
    struct code_spec spec;
    struct code code = {0};
    struct why why = {0};

    assert_int_equal(preset_spec(&options, &spec, &why), ERR_OK);
    assert_int_equal(code_build(&code, &spec, 4, 8, &why), ERR_SHAPE);
    assert_non_null(strstr(why.text, "staleness goes only with"));
}

static void test_axes_that_do_not_go_with_it(void **state)
{
    (void)state;
    refuses("all", NULL);
    refuses("deadline:1", NULL);
    refuses("collect:2", NULL);
    refuses(NULL, "reference");
    refuses(NULL, "unbiased");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_none_is_ignore),
        cmocka_unit_test(test_every_mask),
        cmocka_unit_test(test_other_codes_refuse),
        cmocka_unit_test(test_axes_that_do_not_go_with_it),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
