/*
 * Any L blocks give everything (O6), the transpose gives X^T r (O7, B1), and
 * what is copied is copied to the bit.
 */
#include "code/erasure.h"

#include <float.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "base/rng.h"

#define PARTS_MAX 40u
#define ROWS      11u

struct data {
    double part[PARTS_MAX][ROWS];
    double answer[PARTS_MAX + 1][ROWS];
    double got[PARTS_MAX][ROWS];
    const double *answers[PARTS_MAX + 1];
    double *gots[PARTS_MAX];
    const double *parts[PARTS_MAX];
    double largest;
};

static void set_data(struct data *data, uint32_t parts, uint64_t seed)
{
    data->largest = 0;
    for (uint32_t l = 0; l < parts; l++) {
        data->gots[l] = data->got[l];
        data->parts[l] = data->part[l];
        for (uint32_t r = 0; r < ROWS; r++) {
            data->part[l][r] = rng_normal_at(seed, l, r);
            data->got[l][r] = NAN;
            data->largest = fmax(data->largest, fabs(data->part[l][r]));
        }
    }
}

/* What the blocks of the set answer. */
static void set_answers(struct data *data, const struct erasure *erasure,
                        const struct erasure_set *set)
{
    for (uint32_t s = 0; s < set->count; s++) {
        const double *row =
            erasure->row + (size_t)set->block[s] * erasure->parts;

        data->answers[s] = data->answer[s];
        for (uint32_t r = 0; r < ROWS; r++) {
            data->answer[s][r] = 0;
            for (uint32_t l = 0; l < erasure->parts; l++)
                data->answer[s][r] += row[l] * data->part[l][r];
        }
    }
}

static void check_decoded(const struct data *data,
                          const struct erasure *erasure,
                          const struct erasure_set *set)
{
    for (uint32_t l = 0; l < erasure->parts; l++) {
        if (blockset_has(&set->blocks, l)) {
            assert_memory_equal(data->got[l], data->part[l],
                                sizeof data->got[l]);
            continue;
        }
        for (uint32_t r = 0; r < ROWS; r++)
            assert_true(fabs(data->got[l][r] - data->part[l][r]) <=
                        10 * DBL_EPSILON / set->rcond * data->largest);
    }
    assert_true(set->residual <= 10 * DBL_EPSILON / set->rcond);
    assert_int_equal(set->copies + set->missing, erasure->parts);
}

static void decode(struct erasure *erasure, const struct blockset *blocks,
                   uint64_t seed)
{
    const struct erasure_set *set;
    struct data data;

    assert_int_equal(erasure_find(erasure, blocks, &set), ERR_OK);
    assert_true(blockset_equal(&set->blocks, blocks));
    set_data(&data, erasure->parts, seed);
    set_answers(&data, erasure, set);
    erasure_decode(set, ROWS, data.answers, data.gots);
    check_decoded(&data, erasure, set);
}

/* All sets of L and of L + 1 among P <= 10. */
static void test_any_l(void **state)
{
    (void)state;
    for (uint32_t blocks = 1; blocks <= 10; blocks++) {
        for (uint32_t parts = 1; parts <= blocks; parts++) {
            struct erasure erasure;

            assert_int_equal(erasure_init(&erasure, parts, blocks, 5), ERR_OK);
            for (uint32_t mask = 1; mask < 1u << blocks; mask++) {
                struct blockset set = {.word = {mask}};
                const uint32_t count = blockset_count(&set);

                if (count == parts || count == parts + 1)
                    decode(&erasure, &set, mask);
            }
            erasure_close(&erasure);
        }
    }
}

static void random_set(struct rng *rng, uint32_t blocks, uint32_t count,
                       struct blockset *set)
{
    *set = (struct blockset){0};
    for (uint32_t p = 0; p < blocks; p++) {
        if (rng_below(rng, blocks - p) < count) {
            blockset_add(set, p);
            count--;
        }
    }
}

static void test_larger(void **state)
{
    static const uint32_t shapes[][2] = {{10, 20}, {15, 20},  {10, 128},
                                         {28, 30}, {40, 128}, {40, 1000}};

    (void)state;
    for (uint32_t k = 0; k < sizeof shapes / sizeof *shapes; k++) {
        struct erasure erasure;
        struct rng rng;

        rng_init(&rng, k);
        assert_int_equal(erasure_init(&erasure, shapes[k][0], shapes[k][1], k),
                         ERR_OK);
        for (uint32_t i = 0; i < 300; i++) {
            struct blockset set;

            random_set(&rng, erasure.blocks,
                       erasure.parts + rng_chance(&rng, .2), &set);
            decode(&erasure, &set, i);
        }
        erasure_close(&erasure);
    }
}

