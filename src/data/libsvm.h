/*
 * libsvm.h - LIBSVM / SVMlight text.
 *
 *     label index:value index:value ...  # comment
 *
 * One row a line; indices start at 1 and increase.  Blank and comment lines
 * are skipped, CRLF and a byte order mark are accepted, everything else is
 * refused with its line number: a silently mended data set would be trained
 * on, and its digest would name something the user never wrote.
 */
#ifndef DATA_LIBSVM_H
#define DATA_LIBSVM_H

#include "base/err.h"
#include "data/sparse.h"
#include "data/text_source.h"

/* All rows of `source`.  Values are binary64 as number.h reads them, then
 * rounded to binary32.  The sentence begins with the line and does not name
 * the file.  On failure *sparse is untouched. */
MUST_CHECK enum err libsvm_read(struct text_source *source,
                                struct sparse *sparse, struct why *why);

#endif /* DATA_LIBSVM_H */
