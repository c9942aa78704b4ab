/*
 * What a peer of a ring knows of everybody's time: who owes its part, from when
 * to when, and what they say of themselves.  The scene is the fuzz target's.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

/* Each target defines the same function, so no two can be linked.
 * NOLINTNEXTLINE(bugprone-suspicious-include) */
#include "../../fuzz/fuzz_ring.c"

#define A 0u

/* A round with A is open. */
static struct scene *open_round(void)
{
    static const uint8_t two_at_least[] = {16};
    struct scene *scene = open_scene(two_at_least, 1);

    scene->roads[A].up = true;
    meet(scene, A, A);
    roster(scene, A);
    propose(scene, A);
    report(scene, A);
    assert_int_equal(scene->machine.phase, PEER_ROUND);
    return scene;
}

static void pass(struct scene *scene, time_us for_us)
{
    scene->now += for_us;
    step(scene, (struct event){.kind = EVENT_TIME});
}

static bool owes(const struct scene *scene, uint32_t seat)
{
    return scene->machine.seats[seat].slow.owed_since != TIME_NEVER;
}

static void test_who_owes(void **state)
{
    struct scene *scene = open_round();
    const struct peer *p = &scene->machine;

    (void)state;
    assert_true(owes(scene, 0) && owes(scene, 1));
    pass(scene, 40 * MS_US);
    computed(scene);
    assert_false(owes(scene, 0));
    assert_true(owes(scene, 1));
    assert_int_equal(p->seats[0].slow.owed_us, 40 * MS_US);
    pass(scene, 30 * MS_US);
    help(scene, A); /* And so the next round is open. */
    assert_int_equal(p->trainer.optim.step, 1);
    assert_true(owes(scene, 0) && owes(scene, 1));
    assert_int_equal(scene->now - p->seats[1].slow.owed_since, 70 * MS_US);
    break_off(scene, A);
    assert_false(owes(scene, 1));
    assert_int_equal(p->seats[1].slow.owed_us, 70 * MS_US);
    close_scene(scene);
}

static void test_own_vitals(void **state)
{
    struct scene *scene = open_round();
    const struct peer *p = &scene->machine;

    (void)state;
    pass(scene, 40 * MS_US);
    computed(scene);
    pass(scene, 60 * MS_US);
    assert_int_equal(p->pulse.vitals.compute_us, 40 * MS_US);
    assert_int_equal(p->pulse.vitals.chunks, p->end - p->first);
    pass(scene, 100 * MS_US); /* With a beat. */
    assert_int_equal(p->seats[0].slow.count, 2);
    assert_int_equal(p->seats[0].slow.samples[1].vitals.waited_us, 160 * MS_US);
    close_scene(scene);
}

/* A PULSE goes with a beat, to all, as often as it should; nobody is told of
 * anything beside it. */
static void test_how_often(void **state)
{
    struct scene *scene = open_round();
    uint32_t sent = 0;

    (void)state;
    for (uint32_t i = 0; i < 12; i++) {
        pass(scene, 50 * MS_US);
        for (uint32_t k = 0; k < scene->actions.count; k++) {
            const struct action *action = &scene->actions.list[k];

            if (action->kind != ACTION_SEND || action->msg.kind != MSG_PULSE)
                continue;
            assert_int_equal(action->msg.pulse.count, 0);
            assert_true(action->msg.pulse.full);
            sent++;
        }
    }
    assert_int_equal(sent, 4);
    close_scene(scene);
}

static uint32_t traced(const struct scene *scene, enum stint_kind kind)
{
    uint32_t count = 0;

    for (uint32_t i = 0; i < scene->actions.count; i++) {
        const struct action *action = &scene->actions.list[i];

        if (action->kind != ACTION_TRACE || action->trace.kind != TRACE_STINT)
            continue;
        assert_string_equal(action->trace.name, "c");
        count += action->trace.stint.kind == kind;
    }
    return count;
}

/* With --trace, what it did goes to who listens here, with the next beat, and
 * once. */
static void test_stints(void **state)
{
    struct scene *scene = open_round();

    (void)state;
    scene->machine.pulse.tracing = true;
    pass(scene, 40 * MS_US);
    computed(scene);
    pass(scene, 5 * MS_US);
    help(scene, A);
    pass(scene, 100 * MS_US);
    assert_int_equal(traced(scene, STINT_COMPUTE), 1);
    assert_int_equal(traced(scene, STINT_WAIT), 1);
    pass(scene, 100 * MS_US);
    assert_int_equal(traced(scene, STINT_COMPUTE), 0);
    close_scene(scene);
}

/* The next life of a name begins anew. */
static void test_next_life(void **state)
{
    struct scene *scene = open_round();
    struct peer_seat *seat = &scene->machine.seats[1];
    const struct msg msg = {.kind = MSG_PULSE,
                            .pulse = {.full = true, .vitals = {.chunks = 7}}};

    (void)state;
    say(scene, A, &msg);
    assert_int_equal(seat->slow.count, 1);
    break_off(scene, A);
    scene->roads[A].up = true;
    meet(scene, A, A);
    say(scene, A, &msg);
    assert_int_equal(seat->slow.count, 2); /* The same one came back. */
    seat->incarnation++;
    say(scene, A, &msg);
    assert_int_equal(seat->slow.count, 1);
    assert_int_equal(seat->slow.owed_us, 0);
    close_scene(scene);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_who_owes),  cmocka_unit_test(test_own_vitals),
        cmocka_unit_test(test_how_often), cmocka_unit_test(test_stints),
        cmocka_unit_test(test_next_life),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
