/*
 * trace_file.c - a writer for Chrome's trace-event format.  Workers' times are
 * laid on the coordinator's clock, and where two of them overlap by the clock's
 * error the later gives way.
 */
#include "cli/report/trace_file.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "learn/card/json.h"

#define EXTRAS_MAX  64u    /* Pieces beyond its own that a worker was given. */
#define LANES_MAX   10240u /* As many as there can be workers. */
#define COORDINATOR 0

enum { TRACK_STEPS, TRACK_DISK, TRACK_CHECKPOINTS };
enum { TRACK_COMPUTE, TRACK_SEND, TRACKS };

/* Hedged or stolen. */
struct extra {
    enum trace_kind kind;
    uint32_t step, piece;
};

struct trace_lane {
    char name[NAME_SIZE];
    struct extra extras[EXTRAS_MAX];
    uint32_t extra_count;
    int64_t clock_error_us; /* As last written; -1 = not yet. */
    time_us ended[TRACKS];  /* The last span of each track. */
};

/* --- the text ------------------------------------------------------------ */

static int write_some(const char *bytes, size_t size, void *context)
{
    const struct trace_file *const file = context;

    output_write(file->out, bytes, size);
    return 0;
}

/* Lets go of the event. */
static void add(struct trace_file *file, json_t *event)
{
    if (event == NULL)
        return; /* Out of memory, or a name that is no text: one event less. */
    output_write(file->out, file->events == 0 ? "[\n" : ",\n", 2);
    (void)json_dump_callback(event, write_some, file,
                             JSON_COMPACT | JSON_ENSURE_ASCII |
                                 JSON_REAL_PRECISION(17));
    json_decref(event);
    file->events++;
}

/* Microseconds from the start of the file.  What a clock's error puts before
 * it, begins there. */
static int64_t when(const struct trace_file *file, time_us at)
{
    return at > file->base ? at - file->base : 0;
}

static void name_it(struct trace_file *file, const char *what, uint32_t pid,
                    uint32_t tid, json_t *args)
{
    add(file,
        json_pack("{s:s, s:s, s:I, s:I, s:o}", "ph", "M", "name", what, "pid",
                  (json_int_t)pid, "tid", (json_int_t)tid, "args", args));
}

static void name_process(struct trace_file *file, uint32_t pid,
                         const char *name)
{
    name_it(file, "process_name", pid, 0, json_pack("{s:s}", "name", name));
    name_it(file, "process_sort_index", pid, 0,
            json_pack("{s:I}", "sort_index", (json_int_t)pid));
}

static void name_thread(struct trace_file *file, uint32_t pid, uint32_t tid,
                        const char *name)
{
    name_it(file, "thread_name", pid, tid, json_pack("{s:s}", "name", name));
}

/* A moment; `scope`: "p" of a process, "t" of one of its tracks. */
static void moment(struct trace_file *file, const char *scope, const char *name,
                   uint32_t pid, time_us at, json_t *args)
{
    add(file, json_pack("{s:s, s:s, s:s, s:I, s:i, s:I, s:o}", "ph", "i", "s",
                        scope, "name", name, "pid", (json_int_t)pid, "tid", 0,
                        "ts", (json_int_t)when(file, at), "args", args));
}

static void instant(struct trace_file *file, uint32_t pid,
                    const struct trace *trace)
{
    moment(file, "p", trace_name(trace->kind), pid, trace->now,
           json_pack("{s:I, s:I}", "step", (json_int_t)trace->key.step, "a",
                     (json_int_t)trace->a));
}

static void span(struct trace_file *file, const char *name, uint32_t pid,
                 uint32_t tid, time_us from, time_us took, json_t *args)
{
    add(file, json_pack("{s:s, s:s, s:I, s:I, s:I, s:I, s:o}", "ph", "X",
                        "name", name, "pid", (json_int_t)pid, "tid",
                        (json_int_t)tid, "ts", (json_int_t)when(file, from),
                        "dur", (json_int_t)took, "args", args));
}

/* --- lanes --------------------------------------------------------------- */

