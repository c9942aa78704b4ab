/*
 * Text of others on a terminal.
 */
#include "base/plain.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

static void becomes(const char *text, const char *wanted)
{
    char buffer[64];

    (void)snprintf(buffer, sizeof buffer, "%s", text);
    plain_text(buffer);
    assert_string_equal(buffer, wanted);
}

static void test_plain_text(void **state)
{
    (void)state;
    becomes("w1: two\nlines", "w1: two\nlines");
    becomes("gr\xc3\xbc\xc3\x9f \xe2\x82\xac \xf0\x9f\x90\xa6",
            "gr\xc3\xbc\xc3\x9f \xe2\x82\xac \xf0\x9f\x90\xa6");
    becomes("\x1b[31mred\x07\x7f\r\t", "?[31mred????");
    becomes("\xc2\x9b"
            "31m",
            "??31m");
    becomes("\xff\xfe\x80", "???");
    becomes("cut \xe2\x82", "cut ??");
    becomes("cut \xf0", "cut ?");
}

/* What is not seen, or turns what follows around, and what is no UTF-8 though
 * it looks so. */
static void test_plain_hides(void **state)
{
    (void)state;
    becomes("a\xe2\x80\xae"
            "b",
            "a???b"); /* U+202E */
    becomes("\xe2\x81\xa6\xe2\x80\x8b\xef\xbb\xbf", "?????????");
    becomes("\xe2\x80\xa8\xed\xa0\x80", "??????"); /* U+2028, U+D800 */
    becomes("\xe0\x80\x9b\xf4\x90\x80\x80", "???????");
}

static void test_plain_copy(void **state)
{
    char out[8];

    (void)state;
    assert_int_equal(plain_copy(out, sizeof out, "K\xc3\xb6ln", 5), 5);
    assert_string_equal(out, "K\xc3\xb6ln");
    assert_int_equal(plain_copy(out, 3, "K\xc3\xb6ln", 5), 1);
    assert_string_equal(out, "K"); /* No half of a character. */
    assert_int_equal(plain_copy(out, sizeof out, "a\n\xc3\xb6", 3), 3);
    assert_string_equal(out, "a??"); /* The span ends within one. */
    assert_int_equal(plain_copy(out, sizeof out, "", 0), 0);
    assert_string_equal(out, "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_plain_text),
                                       cmocka_unit_test(test_plain_hides),
                                       cmocka_unit_test(test_plain_copy)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
