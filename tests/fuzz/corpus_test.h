/*
 * corpus_test.h - a fuzz target's corpus as a unit test: a program includes
 * this and its target, and calls corpus_test from main.
 */
#ifndef FUZZ_CORPUS_TEST_H
#define FUZZ_CORPUS_TEST_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>

#include "replay.h"

struct corpus {
    const char *name; /* Folder below tests/fuzz/corpus. */
    int least;        /* Inputs that must be there, and ... */
    int reaching;     /* ... get to what the target is about. */
};

static inline void corpus_replay(void **state)
{
    const struct corpus *corpus = *state;
    const char *const root = getenv("ROOT");
    char folder[4096];
    int fed;

    (void)snprintf(folder, sizeof folder, "%s/tests/fuzz/corpus/%s",
                   root == NULL ? "." : root, corpus->name);
    fed = replay_folder(folder);
    if (fed < 0) {
        print_message("no corpus at %s; set ROOT to the repository\n", folder);
        skip();
    }
    assert_true(fed >= corpus->least);
    assert_true(replay_reached >= corpus->reaching);
}

static inline int corpus_test(const char *name, int least, int reaching)
{
    struct corpus corpus = {name, least, reaching};
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_prestate(corpus_replay, &corpus),
    };

    return cmocka_run_group_tests_name("corpus", tests, NULL, NULL);
}

#endif /* FUZZ_CORPUS_TEST_H */
