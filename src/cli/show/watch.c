/*
 * watch.c - the state of a run as its trace events tell it: who works, how
 * fast, who straggles.  Screen, lines and closing card read it and ask nobody
 * else.
 */
#include "cli/show/watch.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/check.h"

void watch_init(struct watch *watch)
{
    *watch = (struct watch){.objective = NAN};
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
static struct watch_worker *worker_of(struct watch *watch, const char *name)
{
    struct watch_worker *all = watch->workers;
    uint32_t at = 0;

    if (name[0] == '\0')
        return NULL;
    while (at < watch->count && comes_before(all[at].name, name))
        at++;
    if (at < watch->count && strcmp(all[at].name, name) == 0)
        return &all[at];
    if (watch->count == WATCH_WORKERS_MAX)
        return NULL;
    memmove(&all[at + 1], &all[at], (watch->count - at) * sizeof *all);
    watch->count++;
    all[at] = (struct watch_worker){.state = WATCH_WORKING};
    (void)snprintf(all[at].name, sizeof all[at].name, "%s", name);
    return &all[at];
}

static bool present(const struct watch_worker *worker)
{
    return worker->state != WATCH_DEAD && worker->state != WATCH_LEFT;
}

static void set_state(struct watch_worker *worker, enum watch_state state)
{
    if (worker != NULL)
        worker->state = state;
}

static void take_tally(struct watch_worker *worker, const struct trace *trace)
{
    if (worker == NULL)
        return;
    worker->chunks += trace->b;
    /* It answers: whatever was thought of it, it is there. */
    if (worker->state == WATCH_SUSPECT || worker->state == WATCH_DEAD)
        worker->state = WATCH_WORKING;
}

void watch_event(struct watch *watch, const struct trace *trace)
{
    const uint32_t known = watch->count;
    struct watch_worker *worker =
        trace->kind == TRACE_SWITCH ? NULL : worker_of(watch, trace->name);

    switch (trace->kind) {
    case TRACE_JOINED:
        watch->joined++;
        watch->rejoined =
            worker != NULL && known == watch->count && present(worker);
        set_state(worker, WATCH_WORKING);
        if (worker != NULL)
            memcpy(worker->relay, trace->relay, NAME_SIZE);
        break;
    case TRACE_DIED:
        watch->died++;
        set_state(worker, WATCH_DEAD);
        break;
    case TRACE_LEFT:
        watch->left++;
        set_state(worker, WATCH_LEFT);
        break;
    case TRACE_SUSPECT:
        set_state(worker, WATCH_SUSPECT);
        break;
    case TRACE_CLEARED:
        set_state(worker, WATCH_WORKING);
        break;
    case TRACE_VIEW:
        watch->views++;
        break;
    case TRACE_STEP:
        watch->started = true;
        break;
    case TRACE_TALLY:
        take_tally(worker, trace);
        break;
    case TRACE_COMMIT:
        watch->step = trace->key.step;
        watch->objective = trace->value;
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
    case TRACE_PEER:
    case TRACE_SUM:
    case TRACE_STOP:
        break;
    case TRACE_DONE:
    case TRACE_FAILED:
        watch->over = true;
        break;
    }
}

void watch_gone(struct watch *watch, const char *name)
{
    /* At the end everybody goes home. */
    if (watch->over)
        return;
    for (uint32_t i = 0; i < watch->count; i++)
        if (present(&watch->workers[i]) &&
            strcmp(watch->workers[i].name, name) == 0)
            watch->workers[i].state = WATCH_DEAD;
}

uint32_t watch_alive(const struct watch *watch)
{
    uint32_t alive = 0;

    for (uint32_t i = 0; i < watch->count; i++)
        alive += present(&watch->workers[i]);
    return alive;
}

/* The middle pace of those present: the value with half of them above. */
static uint64_t median_pace(const struct watch *watch)
{
    const uint32_t half = watch_alive(watch) / 2;

    for (uint32_t i = 0; i < watch->count; i++) {
        const uint64_t pace = watch->workers[i].pace;
        uint32_t below = 0;
        uint32_t same = 0;

        if (!present(&watch->workers[i]))
            continue;
        for (uint32_t j = 0; j < watch->count; j++) {
            below +=
                present(&watch->workers[j]) && watch->workers[j].pace < pace;
            same +=
                present(&watch->workers[j]) && watch->workers[j].pace == pace;
        }
        if (below <= half && half < below + same)
            return pace;
    }
    return 0;
}

static void judge(struct watch_worker *worker, uint64_t median)
{
    const bool slow = worker->pace * 3 < median;

    if (worker->state == WATCH_WORKING && slow) {
        worker->state = WATCH_STRAGGLING;
        worker->straggled = true;
    } else if (worker->state == WATCH_STRAGGLING && !slow) {
        worker->state = WATCH_WORKING;
    }
}

void watch_tick(struct watch *watch, time_us now)
{
    uint64_t median;

    if (!watch->started || now - watch->window_at < PACE_WINDOW_US)
        return;
    watch->window_at = now;
    watch->pace_best = 0;
    for (uint32_t i = 0; i < watch->count; i++) {
        struct watch_worker *worker = &watch->workers[i];

        worker->pace = worker->chunks - worker->counted;
        worker->counted = worker->chunks;
        if (worker->pace > watch->pace_best)
            watch->pace_best = worker->pace;
    }
    /* The first window began before the first round. */
    if (watch->windows++ == 0)
        return;
    median = median_pace(watch);
    for (uint32_t i = 0; i < watch->count; i++)
        judge(&watch->workers[i], median);
}

uint32_t watch_straggled(const struct watch *watch)
{
    uint32_t count = 0;

    for (uint32_t i = 0; i < watch->count; i++)
        count += watch->workers[i].straggled;
    return count;
}

const char *watch_state_name(enum watch_state state)
{
    static const char *const names[] = {"working", "straggling", "suspect",
                                        "dead", "left"};

    CHECK((size_t)state < sizeof names / sizeof *names);
    return names[state];
}

const char *watch_state_colour(enum watch_state state)
{
    static const char *const codes[] = {"\033[32m", "\033[33m", "\033[35m",
                                        "\033[31m", "\033[90m"};

    CHECK((size_t)state < sizeof codes / sizeof *codes);
    return codes[state];
}
