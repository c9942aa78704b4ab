/*
 * loop.c - loop, timers and signals on libuv.
 *
 * libuv's rule for every handle: uv_close, and its memory stays until the
 * close callback has run.  So each object is one heap block that frees itself
 * in that callback.
 */
#define _GNU_SOURCE
#include "os/loop.h"

#include <signal.h>
#include <stdint.h>
#include <time.h>

#include "base/check.h"
#include "base/mem.h"
#include "os/clock.h"
#include "os/loop_parts.h"

#define ALERTS 3

uint64_t loop_wait_ms(time_us at)
{
    const time_us now = clock_now_us();

    if (at <= now)
        return 0;
    return (uint64_t)(at - now + MS_US - 1) / (uint64_t)MS_US;
}

enum err loop_new(struct loop **loop)
{
    struct loop *made = mem_new(1, sizeof *made);

    if (made == NULL)
        return ERR_NOMEM;
    if (uv_loop_init(&made->uv) != 0) {
        mem_free(made);
        return ERR_NOMEM;
    }
    *loop = made;
    return ERR_OK;
}

/* Writing to a connection that the other side has reset must be an error like
 * others and not the end of the process: the first write after it reports the
 * reset, and the second raises SIGPIPE.  libuv leaves that to us.  The signal
 * is held back in this thread only, and taken away if it came, because the
 * process may be somebody else's. */
static void run_unbroken(struct loop *loop)
{
    const struct timespec none = {0};
    sigset_t broken, before, pending;
    bool ours;

    sigemptyset(&broken);
    sigaddset(&broken, SIGPIPE);
    sigemptyset(&pending);
    (void)sigpending(&pending);
    ours = sigismember(&pending, SIGPIPE) == 0;
    (void)pthread_sigmask(SIG_BLOCK, &broken, &before);
    (void)uv_run(&loop->uv, UV_RUN_DEFAULT);
    if (ours)
        (void)sigtimedwait(&broken, NULL, &none);
    (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
}

void loop_free(struct loop *loop)
{
    if (loop == NULL)
        return;
    run_unbroken(loop);
    CHECK(uv_loop_close(&loop->uv) == 0); /* Else something was not freed. */
    mem_free(loop);
}

void loop_run(struct loop *loop)
{
    run_unbroken(loop);
}

void loop_stop(struct loop *loop)
{
    uv_stop(&loop->uv);
}

struct timer {
    uv_timer_t uv;
    loop_callback due;
    void *context;
    time_us at;
};

static void free_data(uv_handle_t *handle)
{
    mem_free(handle->data);
}

static void timer_fired(uv_timer_t *uv)
{
    struct timer *timer = uv->data;

    /* libuv's clock has millisecond ticks and may round down. */
    if (clock_now_us() < timer->at)
        timer_at(timer, timer->at);
    else
        timer->due(timer->context);
}

enum err timer_new(struct loop *loop, loop_callback due, void *context,
                   struct timer **timer)
{
    struct timer *made = mem_new(1, sizeof *made);

    if (made == NULL)
        return ERR_NOMEM;
    CHECK(uv_timer_init(&loop->uv, &made->uv) == 0);
    made->uv.data = made;
    made->due = due;
    made->context = context;
    *timer = made;
    return ERR_OK;
}

void timer_at(struct timer *timer, time_us at)
{
    timer->at = at;
    if (at == TIME_NEVER) {
        uv_timer_stop(&timer->uv);
        return;
    }
    uv_update_time(timer->uv.loop);
    uv_timer_start(&timer->uv, timer_fired, loop_wait_ms(at), 0);
}

void timer_free(struct timer *timer)
{
    if (timer != NULL)
        uv_close((uv_handle_t *)&timer->uv, free_data);
}

struct alerts {
    uv_signal_t uv[ALERTS];
    int open;
    loop_callback alert;
    void *context;
};

static void alert_closed(uv_handle_t *handle)
{
    struct alerts *alerts = handle->data;

    if (--alerts->open == 0)
        mem_free(alerts);
}

static void alert_came(uv_signal_t *uv, int number)
{
    struct alerts *alerts = uv->data;

    (void)number;
    alerts->alert(alerts->context);
}

void alerts_free(struct alerts *alerts)
{
    const int open = alerts == NULL ? 0 : alerts->open;

    for (int i = 0; i < open; i++)
        uv_close((uv_handle_t *)&alerts->uv[i], alert_closed);
}

enum err alerts_new(struct loop *loop, bool interrupt, loop_callback alert,
                    void *context, struct alerts **alerts)
{
    static const int numbers[ALERTS] = {SIGTERM, SIGUSR1, SIGINT};
    struct alerts *made = mem_new(1, sizeof *made);

    if (made == NULL)
        return ERR_NOMEM;
    made->alert = alert;
    made->context = context;
    for (int i = 0; i < (interrupt ? ALERTS : ALERTS - 1); i++) {
        CHECK(uv_signal_init(&loop->uv, &made->uv[i]) == 0);
        made->uv[i].data = made;
        made->open++;
        if (uv_signal_start(&made->uv[i], alert_came, numbers[i]) != 0) {
            alerts_free(made);
            return ERR_NOMEM;
        }
    }
    *alerts = made;
    return ERR_OK;
}
