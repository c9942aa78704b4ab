#include "core/relay.h"

#include <stdio.h>
#include <string.h>

#include "base/check.h"
#include "base/mem.h"
#include "core/bugs.h"
#include "core/greeting.h"

#define HELLO_RESEND_US (500 * MS_US)
#define GREET_US        (2 * SECOND_US)
#define HOLD_SHARE      8 /* RELAY-3. */
#define HOLD_MIN_US     200
#define HOLD_MAX_US     (20 * MS_US)
#define PATIENT_MAX_US  (200 * MS_US) /* Less than until a hedge. */
#define INDEX_BITS      14u /* Of a leaf's number; the rest is a generation. */
#define INDEX_MASK      ((1u << INDEX_BITS) - 1)
#define GENERATIONS     ((1u << (32 - INDEX_BITS)) - 1)
#define PATIENCE_US     (2 * SECOND_US) /* Then leaves may look elsewhere. */

/* --- set-up -------------------------------------------------------------- */

enum err relay_init(struct relay *relay, const struct relay_options *options)
{
    CHECK(options->retry_us > 0);
    CHECK(options->leaves_max <= RELAY_LEAVES_MAX);
    *relay = (struct relay){
        .options = *options,
        .phase = RELAY_DIALLING,
        .retry_us = options->retry_us,
        .dial_at = TIME_NEVER,
        .unanswered_at = TIME_NEVER,
        .hold_until = TIME_NEVER,
    };
    relay->links = mem_new(options->links_max, sizeof *relay->links);
    relay->leaves = mem_new(options->leaves_max, sizeof *relay->leaves);
    relay->hellos = mem_new(options->leaves_max, sizeof *relay->hellos);
    if (relay->links != NULL && relay->leaves != NULL &&
        relay->hellos != NULL &&
        vigil_init(&relay->vigil, options->leaves_max, options->links_max) ==
            ERR_OK)
        return ERR_OK;
    relay_close(relay);
    return ERR_NOMEM;
}

void relay_close(struct relay *relay)
{
    mem_free(relay->links);
    mem_free(relay->leaves);
    mem_free(relay->hellos);
    vigil_close(&relay->vigil);
    mem_free(relay->weights);
    mem_free(relay->direction);
    mem_free(relay->exponent);
    mem_free(relay->mapped);
    chunkset_close(&relay->passed);
    chunkset_close(&relay->seen);
    chunkset_close(&relay->alone);
    for (int i = 0; i < 2; i++) {
        tally_close(&relay->held[i]);
        mem_free(relay->answers[i]);
    }
    *relay = (struct relay){0};
}

static enum err job_room(struct relay *relay, const struct job *job)
{
    enum err err = chunkset_init(&relay->passed, job->chunks);

    if (err == ERR_OK)
        err = chunkset_init(&relay->alone, job->chunks);
    if (err == ERR_OK)
        err = chunkset_init(&relay->seen, job->chunks);
    for (int i = 0; i < 2 && err == ERR_OK; i++) {
        err = tally_init(&relay->held[i], job->sum_dims, job->chunks);
        relay->answers[i] = mem_new(ANSWERS_MAX, sizeof **relay->answers);
        if (relay->answers[i] == NULL)
            err = ERR_NOMEM;
    }
    relay->weights = mem_new(job->dims, sizeof *relay->weights);
    relay->direction = mem_new(job->dims, sizeof *relay->direction);
    relay->exponent = mem_new(job->sum_dims, sizeof *relay->exponent);
    relay->mapped = mem_new(ANSWERS_MAX, sizeof *relay->mapped);
    if (relay->weights == NULL || relay->direction == NULL ||
        relay->exponent == NULL || relay->mapped == NULL)
        return ERR_NOMEM;
    return err;
}

/* --- sending ------------------------------------------------------------- */

static struct msg *send(struct actions *actions, uint32_t link, uint32_t leaf,
                        enum msg_kind kind)
{
    struct action *action = actions_add(actions, ACTION_SEND);

    action->link = link;
    action->msg.kind = kind;
    action->msg.leaf = leaf;
    return &action->msg;
}

/* As it came, but for the number. */
static void pass(struct actions *actions, const struct msg *msg, uint32_t link,
                 uint32_t leaf)
{
    struct action *action = actions_add(actions, ACTION_SEND);

    action->link = link;
    action->msg = *msg;
    action->msg.leaf = leaf;
}

static void finish(struct relay *relay, struct actions *actions, enum err err,
                   const char *reason)
{
    struct action *action = actions_add(actions, ACTION_FINISH);

    action->err = err;
    action->reason = reason;
    relay->phase = RELAY_DONE;
}

/* --- leaves -------------------------------------------------------------- */

