/*
 * Happenings pushed in any order come out by time, equal times in the order
 * they were pushed; checked against counting.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/rng.h"
#include "sim/heap.h"

static void test_empty(void **state)
{
    struct heap heap = {0};
    struct happening out;

    (void)state;
    assert_false(heap_pop(&heap, &out));
    heap_close(&heap);
}

static void test_order(void **state)
{
    struct heap heap = {0};
    struct happening last = {.at = -1};
    struct happening out;
    struct rng rng;
    uint32_t count = 0;

    (void)state;
    rng_init(&rng, 5);
    for (uint32_t i = 0; i < 5000; i++) {
        const struct happening in = {.at = (time_us)rng_below(&rng, 50),
                                     .number = i};

        assert_int_equal(heap_push(&heap, in), ERR_OK);
    }
    while (heap_pop(&heap, &out)) {
        assert_true(out.at > last.at ||
                    (out.at == last.at && out.number > last.number));
        last = out;
        count++;
    }
    assert_int_equal(count, 5000);
    heap_close(&heap);
}

/* Pops between pushes, as a simulation does. */
static void test_interleaved(void **state)
{
    struct heap heap = {0};
    struct happening out;
    struct rng rng;
    time_us now = 0;

    (void)state;
    rng_init(&rng, 6);
    for (uint32_t i = 0; i < 20000; i++) {
        const struct happening in = {.at = now + (time_us)rng_below(&rng, 100)};

        assert_int_equal(heap_push(&heap, in), ERR_OK);
        if (rng_chance(&rng, 0.5)) {
            assert_true(heap_pop(&heap, &out));
            assert_true(out.at >= now);
            now = out.at;
        }
    }
    heap_close(&heap);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_empty),
        cmocka_unit_test(test_order),
        cmocka_unit_test(test_interleaved),
    };

    return cmocka_run_group_tests_name("heap", tests, NULL, NULL);
}
