/*
 * arrow.h - tables by columns from programs that speak Arrow's C data and C
 * stream interfaces (pandas, polars, DuckDB): three structures of pointers that
 * the public specification lays down, and no library.
 *
 *     numbers    8 to 64 bits, signed or not, float, double, bool
 *     words      utf8, large utf8, and dictionaries of either
 *
 * The batches stay as they came until the table is freed; a frame is made of
 * them for each use, since which column is what depends on who asks.
 */
#ifndef DATA_READ_ARROW_H
#define DATA_READ_ARROW_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "data/table/frame.h"

/* The specification's own names. */
struct ArrowSchema {
    const char *format, *name, *metadata;
    int64_t flags, n_children;
    struct ArrowSchema **children;
    struct ArrowSchema *dictionary;
    void (*release)(struct ArrowSchema *schema);
    void *private_data;
};

struct ArrowArray {
    int64_t length, null_count, offset, n_buffers, n_children;
    const void **buffers;
    struct ArrowArray **children;
    struct ArrowArray *dictionary;
    void (*release)(struct ArrowArray *array);
    void *private_data;
};

struct ArrowArrayStream {
    int (*get_schema)(struct ArrowArrayStream *stream, struct ArrowSchema *out);
    int (*get_next)(struct ArrowArrayStream *stream, struct ArrowArray *out);
    const char *(*get_last_error)(struct ArrowArrayStream *stream);
    void (*release)(struct ArrowArrayStream *stream);
    void *private_data;
};

struct arrow_table {
    struct ArrowSchema schema;
    struct ArrowArray *batch;
    size_t count, capacity;
    uint64_t rows;
};

/* Read the stream to its end and release it, whatever the outcome.
 * ERR_UNSUPPORTED names a column of another type, ERR_IO what the stream says,
 * ERR_SHAPE: no rows or columns, or lengths, offsets, buffers or dictionaries
 * that do not agree, ERR_TOOBIG, ERR_NOMEM: with a sentence. */
MUST_CHECK enum err arrow_read(struct ArrowArrayStream *stream,
                               struct arrow_table *table, struct why *why);
void arrow_close(struct arrow_table *table); /* Zeroed is safe. */

/* A frame of the table, columns as `form` wants them, which is empty
 * afterwards.  Fields that are missing are ERR_RANGE unless `gaps`, labels
 * unless `unlabelled`. */
MUST_CHECK enum err arrow_frame(const struct arrow_table *table, bool gaps,
                                bool unlabelled, struct csv *form,
                                struct frame *frame, struct why *why);

#endif /* DATA_READ_ARROW_H */
