#define _GNU_SOURCE
/*
 * threads.c - a fork-join thread pool.
 *
 * One word, the gate, says which run is on, whether it may still be entered,
 * and how many hands are inside.  The owner opens it, works too, shuts it when
 * no item is left, and waits for those inside: a hand that came too late, or
 * was not woken in time, is not waited for.  What the gate orders is what items
 * read and wrote.
 */
#include "os/run/threads.h"

#include <assert.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <unistd.h>

#include "base/check.h"
#include "base/mem.h"
#include "os/clock.h"
#include "os/run/pause.h"
#include "os/run/thread.h"

#define GATE_INSIDE UINT64_C(0xffff) /* Hands. */
#define GATE_SHUT   UINT64_C(0x10000)
#define GATE_RUN    UINT64_C(0x20000) /* Runs are counted in these. */
#define MASK_ITEMS  64u

static_assert(THREADS_MAX <= GATE_INSIDE, "all may be inside");

struct hand {
    struct threads *pool;
    uint32_t number; /* 1 and up; 0 is the owner. */
    pthread_t thread;
};

struct threads {
    struct pool pool; /* First: run gets a pointer to it. */
    struct hand *hands;
    uint32_t started;
    time_us awake_us; /* Who waits looks again and again for so long. */

    /* Of the run: the owner's while nobody is inside. */
    pool_item item;
    void *context;
    uint32_t items;
    _Alignas(MEM_LINE) _Atomic uint64_t gate;
    _Alignas(MEM_LINE) _Atomic uint64_t taken; /* Few items: a bit each; many:
                                                  so many. */

    pthread_mutex_t mutex; /* For those who sleep. */
    pthread_cond_t go;     /* The gate was opened, or `ending`. */
    pthread_cond_t done;   /* Nobody is inside. */
    _Atomic uint32_t sleepers;
    _Atomic bool owner_sleeps;
    _Atomic bool ending;
};

/* --- items ---------------------------------------------------------------- */

static bool take(struct threads *pool, uint32_t item)
{
    const uint64_t bit = UINT64_C(1) << item;

    return (atomic_load_explicit(&pool->taken, memory_order_relaxed) & bit) ==
               0 &&
           (atomic_fetch_or_explicit(&pool->taken, bit, memory_order_relaxed) &
            bit) == 0;
}

static void try_one(struct threads *pool, uint32_t thread, uint32_t item)
{
    if (take(pool, item))
        pool->item(pool->context, thread, item);
}

/* Its own share first, which it had in the last run, too; then what others
 * would come to last. */
static void take_few(struct threads *pool, uint32_t thread)
{
    const uint32_t items = pool->items, threads = pool->pool.threads;
    const uint32_t first = thread * items / threads;
    const uint32_t end = (thread + 1) * items / threads;

    for (uint32_t item = first; item < end; item++)
        try_one(pool, thread, item);
    for (uint32_t i = 1; i <= items - (end - first); i++)
        try_one(pool, thread, (first + items - i) % items);
}

static void take_many(struct threads *pool, uint32_t thread)
{
    for (;;) {
        const uint64_t i =
            atomic_fetch_add_explicit(&pool->taken, 1, memory_order_relaxed);

        if (i >= pool->items)
            return;
        pool->item(pool->context, thread, (uint32_t)i);
    }
}

static void take_items(struct threads *pool, uint32_t thread)
{
    if (pool->items <= MASK_ITEMS)
        take_few(pool, thread);
    else
        take_many(pool, thread);
}

/* --- hands ---------------------------------------------------------------- */

static bool may_enter(struct threads *pool, uint64_t seen)
{
    const uint64_t gate = atomic_load(&pool->gate);

    return (gate & GATE_SHUT) == 0 && gate / GATE_RUN != seen;
}

static bool enter(struct threads *pool, uint64_t *seen)
{
    uint64_t gate = atomic_load(&pool->gate);

    while ((gate & GATE_SHUT) == 0 && gate / GATE_RUN != *seen) {
        if (atomic_compare_exchange_weak(&pool->gate, &gate, gate + 1)) {
            *seen = gate / GATE_RUN;
            return true;
        }
    }
    return false;
}

/* The last one out wakes the owner, if it sleeps: one of the two sees what the
 * other has written. */
static void leave(struct threads *pool)
{
    const uint64_t gate = atomic_fetch_sub(&pool->gate, 1);

    if ((gate & GATE_INSIDE) > 1 || !atomic_load(&pool->owner_sleeps))
        return;
    pthread_mutex_lock(&pool->mutex);
    pthread_cond_signal(&pool->done);
    pthread_mutex_unlock(&pool->mutex);
}

/* True: there is a run to enter, or the end has come. */
static bool called(struct threads *pool, uint64_t seen)
{
    return may_enter(pool, seen) || atomic_load(&pool->ending);
}

static bool stay_awake(struct threads *pool, uint64_t seen)
{
    const time_us until = clock_now_us() + pool->awake_us;

    while (!called(pool, seen)) {
        if (clock_now_us() > until)
            return false;
        processor_pause();
    }
    return true;
}

