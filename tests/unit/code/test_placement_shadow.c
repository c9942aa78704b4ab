/*
 * Parts and samples of them: who holds what, and for every mask of six workers
 * that a step ends exactly when all parts but s are in and each of those has a
 * sample; fewer workers than shadows; how far a step is off.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "base/err.h"
#include "code/code_fixture.h"

static struct code code_with(uint32_t n, uint32_t s, uint32_t shadows)
{
    struct preset_options options = {.name = "flexent",
                                     .stragglers = s,
                                     .workers = n,
                                     .shadows = shadows,
                                     .size = "20%"};
    struct code_spec spec;
    struct code code;

    assert_int_equal(preset_spec(&options, &spec, NULL), ERR_OK);
    assert_int_equal(code_build(&code, &spec, n, 24, NULL), ERR_OK);
    return code;
}

static void test_holders(void **state)
{
    struct code code = code_with(6, 1, 2);

    (void)state;
    assert_int_equal(code.piece_count, 8);
    assert_int_equal(code_data_pieces(&code), 4);
    assert_int_equal(code.chunks, 48);
    for (uint32_t p = 0; p < 4; p++) {
        const struct piece *const part = &code.pieces[p];
        const struct piece *const sample = &code.pieces[4 + p];

        assert_int_equal(sample->first, part->first + 24);
        assert_int_equal(sample->end, part->end + 24);
        for (uint32_t slot = 0; slot < 6; slot++) {
            assert_int_equal(code_holds(&code, slot, p), slot == p);
            assert_int_equal(code_holds(&code, slot, 4 + p), slot == 4 + p % 2);
        }
    }
    /* A primary has a fourth; a shadow a fifth of two of them. */
    assert_true(code_load(&code) == .25);
    assert_true(code_piece_work(&code, 0) == 6);
    assert_true(code_piece_work(&code, 4) > 1.19 &&
                code_piece_work(&code, 4) < 1.21);
    assert_true(code_copies(&code) == 2);
    assert_int_equal(code.exactness, EXACT_APPROX);
    code_close(&code);
}

static bool may_end(uint32_t mask, uint32_t s)
{
    uint32_t missing = 0;

    for (uint32_t p = 0; p < 4; p++) {
        if ((mask >> p & 1) != 0)
            continue;
        if ((mask >> (4 + p % 2) & 1) == 0)
            return false;
        missing++;
    }
    return missing <= s;
}

static void test_every_mask(void **state)
{
    (void)state;
    for (uint32_t s = 0; s < 4; s++) {
        struct code code = code_with(6, s, 2);

        for (uint32_t mask = 0; mask < 64; mask++) {
            assert_int_equal(enough_with(&code, mask), may_end(mask, s));
            assert_int_equal(feasible_with(&code, mask), may_end(mask, s));
        }
        code_close(&code);
    }
}

/* A run that goes on with one worker of four has a part and no shadow. */
static void test_few(void **state)
{
    struct code four = code_with(4, 1, 2);
    struct code_spec spec = four.spec;
    struct code one;

    (void)state;
    spec.quick = true;
    spec.stragglers = 0;
    assert_int_equal(code_build(&one, &spec, 1, 24, NULL), ERR_OK);
    assert_int_equal(code_data_pieces(&one), 1);
    assert_true(enough_with(&one, 1));
    assert_false(enough_with(&one, 0));
    code_close(&one);
    code_close(&four);
}

static double error_with(struct code *code, enum estimate estimate,
                         uint32_t mask)
{
    double weight[6];
    double error = -1;
    bool in[6];

    for (uint32_t slot = 0; slot < 6; slot++)
        in[slot] = (mask >> slot & 1) != 0;
    code->spec.estimate = estimate;
    assert_int_equal(code_error(code, in, weight, &error), ERR_OK);
    return error;
}

/* As any code that leaves parts out, where nothing stands for them; where a
 * sample does, nobody knows before there are rows. */
static void test_errors(void **state)
{
    const bool neither[6] = {false, true, true, true, false, true};
    struct code code = code_with(6, 1, 2);
    double weight[6];
    double error = -1;

    (void)state;
    assert_true(error_with(&code, ESTIMATE_REFERENCE, 0x3f) == 0);
    assert_true(error_with(&code, ESTIMATE_REFERENCE, 0x1f) == 0);
    assert_true(error_with(&code, ESTIMATE_SHRINK, 0x1f) == 0);
    assert_true(error_with(&code, ESTIMATE_REFERENCE, 0x3e) == .25);
    assert_true(fabs(error_with(&code, ESTIMATE_RATIO, 0x3e) - 1. / 3) < 1e-12);
    assert_true(isnan(error_with(&code, ESTIMATE_SHADOW, 0x3e)));
    assert_true(isnan(error_with(&code, ESTIMATE_SHRINK, 0x3e)));
    assert_int_equal(code_expected_error(&code, 1, 400, &error), ERR_OK);
    assert_true(isnan(error));
    code.spec.estimate = ESTIMATE_REFERENCE;
    assert_int_equal(code_expected_error(&code, 1, 4000, &error), ERR_OK);
    assert_true(fabs(error - 1. / 6) < .01); /* Four of six have a part. */
    assert_int_equal(code_error(&code, neither, weight, &error),
                     ERR_UNDECODABLE);
    code_close(&code);
}

static void test_settings(void **state)
{
    char text[] = "flexent:shadows=2:size=5%:sampler=entropy:"
                  "filters=label+column:3:estimate=abandon:s=2";
    char wrong[] = "flexent:size=0";
    struct preset_options options = {.workers = 8};
    struct code_spec spec;
    struct why why = {0};

    (void)state;
    assert_int_equal(preset_parse(text, &options, &why), ERR_OK);
    assert_int_equal(preset_spec(&options, &spec, &why), ERR_OK);
    assert_int_equal(spec.shadows, 2);
    assert_true(spec.size == .05);
    assert_int_equal(spec.draw, DRAW_ENTROPY);
    assert_int_equal(spec.estimate, ESTIMATE_REFERENCE);
    assert_int_equal(spec.stragglers, 2);
    assert_string_equal(spec.filters, "label+column:3");
    options = (struct preset_options){.workers = 8};
    assert_int_equal(preset_parse(wrong, &options, &why), ERR_OK);
    assert_int_equal(preset_spec(&options, &spec, &why), ERR_RANGE);
    options =
        (struct preset_options){.name = "flexent", .workers = 3, .shadows = 3};
    assert_int_equal(preset_spec(&options, &spec, &why), ERR_SHAPE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_holders),  cmocka_unit_test(test_every_mask),
        cmocka_unit_test(test_few),      cmocka_unit_test(test_errors),
        cmocka_unit_test(test_settings),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
