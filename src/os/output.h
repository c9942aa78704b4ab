/*
 * output.h - a file written piece by piece that appears whole or not at all.
 *
 * Like file_write_atomic, for what does not fit into one buffer.
 */
#ifndef OS_OUTPUT_H
#define OS_OUTPUT_H

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

struct output;

/* A new file beside `path`, of mode 0644, that becomes `path` at the end. */
MUST_CHECK enum err output_open(struct output **output, const char *path,
                                struct why *why);
/* The same straight into `path`, which is emptied: readers see it grow, and
 * what was written stays whatever happens. */
MUST_CHECK enum err output_open_live(struct output **output, const char *path,
                                     struct why *why);
/* Appends; the first failure is kept and told by output_commit. */
void output_write(struct output *output, const void *data, size_t size);
uint64_t output_size(const struct output *output);
/* Replace `path`, durably; frees `output` whatever the outcome. */
MUST_CHECK enum err output_commit(struct output *output, struct why *why);
/* Drop what was written; accepts NULL. */
void output_abort(struct output *output);

#endif /* OS_OUTPUT_H */
