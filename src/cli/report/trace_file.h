/*
 * trace_file.h - the trace stream as a file for Perfetto (`--trace FILE`).
 *
 * Chrome's trace-event format, as an array, which may lack its end: what a
 * killed run left behind still opens in ui.perfetto.dev.  Written as it comes;
 * what is kept in memory does not grow with the run.
 *
 *     coordinator   steps        step 12 [ round 0 | round 1 ]
 *                   disk         commit, journal
 *                   checkpoints
 *     w0            compute      compute, hedged, stolen, wait, delayed,
 *                                cancelled
 *                   send
 *
 * A step goes by the updates before it, as its rounds and all that was done for
 * it do: the first is 0.
 *
 * All times are the coordinator's: workers' are laid on its clock with an
 * error of at most half the shortest round trip (core/link/offset.h), which the
 * file says for each worker (`clock`).
 */
#ifndef CLI_TRACE_FILE_H
#define CLI_TRACE_FILE_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "core/trace.h"
#include "os/file/output.h"

struct trace_lane;

/* From the coordinator's CANCEL to the worker's standing still. */
#define STOP_OCTAVES 40u
#define STOP_PARTS   64u /* Of an octave: the median is good to 1.6 %. */

struct trace_stops {
    uint64_t count;
    int64_t max_us;
    uint32_t seen[STOP_OCTAVES][STOP_PARTS];
};

#define TRACE_ENDS 256u /* Rounds whose end is remembered. */

struct trace_end {
    uint32_t step;
    time_us at;
};

struct trace_file {
    struct output *out; /* NULL: no trace is wanted. */
    uint64_t events;
    uint64_t lost;
    time_us base; /* Time 0 of the file; TIME_NEVER = none yet. */
    struct trace_lane *lanes;
    uint32_t lane_count;
    size_t lane_capacity;
    time_us step_at, round_at; /* Open ones; TIME_NEVER = none. */
    time_us latest;            /* That one of them began or ended. */
    struct round_key key;      /* Of the open round. */
    struct trace_end ends[TRACE_ENDS];
    uint32_t end_count;
    int64_t clock_error_us; /* The largest now in force; -1 = none is known. */
    struct trace_stops stops;
};

MUST_CHECK enum err trace_file_open(struct trace_file *file, const char *path,
                                    struct why *why);
void trace_file_event(struct trace_file *file, const struct trace *trace);
/* Ends the file.  Frees; zeroed memory is safe. */
MUST_CHECK enum err trace_file_close(struct trace_file *file, struct why *why);

/* Leave the file as it is. */
void trace_file_abort(struct trace_file *file);

/* What it came to, for the result: also after it is closed. */
json_t *trace_file_json(const struct trace_file *file, const char *path);

void trace_stops_add(struct trace_stops *stops, int64_t took_us);
int64_t trace_stops_median(const struct trace_stops *stops);

#endif /* CLI_TRACE_FILE_H */
