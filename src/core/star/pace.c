/*
 * pace.c - products with coded data: how quick each member is, and who lags.
 *
 * Shares go by speed.  Speeds are learnt from answers, so whoever is given
 * nothing would be slow for ever: now and then it has one piece to try its hand
 * at, which others do, too.
 */
#include "core/product.h"
#include "core/star/coordinator_parts.h"

#define LAG_FACTOR  1.3 /* Of the time in which half of them were done, ... */
#define LAG_FEW     2.0 /* ... or, if they are fewer, enough for any piece. */
#define LAG_LEAST   (20 * MS_US) /* Later than those: less is noise. */
#define LAG_TURNS   16u          /* Twice as long each time; so often. */
#define PACE_FIT    0.25 /* Of the L-th quickest: to stand in for another. */
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
    for (uint32_t i = 0; i < c->alive; i++)
        settle(&c->members[c->present[i]].pace);
}

static void insert(double *sorted, uint32_t count, double speed)
{
    while (count > 0 && sorted[count - 1] > speed) {
        sorted[count] = sorted[count - 1];
        count--;
    }
    sorted[count] = speed;
}

/* Of those who are known, to s->speeds, the slowest first; returns how many. */
static uint32_t sort_speeds(struct coordinator *c)
{
    struct segments *s = &c->segments;
    uint32_t count = 0;

    for (uint32_t slot = 0; slot < c->code.slots; slot++) {
        const uint32_t link = c->slot_link[slot];

        if (link != LINK_NONE && c->members[link].pace.speed > 0)
            insert(s->speeds, count++, c->members[link].pace.speed);
    }
    return count;
}

/* Half of them are quicker.  A mean would be moved by one who is slow, and then
 * those who are not would differ from it. */
double pace_usual(struct coordinator *c)
{
    const uint32_t count = sort_speeds(c);

    return count == 0 ? 0 : c->segments.speeds[count / 2];
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

/* Is the member free to do what a laggard owes, too?  One who lagged and was
 * relieved is. */
static bool is_free(const struct coordinator *c, uint32_t slot)
{
    const uint32_t link = c->slot_link[slot];

    return link != LINK_NONE && member_healthy(c, link) &&
           !refusals_of_row(c, link) && c->members[link].outstanding == 0;
}

/* How many are free to stand in for others: L must be.  Who is far slower than
 * the L quickest would be the next to lag. */
static uint32_t free_hands(struct coordinator *c, bool laggards)
{
    const uint32_t known = sort_speeds(c);
    const uint32_t need = c->segments.need;
    const double least =
        known < need ? 0 : PACE_FIT * c->segments.speeds[known - need];
    uint32_t count = 0;

    for (uint32_t slot = 0; slot < c->code.slots; slot++) {
        const struct member *member;

        if (!is_free(c, slot))
            continue;
        member = &c->members[c->slot_link[slot]];
        count += (laggards || !member->lags) &&
                 (member->pace.speed <= 0 || member->pace.speed >= least);
    }
    return count;
}

/* Some have nothing left to do, and enough are free to do without the others:
 * who takes much longer lags. */
void pace_idle(struct coordinator *c)
{
    const time_us spent = c->now - c->round_began_at;
    uint32_t busy = 0, all = 0;
    time_us lag;

    for (uint32_t slot = 0; slot < c->code.slots; slot++) {
        const uint32_t link = c->slot_link[slot];

        if (link == LINK_NONE || !c->members[link].in_round ||
            c->members[link].lags)
            continue;
        all++;
        busy += c->members[link].outstanding > 0;
    }
    if (busy == 0 || busy == all || free_hands(c, true) < c->segments.need)
        return;
    lag = (time_us)((2 * busy <= all ? LAG_FACTOR : LAG_FEW) * (double)spent);
    lag <<= c->segments.turns < LAG_TURNS ? c->segments.turns : LAG_TURNS;
    if (lag < spent + LAG_LEAST)
        lag = spent + LAG_LEAST;
    if (c->round_began_at + lag + 1 < c->segments.look_at)
        c->segments.look_at = c->round_began_at + lag + 1;
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
 * than L would be left there are no others; or those who lagged before have
 * their turn again, and each time everybody has twice as long, so that it
 * ends. */
void pace_look(struct coordinator *c)
{
    const uint32_t need = c->segments.need;
    double usual;
    bool again;

    if (c->now < c->segments.look_at)
        return;
    c->segments.look_at = TIME_NEVER;
    if (free_hands(c, true) < need)
        return;
    again = free_hands(c, false) < need;
    usual = pace_usual(c);
    for (uint32_t i = 0; i < c->alive; i++) {
        struct member *member = &c->members[c->present[i]];

        if (member->outstanding > 0 && !member->lags)
            slow_down(c, member, usual);
        member->lags = member->outstanding > 0 || (member->lags && !again);
    }
    c->segments.turns += again;
    c->segments.outdated = true;
}
