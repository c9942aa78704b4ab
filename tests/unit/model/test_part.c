/*
 * A part's gradient is the sum of its own chunks, whatever weights, with no
 * other chunk there; its bounds are those of a data set that has nothing else.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <string.h>

#include "base/mem.h"
#include "model/linear/part.h"
#include "model/make_data.h"

enum { ROWS = 75, COLS = 9, DIMS = 16 };

static void add_part(struct part *part, const double *w, void *scratch,
                     double *sum, double *loss)
{
    assert_int_equal(part_begin(part, w), ERR_OK);
    for (uint32_t chunk = part->first; chunk < part->end; chunk++)
        assert_int_equal(problem_add_chunk(part->problem, w, chunk,
                                           part->exponent, scratch,
                                           &part->tally),
                         ERR_OK);
    part_end(part, sum, loss);
}

static void draw_weights(struct rng *rng, double *w)
{
    for (int j = 0; j < DIMS; j++)
        w[j] = j < COLS ? rng_unit(rng) - 0.5 : 0;
}

static void test_parts_add_up(void **state)
{
    struct rng rng;

    (void)state;
    rng_init(&rng, 11);
    for (int k = 0; k < 50; k++) {
        struct dataset data = make_data(&rng, ROWS, COLS, k % 4, false);
        const struct problem problem =
            problem_of(&data, MODEL_LOGISTIC, ISA_PORTABLE);
        const uint32_t chunks = dataset_chunks(&data);
        const uint32_t cut = 1 + (uint32_t)rng_below(&rng, chunks - 1);
        void *scratch = mem_new(problem_scratch_bytes(&problem), 1);
        double w[DIMS], all[DIMS], one[DIMS], two[DIMS];
        double loss[3];
        struct part part;

        draw_weights(&rng, w);
        assert_int_equal(part_init(&part, &problem), ERR_OK);
        assert_int_equal(part_take(&part, 0, chunks, pool_serial()), ERR_OK);
        assert_int_equal(part.counted, ROWS);
        add_part(&part, w, scratch, all, &loss[0]);
        assert_int_equal(part_take(&part, cut, chunks, pool_serial()), ERR_OK);
        assert_int_equal(part.first_row, cut * data.chunk_rows);
        assert_int_equal(part.rows, ROWS - cut * data.chunk_rows);
        add_part(&part, w, scratch, two, &loss[2]);
        chunkset_clear(&data.present);
        chunkset_add_range(&data.present, 0, cut);
        assert_int_equal(part_take(&part, 0, cut, pool_serial()), ERR_OK);
        add_part(&part, w, scratch, one, &loss[1]);
        for (int j = 0; j < COLS; j++)
            assert_true(fabs(one[j] + two[j] - all[j]) <=
                        1e-9 * (1 + fabs(all[j])));
        assert_true(fabs(loss[1] + loss[2] - loss[0]) <= 1e-9 * loss[0]);
        part_close(&part);
        mem_free(scratch);
        dataset_close(&data);
    }
}

/* The first chunks alone, and a data set of those rows. */
static void test_bounds_are_its_own(void **state)
{
    struct rng rng, same;
    struct bounds part, whole;

    (void)state;
    rng_init(&rng, 5);
    same = rng;
    struct dataset data = make_data(&rng, ROWS, COLS, 3, true);
    struct dataset few = make_data(&same, ROWS, COLS, 3, true);
    const struct problem all = problem_of(&data, MODEL_LINEAR, ISA_PORTABLE);
    const struct problem alone = problem_of(&few, MODEL_LINEAR, ISA_PORTABLE);
    const uint32_t end = dataset_chunks(&data) / 2;

    few.rows = end * few.chunk_rows;
    assert_int_equal(bounds_init(&part, data.stride), ERR_OK);
    assert_int_equal(bounds_init(&whole, data.stride), ERR_OK);
    assert_int_equal(bounds_measure_part(&part, &all, 0, end, pool_serial()),
                     ERR_OK);
    assert_int_equal(bounds_measure_part(&whole, &alone, 0, end, pool_serial()),
                     ERR_OK);
    for (uint32_t j = 0; j < data.stride; j++) {
        assert_true(fabs(part.u[j] - whole.u[j]) <= 1e-12 * whole.u[j]);
        assert_true(fabs(part.v[j] - whole.v[j]) <= 1e-12 * whole.v[j]);
    }
    assert_true(part.norm == whole.norm && part.label == whole.label);
    few.rows = ROWS;
    bounds_close(&part);
    bounds_close(&whole);
    dataset_close(&data);
    dataset_close(&few);
}

static void test_rows_of_weight_zero_do_not_count(void **state)
{
    struct rng rng;
    struct part part;

    (void)state;
    rng_init(&rng, 8);
    struct dataset data = make_data(&rng, ROWS, COLS, 1, false);
    const struct problem problem =
        problem_of(&data, MODEL_LOGISTIC, ISA_PORTABLE);

    assert_int_equal(dataset_add_weights(&data), ERR_OK);
    data.weight[data.chunk_rows] = 0;
    data.weight[ROWS - 1] = 0;
    assert_int_equal(part_init(&part, &problem), ERR_OK);
    assert_int_equal(part_take(&part, 1, 2, pool_serial()), ERR_OK);
    assert_int_equal(part.counted, data.chunk_rows - 1);
    assert_true(part_row(&part, 0).weight == 0);
    assert_true(part_row(&part, 1).weight == 1);
    assert_true(part_row(&part, 1).y == data.y[data.chunk_rows + 1]);
    part_close(&part);
    dataset_close(&data);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_parts_add_up),
        cmocka_unit_test(test_bounds_are_its_own),
        cmocka_unit_test(test_rows_of_weight_zero_do_not_count),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
