/*
 * text_blocks.h - a text cut into blocks of whole lines, read by many threads.
 *
 *     plain file    |....block 0....|....block 1....|...   read at any offset
 *     packed, "-"   block by block: one thread unpacks the next few while the
 *                   others read the last few
 *
 * A block's rows are packed at once (stage.h), so that only a few blocks are
 * in memory as text.  Binary tables are read the same way: their rows are
 * records of one size instead of lines.
 */
#ifndef DATA_TEXT_BLOCKS_H
#define DATA_TEXT_BLOCKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/pool.h"
#include "data/rows/sparse.h"
#include "data/rows/stage.h"
#include "data/text/unpack.h"

#define TEXT_BLOCK_BYTES ((size_t)1 << 20)

/* Whole lines; the last byte is a line feed, added if the text has none.  A
 * byte order mark at the start of the text is gone. */
struct text_block {
    const char *text;
    size_t size;
    uint64_t lines_before; /* Lines of the text in front of it. */
};

/* Append a block's rows to `sparse`.  Sentences name the line, counted from
 * lines_before.  Called by several threads at a time. */
typedef enum err (*text_block_reader)(const struct text_block *block,
                                      const void *options,
                                      struct sparse *sparse, struct why *why);

/* Look at the first line (without its line feed) before anything is read;
 * *skip says whether `read` shall not see it: a header. */
typedef enum err (*text_block_begin)(void *options, const char *line,
                                     size_t size, bool *skip, struct why *why);

struct text_format {
    text_block_reader read;
    text_block_begin begin; /* May be NULL. */
    void *options;          /* Of both. */
};

/* Rows of a file or "-" to blocks of the stage, in order.  Fails with what the
 * first bad block says; sentences do not name the file.  ERR_MISMATCH is never
 * its own: that a format may give a meaning. */
MUST_CHECK enum err text_blocks_read(const char *path,
                                     const struct text_format *format,
                                     struct pool *pool, struct stage *stage,
                                     struct why *why);
/* The same for what is left of a stream, in records of `record_bytes`;
 * *rest bytes of a last one that is not whole are not read.  `lines_before`
 * counts records, and there is no `begin`. */
MUST_CHECK enum err records_read(struct unpacker *in, size_t record_bytes,
                                 const struct text_format *format,
                                 struct pool *pool, struct stage *stage,
                                 size_t *rest, struct why *why);
/* Text from memory, in blocks of `block_bytes`: for tests. */
MUST_CHECK enum err
text_blocks_read_memory(const void *data, size_t size, size_t block_bytes,
                        const struct text_format *format, struct pool *pool,
                        struct stage *stage, struct why *why);

#endif /* DATA_TEXT_BLOCKS_H */
