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

static void check_pool(uint32_t threads)
{
    static struct count count;
    struct pool *pool;
    uint64_t sum = 0;

    assert_int_equal(threads_new(threads, &pool), ERR_OK);
    assert_int_equal(pool->threads, threads);
    memset(&count, 0, sizeof count);
    for (uint32_t run = 0; run < RUNS; run++)
        pool->run(pool, one, &count, ITEMS);
    pool->run(pool, one, &count, 0);
    for (uint32_t i = 0; i < ITEMS; i++)
        assert_int_equal(count.done[i], RUNS);
    for (uint32_t i = 0; i < THREADS; i++)
        sum += count.by_thread[i];
    assert_int_equal(sum, (uint64_t)RUNS * ITEMS * (ITEMS + 1) / 2);
    threads_free(pool);
}

static void test_pools(void **state)
{
    (void)state;
    for (uint32_t threads = 1; threads <= THREADS; threads++)
        check_pool(threads);
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
        cmocka_unit_test(test_free_unused),
        cmocka_unit_test(test_flag),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
