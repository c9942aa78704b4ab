/*
 * slow.c - attribution of slowness: what a worker owed is divided into
 * computing, pauses, disk and network by its own vitals, and compared with the
 * median worker.
 */
#include "core/link/slow.h"

#include <stdlib.h>

#include "base/check.h"

void slow_init(struct slow *slow)
{
    *slow = (struct slow){.owed_since = TIME_NEVER, .error_us = -1};
}

void slow_owes(struct slow *slow, bool owes, time_us now)
{
    if (owes && slow->owed_since == TIME_NEVER) {
        slow->owed_since = now;
    } else if (!owes && slow->owed_since != TIME_NEVER) {
        slow->owed_us += now - slow->owed_since;
        slow->owed_since = TIME_NEVER;
    }
}

void slow_take(struct slow *slow, const struct vitals *vitals, time_us now)
{
    struct slow_sample *sample = &slow->samples[slow->count++ % SLOW_SAMPLES];

    *sample = (struct slow_sample){
        .at = now,
        .owed_us =
            slow->owed_us +
            (slow->owed_since == TIME_NEVER ? 0 : now - slow->owed_since),
        .vitals = *vitals};
}

static double grown(int64_t from, int64_t to)
{
    return to > from ? (double)(to - from) / (double)SECOND_US : 0;
}

static double at_most(double x, double limit)
{
    return x < limit ? x : limit;
}

static double not_below_zero(double x)
{
    return x > 0 ? x : 0;
}

/* Seconds in the window, to their places.  What happened inside a piece and
 * is neither running nor queueing is either a stop or the disk. */
static void share_out(const struct slow_sample *from,
                      const struct slow_sample *to, struct slow_times *times)
{
    const struct vitals *a = &from->vitals;
    const struct vitals *b = &to->vitals;
    const double compute = grown(a->compute_us, b->compute_us);
    const double cpu = at_most(grown(a->cpu_us, b->cpu_us), compute);
    const double starved =
        at_most(grown(a->starved_us, b->starved_us), compute - cpu);
    const double stopped = grown(a->stopped_us, b->stopped_us);
    const double asleep = compute - cpu - starved;
    const double stopped_inside = at_most(stopped, asleep);
    const double held = grown(a->held_us, b->held_us);
    const double owed = grown(from->owed_us, to->owed_us);
    /* The thread that talks has more to do than what others wait for: a ring's
     * peer adds up, and steps. */
    const double loop = at_most(grown(a->loop_us, b->loop_us),
                                not_below_zero(owed - compute - held));
    const bool disk = b->faults > a->faults;
    const double rest = asleep - stopped_inside;

    times->owed = owed;
    times->starved = starved + loop;
    times->held = held;
    times->part[SLOW_COMPUTE] = cpu + starved + loop + (disk ? 0 : rest);
    times->part[SLOW_DISK] = disk ? rest : 0;
    times->part[SLOW_PAUSE] = stopped + held;
    times->part[SLOW_NETWORK] = not_below_zero(
        times->owed - compute - held - loop - (stopped - stopped_inside));
}

struct slow_times slow_times(const struct slow *slow)
{
    struct slow_times times = {0};
    const struct slow_sample *from, *to;
    double chunks;

    if (slow->count < 2)
        return times;
    to = &slow->samples[(slow->count - 1) % SLOW_SAMPLES];
    from =
        &slow->samples[slow->count > SLOW_SAMPLES ? slow->count % SLOW_SAMPLES
                                                  : 0];
    if (to->vitals.chunks < from->vitals.chunks || to->at <= from->at)
        return times; /* Another life under the same name. */
    share_out(from, to, &times);
    chunks = (double)(to->vitals.chunks - from->vitals.chunks);
    times.known = true;
    times.finished = chunks > 0;
    if (!times.finished)
        return times;
    times.owed /= chunks;
    times.starved /= chunks;
    times.held /= chunks;
    for (int i = 0; i < SLOW_CAUSES; i++)
        times.part[i] /= chunks;
    return times;
}

static int ascending(const void *a, const void *b)
{
    const double *one = a;
    const double *two = b;

    return (*one > *two) - (*one < *two);
}

/* The lower middle: of two workers the quicker one sets the pace.  `part` -1:
 * of all that is owed.  Those that finished nothing count only if all are so.
 */
static double median(const struct slow_times *all, uint32_t count, int part,
                     double *scratch)
{
    uint32_t used = 0;

    for (int pass = 0; pass < 2 && used == 0; pass++) {
        for (uint32_t i = 0; i < count; i++) {
            if (all[i].known && (all[i].finished || pass == 1))
                scratch[used++] = part < 0 ? all[i].owed : all[i].part[part];
        }
    }
    if (used == 0)
        return 0;
    qsort(scratch, used, sizeof *scratch, ascending);
    return scratch[(used - 1) / 2];
}

static struct slow_verdict judge(const struct slow_times *times, double usual,
                                 const double *usual_part)
{
    struct slow_verdict verdict = {0};
    double most = 0;
    double sum = 0;

    if (!times->known || usual <= 0)
        return verdict;
    verdict.factor = times->owed / usual;
    if (verdict.factor < SLOW_FACTOR)
        return verdict;
    for (int i = SLOW_COMPUTE; i < SLOW_CAUSES; i++) {
        const double excess = not_below_zero(times->part[i] - usual_part[i]);

        sum += excess;
        if (excess > most) {
            most = excess;
            verdict.cause = (enum slow_cause)i;
        }
    }
    verdict.share = sum > 0 ? most / sum : 0;
    return verdict;
}

void slow_judge(const struct slow_times *all, uint32_t count, double *scratch,
                struct slow_verdict *verdicts)
{
    const double usual = median(all, count, -1, scratch);
    double usual_part[SLOW_CAUSES] = {0};

    for (int i = SLOW_COMPUTE; i < SLOW_CAUSES; i++)
        usual_part[i] = median(all, count, i, scratch);
    for (uint32_t i = 0; i < count; i++)
        verdicts[i] = judge(&all[i], usual, usual_part);
}

const char *slow_cause_name(enum slow_cause cause)
{
    static const char *const names[] = {"", "compute", "network", "disk",
                                        "pause"};

    CHECK(cause < SLOW_CAUSES);
    return names[cause];
}
