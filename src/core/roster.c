#include <stdio.h>
#include <string.h>

#include "base/check.h"
#include "core/coordinator_parts.h"

#define GAP_WEIGHT     (1.0 / 16) /* Of the newest gap in mean and deviation. */
#define GAP_DEVIATIONS 6.0
/* A lost packet holds back all beats behind it for a few hundred ms, once in
 * many: mean and deviation forget that long before the next.  What was waited
 * for twice of late is waited for again, and half as long once more. */
#define STALL_KEEPS  (1 - 1.0 / 1024) /* A beat later; half in 35 s. */
#define STALL_FACTOR 1.5

bool member_here(const struct coordinator *c, uint32_t link)
{
    return link < c->members_max && c->members[link].state != MEMBER_NONE;
}

bool member_healthy(const struct coordinator *c, uint32_t link)
{
    return member_here(c, link) && !c->members[link].suspect;
}

/* --- in ------------------------------------------------------------------ */

static void reject(struct coordinator *c, uint32_t link, const char *reason,
                   struct actions *actions)
{
    struct msg *msg = coordinator_send(c, actions, link, MSG_REJECT);

    (void)snprintf(msg->reject.reason, sizeof msg->reject.reason, "%s", reason);
}

/* NULL if the worker may come in. */
static const char *objection(const struct coordinator *c,
                             const struct msg_hello *hello)
{
    if (hello->version != MSG_VERSION)
        return "this coordinator speaks another protocol version; use the "
               "same release of muster on both machines";
    if (!digest_equal(&hello->arithmetic, &c->options.arithmetic))
        return "this machine computes other bits than the coordinator; use "
               "the same release of muster and no special floating-point mode";
    if (hello->job != 0 && hello->job != c->options.job.id)
        return "this worker belongs to another job; start it anew to join "
               "this one";
    if (hello->resident && !digest_equal(&hello->data, &c->options.job.data))
        return "this worker holds other data than the coordinator trains on";
    if (c->options.own_data && !hello->resident)
        return "this run trains a program's own function; join it with that "
               "program (muster_join)";
    if (homes_objection(c, hello) != NULL)
        return homes_objection(c, hello);
    if (trust_banned(c, hello->name))
        return "this worker sent broken answers three times; start it under "
               "another name once its machine is repaired";
    return NULL;
}

static void welcome(struct coordinator *c, uint32_t link,
                    struct actions *actions)
{
    coordinator_send(c, actions, link, MSG_WELCOME)->welcome = c->options.job;
    shipping_describe(c, link, actions);
}

static void keep_data(struct member *member, const struct member *old)
{
    chunkset_copy(&member->held, &old->held);
    member->block = old->block;
}

/* The same process on a new connection, or a new one under the same name: the
 * old session is over.  Its data is still there if the process is the same. */
static void replace_old(struct coordinator *c, uint32_t link,
                        const struct msg_hello *hello, struct actions *actions)
{
    for (uint32_t old = 0; old < c->members_max; old++) {
        if (!member_here(c, old) ||
            strcmp(c->members[old].name, hello->name) != 0)
            continue;
        if (c->members[old].incarnation == hello->incarnation)
            keep_data(&c->members[link], &c->members[old]);
        coordinator_hang_up(c, actions, old);
        roster_remove(c, old, TRACE_DIED, actions);
    }
}

static void admit(struct coordinator *c, uint32_t link,
                  const struct msg_hello *hello)
{
    struct member *member = &c->members[link];
    const struct chunkset held = member->held;
    const struct chunkset near = member->near;

    *member = (struct member){
        .state = MEMBER_READY,
        .resident = hello->resident,
        .held = held,
        .near = near,
        .counting =
            hello->keeps && !hello->resident && !c->options.job.products,
        .counting_until = c->now + SHIPPING_COUNT_US,
        .block = member->block,
        .via = member->via,
        .leaf = member->leaf,
        .incarnation = hello->incarnation,
        .pid = hello->pid,
        .heard_at = c->now,
        .gap_mean_us = (double)c->options.job.beat_us,
    };
    slow_init(&member->slow);
    memcpy(member->name, hello->name, NAME_SIZE);
    member->strikes = trust_strikes(c, hello->name);
    if (hello->resident)
        chunkset_fill(&member->held);
    homes_admit(c, link, hello);
    c->alive++;
    c->stats.joined++;
    if (c->alive > c->stats.alive_max)
        c->stats.alive_max = c->alive;
    c->view_dirty = true;
}

