/*
 * Two coordinators are told the same answers: one together (EVENT_TALLIES), one
 * by one.  They must write the same traces at the same times, strike the same
 * workers, ask for the same work and end on the same weights.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "core/star/coordinator.h"
#include "stage.h"

enum { WORKERS = 6, DIMS = 8, SEEN_MAX = 256 };

/* What became of it, as far as somebody outside can see. */
struct seen {
    enum action_kind kind;
    enum trace_kind trace;
    enum msg_kind msg;
    time_us now;
    int64_t who;
    uint64_t a, b;
};

struct play {
    struct coordinator coordinator;
    struct actions actions;
    struct round_key key;
    struct seen seen[SEEN_MAX];
    uint32_t seen_count;
};

struct said {
    uint32_t link, piece;
    int64_t value; /* Of every sum. */
    bool stale;
};

static void note(struct play *play)
{
    for (uint32_t i = 0; i < play->actions.count; i++) {
        const struct action *action = &play->actions.list[i];
        struct seen *seen = &play->seen[play->seen_count];

        if (action->kind == ACTION_TIMER)
            continue; /* Once for each event: fewer if told together. */
        assert_true(play->seen_count++ < SEEN_MAX);
        memset(seen, 0, sizeof *seen);
        seen->kind = action->kind;
        if (action->kind == ACTION_TRACE) {
            seen->trace = action->trace.kind;
            seen->now = action->trace.now;
            seen->who = action->trace.link;
            seen->a = action->trace.a;
            seen->b = action->trace.b;
        } else if (action->kind == ACTION_SEND) {
            seen->msg = action->msg.kind;
            seen->who = action->link;
            if (action->msg.kind == MSG_ROUND)
                play->key = action->msg.round.key;
        }
    }
}

static void step(struct play *play, struct event event)
{
    coordinator_step(&play->coordinator, &event, &play->actions);
    note(play);
}

static void hello(struct play *play, uint32_t link)
{
    struct msg msg = {.kind = MSG_HELLO};

    msg.hello.version = MSG_VERSION;
    msg.hello.incarnation = link + 1;
    msg.hello.resident = true;
    (void)snprintf(msg.hello.name, NAME_SIZE, "w%u", link);
    step(play,
         (struct event){.kind = EVENT_MESSAGE, .link = link, .msg = &msg});
}

static void open_play(struct play *play, const char *preset)
{
    const struct coordinator_options options =
        stage_options(preset, WORKERS, strcmp(preset, "frc") == 0, 3);
    struct why why;

    memset(play, 0, sizeof *play);
    assert_int_equal(actions_init(&play->actions, 4), ERR_OK);
    assert_int_equal(coordinator_init(&play->coordinator, &options, NULL, &why),
                     ERR_OK);
    step(play, (struct event){.kind = EVENT_START});
    step(play, (struct event){.kind = EVENT_JOURNALED});
    for (uint32_t link = 0; link < WORKERS; link++)
        hello(play, link);
    step(play, (struct event){.kind = EVENT_JOURNALED});
    assert_int_equal(play->coordinator.phase, COORDINATOR_ROUND);
}

static void close_play(struct play *play)
{
    coordinator_close(&play->coordinator);
    actions_close(&play->actions);
}

/* The answers as messages, a millisecond after each other. */
struct letters {
    int64_t sum[WORKERS + 2][DIMS];
    struct msg msg[WORKERS + 2];
    struct arrival arrivals[WORKERS + 2];
    uint32_t count;
};

static void write_letters(const struct play *play, const struct said *said,
                          uint32_t count, struct letters *letters)
{
    letters->count = count;
    for (uint32_t i = 0; i < count; i++) {
        const struct piece *piece =
            &play->coordinator.code.pieces[said[i].piece];
        struct msg *msg = &letters->msg[i];

        for (int j = 0; j < DIMS; j++)
            letters->sum[i][j] = said[i].value;
        *msg = (struct msg){.kind = MSG_TALLY};
        msg->tally = (struct msg_tally){.key = play->key,
                                        .piece = said[i].piece,
                                        .first = piece->first,
                                        .end = piece->end,
                                        .dims = DIMS,
                                        .loss = said[i].link,
                                        .compute_us = 10 * said[i].link,
                                        .sum = letters->sum[i]};
        msg->tally.key.attempt += said[i].stale;
        letters->arrivals[i] = (struct arrival){
            .at = (i + 1) * MS_US, .link = said[i].link, .msg = msg};
    }
}

static void tell_together(struct play *play, const struct letters *letters)
{
    step(play, (struct event){.kind = EVENT_TALLIES,
                              .now = letters->arrivals[0].at,
                              .arrivals = letters->arrivals,
                              .arrival_count = letters->count});
}

