#define _GNU_SOURCE
/*
 * random.c - random bytes from the kernel (getrandom), for names and keys only.
 */
#include "os/random.h"

#include <errno.h>
#include <sys/random.h>

#include "base/check.h"

void random_fill(void *data, size_t size)
{
    uint8_t *at = data;

    while (size > 0) {
        const ssize_t got = getrandom(at, size, 0);

        if (got < 0) {
            CHECK(errno == EINTR); /* The kernel always has random bytes. */
            continue;
        }
        at += got;
        size -= (size_t)got;
    }
}

uint64_t random_u64(void)
{
    uint64_t value = 0;

    while (value == 0)
        random_fill(&value, sizeof value);
    return value;
}
