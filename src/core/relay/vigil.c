/*
 * vigil.c - failure detection by a relay for its leaves: it answers their beats
 * itself and tells the coordinator only whom it does not hear.
 */
#include "core/relay/vigil.h"

#include "base/check.h"
#include "base/mem.h"

#define SILENT_BEATS 2   /* Missed ones are normal, whatever was learnt. */
#define MOST_BEATS   12  /* The longest gap that is learnt from. */
#define SAME_FIRST   10u /* A worker that waits for the others is no news. */
#define SAME_SECOND  20u
#define SAME_SELDOM  40u
#define SKIPS_MAX    10u /* WATCHes left out; the clocks need some. */

enum err vigil_init(struct vigil *vigil, uint32_t leaves_max,
                    uint32_t roads_max)
{
    *vigil = (struct vigil){
        .leaves_max = leaves_max, .roads_max = roads_max, .due = TIME_NEVER};
    vigil->leaves = mem_new(leaves_max, sizeof *vigil->leaves);
    vigil->roads = mem_new(roads_max, sizeof *vigil->roads);
    vigil->silent = mem_new(SILENT_MAX, sizeof *vigil->silent);
    if (vigil->leaves != NULL && vigil->roads != NULL && vigil->silent != NULL)
        return ERR_OK;
    vigil_close(vigil);
    return ERR_NOMEM;
}

void vigil_close(struct vigil *vigil)
{
    mem_free(vigil->leaves);
    mem_free(vigil->roads);
    mem_free(vigil->silent);
    *vigil = (struct vigil){.due = TIME_NEVER};
}

/* Who came before WELCOME did not know how often to beat. */
void vigil_begin(struct vigil *vigil, const struct job *job, time_us now)
{
    vigil->clock = (struct offset){0};
    vigil->sequence = 0;
    vigil->sent = 0;
    vigil->due = job->beat_us > 0 ? now : TIME_NEVER;
    for (uint32_t i = 0; i < vigil->leaves_max; i++) {
        if (vigil->leaves[i].here)
            vigil_join(vigil, i, vigil->leaves[i].road, job, now);
    }
}

void vigil_end(struct vigil *vigil)
{
    vigil->due = TIME_NEVER;
}

void vigil_join(struct vigil *vigil, uint32_t index, uint32_t road,
                const struct job *job, time_us now)
{
    struct vigil_leaf *leaf = &vigil->leaves[index];

    CHECK(index < vigil->leaves_max && road <= vigil->roads_max);
    *leaf = (struct vigil_leaf){
        .here = true, .road = road, .heard_at = now, .last = {.queued = 1}};
    gaps_init(&leaf->gaps, job->beat_us);
}

void vigil_leave(struct vigil *vigil, uint32_t index)
{
    CHECK(index < vigil->leaves_max);
    vigil->leaves[index] = (struct vigil_leaf){0};
}

void vigil_road(struct vigil *vigil, uint32_t link, const struct job *job)
{
    CHECK(link < vigil->roads_max);
    gaps_init(&vigil->roads[link], job->beat_us);
}

void vigil_heard(struct vigil *vigil, uint32_t index, time_us now)
{
    CHECK(index < vigil->leaves_max);
    vigil->leaves[index].heard_at = now;
}

static bool same_place(const struct msg_beat *a, const struct msg_beat *b)
{
    return a->queued == 0 && b->queued == 0 && a->view == b->view &&
           a->step == b->step && a->attempt == b->attempt &&
           a->assignment == b->assignment;
}

static bool tells(const struct vigil_leaf *leaf)
{
    return leaf->same == SAME_FIRST || leaf->same == SAME_SECOND ||
           (leaf->same > 0 && leaf->same % SAME_SELDOM == 0);
}