uint32_t relay_leaves(const struct relay *relay)
{
    uint32_t count = 0;

    for (uint32_t i = 0; i < relay->options.leaves_max; i++)
        count += relay->leaves[i].number != 0;
    return count;
}

static struct relay_leaf *leaf_by_number(struct relay *relay, uint32_t number)
{
    const uint32_t index = number & INDEX_MASK;

    if (number == 0 || index >= relay->options.leaves_max ||
        relay->leaves[index].number != number)
        return NULL;
    return &relay->leaves[index];
}

static uint32_t index_of(const struct relay *relay,
                         const struct relay_leaf *leaf)
{
    return (uint32_t)(leaf - relay->leaves);
}

static struct relay_leaf *leaf_on(struct relay *relay, uint32_t link,
                                  uint32_t sub)
{
    const uint32_t direct = relay->links[link].leaf;

    if (sub == 0 && direct == 0)
        return NULL;
    if (sub == 0) {
        CHECK(relay->leaves[direct - 1].number != 0);
        return &relay->leaves[direct - 1];
    }
    for (uint32_t i = 0; i < relay->options.leaves_max; i++) {
        struct relay_leaf *leaf = &relay->leaves[i];

        if (leaf->number != 0 && leaf->link == link && leaf->sub == sub)
            return leaf;
    }
    return NULL;
}

static struct relay_leaf *leaf_new(struct relay *relay, uint32_t link,
                                   uint32_t sub)
{
    for (uint32_t i = 0; i < relay->options.leaves_max; i++) {
        struct relay_leaf *leaf = &relay->leaves[i];

        if (leaf->number != 0)
            continue;
        relay->generation = relay->generation % GENERATIONS + 1;
        *leaf = (struct relay_leaf){
            .number = relay->generation << INDEX_BITS | i,
            .link = link,
            .sub = sub,
        };
        if (sub == 0)
            relay->links[link].leaf = i + 1;
        vigil_join(&relay->vigil, i, sub == 0 ? 0 : link + 1, &relay->job,
                   relay->now);
        return leaf;
    }
    return NULL;
}

static void set_owes(struct relay *relay, struct relay_leaf *leaf,
                     uint32_t owes)
{
    CHECK(relay->owed >= leaf->owes);
    relay->owed += owes - leaf->owes;
    leaf->owes = owes;
}

static void answered(struct relay *relay, struct relay_leaf *leaf)
{
    if (leaf->owes > 0)
        set_owes(relay, leaf, leaf->owes - 1);
}

/* --- merging ------------------------------------------------------------- */

static bool holds_any(const struct relay *relay)
{
    return relay->answer_count > 0;
}

/* What is held goes up, once a step at most: a second time is put off to the
 * next moment, because the first message still points at its buffer. */
static void flush(struct relay *relay, struct actions *actions)
{
    const struct tally *held = &relay->held[relay->live];
    struct msg_sum *msg;

    if (!holds_any(relay))
        return;
    if (relay->flushed) {
        relay->hold_until = relay->now;
        return;
    }
    msg = &send(actions, RELAY_PARENT, 0, MSG_SUM)->sum;
    msg->key = relay->round.key;
    msg->count = relay->answer_count;
    msg->answers = relay->answers[relay->live];
    msg->dims = held->dims;
    msg->sum = held->sum;
    msg->loss = held->loss;
    chunkset_unite(&relay->passed, &held->chunks);
    relay->vigil.said = true;
    relay->flushed = true;
    relay->live = 1 - relay->live;
    relay->held[relay->live].dims = held->dims;
    tally_clear(&relay->held[relay->live]);
    relay->answer_count = 0;
    relay->hold_until = TIME_NEVER;
}

static void flush_if_complete(struct relay *relay, struct actions *actions)
{
    if (!holds_any(relay))
        return;
    if (relay->owed == 0 || relay->answer_count == ANSWERS_MAX)
        flush(relay, actions);
}

/* RELAY-3: early answers wait little, late ones more, all together no more
 * than a share of the step, or as long again if nobody can use them before. */
static void hold(struct relay *relay)
{
    const time_us spent = relay->now - relay->round_at;
    const bool patient = relay->round.patient;
    const time_us most = patient ? PATIENT_MAX_US : HOLD_MAX_US;
    time_us wait = patient ? spent : spent / HOLD_SHARE;

    if (relay->hold_until != TIME_NEVER)
        return;
    wait = wait < HOLD_MIN_US ? HOLD_MIN_US : wait;
    relay->hold_until = relay->now + (wait > most ? most : wait);
}

/* What is in bound may leave it together with ours: a liar must not make the
 * relay one. */
static bool fits(const struct tally *held, const int64_t *sum)
{
    const int64_t limit = INT64_C(1) << TALLY_BITS;
    int bad = 0;

    for (uint32_t j = 0; j < held->dims; j++) {
        const int64_t both =
            (int64_t)((uint64_t)held->sum[j] + (uint64_t)sum[j]);

        bad |= both <= -limit || both >= limit;
    }
    return bad == 0;
}

