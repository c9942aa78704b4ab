/*
 * blob.c - reference-counted bytes, so that a message to a thousand workers is
 * encoded once and queued a thousand times.
 */
#include "os/net/blob.h"

#include "base/check.h"
#include "base/mem.h"

struct blob *blob_new(size_t capacity)
{
    struct blob *blob = mem_new(1, sizeof *blob + capacity);

    if (blob == NULL)
        return NULL;
    blob->holders = 1;
    blob->capacity = capacity;
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
    if (--blob->holders == 0)
        mem_free(blob);
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