bool vigil_beat(struct vigil *vigil, uint32_t index, const struct job *job,
                const struct msg_beat *beat, time_us now)
{
    struct vigil_leaf *leaf = &vigil->leaves[index];
    const bool listed = leaf->listed;

    CHECK(index < vigil->leaves_max && leaf->road == 0);
    if (beat->sequence <= leaf->gaps.sequence)
        return false;
    gaps_learn(&leaf->gaps, beat->sequence, now, MOST_BEATS * job->beat_us);
    leaf->same = same_place(&leaf->last, beat) ? leaf->same + 1 : 0;
    leaf->last = *beat;
    leaf->listed = false;
    return listed || tells(leaf);
}

bool vigil_below(struct vigil *vigil, uint32_t link, const struct job *job,
                 const struct msg_watch *watch, time_us now)
{
    CHECK(link < vigil->roads_max);
    if (watch->sequence <= vigil->roads[link].sequence)
        return false;
    gaps_learn(&vigil->roads[link], watch->sequence, now,
               MOST_BEATS * job->beat_us);
    for (uint32_t i = 0; i < vigil->leaves_max; i++) {
        struct vigil_leaf *leaf = &vigil->leaves[i];

        if (leaf->here && leaf->road == link + 1 &&
            (watch->whole || !leaf->listed))
            leaf->heard_at = now;
    }
    return true;
}

void vigil_silent(struct vigil *vigil, uint32_t index, time_us silence,
                  time_us now)
{
    CHECK(index < vigil->leaves_max);
    vigil->leaves[index].heard_at = now - silence;
}

void vigil_echo(struct vigil *vigil, const struct msg_echo *echo, time_us now)
{
    if (echo->sequence <= vigil->sequence)
        offset_sample(&vigil->clock, echo->sent_us, echo->heard_us, now,
                      echo->error_us);
}

bool vigil_answer(const struct vigil *vigil, uint64_t sequence, int64_t sent_us,
                  time_us now, struct msg_echo *echo)
{
    if (!vigil->clock.known)
        return false;
    *echo = (struct msg_echo){
        .sequence = sequence,
        .sent_us = sent_us,
        .heard_us = now + vigil->clock.ahead_us,
        .error_us = offset_error(&vigil->clock, now),
    };
    return true;
}

static time_us limit_of(const struct vigil *vigil,
                        const struct vigil_leaf *leaf, const struct job *job)
{
    return gaps_limit(leaf->road == 0 ? &leaf->gaps
                                      : &vigil->roads[leaf->road - 1],
                      SILENT_BEATS * job->beat_us);
}

void vigil_road_heard(struct vigil *vigil, uint32_t link, time_us now)
{
    vigil->roads[link].beat_at = now;
    for (uint32_t i = 0; i < vigil->leaves_max; i++) {
        struct vigil_leaf *leaf = &vigil->leaves[i];

        if (leaf->here && leaf->road == link + 1 && !leaf->listed)
            leaf->heard_at = now;
    }
}

bool vigil_watch(struct vigil *vigil, const struct job *job, time_us now,
                 struct msg_watch *watch)
{
    uint32_t count = 0, index = vigil->first;
    bool news;

    for (uint32_t i = 0; i < vigil->leaves_max && count < SILENT_MAX; i++) {
        struct vigil_leaf *leaf;

        index = (vigil->first + i) % vigil->leaves_max;
        leaf = &vigil->leaves[index];
        leaf->listed =
            leaf->here && now - leaf->heard_at > limit_of(vigil, leaf, job);
        if (leaf->listed)
            vigil->silent[count++] =
                (struct silent){index, now - leaf->heard_at};
    }
    vigil->first = count == SILENT_MAX ? index : 0;
    vigil->due = now + job->beat_us;
    vigil->sequence++;
    news = count > 0 || vigil->named || !vigil->said || !vigil->clock.known ||
           vigil->sequence - vigil->sent > SKIPS_MAX;
    vigil->said = false;
    if (!news)
        return false;
    vigil->named = count > 0;
    vigil->sent = vigil->sequence;
    *watch = (struct msg_watch){
        .sequence = vigil->sequence,
        .sent_us = now,
        .whole = count < SILENT_MAX,
        .count = count,
        .silent = vigil->silent,
    };
    return true;
}
