/*
 * A pool must run every item exactly once, on a thread of its own number, and
 * let nothing of a run outlive it.
 */
#include "base/flag.h"
#include "os/run/threads.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#define ITEMS   1000u
#define FEW     5u /* More than there are threads, and a word has bits. */
#define RUNS    200u
#define THREADS 4u

struct count {
    uint32_t done[ITEMS];
    uint64_t by_thread[THREADS]; /* Unshared: a wrong number would race. */
    uint32_t threads;
};

static void one(void *context, uint32_t thread, uint32_t item)
{
    struct count *count = context;

    count->done[item]++;
    count->by_thread[thread % THREADS] += item + 1;
}

typedef enum err (*make_pool)(uint32_t threads, struct pool **pool);

static enum err spinning(uint32_t threads, struct pool **pool)
{
    return threads_new_spinning(threads, 50, pool);
}

static void check_pool(make_pool make, uint32_t threads, uint32_t items)
{
    static struct count count;
    struct pool *pool;
    uint64_t sum = 0;

    assert_int_equal(make(threads, &pool), ERR_OK);
    assert_int_equal(pool->threads, threads);
    memset(&count, 0, sizeof count);
    for (uint32_t run = 0; run < RUNS; run++)
        pool->run(pool, one, &count, items);
    pool->run(pool, one, &count, 0);
    for (uint32_t i = 0; i < items; i++)
        assert_int_equal(count.done[i], RUNS);
    for (uint32_t i = 0; i < THREADS; i++)
        sum += count.by_thread[i];
    assert_int_equal(sum, (uint64_t)RUNS * items * (items + 1) / 2);
    threads_free(pool);
}

static void test_pools(void **state)
{
    (void)state;
    for (uint32_t threads = 1; threads <= THREADS; threads++) {
        check_pool(threads_new, threads, ITEMS);
        check_pool(threads_new, threads, FEW);
        check_pool(spinning, threads, ITEMS);
        check_pool(spinning, threads, FEW);
    }
}

/* Every coordinate in one slice, the same cut each time, with or without
 * threads. */
struct cut {
    uint32_t end[SLICES_MAX];
    uint8_t *seen;
};

static void mark(void *context, uint32_t slice, uint32_t first, uint32_t end)
{
    struct cut *cut = context;

    assert_int_equal(first % SLICE_GRAIN, 0);
    cut->end[slice] = end;
    for (uint32_t i = first; i < end; i++)
        cut->seen[i]++;
}

static void check_slices(struct pool *pool, uint32_t count, uint32_t most)
{
    static uint8_t seen[100 * SLICE_GRAIN + 1];
    struct cut cut = {.seen = seen};
    uint32_t slices;

    memset(seen, 0, sizeof seen);
    slices = pool_slices(pool, count, 2 * SLICE_GRAIN, mark, &cut);
    assert_in_range(slices, 1, most);
    assert_int_equal(cut.end[slices - 1], count);
    for (uint32_t i = 0; i < count; i++)
        assert_int_equal(seen[i], 1);
}

static void test_slices(void **state)
{
    struct pool *pool;

    (void)state;
    assert_int_equal(threads_new_spinning(THREADS, 50, &pool), ERR_OK);
    for (uint32_t count = 0; count < 100 * SLICE_GRAIN; count += 997) {
        check_slices(pool, count, SLICES_MAX);
        check_slices(pool_serial(), count, 1);
        check_slices(NULL, count, 1);
    }
    threads_free(pool);
}

static void test_free_unused(void **state)
{
    struct pool *pool;

    (void)state;
    assert_int_equal(threads_new(3, &pool), ERR_OK);
    threads_free(pool);
    threads_free(NULL);
    assert_true(threads_available() >= 1);
}

static void test_flag(void **state)
{
    struct flag flag = {0};

    (void)state;
    assert_false(flag_raised(&flag));
    flag_raise(&flag);
    assert_true(flag_raised(&flag));
    flag_lower(&flag);
    assert_false(flag_raised(&flag));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_pools),
        cmocka_unit_test(test_slices),
        cmocka_unit_test(test_free_unused),
        cmocka_unit_test(test_flag),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