void roster_hello(struct coordinator *c, uint32_t link,
                  const struct msg_hello *hello, struct actions *actions)
{
    const char *problem = objection(c, hello);

    if (problem != NULL) {
        reject(c, link, problem, actions);
        return;
    }
    /* INV-6: a worker that obeyed a later view has another coordinator. */
    if (hello->view_seen > c->view) {
        coordinator_fail(c, actions, ERR_STALE,
                         "another coordinator has taken over this job");
        return;
    }
    if (member_here(c, link) &&
        c->members[link].incarnation == hello->incarnation) {
        welcome(c, link, actions); /* HELLO was said twice. */
        return;
    }
    if (member_here(c, link))
        roster_remove(c, link, TRACE_DIED, actions);
    chunkset_clear(&c->members[link].held);
    if (c->options.job.keyed)
        chunkset_clear(&c->members[link].near);
    c->members[link].block = 0;
    replace_old(c, link, hello, actions);
    admit(c, link, hello);
    welcome(c, link, actions);
    (void)coordinator_trace(c, actions, TRACE_JOINED, link);
    if (c->phase == COORDINATOR_GATHERING)
        view_gather(c, actions);
    else if (c->phase == COORDINATOR_ROUND)
        round_rebalance(c, actions);
}

/* --- out ----------------------------------------------------------------- */

void roster_remove(struct coordinator *c, uint32_t link, enum trace_kind kind,
                   struct actions *actions)
{
    struct member *member = &c->members[link];

    CHECK(member_here(c, link));
    (void)coordinator_trace(c, actions, kind, link);
    if (kind == TRACE_LEFT)
        c->stats.left++;
    else
        c->stats.died++;
    round_unassign(c, link);
    if (member->state == MEMBER_ACTIVE)
        c->slot_link[member->slot] = LINK_NONE;
    member->state = MEMBER_NONE;
    c->view_dirty = true;
    if (--c->alive == 0)
        c->gather_until = c->now + c->options.job.dead_us;
}

void roster_leave(struct coordinator *c, uint32_t link, struct actions *actions)
{
    struct msg *bye = coordinator_send(c, actions, link, MSG_BYE);

    (void)snprintf(bye->bye.reason, sizeof bye->bye.reason, "left");
    if (!member_here(c, link))
        return; /* LEAVE was said twice. */
    roster_remove(c, link, TRACE_LEFT, actions);
    round_rebalance(c, actions);
}

/* --- beats --------------------------------------------------------------- */

/* Silence that is still normal for this member: the configured limit, or what
 * its own beats have taught us on a slow or jittery road. */
static time_us suspect_limit(const struct coordinator *c,
                             const struct member *member)
{
    const double usual =
        member->gap_mean_us + GAP_DEVIATIONS * member->gap_dev_us;
    const double stalled = STALL_FACTOR * member->stall_us[1];
    const double longest = usual > stalled ? usual : stalled;
    const time_us limit = c->options.suspect_us;

    return longest > (double)limit ? (time_us)longest : limit;
}

static time_us dead_limit(const struct coordinator *c,
                          const struct member *member)
{
    const time_us adapted = 4 * suspect_limit(c, member);
    const time_us limit = c->options.job.dead_us;

    return adapted > limit ? adapted : limit;
}

/* The longest alone may have been a pause; what comes twice is the road. */
static void learn_stall(struct member *member, double gap)
{
    double *stall = member->stall_us;

    stall[0] *= STALL_KEEPS;
    stall[1] *= STALL_KEEPS;
    if (gap > stall[0]) {
        stall[1] = stall[0];
        stall[0] = gap;
    } else if (gap > stall[1]) {
        stall[1] = gap;
    }
}

static void learn_gap(struct coordinator *c, struct member *member)
{
    /* One long pause must not make us patient for ever. */
    const double most = 2 * (double)c->options.suspect_us;
    double gap = (double)(c->now - member->beat_at);
    double off;

    if (member->beat_sequence == 0)
        gap = (double)c->options.job.beat_us;
    gap = gap > most ? most : gap;
    learn_stall(member, gap);
    off = gap - member->gap_mean_us;
    member->gap_mean_us += GAP_WEIGHT * off;
    off = off < 0 ? -off : off;
    member->gap_dev_us += GAP_WEIGHT * (off - member->gap_dev_us);
}