static void add_sums(struct tally *held, const int64_t *sum, tally_loss loss)
{
    for (uint32_t j = 0; j < held->dims; j++)
        held->sum[j] = (int64_t)((uint64_t)held->sum[j] + (uint64_t)sum[j]);
    held->loss += loss;
}

static void add_answer(struct relay *relay, const struct answer *answer)
{
    CHECK(relay->answer_count < ANSWERS_MAX);
    relay->answers[relay->live][relay->answer_count++] = *answer;
    if (answer->counted)
        chunkset_add_range(&relay->held[relay->live].chunks, answer->first,
                           answer->end);
    hold(relay);
}

static bool is_of_round(const struct relay *relay, const struct round_key *key,
                        uint32_t dims)
{
    return relay->in_round && !relay->round.coded && !relay->round.single &&
           key_equal(key, &relay->round.key) &&
           dims == relay->held[relay->live].dims;
}

static bool range_ok(const struct relay *relay, uint32_t first, uint32_t end)
{
    return first < end && end <= relay->job.chunks;
}

/* Is an answer to it held, of another leaf or the same? */
static bool known(const struct relay *relay, uint32_t first, uint32_t end)
{
    return !chunkset_misses_range(&relay->held[relay->live].chunks, first, end);
}

/* Must it go up by itself?  One that was passed on before is asked for again
 * only if its sum was dropped on the way: then it counts, and here nobody can
 * know. */
static bool goes_alone(const struct relay *relay, uint32_t first, uint32_t end)
{
    return !chunkset_misses_range(&relay->alone, first, end) ||
           !chunkset_misses_range(&relay->passed, first, end);
}

/* Is it one that may be merged? */
static bool is_mergeable(struct relay *relay, const struct msg_tally *tally)
{
    if (!is_of_round(relay, &tally->key, tally->dims) ||
        !range_ok(relay, tally->first, tally->end) ||
        goes_alone(relay, tally->first, tally->end) ||
        relay->answer_count == ANSWERS_MAX)
        return false;
    chunkset_clear(&relay->seen);
    chunkset_add_range(&relay->seen, tally->first, tally->end);
    return tally_claim_in_bound(tally->sum, tally->dims, tally->loss,
                                &relay->seen) &&
           fits(&relay->held[relay->live], tally->sum);
}

static void on_tally(struct relay *relay, struct relay_leaf *leaf,
                     const struct msg *msg, struct actions *actions)
{
    const struct msg_tally *tally = &msg->tally;
    struct tally *held = &relay->held[relay->live];
    struct answer answer = {
        .leaf = leaf->number,
        .piece = tally->piece,
        .first = tally->first,
        .end = tally->end,
        .compute_us = tally->compute_us,
    };

    answered(relay, leaf);
    if (relay->over && key_equal(&tally->key, &relay->round.key))
        return; /* Nobody waits for it any more. */
    if (!is_mergeable(relay, tally)) {
        pass(actions, msg, RELAY_PARENT, leaf->number);
    } else {
        answer.counted = !known(relay, tally->first, tally->end);
        if (answer.counted || BUG(BUG_RELAY_TWICE))
            add_sums(held, tally->sum, tally->loss);
        add_answer(relay, &answer);
    }
    flush_if_complete(relay, actions);
}

/* --- SUMs from relays below ---------------------------------------------- */

/* Its leaves by our numbers; false if some piece must not be merged. */
static bool map_answers(struct relay *relay, uint32_t link,
                        const struct msg_sum *msg)
{
    bool mergeable = true;

    for (uint32_t i = 0; i < msg->count; i++) {
        struct answer *answer = &relay->mapped[i];
        struct relay_leaf *leaf;

        *answer = msg->answers[i];
        leaf = leaf_on(relay, link, answer->leaf);
        answer->leaf = leaf == NULL ? 0 : leaf->number;
        if (leaf != NULL)
            answered(relay, leaf);
        mergeable = mergeable && range_ok(relay, answer->first, answer->end) &&
                    (!answer->counted ||
                     (!known(relay, answer->first, answer->end) &&
                      !goes_alone(relay, answer->first, answer->end)));
    }
    return mergeable;
}

/* RELAY-6: could a relay have merged this?  The one above would hold us for
 * broken if it were passed on. */
static bool is_sound(struct relay *relay, const struct msg_sum *sum)
{
    if (!relay->in_round || !key_equal(&sum->key, &relay->round.key))
        return true; /* Of another round: the coordinator drops it. */
    if (sum->dims != relay->held[relay->live].dims)
        return false;
    chunkset_clear(&relay->seen);
    for (uint32_t i = 0; i < sum->count; i++) {
        const struct answer *answer = &sum->answers[i];

        if (!answer->counted)
            continue;
        if (!range_ok(relay, answer->first, answer->end) ||
            !chunkset_misses_range(&relay->seen, answer->first, answer->end))
            return false;
        chunkset_add_range(&relay->seen, answer->first, answer->end);
    }
    return tally_claim_in_bound(sum->sum, sum->dims, sum->loss, &relay->seen);
}

