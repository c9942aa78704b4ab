/*
 * Every row exactly once a pass, for all small numbers of rows and batches and
 * some large ones; counts against a plain count of what is selected; orders
 * that differ between passes, seeds and chunks, and are uniform as far as a
 * chi-squared test sees.  Known values pin the permutation: one bit of it would
 * change every model trained on batches.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/mem.h"
#include "base/rng.h"
#include "base/sampler.h"

static uint32_t divided_up(uint32_t a, uint32_t b)
{
    return (a + b - 1) / b;
}

/* How often the pass has each row, and how many rows its steps say they have;
 * steps are asked for from the last to the first. */
static void count_pass(const struct sampler *sampler, uint32_t pass,
                       uint32_t *times, uint32_t *row)
{
    const uint32_t steps = sampler_steps(sampler);
    const uint32_t chunks = sampler_chunks(sampler);
    const uint32_t most = sampler_chunk_most(sampler);

    memset(times, 0, sampler->rows * sizeof *times);
    for (uint32_t s = steps; s-- > 0;) {
        const uint32_t step = pass * steps + s;
        uint32_t in_step = 0;

        for (uint32_t k = chunks; k-- > 0;) {
            const uint32_t count = sampler_select(sampler, step, k, row);

            assert_int_equal(count, sampler_chunk_rows(sampler, step, k));
            assert_true(count <= most);
            in_step += count;
            for (uint32_t i = 0; i < count; i++) {
                assert_true(row[i] < sampler->rows);
                times[row[i]]++;
                if (!sampler_scatters(sampler->kind))
                    assert_int_equal(row[i] / sampler->chunk_rows, k);
            }
        }
        assert_int_equal(in_step, sampler_rows(sampler, step));
        assert_true(in_step > 0);
    }
}

static void assert_once(const struct sampler *sampler, uint32_t pass)
{
    uint32_t *times = mem_new(sampler->rows, sizeof *times);
    uint32_t *row = mem_new(sampler_chunk_most(sampler), sizeof *row);

    assert_non_null(times);
    assert_non_null(row);
    count_pass(sampler, pass, times, row);
    for (uint32_t i = 0; i < sampler->rows; i++)
        assert_int_equal(times[i], 1);
    mem_free(times);
    mem_free(row);
}

static void test_every_row_once_small(void **state)
{
    (void)state;
    for (uint32_t rows = 1; rows <= 300; rows++) {
        for (uint32_t i = 0; i < 3 * SAMPLERS; i++) {
            const uint32_t batch = 1 + (uint32_t)(rng_at(1, rows, i) % rows);
            const uint32_t chunk = 1 + (uint32_t)(rng_at(2, rows, i) % 20);
            const struct sampler sampler = sampler_of(
                (enum sampler_kind)(i % SAMPLERS), rows, chunk, batch, i);

            assert_true(sampler_fits(&sampler));
            assert_once(&sampler, i);
        }
    }
}

static void test_every_row_once_large(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < 6; i++) {
        const uint32_t rows = 20000 + (uint32_t)(rng_at(3, 0, i) % 300000);
        const uint32_t batch = 100 + (uint32_t)(rng_at(3, 1, i) % 9000);
        const struct sampler sampler = sampler_of(
            i % 2 == 0 ? SAMPLER_ROWS : SAMPLER_LOCAL, rows, 256, batch, i);

        assert_once(&sampler, 1000 + i);
    }
}

/* As many rows as there may be: in range, and none twice in a few batches. */
static void test_most_rows(void **state)
{
    enum { ROWS = 1 << 30, BATCH = 4096, BATCHES = 16 };
    const struct sampler sampler =
        sampler_of(SAMPLER_ROWS, ROWS, BATCH, BATCH, 5);
    uint8_t *seen = mem_new(ROWS / 8, 1);
    uint32_t row[BATCH];

    (void)state;
    assert_non_null(seen);
    for (uint32_t step = 0; step < BATCHES; step++) {
        assert_int_equal(sampler_select(&sampler, step, 0, row), BATCH);
        for (uint32_t i = 0; i < BATCH; i++) {
            assert_true(row[i] < ROWS);
            assert_false(seen[row[i] / 8] >> row[i] % 8 & 1);
            seen[row[i] / 8] |= (uint8_t)(1u << row[i] % 8);
        }
    }
    mem_free(seen);
}

