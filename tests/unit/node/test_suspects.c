/*
 * Accounts of workers made up by hand, and the sentences that come of them.
 */
#include "node/host/suspects.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

/* Two of three have had nothing to do for as long as anyone looks, so that
 * there is no usual time: who owes is behind all the same. */
static void test_a_step_that_stands(void **state)
{
    static const char *const names[] = {"w0", "w1", "w2"};
    struct slow slow[3];
    struct suspect all[3];

    (void)state;
    for (uint32_t i = 0; i < 3; i++) {
        slow_init(&slow[i]);
        slow_owes(&slow[i], i == 1, 0);
        for (time_us at = SECOND_US; at <= 5 * SECOND_US; at += SECOND_US)
            slow_take(&slow[i], &(struct vitals){0}, at);
        all[i] = (struct suspect){.name = names[i],
                                  .state = "active",
                                  .behind_s = i == 1 ? 5.25 : 0,
                                  .slow = &slow[i]};
    }
    assert_int_equal(suspects_judge(all, 3), ERR_OK);
    assert_string_equal(all[0].name, "w1");
    assert_string_equal(all[0].why,
                        "has owed an answer for 5.25 s; its beats come");
    assert_string_equal(all[1].why, "");
    assert_string_equal(all[2].why, "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_step_that_stands),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
