/*
 * The construction against its definition (C B is all ones, s+1 holders, loads
 * by speed), decoding for every pattern of at most s stragglers at n up to 10,
 * for loads that differ and for holders drawn at random (O3).
 */
#include "code/code.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "base/rng.h"
#include "code/axes.h"
#include "code/code_fixture.h"

static double entry_c(const struct code *code, uint32_t draw, uint32_t row,
                      uint32_t slot)
{
    return rng_normal_at(rng_at(code->spec.seed, draw, code->slots), row, slot);
}

static void check_columns(struct code *code, uint32_t draw)
{
    const uint32_t copies = code->spec.stragglers + 1;

    assert_int_equal(placement_cb.draw(code, draw), ERR_OK);
    for (uint32_t q = 0; q < code->span_count; q++) {
        uint32_t holders = 0;

        for (uint32_t slot = 0; slot < code->slots; slot++)
            holders += code_entry(code, slot, q) != 0;
        assert_int_equal(holders, copies);
        for (uint32_t r = 0; r < copies; r++) {
            double sum = 0;
            double size = 1;

            for (uint32_t slot = 0; slot < code->slots; slot++) {
                const double term =
                    entry_c(code, draw, r, slot) * code_entry(code, slot, q);

                sum += term;
                size += fabs(term);
            }
            assert_true(fabs(sum - 1) <= 1e-13 * size);
        }
    }
}

static void test_construction(void **state)
{
    (void)state;
    for (uint32_t n = 1; n <= 10; n++) {
        for (uint32_t s = 0; s < n; s++) {
            struct code code = code_of((struct shape){"cb", n, s, 0, 3 * n});

            for (uint32_t draw = 0; draw < 3; draw++)
                check_columns(&code, draw);
            code_close(&code);
        }
    }
}

/* a vanishes on the silent, and a^T B is one. */
static void check_mask(const struct code *code, uint32_t mask)
{
    bool in[SLOTS_MAX];
    double weight[SLOTS_MAX];
    double residual = -1;

    for (uint32_t slot = 0; slot < code->slots; slot++)
        in[slot] = mask >> slot & 1u;
    assert_int_equal(code_decode(code, in, weight, &residual), ERR_OK);
    assert_true(residual <= CODE_RESIDUAL_MAX);
    for (uint32_t q = 0; q < code->span_count; q++) {
        double total = 0;

        for (uint32_t slot = 0; slot < code->slots; slot++) {
            total += weight[slot] * code_entry(code, slot, q);
            if (!in[slot])
                assert_true(weight[slot] == 0);
        }
        assert_true(fabs(total - 1) <= residual + 1e-15);
    }
}

/* The folds of code.h give what the weights give. */
static void check_folds(const struct code *code, uint32_t mask)
{
    bool in[SLOTS_MAX];
    double weight[SLOTS_MAX];
    double residual;
    double direct = 0;
    double folded = 0;

    for (uint32_t slot = 0; slot < code->slots; slot++)
        in[slot] = mask >> slot & 1u;
    assert_int_equal(code_decode(code, in, weight, &residual), ERR_OK);
    for (uint32_t slot = 0; slot < code->slots; slot++) {
        const double answer =
            in[slot] && code->busy[slot] ? 1 + slot * 0.37 : 0;

        direct += weight[slot] * answer;
        for (uint32_t k = 0; k < code->folds; k++)
            folded += code_folds(code)[k] *
                      code->basis[k * code->slots + slot] * answer;
    }
    assert_true(fabs(direct - folded) <= 1e-9 * (1 + fabs(direct)));
}

static void check_every_pattern(const struct code *code)
{
    const uint32_t n = code->slots;
    const uint32_t s = code->spec.stragglers;

    assert_int_equal(code->exactness, EXACT_NUMERIC);
    assert_true(code->certificate.exhaustive);
    for (uint32_t mask = 0; mask < 1u << n; mask++) {
        uint32_t answers = 0;
        bool enough;

        for (uint32_t slot = 0; slot < n; slot++)
            answers += code->busy[slot] && (mask >> slot & 1u);
        enough = answers > 0 && code->busy_count - answers <= s;
        assert_int_equal(enough_with(code, mask), enough);
        assert_int_equal(feasible_with(code, mask), enough);
        if (!enough)
            continue;
        check_mask(code, mask);
        check_folds(code, mask);
    }
}

static void test_every_pattern(void **state)
{
    (void)state;
    for (uint32_t n = 1; n <= 10; n++) {
        for (uint32_t s = 0; s < n; s++) {
            struct code code = code_of((struct shape){"cb", n, s, 0, 3 * n});

            check_every_pattern(&code);
            code_close(&code);
        }
    }
}

