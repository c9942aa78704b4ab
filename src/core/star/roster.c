/*
 * roster.c - membership: HELLO and who is turned away, heartbeats, suspicion,
 * death, and workers of whom only their relay hears.
 */
#include <stdio.h>
#include <string.h>

#include "base/check.h"
#include "core/link/greeting.h"
#include "core/star/coordinator_parts.h"

bool member_here(const struct coordinator *c, uint32_t link)
{
    return link < c->members_max && c->members[link].state != MEMBER_NONE;
}

bool member_healthy(const struct coordinator *c, uint32_t link)
{
    return member_here(c, link) && !c->members[link].suspect;
}

const char *member_relay(const struct coordinator *c,
                         const struct member *member)
{
    static const char none[NAME_SIZE] = "";

    return member->via > 0 ? c->members[member->via - 1].name : none;
}

/* --- in ------------------------------------------------------------------ */

static void reject(struct coordinator *c, uint32_t link, const char *reason,
                   struct actions *actions)
{
    struct msg *msg = coordinator_send(c, actions, link, MSG_REJECT);

    (void)snprintf(msg->reject.reason, sizeof msg->reject.reason, "%s", reason);
}

/* Another process of that name; NULL: there is none. */
static const struct member *namesake(const struct coordinator *c,
                                     const struct msg_hello *hello)
{
    for (uint32_t i = 0; i < c->alive; i++) {
        const struct member *member = &c->members[c->present[i]];

        if (strcmp(member->name, hello->name) == 0 &&
            member->incarnation != hello->incarnation)
            return member;
    }
    return NULL;
}

enum name_state { NAME_FREE, NAME_TAKEN, NAME_UNSURE };

/* The namesake may be what is left of an earlier life, of which nobody has told
 * us yet: whoever asks says HELLO again, and by the time a dead one would have
 * been found out it is clear whose the name is. */
static enum name_state name_state(struct coordinator *c, uint32_t link,
                                  const struct msg_hello *hello)
{
    const struct member *other = namesake(c, hello);
    struct member *asks = &c->members[link];

    if (other == NULL || other == asks)
        return NAME_FREE;
    if (asks->asked_by != hello->incarnation) {
        asks->asked_by = hello->incarnation;
        asks->asked_at = c->now;
    }
    if (c->now - asks->asked_at < c->options.job.dead_us)
        return NAME_UNSURE;
    /* Its own word: a relay beats for those behind it, also for one whose end
     * it has not seen. */
    return other->heard_at > asks->asked_at ? NAME_TAKEN : NAME_FREE;
}

/* Would it be one more than may be here?  Whoever comes back takes the place
 * that it had. */
static bool is_full(const struct coordinator *c, uint32_t link,
                    const struct msg_hello *hello)
{
    if (c->options.workers_max == 0 || c->alive < c->options.workers_max ||
        member_here(c, link))
        return false;
    for (uint32_t i = 0; i < c->alive; i++)
        if (strcmp(c->members[c->present[i]].name, hello->name) == 0)
            return false;
    return true;
}

static void turn_away(struct coordinator *c, uint32_t link,
                      struct actions *actions)
{
    char reason[REASON_SIZE];

    (void)snprintf(reason, sizeof reason,
                   "there is no room: --workers lets in %u, and as many are "
                   "here; join again when one is gone",
                   c->options.workers_max);
    reject(c, link, reason, actions);
}

/* NULL if the worker may come in. */
static const char *objection(const struct coordinator *c,
                             const struct msg_hello *hello)
{
    const char *no = greeting_objection(hello->version, &hello->arithmetic,
                                        &c->options.arithmetic);

    if (no != NULL)
        return no;
    if (hello->job != 0 && hello->job != c->options.job.id)
        return "this worker belongs to another job; start it anew to join "
               "this one";
    if (hello->resident && !digest_equal(&hello->data, &c->options.job.data))
        return "this worker holds other data than the coordinator trains on";
    if (c->options.own_data != NULL && !hello->resident)
        return c->options.own_data;
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
    peers_invite(c, link, actions);
}

static void keep_data(struct member *member, const struct member *old)
{
    chunkset_copy(&member->held, &old->held);
    member->block = old->block;
}

/* The same process on a new connection, or a new one under the name of one that
 * fell silent: the old session is over.  Its data is still there if the process
 * is the same. */
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
        .peer.alone = hello->alone,
        .block = member->block,
        .via = member->via,
        .leaf = member->leaf,
        .incarnation = hello->incarnation,
        .pid = hello->pid,
        .heard_at = c->now,
    };
    gaps_init(&member->gaps, c->options.job.beat_us);
    slow_init(&member->slow);
    memcpy(member->name, hello->name, NAME_SIZE);
    member->strikes = trust_strikes(c, hello->name);
    if (hello->resident)
        chunkset_fill(&member->held);
    homes_admit(c, link, hello);
    member->present_at = c->alive;
    c->present[c->alive++] = link;
    c->stats.joined++;
    if (c->alive > c->stats.alive_max)
        c->stats.alive_max = c->alive;
    c->view_dirty = true;
    c->segments.outdated = true;
}

