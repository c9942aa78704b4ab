/*
 * judge.c - a compute thread of the coordinator for pieces about which two
 * workers disagree (Byzantine answers).
 */
#include "node/star/judge.h"

#include <string.h>

#include "base/check.h"
#include "base/mem.h"
#include "eval/registry.h"
#include "math/exact/tally.h"
#include "os/run/threads.h"

struct judge_thread {
    struct pool *pool;
    struct evaluator *evaluator;
    struct task *task; /* Its thread owns the fields below while busy. */
    struct computation asked;
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

    judge->err = evaluator_run(judge->evaluator, &judge->asked, NULL);
}

static void judge_done(void *context)
{
    struct judge_thread *judge = context;

    judge->done(judge->context);
}

static enum err make(struct judge_thread *judge, const struct shelf *shelf,
                     const struct job *job)
{
    enum err err = threads_new(1, &judge->pool);

    if (err == ERR_OK)
        err =
            evaluator_open(&job->brief, shelf, judge->pool, &judge->evaluator);
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

enum err judge_new(struct loop *loop, const struct shelf *shelf,
                   const struct job *job, loop_callback done, void *context,
                   struct judge_thread **judge)
{
    struct judge_thread *made = mem_new(1, sizeof *made);
    enum err err;

    if (made == NULL)
        return ERR_NOMEM;
    made->done = done;
    made->context = context;
    err = make(made, shelf, job);
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
    evaluator_close(judge->evaluator);
    threads_free(judge->pool);
    mem_free(judge->w);
    mem_free(judge->v);
    mem_free(judge->exponent);
    mem_free(judge);
}

void judge_start(struct judge_thread *judge, const struct action *action)
{
    struct computation *const asked = &judge->asked;

    CHECK(!task_busy(judge->task));
    *asked = action->computation;
    memcpy(judge->w, asked->what.w, judge->dims * sizeof *judge->w);
    asked->what.w = judge->w;
    if (asked->what.v != NULL) {
        memcpy(judge->v, asked->what.v, judge->dims * sizeof *judge->v);
        asked->what.v = judge->v;
    }
    memcpy(judge->exponent, asked->exponent,
           ((size_t)asked->tally->dims + 1) * sizeof *judge->exponent);
    asked->exponent = judge->exponent;
    task_start(judge->task);
}

enum err judge_err(const struct judge_thread *judge)
{
    return judge->err;
}
