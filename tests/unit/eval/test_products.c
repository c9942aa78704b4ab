/*
 * Products with a coded block through the table: of rows that are here, of
 * strips that are sent, and against plain loops.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>

#include "base/mem.h"
#include "data/rows/coded.h"
#include "eval/small.h"

enum { ROWS = 24, COLS = 6, CHUNK = 3, CHUNKS = 8, PARTS = 2, HALF = 12 };

/* Of two parts, the second one by half. */
static const struct block_term terms[] = {
    {.part = 0, .end = 4, .factor = 1},
    {.part = 1, .first = 4, .end = 8, .factor = 0.5}};
static const struct block_share share = {
    .block = 7, .parts = PARTS, .copies = 2, .count = 2, .terms = terms};
static const struct block_share other = {
    .block = 8, .parts = PARTS, .copies = 2, .count = 1, .terms = terms};
static const double w[8] = {1, -0.5, 0.25, 2, 0, 1};

static struct evaluator *open_products(const struct small *small,
                                       const struct dataset *data)
{
    const struct shelf shelf = {.data = data, .isa = isa_best()};
    uint8_t room[BRIEF_MAX];
    const struct brief brief =
        brief_products(room, &small->subject.rows, false);
    struct evaluator *evaluator;

    assert_int_equal(evaluator_open(&brief, &shelf, pool_serial(), &evaluator),
                     ERR_OK);
    return evaluator;
}

static enum err store(struct evaluator *evaluator, const struct small *small,
                      const struct block_share *of, uint32_t strip)
{
    const struct block_shape shape = coded_shape(&small->data, PARTS, 2);
    uint8_t *bytes = mem_new(coded_strip_bytes_max(&shape), 1);
    const struct coded_strip made = {of->terms, of->count, bytes};
    enum err err;

    assert_non_null(bytes);
    assert_int_equal(coded_strips_encode(&small->data, &shape, &made, 1, strip),
                     ERR_OK);
    err = evaluator_store(evaluator, of, strip, bytes,
                          coded_strip_bytes(&shape, strip));
    mem_free(bytes);
    return err;
}

static void store_scores(struct evaluator *evaluator, const struct small *small)
{
    for (uint32_t strip = 0; strip < CHUNKS / PARTS; strip++)
        assert_int_equal(store(evaluator, small, &share, strip), ERR_OK);
}

static void test_scores(void **state)
{
    double here[HALF], sent[HALF];
    const struct computation asked = {.what = {.kind = EVALUATE_SCORES, .w = w},
                                      .end = HALF,
                                      .share = share,
                                      .vector = here};
    struct computation again = asked;
    struct evaluator *evaluator;
    struct small small;

    (void)state;
    small_open(&small, ROWS, COLS, CHUNK);
    evaluator = open_products(&small, &small.data);
    assert_int_equal(evaluator->dims, 8);
    assert_int_equal(evaluator->sums, ROWS);
    assert_int_equal(evaluator->chunks, CHUNKS);
    assert_int_equal(evaluator_begin(evaluator, &asked), ERR_OK);
    assert_int_equal(evaluator_run(evaluator, &asked, NULL), ERR_OK);
    evaluator_end(evaluator);
    evaluator_close(evaluator);
    for (uint32_t i = 0; i < HALF; i++) {
        double z = 0;

        for (uint32_t j = 0; j < COLS; j++)
            z += w[j] *
                 (small_x(&small, i, j) + 0.5 * small_x(&small, i + HALF, j));
        assert_true(fabs(here[i] - z) < 1e-12);
    }

    evaluator = open_products(&small, NULL);
    store_scores(evaluator, &small);
    again.vector = sent;
    assert_int_equal(evaluator_begin(evaluator, &again), ERR_OK);
    assert_int_equal(evaluator_run(evaluator, &again, NULL), ERR_OK);
    evaluator_end(evaluator);
    evaluator_close(evaluator);
    assert_memory_equal(here, sent, sizeof here);
    small_close(&small);
}

/* A strip of another block comes while the thread is at the first. */
static void test_block_kept(void **state)
{
    double first[HALF], second[HALF];
    struct computation asked = {.what = {.kind = EVALUATE_SCORES, .w = w},
                                .end = HALF,
                                .share = share,
                                .vector = first};
    struct evaluator *evaluator;
    struct small small;

    (void)state;
    small_open(&small, ROWS, COLS, CHUNK);
    evaluator = open_products(&small, NULL);
    store_scores(evaluator, &small);
    for (int turn = 0; turn < 2; turn++) {
        asked.vector = turn == 0 ? first : second;
        if (turn == 1)
            store_scores(evaluator, &small);
        assert_int_equal(evaluator_begin(evaluator, &asked), ERR_OK);
        if (turn == 0)
            assert_int_equal(store(evaluator, &small, &other, 0), ERR_OK);
        assert_int_equal(evaluator_run(evaluator, &asked, NULL), ERR_OK);
        evaluator_end(evaluator);
    }
    assert_memory_equal(first, second, sizeof first);
    evaluator_close(evaluator);
    small_close(&small);
}

static void test_refused(void **state)
{
    const uint8_t none[8] = {0};
    struct evaluator *evaluator;
    struct small small;

    (void)state;
    small_open(&small, ROWS, COLS, CHUNK);
    evaluator = open_products(&small, NULL);
    assert_int_equal(evaluator_store(evaluator, &share, 5, none, 8),
                     ERR_FORMAT);
    assert_int_equal(evaluator_store(evaluator, &share, 0, none, 8),
                     ERR_FORMAT);
    evaluator_close(evaluator);
    assert_int_equal(evaluator_open_problem(&small.problem, &sampler_whole,
                                            pool_serial(), &evaluator),
                     ERR_OK);
    assert_int_equal(evaluator_store(evaluator, &share, 0, none, 8),
                     ERR_FORMAT);
    evaluator_close(evaluator);
    small_close(&small);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_scores),
        cmocka_unit_test(test_block_kept),
        cmocka_unit_test(test_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