/* It was away when the job before this one ended. */
static bool comes_from_before(const struct coordinator *c,
                              const struct msg_hello *hello)
{
    return c->options.series && hello->job != 0 &&
           hello->job != c->options.job.id;
}

static void send_for(struct coordinator *c, uint32_t link,
                     struct actions *actions)
{
    struct msg_bye *bye = &coordinator_send(c, actions, link, MSG_BYE)->bye;

    bye->finished = true;
    bye->more = true;
    (void)snprintf(bye->reason, sizeof bye->reason, "done");
}

void roster_hello(struct coordinator *c, uint32_t link,
                  const struct msg_hello *hello, struct actions *actions)
{
    const char *problem = objection(c, hello);
    enum name_state name;

    if (comes_from_before(c, hello)) {
        send_for(c, link, actions);
        return;
    }
    if (problem != NULL) {
        reject(c, link, problem, actions);
        return;
    }
    /* INV-6: a worker that obeyed a later view has another coordinator.  One
     * that has no job yet has obeyed nobody. */
    if (hello->job != 0 && hello->view_seen > c->view) {
        coordinator_fail(c, actions, ERR_STALE,
                         "another coordinator has taken over this job");
        return;
    }
    name = name_state(c, link, hello);
    if (name == NAME_TAKEN)
        reject(c, link,
               "a worker of this name is at work here already; start this one "
               "under another --name, or with a token of its own",
               actions);
    if (name != NAME_FREE)
        return;
    if (is_full(c, link, hello)) {
        turn_away(c, link, actions);
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
    memcpy(coordinator_trace(c, actions, TRACE_JOINED, link)->relay,
           member_relay(c, &c->members[link]), NAME_SIZE);
    if (c->phase == COORDINATOR_GATHERING)
        view_gather(c, actions);
    else if (c->phase == COORDINATOR_ROUND)
        balance_round(c, actions);
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
    work_forget(c, link);
    peers_gone(c, link);
    if (member->state == MEMBER_ACTIVE)
        c->slot_link[member->slot] = LINK_NONE;
    member->state = MEMBER_NONE;
    c->view_dirty = true;
    c->segments.outdated = true;
    c->alive--;
    c->present[member->present_at] = c->present[c->alive];
    c->members[c->present[c->alive]].present_at = member->present_at;
    if (c->alive == 0)
        c->gather.until = c->now + c->options.job.dead_us;
}

void roster_leave(struct coordinator *c, uint32_t link, struct actions *actions)
{
    struct msg *bye = coordinator_send(c, actions, link, MSG_BYE);

    (void)snprintf(bye->bye.reason, sizeof bye->bye.reason, "left");
    if (!member_here(c, link))
        return; /* LEAVE was said twice. */
    roster_remove(c, link, TRACE_LEFT, actions);
    balance_round(c, actions);
}

/* --- beats --------------------------------------------------------------- */

/* Behind a relay the road that ends here is the relay's. */
static const struct member *road_of(const struct coordinator *c,
                                    const struct member *member)
{
    return member->via > 0 ? &c->members[member->via - 1] : member;
}

/* Silence that is still normal: the configured limit, or what the beats have
 * taught us on a slow or jittery road. */
static time_us suspect_limit(const struct coordinator *c,
                             const struct member *member)
{
    return gaps_limit(&road_of(c, member)->gaps, c->options.suspect_us);
}

static time_us dead_limit(const struct coordinator *c,
                          const struct member *member)
{
    const time_us adapted = 4 * suspect_limit(c, member);
    const time_us limit = c->options.job.dead_us;

    return adapted > limit ? adapted : limit;
}

static void learn_gap(const struct coordinator *c, struct member *member,
                      uint64_t sequence)
{
    gaps_learn(&member->gaps, sequence, c->now, 2 * c->options.suspect_us);
}

time_us member_heard_at(const struct coordinator *c,
                        const struct member *member)
{
    const time_us relayed = road_of(c, member)->heard_at;

    return member->via == 0 || member->hushed || member->heard_at > relayed
               ? member->heard_at
               : relayed;
}

static void clear_suspicion(struct coordinator *c, uint32_t link,
                            struct actions *actions)
{
    if (!c->members[link].suspect)
        return;
    c->members[link].suspect = false;
    c->segments.outdated = true;
    (void)coordinator_trace(c, actions, TRACE_CLEARED, link);
}

/* A worker that has taken in all we sent, has nothing queued and yet owes
 * answers has lost some on the way; one that never took in the assignment has
 * not got it.  On TCP neither happens unless the link breaks, so we are slow
 * to conclude it.  A relay passes on only what was said several times. */
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
    if (++member->idle_beats < (member->via > 0 ? 1 : 2) ||
        c->now - member->assigned_at < c->options.resend_us)
        return;
    member->idle_beats = 0;
    work_resend(c, link, actions);
}

