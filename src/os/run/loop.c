/*
 * loop.c - loop, timers and signals on libuv.
 *
 * libuv's rule for every handle: uv_close, and its memory stays until the
 * close callback has run.  So each object is one heap block that frees itself
 * in that callback.
 */
#include "os/run/loop.h"

#include <signal.h>
#include <stdint.h>
#include <time.h>

#include "base/check.h"
#include "base/mem.h"
#include "os/clock.h"
#include "os/run/loop_parts.h"
#include "os/run/signals.h"

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

/* A peer that is gone is an error of our write, not the end of our process: nor
 * of that of a user whose thread this is, so its mask is as before. */
static void run(struct loop *loop)
{
    const struct timespec at_once = {0};
    sigset_t pipe, before;

    sigemptyset(&pipe);
    sigaddset(&pipe, SIGPIPE);
    (void)pthread_sigmask(SIG_BLOCK, &pipe, &before);
    (void)uv_run(&loop->uv, UV_RUN_DEFAULT);
    if (!sigismember(&before, SIGPIPE))
        (void)sigtimedwait(&pipe, NULL, &at_once);
    (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
}

void loop_free(struct loop *loop)
{
    if (loop == NULL)
        return;
    run(loop);
    CHECK(uv_loop_close(&loop->uv) == 0); /* Else something was not freed. */
    conn_scratch_free(loop->scratch);
    mem_free(loop);
}

void loop_run(struct loop *loop)
{
    run(loop);
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
    int last; /* Number of the one that came last. */
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

    alerts->last = number;
    alerts->alert(alerts->context);
}

bool alerts_asked(const struct alerts *alerts)
{
    return alerts->last == SIGUSR1;
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
    interrupt = interrupt && !signals_ignored(SIGINT);
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