static void on_sum(struct relay *relay, uint32_t link, const struct msg *msg,
                   struct actions *actions)
{
    const struct msg_sum *sum = &msg->sum;
    struct tally *held = &relay->held[relay->live];
    const bool now = relay->open && sum->count <= ANSWERS_MAX;
    const bool mergeable = now && map_answers(relay, link, sum) &&
                           is_of_round(relay, &sum->key, sum->dims) &&
                           sum->count <= ANSWERS_MAX - relay->answer_count &&
                           fits(held, sum->sum);

    if (!now)
        return;
    vigil_road_heard(&relay->vigil, link, relay->now);
    if (mergeable) {
        add_sums(held, sum->sum, sum->loss);
        for (uint32_t i = 0; i < sum->count; i++)
            add_answer(relay, &relay->mapped[i]);
    } else {
        struct msg_sum *up = &send(actions, RELAY_PARENT, 0, MSG_SUM)->sum;

        *up = *sum;
        up->answers = relay->mapped;
    }
    flush_if_complete(relay, actions);
}

/* --- the round, downwards ------------------------------------------------ */

/* To a leaf of our own: the round, with its pieces. */
static void give_round(const struct relay *relay, const struct relay_leaf *leaf,
                       const struct msg_round *task, struct actions *actions)
{
    struct msg_round *round = &send(actions, leaf->link, 0, MSG_ROUND)->round;

    *round = relay->round;
    round->repeat = false;
    round->assignment = task->assignment;
    round->delay_s = task->delay_s;
    round->delay_factor = task->delay_factor;
    round->count = task->count;
    round->items = task->items;
}

/* The same for all behind a relay, once. */
static void cast_on(struct relay *relay, uint32_t link,
                    const struct msg_round *round, struct actions *actions)
{
    if (!relay->links[link].cast)
        send(actions, link, 0, MSG_ROUND)->round = *round;
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
        set_owes(relay, leaf, leaf->task_count);
        if (leaf->sub != 0)
            cast_on(relay, leaf->link, &relay->round, actions);
        else
            give_round(relay, leaf, &task, actions);
    }
}

static void on_cast(struct relay *relay, const struct msg_round *msg,
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
    memcpy(relay->exponent, msg->exponent, sum_dims * sizeof *msg->exponent);
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
        set_owes(relay, &relay->leaves[i], 0);
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

/* The leaf's share of the round, and the round itself if it, or the relay it
 * is behind, does not have it.  Asked for again, an answer counts again. */
static void on_task(struct relay *relay, struct relay_leaf *leaf,
                    const struct msg *msg, struct actions *actions)
{
    const struct msg_round *task = &msg->round;
    struct msg_round plain = relay->round;

    if (!relay->in_round || !key_equal(&task->key, &relay->round.key))
        return; /* The weights were lost; the coordinator will see to it. */
    set_owes(relay, leaf, task->count);
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
    pass(actions, msg, leaf->link, leaf->sub);
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

        if (!range_ok(relay, item->first, item->end))
            continue;
        chunkset_add_range(&relay->alone, item->first, item->end);
        held = held || !chunkset_misses_range(&relay->held[relay->live].chunks,
                                              item->first, item->end);
    }
    if (held)
        flush(relay, actions);
}

static void on_alone(struct relay *relay, const struct msg *msg,
                     struct actions *actions)
{
    set_alone(relay, &msg->alone, actions);
    for (uint32_t i = 0; i < relay->options.links_max; i++) {
        if (relay->links[i].relay && relay->links[i].cast)
            pass(actions, msg, i, 0);
    }
}

static void on_work(struct relay *relay, struct relay_leaf *leaf,
                    const struct msg_work *work)
{
    if (relay->in_round && key_equal(&work->key, &relay->round.key))
        set_owes(relay, leaf, leaf->owes + work->count);
}

static void on_drop(struct relay *relay, struct relay_leaf *leaf,
                    const struct msg_work *drop, struct actions *actions)
{
    if (!relay->in_round || !key_equal(&drop->key, &relay->round.key))
        return;
    set_owes(relay, leaf,
             drop->count < leaf->owes ? leaf->owes - drop->count : 0);
    set_alone(relay, drop, actions);
    flush_if_complete(relay, actions);
}

