/*
 * Names of files against patterns, one by one.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "core/run/names.h"

static void test_patterns(void **state)
{
    static const char *const patterns[] = {"config", "w#", "scores-#-#",
                                           "history.#.json"};
    static const char *const ours[] = {
        "config",         "w0",          "w12",
        "scores-0-0",     "scores-10-3", "history.1.json",
        "history.42.json"};
    static const char *const others[] = {
        "",          "confi",     "config2",      "w", "wx", "w1x", "scores-0",
        "scores-0-", "scores--1", "history.json", "#", "w#"};
    static const struct names names = NAMES_OF(patterns);

    (void)state;
    for (size_t i = 0; i < sizeof ours / sizeof *ours; i++)
        assert_true(names_have(&names, ours[i]));
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        assert_false(names_have(&names, others[i]));
}

/* What a kill leaves beside a file is its file's; but for a user's. */
static void test_left(void **state)
{
    static const char *const patterns[] = {"config", "scores-#-#"};
    static const char *const ours[] = {"config.tmp.0123456789abcdef",
                                       "scores-1-12.tmp.ffffffffffffffff"};
    static const char *const others[] = {"config",
                                         "config.tmp",
                                         "config.tmp.",
                                         "config.tmp.mine",
                                         "config.tmp.0123456789abcde",
                                         "config.tmp.0123456789abcdef0",
                                         "config.tmp.0123456789ABCDEF",
                                         "config2.tmp.0123456789abcdef",
                                         "confi.tmp.0123456789abcdef",
                                         ".tmp.0123456789abcdef"};
    static const struct names names = NAMES_OF(patterns);

    (void)state;
    for (size_t i = 0; i < sizeof ours / sizeof *ours; i++)
        assert_true(names_left(&names, ours[i]));
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        assert_false(names_left(&names, others[i]));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_patterns),
        cmocka_unit_test(test_left),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
