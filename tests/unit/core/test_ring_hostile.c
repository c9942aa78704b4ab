/*
 * A peer of a ring against one that has the token and says what no peer says:
 * what the fuzzer, or a reader of its findings, has shown, one test each.  The
 * scene and its oracles are the fuzz target's.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

/* Each target defines the same function, so no two can be linked.
 * NOLINTNEXTLINE(bugprone-suspicious-include) */
#include "../../fuzz/fuzz_ring.c"

enum { A, B, D, E };

static const uint8_t two_at_least[] = {16};

/* Those of `names` greet, each on the link of its number, and say that all hear
 * all; whatever is not said otherwise is as it should be. */
static struct scene *open_with(uint32_t others)
{
    struct scene *scene = open_scene(two_at_least, 1);

    for (uint32_t who = 0; who < OTHERS; who++)
        if ((others >> who & 1) != 0) {
            scene->roads[who].up = true;
            meet(scene, who, who);
            roster(scene, who);
        }
    return scene;
}

static uint32_t seat_of(const struct scene *scene, const char *name)
{
    const struct peer *p = &scene->machine;

    for (uint32_t i = 0; i < p->seat_count; i++)
        if (strcmp(p->seats[i].name, name) == 0)
            return i;
    return PEER_NO_SEAT;
}

static bool is_banned(const struct scene *scene, uint32_t who)
{
    const uint32_t seat = seat_of(scene, names[who]);

    return seat != PEER_NO_SEAT && scene->machine.seats[seat].banned;
}

/* A proposes itself and this peer; the rest is only alone to do. */
static void propose_two(struct scene *scene)
{
    propose(scene, A);
    assert_int_equal(scene->machine.phase, PEER_REPORTING);
}

static void finish_alone(struct scene *scene)
{
    for (uint32_t i = 0; i < 100 && !scene->over; i++) {
        scene->now += 300 * MS_US;
        step(scene, (struct event){.kind = EVENT_TIME});
        computed(scene);
    }
    assert_true(scene->over);
    assert_int_equal(scene->machine.trainer.optim.step, STEPS);
    assert_int_equal(scene->machine.ending, ERR_OK);
}

/* Behind an address lives somebody else by now; it is dialled again, as another
 * link than the one that stands. */
static void test_another_answers(void **state)
{
    struct scene *scene = open_with(1u << A);

    (void)state;
    for (uint32_t i = 0; i < 10; i++) {
        scene->now += 30 * MS_US;
        step(scene, (struct event){.kind = EVENT_TIME});
    }
    assert_true(scene->dialled[1]); /* B, by A's word. */
    scene->dialled[1] = false;
    scene->roads[LINKS + 1].up = true;
    step(scene,
         (struct event){.kind = EVENT_LINK_UP, .link = PEER_DIALLED + 1});
    meet(scene, LINKS + 1, E);
    assert_int_equal(scene->machine.seats[seat_of(scene, "e")].link,
                     PEER_DIALLED + 1);
    assert_false(scene->dialled[1] || scene->dialled[2]); /* Not at once. */
    for (uint32_t i = 0; i < 10; i++) {
        scene->now += 30 * MS_US;
        step(scene, (struct event){.kind = EVENT_TIME});
    }
    assert_true(scene->dialled[2]);
    close_scene(scene);
}

/* Where the contact is, packets are swallowed; others, of whom one came and
 * told, are dialled before it is given up. */
static void test_silent_contact(void **state)
{
    static const uint8_t with_contact[] = {64 + 16};
    struct scene *scene = open_scene(with_contact, 1);

    (void)state;
    step(scene, (struct event){.kind = EVENT_TIME});
    assert_true(scene->dialled[0]);
    scene->roads[B].up = true;
    meet(scene, B, B);
    for (uint32_t i = 0; i < 10; i++) {
        scene->now += 30 * MS_US;
        roster(scene, B);
    }
    assert_int_equal(scene->machine.contact_link, PEER_DIALLED);
    assert_true(scene->dialled[1]); /* A: its place is known. */
    close_scene(scene);
}

static bool rejects(const struct scene *scene, uint32_t link)
{
    for (uint32_t i = 0; i < scene->actions.count; i++) {
        const struct action *action = &scene->actions.list[i];

        if (action->kind == ACTION_SEND && action->link == link &&
            action->msg.kind == MSG_REJECT)
            return true;
    }
    return false;
}

/* The contact of `who` is this peer, which dialled it first: `who` looks for
 * its contact nevertheless, and may be of a higher or a lower name.  The view
 * that stands on the first link goes on, and the other is told to look no
 * more. */