static void on_cancel(struct relay *relay, const struct msg_cancel *msg)
{
    if (!relay->in_round || key_order(&relay->round.key, &msg->key) > 0)
        return;
    relay->over = true;
    relay->answer_count = 0;
    relay->hold_until = TIME_NEVER;
    tally_clear(&relay->held[relay->live]);
}

/* To those that are still at it; to all, if it has overtaken its round. */
static void on_cancel_all(struct relay *relay, const struct msg *msg,
                          struct actions *actions)
{
    const bool early =
        !relay->in_round || key_order(&relay->round.key, &msg->cancel.key) < 0;

    on_cancel(relay, &msg->cancel);
    for (uint32_t i = 0; i < relay->options.leaves_max; i++) {
        const struct relay_leaf *leaf = &relay->leaves[i];

        if (leaf->number != 0 && leaf->sub == 0 && (early || leaf->owes > 0))
            pass(actions, msg, leaf->link, 0);
    }
    for (uint32_t i = 0; i < relay->options.links_max; i++) {
        if (relay->links[i].relay && (early || relay->links[i].cast))
            pass(actions, msg, i, 0);
    }
}

/* --- the end of a leaf --------------------------------------------------- */

/* What it answered still counts. */
static void leaf_free(struct relay *relay, struct relay_leaf *leaf,
                      struct actions *actions)
{
    set_owes(relay, leaf, 0);
    if (leaf->sub == 0)
        relay->links[leaf->link].leaf = 0;
    vigil_leave(&relay->vigil, index_of(relay, leaf));
    *leaf = (struct relay_leaf){0};
    flush_if_complete(relay, actions);
}

/* The one above does not want it any more. */
static void leaf_dismiss(struct relay *relay, struct relay_leaf *leaf,
                         struct actions *actions)
{
    if (leaf->sub != 0)
        (void)send(actions, leaf->link, leaf->sub, MSG_GONE);
    else
        actions_add(actions, ACTION_CLOSE)->link = leaf->link;
    leaf_free(relay, leaf, actions);
}

/* It is gone: the one above is told. */
static void leaf_lost(struct relay *relay, struct relay_leaf *leaf,
                      struct actions *actions)
{
    if (relay->phase == RELAY_SERVING)
        (void)send(actions, RELAY_PARENT, leaf->number, MSG_GONE);
    leaf_free(relay, leaf, actions);
}

static void link_lost(struct relay *relay, uint32_t link,
                      struct actions *actions)
{
    for (uint32_t i = 0; i < relay->options.leaves_max; i++) {
        struct relay_leaf *leaf = &relay->leaves[i];

        if (leaf->number != 0 && leaf->link == link)
            leaf_lost(relay, leaf, actions);
    }
    relay->links[link] = (struct relay_link){0};
}

/* --- from above ---------------------------------------------------------- */

static void on_leaf_order(struct relay *relay, const struct msg *msg,
                          struct actions *actions)
{
    struct relay_leaf *leaf = leaf_by_number(relay, msg->leaf);

    if (leaf == NULL)
        return; /* It went meanwhile. */
    if (msg->kind == MSG_TASK) {
        on_task(relay, leaf, msg, actions);
        return;
    }
    if (msg->kind == MSG_GONE) {
        leaf_dismiss(relay, leaf, actions);
        return;
    }
    if (msg->kind == MSG_WORK)
        on_work(relay, leaf, &msg->work);
    if (msg->kind == MSG_DROP)
        on_drop(relay, leaf, &msg->drop, actions);
    if (msg->kind == MSG_CANCEL)
        on_cancel(relay, &msg->cancel);
    pass(actions, msg, leaf->link, leaf->sub);
    if (msg->kind == MSG_BYE || msg->kind == MSG_REJECT)
        leaf_free(relay, leaf, actions); /* After it the driver hangs up. */
}

static void say_hello(const struct relay *relay, const struct relay_leaf *leaf,
                      struct actions *actions)
{
    send(actions, RELAY_PARENT, leaf->number, MSG_HELLO)->hello =
        relay->hellos[index_of(relay, leaf)];
}

static void on_welcome(struct relay *relay, const struct job *job,
                       struct actions *actions)
{
    if (relay->phase != RELAY_GREETING)
        return;
    if (relay->open &&
        (job->id != relay->job.id || job->dims != relay->job.dims ||
         job->chunks != relay->job.chunks)) {
        finish(relay, actions, ERR_MISMATCH,
               "the coordinator now runs another job; start the relay again");
        return;
    }
    if (!relay->open && job_room(relay, job) != ERR_OK) {
        finish(relay, actions, ERR_NOMEM,
               "not enough memory for the model and its tallies");
        return;
    }
    relay->job = *job;
    if (!relay->open)
        actions_add(actions, ACTION_OPEN)->job = &relay->job;
    relay->open = true;
    relay->phase = RELAY_SERVING;
    relay->retry_us = relay->options.retry_us;
    vigil_begin(&relay->vigil, job, relay->now);
    for (uint32_t i = 0; i < relay->options.links_max; i++) {
        if (relay->links[i].relay)
            send(actions, i, 0, MSG_WELCOME)->welcome = *job;
    }
    for (uint32_t i = 0; i < relay->options.leaves_max; i++) {
        if (relay->leaves[i].number != 0)
            say_hello(relay, &relay->leaves[i], actions);
    }
}

