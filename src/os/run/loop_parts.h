/*
 * loop_parts.h - the libuv loop inside a struct loop (os/ only).
 */
#ifndef OS_LOOP_PARTS_H
#define OS_LOOP_PARTS_H

#include <uv.h>

#include "os/run/loop.h"

struct conn_scratch;
void conn_scratch_free(struct conn_scratch *scratch); /* conn.c */

struct loop {
    uv_loop_t uv;
    struct conn_scratch *scratch; /* conn.h; NULL until a connection is made. */
};

/* Milliseconds from now to `at`, rounded up: a timer is never early. */
uint64_t loop_wait_ms(time_us at);

#endif /* OS_LOOP_PARTS_H */