/* sum_p X~_p^T u_p = X^T r, and a block that is gone is made up for. */
static void test_transpose(void **state)
{
    struct rng rng;

    (void)state;
    rng_init(&rng, 9);
    for (uint32_t trial = 0; trial < 400; trial++) {
        const uint32_t blocks = (uint32_t)rng_between(&rng, 1, 12);
        const uint32_t parts = (uint32_t)rng_between(&rng, 1, blocks);
        const struct erasure_set *set;
        struct erasure erasure;
        struct blockset chosen;
        struct data data; /* `part` is r, `answer` u. */
        double *u[PARTS_MAX];
        assert_int_equal(erasure_init(&erasure, parts, blocks, trial), ERR_OK);
        random_set(&rng, blocks, parts, &chosen);
        assert_int_equal(erasure_find(&erasure, &chosen, &set), ERR_OK);
        set_data(&data, parts, trial);
        for (uint32_t s = 0; s < parts; s++)
            u[s] = data.answer[s];
        erasure_spread(&erasure, set, ROWS, data.parts, u);
        for (uint32_t l = 0; l < parts; l++) {
            for (uint32_t r = 0; r < ROWS; r++) {
                double sum = 0;

                for (uint32_t s = 0; s < parts; s++)
                    sum += erasure.row[set->block[s] * parts + l] * u[s][r];
                assert_true(fabs(sum - data.part[l][r]) <=
                            10 * DBL_EPSILON / set->rcond * data.largest);
            }
        }
        erasure_close(&erasure);
    }
}

/* The condition number that is kept is that of G_S: against |G_S| and the
 * inverse taken column by column from what decodes unit vectors. */
static void test_condition(void **state)
{
    struct erasure erasure;
    struct rng rng;

    (void)state;
    rng_init(&rng, 4);
    assert_int_equal(erasure_init(&erasure, 6, 11, 3), ERR_OK);
    for (uint32_t trial = 0; trial < 50; trial++) {
        const struct erasure_set *set;
        struct blockset chosen;
        double norm = 0;
        double inverse = 0;

        random_set(&rng, 11, 6, &chosen);
        assert_int_equal(erasure_find(&erasure, &chosen, &set), ERR_OK);
        for (uint32_t l = 0; l < 6; l++) {
            double sum = 0;

            for (uint32_t s = 0; s < 6; s++)
                sum += fabs(erasure.row[set->block[s] * 6 + l]);
            norm = fmax(norm, sum);
        }
        for (uint32_t s = 0; s < 6; s++) {
            double unit[6] = {0};
            double part[6];
            const double *answers[6];
            double *parts[6];
            double sum = 0;

            unit[s] = 1;
            for (uint32_t l = 0; l < 6; l++) {
                answers[l] = &unit[l];
                parts[l] = &part[l];
            }
            erasure_decode(set, 1, answers, parts);
            for (uint32_t l = 0; l < 6; l++)
                sum += fabs(part[l]);
            inverse = fmax(inverse, sum);
        }
        assert_true(fabs(set->rcond * norm * inverse - 1) < 1e-9);
    }
    erasure_close(&erasure);
}

/* Two coded rows that are nearly the same: with one more block it decodes. */
static void test_one_more(void **state)
{
    const struct erasure_set *set;
    struct erasure erasure;
    struct blockset answered = {.word = {0x3c}}; /* Blocks 2..5 of 3 parts. */
    struct data data;

    (void)state;
    assert_int_equal(erasure_init(&erasure, 3, 6, 1), ERR_OK);
    for (uint32_t l = 0; l < 3; l++)
        erasure.row[4 * 3 + l] = erasure.row[3 * 3 + l] * (1 + 1e-13 * l);
    assert_int_equal(erasure_pick(&erasure, &answered, 0, 1, &set), ERR_OK);
    assert_int_equal(set->count, 3);
    assert_true(set->rcond < ERASURE_RCOND);
    assert_int_equal(erasure_pick(&erasure, &answered, ERASURE_RCOND, 1, &set),
                     ERR_OK);
    assert_int_equal(set->count, 4);
    assert_true(set->rcond > 1e-3);
    set_data(&data, 3, 1);
    set_answers(&data, &erasure, set);
    erasure_decode(set, ROWS, data.answers, data.gots);
    check_decoded(&data, &erasure, set);
    /* Quite the same: no three of them decode, four do. */
    memcpy(erasure.row + 4 * 3, erasure.row + 3 * 3, 3 * sizeof(double));
    erasure_close(&erasure);

    assert_int_equal(erasure_init(&erasure, 3, 6, 1), ERR_OK);
    memcpy(erasure.row + 4 * 3, erasure.row + 3 * 3, 3 * sizeof(double));
    blockset_remove(&answered, 5);
    assert_int_equal(erasure_pick(&erasure, &answered, ERASURE_RCOND, 1, &set),
                     ERR_UNDECODABLE);
    blockset_add(&answered, 5);
    assert_int_equal(erasure_pick(&erasure, &answered, ERASURE_RCOND, 1, &set),
                     ERR_OK);
    assert_int_equal(set->count, 4);
    blockset_remove(&answered, 2);
    blockset_remove(&answered, 3);
    assert_int_equal(erasure_pick(&erasure, &answered, ERASURE_RCOND, 1, &set),
                     ERR_UNDECODABLE);
    erasure_close(&erasure);
}

