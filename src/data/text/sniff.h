/*
 * sniff.h - is a text a table, or LIBSVM's rows?  By its first line.
 *
 *     a,b,y    1;2;0    "a b"<tab>y      a separator, and no index:value
 *     +1 1:0.5 3:2     1,2 1:0.5         LIBSVM, labels with commas too
 */
#ifndef DATA_SNIFF_H
#define DATA_SNIFF_H

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"

/* The beginning of a text, at least a good part of its first line. */
/* "a bzip2 file" and the like, which no reader is for; NULL: none of those. */
const char *sniff_foreign(const char *text, size_t size);
/* "a page of the web" or "XML", by its first tag, also after blanks. */
const char *sniff_markup(const char *text, size_t size);
/* A file of a network of another program's, by its name: ERR_UNSUPPORTED, with
 * what to make of it. */
MUST_CHECK enum err sniff_network(const char *path, struct why *why);
/* Does it begin as models do: LIBLINEAR's text, or safetensors? */
#define SNIFF_MODEL_SIZE 12u
bool sniff_is_model(const char *text, size_t size);
bool sniff_is_table(const char *text, size_t size);

#endif /* DATA_SNIFF_H */
