/* A list that is longer than its message says how much is left out. */
#include "node/host/answer.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <string.h>

static void test_list(void **state)
{
    for (size_t capacity = 600; capacity < 4000; capacity += 17) {
        struct answer_list list = answer_list_new(capacity);
        char text[4000];
        json_t *back;
        size_t size;

        for (int i = 0; i < 100; i++)
            answer_list_add(&list,
                            json_pack("{s:i, s:o}", "i", i, "x",
                                      json_number(i == 3 ? HUGE_VAL : i)));
        size = answer_write(json_pack("{s:o, s:I}", "all", list.entries, "more",
                                      (json_int_t)list.more),
                            text, capacity);
        assert_true(size <= capacity);
        back = json_loadb(text, size, 0, NULL);
        assert_non_null(back);
        assert_int_equal(
            json_array_size(json_object_get(back, "all")) +
                (size_t)json_integer_value(json_object_get(back, "more")),
            100);
        json_decref(back);
    }
    (void)state;
}

static void test_too_long(void **state)
{
    char text[64] = "";
    size_t size;

    (void)state;
    size = answer_write(json_pack("{s:s}", "long",
                                  "a sentence that is longer than the message "
                                  "that it is put into"),
                        text, sizeof text);
    assert_memory_equal(text, "{\"error\"", 8);
    assert_true(size < sizeof text);
    assert_true(answer_write(NULL, text, sizeof text) == size);
    size = answer_write(answer_stop(true, 7), text, sizeof text);
    assert_int_equal(size, strlen("{\"stopping\":true,\"step\":7}"));
    assert_memory_equal(text, "{\"stopping\":true,\"step\":7}", size);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_list),
        cmocka_unit_test(test_too_long),
    };

    return cmocka_run_group_tests_name("node/answer", tests, NULL, NULL);
}