/* As with leave: who opens the gate looks for sleepers afterwards. */
static void await(struct threads *pool, uint64_t seen)
{
    if (pool->awake_us > 0 && stay_awake(pool, seen))
        return;
    pthread_mutex_lock(&pool->mutex);
    atomic_fetch_add(&pool->sleepers, 1);
    while (!called(pool, seen))
        pthread_cond_wait(&pool->go, &pool->mutex);
    atomic_fetch_sub(&pool->sleepers, 1);
    pthread_mutex_unlock(&pool->mutex);
}

static void *hand_main(void *argument)
{
    struct hand *hand = argument;
    struct threads *pool = hand->pool;
    uint64_t seen = 0;

    while (!atomic_load(&pool->ending)) {
        if (!enter(pool, &seen)) {
            await(pool, seen);
            continue;
        }
        take_items(pool, hand->number);
        leave(pool);
    }
    return NULL;
}

/* --- the owner ------------------------------------------------------------ */

static void wake_hands(struct threads *pool)
{
    if (atomic_load(&pool->sleepers) == 0)
        return;
    pthread_mutex_lock(&pool->mutex);
    pthread_cond_broadcast(&pool->go);
    pthread_mutex_unlock(&pool->mutex);
}

static bool is_empty(struct threads *pool)
{
    return (atomic_load(&pool->gate) & GATE_INSIDE) == 0;
}

static void await_hands(struct threads *pool)
{
    const time_us until = clock_now_us() + pool->awake_us;

    while (!is_empty(pool) && pool->awake_us > 0 && clock_now_us() < until)
        processor_pause();
    if (is_empty(pool))
        return;
    pthread_mutex_lock(&pool->mutex);
    atomic_store(&pool->owner_sleeps, true);
    while (!is_empty(pool))
        pthread_cond_wait(&pool->done, &pool->mutex);
    atomic_store(&pool->owner_sleeps, false);
    pthread_mutex_unlock(&pool->mutex);
}

static void threads_run(struct pool *base, pool_item item, void *context,
                        uint32_t items)
{
    struct threads *pool = (void *)base;
    const uint64_t run = atomic_load(&pool->gate) / GATE_RUN + 1;

    CHECK(is_empty(pool));
    if (items == 0)
        return;
    pool->item = item;
    pool->context = context;
    pool->items = items;
    atomic_store_explicit(&pool->taken, 0, memory_order_relaxed);
    atomic_store(&pool->gate, run * GATE_RUN);
    if (items > 1)
        wake_hands(pool);
    take_items(pool, 0);
    (void)atomic_fetch_or(&pool->gate, GATE_SHUT);
    await_hands(pool);
}

static enum err make(uint32_t threads, time_us awake_us, struct pool **pool)
{
    struct threads *made;

    CHECK(threads > 0 && threads <= THREADS_MAX);
    made = mem_new(1, sizeof *made);
    if (made == NULL)
        return ERR_NOMEM;
    made->pool = (struct pool){.threads = threads, .run = threads_run};
    made->awake_us = awake_us;
    atomic_init(&made->gate, GATE_SHUT);
    pthread_mutex_init(&made->mutex, NULL);
    pthread_cond_init(&made->go, NULL);
    pthread_cond_init(&made->done, NULL);
    made->hands = mem_new(threads, sizeof *made->hands);
    for (uint32_t i = 0; made->hands != NULL && i + 1 < threads; i++) {
        made->hands[i] = (struct hand){.pool = made, .number = i + 1};
        if (thread_masked(&made->hands[i].thread, hand_main, &made->hands[i]) !=
            0)
            break;
        made->started++;
    }
    if (made->started + 1 < threads || made->hands == NULL) {
        threads_free(&made->pool);
        return ERR_NOMEM;
    }
    *pool = &made->pool;
    return ERR_OK;
}

enum err threads_new(uint32_t threads, struct pool **pool)
{
    return make(threads, 0, pool);
}

enum err threads_new_spinning(uint32_t threads, time_us awake_us,
                              struct pool **pool)
{
    return make(threads, awake_us, pool);
}

void threads_free(struct pool *pool)
{
    struct threads *made = (void *)pool;

    if (pool == NULL)
        return;
    pthread_mutex_lock(&made->mutex);
    atomic_store(&made->ending, true);
    pthread_cond_broadcast(&made->go);
    pthread_mutex_unlock(&made->mutex);
    for (uint32_t i = 0; i < made->started; i++)
        pthread_join(made->hands[i].thread, NULL);
    pthread_cond_destroy(&made->done);
    pthread_cond_destroy(&made->go);
    pthread_mutex_destroy(&made->mutex);
    mem_free(made->hands);
    mem_free(made);
}

uint32_t threads_online(void)
{
    const long count = sysconf(_SC_NPROCESSORS_ONLN);

    return count < 1 ? 1 : (uint32_t)count;
}

uint32_t threads_available(void)
{
    cpu_set_t set;
    int count;

    CPU_ZERO(&set);
    if (sched_getaffinity(0, sizeof set, &set) != 0)
        return 1;
    count = CPU_COUNT(&set);
    return count < 1 ? 1 : (uint32_t)count;
}