/* The worker's process id in the file, 0 if there is no room for it. */
static uint32_t lane_of(struct trace_file *file, const char *name)
{
    struct trace_lane *grown;

    for (uint32_t i = 0; i < file->lane_count; i++) {
        if (strcmp(file->lanes[i].name, name) == 0)
            return i + 1;
    }
    if (name[0] == '\0' || file->lane_count == LANES_MAX)
        return COORDINATOR;
    if (file->lane_count == file->lane_capacity) {
        grown = mem_grow(file->lanes, file->lane_count, file->lane_count + 1u,
                         sizeof *grown, &file->lane_capacity);
        if (grown == NULL)
            return COORDINATOR;
        file->lanes = grown;
    }
    file->lanes[file->lane_count] = (struct trace_lane){.clock_error_us = -1};
    (void)snprintf(file->lanes[file->lane_count].name, NAME_SIZE, "%s", name);
    file->lane_count++;
    name_process(file, file->lane_count, name);
    name_thread(file, file->lane_count, TRACK_COMPUTE, "compute");
    name_thread(file, file->lane_count, TRACK_SEND, "send");
    return file->lane_count;
}

static void note_extra(struct trace_lane *lane, const struct trace *trace)
{
    lane->extras[lane->extra_count++ % EXTRAS_MAX] =
        (struct extra){.kind = trace->kind,
                       .step = trace->key.step,
                       .piece = (uint32_t)trace->a};
}

/* "hedged", "stolen", or NULL for a piece of its own. */
static const char *extra_name(const struct trace_lane *lane,
                              const struct stint *stint)
{
    const uint32_t count =
        lane->extra_count < EXTRAS_MAX ? lane->extra_count : EXTRAS_MAX;

    for (uint32_t i = 0; i < count; i++) {
        if (lane->extras[i].step == stint->step &&
            lane->extras[i].piece == stint->piece)
            return trace_name(lane->extras[i].kind);
    }
    return NULL;
}

/* --- from CANCEL to standing still --------------------------------------- */

void trace_stops_add(struct trace_stops *stops, int64_t took_us)
{
    const int64_t us = took_us < 1 ? 1 : took_us; /* Within a tick: a tick. */
    int octave;
    const double part =
        frexp((double)us, &octave); /* us = part * 2^octave, >= .5 */
    uint32_t at = (uint32_t)((part - .5) * 2 * STOP_PARTS);

    at = at < STOP_PARTS ? at : STOP_PARTS - 1;
    octave = octave < (int)STOP_OCTAVES ? octave : (int)STOP_OCTAVES - 1;
    stops->seen[octave][at]++;
    stops->count++;
    if (us > stops->max_us)
        stops->max_us = us;
}

int64_t trace_stops_median(const struct trace_stops *stops)
{
    uint64_t before = 0;

    for (uint32_t octave = 0; octave < STOP_OCTAVES; octave++) {
        for (uint32_t part = 0; part < STOP_PARTS; part++) {
            before += stops->seen[octave][part];
            if (before * 2 >= stops->count && stops->count > 0)
                return (int64_t)ldexp(.5 + part / (2.0 * STOP_PARTS),
                                      (int)octave);
        }
    }
    return 0;
}

static void round_ended(struct trace_file *file, uint32_t step, time_us at)
{
    file->ends[file->end_count++ % TRACE_ENDS] =
        (struct trace_end){.step = step, .at = at};
}

/* The end of its round that the worker was told of: the last before it
 * stopped. */
static void note_stop(struct trace_file *file, const struct stint *stint)
{
    const time_us stopped = stint->began + stint->took_us;
    time_us told = TIME_NEVER;
    const uint32_t count =
        file->end_count < TRACE_ENDS ? file->end_count : TRACE_ENDS;

    for (uint32_t i = 0; i < count; i++) {
        const struct trace_end *end = &file->ends[i];

        if (end->step == stint->step && end->at <= stopped &&
            (told == TIME_NEVER || end->at > told))
            told = end->at;
    }
    if (told != TIME_NEVER)
        trace_stops_add(&file->stops, stopped - told);
}

/* --- events -------------------------------------------------------------- */

static void close_round(struct trace_file *file, time_us now)
{
    if (file->round_at == TIME_NEVER)
        return;
    span(file, "round", COORDINATOR, TRACK_STEPS, file->round_at,
         now - file->round_at,
         json_pack("{s:I, s:I, s:I, s:I}", "step", (json_int_t)file->key.step,
                   "round", (json_int_t)file->key.round, "attempt",
                   (json_int_t)file->key.attempt, "view",
                   (json_int_t)file->key.view));
    round_ended(file, file->key.step, now);
    file->round_at = TIME_NEVER;
}

/* Steps of a ring are told by whichever peer is heard first, and what the next
 * one is heard of may be a little older. */
