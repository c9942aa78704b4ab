/*
 * blob.h - bytes that several sends share, counted.
 *
 * They are its own, or lent to it: then whoever lends them sees to it that they
 * stay as long as somebody holds the blob, or makes them its own (blob_settle)
 * before they go.  So holders ask for `bytes` each time.
 *
 * All holders live on one loop thread, so the count is a plain number.
 */
#ifndef OS_BLOB_H
#define OS_BLOB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct blob {
    uint32_t holders;
    size_t capacity;
    uint8_t *bytes;  /* In `store`, or lent, or ... */
    uint8_t *copied; /* ... this, which was lent; else NULL. */
    uint8_t store[];
};

/* One holder; NULL if out of memory. */
struct blob *blob_new(size_t capacity);
struct blob *blob_hold(struct blob *blob); /* Returns it. */
void blob_drop(struct blob *blob); /* The last one frees; NULL is fine. */

/* One holder, of bytes that are lent.  They are not written to. */
struct blob *blob_lent(const uint8_t *bytes, size_t size);
/* They are its own from now on.  False if out of memory. */
bool blob_settle(struct blob *blob);

/* `*blob` if it is large enough and nobody else holds it, so that it may be
 * written to, else a new one in its place: what others hold stays as it is.
 * NULL if out of memory. */
struct blob *blob_fresh(struct blob **blob, size_t capacity);

#endif /* OS_BLOB_H */