static void on_order(struct relay *relay, const struct msg *msg,
                     struct actions *actions)
{
    relay->unanswered_at = TIME_NEVER;
    if (msg->leaf != 0) {
        on_leaf_order(relay, msg, actions);
        return;
    }
    switch ((int)msg->kind) {
    case MSG_WELCOME:
        on_welcome(relay, &msg->welcome, actions);
        break;
    case MSG_ROUND:
        if (relay->phase == RELAY_SERVING)
            on_cast(relay, &msg->round, actions);
        break;
    case MSG_CANCEL:
        on_cancel_all(relay, msg, actions);
        break;
    case MSG_ALONE:
        on_alone(relay, msg, actions);
        break;
    case MSG_ECHO:
        vigil_echo(&relay->vigil, &msg->echo, relay->now);
        break;
    case MSG_REJECT:
        memcpy(relay->reason, msg->reject.reason, sizeof relay->reason);
        finish(relay, actions, ERR_DENIED, relay->reason);
        break;
    case MSG_BYE:
        for (uint32_t i = 0; i < relay->options.links_max; i++) {
            if (relay->links[i].relay)
                pass(actions, msg, i, 0);
        }
        memcpy(relay->reason, msg->bye.reason, sizeof relay->reason);
        finish(relay, actions, ERR_OK, relay->reason);
        break;
    default:
        break; /* The others are not for a relay. */
    }
}

/* --- from below ---------------------------------------------------------- */

static void reject(struct actions *actions, uint32_t link, uint32_t leaf,
                   const char *reason)
{
    struct msg_reject *msg = &send(actions, link, leaf, MSG_REJECT)->reject;

    (void)snprintf(msg->reason, sizeof msg->reason, "%s", reason);
}

static void on_hello(struct relay *relay, uint32_t link, const struct msg *msg,
                     struct actions *actions)
{
    struct relay_leaf *leaf = leaf_on(relay, link, msg->leaf);

    if (greeting_foreign(msg) != NULL) {
        reject(actions, link, msg->leaf, greeting_foreign(msg));
        return;
    }
    if (leaf == NULL)
        leaf = leaf_new(relay, link, msg->leaf);
    if (leaf == NULL) {
        reject(actions, link, msg->leaf,
               "this relay has no room for one more worker");
        return;
    }
    relay->hellos[index_of(relay, leaf)] = msg->hello;
    if (relay->phase == RELAY_SERVING)
        say_hello(relay, leaf, actions);
}

static void send_echo(const struct relay *relay, uint32_t link,
                      uint64_t sequence, int64_t sent_us,
                      struct actions *actions)
{
    struct msg_echo echo;

    if (vigil_answer(&relay->vigil, sequence, sent_us, relay->now, &echo))
        send(actions, link, 0, MSG_ECHO)->echo = echo;
}

/* RELAY-5.  A relay between has answered it, and passed it on with reason. */
static void on_beat(struct relay *relay, const struct relay_leaf *leaf,
                    const struct msg *msg, struct actions *actions)
{
    bool passes = true;

    if (leaf->sub == 0) {
        send_echo(relay, leaf->link, msg->beat.sequence, msg->beat.sent_us,
                  actions);
        passes = vigil_beat(&relay->vigil, index_of(relay, leaf), &relay->job,
                            &msg->beat, relay->now);
    }
    if (passes)
        pass(actions, msg, RELAY_PARENT, leaf->number);
}

static void on_watch(struct relay *relay, uint32_t link,
                     const struct msg_watch *watch, struct actions *actions)
{
    send_echo(relay, link, watch->sequence, watch->sent_us, actions);
    if (!vigil_below(&relay->vigil, link, &relay->job, watch, relay->now))
        return;
    for (uint32_t i = 0; i < watch->count; i++) {
        const struct relay_leaf *leaf =
            leaf_on(relay, link, watch->silent[i].leaf);

        if (leaf != NULL && leaf->sub != 0)
            vigil_silent(&relay->vigil, index_of(relay, leaf),
                         watch->silent[i].silence_us, relay->now);
    }
}

/* Numbers for indices; whoever hears it should answer. */
static void send_watch(struct relay *relay, struct actions *actions)
{
    struct msg_watch watch;

    if (!vigil_watch(&relay->vigil, &relay->job, relay->now, &watch))
        return;
    for (uint32_t i = 0; i < watch.count; i++) {
        struct silent *silent = &relay->vigil.silent[i];

        silent->leaf = relay->leaves[silent->leaf].number;
    }
    send(actions, RELAY_PARENT, 0, MSG_WATCH)->watch = watch;
    if (relay->unanswered_at == TIME_NEVER)
        relay->unanswered_at = relay->now;
}

