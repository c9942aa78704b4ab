/*
 * Every character goes to bytes and back; bytes that are no character are none.
 */
#include "base/utf8.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static void test_every_character(void **state)
{
    static const uint32_t first_of[] = {0, 0x80, 0x800, 0x10000, 0x110000};
    size_t wanted = 0;

    (void)state;
    for (uint32_t code = 0; code <= 0x10ffff; code++) {
        char text[UTF8_SIZE];
        uint32_t got = UINT32_MAX;
        size_t size;

        wanted += code == first_of[wanted];
        size = utf8_put(code, text);
        assert_int_equal(size, wanted);
        if (code >= 0xd800 && code <= 0xdfff) {
            assert_int_equal(utf8_get(text, size, &got), 0);
            continue;
        }
        assert_int_equal(utf8_get(text, size, &got), size);
        assert_int_equal(got, code);
        assert_int_equal(utf8_get(text, size - 1, &got), 0);
    }
}

static void test_none(void **state)
{
    static const char *const none[] = {
        "\x80",  "\xc0\x80",         "\xc1\xbf",
        "\xc3(", "\xe0\x9f\xbf",     "\xf0\x8f\xbf\xbf",
        "\xff",  "\xf4\x90\x80\x80", "\xe2\x82("};
    uint32_t code;

    (void)state;
    for (size_t i = 0; i < sizeof none / sizeof *none; i++)
        assert_int_equal(utf8_get(none[i], strlen(none[i]), &code), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_character),
        cmocka_unit_test(test_none),
    };

    return cmocka_run_group_tests_name("utf8", tests, NULL, NULL);
}
