/*
 * leaves.c - workers behind relays: members like all others, but for the way.
 *
 * A relay numbers its leaves; (link of the relay, number) names a member in
 * the upper part of c->members, which is a table of open addresses: a member
 * is looked for from its hash onwards.  Numbers are never used twice in one
 * life of a relay, so that what is late of one leaf is never taken for
 * another's.
 */
#include <stdio.h>
#include <string.h>

#include "base/check.h"
#include "code/rules.h"
#include "core/link/greeting.h"
#include "core/star/coordinator_parts.h"

static uint32_t place_of(const struct coordinator *c, uint32_t link,
                         uint32_t leaf, uint32_t i)
{
    const uint64_t mixed =
        ((uint64_t)link << 32 | leaf) * UINT64_C(0x9e3779b97f4a7c15);

    return c->options.links_max +
           (uint32_t)(((mixed >> 33) + i) % c->options.leaves_max);
}

uint32_t leaves_member(const struct coordinator *c, uint32_t link,
                       uint32_t leaf)
{
    for (uint32_t i = 0; i < c->options.leaves_max; i++) {
        const uint32_t at = place_of(c, link, leaf, i);

        if (c->members[at].via == link + 1 && c->members[at].leaf == leaf)
            return at;
    }
    return LINK_NONE;
}

static uint32_t free_place(const struct coordinator *c, uint32_t link,
                           uint32_t leaf)
{
    for (uint32_t i = 0; i < c->options.leaves_max; i++) {
        const uint32_t at = place_of(c, link, leaf, i);

        if (c->members[at].state == MEMBER_NONE)
            return at;
    }
    return LINK_NONE;
}

uint32_t leaves_find(struct coordinator *c, uint32_t link,
                     const struct msg *msg, struct actions *actions)
{
    uint32_t at;

    if (!c->members[link].relay)
        return LINK_NONE;
    at = leaves_member(c, link, msg->leaf);
    if (at != LINK_NONE || msg->kind != MSG_HELLO)
        return at;
    at = free_place(c, link, msg->leaf);
    if (at == LINK_NONE) {
        struct msg *no = coordinator_send(c, actions, link, MSG_REJECT);

        no->leaf = msg->leaf;
        (void)snprintf(no->reject.reason, sizeof no->reject.reason,
                       "the coordinator has no room for one more worker");
        return LINK_NONE;
    }
    c->members[at].via = link + 1;
    c->members[at].leaf = msg->leaf;
    return at;
}

/* ERR_OK: there can be a relay. */
static enum err vet_relay(const struct coordinator *c,
                          const struct msg_relay *relay, struct why *why)
{
    struct choices choices = {.traits = TRAIT(RELAYS)};

    if (greeting_version(relay->version) != NULL)
        return why_set(why, ERR_STALE, "%s", greeting_version(relay->version));
    if (c->options.leaves_max == 0)
        return why_set(why, ERR_SHAPE,
                       "this run takes no relays; join the coordinator itself");
    choices_code(&choices, &c->options.code);
    return rules_check(&choices, why);
}

void leaves_relay(struct coordinator *c, uint32_t link,
                  const struct msg_relay *relay, struct actions *actions)
{
    struct why why = {0};
    struct msg *msg;

    if (vet_relay(c, relay, &why) != ERR_OK) {
        msg = coordinator_send(c, actions, link, MSG_REJECT);
        (void)snprintf(msg->reject.reason, sizeof msg->reject.reason, "%.*s",
                       (int)sizeof msg->reject.reason - 1, why.text);
        return;
    }
    if (member_here(c, link)) { /* It said HELLO before: make up your mind. */
        roster_remove(c, link, TRACE_DIED, actions);
        balance_round(c, actions);
    }
    c->members[link].relay = true;
    c->members[link].cast = false;
    c->members[link].hushed = false;
    memcpy(c->members[link].name, relay->name, NAME_SIZE);
    c->members[link].heard_at = c->now;
    gaps_init(&c->members[link].gaps, c->options.job.beat_us);
    coordinator_send(c, actions, link, MSG_WELCOME)->welcome = c->options.job;
}

void leaves_down(struct coordinator *c, uint32_t link, struct actions *actions)
{
    bool changed = false;

    CHECK(c->members[link].relay);
    c->members[link].relay = false;
    for (uint32_t at = c->options.links_max; at < c->members_max; at++) {
        struct member *member = &c->members[at];

        if (member->via != link + 1)
            continue;
        if (member_here(c, at)) {
            roster_remove(c, at, TRACE_DIED, actions);
            changed = true;
        }
        member->via = 0;
        member->leaf = 0;
    }
    if (changed)
        balance_round(c, actions);
}

void leaves_bye(const struct coordinator *c, bool finished, const char *reason,
                struct actions *actions)
{
    for (uint32_t link = 0; link < c->options.links_max; link++) {
        struct msg *bye;

        if (!c->members[link].relay)
            continue;
        bye = coordinator_send(c, actions, link, MSG_BYE);
        bye->bye.finished = finished;
        bye->bye.more = finished && c->options.more;
        (void)snprintf(bye->bye.reason, sizeof bye->bye.reason, "%s", reason);
    }
}