/* W may undo G to 1e-12 and still let the rounding of answers grow beyond it:
 * where that counts, one more block is taken. */
static void test_rounding_counts(void **state)
{
    const struct blockset answered = {.word = {0x3c}};

    (void)state;
    for (int counts = 0; counts < 2; counts++) {
        const struct erasure_set *set;
        struct erasure erasure;

        assert_int_equal(erasure_init(&erasure, 3, 6, 1), ERR_OK);
        erasure.rounding = counts ? DBL_EPSILON : 0;
        for (uint32_t l = 0; l < 3; l++)
            erasure.row[4 * 3 + l] = erasure.row[3 * 3 + l] * (1 + 1e-5 * l);
        assert_int_equal(
            erasure_pick(&erasure, &answered, ERASURE_RCOND, 1e-12, &set),
            ERR_OK);
        assert_int_equal(set->count, counts ? 4 : 3);
        assert_true(counts != (set->amplification * DBL_EPSILON > 1e-12));
        assert_true(set->residual <= 1e-12);
        erasure_close(&erasure);
    }
}

/* The matrix depends on (seed, L, P) alone, rows can be made one by one, and
 * the best of thirty is better than the first. */
static void test_matrix(void **state)
{
    struct erasure a, b;
    double row[10];

    (void)state;
    assert_int_equal(erasure_init(&a, 10, 20, 7), ERR_OK);
    assert_int_equal(erasure_init(&b, 10, 20, 7), ERR_OK);
    assert_true(a.seed == b.seed);
    assert_memory_equal(a.row, b.row, 200 * sizeof *a.row);
    for (uint32_t p = 0; p < 20; p++) {
        erasure_row(a.seed, 10, p, row);
        assert_memory_equal(row, a.row + p * 10, sizeof row);
        for (uint32_t l = 0; l < 10; l++)
            assert_true(p >= 10 || row[l] == (p == l));
    }
    erasure_close(&b);
    assert_int_equal(erasure_init(&b, 10, 20, 8), ERR_OK);
    assert_true(a.seed != b.seed);
    erasure_close(&a);
    erasure_close(&b);
}

/* A set asked for again is the same one, also after many others. */
static void test_kept(void **state)
{
    struct erasure erasure;
    const struct erasure_set *first, *set;
    struct blockset blocks = {.word = {0x155}};
    double weight[32];
    struct rng rng;

    (void)state;
    rng_init(&rng, 1);
    assert_int_equal(erasure_init(&erasure, 5, 12, 2), ERR_OK);
    assert_int_equal(erasure_find(&erasure, &blocks, &first), ERR_OK);
    memcpy(weight, first->weight,
           first->missing * first->count * sizeof *weight);
    assert_int_equal(erasure_find(&erasure, &blocks, &set), ERR_OK);
    assert_ptr_equal(set, first);
    for (uint32_t i = 0; i < 10 * ERASURE_KEPT; i++) {
        struct blockset other;

        random_set(&rng, 12, 5, &other);
        assert_int_equal(erasure_find(&erasure, &other, &set), ERR_OK);
        assert_true(blockset_equal(&set->blocks, &other));
    }
    assert_int_equal(erasure_find(&erasure, &blocks, &set), ERR_OK);
    assert_memory_equal(set->weight, weight,
                        set->missing * set->count * sizeof *weight);
    erasure_close(&erasure);
}

/* Sets that differ in their last blocks alone are not taken for each other. */
static void test_told_apart(void **state)
{
    struct erasure erasure;

    (void)state;
    assert_int_equal(erasure_init(&erasure, 3, 200, 1), ERR_OK);
    for (uint32_t block = 60; block < 200; block++) {
        struct blockset set = {.word = {3}};

        blockset_add(&set, block);
        decode(&erasure, &set, block);
    }
    erasure_close(&erasure);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_any_l),
        cmocka_unit_test(test_larger),
        cmocka_unit_test(test_transpose),
        cmocka_unit_test(test_condition),
        cmocka_unit_test(test_one_more),
        cmocka_unit_test(test_rounding_counts),
        cmocka_unit_test(test_matrix),
        cmocka_unit_test(test_kept),
        cmocka_unit_test(test_told_apart),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
