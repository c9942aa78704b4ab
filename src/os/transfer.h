/*
 * transfer.h - all of it, or an error: read() and write() to the end (os/
 * only).
 *
 * Short counts and EINTR are not errors.  On ERR_IO errno says what happened.
 */
#ifndef OS_TRANSFER_H
#define OS_TRANSFER_H

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

MUST_CHECK enum err transfer_write_all(int fd, const void *data, size_t size);

/* To the end of file, from mem_new, a NUL after the last byte.  ERR_TOOBIG
 * beyond `max` bytes. */
MUST_CHECK enum err transfer_read_all(int fd, size_t max, uint8_t **data,
                                      size_t *size);

#endif /* OS_TRANSFER_H */
