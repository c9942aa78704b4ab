/*
 * trace_pipe.h - both ends of the pipe from a coordinator to its supervisor.
 *
 *     struct trace | struct trace | struct trace of a SUM | its answers | ...
 *
 * One program writes and reads, so the structs travel as they lie.  What
 * happens in every step may wait a little, so that a step costs one write at
 * most and the supervisor does not wake at every answer.  If it does not read,
 * what is frequent is lost; who came and went is not.
 *
 * The reader gives each TALLY that a SUM stands for, with the name that a
 * JOINED told: the coordinator writes 32 bytes for an answer, and no names.
 */
#ifndef NODE_TRACE_PIPE_H
#define NODE_TRACE_PIPE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/time.h"
#include "core/msg.h"
#include "core/trace.h"

struct loop;
struct outlet;
struct timer;

struct trace_writer {
    struct outlet *outlet; /* NULL: nobody listens. */
    struct timer *lagging;
    bool eager;     /* Steps cannot wait: the reader acts at some of them. */
    uint8_t *batch; /* Not sent yet. */
    size_t size;
    bool urgent;          /* Some of it cannot wait. */
    bool waits;           /* `lagging` will send it. */
    time_us now, sent_at; /* Of the last look, and of the last batch. */
    uint64_t stints_lost; /* Since the last one that was not. */
};

/* `fd` -1: nobody listens, and nothing is done.  Close accepts a zeroed one. */
MUST_CHECK enum err trace_writer_open(struct trace_writer *writer,
                                      struct loop *loop, int fd, bool eager);
void trace_writer_close(struct trace_writer *writer);
void trace_writer_add(struct trace_writer *writer, const struct trace *trace);
/* After the actions of an event: send what is due, or `all`. */
void trace_writer_look(struct trace_writer *writer, time_us now, bool all);
/* Everything, now, if the reader takes its time, too; false if there is none.
 */
bool trace_writer_drain(struct trace_writer *writer);

typedef void (*trace_take)(void *context, const struct trace *trace);

struct trace_reader {
    trace_take take;
    void *context;
    struct trace_record *record; /* That is arriving ... */
    size_t size;                 /* ... and has so many bytes. */
    char (*names)[NAME_SIZE];    /* By link. */
    size_t names_count;
};

MUST_CHECK enum err trace_reader_init(struct trace_reader *reader,
                                      trace_take take, void *context);
void trace_reader_close(struct trace_reader *reader);
/* From another writer, from its first byte on. */
void trace_reader_begin(struct trace_reader *reader);
/* Cut anywhere. */
void trace_reader_bytes(struct trace_reader *reader, const uint8_t *data,
                        size_t size);

#endif /* NODE_TRACE_PIPE_H */
