/*
 * libsvm.h - LIBSVM / SVMlight text.
 *
 *     label index:value index:value ...  # comment
 *
 * One row a line; indices start at 1 (or at 0, if asked for) and increase.
 * Blank and comment lines are skipped, CRLF and a byte order mark are accepted,
 * everything else is refused with its line number: a silently mended data set
 * would be trained on, and its digest would name something the user never
 * wrote.
 */
#ifndef DATA_LIBSVM_H
#define DATA_LIBSVM_H

#include "base/err.h"
#include "base/pool.h"
#include "data/rows/sparse.h"
#include "data/rows/stage.h"
#include "data/text/text_blocks.h"
#include "data/text/text_source.h"

/* All rows of `source`.  Values are binary64 as number.h reads them, then
 * rounded to binary32.  The sentence begins with the line and does not name
 * the file.  On failure *sparse is untouched. */
MUST_CHECK enum err libsvm_read(struct text_source *source,
                                struct sparse *sparse, struct why *why);

struct libsvm_options {
    bool from_zero; /* Indices start at 0. */
};

/* The same rows, read in blocks by all threads of the pool.  *index_zero: it
 * failed because an index is 0, and indices start at 1. */
MUST_CHECK enum err libsvm_stage(const char *path, bool from_zero,
                                 struct pool *pool, struct stage *stage,
                                 bool *index_zero, struct why *why);

/* Lines of a block (text_blocks.h) to rows; `options` may be NULL. */
MUST_CHECK enum err libsvm_block(const struct text_block *block,
                                 const void *options, struct sparse *sparse,
                                 struct why *why);

#endif /* DATA_LIBSVM_H */
