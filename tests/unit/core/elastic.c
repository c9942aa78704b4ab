#include "elastic.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/check.h"
#include "code/preset.h"

enum { COLS = 8, PIECES = 64 };

static double no_slopes(void *context, uint32_t soft, double *scores)
{
    (void)context;
    (void)soft;
    memset(scores, 0, ELASTIC_ROWS * sizeof *scores);
    return 1;
}

struct coordinator_options elastic_options(uint32_t slots, uint32_t need,
                                           uint32_t copies)
{
    struct coordinator_options options = stage_options("steal", slots, 0, 4);
    const struct preset_options choice = {.name = "cec",
                                          .workers = slots,
                                          .l = need,
                                          .blocks = slots,
                                          .copies = copies};
    struct why why = {0};

    CHECK(preset_spec(&choice, &options.code, &why) == ERR_OK);
    options.job.rows = ELASTIC_ROWS;
    options.job.coded_cols = COLS;
    options.slopes = no_slopes;
    return options;
}

void elastic_open(struct play *play, uint32_t slots, uint32_t need,
                  uint32_t copies)
{
    const struct coordinator_options options =
        elastic_options(slots, need, copies);

    play_open(play, &options);
    assert_true(play->coordinator.piece_count <= PIECES);
}

void elastic_lose(struct play *play, uint32_t link)
{
    play_step(play, (struct event){.kind = EVENT_LINK_DOWN, .link = link});
}

void elastic_answer_with(struct play *play, uint32_t link, uint32_t id,
                         double number)
{
    const struct coordinator *c = &play->coordinator;
    const struct segment *segment = &c->segments.list[id];
    double row[ELASTIC_ROWS + 1] = {0};
    struct msg msg = {.kind = MSG_ROW};

    row[0] = number;
    msg.row = (struct msg_row){.key = c->key,
                               .count = 1,
                               .pieces = &id,
                               .compute_us = 10,
                               .dims = c->what.kind == EVALUATE_COMBINE
                                           ? COLS
                                           : segment->end - segment->first,
                               .row = row};
    play_say(play, link, &msg);
}

void elastic_answer_one(struct play *play, uint32_t link, uint32_t id)
{
    elastic_answer_with(play, link, id, 0);
}

bool elastic_owes(const struct play *play, uint32_t link, uint32_t id)
{
    const struct piece_state *piece = &play->coordinator.pieces[id];

    for (uint32_t i = 0; i < piece->assignee_count; i++) {
        if (piece->assignee[i] == link)
            return true;
    }
    return false;
}

void elastic_answer_all(struct play *play, uint32_t link)
{
    const struct round_key key = play->coordinator.key;
    bool owed[PIECES] = {false};

    for (uint32_t id = 0; id < play->coordinator.piece_count; id++)
        owed[id] = elastic_owes(play, link, id);
    for (uint32_t id = 0; id < play->coordinator.piece_count; id++) {
        if (owed[id] && elastic_owes(play, link, id) &&
            key_equal(&key, &play->coordinator.key))
            elastic_answer_one(play, link, id);
    }
}

static bool over(const struct play *play, const struct round_key *key)
{
    const struct coordinator *c = &play->coordinator;

    return c->phase != COORDINATOR_ROUND || !key_equal(&c->key, key);
}

void elastic_journal(struct play *play)
{
    for (int i = 0; i < 3 && play->coordinator.phase != COORDINATOR_ROUND; i++)
        play_step(play, (struct event){.kind = EVENT_JOURNALED});
}

bool elastic_round(struct play *play, uint32_t count)
{
    const struct round_key key = play->coordinator.key;

    for (uint32_t i = 0; i < 100 * count; i++) {
        elastic_answer_all(play, i % count);
        if (!over(play, &key))
            continue;
        elastic_journal(play);
        return true;
    }
    return false;
}

void elastic_step(struct play *play, uint32_t count)
{
    const struct coordinator *c = &play->coordinator;
    const uint32_t step = c->trainer.optim.step;

    for (uint32_t i = 0; i < 8 && c->trainer.optim.step == step; i++)
        assert_true(elastic_round(play, count));
    assert_int_equal(c->trainer.optim.step, step + 1);
    assert_int_equal(c->phase, COORDINATOR_ROUND);
}

void elastic_ends_stopped(struct play *play, uint32_t step)
{
    const struct action *finish;

    for (uint32_t i = 0;
         i < 3 && stage_find_action(&play->actions, ACTION_CHECKPOINT) == NULL;
         i++)
        play_step(play, (struct event){.kind = EVENT_JOURNALED});
    assert_non_null(stage_find_action(&play->actions, ACTION_CHECKPOINT));
    assert_int_equal(stage_find_action(&play->actions, ACTION_CHECKPOINT)->step,
                     step);
    play_step(play, (struct event){.kind = EVENT_CHECKPOINTED, .step = step});
    finish = stage_find_action(&play->actions, ACTION_FINISH);
    assert_non_null(finish);
    assert_int_equal(finish->err, ERR_CANCELLED);
    assert_string_equal(finish->reason, "stopped; the state is saved");
}

const struct trace *elastic_trace(const struct play *play, enum trace_kind kind)
{
    for (uint32_t i = 0; i < play->actions.count; i++) {
        const struct action *action = &play->actions.list[i];

        if (action->kind == ACTION_TRACE && action->trace.kind == kind)
            return &action->trace;
    }
    return NULL;
}
