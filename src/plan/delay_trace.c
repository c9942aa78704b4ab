/*
 * delay_trace.c - a reader and a writer for delay traces.  Censored entries
 * (`>S`) are filled in when all is read: each becomes the mean of the longer
 * delays that were seen to their end.
 */
#include "plan/delay_trace.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "base/mem.h"
#include "plan/delay.h"

#define NUMBER_BYTES 24u /* Of one number and its comma. */
#define LINE_BYTES   40u /* Of one `# work` line. */

const char delay_trace_realistic[] = "lognormal:0.06,0.8/scale/persistent"
                                     "+lognormal:0.04,0.7/scale"
                                     "+bimodal:1,2.5/burst:0.004,0.15"
                                     "+bimodal:1,2/rack:8/burst:0.002,0.2"
                                     "+pareto:0.01,1.6/scale";

void delay_trace_close(struct delay_trace *trace)
{
    mem_free(trace->value);
    mem_free(trace->work_s);
    *trace = (struct delay_trace){0};
}

enum err delay_trace_add(struct delay_trace *trace, const double *value,
                         uint32_t cols, double work_s)
{
    const size_t used = (size_t)trace->rows * cols;
    void *grown;

    CHECK(cols > 0);
    CHECK(trace->rows == 0 || trace->cols == cols);
    if (trace->rows == DELAY_TRACE_STEPS_MAX)
        return ERR_TOOBIG;
    if (used + cols > trace->value_capacity) {
        grown = mem_grow(trace->value, used, used + cols, sizeof *trace->value,
                         &trace->value_capacity);
        if (grown == NULL)
            return ERR_NOMEM;
        trace->value = grown;
    }
    if (trace->rows == trace->work_capacity) {
        grown = mem_grow(trace->work_s, trace->rows, trace->rows + 1u,
                         sizeof *trace->work_s, &trace->work_capacity);
        if (grown == NULL)
            return ERR_NOMEM;
        trace->work_s = grown;
    }
    trace->cols = cols;
    memcpy(trace->value + used, value, cols * sizeof *value);
    trace->work_s[trace->rows++] = work_s;
    return ERR_OK;
}

double delay_trace_at(const struct delay_trace *trace, uint32_t step,
                      uint32_t slot)
{
    CHECK(trace != NULL);
    CHECK(trace->rows > 0);
    return trace->value[(size_t)(step % trace->rows) * trace->cols +
                        slot % trace->cols];
}

/* --- reading ------------------------------------------------------------- */

struct reading {
    struct delay_trace *trace;
    struct why *why;
    double *row;
    size_t row_capacity;
    double work_s;
    uint32_t line;
};

/* One number of digits; moves *at behind it. */
static enum err plain_number(const struct reading *in, const char **at,
                             double *value)
{
    const int shown = (int)strcspn(*at, ", \t\r\n");
    char *end = NULL;

    if (**at == '-')
        return why_set(in->why, ERR_FORMAT,
                       "line %u: %.*s is negative; a delay is not", in->line,
                       shown, *at);
    /* strtod would also take nan, inf and hexadecimal. */
    if (!isdigit((unsigned char)**at) && **at != '.')
        return why_set(in->why, ERR_FORMAT, "line %u: `%.*s` is not a number",
                       in->line, shown, *at);
    *value = strtod(*at, &end);
    if (end != *at + shown || (*at)[1] == 'x')
        return why_set(in->why, ERR_FORMAT, "line %u: `%.*s` is not a number",
                       in->line, shown, *at);
    if (*value > DELAY_NEVER_S)
        *value = DELAY_NEVER_S;
    *at = end;
    return ERR_OK;
}

/* Censored numbers are kept negative until all are read. */
static enum err read_number(struct reading *in, const char **at, double *value)
{
    const bool censored = **at == '>';
    enum err err;

    if (strncmp(*at, "dead", 4) == 0) {
        *at += 4;
        *value = DELAY_NEVER_S;
        return ERR_OK;
    }
    *at += censored;
    err = plain_number(in, at, value);
    if (err == ERR_OK && censored) {
        in->trace->censored++;
        *value = *value > 0 ? -*value : -1e-9;
    }
    return err;
}

static enum err read_row(struct reading *in, const char *at)
{
    uint32_t count = 0;
    enum err err = ERR_OK;

    while (err == ERR_OK && *at != '\0' && *at != '\n') {
        if (count == in->row_capacity) {
            double *grown = mem_grow(in->row, count, count + 1u, sizeof *grown,
                                     &in->row_capacity);

            if (grown == NULL)
                return ERR_NOMEM;
            in->row = grown;
        }
        err = read_number(in, &at, &in->row[count]);
        count++;
        at += strspn(at, " \t\r");
        at += *at == ',';
        at += strspn(at, " \t\r");
    }
    if (err != ERR_OK)
        return err;
    if (in->trace->rows > 0 && count != in->trace->cols)
        return why_set(in->why, ERR_FORMAT,
                       "line %u: %u numbers, the lines before have %u",
                       in->line, count, in->trace->cols);
    err = delay_trace_add(in->trace, in->row, count, in->work_s);
    if (err == ERR_TOOBIG)
        (void)why_set(in->why, err, "line %u: more than %u steps", in->line,
                      DELAY_TRACE_STEPS_MAX);
    return err;
}