static time_us in_order(struct trace_file *file, time_us now)
{
    if (now > file->latest)
        file->latest = now;
    return file->latest;
}

static void open_round(struct trace_file *file, const struct trace *trace)
{
    const time_us now = in_order(file, trace->now);

    close_round(file, now);
    if (file->step_at == TIME_NEVER || trace->key.step != file->key.step)
        file->step_at = now;
    file->round_at = now;
    file->key = trace->key;
}

static void commit(struct trace_file *file, const struct trace *trace)
{
    const time_us now = in_order(file, trace->now);

    close_round(file, now);
    if (file->step_at != TIME_NEVER)
        span(file, "step", COORDINATOR, TRACK_STEPS, file->step_at,
             now - file->step_at,
             json_pack("{s:I, s:I, s:I}", "step", (json_int_t)file->key.step,
                       "class", (json_int_t)trace->a, "chunks",
                       (json_int_t)trace->b));
    file->step_at = TIME_NEVER;
    if (isfinite(trace->value))
        add(file, json_pack("{s:s, s:s, s:i, s:I, s:{s:f}}", "ph", "C", "name",
                            "loss", "pid", COORDINATOR, "ts",
                            (json_int_t)when(file, now), "args", "loss",
                            trace->value));
}

static uint32_t track_of(enum stint_kind kind)
{
    switch (kind) {
    case STINT_COMPUTE:
    case STINT_WAIT:
    case STINT_DELAYED:
    case STINT_CANCELLED:
        return TRACK_COMPUTE;
    case STINT_SEND:
        return TRACK_SEND;
    case STINT_COMMIT:
    case STINT_JOURNAL:
        return TRACK_DISK;
    case STINT_CHECKPOINT:
        return TRACK_CHECKPOINTS;
    case STINT_KINDS:
        break;
    }
    return 0;
}

/* A worker does one thing after the other; where a better estimate of its
 * clock says otherwise by some microseconds, the later one gives way. */
static struct stint in_line(struct trace_lane *lane, const struct stint *stint)
{
    time_us *ended = &lane->ended[track_of(stint->kind) % TRACKS];
    const time_us end = stint->began + stint->took_us;
    struct stint fitted = *stint;

    if (fitted.began < *ended)
        fitted.began = *ended < end ? *ended : end;
    fitted.took_us = end - fitted.began;
    *ended = end > *ended ? end : *ended;
    return fitted;
}

static void stint_event(struct trace_file *file, uint32_t pid,
                        const struct trace *trace)
{
    const struct stint fitted =
        pid == COORDINATOR ? trace->stint
                           : in_line(&file->lanes[pid - 1], &trace->stint);
    const struct stint *stint = &fitted;
    const char *extra =
        pid == COORDINATOR ? NULL : extra_name(&file->lanes[pid - 1], stint);
    const char *name = stint->kind == STINT_COMPUTE && extra != NULL
                           ? extra
                           : stint_name(stint->kind);

    file->lost += trace->a;
    span(file, name, pid, track_of(stint->kind), stint->began, stint->took_us,
         json_pack("{s:I, s:I, s:s*}", "step", (json_int_t)stint->step, "piece",
                   (json_int_t)stint->piece, "was",
                   stint->kind == STINT_CANCELLED ? extra : NULL));
    if (stint->kind == STINT_CANCELLED)
        note_stop(file, stint);
}

/* Said when it became better. */
static void clock_event(struct trace_file *file, uint32_t pid,
                        const struct trace *trace)
{
    struct trace_lane *lane = &file->lanes[pid - 1];
    const int64_t error = trace->pulse.error_us;

    if (error < 0 ||
        (lane->clock_error_us >= 0 && error >= lane->clock_error_us))
        return;
    lane->clock_error_us = error;
    moment(file, "t", "clock", pid, trace->now,
           json_pack("{s:I, s:I}", "ahead_us",
                     (json_int_t)trace->pulse.ahead_us, "error_us",
                     (json_int_t)error));
    file->clock_error_us = -1;
    for (uint32_t i = 0; i < file->lane_count; i++) {
        if (file->lanes[i].clock_error_us > file->clock_error_us)
            file->clock_error_us = file->lanes[i].clock_error_us;
    }
}

