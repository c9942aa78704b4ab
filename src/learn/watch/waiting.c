/*
 * waiting.c - the lines by which a run that waits for workers says whom it
 * waits for.
 */
#include "learn/watch/waiting.h"

#include <stdio.h>
#include <string.h>

#include "node/run/train.h"

#define SAID_US     (5 * SECOND_US)
#define SAID_MAX_US (60 * SECOND_US)
#define NAMES_MAX   4u

/* Beyond those that are known by name they are only counted. */
static uint32_t here(const struct progress *progress)
{
    return progress->count < PROGRESS_WORKERS_MAX
               ? progress_alive(progress)
               : progress->joined - progress->died - progress->left;
}

static bool waits(const struct progress *progress)
{
    return !progress->over && (!progress->started || here(progress) == 0);
}

/* "a, b, c, d, ...": those who are there. */
static void name_them(const struct progress *progress, char *text, size_t size)
{
    size_t used = 0;
    uint32_t named = 0;

    text[0] = '\0';
    for (uint32_t i = 0; i < progress->count && used < size; i++) {
        const struct progress_worker *worker = &progress->workers[i];

        if (worker->state == PROGRESS_DEAD || worker->state == PROGRESS_LEFT)
            continue;
        used += (size_t)snprintf(text + used, size - used, "%s%.24s",
                                 named == 0 ? " (" : ", ",
                                 named < NAMES_MAX ? worker->name : "...");
        if (++named > NAMES_MAX)
            break;
    }
    if (named > 0 && used < size)
        (void)snprintf(text + used, size - used, ")");
}

struct waiting waiting_for(uint32_t wanted, uint32_t local, bool resumed)
{
    return (struct waiting){
        .wanted = wanted,
        .remote = local < wanted,
        .resumed = resumed,
        .patience = train_patience(wanted, local),
    };
}

static void say(const struct waiting *waiting, const struct progress *progress,
                time_us now, char text[WAITING_TEXT])
{
    const time_us left = waiting->since + waiting->patience - now;
    char names[NAMES_MAX * 32];
    char rest[96];

    if (progress->started) {
        (void)snprintf(text, WAITING_TEXT,
                       "step %u: nobody is left to compute; waiting for "
                       "workers",
                       progress->step);
        return;
    }
    name_them(progress, names, sizeof names);
    if (left > 0)
        (void)snprintf(rest, sizeof rest, ", or in %.0f s with those here",
                       (double)left / (double)SECOND_US);
    else
        (void)snprintf(rest, sizeof rest, ", or with the first to come");
    (void)snprintf(
        text, WAITING_TEXT,
        "waiting: %u of %u workers are here%s; it begins with %s%u%s",
        here(progress), waiting->wanted, names,
        waiting->resumed ? "as many as it had, at most " : "", waiting->wanted,
        rest);
}

/* A change is worth a line where the others are far; without one, ever fewer
 * are. */
static bool due(struct waiting *waiting, const struct progress *progress,
                time_us now)
{
    if (waiting->said_at == 0 ||
        (waiting->remote && here(progress) != waiting->said)) {
        waiting->pause = SAID_US;
        return waiting->remote || now - waiting->since >= SAID_US;
    }
    if (now - waiting->said_at < waiting->pause)
        return false;
    waiting->pause = time_sooner(2 * waiting->pause, SAID_MAX_US);
    return true;
}

const char *waiting_look(struct waiting *waiting,
                         const struct progress *progress, time_us now,
                         char text[WAITING_TEXT])
{
    if (!waits(progress)) {
        waiting->since = 0;
        return NULL;
    }
    if (waiting->since == 0) {
        waiting->since = now;
        waiting->said_at = 0;
    }
    if (!due(waiting, progress, now))
        return NULL;
    waiting->said_at = now;
    waiting->said = here(progress);
    say(waiting, progress, now, text);
    return text;
}
