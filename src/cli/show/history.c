/*
 * history.c - the timeline that `muster report` draws, kept in memory and
 * thinned by halves so that its size does not grow with the run.
 */
#include "cli/show/history.h"

#include <stdio.h>
#include <string.h>

#include "base/mem.h"

#define COLUMNS_SPARE 8u /* For those who join later. */
#define CALLED_OFF    (-1)
#define AWAY          (-2)

void history_init(struct history *history)
{
    *history = (struct history){
        .stride = 1, .began_at = TIME_NEVER, .opened_at = TIME_NEVER};
    history->names = mem_new(HISTORY_WORKERS, sizeof *history->names);
    history->here = mem_new(HISTORY_WORKERS, sizeof *history->here);
    history->failed = history->names == NULL || history->here == NULL;
}

void history_close(struct history *history)
{
    mem_free(history->names);
    mem_free(history->here);
    mem_free(history->cells);
    mem_free(history->row);
    mem_free(history->steps);
    *history = (struct history){0};
}

/* The worker's column; UINT32_MAX if it has none. */
static uint32_t column(struct history *history, const char *name)
{
    const uint32_t most =
        history->columns > 0 ? history->columns : HISTORY_WORKERS;

    for (uint32_t i = 0; i < history->count; i++) {
        if (strcmp(history->names[i], name) == 0)
            return i;
    }
    if (name[0] == '\0' || history->count == most)
        return UINT32_MAX;
    (void)snprintf(history->names[history->count], NAME_SIZE, "%s", name);
    return history->count++;
}

/* Who is here at the first step, and some more. */
static void make_room(struct history *history)
{
    uint32_t steps;

    history->columns = history->count + COLUMNS_SPARE;
    if (history->columns > HISTORY_WORKERS)
        history->columns = HISTORY_WORKERS;
    steps = HISTORY_CELLS / history->columns;
    history->steps_max = steps < HISTORY_STEPS ? steps : HISTORY_STEPS;
    history->cells = mem_new((size_t)history->steps_max * history->columns,
                             sizeof *history->cells);
    history->row = mem_new(history->columns, sizeof *history->row);
    history->steps = mem_new(history->steps_max, sizeof *history->steps);
    history->failed = history->cells == NULL || history->row == NULL ||
                      history->steps == NULL;
}

/* Those who came or went before the first round of this start, or of a new
 * coordinator, did so at the step at which the run goes on; nobody had told it
 * yet. */
static void stamp_events(struct history *history, uint32_t step)
{
    const bool untold = history->began_at == TIME_NEVER || history->step > 0;

    for (; history->stamped < history->event_count; history->stamped++)
        if (untold && history->events[history->stamped].step == 0)
            history->events[history->stamped].step = step;
}

static void open_step(struct history *history, const struct trace *trace)
{
    if (history->columns == 0)
        make_room(history);
    history->rounds = trace->key.round + 1;
    if (history->failed || trace->key.round > 0)
        return; /* A further round of the same step. */
    stamp_events(history, trace->key.step);
    if (history->began_at == TIME_NEVER)
        history->began_at = trace->now;
    history->opened_at = trace->now;
    history->step = trace->key.step;
    for (uint32_t i = 0; i < history->columns; i++)
        history->row[i] = (struct history_cell){
            .answered_us =
                i < history->count && history->here[i] ? CALLED_OFF : AWAY};
}

static int32_t clip(int64_t us)
{
    return us < 0 ? 0 : us > INT32_MAX ? INT32_MAX : (int32_t)us;
}

static void answered(struct history_cell *cell, time_us opened_at,
                     const struct trace *trace)
{
    const double compute =
        (double)trace->answer.compute_us * (1 + trace->answer.delay_factor);

    cell->answered_us = clip(trace->now - opened_at);
    if (trace->kind != TRACE_TALLY)
        return; /* It came second: only when is known. */
    cell->compute_us =
        clip((int64_t)cell->compute_us +
             (compute < (double)INT32_MAX ? (int64_t)compute : INT32_MAX));
    cell->chunks += (uint32_t)trace->b;
}

/* Peers of a ring tell of their own work, and may do so when others have told
 * of the step's end already: it belongs to the step that it names. */
static void told_late(struct history *history, uint32_t at,
                      const struct trace *trace)
{
    uint32_t low = 0, high = history->step_count;

    while (low < high) {
        const uint32_t middle = low + (high - low) / 2;

        if (history->steps[middle].opened < trace->key.step)
            low = middle + 1;
        else
            high = middle;
    }
    if (low < history->step_count &&
        history->steps[low].opened == trace->key.step)
        answered(&history->cells[(size_t)low * history->columns + at],
                 history->began_at + history->steps[low].at_us, trace);
}

/* Every second one goes; the first stays, where the run began. */
static void thin(struct history *history)
{
    uint32_t kept = 1;

    history->stride *= 2;
    for (uint32_t i = 1; i < history->step_count; i++) {
        if (history->steps[i].step % history->stride != 0)
            continue;
        history->steps[kept] = history->steps[i];
        memmove(history->cells + (size_t)kept * history->columns,
                history->cells + (size_t)i * history->columns,
                history->columns * sizeof *history->cells);
        kept++;
    }
    history->step_count = kept;
}