static struct code with_speeds(uint32_t n, uint32_t s, const double *speed)
{
    struct code_spec spec = spec_of((struct shape){"cb", n, s, 0, 8 * n});
    struct code code = {0};
    struct why why = {0};

    spec.speed = speed;
    spec.speeds = n;
    if (code_build(&code, &spec, n, 8 * n, &why) != ERR_OK)
        fail_msg("%s", why.text);
    return code;
}

/* Proportional within one part, except where a slot would hold more than all
 * there is: then it holds all, and the rest is shared among the others. */
static void test_loads_follow_speeds(void **state)
{
    static const double speed[6] = {1, 1, 2, 2, 3, 3};
    static const double steep[4] = {100, 1, 1, 1};
    struct code code = with_speeds(6, 2, speed);
    struct code full = with_speeds(4, 1, steep);

    (void)state;
    assert_int_equal(code.parts, 48);
    for (uint32_t slot = 0; slot < 6; slot++) {
        const double want = 48 * 3 * speed[slot] / 12;
        const double got = code.table.row[slot + 1] - code.table.row[slot];

        assert_true(fabs(got - want) <= 1);
    }
    check_every_pattern(&code);
    assert_int_equal(full.table.row[1], 32); /* All of them. */
    for (uint32_t slot = 1; slot < 4; slot++)
        assert_in_range(full.table.row[slot + 1] - full.table.row[slot], 10,
                        11);
    check_every_pattern(&full);
    code_close(&code);
    code_close(&full);
}

/* Holders drawn at random, s+1 for every part. */
static void test_any_placement(void **state)
{
    struct rng rng;

    (void)state;
    rng_init(&rng, 11);
    for (uint32_t trial = 0; trial < 30; trial++) {
        const uint32_t n = (uint32_t)rng_between(&rng, 3, 9);
        const uint32_t s = (uint32_t)rng_between(&rng, 1, 2);
        const uint32_t parts = (uint32_t)rng_between(&rng, 2, 12);
        double held[9 * 12] = {0};
        const struct code_matrix matrix = {n, parts, held};
        struct code_spec spec = spec_of((struct shape){"cb", n, s, 0, 60});
        struct code code = {0};

        for (uint32_t j = 0; j < parts; j++) {
            for (uint32_t left = s + 1; left > 0;) {
                double *at = &held[rng_below(&rng, n) * parts + j];

                left -= *at == 0;
                *at = 1;
            }
        }
        spec.matrix = &matrix;
        assert_int_equal(code_build(&code, &spec, n, 60, NULL), ERR_OK);
        check_every_pattern(&code);
        code_close(&code);
    }
}

static void test_refusals(void **state)
{
    static const double speed[4] = {1, 1, 0, 1};
    static double held[] = {1, 1, 1, 0, 1, 1, 1, 0};
    const struct code_matrix matrix = {4, 2, held};
    struct code_spec spec = spec_of((struct shape){"cb", 4, 1, 0, 8});
    struct code code = {0};
    struct why why = {0};

    (void)state;
    spec.speed = speed;
    spec.speeds = 3;
    assert_int_equal(code_build(&code, &spec, 4, 8, &why), ERR_SHAPE);
    assert_string_equal(why.text, "speeds: 3 numbers for 4 workers");
    spec.speeds = 4;
    assert_int_equal(code_build(&code, &spec, 4, 8, &why), ERR_SHAPE);
    assert_string_equal(why.text, "speeds: number 3 is not above zero");
    spec.speeds = 0;
    spec.matrix = &matrix;
    assert_int_equal(code_build(&code, &spec, 4, 8, &why), ERR_SHAPE);
    assert_string_equal(why.text,
                        "column 1 of the matrix has 4 holders; code cb with "
                        "--stragglers 1 needs 2 of every part");
    assert_int_equal(code_build(&code, &spec, 3, 8, &why), ERR_SHAPE);
}

/* The same coefficients on every machine: plain arithmetic in a fixed order. */
static void test_same_bits(void **state)
{
    struct code a = code_of((struct shape){"cb", 20, 3, 0, 40});
    struct code b = code_of((struct shape){"cb", 20, 3, 0, 80});

    (void)state;
    assert_memory_equal(a.table.value, b.table.value,
                        80 * sizeof *a.table.value);
    assert_memory_equal(a.basis, b.basis, 80 * sizeof *a.basis);
    code_close(&a);
    code_close(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_construction),
        cmocka_unit_test(test_every_pattern),
        cmocka_unit_test(test_loads_follow_speeds),
        cmocka_unit_test(test_any_placement),
        cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_same_bits),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