static void on_report(struct relay *relay, struct relay_leaf *leaf,
                      const struct msg *msg, struct actions *actions)
{
    vigil_heard(&relay->vigil, index_of(relay, leaf), relay->now);
    switch ((int)msg->kind) {
    case MSG_TALLY:
        on_tally(relay, leaf, msg, actions);
        return;
    case MSG_BEAT:
        on_beat(relay, leaf, msg, actions);
        return;
    case MSG_GONE:
        leaf_lost(relay, leaf, actions);
        return;
    case MSG_ROW:
        set_owes(relay, leaf, 0);
        break;
    case MSG_REFUSE:
        answered(relay, leaf);
        break;
    case MSG_LEAVE:
        flush(relay, actions); /* Ahead of it, as far as that goes. */
        break;
    case MSG_NEED:
    case MSG_PULSE:
    case MSG_HAVE:
        break;
    default:
        return; /* Not a worker's to say. */
    }
    pass(actions, msg, RELAY_PARENT, leaf->number);
    flush_if_complete(relay, actions);
}

static void on_relay(struct relay *relay, uint32_t link,
                     const struct msg_relay *msg, struct actions *actions)
{
    const char *no = greeting_version(msg->version);

    if (no != NULL) {
        reject(actions, link, 0, no);
        return;
    }
    if (relay->links[link].leaf != 0) /* It said HELLO before. */
        leaf_lost(relay, &relay->leaves[relay->links[link].leaf - 1], actions);
    relay->links[link].relay = true;
    vigil_road(&relay->vigil, link, &relay->job);
    if (relay->phase == RELAY_SERVING)
        send(actions, link, 0, MSG_WELCOME)->welcome = relay->job;
}

static void on_child(struct relay *relay, uint32_t link, const struct msg *msg,
                     struct actions *actions)
{
    struct relay_leaf *leaf;

    if (msg->kind == MSG_RELAY && msg->leaf == 0) {
        on_relay(relay, link, &msg->relay, actions);
        return;
    }
    if ((msg->leaf != 0) != relay->links[link].relay && msg->kind != MSG_SUM &&
        msg->kind != MSG_WATCH)
        return; /* Only relays have leaves, and nothing else to say. */
    if (msg->kind == MSG_HELLO) {
        on_hello(relay, link, msg, actions);
        return;
    }
    if (relay->phase != RELAY_SERVING)
        return;
    if (msg->kind == MSG_SUM) {
        if (!relay->links[link].relay)
            return;
        if (is_sound(relay, &msg->sum)) {
            on_sum(relay, link, msg, actions);
        } else {
            actions_add(actions, ACTION_CLOSE)->link = link;
            link_lost(relay, link, actions);
        }
        return;
    }
    if (msg->kind == MSG_WATCH) {
        if (relay->links[link].relay)
            on_watch(relay, link, &msg->watch, actions);
        return;
    }
    leaf = leaf_on(relay, link, msg->leaf);
    if (leaf != NULL)
        on_report(relay, leaf, msg, actions);
}

/* --- links --------------------------------------------------------------- */

/* RELAY-4.  The coordinator has counted the leaves as gone, or soon will. */
static void send_home(struct relay *relay, struct actions *actions)
{
    for (uint32_t link = 0; link < relay->options.links_max; link++) {
        actions_add(actions, ACTION_CLOSE)->link = link;
        relay->links[link] = (struct relay_link){0};
    }
    for (uint32_t i = 0; i < relay->options.leaves_max; i++) {
        if (relay->leaves[i].number != 0)
            vigil_leave(&relay->vigil, i);
        relay->leaves[i] = (struct relay_leaf){0};
    }
    relay->owed = 0;
    relay->in_round = false;
    relay->answer_count = 0;
    relay->hold_until = TIME_NEVER;
    relay->unanswered_at = TIME_NEVER;
}

static time_us sooner(time_us a, time_us b)
{
    return a < b ? a : b;
}

static void redial(struct relay *relay, struct actions *actions)
{
    if (relay->phase == RELAY_SERVING) {
        relay->lost_at = relay->now;
        send_home(relay, actions);
    }
    vigil_end(&relay->vigil);
    relay->phase = RELAY_DIALLING;
    relay->dial_at = relay->now + relay->retry_us;
    relay->retry_us = sooner(relay->retry_us * 2, relay->options.retry_max_us);
}

