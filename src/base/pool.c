/*
 * pool.c - the pool without threads: one loop, for tests, the simulator and
 * whoever computes beside others.
 */
#include "base/pool.h"

#include <string.h>

#include "base/check.h"

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

#define COPY_LEAST  8192u /* Words. */
#define SLICES_EACH 4u

struct slicing {
    pool_slice work;
    void *context;
    uint32_t count, length;
};

static void run_slice(void *context, uint32_t thread, uint32_t item)
{
    const struct slicing *slicing = context;
    const uint32_t first = item * slicing->length;
    const uint32_t left = slicing->count - first;

    (void)thread;
    slicing->work(slicing->context, item, first,
                  first + (left < slicing->length ? left : slicing->length));
}

/* Of as many grains as the others, but for the last.  Several for each thread:
 * what one that is late, or held up, has not begun is taken by others. */
static uint32_t slice_length(const struct pool *pool, uint32_t count,
                             uint32_t least)
{
    const uint32_t wanted = pool->threads * SLICES_EACH;
    const uint32_t most = wanted < SLICES_MAX ? wanted : SLICES_MAX;
    const uint32_t share = count / most + (count % most != 0);
    const uint32_t each = share < least ? least : share;
    const uint32_t grains = each / SLICE_GRAIN + (each % SLICE_GRAIN != 0);

    return grains * SLICE_GRAIN;
}

uint32_t pool_slices(struct pool *pool, uint32_t count, uint32_t least,
                     pool_slice work, void *context)
{
    struct slicing slicing = {.work = work, .context = context, .count = count};
    uint32_t slices;

    if (pool == NULL || pool->threads == 1 || count / 2 < least) {
        work(context, 0, 0, count);
        return 1;
    }
    slicing.length = slice_length(pool, count, least);
    slices = count / slicing.length + (count % slicing.length != 0);
    pool->run(pool, run_slice, &slicing, slices);
    return slices;
}

/* In words of 8 bytes, of which the last may be a part. */
struct copying {
    uint8_t *to;
    const uint8_t *from;
    size_t size;
};

static void copy_slice(void *context, uint32_t slice, uint32_t first,
                       uint32_t end)
{
    const struct copying *copying = context;
    const size_t at = (size_t)first * 8;
    const size_t to =
        (size_t)end * 8 < copying->size ? (size_t)end * 8 : copying->size;

    (void)slice;
    memcpy(copying->to + at, copying->from + at, to - at);
}

void pool_copy(struct pool *pool, void *to, const void *from, size_t size)
{
    struct copying copying = {.to = to, .from = from, .size = size};
    const size_t words = size / 8 + (size % 8 != 0);

    CHECK(words <= UINT32_MAX);
    (void)pool_slices(pool, (uint32_t)words, COPY_LEAST, copy_slice, &copying);
}
