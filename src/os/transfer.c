/*
 * transfer.c - read and write to the end: short counts and EINTR are repeated
 * here and nowhere else.
 */
#include "os/transfer.h"

#include <errno.h>
#include <unistd.h>

#include "base/mem.h"

#define READ_BYTES 65536u

enum err transfer_write_all(int fd, const void *data, size_t size)
{
    const uint8_t *at = data;

    while (size > 0) {
        const ssize_t put = write(fd, at, size);

        if (put < 0) {
            if (errno == EINTR)
                continue;
            return ERR_IO;
        }
        at += put;
        size -= (size_t)put;
    }
    return ERR_OK;
}

/* Read until the end or until `capacity` is full. */
static enum err fill(int fd, uint8_t *data, size_t capacity, size_t *size)
{
    while (*size < capacity) {
        const ssize_t got = read(fd, data + *size, capacity - *size);

        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return ERR_IO;
        if (got == 0)
            return ERR_OK;
        *size += (size_t)got;
    }
    return ERR_OK;
}

enum err transfer_read_all(int fd, size_t max, uint8_t **data, size_t *size)
{
    size_t capacity = READ_BYTES, used = 0;
    uint8_t *bytes = mem_new(capacity, 1);

    for (;;) {
        uint8_t *grown;
        enum err err = bytes == NULL ? ERR_NOMEM : ERR_OK;

        if (err == ERR_OK)
            err = fill(fd, bytes, capacity - 1, &used);
        if (err == ERR_OK && used > max)
            err = ERR_TOOBIG;
        if (err != ERR_OK) {
            mem_free(bytes);
            return err;
        }
        if (used < capacity - 1)
            break;
        grown = mem_grow(bytes, used, capacity + 1, 1, &capacity);
        if (grown == NULL)
            mem_free(bytes);
        bytes = grown;
    }
    bytes[used] = 0;
    *data = bytes;
    *size = used;
    return ERR_OK;
}