static void test_short_last_batch(void **state)
{
    const struct sampler rows = sampler_of(SAMPLER_ROWS, 100, 8, 32, 0);
    const struct sampler local = sampler_of(SAMPLER_LOCAL, 100, 8, 32, 0);

    (void)state;
    assert_int_equal(sampler_steps(&rows), 4);
    assert_int_equal(sampler_chunks(&rows), 4);
    for (uint32_t step = 0; step < 8; step++)
        assert_int_equal(sampler_rows(&rows, step), step % 4 == 3 ? 4 : 32);
    assert_int_equal(sampler_chunk_rows(&rows, 3, 0), 4);
    assert_int_equal(sampler_chunk_rows(&rows, 3, 1), 0);
    /* Local batches differ by a row at most. */
    assert_int_equal(sampler_chunks(&local), 13);
    for (uint32_t step = 0; step < 8; step++)
        assert_int_equal(sampler_rows(&local, step), 25);
}

/* Owners' rows are cut by themselves: every row once, in its own chunk; batches
 * that differ by a row at most; and who knows only its own chunks draws the
 * same. */
static void test_cut_unlike(void **state)
{
    enum { CHUNKS = 7, ROWS = 41, MOST = 8 };
    static const uint32_t cut[CHUNKS + 1] = {0, 8, 15, 16, 24, 32, 40, ROWS};

    (void)state;
    for (uint32_t batch = 1; batch <= ROWS; batch++) {
        struct sampler all = sampler_of(SAMPLER_LOCAL, ROWS, MOST, batch, 3);
        struct sampler own;
        uint32_t times[ROWS] = {0};

        all.cut = cut;
        all.chunks = CHUNKS;
        own = all;
        own.cut = cut + 2;
        own.first = 2;
        assert_int_equal(sampler_chunks(&all), CHUNKS);
        for (uint32_t s = 0; s < sampler_steps(&all); s++) {
            uint32_t in_step = 0;

            for (uint32_t k = 0; k < CHUNKS; k++) {
                uint32_t row[MOST], again[MOST];
                const uint32_t count = sampler_select(&all, s, k, row);

                assert_int_equal(count, sampler_chunk_rows(&all, s, k));
                assert_true(count <= sampler_chunk_most(&all));
                in_step += count;
                for (uint32_t i = 0; i < count; i++) {
                    assert_true(row[i] >= cut[k] && row[i] < cut[k + 1]);
                    times[row[i]]++;
                }
                if (k < own.first)
                    continue;
                assert_int_equal(sampler_select(&own, s, k, again), count);
                assert_memory_equal(row, again, count * sizeof *row);
            }
            assert_int_equal(in_step, sampler_rows(&all, s));
            assert_in_range(in_step, ROWS / sampler_steps(&all),
                            divided_up(ROWS, sampler_steps(&all)));
        }
        for (uint32_t i = 0; i < ROWS; i++)
            assert_int_equal(times[i], 1);
    }
}

static void test_all_rows_are_whole(void **state)
{
    for (uint32_t batch = 100; batch < 103; batch++) {
        const struct sampler sampler =
            sampler_of(SAMPLER_ROWS, 100, 8, batch, 7);

        assert_int_equal(sampler.kind, SAMPLER_WHOLE);
        assert_int_equal(sampler.batch, 0);
        assert_int_equal(sampler_steps(&sampler), 1);
        assert_int_equal(sampler_chunks(&sampler), 13);
        assert_int_equal(sampler_rows(&sampler, 5), 100);
        assert_int_equal(sampler_chunk_rows(&sampler, 5, 12), 4);
    }
    (void)state;
}

/* How many of the rows of two steps are at the same place. */
static uint32_t alike(const struct sampler *a, uint32_t step_a,
                      const struct sampler *b, uint32_t step_b)
{
    uint32_t x[128], y[128], same = 0;

    assert_int_equal(sampler_select(a, step_a, 0, x), 128);
    assert_int_equal(sampler_select(b, step_b, 0, y), 128);
    for (uint32_t i = 0; i < 128; i++)
        same += x[i] == y[i];
    return same;
}

static void test_orders_differ(void **state)
{
    const struct sampler one = sampler_of(SAMPLER_ROWS, 1280, 128, 128, 1);
    const struct sampler two = sampler_of(SAMPLER_ROWS, 1280, 128, 128, 2);

    (void)state;
    assert_int_equal(alike(&one, 0, &one, 0), 128);
    assert_true(alike(&one, 0, &one, 10) < 4); /* Another pass. */
    assert_true(alike(&one, 0, &two, 0) < 4);
    assert_true(alike(&one, 0, &one, 1) == 0);
}

