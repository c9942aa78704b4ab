/*
 * compute.c - the compute thread of a peer, and short computations without it.
 */
#include "node/ring/compute.h"

#include "base/check.h"
#include "base/mem.h"
#include "eval/registry.h"
#include "node/worker/in_loop.h"
#include "os/clock.h"
#include "os/run/threads.h"

/* Not worth a thread's waking, and far less than the time between two beats.
 * What is called off, when a view is over, is so long in ending. */
#define SHORT_US 4000

struct compute {
    struct pool *pool;
    struct evaluator *evaluator;
    struct flag cancel;
    loop_callback done;
    void *context;
    struct task *task; /* Its thread owns the next three while busy. */
    struct computation work;
    enum err err;
    int64_t took_us;
    struct in_loop in_loop;
    bool due;
    int64_t here_us; /* The loop has been kept, in all. */
};

static void carry_out(void *context)
{
    struct compute *compute = context;
    const time_us began = clock_now_us();

    compute->err =
        evaluator_run(compute->evaluator, &compute->work, &compute->cancel);
    compute->took_us = clock_now_us() - began;
}

static void end(struct compute *compute)
{
    evaluator_end(compute->evaluator);
    in_loop_note(&compute->in_loop, &compute->work, compute->err,
                 compute->took_us);
}

static void carried_out(void *context)
{
    struct compute *compute = context;

    end(compute);
    compute->done(compute->context);
}

enum err compute_new(struct loop *loop, const struct brief *brief,
                     const struct shelf *shelf, uint32_t threads,
                     loop_callback done, void *context,
                     struct compute **compute)
{
    struct compute *made = mem_new(1, sizeof *made);
    enum err err;

    if (made == NULL)
        return ERR_NOMEM;
    made->done = done;
    made->context = context;
    err = threads_new(threads, &made->pool);
    if (err == ERR_OK)
        err = evaluator_open(brief, shelf, made->pool, &made->evaluator);
    if (err == ERR_OK)
        err = task_new(loop, carry_out, carried_out, made, &made->task);
    if (err == ERR_OK)
        *compute = made;
    else
        compute_free(made);
    return err;
}

void compute_free(struct compute *compute)
{
    if (compute == NULL)
        return;
    flag_raise(&compute->cancel);
    task_free(compute->task);
    evaluator_close(compute->evaluator);
    threads_free(compute->pool);
    mem_free(compute);
}

uint32_t compute_chunks(const struct compute *compute)
{
    return compute->evaluator->chunks;
}

enum err compute_start(struct compute *compute, const struct computation *work)
{
    const enum err err = evaluator_begin(compute->evaluator, work);

    CHECK(!compute->due && !task_busy(compute->task));
    if (err != ERR_OK)
        return err;
    compute->work = *work;
    flag_lower(&compute->cancel);
    compute->due = compute->evaluator->ops->anywhere &&
                   in_loop_fits(&compute->in_loop, work, SHORT_US);
    if (!compute->due)
        task_start(compute->task);
    return ERR_OK;
}

void compute_cancel(struct compute *compute)
{
    flag_raise(&compute->cancel);
}

void compute_turn(struct compute *compute)
{
    in_loop_looked(&compute->in_loop);
}

bool compute_due(const struct compute *compute)
{
    return compute->due;
}

void compute_here(struct compute *compute)
{
    CHECK(compute->due);
    compute->due = false;
    carry_out(compute);
    end(compute);
    in_loop_kept(&compute->in_loop, compute->took_us);
    compute->here_us += compute->took_us;
}

int64_t compute_here_us(const struct compute *compute)
{
    return compute->here_us;
}

struct computed compute_result(const struct compute *compute)
{
    return (struct computed){.err = compute->err,
                             .took_us = compute->took_us,
                             .chunks = compute->work.end - compute->work.first};
}
