/*
 * blob.h - bytes that several sends share, counted.
 *
 * All holders live on one loop thread, so the count is a plain number.
 */
#ifndef OS_BLOB_H
#define OS_BLOB_H

#include <stddef.h>
#include <stdint.h>

struct blob {
    uint32_t holders;
    size_t capacity;
    uint8_t bytes[];
};

/* One holder; NULL if out of memory. */
struct blob *blob_new(size_t capacity);
struct blob *blob_hold(struct blob *blob); /* Returns it. */
void blob_drop(struct blob *blob); /* The last one frees; NULL is fine. */

/* `*blob` if it is large enough and nobody else holds it, so that it may be
 * written to, else a new one in its place: what others hold stays as it is.
 * NULL if out of memory. */
struct blob *blob_fresh(struct blob **blob, size_t capacity);

#endif /* OS_BLOB_H */
