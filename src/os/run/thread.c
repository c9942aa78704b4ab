/*
 * thread.c - a thread with all signals masked, a condition variable (gate) and
 * a wake-up of a loop from another thread (bell).
 */
#include "os/run/thread.h"

#include <signal.h>

#include "base/mem.h"
#include "os/run/loop_parts.h"

struct thread {
    pthread_t id;
    loop_callback main;
    void *context;
};

static void *thread_main(void *argument)
{
    struct thread *thread = argument;

    thread->main(thread->context);
    return NULL;
}

int thread_masked(pthread_t *id, void *(*main)(void *), void *context)
{
    sigset_t all, old;
    int error;

    sigfillset(&all);
    sigdelset(&all, SIGBUS);
    pthread_sigmask(SIG_SETMASK, &all, &old);
    error = pthread_create(id, NULL, main, context);
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    return error;
}

enum err thread_start(loop_callback main, void *context, struct thread **thread)
{
    struct thread *made = mem_new(1, sizeof *made);

    if (made == NULL)
        return ERR_NOMEM;
    made->main = main;
    made->context = context;
    if (thread_masked(&made->id, thread_main, made) != 0) {
        mem_free(made);
        return ERR_NOMEM;
    }
    *thread = made;
    return ERR_OK;
}

void thread_join(struct thread *thread)
{
    if (thread == NULL)
        return;
    pthread_join(thread->id, NULL);
    mem_free(thread);
}

struct bell {
    uv_async_t async;
    loop_callback rung;
    void *context;
};

static void on_ring(uv_async_t *async)
{
    struct bell *bell = async->data;

    bell->rung(bell->context);
}

enum err bell_new(struct loop *loop, loop_callback rung, void *context,
                  struct bell **bell)
{
    struct bell *made = mem_new(1, sizeof *made);

    if (made == NULL)
        return ERR_NOMEM;
    made->rung = rung;
    made->context = context;
    if (uv_async_init(&loop->uv, &made->async, on_ring) != 0) {
        mem_free(made);
        return ERR_NOMEM;
    }
    made->async.data = made;
    *bell = made;
    return ERR_OK;
}

void bell_ring(struct bell *bell)
{
    (void)uv_async_send(&bell->async);
}

static void bell_release(uv_handle_t *handle)
{
    mem_free(handle->data);
}

void bell_free(struct bell *bell)
{
    if (bell != NULL)
        uv_close((uv_handle_t *)&bell->async, bell_release);
}

void gate_init(struct gate *gate)
{
    pthread_mutex_init(&gate->mutex, NULL);
    pthread_cond_init(&gate->changed, NULL);
}

void gate_close(struct gate *gate)
{
    pthread_cond_destroy(&gate->changed);
    pthread_mutex_destroy(&gate->mutex);
}

void gate_lock(struct gate *gate)
{
    pthread_mutex_lock(&gate->mutex);
}

void gate_unlock(struct gate *gate)
{
    pthread_mutex_unlock(&gate->mutex);
}

void gate_wait(struct gate *gate)
{
    pthread_cond_wait(&gate->changed, &gate->mutex);
}

void gate_signal(struct gate *gate)
{
    pthread_cond_broadcast(&gate->changed);
}