static void second_dial(uint32_t who, const char *name)
{
    struct scene *scene = open_with(1u << A);

    for (uint32_t i = 0; i < 50 && !scene->dialled[1]; i++) {
        scene->now += 30 * MS_US;
        step(scene, (struct event){.kind = EVENT_TIME});
        roster(scene, A); /* It is not silent. */
    }
    assert_true(scene->dialled[1]); /* B or D: by A's word. */
    scene->dialled[1] = false;
    scene->roads[LINKS + 1].up = true;
    step(scene,
         (struct event){.kind = EVENT_LINK_UP, .link = PEER_DIALLED + 1});
    meet(scene, LINKS + 1, who);
    roster(scene, LINKS + 1);
    assert_int_equal(scene->machine.seats[seat_of(scene, name)].link,
                     PEER_DIALLED + 1);
    scene->roads[3].up = true;
    meet(scene, 3, who);
    assert_true(rejects(scene, 3));
    assert_int_equal(scene->machine.seats[seat_of(scene, name)].link,
                     PEER_DIALLED + 1);
    assert_false(scene->machine.broken);
    close_scene(scene);
}

static void test_contact_that_came_first(void **state)
{
    (void)state;
    second_dial(B, "b");
    second_dial(D, "d");
}

/* Is one that greets so turned away, and with what words? */
static bool is_refused(struct scene *scene, const struct msg_meet *meet,
                       const char *words)
{
    const struct msg msg = {.kind = MSG_MEET, .meet = *meet};

    scene->roads[A].up = true;
    say(scene, A, &msg);
    for (uint32_t i = 0; i < scene->actions.count; i++) {
        const struct action *action = &scene->actions.list[i];

        if (action->kind == ACTION_SEND && action->msg.kind == MSG_REJECT)
            return strstr(action->msg.reject.reason, words) != NULL;
    }
    return false;
}

/* With other bounds of private rows it would scale its sums otherwise, and no
 * step would ever be made. */
static void test_other_bounds(void **state)
{
    const struct peer_options like = options_of(0);
    struct scene *scene = open_with(0);
    struct msg_meet meet = {.version = MSG_VERSION,
                            .incarnation = 100,
                            .name = "a",
                            .place = "a",
                            .config = like.config,
                            .given = like.given,
                            .arithmetic = like.arithmetic,
                            .end = CHUNKS};

    (void)state;
    meet.config.bytes[3] ^= 1;
    assert_true(is_refused(scene, &meet, "bounds of the owners' rows"));
    meet.given.bytes[3] ^= 1; /* Then all of it is another training. */
    assert_true(is_refused(scene, &meet, "data or options"));
    close_scene(scene);
}

/* No view could come after it. */
static void test_highest_number(void **state)
{
    (void)state;
    for (uint32_t kind = 0; kind < 2; kind++) {
        struct scene *scene = open_with(1u << A);
        struct ring_known known[2] = {{.name = "a"}, {.name = "c"}};
        struct msg msg = {.kind = MSG_PROPOSE};

        propose_two(scene);
        msg.propose = (struct msg_propose){
            .number = UINT64_MAX, .count = 2, .members = known};
        if (kind == 1) {
            msg.kind = MSG_ROSTER;
            msg.roster = (struct msg_roster){
                .view = {.number = UINT64_MAX, .proposer = "a"},
                .count = 2,
                .known = known};
        }
        say(scene, A, &msg);
        assert_true(is_banned(scene, A));
        finish_alone(scene);
        close_scene(scene);
    }
}

/* Names that nobody bears do not keep out one who is there. */
static void test_names_without_end(void **state)
{
    struct scene *scene = open_with(0);
    struct ring_known known[PEERS_MAX] = {{.name = "a"}};
    struct msg msg = {.kind = MSG_ROSTER};

    (void)state;
    for (uint32_t i = 1; i < PEERS_MAX; i++)
        known[i] = (struct ring_known){
            .name = {'x', (char)('a' + i / 8), (char)('a' + i % 8)},
            .heard = true};
    msg.roster = (struct msg_roster){.count = PEERS_MAX, .known = known};
    scene->roads[A].up = true;
    meet(scene, A, A);
    say(scene, A, &msg);
    assert_int_equal(scene->machine.seat_count, PEERS_MAX);
    scene->roads[B].up = true;
    meet(scene, B, B);
    assert_int_equal(scene->machine.seats[seat_of(scene, "b")].link, B);
    assert_true(seat_of(scene, "a") != PEER_NO_SEAT);
    close_scene(scene);
}

/* A beginning of a state, or of another position than was said, and not as it
 * was: it is found out when some of it has been taken.  Its sender is shut out,
 * and this one goes on from where it was. */