/* Chi-squared of the place of one row over many passes: 9 degrees of freedom,
 * of which one in a thousand is above 27.9; here for 64 rows and two numbers of
 * rows that are no power of two. */
static double spread(uint32_t rows, uint32_t wanted, uint64_t seed)
{
    enum { PASSES = 2000, BINS = 10 };
    const struct sampler sampler =
        sampler_of(SAMPLER_ROWS, rows, divided_up(rows, BINS),
                   divided_up(rows, BINS), seed);
    uint32_t count[BINS] = {0}, row[64];
    double sum = 0;

    assert_int_equal(sampler_steps(&sampler), BINS);
    assert_int_equal(rows % BINS, 0);
    for (uint32_t step = 0; step < PASSES * BINS; step++) {
        const uint32_t found = sampler_select(&sampler, step, 0, row);

        for (uint32_t i = 0; i < found; i++)
            count[step % BINS] += row[i] == wanted;
    }
    for (int i = 0; i < BINS; i++) {
        const double off = count[i] - (double)PASSES / BINS;

        sum += off * off / ((double)PASSES / BINS);
    }
    return sum;
}

static void test_uniform(void **state)
{
    double total = 0;

    (void)state;
    for (uint32_t wanted = 0; wanted < 20; wanted++) {
        total += spread(20, wanted, 3);
        total += spread(330, wanted * 16, 4);
    }
    /* The mean of 40 is near 9, within 5 deviations of sqrt(18 / 40). */
    assert_true(total / 40 > 5.6);
    assert_true(total / 40 < 12.4);
}

/* Neighbours in the order are no neighbours in the data: of 999 pairs of a pass
 * about 4 are within 2 of each other (Poisson). */
static void test_pairs(void **state)
{
    enum { ROWS = 1000, PASSES = 400 };
    uint32_t row[ROWS - 1], near = 0;

    (void)state;
    for (uint32_t pass = 0; pass < PASSES; pass++) {
        const struct sampler sampler =
            sampler_of(SAMPLER_ROWS, ROWS, ROWS - 1, ROWS - 1, pass);

        assert_int_equal(sampler_select(&sampler, 0, 0, row), ROWS - 1);
        for (uint32_t i = 1; i < ROWS - 1; i++)
            near += row[i] + 2 >= row[i - 1] && row[i - 1] + 2 >= row[i];
    }
    assert_true(near > 4 * PASSES - 5 * 40); /* 40: root of 1600. */
    assert_true(near < 4 * PASSES + 5 * 40);
}

static void test_known_rows(void **state)
{
    static const uint32_t known[8] = {880, 882, 348, 619, 747, 131, 22, 856};
    const struct sampler sampler = sampler_of(SAMPLER_ROWS, 1000, 8, 100, 42);
    uint32_t row[8];

    (void)state;
    assert_int_equal(sampler_select(&sampler, 25, 3, row), 8);
    assert_memory_equal(row, known, sizeof known);
}

static void test_lies(void **state)
{
    struct sampler sampler = sampler_of(SAMPLER_ROWS, 100, 8, 32, 0);
    enum sampler_kind kind;

    (void)state;
    assert_true(sampler_fits(&sampler));
    sampler.batch = 100;
    assert_false(sampler_fits(&sampler));
    sampler.batch = 0;
    assert_false(sampler_fits(&sampler));
    sampler.kind = SAMPLER_WHOLE;
    assert_true(sampler_fits(&sampler));
    sampler.batch = 1;
    assert_false(sampler_fits(&sampler));
    sampler = (struct sampler){.kind = (enum sampler_kind)3, .rows = 1};
    assert_false(sampler_fits(&sampler));
    assert_true(sampler_parse("local", &kind));
    assert_int_equal(kind, SAMPLER_LOCAL);
    assert_string_equal(sampler_name(kind), "local");
    assert_false(sampler_parse("batch", &kind));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_row_once_small),
        cmocka_unit_test(test_every_row_once_large),
        cmocka_unit_test(test_most_rows),
        cmocka_unit_test(test_short_last_batch),
        cmocka_unit_test(test_cut_unlike),
        cmocka_unit_test(test_all_rows_are_whole),
        cmocka_unit_test(test_orders_differ),
        cmocka_unit_test(test_uniform),
        cmocka_unit_test(test_pairs),
        cmocka_unit_test(test_known_rows),
        cmocka_unit_test(test_lies),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
