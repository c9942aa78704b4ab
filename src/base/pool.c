/*
 * pool.c - the pool without threads: one loop, for tests, the simulator and
 * whoever computes beside others.
 */
#include "base/pool.h"

static void serial_run(struct pool *pool, pool_item item, void *context,
                       uint32_t items)
{
    (void)pool;
    for (uint32_t i = 0; i < items; i++)
        item(context, 0, i);
}

struct pool *pool_serial(void)
{
    static struct pool serial = {.threads = 1, .run = serial_run};

    return &serial;
}
