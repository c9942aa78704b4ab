/*
 * recorder.c - a recorder of delays: what each worker took in each step beyond
 * the quickest, as a trace that `muster plan` and --delay read.
 */
#include "cli/report/recorder.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "os/file/output.h"
#include "plan/delay.h"

#define QUICK_SHARE .05 /* Of all times: as long as the work takes. */
#define LEAST_S     1e-6

void recorder_close(struct recorder *recorder)
{
    delay_trace_close(&recorder->times);
    mem_free(recorder->names);
    mem_free(recorder->row);
    mem_free(recorder->gone);
    *recorder = (struct recorder){0};
}

static int by_name(const void *a, const void *b)
{
    const char *one = a;
    const char *two = b;
    const size_t length_1 = strlen(one);
    const size_t length_2 = strlen(two);

    /* w2 before w10. */
    if (length_1 != length_2)
        return length_1 < length_2 ? -1 : 1;
    return strcmp(one, two);
}

static uint32_t column(const struct recorder *recorder, const char *name)
{
    for (uint32_t i = 0; i < recorder->count; i++) {
        if (strcmp(recorder->names[i], name) == 0)
            return i;
    }
    return UINT32_MAX;
}

static void add_name(struct recorder *recorder, const char *name)
{
    if (recorder->begun || column(recorder, name) != UINT32_MAX)
        return;
    if (recorder->count == recorder->name_capacity) {
        void *grown =
            mem_grow(recorder->names, recorder->count, recorder->count + 1u,
                     sizeof *recorder->names, &recorder->name_capacity);

        if (grown == NULL) {
            recorder->failed = true;
            return;
        }
        recorder->names = grown;
    }
    memcpy(recorder->names[recorder->count++], name, NAME_SIZE);
}

/* Who is here at the first step has a column; later joiners have none. */
static void begin(struct recorder *recorder)
{
    recorder->begun = true;
    recorder->row = mem_new(recorder->count, sizeof *recorder->row);
    recorder->gone = mem_new(recorder->count, sizeof *recorder->gone);
    recorder->failed |= recorder->row == NULL || recorder->gone == NULL;
    if (recorder->count > 0)
        qsort(recorder->names, recorder->count, sizeof *recorder->names,
              by_name);
}

static void open_step(struct recorder *recorder, const struct trace *trace)
{
    if (!recorder->begun)
        begin(recorder);
    recorder->opened_at = trace->now;
    for (uint32_t i = 0; !recorder->failed && i < recorder->count; i++)
        recorder->row[i] = 0;
}

static double since(const struct recorder *recorder, const struct trace *trace)
{
    const double s = (double)(trace->now - recorder->opened_at) / 1e6;

    return s > LEAST_S ? s : LEAST_S;
}

static void end_step(struct recorder *recorder, const struct trace *trace)
{
    for (uint32_t i = 0; i < recorder->count; i++) {
        if (recorder->gone[i])
            recorder->row[i] = DELAY_NEVER_S;
        else if (recorder->row[i] == 0)
            recorder->row[i] = -since(recorder, trace);
    }
    recorder->failed |= delay_trace_add(&recorder->times, recorder->row,
                                        recorder->count, 0) != ERR_OK;
}

void recorder_event(struct recorder *recorder, const struct trace *trace)
{
    const uint32_t at = column(recorder, trace->name);

    if (recorder->failed)
        return;
    if (trace->kind == TRACE_JOINED)
        add_name(recorder, trace->name);
    else if (trace->kind == TRACE_ROUND)
        open_step(recorder, trace);
    if (!recorder->begun || recorder->count == 0 || recorder->failed)
        return;
    if (trace->kind == TRACE_COMMIT)
        end_step(recorder, trace);
    if (at == UINT32_MAX)
        return;
    if (trace->kind == TRACE_TALLY || trace->kind == TRACE_DUPLICATE)
        recorder->row[at] = since(recorder, trace);
    else if (trace->kind == TRACE_DIED || trace->kind == TRACE_LEFT)
        recorder->gone[at] = true;
    else if (trace->kind == TRACE_JOINED)
        recorder->gone[at] = false;
}

static int ascending(const void *a, const void *b)
{
    const double *one = a;
    const double *two = b;

    return (*one > *two) - (*one < *two);
}

/* What the quickest twentieth of all answers took. */
static enum err find_work(const struct delay_trace *times, double *work_s)
{
    const size_t count = (size_t)times->rows * times->cols;
    double *seen = mem_new(count, sizeof *seen);
    size_t used = 0;

    if (seen == NULL)
        return ERR_NOMEM;
    for (size_t i = 0; i < count; i++) {
        if (times->value[i] > 0 && times->value[i] < DELAY_NEVER_S)
            seen[used++] = times->value[i];
    }
    qsort(seen, used, sizeof *seen, ascending);
    *work_s = used > 0 ? seen[(size_t)(QUICK_SHARE * (double)used)] : 0;
    mem_free(seen);
    return ERR_OK;
}

/* Times to delays. */
static void take_off(struct delay_trace *times, double work_s)
{
    const size_t count = (size_t)times->rows * times->cols;

    for (uint32_t t = 0; t < times->rows; t++)
        times->work_s[t] = work_s;
    for (size_t i = 0; i < count; i++) {
        const double s = fabs(times->value[i]);
        const double delay = s > work_s ? s - work_s : 0;

        if (s >= DELAY_NEVER_S)
            continue;
        times->value[i] =
            times->value[i] > 0 ? delay : -(delay > LEAST_S ? delay : LEAST_S);
    }
}

enum err recorder_write(struct recorder *recorder, const char *path,
                        struct why *why)
{
    double work_s = 0;
    char *text = NULL;
    enum err err = ERR_OK;

    if (recorder->times.rows == 0)
        err = why_set(why, ERR_SHAPE, "--record: no step was recorded");
    if (err == ERR_OK)
        err = find_work(&recorder->times, &work_s);
    if (err == ERR_OK) {
        take_off(&recorder->times, work_s);
        text = delay_trace_text(&recorder->times);
        err = text == NULL ? ERR_NOMEM
                           : output_save(path, text, strlen(text), why);
    }
    if (err == ERR_NOMEM)
        (void)why_set(why, err, "%s", err_text(err));
    mem_free(text);
    recorder_close(recorder);
    return err;
}
