/*
 * Sizes whose product wraps must give NULL, not a small block; what is handed
 * out is zeroed, aligned and, when grown, keeps its contents.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>

#include "base/mem.h"

static void test_zeroed_and_aligned(void **state)
{
    (void)state;
    for (size_t count = 0; count < 300; count += 7) {
        unsigned char *memory = mem_new(count, 3);

        assert_non_null(memory);
        assert_int_equal((uintptr_t)memory % MEM_LINE, 0);
        for (size_t i = 0; i < 3 * count; i++)
            assert_int_equal(memory[i], 0);
        memset(memory, 0xff, 3 * count);
        mem_free(memory);
    }
    mem_free(NULL);
}

/* Read from here, so that the compiler cannot see that it is too much. */
static volatile size_t most = SIZE_MAX;

static void test_overflow_is_refused(void **state)
{
    (void)state;
    assert_null(mem_new(most, 2));
    assert_null(mem_new(most / 2 + 2, 2));
    assert_null(mem_new(most, 1));
    assert_null(mem_new(most / 2, 1));
    assert_null(mem_new(most, most));
}

static void test_grow_keeps_contents(void **state)
{
    size_t capacity = 0;
    uint32_t *array = NULL;

    (void)state;
    for (uint32_t used = 0; used < 1000; used++) {
        if (used == capacity) {
            uint32_t *grown =
                mem_grow(array, used, used + 1, sizeof *array, &capacity);

            assert_non_null(grown);
            array = grown;
            for (size_t i = used; i < capacity; i++)
                assert_int_equal(array[i], 0);
        }
        assert_true(capacity > used);
        array[used] = used;
    }
    for (uint32_t i = 0; i < 1000; i++)
        assert_int_equal(array[i], i);
    assert_null(mem_grow(array, 1000, most, sizeof *array, &capacity));
    assert_int_equal(array[999], 999);
    mem_free(array);
}

static void test_text_is_a_copy(void **state)
{
    char text[] = "abc";
    char *copy = mem_text(text);

    (void)state;
    assert_non_null(copy);
    text[0] = 'x';
    assert_string_equal(copy, "abc");
    mem_free(copy);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_zeroed_and_aligned),
        cmocka_unit_test(test_overflow_is_refused),
        cmocka_unit_test(test_grow_keeps_contents),
        cmocka_unit_test(test_text_is_a_copy),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
