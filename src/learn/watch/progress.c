/*
 * progress.c - the state of a run as its trace events tell it: who works, how
 * fast, who straggles.  Screen, lines and closing card read it and ask nobody
 * else.
 */
#include "learn/watch/progress.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/check.h"

void progress_init(struct progress *progress)
{
    *progress = (struct progress){.objective = NAN};
}

/* w2 comes before w10. */
static bool comes_before(const char *a, const char *b)
{
    const size_t a_length = strlen(a);
    const size_t b_length = strlen(b);

    return a_length != b_length ? a_length < b_length : strcmp(a, b) < 0;
}

/* The worker of that name, made in its place if need be; NULL if there is no
 * room. */
static struct progress_worker *worker_of(struct progress *progress,
                                         const char *name)
{
    struct progress_worker *all = progress->workers;
    uint32_t at = 0;

    if (name[0] == '\0')
        return NULL;
    while (at < progress->count && comes_before(all[at].name, name))
        at++;
    if (at < progress->count && strcmp(all[at].name, name) == 0)
        return &all[at];
    if (progress->count == PROGRESS_WORKERS_MAX)
        return NULL;
    memmove(&all[at + 1], &all[at], (progress->count - at) * sizeof *all);
    progress->count++;
    all[at] = (struct progress_worker){.state = PROGRESS_WORKING};
    (void)snprintf(all[at].name, sizeof all[at].name, "%s", name);
    return &all[at];
}

static bool present(const struct progress_worker *worker)
{
    return worker->state != PROGRESS_DEAD && worker->state != PROGRESS_LEFT;
}

static void set_state(struct progress_worker *worker, enum progress_state state)
{
    if (worker != NULL)
        worker->state = state;
}

static void take_tally(struct progress_worker *worker,
                       const struct trace *trace)
{
    if (worker == NULL)
        return;
    worker->chunks += trace->b;
    /* It answers: whatever was thought of it, it is there. */
    if (worker->state == PROGRESS_SUSPECT || worker->state == PROGRESS_DEAD)
        worker->state = PROGRESS_WORKING;
}

void progress_event(struct progress *progress, const struct trace *trace)
{
    const uint32_t known = progress->count;
    struct progress_worker *worker =
        trace->kind == TRACE_SWITCH ? NULL : worker_of(progress, trace->name);

    switch (trace->kind) {
    case TRACE_JOINED:
        progress->joined++;
        progress->rejoined =
            worker != NULL && known == progress->count && present(worker);
        set_state(worker, PROGRESS_WORKING);
        if (worker != NULL)
            memcpy(worker->relay, trace->relay, NAME_SIZE);
        break;
    case TRACE_DIED:
        progress->died++;
        set_state(worker, PROGRESS_DEAD);
        break;
    case TRACE_LEFT:
        progress->left++;
        set_state(worker, PROGRESS_LEFT);
        break;
    case TRACE_SUSPECT:
        set_state(worker, PROGRESS_SUSPECT);
        break;
    case TRACE_CLEARED:
        set_state(worker, PROGRESS_WORKING);
        break;
    case TRACE_VIEW:
        progress->views++;
        break;
    case TRACE_ROUND:
        progress->started = true;
        if (trace->key.step > progress->step) /* Where a run goes on. */
            progress->step = trace->key.step;
        break;
    case TRACE_TALLY:
        take_tally(worker, trace);
        break;
    case TRACE_COMMIT:
        progress->step = trace->key.step;
        progress->objective = trace->value;
        break;
    case TRACE_DUPLICATE:
    case TRACE_STALE:
    case TRACE_POISON:
    case TRACE_HEDGED:
    case TRACE_STOLEN:
    case TRACE_RESENT:
    case TRACE_CHECKPOINT:
    case TRACE_ROLLBACK:
    case TRACE_ALARM:
    case TRACE_SWITCH:
    case TRACE_STINT:
    case TRACE_PULSE:
    case TRACE_BANNED:
    case TRACE_JUDGED:
    case TRACE_AWAY:
    case TRACE_HOME:
    case TRACE_SHORT:
    case TRACE_ENOUGH:
    case TRACE_PEER:
    case TRACE_SUM:
    case TRACE_STOP:
    case TRACE_SIZE:
    case TRACE_PASS:
        break;
    case TRACE_DONE:
    case TRACE_FAILED:
        progress->over = true;
        break;
    }
}

void progress_gone(struct progress *progress, const char *name)
{
    /* At the end everybody goes home. */
    if (progress->over)
        return;
    for (uint32_t i = 0; i < progress->count; i++)
        if (present(&progress->workers[i]) &&
            strcmp(progress->workers[i].name, name) == 0)
            progress->workers[i].state = PROGRESS_DEAD;
}