static void tell_each(struct play *play, const struct letters *letters)
{
    for (uint32_t i = 0; i < letters->count; i++)
        step(play, (struct event){.kind = EVENT_MESSAGE,
                                  .now = letters->arrivals[i].at,
                                  .link = letters->arrivals[i].link,
                                  .msg = letters->arrivals[i].msg});
}

static void assert_alike(const struct play *a, const struct play *b)
{
    const struct coordinator *c = &a->coordinator, *d = &b->coordinator;

    assert_int_equal(a->seen_count, b->seen_count);
    assert_memory_equal(a->seen, b->seen, a->seen_count * sizeof *a->seen);
    assert_memory_equal(&c->stats, &d->stats, sizeof c->stats);
    assert_int_equal(c->now, d->now);
    assert_int_equal(c->pieces_in, d->pieces_in);
    assert_int_equal(c->trainer.optim.step, d->trainer.optim.step);
    assert_memory_equal(trainer_weights(&c->trainer),
                        trainer_weights(&d->trainer), DIMS * sizeof(double));
    assert_int_equal(c->tally.blank, d->tally.blank);
    if (!c->tally.blank) {
        const struct digest first = tally_digest(&c->tally);
        const struct digest second = tally_digest(&d->tally);

        assert_true(digest_equal(&first, &second));
    }
}

static void compare(const char *preset, const struct said *said, uint32_t count)
{
    static struct play together, each;
    static struct letters letters;

    open_play(&together, preset);
    open_play(&each, preset);
    write_letters(&together, said, count, &letters);
    tell_together(&together, &letters);
    write_letters(&each, said, count, &letters);
    tell_each(&each, &letters);
    assert_alike(&together, &each);
    close_play(&together);
    close_play(&each);
}

#define BAD  INT64_MIN
#define MANY (sizeof said / sizeof *said)

static void test_all_good(void **state)
{
    static const struct said said[] = {{0, 0, 5, false},  {3, 3, -7, false},
                                       {1, 1, 11, false}, {2, 2, 1, false},
                                       {5, 5, 2, false},  {4, 4, 9, false}};
    static struct play play;
    static struct letters letters;

    (void)state;
    compare("uncoded", said, MANY);
    compare("uncoded", said, MANY - 1); /* The round goes on. */
    open_play(&play, "uncoded");
    assert_int_equal(coordinator_awaits(&play.coordinator), WORKERS);
    write_letters(&play, said, 4, &letters);
    tell_together(&play, &letters);
    assert_int_equal(coordinator_awaits(&play.coordinator), 2);
    assert_int_equal(play.coordinator.now, 4 * MS_US);
    close_play(&play);
}

static void test_some_bad(void **state)
{
    (void)state;
    for (uint32_t bad = 0; bad < 1u << WORKERS; bad++) {
        struct said said[WORKERS];

        for (uint32_t i = 0; i < WORKERS; i++)
            said[i] = (struct said){
                i, i, (bad >> i & 1) != 0 ? BAD : (int64_t)i, false};
        compare("uncoded", said, MANY);
    }
}

/* The second answer to a piece counts if the first was poison; not if it was
 * good, nor if it is the same worker's and the worker was sent home. */
static void test_twice(void **state)
{
    static const struct said good[] = {{0, 0, 5, false}, {1, 0, 5, false}};
    static const struct said said[] = {{0, 0, BAD, false}, {1, 0, 5, false},
                                       {2, 2, 7, false},   {1, 0, 5, false},
                                       {3, 0, 5, false},   {4, 4, 1, false}};
    static const struct said thrice[] = {{0, 0, BAD, false}, {0, 0, BAD, false},
                                         {2, 2, 1, false},   {0, 0, BAD, false},
                                         {0, 0, 3, false},   {1, 1, 3, false}};

    (void)state;
    compare("uncoded", good, 2);
    compare("uncoded", said, MANY);
    compare("uncoded", thrice, 6);
}

static void test_late(void **state)
{
    static const struct said said[] = {
        {0, 0, 5, true}, {1, 1, 6, false}, {2, 2, BAD, true}, {3, 3, 6, false}};

    (void)state;
    compare("uncoded", said, MANY);
}

/* Codes that may end before all are in: each is told by itself, and nothing is
 * added ahead. */
static void test_impatient(void **state)
{
    static const struct said said[] = {{0, 0, 5, false}, {1, 0, 5, false},
                                       {2, 1, 6, false}, {3, 1, BAD, false},
                                       {4, 2, 1, false}, {5, 2, 1, false}};
    static struct play play;

    (void)state;
    compare("frc", said, MANY);
    open_play(&play, "frc");
    assert_int_equal(coordinator_awaits(&play.coordinator), 0);
    close_play(&play);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_all_good),  cmocka_unit_test(test_some_bad),
        cmocka_unit_test(test_twice),     cmocka_unit_test(test_late),
        cmocka_unit_test(test_impatient),
    };

    return cmocka_run_group_tests_name("core/star/together", tests, NULL, NULL);
}
