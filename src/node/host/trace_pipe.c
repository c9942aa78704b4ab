/*
 * trace_pipe.c - a pipe of trace events with two classes: what is rare is never
 * lost, what is frequent may be when the reader is behind.  SUMs are taken
 * apart by the reader.
 */
#include "node/host/trace_pipe.h"

#include <string.h>

#include "base/check.h"
#include "base/mem.h"
#include "os/run/loop.h"

#define LAG_US  (10 * MS_US)
#define BACKLOG (256u << 10) /* Beyond it the frequent kinds are lost. */

/* The longest that travels. */
struct trace_record {
    struct trace trace;
    struct trace_answer answers[ANSWERS_MAX];
};

static size_t answers_bytes(const struct trace *trace)
{
    if (trace->kind != TRACE_SUM)
        return 0;
    CHECK(trace->a <= ANSWERS_MAX);
    return (size_t)trace->a * sizeof *trace->answers;
}

/* --- the coordinator's end ------------------------------------------------ */

static void flush(struct trace_writer *writer)
{
    if (writer->size > 0)
        (void)outlet_send(writer->outlet, writer->batch, writer->size);
    writer->size = 0;
    writer->urgent = false;
    writer->sent_at = writer->now;
}

static void lag_is_over(void *context)
{
    struct trace_writer *writer = context;

    writer->waits = false;
    flush(writer);
}

enum err trace_writer_open(struct trace_writer *writer, struct loop *loop,
                           int fd, bool eager)
{
    enum err err;

    *writer = (struct trace_writer){.eager = eager};
    if (fd < 0)
        return ERR_OK;
    writer->batch = mem_new(1, sizeof(struct trace_record));
    err = writer->batch == NULL ? ERR_NOMEM : ERR_OK;
    if (err == ERR_OK)
        err = timer_new(loop, lag_is_over, writer, &writer->lagging);
    if (err == ERR_OK)
        err = outlet_new(loop, fd, &writer->outlet);
    return err;
}

void trace_writer_close(struct trace_writer *writer)
{
    outlet_free(writer->outlet);
    timer_free(writer->lagging);
    mem_free(writer->batch);
    *writer = (struct trace_writer){0};
}

static bool frequent(enum trace_kind kind)
{
    return kind == TRACE_TALLY || kind == TRACE_SUM || kind == TRACE_STALE ||
           kind == TRACE_DUPLICATE || kind == TRACE_STINT;
}

static bool can_wait(const struct trace_writer *writer, enum trace_kind kind)
{
    return frequent(kind) || kind == TRACE_PULSE ||
           (!writer->eager && (kind == TRACE_ROUND || kind == TRACE_COMMIT ||
                               kind == TRACE_STOLEN));
}

static void put(struct trace_writer *writer, const void *data, size_t size)
{
    memcpy(writer->batch + writer->size, data, size);
    writer->size += size;
}

void trace_writer_add(struct trace_writer *writer, const struct trace *trace)
{
    const size_t answers = answers_bytes(trace);
    struct trace copy = *trace;

    if (writer->outlet == NULL)
        return;
    if (frequent(trace->kind) && outlet_queued(writer->outlet) > BACKLOG) {
        writer->stints_lost += trace->kind == TRACE_STINT;
        return;
    }
    if (trace->kind == TRACE_STINT) {
        copy.a = writer->stints_lost;
        writer->stints_lost = 0;
    }
    if (writer->size + sizeof copy + answers > sizeof(struct trace_record))
        flush(writer);
    put(writer, &copy, sizeof copy);
    if (answers > 0)
        put(writer, trace->answers, answers);
    writer->urgent = writer->urgent || !can_wait(writer, trace->kind);
}

bool trace_writer_drain(struct trace_writer *writer)
{
    if (writer->outlet == NULL)
        return false;
    flush(writer);
    return outlet_drain(writer->outlet);
}

void trace_writer_look(struct trace_writer *writer, time_us now, bool all)
{
    const time_us due = writer->sent_at + LAG_US;

    writer->now = now;
    if (writer->size == 0)
        return;
    if (writer->urgent || all || now >= due) {
        flush(writer);
        return;
    }
    if (!writer->waits)
        timer_at(writer->lagging, due);
    writer->waits = true;
}

/* --- the supervisor's end ------------------------------------------------- */

enum err trace_reader_init(struct trace_reader *reader, trace_take take,
                           void *context)
{
    *reader = (struct trace_reader){.take = take, .context = context};
    reader->record = mem_new(1, sizeof *reader->record);
    return reader->record == NULL ? ERR_NOMEM : ERR_OK;
}

void trace_reader_close(struct trace_reader *reader)
{
    mem_free(reader->record);
    mem_free(reader->names);
    *reader = (struct trace_reader){0};
}

void trace_reader_begin(struct trace_reader *reader)
{
    reader->size = 0;
    if (reader->names_count > 0)
        memset(reader->names, 0, reader->names_count * sizeof *reader->names);
}

/* Without memory a worker has no name: the run matters more. */
static void note_name(struct trace_reader *reader, const struct trace *joined)
{
    const size_t link = (size_t)joined->link;

    if (joined->link < 0)
        return; /* A peer of a ring: it is called by its name alone. */
    if (link >= reader->names_count) {
        char(*grown)[NAME_SIZE] =
            mem_grow(reader->names, reader->names_count, link + 1,
                     sizeof *grown, &reader->names_count);

        if (grown == NULL)
            return;
        reader->names = grown;
    }
    memcpy(reader->names[link], joined->name, NAME_SIZE);
}

static const char *name_of(const struct trace_reader *reader, int32_t link)
{
    return link >= 0 && (size_t)link < reader->names_count ? reader->names[link]
                                                           : "";
}

static void take_record(struct trace_reader *reader)
{
    const struct trace *trace = &reader->record->trace;

    if (trace->kind == TRACE_JOINED)
        note_name(reader, trace);
    if (trace->kind != TRACE_SUM) {
        reader->take(reader->context, trace);
        return;
    }
    for (uint64_t i = 0; i < trace->a; i++) {
        const struct trace_answer *answer = &reader->record->answers[i];
        const struct trace tally =
            trace_tally(trace, answer, name_of(reader, answer->link));

        reader->take(reader->context, &tally);
    }
}

/* Bytes of the record at hand, as far as they say so themselves. */
static size_t record_bytes(const struct trace_reader *reader)
{
    const struct trace *trace = &reader->record->trace;

    return sizeof *trace +
           (reader->size < sizeof *trace ? 0 : answers_bytes(trace));
}

void trace_reader_bytes(struct trace_reader *reader, const uint8_t *data,
                        size_t size)
{
    while (size > 0) {
        const size_t missing = record_bytes(reader) - reader->size;
        const size_t part = size < missing ? size : missing;

        memcpy((uint8_t *)reader->record + reader->size, data, part);
        reader->size += part;
        data += part;
        size -= part;
        if (reader->size < record_bytes(reader))
            continue; /* A SUM's answers follow, or more is to come. */
        reader->size = 0;
        take_record(reader);
    }
}