void trace_file_event(struct trace_file *file, const struct trace *trace)
{
    uint32_t pid;

    if (file->out == NULL)
        return;
    if (file->base == TIME_NEVER)
        file->base = trace->now;
    pid =
        trace->kind == TRACE_SWITCH ? COORDINATOR : lane_of(file, trace->name);
    switch (trace->kind) {
    case TRACE_ROUND:
        open_round(file, trace);
        break;
    case TRACE_COMMIT:
        commit(file, trace);
        break;
    case TRACE_STINT:
        stint_event(file, pid, trace);
        break;
    case TRACE_PULSE:
        if (pid != COORDINATOR)
            clock_event(file, pid, trace);
        break;
    case TRACE_HEDGED:
    case TRACE_STOLEN:
        if (pid != COORDINATOR)
            note_extra(&file->lanes[pid - 1], trace);
        instant(file, pid, trace);
        break;
    case TRACE_JOINED:
    case TRACE_DIED:
    case TRACE_LEFT:
    case TRACE_SUSPECT:
    case TRACE_CLEARED:
    case TRACE_VIEW:
    case TRACE_DUPLICATE:
    case TRACE_STALE:
    case TRACE_POISON:
    case TRACE_RESENT:
    case TRACE_CHECKPOINT:
    case TRACE_ROLLBACK:
    case TRACE_ALARM:
    case TRACE_DONE:
    case TRACE_FAILED:
    case TRACE_SWITCH:
    case TRACE_BANNED:
    case TRACE_JUDGED:
    case TRACE_AWAY:
    case TRACE_HOME:
    case TRACE_SHORT:
    case TRACE_ENOUGH:
    case TRACE_PEER:
    case TRACE_STOP:
    case TRACE_SIZE:
    case TRACE_PASS:
        instant(file, pid, trace);
        break;
    case TRACE_SUM:
    case TRACE_TALLY:
        break; /* Its compute stint says more. */
    }
}

enum err trace_file_open(struct trace_file *file, const char *path,
                         struct why *why)
{
    *file = (struct trace_file){.base = TIME_NEVER,
                                .step_at = TIME_NEVER,
                                .round_at = TIME_NEVER,
                                .clock_error_us = -1};
    if (path == NULL)
        return ERR_OK;
    if (output_open(&file->out, path, OUTPUT_LIVE, 0644, why) != ERR_OK)
        return why_in(why, ERR_IO, "--trace");
    name_process(file, COORDINATOR, "coordinator");
    name_thread(file, COORDINATOR, TRACK_STEPS, "steps");
    name_thread(file, COORDINATOR, TRACK_DISK, "commit and journal");
    name_thread(file, COORDINATOR, TRACK_CHECKPOINTS, "checkpoints");
    return ERR_OK;
}

enum err trace_file_close(struct trace_file *file, struct why *why)
{
    struct output *out = file->out;

    if (out == NULL)
        return ERR_OK;
    name_it(file, "muster", COORDINATOR, TRACK_STEPS,
            json_pack("{s:I, s:I, s:I, s:I, s:I}", "stints_lost",
                      (json_int_t)file->lost, "clock_error_us",
                      (json_int_t)file->clock_error_us, "cancels",
                      (json_int_t)file->stops.count, "cancel_to_stop_median_us",
                      (json_int_t)trace_stops_median(&file->stops),
                      "cancel_to_stop_max_us", (json_int_t)file->stops.max_us));
    output_write(out, "\n]\n", 3);
    file->out = NULL;
    mem_free(file->lanes);
    file->lanes = NULL;
    return output_commit(out, why);
}

void trace_file_abort(struct trace_file *file)
{
    output_abort(file->out);
    mem_free(file->lanes);
    *file = (struct trace_file){0};
}

static json_t *seconds(int64_t us)
{
    return us < 0 ? json_null() : json_real((double)us / (double)SECOND_US);
}

json_t *trace_file_json(const struct trace_file *file, const char *path)
{
    const struct trace_stops *stops = &file->stops;
    const int64_t median = stops->count > 0 ? trace_stops_median(stops) : -1;
    const int64_t max = stops->count > 0 ? stops->max_us : -1;

    return json_pack("{s:o, s:I, s:I, s:o, s:{s:I, s:o, s:o}}", "file",
                     name_json(path), "events", (json_int_t)file->events,
                     "lost", (json_int_t)file->lost, "clock_error_s",
                     seconds(file->clock_error_us), "cancel_to_stop", "count",
                     (json_int_t)stops->count, "median_s", seconds(median),
                     "max_s", seconds(max));
}
