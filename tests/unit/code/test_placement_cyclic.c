/*
 * The construction is checked against its definition (H B^T = 0, the support),
 * decoding against a^T B = 1 for every pattern of at most s stragglers at n up
 * to 12, and the certificate against the worst that those patterns show (O3).
 */
#include "code/code.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "base/rng.h"
#include "code/code_fixture.h"
#include "code/place/placement_cyclic.h"

static struct code cyclic(uint32_t n, uint32_t s, uint32_t chunks)
{
    return code_of((struct shape){"cyclic", n, s, 0, chunks});
}

static double entry(const struct code *code, uint32_t slot, uint32_t part)
{
    return code_entry(code, slot, part);
}

/* Row `row` of the H of a draw, times row `slot` of B, over its size. */
static double h_times_b(const struct code *code, uint32_t draw, uint32_t row,
                        uint32_t slot)
{
    const uint32_t n = code->slots;
    const uint64_t seed = rng_at(code->spec.seed, draw, n);
    double last = 0;
    double sum = 0;
    double size = 0;

    for (uint32_t part = 0; part < n; part++) {
        const double h = part + 1 < n ? rng_normal_at(seed, row, part) : last;

        last -= h;
        sum += h * entry(code, slot, part);
        size += fabs(h * entry(code, slot, part));
    }
    return fabs(sum) / size;
}

static void check_construction(struct code *code)
{
    const uint32_t n = code->slots;
    const uint32_t s = code->spec.stragglers;

    for (uint32_t draw = 0; draw < 3; draw++) {
        assert_int_equal(cyclic_draw(code, draw), ERR_OK);
        for (uint32_t i = 0; i < n; i++) {
            for (uint32_t part = 0; part < n; part++)
                assert_int_equal(entry(code, i, part) != 0,
                                 (part + n - i) % n <= s);
            assert_true(entry(code, i, i) == 1);
            for (uint32_t row = 0; row < s; row++)
                assert_true(h_times_b(code, draw, row, i) <= 1e-9);
        }
    }
}

static void test_construction(void **state)
{
    (void)state;
    for (uint32_t n = 1; n <= 12; n++) {
        for (uint32_t s = 0; s < n; s++) {
            struct code code = cyclic(n, s, n);

            check_construction(&code);
            code_close(&code);
        }
    }
}

/* max |a^T B - 1|, in the plainest way. */
static double residual_ref(const struct code *code, const double *weight)
{
    double most = 0;

    for (uint32_t part = 0; part < code->slots; part++) {
        double total = 0;

        for (uint32_t slot = 0; slot < code->slots; slot++)
            total += weight[slot] * entry(code, slot, part);
        most = fmax(most, fabs(total - 1));
    }
    return most;
}

/* Decode with the slots of the mask; returns the residual. */
static double decode_mask(const struct code *code, uint32_t mask)
{
    bool in[SLOTS_MAX];
    double weight[SLOTS_MAX];
    double residual = -1;

    for (uint32_t slot = 0; slot < code->slots; slot++)
        in[slot] = mask >> slot & 1u;
    assert_int_equal(code_decode(code, in, weight, &residual), ERR_OK);
    for (uint32_t slot = 0; slot < code->slots; slot++) {
        if (!in[slot])
            assert_true(weight[slot] == 0);
    }
    assert_true(residual <= 1e-12);
    assert_true(residual_ref(code, weight) <= residual + 1e-12);
    return residual;
}

static void check_every_pattern(uint32_t n, uint32_t s)
{
    struct code code = cyclic(n, s, n + 5);
    double worst = 0;
    uint32_t patterns = 0;

    for (uint32_t mask = 0; mask < 1u << n; mask++) {
        const uint32_t silent = n - (uint32_t)__builtin_popcount(mask);
        bool in[SLOTS_MAX];
        double unused[SLOTS_MAX];
        double residual;

        assert_int_equal(enough_with(&code, mask), silent <= s);
        assert_int_equal(feasible_with(&code, mask), silent <= s);
        if (silent <= s) {
            residual = decode_mask(&code, mask);
            patterns += silent == s;
            worst = silent == s ? fmax(worst, residual) : worst;
            continue;
        }
        for (uint32_t slot = 0; slot < n; slot++)
            in[slot] = mask >> slot & 1u;
        assert_int_equal(code_decode(&code, in, unused, &residual),
                         ERR_UNDECODABLE);
    }
    assert_true(code.certificate.exhaustive);
    assert_int_equal(code.certificate.patterns, patterns);
    assert_true(code.certificate.worst_residual == worst);
    assert_true(code.certificate.worst_amplification >= 1 - 1e-12);
    code_close(&code);
}

static void test_every_pattern(void **state)
{
    (void)state;
    for (uint32_t n = 1; n <= 12; n++) {
        for (uint32_t s = 0; s < n; s++)
            check_every_pattern(n, s);
    }
}

