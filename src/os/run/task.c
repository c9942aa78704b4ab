/*
 * task.c - a thread beside the loop that does one piece of work at a time.
 *
 * The loop sets `wanted`, the thread works and sets `finished`; the mutex
 * orders what both sides read and write in between.
 */
#include <pthread.h>

#include "base/check.h"
#include "base/mem.h"
#include "os/run/loop.h"
#include "os/run/loop_parts.h"
#include "os/run/thread.h"

struct task {
    uv_async_t async;
    loop_callback work;
    loop_callback done;
    void *context;
    bool busy; /* The loop's view: started and `done` not yet called. */
    pthread_t thread;

    pthread_mutex_t mutex; /* Guards all below. */
    pthread_cond_t wake;
    bool wanted;   /* Work was asked for. */
    bool finished; /* Work is done and `done` not yet called. */
    bool ending;
};

static void *task_main(void *argument)
{
    struct task *task = argument;

    pthread_mutex_lock(&task->mutex);
    for (;;) {
        while (!task->wanted && !task->ending)
            pthread_cond_wait(&task->wake, &task->mutex);
        if (task->ending)
            break;
        task->wanted = false;
        pthread_mutex_unlock(&task->mutex);
        task->work(task->context);
        pthread_mutex_lock(&task->mutex);
        task->finished = true;
        /* Whoever is woken wants the mutex at once: it is free by then. */
        pthread_mutex_unlock(&task->mutex);
        (void)uv_async_send(&task->async);
        pthread_mutex_lock(&task->mutex);
    }
    pthread_mutex_unlock(&task->mutex);
    return NULL;
}

static void task_reported(uv_async_t *async)
{
    struct task *task = async->data;
    bool finished;

    pthread_mutex_lock(&task->mutex);
    finished = task->finished;
    task->finished = false;
    pthread_mutex_unlock(&task->mutex);
    if (!finished)
        return; /* libuv may wake once too often. */
    task->busy = false;
    task->done(task->context);
}

static void task_release(uv_handle_t *handle)
{
    struct task *task = handle->data;

    pthread_cond_destroy(&task->wake);
    pthread_mutex_destroy(&task->mutex);
    mem_free(task);
}

enum err task_new(struct loop *loop, loop_callback work, loop_callback done,
                  void *context, struct task **task)
{
    struct task *made = mem_new(1, sizeof *made);

    if (made == NULL)
        return ERR_NOMEM;
    if (uv_async_init(&loop->uv, &made->async, task_reported) != 0) {
        mem_free(made);
        return ERR_NOMEM;
    }
    made->async.data = made;
    made->work = work;
    made->done = done;
    made->context = context;
    pthread_mutex_init(&made->mutex, NULL);
    pthread_cond_init(&made->wake, NULL);
    if (thread_masked(&made->thread, task_main, made) != 0) {
        uv_close((uv_handle_t *)&made->async, task_release);
        return ERR_NOMEM;
    }
    *task = made;
    return ERR_OK;
}

void task_start(struct task *task)
{
    CHECK(!task->busy);
    task->busy = true;
    pthread_mutex_lock(&task->mutex);
    task->wanted = true;
    pthread_mutex_unlock(&task->mutex);
    pthread_cond_signal(&task->wake);
}

bool task_busy(const struct task *task)
{
    return task->busy;
}

void task_free(struct task *task)
{
    if (task == NULL)
        return;
    pthread_mutex_lock(&task->mutex);
    task->ending = true;
    pthread_cond_signal(&task->wake);
    pthread_mutex_unlock(&task->mutex);
    pthread_join(task->thread, NULL);
    uv_close((uv_handle_t *)&task->async, task_release);
}