static void commit(struct history *history, const struct trace *trace,
                   double scale)
{
    if (history->opened_at == TIME_NEVER)
        return;
    if (history->step_count == history->steps_max)
        thin(history);
    if (trace->key.step % history->stride == 0 || history->step_count == 0) {
        history->steps[history->step_count] = (struct history_step){
            .step = trace->key.step,
            .opened = history->step,
            .rounds = history->rounds,
            .at_us = history->opened_at - history->began_at,
            .took_us = trace->now - history->opened_at,
            .loss = trace->value * scale,
            .exactness = (uint32_t)trace->a,
        };
        memcpy(history->cells + (size_t)history->step_count * history->columns,
               history->row, history->columns * sizeof *history->row);
        history->step_count++;
    }
    history->opened_at = TIME_NEVER;
}

static void note_event(struct history *history, const struct trace *trace)
{
    struct history_event *event;

    if (history->event_count == HISTORY_EVENTS) {
        history->events_lost++;
        return;
    }
    event = &history->events[history->event_count++];
    *event = (struct history_event){
        .at_us = history->began_at == TIME_NEVER
                     ? 0
                     : trace->now - history->began_at,
        .step = trace->key.step,
        .kind = trace->kind,
    };
    if (trace->kind == TRACE_SIZE) /* Nobody's: what it is from that step on. */
        (void)snprintf(event->name, sizeof event->name, "%g%%",
                       100 * trace->value);
    else
        memcpy(event->name, trace->name, NAME_SIZE);
}

static bool noteworthy(enum trace_kind kind)
{
    return kind == TRACE_JOINED || kind == TRACE_DIED || kind == TRACE_LEFT ||
           kind == TRACE_SUSPECT || kind == TRACE_CLEARED ||
           kind == TRACE_SWITCH || kind == TRACE_ROLLBACK ||
           kind == TRACE_ALARM || kind == TRACE_POISON ||
           kind == TRACE_BANNED || kind == TRACE_SIZE;
}

static void note_worker(struct history *history, const struct trace *trace)
{
    const uint32_t at =
        trace->kind == TRACE_SWITCH ? UINT32_MAX : column(history, trace->name);

    if (at == UINT32_MAX)
        return;
    if (trace->kind == TRACE_JOINED)
        history->here[at] = true;
    else if (trace->kind == TRACE_DIED || trace->kind == TRACE_LEFT)
        history->here[at] = false;
    else if (trace->kind != TRACE_TALLY && trace->kind != TRACE_DUPLICATE)
        return;
    else if (trace->link < 0 && (history->opened_at == TIME_NEVER ||
                                 trace->key.step != history->step))
        told_late(history, at, trace);
    else if (history->opened_at != TIME_NEVER)
        answered(&history->row[at], history->opened_at, trace);
}

void history_event(struct history *history, const struct trace *trace,
                   double scale)
{
    history->died += trace->kind == TRACE_DIED;
    if (history->failed)
        return;
    note_worker(history, trace);
    if (trace->kind == TRACE_ROUND)
        open_step(history, trace);
    else if (trace->kind == TRACE_COMMIT && !history->failed)
        commit(history, trace, scale);
    else if (noteworthy(trace->kind))
        note_event(history, trace);
}

void history_coordinator(struct history *history, int pid)
{
    if (pid == 0 || pid == history->coordinator)
        return;
    history->coordinators += history->coordinator != 0;
    history->coordinator = pid;
}

/* --- JSON ---------------------------------------------------------------- */

static json_t *cells_json(const struct history *history, uint32_t step)
{
    const struct history_cell *row =
        history->cells + (size_t)step * history->columns;
    json_t *list = json_array();

    for (uint32_t i = 0; i < history->count; i++) {
        (void)json_array_append_new(list, json_integer(row[i].answered_us));
        (void)json_array_append_new(list, json_integer(row[i].compute_us));
        (void)json_array_append_new(list,
                                    json_integer((json_int_t)row[i].chunks));
    }
    return list;
}

static json_t *step_json(const struct history *history, uint32_t at)
{
    const struct history_step *step = &history->steps[at];

    return json_pack(
        "{s:I, s:I, s:I, s:I, s:o, s:I, s:o}", "step", (json_int_t)step->step,
        "rounds", (json_int_t)step->rounds, "at_us", (json_int_t)step->at_us,
        "took_us", (json_int_t)step->took_us, "loss",
        step->loss - step->loss == 0 ? json_real(step->loss) : json_null(),
        "class", (json_int_t)step->exactness, "cells", cells_json(history, at));
}

static json_t *event_json(const struct history_event *event)
{
    return json_pack("[I, I, s, s]", (json_int_t)event->at_us,
                     (json_int_t)event->step, trace_name(event->kind),
                     event->name);
}

json_t *history_json(const struct history *history)
{
    json_t *workers = json_array();
    json_t *steps = json_array();
    json_t *events = json_array();

    for (uint32_t i = 0; i < history->count; i++)
        (void)json_array_append_new(workers, json_string(history->names[i]));
    for (uint32_t i = 0; i < history->step_count; i++)
        (void)json_array_append_new(steps, step_json(history, i));
    for (uint32_t i = 0; i < history->event_count; i++)
        (void)json_array_append_new(events, event_json(&history->events[i]));
    /* Of more deaths than there is room for as events, the number. */
    return json_pack("{s:o, s:I, s:o, s:o, s:I, s:{s:I, s:I}}", "workers",
                     workers, "stride", (json_int_t)history->stride, "steps",
                     steps, "events", events, "events_lost",
                     (json_int_t)history->events_lost, "deaths", "workers",
                     (json_int_t)history->died, "coordinators",
                     (json_int_t)history->coordinators);
}
