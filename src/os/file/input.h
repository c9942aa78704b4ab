/*
 * input.h - a plain file, read at any offset by any thread.
 */
#ifndef OS_INPUT_H
#define OS_INPUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

/* What tells one version of a file from the next without reading it. */
struct input_identity {
    uint64_t device, inode, size;
    int64_t modified_ns, changed_ns;
};

struct input {
    int fd;
    struct input_identity identity; /* When it was opened. */
};

/* Can it be read but once, front to back: "-", a pipe, a device?  Not opened,
 * since whoever writes into a pipe notices. */
bool input_is_stream(const char *path);

/* One that is no pipe, and may never end. */
bool input_is_device(const char *path);

/* ERR_UNSUPPORTED, without a sentence, if it is a pipe or a device: read those
 * front to back. */
MUST_CHECK enum err input_open(struct input *input, const char *path,
                               struct why *why);
void input_close(struct input *input);

/* All of [offset, offset + size) that is in the file; *got is less only at its
 * end.  ERR_IO. */
MUST_CHECK enum err input_read_at(const struct input *input, uint64_t offset,
                                  void *out, size_t size, size_t *got);

/* Of any open file, now; false if it is not a plain one. */
bool input_look(int fd, struct input_identity *identity);
/* Was nothing written in between? */
bool input_unchanged(const struct input_identity *before,
                     const struct input_identity *after);

#endif /* OS_INPUT_H */
