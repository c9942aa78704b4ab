/*
 * blob.c - reference-counted bytes, so that a message to a thousand workers is
 * encoded once and queued a thousand times.
 */
#include "os/net/blob.h"

#include <string.h>

#include "base/check.h"
#include "base/mem.h"

struct blob *blob_new(size_t capacity)
{
    struct blob *blob = mem_new(1, sizeof *blob + capacity);

    if (blob == NULL)
        return NULL;
    blob->holders = 1;
    blob->capacity = capacity;
    blob->bytes = blob->store;
    return blob;
}

struct blob *blob_hold(struct blob *blob)
{
    CHECK(blob->holders > 0);
    blob->holders++;
    return blob;
}

void blob_drop(struct blob *blob)
{
    if (blob == NULL)
        return;
    CHECK(blob->holders > 0);
    if (--blob->holders > 0)
        return;
    mem_free(blob->copied);
    mem_free(blob);
}

struct blob *blob_lent(const uint8_t *bytes, size_t size)
{
    struct blob *blob = blob_new(0);

    if (blob == NULL)
        return NULL;
    blob->capacity = size;
    /* NOLINTNEXTLINE(performance-no-int-to-ptr): nobody writes to it. */
    blob->bytes = (uint8_t *)(uintptr_t)bytes;
    return blob;
}

bool blob_settle(struct blob *blob)
{
    if (blob->bytes == blob->store || blob->copied != NULL)
        return true;
    blob->copied = mem_new(blob->capacity + 1, 1);
    if (blob->copied == NULL)
        return false;
    memcpy(blob->copied, blob->bytes, blob->capacity);
    blob->bytes = blob->copied;
    return true;
}

struct blob *blob_fresh(struct blob **blob, size_t capacity)
{
    struct blob *made;

    if (*blob != NULL && (*blob)->holders == 1 && (*blob)->capacity >= capacity)
        return *blob;
    made = blob_new(capacity);
    if (made == NULL)
        return NULL;
    blob_drop(*blob);
    *blob = made;
    return made;
}
