#define _GNU_SOURCE
/*
 * threads.c - a fork-join thread pool.  Items are taken from one counter; the
 * mutex at the beginning and the end of a run orders all that they read and
 * wrote.
 */
#include "os/run/threads.h"

#include <pthread.h>
#include <sched.h>
#include <stdbool.h>

#include "base/check.h"
#include "base/mem.h"
#include "os/run/thread.h"

struct hand {
    struct threads *pool;
    uint32_t number; /* 1 and up; 0 is the owner. */
    pthread_t thread;
};

struct threads {
    struct pool pool; /* First: run gets a pointer to it. */
    struct hand *hands;
    uint32_t started;
    uint32_t next; /* Atomic: the next item nobody has taken. */

    pthread_mutex_t mutex; /* Guards all below. */
    pthread_cond_t go;     /* `turn` went up, or `ending`. */
    pthread_cond_t done;   /* `busy` fell to 0. */
    uint64_t turn;         /* Runs begun. */
    uint32_t busy;         /* Hands that have not finished this turn. */
    bool ending;
    pool_item item;
    void *context;
    uint32_t items;
};

/* Take items until none is left.  Relaxed is enough: the mutex orders what the
 * items read and wrote. */
static void take_items(struct threads *pool, uint32_t thread, pool_item item,
                       void *context, uint32_t items)
{
    for (;;) {
        const uint32_t i = __atomic_fetch_add(&pool->next, 1, __ATOMIC_RELAXED);

        if (i >= items)
            return;
        item(context, thread, i);
    }
}

static void *hand_main(void *argument)
{
    struct hand *hand = argument;
    struct threads *pool = hand->pool;
    uint64_t seen = 0;

    pthread_mutex_lock(&pool->mutex);
    for (;;) {
        while (pool->turn == seen && !pool->ending)
            pthread_cond_wait(&pool->go, &pool->mutex);
        if (pool->ending)
            break;
        seen = pool->turn;
        pthread_mutex_unlock(&pool->mutex);
        take_items(pool, hand->number, pool->item, pool->context, pool->items);
        pthread_mutex_lock(&pool->mutex);
        pool->busy--;
        if (pool->busy == 0)
            pthread_cond_signal(&pool->done);
    }
    pthread_mutex_unlock(&pool->mutex);
    return NULL;
}

static void threads_run(struct pool *base, pool_item item, void *context,
                        uint32_t items)
{
    struct threads *pool = (struct threads *)base;

    CHECK(items <= UINT32_MAX - THREADS_MAX); /* `next` must not wrap. */
    pthread_mutex_lock(&pool->mutex);
    CHECK(pool->busy == 0);
    pool->item = item;
    pool->context = context;
    pool->items = items;
    __atomic_store_n(&pool->next, 0, __ATOMIC_RELAXED);
    pool->busy = pool->started;
    pool->turn++;
    pthread_cond_broadcast(&pool->go);
    pthread_mutex_unlock(&pool->mutex);

    take_items(pool, 0, item, context, items);

    pthread_mutex_lock(&pool->mutex);
    while (pool->busy > 0)
        pthread_cond_wait(&pool->done, &pool->mutex);
    pthread_mutex_unlock(&pool->mutex);
}

enum err threads_new(uint32_t threads, struct pool **pool)
{
    struct threads *made;

    CHECK(threads > 0 && threads <= THREADS_MAX);
    made = mem_new(1, sizeof *made);
    if (made == NULL)
        return ERR_NOMEM;
    made->pool = (struct pool){.threads = threads, .run = threads_run};
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

void threads_free(struct pool *pool)
{
    struct threads *made = (struct threads *)pool;

    if (pool == NULL)
        return;
    pthread_mutex_lock(&made->mutex);
    made->ending = true;
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
