/*
 * A matrix undone by least squares.  The oracle is the graph code of Glasgow &
 * Wootters: parts are vertices, slots edges, and the least error has a closed
 * form by components: 0 with an odd cycle, (|L|-|R|)^2 / (|L|+|R|) for a
 * bipartite one (O5).
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

#define VERTICES 12u
#define EDGES    18u

static uint32_t edge[EDGES][2];

static struct code build(const struct code_matrix *matrix,
                         enum estimate estimate, enum decoding decoding)
{
    struct code_spec spec =
        spec_of((struct shape){"matrix", matrix->rows, 1, 0, 0});
    struct code code = {0};
    struct why why = {0};

    spec.matrix = matrix;
    spec.estimate = estimate;
    spec.decoding = decoding;
    if (code_build(&code, &spec, matrix->rows, 4 * matrix->cols, &why) !=
        ERR_OK)
        fail_msg("%s", why.text);
    return code;
}

/* A circle and random chords, no edge twice. */
static void draw_graph(struct rng *rng, double *entry)
{
    memset(entry, 0, EDGES * VERTICES * sizeof *entry);
    for (uint32_t e = 0; e < EDGES; e++) {
        uint32_t a = e % VERTICES;
        uint32_t b = (e + 1) % VERTICES;

        if (e >= VERTICES) {
            a = (uint32_t)rng_below(rng, VERTICES);
            b = (a + 2 + (uint32_t)rng_below(rng, VERTICES - 3)) % VERTICES;
        }
        edge[e][0] = a;
        edge[e][1] = b;
        entry[e * VERTICES + a] = 1;
        entry[e * VERTICES + b] = 1;
    }
}

/* Colour the component of `from`; true if it has an odd cycle. */
static bool colour(uint32_t from, const bool *in, int *side, uint32_t count[2])
{
    bool odd = false;
    bool grew = true;
    bool here[VERTICES] = {false};

    side[from] = 0;
    here[from] = true;
    while (grew) {
        grew = false;
        for (uint32_t e = 0; e < EDGES; e++) {
            for (uint32_t end = 0; end < 2 && in[e]; end++) {
                const uint32_t a = edge[e][end];
                const uint32_t b = edge[e][1 - end];

                if (!here[a])
                    continue;
                odd |= here[b] && side[a] == side[b];
                if (here[b])
                    continue;
                here[b] = true;
                side[b] = 1 - side[a];
                grew = true;
            }
        }
    }
    for (uint32_t v = 0; v < VERTICES; v++)
        count[here[v] ? side[v] : 0] += here[v];
    return odd;
}

static double component_error(const bool *in)
{
    int side[VERTICES];
    double total = 0;

    memset(side, -1, sizeof side);
    for (uint32_t v = 0; v < VERTICES; v++) {
        uint32_t count[2] = {0, 0};

        if (side[v] >= 0 || colour(v, in, side, count))
            continue;
        total += ((double)count[0] - count[1]) * ((double)count[0] - count[1]) /
                 (count[0] + count[1]);
    }
    return total / VERTICES;
}

static void test_graph_codes(void **state)
{
    static double entry[EDGES * VERTICES];
    const struct code_matrix matrix = {EDGES, VERTICES, entry};
    struct rng rng;

    (void)state;
    rng_init(&rng, 5);
    for (uint32_t graph = 0; graph < 10; graph++) {
        struct code code;

        draw_graph(&rng, entry);
        code = build(&matrix, ESTIMATE_REFERENCE, DECODE_OPTIMAL);
        assert_int_equal(code.exactness, EXACT_APPROX);
        for (uint32_t trial = 0; trial < 40; trial++) {
            bool in[EDGES];
            double weight[EDGES];
            double error = -1;

            for (uint32_t e = 0; e < EDGES; e++)
                in[e] = rng_chance(&rng, 0.7);
            in[0] = true;
            assert_int_equal(code_error(&code, in, weight, &error), ERR_OK);
            assert_true(fabs(error - component_error(in)) < 1e-9);
        }
        code_close(&code);
    }
}

/* Nobody in: nothing to decode. */
static void test_nobody(void **state)
{
    static double entry[] = {1, 0, 0, 1};
    const struct code_matrix matrix = {2, 2, entry};
    struct code code = build(&matrix, ESTIMATE_REFERENCE, DECODE_OPTIMAL);
    const bool in[2] = {false, false};
    double weight[2];
    double residual;

    (void)state;
    assert_int_equal(code_decode(&code, in, weight, &residual),
                     ERR_UNDECODABLE);
    code_close(&code);
}

/* frc as a file: numeric, all patterns of one; one-step is the same weight for
 * everyone, parts / entries in. */
static void test_frc_as_matrix(void **state)
{
    static double entry[] = {1, 1, 0, 0, 1, 1, 0, 0, 0, 0, 1, 1, 0, 0, 1, 1};
    const struct code_matrix matrix = {4, 4, entry};
    struct code code = build(&matrix, ESTIMATE_EXACT, DECODE_OPTIMAL);
    struct code rough = build(&matrix, ESTIMATE_EXACT, DECODE_ONE_STEP);
    const bool in[4] = {true, false, true, true};
    double weight[4];
    double residual;

    (void)state;
    assert_int_equal(code.exactness, EXACT_NUMERIC);
    assert_int_equal(code.certificate.patterns, 4);
    for (int again = 0; again < 2; again++) { /* Computed, then remembered. */
        assert_int_equal(code_decode(&code, in, weight, &residual), ERR_OK);
        assert_true(residual < 1e-14);
        assert_true(fabs(weight[0] - 1) < 1e-14);
        assert_true(weight[1] == 0);
        assert_true(fabs(weight[2] - 0.5) < 1e-14);
    }
    assert_int_equal(rough.exactness, EXACT_APPROX);
    assert_int_equal(code_decode(&rough, in, weight, &residual), ERR_OK);
    assert_true(fabs(weight[3] - 4.0 / 6) < 1e-15);
    assert_true(weight[1] == 0);
    code_close(&code);
    code_close(&rough);
}

static void test_refusals(void **state)
{
    static double entry[] = {1, 1, 0, 1, 1, 0, 0, 1, 2};
    const struct code_matrix matrix = {3, 3, entry};
    struct code_spec spec = spec_of((struct shape){"matrix", 3, 1, 0, 0});
    struct code code = {0};
    struct why why = {0};

    (void)state;
    spec.matrix = &matrix;
    assert_int_equal(code_build(&code, &spec, 3, 9, &why), ERR_SHAPE);
    assert_non_null(strstr(why.text, "the matrix is rank-deficient"));
    assert_non_null(strstr(why.text, "estimate=reference"));
    assert_int_equal(code_build(&code, &spec, 4, 9, &why), ERR_SHAPE);
    assert_string_equal(why.text, "the matrix has 3 rows, one for each worker; "
                                  "there are 4 workers");
    spec.estimate = ESTIMATE_RATIO;
    assert_int_equal(code_build(&code, &spec, 3, 9, &why), ERR_SHAPE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_graph_codes),
        cmocka_unit_test(test_nobody),
        cmocka_unit_test(test_frc_as_matrix),
        cmocka_unit_test(test_refusals),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