static void send_echo(const struct coordinator *c, uint32_t link,
                      uint64_t sequence, int64_t sent_us,
                      struct actions *actions)
{
    struct msg_echo *echo = &coordinator_send(c, actions, link, MSG_ECHO)->echo;

    echo->sequence = sequence;
    echo->sent_us = sent_us;
    echo->heard_us = c->now;
}

/* A relay has answered those of its leaves, and passes on what says more than
 * that they are there (RELAY-5). */
void roster_beat(struct coordinator *c, uint32_t link,
                 const struct msg_beat *beat, struct actions *actions)
{
    struct member *member = &c->members[link];

    if (beat->sequence <= member->gaps.sequence)
        return;
    learn_gap(c, member, beat->sequence);
    if (member->via == 0)
        send_echo(c, link, beat->sequence, beat->sent_us, actions);
    member->hushed = false;
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

/* --- beats of relays ------------------------------------------------------ */

static void hush(struct coordinator *c, uint32_t relay,
                 const struct msg_watch *watch)
{
    for (uint32_t i = 0; i < watch->count; i++) {
        const uint32_t link = leaves_member(c, relay, watch->silent[i].leaf);

        if (!member_here(c, link))
            continue;
        c->members[link].hushed = true;
        c->members[link].hushed_in = watch->sequence;
        c->members[link].heard_at = c->now - watch->silent[i].silence_us;
    }
}

/* Those that the relay has heard of again, or that were taken for dead because
 * the relay was not heard of. */
static void unhush(struct coordinator *c, uint32_t relay,
                   const struct msg_watch *watch, struct actions *actions)
{
    for (uint32_t link = c->options.links_max; link < c->members_max; link++) {
        struct member *member = &c->members[link];

        if (!member_here(c, link) || member->via != relay + 1 ||
            (member->hushed && member->hushed_in == watch->sequence))
            continue;
        if (member->hushed && !watch->whole)
            continue;
        member->hushed = false;
        clear_suspicion(c, link, actions);
    }
}

/* It counts as a beat, but teaches nothing: it may come at any time. */
void roster_relay_heard(struct coordinator *c, uint32_t link)
{
    c->members[link].heard_at = c->now;
    c->members[link].gaps.beat_at = c->now;
}

void roster_relay_watch(struct coordinator *c, uint32_t link,
                        const struct msg_watch *watch, struct actions *actions)
{
    struct member *relay = &c->members[link];

    if (watch->sequence <= relay->gaps.sequence)
        return;
    learn_gap(c, relay, watch->sequence);
    relay->heard_at = c->now;
    send_echo(c, link, watch->sequence, watch->sent_us, actions);
    if (watch->count == 0 && !relay->hushed)
        return; /* As nearly always: all is well behind it. */
    hush(c, link, watch);
    unhush(c, link, watch, actions);
    relay->hushed = watch->count > 0;
}

/* --- silence ------------------------------------------------------------- */

static void suspect(struct coordinator *c, uint32_t link,
                    struct actions *actions)
{
    struct member *member = &c->members[link];

    member->suspect = true;
    c->segments.outdated = true;
    if (member->via > 0)
        c->members[member->via - 1].hushed = true;
    (void)coordinator_trace(c, actions, TRACE_SUSPECT, link);
}

/* A relay beats for all whom it does not call silent, also for one whose GONE
 * was lost.  Whoever owes answers behind it and has said nothing itself for as
 * long as the dead are is sent its work again: a relay that does not know it
 * says GONE.  One at a time, for there is room for one list of pieces. */
static void probe_leaf(struct coordinator *c, struct actions *actions)
{
    if (c->phase != COORDINATOR_ROUND || c->backlog)
        return;
    for (uint32_t i = 0; i < c->alive; i++) {
        const struct member *member = &c->members[c->present[i]];
        const time_us since = member->heard_at > member->assigned_at
                                  ? member->heard_at
                                  : member->assigned_at;

        if (member->via > 0 && member->outstanding > 0 &&
            c->now - since >= dead_limit(c, member)) {
            work_resend(c, c->present[i], actions);
            return;
        }
    }
}

void roster_watch(struct coordinator *c, struct actions *actions)
{
    bool changed = false;

    if (c->options.job.beat_us == 0)
        return;
    for (uint32_t i = c->alive; i-- > 0;) { /* Some may go on the way. */
        const uint32_t link = c->present[i];
        const struct member *member = &c->members[link];
        const time_us silence = c->now - member_heard_at(c, member);

        if (silence < c->options.suspect_us)
            continue; /* As nearly always; limits are no lower. */
        if (silence >= dead_limit(c, member)) {
            coordinator_hang_up(c, actions, link);
            roster_remove(c, link, TRACE_DIED, actions);
            changed = true;
        } else if (silence >= suspect_limit(c, member) && !member->suspect) {
            suspect(c, link, actions);
            changed = true;
        }
    }
    if (changed)
        balance_round(c, actions);
    else
        probe_leaf(c, actions);
}