static enum err read_work(struct reading *in, const char *at)
{
    return plain_number(in, &at, &in->work_s);
}

static enum err read_line(struct reading *in, const char *at)
{
    at += strspn(at, " \t\r");
    if (strncmp(at, DELAY_TRACE_WORK, strlen(DELAY_TRACE_WORK)) == 0)
        return read_work(in, at + strlen(DELAY_TRACE_WORK));
    if (*at == '#' || *at == '\n' || *at == '\0')
        return ERR_OK;
    return read_row(in, at);
}

/* Each censored number becomes the mean of the longer ones that were seen to
 * their end (all rows: few workers are censored often), or stays. */
static void fill_censored(struct delay_trace *trace)
{
    const size_t count = (size_t)trace->rows * trace->cols;

    for (size_t i = 0; trace->censored > 0 && i < count; i++) {
        const double least = -trace->value[i];
        double sum = 0;
        size_t longer = 0;

        if (least <= 0)
            continue;
        for (size_t j = 0; j < count; j++) {
            const double seen = trace->value[j];

            if (seen > least && seen < DELAY_NEVER_S) {
                sum += seen;
                longer++;
            }
        }
        /* Still negative, so that it is not taken for one seen. */
        trace->value[i] = longer > 0 ? -sum / (double)longer : -least;
    }
    for (size_t i = 0; trace->censored > 0 && i < count; i++)
        trace->value[i] = fabs(trace->value[i]);
}

enum err delay_trace_parse(struct delay_trace *trace, const char *text,
                           struct why *why)
{
    struct delay_trace made = {0};
    struct reading in = {.trace = &made, .why = why};
    enum err err = ERR_OK;

    for (in.line = 1; err == ERR_OK; in.line++) {
        err = read_line(&in, text);
        text += strcspn(text, "\n");
        if (*text == '\0')
            break;
        text++;
    }
    if (err == ERR_OK && made.rows == 0)
        err = why_set(why, ERR_FORMAT, "no step in it");
    if (err == ERR_NOMEM)
        (void)why_set(why, err, "%s", err_text(err));
    mem_free(in.row);
    if (err != ERR_OK) {
        delay_trace_close(&made);
        return err;
    }
    fill_censored(&made);
    *trace = made;
    return ERR_OK;
}

/* --- writing ------------------------------------------------------------- */

static size_t put_number(char *out, double value, bool last)
{
    const char *after = last ? "\n" : ",";
    const int wrote = value >= DELAY_NEVER_S
                          ? snprintf(out, NUMBER_BYTES, "dead%s", after)
                          : snprintf(out, NUMBER_BYTES, "%s%.6g%s",
                                     value < 0 ? ">" : "", fabs(value), after);

    CHECK(wrote > 0);
    CHECK((unsigned)wrote < NUMBER_BYTES);
    return (size_t)wrote;
}

char *delay_trace_text(const struct delay_trace *trace)
{
    static const char head[] = "# muster trace: a line per step, a number per "
                               "worker: seconds of delay\n";
    const size_t room = sizeof head + (size_t)trace->rows * LINE_BYTES +
                        (size_t)trace->rows * trace->cols * NUMBER_BYTES;
    char *text = mem_new(room, 1);
    size_t used = sizeof head - 1;
    double work_s = 0;

    if (text == NULL)
        return NULL;
    memcpy(text, head, used);
    for (uint32_t row = 0; row < trace->rows; row++) {
        const double *value = trace->value + (size_t)row * trace->cols;

        if (trace->work_s[row] != work_s) {
            work_s = trace->work_s[row];
            used += (size_t)snprintf(text + used, LINE_BYTES,
                                     DELAY_TRACE_WORK "%.9g\n", work_s);
        }
        for (uint32_t i = 0; i < trace->cols; i++)
            used += put_number(text + used, value[i], i + 1 == trace->cols);
    }
    CHECK(used < room);
    return text;
}

/* --- making -------------------------------------------------------------- */

enum err delay_trace_generate(struct delay_trace *trace,
                              const struct delay *delay, uint32_t steps,
                              uint32_t slots, double work_s)
{
    struct delay_trace made = {0};
    struct delay_draw *draws = mem_new(slots, sizeof *draws);
    double *row = mem_new(slots, sizeof *row);
    enum err err = draws == NULL || row == NULL ? ERR_NOMEM : ERR_OK;

    for (uint32_t step = 0; err == ERR_OK && step < steps; step++) {
        delay_row(delay, step, slots, draws);
        for (uint32_t i = 0; i < slots; i++)
            row[i] = draws[i].add_s + draws[i].factor * work_s +
                     draws[i].share_s / slots;
        err = delay_trace_add(&made, row, slots, work_s);
    }
    mem_free(draws);
    mem_free(row);
    if (err == ERR_OK)
        *trace = made;
    else
        delay_trace_close(&made);
    return err;
}