uint32_t progress_alive(const struct progress *progress)
{
    uint32_t alive = 0;

    for (uint32_t i = 0; i < progress->count; i++)
        alive += present(&progress->workers[i]);
    return alive;
}

/* The middle pace of those present: the value with half of them above. */
static uint64_t median_pace(const struct progress *progress)
{
    const uint32_t half = progress_alive(progress) / 2;

    for (uint32_t i = 0; i < progress->count; i++) {
        const uint64_t pace = progress->workers[i].pace;
        uint32_t below = 0;
        uint32_t same = 0;

        if (!present(&progress->workers[i]))
            continue;
        for (uint32_t j = 0; j < progress->count; j++) {
            below += present(&progress->workers[j]) &&
                     progress->workers[j].pace < pace;
            same += present(&progress->workers[j]) &&
                    progress->workers[j].pace == pace;
        }
        if (below <= half && half < below + same)
            return pace;
    }
    return 0;
}

static void judge(struct progress_worker *worker, uint64_t median)
{
    const bool slow = worker->pace * 3 < median;

    if (worker->state == PROGRESS_WORKING && slow) {
        worker->state = PROGRESS_STRAGGLING;
        worker->straggled = true;
    } else if (worker->state == PROGRESS_STRAGGLING && !slow) {
        worker->state = PROGRESS_WORKING;
    }
}

void progress_tick(struct progress *progress, time_us now)
{
    uint64_t median;

    if (!progress->started || now - progress->window_at < PACE_WINDOW_US)
        return;
    progress->window_at = now;
    progress->pace_best = 0;
    for (uint32_t i = 0; i < progress->count; i++) {
        struct progress_worker *worker = &progress->workers[i];

        worker->pace = worker->chunks - worker->counted;
        worker->counted = worker->chunks;
        if (worker->pace > progress->pace_best)
            progress->pace_best = worker->pace;
    }
    /* The first window began before the first round. */
    if (progress->windows++ == 0)
        return;
    median = median_pace(progress);
    for (uint32_t i = 0; i < progress->count; i++)
        judge(&progress->workers[i], median);
}

uint32_t progress_straggled(const struct progress *progress)
{
    uint32_t count = 0;

    for (uint32_t i = 0; i < progress->count; i++)
        count += progress->workers[i].straggled;
    return count;
}

const char *progress_state_name(enum progress_state state)
{
    static const char *const names[] = {"working", "straggling", "suspect",
                                        "dead", "left"};

    CHECK((size_t)state < sizeof names / sizeof *names);
    return names[state];
}

static bool is_gone(const struct trace *trace)
{
    return trace->kind == TRACE_DIED || trace->kind == TRACE_LEFT;
}

/* Of peers elsewhere a ring tells how many are left. */
static void add_rest(uint64_t rest, char text[TRACE_TEXT])
{
    const size_t used = strlen(text);

    (void)snprintf(text + used, TRACE_TEXT - used, "; %llu go%s on",
                   (unsigned long long)rest, rest == 1 ? "es" : "");
}

const char *progress_sentence(const struct progress *progress,
                              const struct trace *trace, char text[TRACE_TEXT])
{
    switch ((int)trace->kind) {
    case TRACE_JOINED:
        if (!progress->started || progress->rejoined)
            return NULL;
        break;
    case TRACE_DIED:
    case TRACE_LEFT:
    case TRACE_SUSPECT:
    case TRACE_CLEARED:
        break;
    case TRACE_SWITCH:
        return trace_switch_text(trace, text);
    case TRACE_SIZE:
        (void)snprintf(text, TRACE_TEXT, "size %g%% after step %u",
                       100 * trace->value, trace->key.step);
        return text;
    case TRACE_ALARM:
        (void)snprintf(text, TRACE_TEXT,
                       "step %u: disk trouble; training goes on",
                       progress->step);
        return text;
    case TRACE_ROLLBACK:
        (void)snprintf(text, TRACE_TEXT, "rolled back to step %u",
                       trace->key.step);
        return text;
    default:
        return NULL;
    }
    if (progress->started)
        (void)snprintf(text, TRACE_TEXT, "step %u: %s %s", progress->step,
                       trace->name, trace_name(trace->kind));
    else /* At which step a run goes on, the first round tells. */
        (void)snprintf(text, TRACE_TEXT, "%s %s", trace->name,
                       trace_name(trace->kind));
    if (is_gone(trace) && trace->a > 0)
        add_rest(trace->a, text);
    return text;
}