static void clear_suspicion(struct coordinator *c, uint32_t link,
                            struct actions *actions)
{
    if (!c->members[link].suspect)
        return;
    c->members[link].suspect = false;
    (void)coordinator_trace(c, actions, TRACE_CLEARED, link);
}

/* A worker that has taken in all we sent, has nothing queued and yet owes
 * answers has lost some on the way; one that never took in the assignment has
 * not got it.  On TCP neither happens unless the link breaks, so we are slow
 * to conclude it. */
static void repair(struct coordinator *c, uint32_t link,
                   const struct msg_beat *beat, struct actions *actions)
{
    struct member *member = &c->members[link];
    const bool current = beat->view == member->key.view &&
                         beat->step == member->key.step &&
                         beat->attempt == member->key.attempt;
    const bool working =
        current && beat->queued > 0 && beat->assignment >= member->assignment;

    if (c->phase != COORDINATOR_ROUND || member->outstanding == 0 || working ||
        c->backlog) {
        member->idle_beats = 0;
        return;
    }
    if (++member->idle_beats < 2 ||
        c->now - member->assigned_at < c->options.resend_us)
        return;
    member->idle_beats = 0;
    round_resend(c, link, actions);
}

void roster_beat(struct coordinator *c, uint32_t link,
                 const struct msg_beat *beat, struct actions *actions)
{
    struct member *member = &c->members[link];
    struct msg *echo;

    if (beat->sequence <= member->beat_sequence)
        return;
    learn_gap(c, member);
    member->beat_sequence = beat->sequence;
    member->beat_at = c->now;
    member->chunks_done = beat->chunks_done;
    echo = coordinator_send(c, actions, link, MSG_ECHO);
    echo->echo.sequence = beat->sequence;
    echo->echo.sent_us = beat->sent_us;
    echo->echo.heard_us = c->now;
    clear_suspicion(c, link, actions);
    repair(c, link, beat, actions);
}

/* On our clock, as well as the worker knows it. */
static void trace_stint(struct coordinator *c, uint32_t link,
                        const struct msg_pulse *pulse,
                        const struct stint *stint, struct actions *actions)
{
    struct trace *trace = coordinator_trace(c, actions, TRACE_STINT, link);

    trace->key.step = stint->step;
    trace->stint = *stint;
    trace->stint.began += pulse->ahead_us;
}

void roster_pulse(struct coordinator *c, uint32_t link,
                  const struct msg_pulse *pulse, struct actions *actions)
{
    struct slow *slow = &c->members[link].slow;
    struct trace *trace;

    slow->ahead_us = pulse->ahead_us;
    slow->error_us = pulse->error_us;
    slow->trip_us = pulse->trip_us;
    for (uint32_t i = 0; c->options.job.stints && i < pulse->count; i++)
        trace_stint(c, link, pulse, &pulse->stints[i], actions);
    if (!pulse->full)
        return;
    slow_take(slow, &pulse->vitals, c->now);
    trace = coordinator_trace(c, actions, TRACE_PULSE, link);
    trace->pulse.vitals = pulse->vitals;
    trace->pulse.ahead_us = pulse->ahead_us;
    trace->pulse.error_us = pulse->error_us;
    trace->pulse.trip_us = pulse->trip_us;
}

void roster_watch(struct coordinator *c, struct actions *actions)
{
    bool changed = false;

    if (c->options.job.beat_us == 0)
        return;
    for (uint32_t link = 0; link < c->members_max; link++) {
        struct member *member = &c->members[link];
        const time_us silence = c->now - member->heard_at;

        if (member->state == MEMBER_NONE)
            continue;
        if (silence >= dead_limit(c, member)) {
            coordinator_hang_up(c, actions, link);
            roster_remove(c, link, TRACE_DIED, actions);
            changed = true;
        } else if (silence >= suspect_limit(c, member) && !member->suspect) {
            member->suspect = true;
            (void)coordinator_trace(c, actions, TRACE_SUSPECT, link);
            changed = true;
        }
    }
    if (changed)
        round_rebalance(c, actions);
}
