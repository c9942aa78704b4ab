/*
 * Every input that the fuzzer's corpus keeps is run through its target, which
 * must give rows or a sentence.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>

/* Each target defines the same function, so no two can be linked.
 * NOLINTNEXTLINE(bugprone-suspicious-include) */
#include "../../fuzz/fuzz_npy.c"
#include "../../fuzz/replay.h"

static void test_corpus(void **state)
{
    const char *const root = getenv("ROOT");
    char folder[4096];
    int fed;

    (void)state;
    (void)snprintf(folder, sizeof folder, "%s/tests/fuzz/corpus/npy",
                   root == NULL ? "." : root);
    fed = replay_folder(folder);
    if (fed < 0) {
        print_message("no corpus at %s; set ROOT to the repository\n", folder);
        skip();
    }
    assert_true(fed >= 14);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_corpus),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
