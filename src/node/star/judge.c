/*
 * judge.c - a compute thread of the coordinator for pieces about which two
 * workers disagree (Byzantine answers).
 */
#include "node/star/judge.h"

#include <string.h>

#include "base/check.h"
#include "base/mem.h"
#include "node/eval/compute.h"
#include "os/run/threads.h"

struct judge_thread {
    struct pool *pool;
    struct compute compute;
    struct task *task; /* Its thread owns the fields below while busy. */
    struct compute_work work;
    uint32_t dims;
    double *w, *v;
    int16_t *exponent;
    enum err err;
    loop_callback done;
    void *context;
};

static void judge_work(void *context)
{
    struct judge_thread *judge = context;

    judge->err = compute_run(&judge->compute, &judge->work, NULL);
}

static void judge_done(void *context)
{
    struct judge_thread *judge = context;

    judge->done(judge->context);
}

static enum err make(struct judge_thread *judge, const struct problem *problem,
                     const struct job *job)
{
    enum err err = threads_new(1, &judge->pool);

    if (err == ERR_OK)
        err = compute_init(&judge->compute, problem, job->dims, job->chunks,
                           judge->pool);
    if (err != ERR_OK)
        return err;
    judge->dims = job->dims;
    judge->w = mem_new(job->dims, sizeof *judge->w);
    judge->v = mem_new(job->dims, sizeof *judge->v);
    judge->exponent =
        mem_new((size_t)job->sum_dims + 1, sizeof *judge->exponent);
    if (judge->w == NULL || judge->v == NULL || judge->exponent == NULL)
        return ERR_NOMEM;
    return ERR_OK;
}

enum err judge_new(struct loop *loop, const struct problem *problem,
                   const struct job *job, loop_callback done, void *context,
                   struct judge_thread **judge)
{
    struct judge_thread *made = mem_new(1, sizeof *made);
    enum err err;

    if (made == NULL)
        return ERR_NOMEM;
    made->done = done;
    made->context = context;
    err = make(made, problem, job);
    if (err == ERR_OK)
        err = task_new(loop, judge_work, judge_done, made, &made->task);
    if (err == ERR_OK)
        *judge = made;
    else
        judge_free(made);
    return err;
}

void judge_free(struct judge_thread *judge)
{
    if (judge == NULL)
        return;
    task_free(judge->task);
    compute_close(&judge->compute);
    threads_free(judge->pool);
    mem_free(judge->w);
    mem_free(judge->v);
    mem_free(judge->exponent);
    mem_free(judge);
}

void judge_start(struct judge_thread *judge, const struct action *action)
{
    const struct evaluation *what = &action->computation.what;

    CHECK(!task_busy(judge->task));
    memcpy(judge->w, what->w, judge->dims * sizeof *judge->w);
    if (what->v != NULL)
        memcpy(judge->v, what->v, judge->dims * sizeof *judge->v);
    memcpy(judge->exponent, action->computation.exponent,
           ((size_t)action->computation.tally->dims + 1) *
               sizeof *judge->exponent);
    judge->work = (struct compute_work){
        .first = action->computation.first,
        .end = action->computation.end,
        .kind = what->kind,
        .soft = what->soft,
        .weights = judge->w,
        .v = what->v != NULL ? judge->v : NULL,
        .exponent = judge->exponent,
        .tally = action->computation.tally,
        .round = action->computation.round,
    };
    task_start(judge->task);
}

enum err judge_err(const struct judge_thread *judge)
{
    return judge->err;
}