static void dial(struct relay *relay, struct actions *actions)
{
    if (relay->options.give_up_us != TIME_NEVER &&
        relay->now - relay->lost_at >= relay->options.give_up_us) {
        finish(relay, actions, ERR_TIMEOUT,
               "the coordinator cannot be reached");
        return;
    }
    if (relay->now - relay->lost_at >= PATIENCE_US)
        send_home(relay, actions);
    relay->dial_at = TIME_NEVER;
    (void)actions_add(actions, ACTION_CONNECT);
}

static void say_relay(struct relay *relay, struct actions *actions)
{
    struct msg_relay *msg = &send(actions, RELAY_PARENT, 0, MSG_RELAY)->relay;

    msg->version = MSG_VERSION;
    memcpy(msg->name, relay->options.name, NAME_SIZE);
    relay->hello_at = relay->now + HELLO_RESEND_US;
}

static void on_link_up(struct relay *relay, uint32_t link,
                       struct actions *actions)
{
    if (link != RELAY_PARENT || relay->phase != RELAY_DIALLING)
        return;
    relay->phase = RELAY_GREETING;
    relay->greet_until = relay->now + GREET_US;
    say_relay(relay, actions);
}

static void on_link_down(struct relay *relay, uint32_t link,
                         struct actions *actions)
{
    if (link == RELAY_PARENT)
        redial(relay, actions);
    else
        link_lost(relay, link, actions);
}

/* --- time ---------------------------------------------------------------- */

static time_us silent_at(const struct relay *relay)
{
    return relay->unanswered_at == TIME_NEVER
               ? TIME_NEVER
               : relay->unanswered_at + relay->job.dead_us;
}

static void on_time(struct relay *relay, struct actions *actions)
{
    if (relay->phase == RELAY_DIALLING && relay->now >= relay->dial_at) {
        dial(relay, actions);
        return;
    }
    if ((relay->phase == RELAY_GREETING && relay->now >= relay->greet_until) ||
        (relay->phase == RELAY_SERVING && relay->now >= silent_at(relay))) {
        actions_add(actions, ACTION_CLOSE)->link = RELAY_PARENT;
        redial(relay, actions);
        return;
    }
    if (relay->phase == RELAY_GREETING && relay->now >= relay->hello_at)
        say_relay(relay, actions);
    if (relay->phase == RELAY_SERVING && relay->now >= relay->hold_until)
        flush(relay, actions);
    if (relay->phase == RELAY_SERVING && relay->now >= relay->vigil.due)
        send_watch(relay, actions);
}

static time_us next_time(const struct relay *relay)
{
    switch (relay->phase) {
    case RELAY_DIALLING:
        return relay->dial_at;
    case RELAY_GREETING:
        return sooner(relay->hello_at, relay->greet_until);
    case RELAY_SERVING:
        return sooner(sooner(relay->hold_until, silent_at(relay)),
                      relay->vigil.due);
    case RELAY_DONE:
        break;
    }
    return TIME_NEVER;
}

/* --- step ---------------------------------------------------------------- */

static void on_message(struct relay *relay, uint32_t link,
                       const struct msg *msg, struct actions *actions)
{
    if (link != RELAY_PARENT)
        on_child(relay, link, msg, actions);
    else if (relay->phase == RELAY_GREETING || relay->phase == RELAY_SERVING)
        on_order(relay, msg, actions);
}

static void relay_check(const struct relay *relay)
{
    CHECK(relay->phase != RELAY_SERVING || relay->open);
    CHECK(!relay->in_round || relay->open);
    CHECK(relay->answer_count == 0 || relay->hold_until != TIME_NEVER);
    CHECK(relay->answer_count <= ANSWERS_MAX);
}

void relay_step(struct relay *relay, const struct event *event,
                struct actions *actions)
{
    actions->count = 0;
    if (relay->phase == RELAY_DONE)
        return;
    CHECK(event->now >= relay->now);
    CHECK(event->link == RELAY_PARENT ||
          event->link < relay->options.links_max);
    relay->now = event->now;
    relay->flushed = false;
    switch ((int)event->kind) {
    case EVENT_START:
        relay->lost_at = relay->now;
        dial(relay, actions);
        break;
    case EVENT_TIME:
        on_time(relay, actions);
        break;
    case EVENT_LINK_UP:
        on_link_up(relay, event->link, actions);
        break;
    case EVENT_LINK_DOWN:
        on_link_down(relay, event->link, actions);
        break;
    case EVENT_MESSAGE:
        on_message(relay, event->link, event->msg, actions);
        break;
    case EVENT_LEAVE:
        if (relay->phase == RELAY_SERVING)
            flush(relay, actions);
        finish(relay, actions, ERR_OK, "left");
        break;
    default:
        CHECK(!"not an event of a relay");
    }
    if (relay->phase != RELAY_DONE)
        actions_add(actions, ACTION_TIMER)->at = next_time(relay);
    relay_check(relay);
}
