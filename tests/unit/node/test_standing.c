/*
 * Rounds that begin and last as the test says, of a coordinator that is nothing
 * but a list of members.
 */
#include "node/star/standing.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

#include <cmocka.h>

#define MEMBERS 6

struct stage {
    struct coordinator c;
    struct member members[MEMBERS];
    uint32_t present[MEMBERS];
    struct standing standing;
    char text[STANDING_TEXT];
};

static void open_stage(struct stage *stage)
{
    *stage = (struct stage){.c.phase = COORDINATOR_ROUND};
    stage->c.members = stage->members;
    stage->c.present = stage->present;
    stage->c.alive = MEMBERS;
    for (uint32_t i = 0; i < MEMBERS; i++) {
        stage->present[i] = i;
        (void)snprintf(stage->members[i].name, NAME_SIZE, "w%u", i);
    }
}

static const char *look(struct stage *stage, time_us now)
{
    return standing_look(&stage->standing, &stage->c, now, stage->text);
}

static void test_told_once_then_rarely(void **state)
{
    struct stage stage;
    uint32_t told = 0;

    (void)state;
    open_stage(&stage);
    stage.c.trainer.optim.step = 8;
    stage.members[1].outstanding = stage.members[4].outstanding = 2;
    assert_null(look(&stage, 10 * SECOND_US - 1));
    assert_string_equal(look(&stage, 10 * SECOND_US),
                        "step 8 has waited 10 s for w1, w4");
    for (time_us now = 10 * SECOND_US; now < 100 * SECOND_US; now += SECOND_US)
        told += look(&stage, now) != NULL;
    assert_int_equal(told, 3); /* After 20, 40 and 80 s. */
}

/* A step of a minute is no news where they all are so. */
static void test_long_rounds_are_usual(void **state)
{
    struct stage stage;

    (void)state;
    open_stage(&stage);
    stage.members[0].outstanding = 1;
    (void)look(&stage, 30 * SECOND_US);
    stage.c.round_began_at = 31 * SECOND_US;
    assert_null(look(&stage, (31 + 119) * SECOND_US));
    assert_non_null(look(&stage, (31 + 120) * SECOND_US));
}

static void test_names_are_few_and_nobody_is_none(void **state)
{
    struct stage stage;

    (void)state;
    open_stage(&stage);
    assert_null(look(&stage, 60 * SECOND_US));
    for (uint32_t i = 0; i < MEMBERS; i++)
        stage.members[i].outstanding = 1;
    assert_string_equal(look(&stage, 60 * SECOND_US),
                        "step 0 has waited 60 s for w0, w1, w2, w3 and 2 more");
    stage.c.phase = COORDINATOR_GATHERING;
    assert_null(look(&stage, 600 * SECOND_US));
}

/* What could be done, where it can. */
static void test_the_way_out(void **state)
{
    struct stage stage;

    (void)state;
    open_stage(&stage);
    stage.c.code.spec.schedule = SCHED_STEAL;
    stage.c.code.spec.stragglers = 1;
    stage.members[0].outstanding = stage.members[2].outstanding = 1;
    assert_string_equal(look(&stage, 12 * SECOND_US),
                        "step 0 has waited 12 s for w0, w2; steps end without "
                        "any 1 (--stragglers)");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_told_once_then_rarely),
        cmocka_unit_test(test_long_rounds_are_usual),
        cmocka_unit_test(test_names_are_few_and_nobody_is_none),
        cmocka_unit_test(test_the_way_out),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
