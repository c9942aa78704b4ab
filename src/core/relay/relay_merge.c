/*
 * relay_merge.c - answers on their way up: merged, or passed on as they came.
 */
#include "base/bugs.h"
#include "base/check.h"
#include "core/relay/relay_parts.h"

#define HOLD_SHARE     8 /* RELAY-3. */
#define HOLD_MIN_US    200
#define HOLD_MAX_US    (20 * MS_US)
#define PATIENT_MAX_US (200 * MS_US) /* Less than until a hedge. */

static bool holds_any(const struct relay *relay)
{
    return relay->answer_count > 0;
}

void relay_flush(struct relay *relay, struct actions *actions)
{
    const struct tally *held = &relay->held[relay->live];
    struct msg_sum *msg;

    if (!holds_any(relay))
        return;
    if (relay->flushed) {
        relay->hold_until = relay->now;
        return;
    }
    msg = &relay_send(actions, RELAY_PARENT, 0, MSG_SUM)->sum;
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

void relay_flush_complete(struct relay *relay, struct actions *actions)
{
    if (!holds_any(relay))
        return;
    if (relay->owed == 0 || relay->answer_count == ANSWERS_MAX)
        relay_flush(relay, actions);
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
static bool fits(const struct tally *held, const int64_t *sum, tally_loss loss)
{
    const int64_t limit = INT64_C(1) << TALLY_BITS;
    int bad = 0;

    for (uint32_t j = 0; j < held->dims; j++) {
        const int64_t both =
            (int64_t)((uint64_t)held->sum[j] + (uint64_t)sum[j]);

        bad |= both <= -limit || both >= limit;
    }
    return bad == 0 && tally_loss_in_bound(held->loss + loss);
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
static bool is_mergeable(const struct relay *relay,
                         const struct msg_tally *tally)
{
    if (!is_of_round(relay, &tally->key, tally->dims) ||
        !relay_range_ok(relay, tally->first, tally->end) ||
        goes_alone(relay, tally->first, tally->end) ||
        relay->answer_count == ANSWERS_MAX)
        return false;
    return tally_claim_in_bound(tally->sum, tally->dims, tally->loss) &&
           fits(&relay->held[relay->live], tally->sum, tally->loss);
}

void relay_tally(struct relay *relay, struct relay_leaf *leaf,
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

    relay_leaf_answered(relay, leaf);
    if (relay->over && key_equal(&tally->key, &relay->round.key))
        return; /* Nobody waits for it any more. */
    if (!is_mergeable(relay, tally)) {
        relay_pass(actions, msg, RELAY_PARENT, leaf->number);
    } else {
        answer.counted = !known(relay, tally->first, tally->end);
        if (answer.counted || BUG(BUG_RELAY_TWICE))
            add_sums(held, tally->sum, tally->loss);
        add_answer(relay, &answer);
    }
    relay_flush_complete(relay, actions);
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
        leaf = relay_leaf_on(relay, link, answer->leaf);
        answer->leaf = leaf == NULL ? 0 : leaf->number;
        if (leaf != NULL)
            relay_leaf_answered(relay, leaf);
        mergeable = mergeable &&
                    relay_range_ok(relay, answer->first, answer->end) &&
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
        if (!relay_range_ok(relay, answer->first, answer->end) ||
            !chunkset_misses_range(&relay->seen, answer->first, answer->end))
            return false;
        chunkset_add_range(&relay->seen, answer->first, answer->end);
    }
    return tally_claim_in_bound(sum->sum, sum->dims, sum->loss);
}

bool relay_sum(struct relay *relay, uint32_t link, const struct msg *msg,
               struct actions *actions)
{
    const struct msg_sum *sum = &msg->sum;
    struct tally *held = &relay->held[relay->live];

    if (sum->count > ANSWERS_MAX || !is_sound(relay, sum))
        return false;
    vigil_road_heard(&relay->vigil, link, relay->now);
    if (map_answers(relay, link, sum) &&
        is_of_round(relay, &sum->key, sum->dims) &&
        sum->count <= ANSWERS_MAX - relay->answer_count &&
        fits(held, sum->sum, sum->loss)) {
        add_sums(held, sum->sum, sum->loss);
        for (uint32_t i = 0; i < sum->count; i++)
            add_answer(relay, &relay->mapped[i]);
    } else {
        struct msg_sum *up =
            &relay_send(actions, RELAY_PARENT, 0, MSG_SUM)->sum;

        *up = *sum;
        up->answers = relay->mapped;
    }
    relay_flush_complete(relay, actions);
    return true;
}
