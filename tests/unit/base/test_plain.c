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

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_plain_text)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