/* Fewer stragglers than s: the shortest weights, not merely some. */
static void test_shortest_weights(void **state)
{
    struct code code = cyclic(8, 3, 64);
    bool in[8] = {true, true, true, true, true, true, true, true};
    double few[8];
    double many[8];
    double residual;
    double sum_few = 0;
    double sum_many = 0;

    (void)state;
    assert_int_equal(code_decode(&code, in, many, &residual), ERR_OK);
    in[2] = in[5] = in[6] = false;
    assert_int_equal(code_decode(&code, in, few, &residual), ERR_OK);
    for (uint32_t i = 0; i < 8; i++) {
        sum_few += few[i] * few[i];
        sum_many += many[i] * many[i];
    }
    assert_true(sum_many < sum_few);
    code_close(&code);
}

/* K < n: some slots have no work and weigh nothing; the parts that exist come
 * back, whoever else is out. */
static void test_empty_parts(void **state)
{
    struct code code = cyclic(8, 2, 2);
    bool in[8];
    double weight[8];
    double residual;

    (void)state;
    assert_int_equal(code.piece_count, 2); /* Parts 3 and 7. */
    assert_int_equal(code.busy_count, 6);
    for (uint32_t a = 0; a < 8; a++) {
        for (uint32_t b = 0; b < 8; b++) {
            memset(in, true, sizeof in);
            in[a] = in[b] = false;
            assert_int_equal(code_decode(&code, in, weight, &residual), ERR_OK);
            assert_true(residual <= 1e-12);
            for (uint32_t slot = 0; slot < 8; slot++) {
                if (!in[slot] || !code.busy[slot])
                    assert_true(weight[slot] == 0);
            }
        }
    }
    for (uint32_t slot = 0; slot < 8; slot++)
        in[slot] = code.busy[slot]; /* The idle never answer. */
    assert_true(code_feasible(&code, in));
    code_close(&code);
}

static void test_same_spec_same_matrix(void **state)
{
    struct code a = cyclic(10, 3, 40);
    struct code b = cyclic(10, 3, 40);
    struct code_spec spec = a.spec;
    struct code c = {0};

    (void)state;
    assert_memory_equal(a.table.value, b.table.value,
                        40 * sizeof *a.table.value);
    spec.seed++;
    assert_int_equal(code_build(&c, &spec, 10, 40, NULL), ERR_OK);
    assert_true(
        memcmp(a.table.value, c.table.value, 40 * sizeof *a.table.value) != 0);
    code_close(&a);
    code_close(&b);
    code_close(&c);
}

/* The shapes of the published runs must be served. */
static void test_published_shapes(void **state)
{
    struct code one = cyclic(30, 1, 60);
    struct code two = cyclic(30, 2, 60);

    (void)state;
    assert_true(one.certificate.worst_residual <= CODE_RESIDUAL_MAX);
    assert_int_equal(two.certificate.patterns, 435);
    assert_true(two.certificate.exhaustive);
    code_close(&one);
    code_close(&two);
}

static void test_approx_when_inaccurate(void **state)
{
    struct code code = cyclic(60, 12, 60);

    (void)state;
    assert_true(code.certificate.worst_residual > CODE_RESIDUAL_MAX);
    assert_false(code.certificate.exhaustive);
    assert_int_equal(code.exactness, EXACT_APPROX);
    code_close(&code);
}

/* The second build takes the draw and the certificate of the first. */
static void test_certificate_is_remembered(void **state)
{
    struct code_memory memory = {0};
    struct code_spec spec = spec_of((struct shape){"cyclic", 12, 4, 0, 60});
    struct code a = {0};
    struct code b = {0};

    (void)state;
    spec.memory = &memory;
    assert_int_equal(code_build(&a, &spec, 12, 60, NULL), ERR_OK);
    assert_int_equal(memory.count, 1);
    assert_int_equal(a.certificate.patterns, 495);
    memory.memo[0].certificate.patterns = 7; /* It was not made again. */
    assert_int_equal(code_build(&b, &spec, 12, 99, NULL), ERR_OK);
    assert_int_equal(memory.count, 1);
    assert_int_equal(b.certificate.patterns, 7);
    assert_memory_equal(a.table.value, b.table.value,
                        60 * sizeof *a.table.value);
    code_close(&b);
    spec.seed++;
    assert_int_equal(code_build(&b, &spec, 12, 60, NULL), ERR_OK);
    assert_int_equal(memory.count, 2);
    code_close(&a);
    code_close(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_construction),
        cmocka_unit_test(test_every_pattern),
        cmocka_unit_test(test_shortest_weights),
        cmocka_unit_test(test_empty_parts),
        cmocka_unit_test(test_same_spec_same_matrix),
        cmocka_unit_test(test_published_shapes),
        cmocka_unit_test(test_approx_when_inaccurate),
        cmocka_unit_test(test_certificate_is_remembered),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