static void test_state_that_is_none(void **state)
{
    (void)state;
    make_path();
    for (size_t cut = 0; cut <= path.size[2]; cut = 2 * cut + 1) {
        struct scene *scene = open_with(1u << A);
        const size_t size = path.size[2] - cut;
        uint8_t bytes[STATE_MAX];
        struct msg msg = {.kind = MSG_REPORT};

        memcpy(bytes, path.state[2], size);
        for (size_t at = size / 2; at + 64 < size; at += 8)
            bytes[at] ^= 1;
        propose_two(scene);
        msg.report = (struct msg_report){.view = scene->machine.view.key,
                                         .stand = stand_at(2)};
        msg.report.stand.state = quick_long(NULL, bytes, size, 0);
        msg.report.stand.position += cut == 0 ? 2 : 0;
        say(scene, A, &msg);
        assert_int_equal(scene->machine.phase, PEER_TAKING);
        msg = (struct msg){.kind = MSG_STATE};
        msg.state = (struct msg_state){.view = scene->machine.view.key,
                                       .size = size,
                                       .bytes = bytes,
                                       .count = size};
        say(scene, A, &msg);
        assert_true(is_banned(scene, A));
        finish_alone(scene);
        close_scene(scene);
    }
}

/* Only who is ahead sends its state: of another it would overwrite what this
 * peer has reported, and what all may have to go back to. */
static void test_state_of_one_level(void **state)
{
    struct scene *scene = open_with(1u << A | 1u << B);
    struct ring_known known[3] = {{.name = "a"}, {.name = "b"}, {.name = "c"}};
    uint8_t bytes[64] = {1};
    struct msg msg = {.kind = MSG_PROPOSE};

    (void)state;
    msg.propose =
        (struct msg_propose){.number = 5, .count = 3, .members = known};
    say(scene, A, &msg);
    report(scene, A);
    msg = (struct msg){.kind = MSG_STATE};
    msg.state = (struct msg_state){.view = scene->machine.view.key,
                                   .size = sizeof bytes,
                                   .bytes = bytes,
                                   .count = sizeof bytes};
    say(scene, A, &msg);
    assert_true(is_banned(scene, A));
    assert_int_equal(scene->machine.state_size, path.size[0]);
    close_scene(scene);
}

/* Two say of the next round that it has other lengths. */
static void test_lengths_differ(void **state)
{
    struct scene *scene = open_with(1u << A | 1u << B);
    struct ring_known known[3] = {{.name = "a"}, {.name = "b"}, {.name = "c"}};
    struct msg msg = {.kind = MSG_PROPOSE};

    (void)state;
    msg.propose =
        (struct msg_propose){.number = 5, .count = 3, .members = known};
    say(scene, A, &msg);
    report(scene, A);
    report(scene, B);
    assert_int_equal(scene->machine.phase, PEER_ROUND);
    slice(scene, B, false, 0, 1, 4); /* Of the next: one coordinate. */
    slice(scene, A, false, 0, 1, 0);
    assert_int_equal(scene->machine.phase, PEER_HALTING);
    computed(scene);
    assert_int_equal(scene->machine.stats.doubts, 1);
    close_scene(scene);
}

/* A newcomer is to come in at the end of the round, and its link breaks before:
 * what it reported is lost, so that the view is over before it begins. */
static void test_newcomer_lost_while_it_waits(void **state)
{
    struct scene *scene = open_with(1u << A | 1u << B);
    struct ring_known known[3] = {{.name = "a"}, {.name = "b"}, {.name = "c"}};
    struct msg msg = {.kind = MSG_PROPOSE};

    (void)state;
    propose_two(scene);
    report(scene, A);
    roster(scene, A);
    assert_int_equal(scene->machine.phase, PEER_ROUND);
    msg.propose = (struct msg_propose){.number = scene->machine.highest + 1,
                                       .position = path.position[1],
                                       .count = 3,
                                       .members = known};
    say(scene, A, &msg);
    assert_true(scene->machine.parked.number != 0);
    break_off(scene, B);
    computed(scene);
    help(scene, A);
    /* It was over at once, and the two are proposed. */
    assert_int_equal(scene->machine.view.name.number, msg.propose.number + 1);
    assert_int_equal(scene->machine.view.count, 2);
    close_scene(scene);
}

/* A view with A begins, and it has other weights for this step. */
static void differ(struct scene *scene, uint32_t at)
{
    propose_two(scene);
    report(scene, A);
    assert_int_equal(scene->machine.phase, PEER_ROUND);
    slice(scene, A, false, 0, at, 7);
    computed(scene);
}

