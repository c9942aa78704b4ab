/*
 * loop.h - one thread, one event loop (libuv behind it).
 *
 * All objects made on a loop belong to its thread; nothing here may be called
 * from another one.  A task is the exception by design: its `work` runs on a
 * thread of its own and its `done` back on the loop.
 *
 * Lifetimes: free what was made on a loop before the loop; loop_free then lets
 * what is still closing come to its end.
 */
#ifndef OS_LOOP_H
#define OS_LOOP_H

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"
#include "base/time.h"

struct loop;
struct timer;
struct task;
struct outlet;
struct alerts;

typedef void (*loop_callback)(void *context);

MUST_CHECK enum err loop_new(struct loop **loop);
void loop_free(struct loop *loop); /* Accepts NULL, as do all below. */
/* Serve events until loop_stop.  SIGPIPE is held back meanwhile. */
void loop_run(struct loop *loop);
void loop_stop(struct loop *loop);

/* One shot: `due` once at `at` or soon after; at TIME_NEVER not at all. */
MUST_CHECK enum err timer_new(struct loop *loop, loop_callback due,
                              void *context, struct timer **timer);
void timer_at(struct timer *timer, time_us at);
void timer_free(struct timer *timer);

/* SIGTERM and SIGUSR1 (and SIGINT, if asked for and not ignored) call `alert`
 * on the loop. */
MUST_CHECK enum err alerts_new(struct loop *loop, bool interrupt,
                               loop_callback alert, void *context,
                               struct alerts **alerts);
/* Was the last one SIGUSR1 (process_alert)? */
bool alerts_asked(const struct alerts *alerts);
void alerts_free(struct alerts *alerts);

/* A thread that does one piece of work at a time. */
MUST_CHECK enum err task_new(struct loop *loop, loop_callback work,
                             loop_callback done, void *context,
                             struct task **task);
void task_start(struct task *task); /* Only when it is not busy. */
bool task_busy(const struct task *task);
/* Waits for the work in hand; its `done` is not called. */
void task_free(struct task *task);

/* The writing end of a pipe: takes bytes at once, writes when it can. */
MUST_CHECK enum err outlet_new(struct loop *loop, int fd,
                               struct outlet **outlet);
/* False if out of memory or the reader is gone. */
bool outlet_send(struct outlet *outlet, const void *data, size_t size);
size_t outlet_queued(const struct outlet *outlet);
/* Wait until all is written; false if the reader is gone. */
bool outlet_drain(struct outlet *outlet);
void outlet_free(struct outlet *outlet);

#endif /* OS_LOOP_H */
