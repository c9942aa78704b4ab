/*
 * relay_round.c - the round on its way down: weights once, each leaf's pieces.
 */
#include <string.h>

#include "core/relay/relay_parts.h"

/* To a leaf of our own: the round, with its pieces. */
static void give_round(const struct relay *relay, const struct relay_leaf *leaf,
                       const struct msg_round *task, struct actions *actions)
{
    struct msg_round *round =
        &relay_send(actions, leaf->link, 0, MSG_ROUND)->round;

    *round = relay->round;
    round->repeat = false;
    round->assignment = task->assignment;
    round->delay_s = task->delay_s;
    round->delay_factor = task->delay_factor;
    round->delay_share_s = task->delay_share_s;
    round->count = task->count;
    round->items = task->items;
}

/* The same for all behind a relay, once. */
static void cast_on(struct relay *relay, uint32_t link,
                    const struct msg_round *round, struct actions *actions)
{
    if (!relay->links[link].cast)
        relay_send(actions, link, 0, MSG_ROUND)->round = *round;
    relay->links[link].cast = true;
}

/* Every leaf what it had before in this view. */
static void repeat_tasks(struct relay *relay, struct actions *actions)
{
    for (uint32_t i = 0; i < relay->options.leaves_max; i++) {
        struct relay_leaf *leaf = &relay->leaves[i];
        const struct msg_round task = {.assignment = relay->round.assignment,
                                       .count = leaf->task_count,
                                       .items = leaf->task};

        if (leaf->number == 0 || leaf->task_view != relay->round.key.view)
            continue;
        relay_leaf_owes(relay, leaf, leaf->task_count);
        if (leaf->sub != 0)
            cast_on(relay, leaf->link, &relay->round, actions);
        else
            give_round(relay, leaf, &task, actions);
    }
}

void relay_cast(struct relay *relay, const struct msg_round *msg,
                struct actions *actions)
{
    const uint32_t sum_dims = evaluation_dims(msg->kind, msg->dims);

    if (msg->dims != relay->job.dims || sum_dims > relay->job.sum_dims ||
        (relay->in_round && key_order(&msg->key, &relay->round.key) < 0))
        return;
    for (uint32_t i = 0; i < relay->options.links_max; i++)
        relay->links[i].cast = false;
    if (relay->in_round && key_equal(&msg->key, &relay->round.key))
        return; /* Said again, because it was lost somewhere below. */
    relay->in_round = true;
    relay->over = false;
    relay->round = *msg;
    relay->round_at = relay->now;
    memcpy(relay->weights, msg->weights, msg->dims * sizeof *msg->weights);
    if (msg->kind == EVALUATE_HESSVEC)
        memcpy(relay->direction, msg->direction,
               msg->dims * sizeof *msg->direction);
    memcpy(relay->exponent, msg->exponent,
           evaluation_exponents(msg->kind, msg->dims) * sizeof *msg->exponent);
    relay->round.weights = relay->weights;
    relay->round.direction =
        msg->kind == EVALUATE_HESSVEC ? relay->direction : NULL;
    relay->round.exponent = relay->exponent;
    chunkset_clear(&relay->passed);
    chunkset_clear(&relay->alone);
    relay->held[relay->live].dims = sum_dims;
    tally_clear(&relay->held[relay->live]);
    relay->answer_count = 0;
    relay->hold_until = TIME_NEVER;
    for (uint32_t i = 0; i < relay->options.leaves_max; i++)
        relay_leaf_owes(relay, &relay->leaves[i], 0);
    if (msg->repeat)
        repeat_tasks(relay, actions);
}

static void keep_task(struct relay_leaf *leaf, const struct msg_round *task)
{
    leaf->task_view = task->count <= REPEAT_MAX ? task->key.view : 0;
    leaf->task_count = task->count;
    if (leaf->task_view != 0 && task->count > 0)
        memcpy(leaf->task, task->items, task->count * sizeof *task->items);
}

void relay_task(struct relay *relay, struct relay_leaf *leaf,
                const struct msg *msg, struct actions *actions)
{
    const struct msg_round *task = &msg->round;
    struct msg_round plain = relay->round;

    if (!relay->in_round || !key_equal(&task->key, &relay->round.key))
        return; /* The weights were lost; the coordinator will see to it. */
    relay_leaf_owes(relay, leaf, task->count);
    for (uint32_t i = 0; i < task->count; i++) {
        for (uint32_t chunk = task->items[i].first;
             chunk < task->items[i].end && chunk < relay->job.chunks; chunk++)
            chunkset_remove(&relay->passed, chunk);
    }
    keep_task(leaf, task);
    if (leaf->sub == 0) {
        give_round(relay, leaf, task, actions);
        return;
    }
    plain.repeat = false;
    cast_on(relay, leaf->link, &plain, actions);
    relay_pass(actions, msg, leaf->link, leaf->sub);
}

/* RELAY-2.  What is held of them goes up at once, ahead of the others. */
static void set_alone(struct relay *relay, const struct msg_work *work,
                      struct actions *actions)
{
    bool held = false;

    if (!relay->in_round || !key_equal(&work->key, &relay->round.key))
        return;
    for (uint32_t i = 0; i < work->count; i++) {
        const struct item *item = &work->items[i];

        if (!relay_range_ok(relay, item->first, item->end))
            continue;
        chunkset_add_range(&relay->alone, item->first, item->end);
        held = held || !chunkset_misses_range(&relay->held[relay->live].chunks,
                                              item->first, item->end);
    }
    if (held)
        relay_flush(relay, actions);
}

void relay_alone(struct relay *relay, const struct msg *msg,
                 struct actions *actions)
{
    set_alone(relay, &msg->alone, actions);
    for (uint32_t i = 0; i < relay->options.links_max; i++) {
        if (relay->links[i].relay && relay->links[i].cast)
            relay_pass(actions, msg, i, 0);
    }
}

void relay_work(struct relay *relay, struct relay_leaf *leaf,
                const struct msg_work *work)
{
    if (relay->in_round && key_equal(&work->key, &relay->round.key))
        relay_leaf_owes(relay, leaf, leaf->owes + work->count);
}

void relay_drop(struct relay *relay, struct relay_leaf *leaf,
                const struct msg_work *drop, struct actions *actions)
{
    if (!relay->in_round || !key_equal(&drop->key, &relay->round.key))
        return;
    relay_leaf_owes(relay, leaf,
                    drop->count < leaf->owes ? leaf->owes - drop->count : 0);
    set_alone(relay, drop, actions);
    relay_flush_complete(relay, actions);
}

void relay_cancel(struct relay *relay, const struct msg_cancel *msg)
{
    if (!relay->in_round || key_order(&relay->round.key, &msg->key) > 0)
        return;
    relay->over = true;
    relay->answer_count = 0;
    relay->hold_until = TIME_NEVER;
    tally_clear(&relay->held[relay->live]);
}

void relay_cancel_all(struct relay *relay, const struct msg *msg,
                      struct actions *actions)
{
    const bool early =
        !relay->in_round || key_order(&relay->round.key, &msg->cancel.key) < 0;

    relay_cancel(relay, &msg->cancel);
    for (uint32_t i = 0; i < relay->options.leaves_max; i++) {
        const struct relay_leaf *leaf = &relay->leaves[i];

        if (leaf->number != 0 && leaf->sub == 0 && (early || leaf->owes > 0))
            relay_pass(actions, msg, leaf->link, 0);
    }
    for (uint32_t i = 0; i < relay->options.links_max; i++) {
        if (relay->links[i].relay && (early || relay->links[i].cast))
            relay_pass(actions, msg, i, 0);
    }
}
