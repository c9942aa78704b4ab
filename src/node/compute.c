#include "node/compute.h"

#include "base/check.h"
#include "base/mem.h"

enum err compute_init(struct compute *compute, const struct problem *problem,
                      uint32_t dims, uint32_t chunks, struct pool *pool)
{
    const uint32_t threads = pool->threads;
    struct compute made = {
        .problem = *problem, .pool = pool, .threads = threads};
    enum err err = problem_round_init(&made.round, problem);

    made.parts = mem_new(threads, sizeof *made.parts);
    made.scratch = mem_new(threads, sizeof *made.scratch);
    made.errs = mem_new(threads, sizeof *made.errs);
    if (err == ERR_OK &&
        (made.parts == NULL || made.scratch == NULL || made.errs == NULL))
        err = ERR_NOMEM;
    for (uint32_t i = 0; err == ERR_OK && i < threads; i++) {
        made.scratch[i] = mem_new(problem_scratch_bytes(problem), 1);
        if (made.scratch[i] == NULL)
            err = ERR_NOMEM;
        else if (i > 0)
            err = tally_init(&made.parts[i], dims, chunks);
    }
    if (err == ERR_OK)
        *compute = made;
    else
        compute_close(&made);
    return err;
}

void compute_close(struct compute *compute)
{
    for (uint32_t i = 0; i < compute->threads; i++) {
        if (compute->parts != NULL)
            tally_close(&compute->parts[i]);
        if (compute->scratch != NULL)
            mem_free(compute->scratch[i]);
    }
    mem_free(compute->parts);
    mem_free(compute->scratch);
    mem_free(compute->errs);
    problem_round_close(&compute->round);
    *compute = (struct compute){0};
}

struct run {
    struct compute *compute;
    const struct compute_work *work;
    const struct flag *cancel;
    struct evaluation what;
    uint32_t batch; /* Chunks of an item. */
};

/* Where a thread's chunks go: the first one's straight to the end. */
static struct tally *tally_of(const struct run *run, uint32_t thread)
{
    return thread > 0 ? &run->compute->parts[thread] : run->work->tally;
}

static void one_batch(void *context, uint32_t thread, uint32_t item)
{
    const struct run *run = context;
    struct compute *compute = run->compute;
    const uint32_t first = run->work->first + item * run->batch;
    const uint32_t left = run->work->end - first;
    enum err *err = &compute->errs[thread];

    if (*err == ERR_OK && run->cancel != NULL && flag_raised(run->cancel))
        *err = ERR_CANCELLED;
    if (*err == ERR_OK)
        *err = problem_add_batch(&compute->problem, &compute->round, &run->what,
                                 first, left < run->batch ? left : run->batch,
                                 run->work->exponent, compute->scratch[thread],
                                 tally_of(run, thread));
}

/* Parts as large as the tally that is asked for; they change size only
 * between gradients and Hessians. */
static enum err clear_parts(struct compute *compute, const struct tally *like)
{
    for (uint32_t i = 1; i < compute->threads; i++) {
        struct tally *part = &compute->parts[i];
        enum err err;

        if (part->dims != like->dims) {
            tally_close(part);
            err = tally_init(part, like->dims, like->chunks.count);
            if (err != ERR_OK)
                return err;
        }
        tally_blank(part);
    }
    return ERR_OK;
}

/* Kernels that add to the sums themselves want zeros there. */
static void fill_tallies(struct compute *compute,
                         const struct compute_work *work)
{
    if (problem_stores(&compute->problem, work->kind))
        return;
    tally_fill(work->tally);
    for (uint32_t i = 1; i < compute->threads; i++)
        tally_fill(&compute->parts[i]);
}

static enum err prepare(struct compute *compute,
                        const struct compute_work *work,
                        const struct evaluation *what)
{
    enum err err;

    if (work->round != 0 && work->round == compute->prepared)
        return ERR_OK;
    compute->prepared = 0;
    err = problem_round_prepare(&compute->round, &compute->problem, what);
    if (err == ERR_OK)
        compute->prepared = work->round;
    return err;
}

enum err compute_run(struct compute *compute, const struct compute_work *work,
                     const struct flag *cancel)
{
    struct run run = {
        .compute = compute,
        .work = work,
        .cancel = cancel,
        .what = {.kind = work->kind, .w = work->weights, .v = work->v},
    };
    const uint32_t chunks = work->end - work->first;
    enum err err = prepare(compute, work, &run.what);

    if (err == ERR_OK)
        err = clear_parts(compute, work->tally);
    if (err != ERR_OK)
        return err;
    fill_tallies(compute, work);
    for (uint32_t i = 0; i < compute->threads; i++)
        compute->errs[i] = ERR_OK;
    run.batch = problem_batch(&compute->problem, work->kind);
    compute->pool->run(compute->pool, one_batch, &run,
                       chunks / run.batch + (chunks % run.batch != 0));
    for (uint32_t i = 0; i < compute->threads; i++)
        problem_settle(&compute->problem, compute->scratch[i],
                       tally_of(&run, i));
    for (uint32_t i = 0; i < compute->threads && err == ERR_OK; i++) {
        err = compute->errs[i];
        if (err == ERR_OK && i > 0)
            err = tally_merge(work->tally, &compute->parts[i]);
    }
    CHECK(err != ERR_OVERLAP); /* Each chunk is in one item. */
    tally_fill(work->tally);   /* If nothing was added. */
    return err;
}
