/*
 * Encodings: beginnings of texts and single words, each with the sentence that
 * it must give or none.  That every reader of text asks is tested through the
 * program (tests/lib/bad_input.py).
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "data/text/letters.h"

static void test_beginnings(void **state)
{
#define SENTENCE(name)                                                         \
    name ", and text is UTF-8; save it as that, or `iconv -f " name            \
         " -t UTF-8 OLD >NEW` makes it so"
    static const struct {
        const char *text;
        size_t size;
        const char *sentence;
    } cases[] = {
        {"", 0, ""},
        {"a", 1, ""},
        {"a,b,y\n1,2,3\n", 12, ""},
        {"\xef\xbb\xbf"
         "a,b,y\n",
         9, ""},
        {"\xff\xfe"
         "a\0,\0",
         6, SENTENCE("UTF-16")},
        {"\xfe\xff\0a", 4, SENTENCE("UTF-16")},
        {"\xff\xfe\0\0a\0\0\0", 8, SENTENCE("UTF-32")},
        {"\0\0\xfe\xff\0\0\0a", 8, SENTENCE("UTF-32")},
        {"a\0,\0y\0\n\0", 8, SENTENCE("UTF-16LE")},
        {"\0a\0,\0y\0\n", 8, SENTENCE("UTF-16BE")},
        {"a\0,\0y\0", 6, ""}, /* Too short to be sure. */
        {"a\0,\0yy\n\0", 8, ""},
        {"\0\0\0\0\0\0\0\0", 8, ""},
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct why why = {0};
        const enum err err = letters_begin(cases[i].text, cases[i].size, &why);

        assert_int_equal(err, *cases[i].sentence == '\0' ? ERR_OK : ERR_FORMAT);
        assert_string_equal(why.text, cases[i].sentence);
    }
}

static void test_words(void **state)
{
    static const char *const good[] = {"", "red", "gr\xc3\xbcn",
                                       "\xe2\x82\xac 5", "\xf0\x9f\x98\x80"};
    static const char *const bad[] = {"gr\xfcn", "gr\xc3", "\x80",
                                      "\xed\xa0\x80", "\xc0\xaf"};
    struct why why = {0};

    (void)state;
    for (size_t i = 0; i < sizeof good / sizeof *good; i++)
        assert_int_equal(
            letters_check((struct span){good[i], strlen(good[i])}, &why),
            ERR_OK);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_int_equal(
            letters_check((struct span){bad[i], strlen(bad[i])}, &why),
            ERR_FORMAT);
    assert_int_equal(letters_check((struct span){"gr\xfcn", 4}, &why),
                     ERR_FORMAT);
    assert_string_equal(why.text,
                        "'gr?n' is not UTF-8, as text is; if it is Latin-1, "
                        "`iconv -f latin1 -t UTF-8 OLD >NEW` makes it so");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_beginnings),
        cmocka_unit_test(test_words),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