/* It had other weights, and has again: it was wrong twice, and is shut out. */
static void test_who_is_wrong_twice(void **state)
{
    struct scene *scene = open_with(1u << A);

    (void)state;
    differ(scene, 0);
    assert_false(is_banned(scene, A));
    differ(scene, 0);
    propose_two(scene);
    report(scene, A);
    assert_true(is_banned(scene, A));
    finish_alone(scene);
    close_scene(scene);
}

/* All went back, and before they are where they differed they do so again: all
 * stop, and say between whom it is. */
static void test_who_differs_is_named(void **state)
{
    struct scene *scene = open_with(1u << A);

    (void)state;
    propose_two(scene);
    report(scene, A);
    computed(scene);
    help(scene, A);
    assert_int_equal(scene->machine.trainer.optim.step, 1);
    slice(scene, A, false, 0, 1, 7);
    computed(scene);
    assert_int_equal(scene->machine.trainer.optim.step, 0);
    differ(scene, 0);
    assert_true(scene->over);
    assert_int_equal(scene->machine.ending, ERR_MISMATCH);
    assert_non_null(strstr(scene->machine.reason, "this peer and a have"));
    close_scene(scene);
}

/* Bytes of a PULSE, and what the codec makes of them. */
static bool say_pulse(struct scene *scene, uint32_t road,
                      const struct msg_pulse *pulse, size_t less)
{
    const struct msg msg = {.kind = MSG_PULSE, .pulse = *pulse};
    uint8_t bytes[1024];

    assert_true(codec_bound(&msg) <= sizeof bytes);
    return deliver(scene, link_of(road), bytes,
                   codec_encode(&msg, bytes) - less);
}

/* Whatever A says of its time, and B, who is in no view: nobody is shut out, no
 * link is lost, numbers stay numbers, and the step is made. */
static void test_absurd_pulses(void **state)
{
    struct scene *scene = open_with(1u << A | 1u << B);

    (void)state;
    propose_two(scene);
    report(scene, A);
    assert_int_equal(scene->machine.phase, PEER_ROUND);
    for (uint32_t pick = 0; pick < 256; pick++) {
        const struct msg_pulse pulse = some_pulse(pick);

        scene->now += pick % 3;
        assert_true(say_pulse(scene, A, &pulse, 0));
        assert_true(say_pulse(scene, B, &pulse, 0));
        check_pace(scene);
    }
    assert_true(scene->roads[A].up && scene->roads[B].up);
    assert_false(is_banned(scene, A) || is_banned(scene, B));
    computed(scene);
    help(scene, A);
    assert_int_equal(scene->machine.trainer.optim.step, 1);
    close_scene(scene);
}

/* A part of one, a clock beyond all clocks: the codec takes none of it for a
 * message; whoever has not greeted is not heard; stints go nowhere. */
static void test_pulses_that_are_none(void **state)
{
    static const struct stint stint = {.kind = STINT_COMPUTE};
    struct scene *scene = open_with(1u << A);
    struct msg_pulse pulse = some_pulse(0);

    (void)state;
    assert_true(say_pulse(scene, A, &pulse, 0));
    assert_false(say_pulse(scene, A, &pulse, 1));
    pulse.vitals.compute_us = OFFSET_CLOCK_MAX + 1;
    assert_false(say_pulse(scene, A, &pulse, 0));
    pulse.vitals.compute_us = -1;
    assert_false(say_pulse(scene, A, &pulse, 0));
    pulse = some_pulse(0);
    pulse.count = 1;
    pulse.stints = &stint;
    assert_true(say_pulse(scene, A, &pulse, 0));
    for (uint32_t i = 0; i < scene->actions.count; i++)
        assert_true(scene->actions.list[i].kind != ACTION_TRACE);
    pulse = some_pulse(0);
    scene->roads[D].up = true;
    assert_false(say_pulse(scene, D, &pulse, 0));
    propose_two(scene);
    report(scene, A);
    assert_int_equal(scene->machine.phase, PEER_ROUND);
    close_scene(scene);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_another_answers),
        cmocka_unit_test(test_silent_contact),
        cmocka_unit_test(test_contact_that_came_first),
        cmocka_unit_test(test_other_bounds),
        cmocka_unit_test(test_highest_number),
        cmocka_unit_test(test_names_without_end),
        cmocka_unit_test(test_state_that_is_none),
        cmocka_unit_test(test_state_of_one_level),
        cmocka_unit_test(test_lengths_differ),
        cmocka_unit_test(test_newcomer_lost_while_it_waits),
        cmocka_unit_test(test_who_is_wrong_twice),
        cmocka_unit_test(test_who_differs_is_named),
        cmocka_unit_test(test_absurd_pulses),
        cmocka_unit_test(test_pulses_that_are_none),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
