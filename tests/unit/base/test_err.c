/*
 * Every code has a text of its own, and sentences are built inside-out and
 * stay NUL-terminated however long they get.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>

#include "base/err.h"

static void test_every_code_has_a_text(void **state)
{
#define ERR_NAME(code, text) code,
    static const enum err codes[] = {ERR_LIST(ERR_NAME)};
#undef ERR_NAME
    const size_t count = sizeof codes / sizeof *codes;

    (void)state;
    for (size_t i = 0; i < count; i++) {
        assert_true(strlen(err_text(codes[i])) > 0);
        for (size_t j = 0; j < i; j++)
            assert_string_not_equal(err_text(codes[i]), err_text(codes[j]));
    }
    assert_int_equal(ERR_OK, 0);
    assert_non_null(err_text((enum err)9999));
}

static void test_sentence_grows_outwards(void **state)
{
    struct why why = {0};

    (void)state;
    assert_int_equal(why_set(&why, ERR_FORMAT, "index %d", 0), ERR_FORMAT);
    assert_int_equal(why_in(&why, ERR_FORMAT, "line %u", 7u), ERR_FORMAT);
    assert_int_equal(why_in(&why, ERR_FORMAT, "%s", "a.svm"), ERR_FORMAT);
    assert_string_equal(why.text, "a.svm: line 7: index 0");
    assert_int_equal(why_set(NULL, ERR_IO, "x"), ERR_IO);
    assert_int_equal(why_in(NULL, ERR_IO, "x"), ERR_IO);
}

static void test_long_sentences_are_cut(void **state)
{
    struct why why = {0};
    char text[2 * WHY_SIZE];

    (void)state;
    memset(text, 'x', sizeof text - 1);
    text[sizeof text - 1] = '\0';
    (void)why_set(&why, ERR_IO, "%s", text);
    assert_int_equal(strlen(why.text), WHY_SIZE - 1);
    (void)why_in(&why, ERR_IO, "head");
    assert_true(strlen(why.text) < WHY_SIZE);
    assert_memory_equal(why.text, "head: xxx", 9);
    (void)why_in(&why, ERR_IO, "%s", text);
    assert_true(strlen(why.text) < WHY_SIZE);
}

/* Names are the world's: what is in them is shown, not done. */
static void test_control_characters_are_shown(void **state)
{
    struct why why = {0};
    char text[WHY_SIZE];

    (void)state;
    (void)why_set(&why, ERR_IO, "%s: not there", "no\nsuch\x1b[31mfile\x7f");
    assert_string_equal(why.text, "no\\x0asuch\\x1b[31mfile\\x7f: not there");
    (void)why_in(&why, ERR_IO, "a\tb");
    assert_memory_equal(why.text, "a\\x09b: no\\x0asuch", 17);
    for (size_t length = WHY_SIZE - 8; length < WHY_SIZE; length++) {
        memset(text, 'x', length);
        text[length] = '\0';
        text[length - 1] = '\n';
        (void)why_set(&why, ERR_IO, "%s", text);
        assert_true(strlen(why.text) < WHY_SIZE);
        assert_null(strchr(why.text, '\n'));
        memset(text, '\n', length);
        (void)why_set(&why, ERR_IO, "%s", text);
        assert_int_equal(strlen(why.text), WHY_SIZE / 4 * 4 - 4);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_code_has_a_text),
        cmocka_unit_test(test_sentence_grows_outwards),
        cmocka_unit_test(test_long_sentences_are_cut),
        cmocka_unit_test(test_control_characters_are_shown),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
