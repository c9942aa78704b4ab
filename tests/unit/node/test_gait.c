/*
 * How vectors are written for others: which way is taken after which trials,
 * and that every byte is there, and no other, whatever the way.
 */
#include "node/group/gait.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/mem.h"
#include "node/group/near_parts.h"

enum { PERCENT = 300, TIMES = 200 };

/* So often, of which `times` were trials that found this. */
static int teach(struct gait *gait, int times, uint64_t cached, uint64_t past)
{
    int trials = 0;

    for (int i = 0; i < times; i++) {
        if (!gait_tries(gait))
            continue;
        gait_learn(gait, cached, past, PERCENT);
        trials++;
    }
    return trials;
}

/* Caches that are not common: found at once, and tried now and then only. */
static void test_far(void **state)
{
    struct gait gait = {0};

    (void)state;
    assert_false(gait.past);
    (void)teach(&gait, 2, 1000, 100);
    assert_true(gait.past);
    assert_in_range(teach(&gait, TIMES, 1000, 100), 1, TIMES / 10);
    assert_true(gait.past);
}

static void test_near(void **state)
{
    struct gait gait = {0};

    (void)state;
    assert_in_range(teach(&gait, TIMES, 30, 100), 1, TIMES / 10);
    assert_false(gait.past);
    /* Quicker for who writes, but not by so much as who reads loses. */
    (void)teach(&gait, TIMES, 250, 100);
    assert_false(gait.past);
}

/* The machine's processors are others from now on, and later the same again. */
static void test_moved(void **state)
{
    struct gait gait = {0};

    (void)state;
    (void)teach(&gait, TIMES, 30, 100);
    (void)teach(&gait, 32, 1000, 100);
    assert_true(gait.past);
    (void)teach(&gait, 32, 30, 100);
    assert_false(gait.past);
}

/* A process that is interrupted while it is timed. */
static void test_interrupted(void **state)
{
    struct gait gait = {0};

    (void)state;
    for (int i = 0; i < 20; i++) {
        (void)teach(&gait, TIMES, 30, 100);
        while (!gait_tries(&gait))
            ;
        gait_learn(&gait, 1000000, 100, PERCENT);
        assert_false(gait.past);
    }
    (void)teach(&gait, TIMES, 1000, 100);
    for (int i = 0; i < 20; i++) {
        (void)teach(&gait, TIMES, 1000, 100);
        while (!gait_tries(&gait))
            ;
        gait_learn(&gait, 1000, 1000000, PERCENT);
        assert_true(gait.past);
    }
}

/* Half of those who read are near and half are not: worth it. */
static void test_mixed(void **state)
{
    struct gait gait = {0};
    int past = 0;

    (void)state;
    for (int i = 0; i < TIMES; i++) {
        if (gait_tries(&gait))
            gait_learn(&gait, i % 2 == 0 ? 1000 : 100, 100, PERCENT);
        past += gait.past;
    }
    assert_in_range(past, TIMES * 9 / 10, TIMES);
}

static void put(struct near *near, uint8_t *from, size_t size, uint8_t *to)
{
    for (size_t i = 0; i < size; i++)
        from[i] = (uint8_t)(i * 31 + i / 4096 + near->turns + 1);
    memset(to, 0, size + MEM_LINE);
    near_put_all(near, to, from, size, 2 + near->turns % 2);
    assert_memory_equal(to, from, size);
    for (size_t i = size; i < size + MEM_LINE; i++)
        assert_int_equal(to[i], 0);
}

static void test_every_byte(void **state)
{
    static const size_t sizes[] = {1,     8,      4095,     16383,
                                   16384, 16385,  20480,    65528,
                                   98304, 131075, 1u << 20, (1u << 21) + 8};
    const size_t most = (1u << 21) + 256;
    struct near *near = mem_new(1, sizeof *near);
    uint8_t *from = mem_new(most, 1), *to = mem_new(most, 1);

    (void)state;
    if (near == NULL || from == NULL || to == NULL)
        fail_msg("out of memory");
    for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++) {
        for (uint32_t turn = 0; turn < 24; turn++) {
            const size_t offset = turn % 3 * 4;

            for (uint32_t i = 0; i < NEAR_GAITS; i++)
                near->gaits[NEAR_VECTOR][i] =
                    (struct gait){.past = turn % 2 == 1};
            put(near, from + offset, sizes[k], to);
        }
    }
    mem_free(to);
    mem_free(from);
    mem_free(near);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_far),         cmocka_unit_test(test_near),
        cmocka_unit_test(test_moved),       cmocka_unit_test(test_mixed),
        cmocka_unit_test(test_interrupted), cmocka_unit_test(test_every_byte),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
