/*
 * trust.c - who sent poison, and how often.
 *
 * Strikes go by name, not by session: a worker that hangs up after its second
 * broken answer and dials again has two strikes still.  The third shuts the
 * name out for the life of this coordinator.  An answer to a round that is
 * over is no strike, only late; one to a round that never was is.
 */
#include <stdio.h>
#include <string.h>

#include "base/check.h"
#include "core/star/coordinator_parts.h"

const char *poison_name(enum poison_kind kind)
{
#define POISON_NAME(code, name, text) [code] = (name),
    static const char *const names[] = {POISON_LIST(POISON_NAME)};
#undef POISON_NAME

    CHECK((size_t)kind < sizeof names / sizeof *names);
    return names[kind];
}

const char *poison_text(enum poison_kind kind)
{
#define POISON_TEXT(code, name, text) [code] = (text),
    static const char *const texts[] = {POISON_LIST(POISON_TEXT)};
#undef POISON_TEXT

    CHECK((size_t)kind < sizeof texts / sizeof *texts);
    return texts[kind];
}

static struct offender *find(struct coordinator *c, const char *name)
{
    for (uint32_t i = 0; i < c->trust.count; i++) {
        if (strcmp(c->trust.offenders[i].name, name) == 0)
            return &c->trust.offenders[i];
    }
    return NULL;
}

/* Whom to forget when the table is full: the one with the fewest strikes, and
 * of the banned none, unless all are. */
static struct offender *least(struct coordinator *c)
{
    struct offender *found = &c->trust.offenders[0];

    for (uint32_t i = 1; i < c->trust.count; i++) {
        if (c->trust.offenders[i].strikes < found->strikes)
            found = &c->trust.offenders[i];
    }
    return found;
}

static struct offender *find_or_add(struct coordinator *c, const char *name)
{
    struct offender *offender = find(c, name);

    if (offender != NULL)
        return offender;
    offender = c->trust.count < OFFENDERS_MAX
                   ? &c->trust.offenders[c->trust.count++]
                   : least(c);
    *offender = (struct offender){0};
    (void)snprintf(offender->name, sizeof offender->name, "%s", name);
    return offender;
}

uint32_t trust_strikes(const struct coordinator *c, const char *name)
{
    for (uint32_t i = 0; i < c->trust.count; i++) {
        if (strcmp(c->trust.offenders[i].name, name) == 0)
            return c->trust.offenders[i].strikes;
    }
    return 0;
}

bool trust_banned(const struct coordinator *c, const char *name)
{
    return trust_strikes(c, name) >= STRIKES_MAX;
}

static uint32_t link_of(const struct coordinator *c, const char *name)
{
    for (uint32_t link = 0; link < c->members_max; link++) {
        if (member_here(c, link) && strcmp(c->members[link].name, name) == 0)
            return link;
    }
    return LINK_NONE;
}

static void note_ban(struct coordinator *c, const char *name,
                     enum poison_kind kind)
{
    struct coordinator_stats *stats = &c->stats;

    if (stats->banned < BANNED_SHOWN) {
        memcpy(stats->banned_name[stats->banned], name, NAME_SIZE);
        stats->banned_for[stats->banned] = (uint8_t)kind;
    }
    stats->banned++;
}

static void name_trace(struct trace *trace, const struct offender *offender,
                       enum poison_kind kind)
{
    memcpy(trace->name, offender->name, NAME_SIZE);
    trace->a = (uint64_t)kind;
    trace->b = offender->strikes;
}

static void send_home(struct coordinator *c, uint32_t link,
                      enum poison_kind kind, struct actions *actions)
{
    struct msg *msg = coordinator_send(c, actions, link, MSG_REJECT);

    (void)snprintf(msg->reject.reason, sizeof msg->reject.reason,
                   "three broken answers: this machine is not trusted");
    coordinator_hang_up(c, actions, link);
    if (product_on(c)) /* Nobody looks at what coded answers say. */
        c->stats.unchecked_bad += c->members[link].answers;
    else if (kind == POISON_LIE) /* Others were seen for what they were. */
        c->stats.unchecked_bad += c->members[link].unchecked;
    roster_remove(c, link, TRACE_DIED, actions);
}

static void strike(struct coordinator *c, struct offender *offender,
                   uint32_t link, enum poison_kind kind,
                   struct actions *actions)
{
    c->stats.poison++;
    c->stats.poison_by[kind]++;
    offender->strikes++;
    if (link != LINK_NONE)
        c->members[link].strikes = offender->strikes;
    name_trace(coordinator_trace(c, actions, TRACE_POISON, link), offender,
               kind);
    if (offender->strikes < STRIKES_MAX || offender->banned)
        return;
    offender->banned = true;
    note_ban(c, offender->name, kind);
    name_trace(coordinator_trace(c, actions, TRACE_BANNED, link), offender,
               kind);
    verify_forget(c, offender->name);
    if (link != LINK_NONE)
        send_home(c, link, kind, actions);
}

void trust_strike(struct coordinator *c, uint32_t link, enum poison_kind kind,
                  struct actions *actions)
{
    CHECK(member_here(c, link));
    strike(c, find_or_add(c, c->members[link].name), link, kind, actions);
}

void trust_strike_name(struct coordinator *c, const char *name,
                       enum poison_kind kind, struct actions *actions)
{
    strike(c, find_or_add(c, name), link_of(c, name), kind, actions);
}

/* A coordinator that was started again knows only the views before its own, and
 * answers to them may still come: those are late.  What it can tell are rounds
 * of another job, of a view that is yet to be, and in the view at hand rounds
 * after the one it opened last, or that one with other weights or scale. */
bool trust_key_impossible(const struct coordinator *c,
                          const struct round_key *key)
{
    int order;

    if (key->job != c->options.job.id || key->view > c->view)
        return true;
    if (key->view < c->view || c->opened.view != c->view)
        return false;
    order = key_order(key, &c->opened);
    return order > 0 || (order == 0 && (key->scale != c->opened.scale ||
                                        key->weights != c->opened.weights));
}
