#include "play.h"

#include <stdio.h>
#include <string.h>

#include "base/check.h"

#define DIMS 8u

void play_step(struct play *play, struct event event)
{
    const struct msg *round;

    event.now = play->now;
    coordinator_step(&play->coordinator, &event, &play->actions);
    round = stage_find(&play->actions, MSG_ROUND);
    if (round != NULL)
        play->key = round->round.key;
}

void play_say(struct play *play, uint32_t link, const struct msg *msg)
{
    play_step(play,
              (struct event){.kind = EVENT_MESSAGE, .link = link, .msg = msg});
}

void play_hello(struct play *play, uint32_t link, const char *name,
                uint64_t incarnation)
{
    struct msg msg = {.kind = MSG_HELLO};

    msg.hello.version = MSG_VERSION;
    msg.hello.incarnation = incarnation;
    msg.hello.resident = true;
    (void)snprintf(msg.hello.name, NAME_SIZE, "%s", name);
    play_say(play, link, &msg);
}

void play_hello_far(struct play *play, uint32_t link, bool keeps)
{
    struct msg msg = {.kind = MSG_HELLO};

    msg.hello.version = MSG_VERSION;
    msg.hello.incarnation = link + 1;
    msg.hello.keeps = keeps;
    (void)snprintf(msg.hello.name, NAME_SIZE, "far-%u", link);
    play_say(play, link, &msg);
}

void play_have(struct play *play, uint32_t link, uint8_t held, uint8_t near)
{
    const uint32_t chunks = play->coordinator.options.job.chunks;
    const struct msg msg = {.kind = MSG_HAVE, .have = {chunks, &held, &near}};

    CHECK(chunks <= 8);
    play_say(play, link, &msg);
}

void play_begin(struct play *play, const struct coordinator_options *options)
{
    struct why why;

    memset(play, 0, sizeof *play);
    CHECK(actions_init(&play->actions, 4) == ERR_OK);
    CHECK(coordinator_init(&play->coordinator, options, NULL, &why) == ERR_OK);
    play_step(play, (struct event){.kind = EVENT_START});
    play_step(play, (struct event){.kind = EVENT_JOURNALED});
}

void play_open(struct play *play, const struct coordinator_options *options)
{
    play_begin(play, options);
    for (uint32_t link = 0; link < options->slots; link++) {
        char name[NAME_SIZE];

        (void)snprintf(name, sizeof name, "w%u", link);
        play_hello(play, link, name, link + 1);
    }
    play_step(play, (struct event){.kind = EVENT_JOURNALED});
    CHECK(play->coordinator.phase == COORDINATOR_ROUND);
}

void play_close(struct play *play)
{
    coordinator_close(&play->coordinator);
    actions_close(&play->actions);
}

struct msg play_tally(const struct play *play, uint32_t piece,
                      const int64_t *sum)
{
    const struct piece *place = &play->coordinator.code.pieces[piece];
    struct msg msg = {.kind = MSG_TALLY};

    msg.tally = (struct msg_tally){
        .key = play->key,
        .piece = piece,
        .first = place->first,
        .end = place->end,
        .dims = DIMS,
        .sum = sum,
    };
    return msg;
}

void play_answer(struct play *play, uint32_t link, uint32_t piece,
                 int64_t value)
{
    const int64_t sum[DIMS] = {value};
    const struct msg msg = play_tally(play, piece, sum);

    play_say(play, link, &msg);
}

void play_judge(struct play *play, int64_t value)
{
    const struct action *asked =
        stage_find_action(&play->actions, ACTION_JUDGE);
    struct tally *tally;

    CHECK(asked != NULL);
    tally = asked->computation.tally;
    tally_fill(tally);
    tally->sum[0] = value;
    chunkset_add_range(&tally->chunks, asked->computation.first,
                       asked->computation.end);
    play_step(play, (struct event){.kind = EVENT_JUDGED});
}

bool play_struck(const struct play *play, enum poison_kind kind,
                 const char *name)
{
    for (uint32_t i = 0; i < play->actions.count; i++) {
        const struct action *action = &play->actions.list[i];

        if (action->kind == ACTION_TRACE &&
            action->trace.kind == TRACE_POISON &&
            action->trace.a == (uint64_t)kind &&
            strcmp(action->trace.name, name) == 0)
            return true;
    }
    return false;
}
