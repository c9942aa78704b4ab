/*
 * pace.c - products with coded data: how quick each member is, and who lags.
 *
 * Shares go by speed.  Speeds are learnt from answers, so whoever is given
 * nothing would be slow for ever: now and then it has one piece to try its hand
 * at, which others do, too.
 */
#include "core/product.h"
#include "core/star/coordinator_parts.h"

#define LAG_FACTOR  1.3  /* Of the time in which half of them were done, ... */
#define LAG_FEW     2.0  /* ... or, if they are fewer, enough for any piece. */
#define PACE_ALIKE  0.05 /* Speeds that differ by less are the same. */
#define PACE_WEIGHT 0.5  /* Of the last round, in the speed. */
#define PACE_LAGGED 0.7  /* Of what a laggard was thought to be, at most. */
#define TRIAL_AFTER 8u   /* Rounds without a piece. */

/* --- speeds -------------------------------------------------------------- */

static double share_of(const struct coordinator *c, uint32_t id)
{
    const struct block_shape shape = product_blocks(c);
    const struct segment *segment = &c->segments.list[id];

    return (double)(segment->end - segment->first) /
           block_range(&shape, c->what.kind);
}

/* Since it was asked, or had answered last. */
static double busy_us(const struct coordinator *c, const struct member *member)
{
    const time_us since = member->answered_at > member->assigned_at
                              ? member->answered_at
                              : member->assigned_at;

    return (double)(c->now - since);
}

void pace_answered(struct coordinator *c, struct member *member, uint32_t id)
{
    member->pace.share += share_of(c, id);
    member->pace.us += busy_us(c, member);
}

static void settle(struct pace *pace)
{
    const double now = pace->us > 0 ? pace->share / pace->us : 0;

    if (now > 0 && pace->speed > 0)
        pace->speed += PACE_WEIGHT * (now - pace->speed);
    else if (now > 0)
        pace->speed = now;
    pace->share = 0;
    pace->us = 0;
}

void pace_settle(struct coordinator *c)
{
    const time_us took = c->now - c->round_began_at;

    for (uint32_t i = 0; i < c->alive; i++)
        settle(&c->members[c->present[i]].pace);
    if (took > c->segments.longest_us)
        c->segments.longest_us = took;
}

static void insert(double *sorted, uint32_t count, double speed)
{
    while (count > 0 && sorted[count - 1] > speed) {
        sorted[count] = sorted[count - 1];
        count--;
    }
    sorted[count] = speed;
}

/* Half of them are quicker.  A mean would be moved by one who is slow, and then
 * those who are not would differ from it. */
double pace_usual(struct coordinator *c)
{
    struct segments *s = &c->segments;
    uint32_t count = 0;

    for (uint32_t slot = 0; slot < c->code.slots; slot++) {
        const uint32_t link = c->slot_link[slot];

        if (link != LINK_NONE && c->members[link].pace.speed > 0)
            insert(s->speeds, count++, c->members[link].pace.speed);
    }
    return count == 0 ? 0 : s->speeds[count / 2];
}

/* Small differences are noise, and would only give every round other sets of
 * members to decode. */
double pace_speed(const struct coordinator *c, const struct member *member,
                  double usual)
{
    const double speed = member->pace.speed;
    const double scale = usual > 0 ? 1e6 * c->code.segments : 1;
    const double most = usual > 0 ? usual : 1;

    if (speed <= 0 ||
        (speed > most * (1 - PACE_ALIKE) && speed < most * (1 + PACE_ALIKE)))
        return most * scale;
    return speed * scale;
}

/* --- trials -------------------------------------------------------------- */

bool pace_tries(struct coordinator *c, uint32_t slot)
{
    const uint32_t link = c->slot_link[slot];
    struct pace *pace;

    if (!deal_counts_on(c, slot))
        return false;
    pace = &c->members[link].pace;
    if (c->members[link].outstanding > 0)
        pace->passed_over = 0;
    else
        pace->passed_over++;
    if (pace->passed_over < TRIAL_AFTER)
        return false;
    pace->passed_over = 0;
    return true;
}

/* --- laggards ------------------------------------------------------------ */

/* Who could be given what a laggard owes: L must be left. */
static uint32_t free_hands(const struct coordinator *c)
{
    uint32_t count = 0;

    for (uint32_t slot = 0; slot < c->code.slots; slot++)
        count += deal_counts_on(c, slot) &&
                 c->members[c->slot_link[slot]].outstanding == 0;
    return count;
}

/* Some have nothing left to do, and enough are free to do without the others:
 * who takes much longer lags. */
void pace_idle(struct coordinator *c)
{
    const double spent = (double)(c->now - c->round_began_at);
    uint32_t busy = 0, all = 0;
    time_us at;

    for (uint32_t slot = 0; slot < c->code.slots; slot++) {
        const uint32_t link = c->slot_link[slot];

        if (link == LINK_NONE || !c->members[link].in_round ||
            c->members[link].lags)
            continue;
        all++;
        busy += c->members[link].outstanding > 0;
    }
    if (busy == 0 || busy == all || free_hands(c) < c->segments.need)
        return;
    at = c->round_began_at + 1 +
         (time_us)((2 * busy <= all ? LAG_FACTOR : LAG_FEW) * spent);
    if (at < c->segments.look_at)
        c->segments.look_at = at;
}

/* Had it answered this moment it would be as quick as that, and it has not. */
static void slow_down(const struct coordinator *c, struct member *member,
                      double usual)
{
    const struct pace *pace = &member->pace;
    const double us = pace->us + busy_us(c, member);
    const double known = pace->speed > 0 ? pace->speed : usual;
    const double most =
        us > 0 ? (pace->share + 1.0 / c->code.segments) / us : known;

    member->pace.speed =
        PACE_LAGGED * known < most ? PACE_LAGGED * known : most;
}

/* What laggards owe goes to others, too; whoever is first counts.  Where fewer
 * than L would be left there are no others. */
void pace_look(struct coordinator *c)
{
    const double usual = pace_usual(c);

    if (c->now < c->segments.look_at)
        return;
    c->segments.look_at = TIME_NEVER;
    if (free_hands(c) < c->segments.need)
        return;
    for (uint32_t i = 0; i < c->alive; i++) {
        struct member *member = &c->members[c->present[i]];

        if (member->lags || member->outstanding == 0)
            continue;
        member->lags = true;
        slow_down(c, member, usual);
    }
    c->segments.changed = true;
}
