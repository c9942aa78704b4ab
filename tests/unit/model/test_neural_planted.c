/*
 * Tests of the tests: each bug planted in a layer must be caught by finite
 * differences, and none must be found where none is.  Skipped unless the
 * layers were built with the bugs in them (tests/planted-*).
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "model/net/bugs.h"
#include "neural_ref.h"

static void every_planted_bug_is_caught(void **state)
{
    (void)state;
#ifdef MUSTER_PLANTED_BUGS
    const struct neural_shape in = {7, 8, 2};
    static const char text[] =
        "conv3x3x4 relu pool2/1 avg2/1 drop.25 dense6 tanh dense3";

    for (unsigned bug = 0; bug < NEURAL_BUGS; bug++) {
        bool found;

        neural_bug = (enum neural_bug)bug;
        found = !neural_ref_agrees(text, &in, NEURAL_SOFTMAX);
        neural_bug = NEURAL_BUG_NONE;
        if (found != (bug != NEURAL_BUG_NONE))
            fail_msg("bug %u", bug);
    }
#else
    skip();
#endif
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_planted_bug_is_caught),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
