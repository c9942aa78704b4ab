/*
 * compute.c - parallel evaluation of chunks into one tally.  Threads have
 * tallies of their own, or, where those would be too large, divide rows and
 * then columns.
 */
#include "node/eval/compute.h"

#include "base/check.h"
#include "base/mem.h"

/* What parts may take, but for the first thread's; above that it is shared. */
#define PARTS_BYTES ((uint64_t)8 << 20)
#define SHARE_ROWS  65536u /* Residuals that are known at a time. */
#define SPANS       2u     /* Of columns, for each thread. */

static uint32_t lesser(uint32_t a, uint32_t b)
{
    return a < b ? a : b;
}

static bool has_large_parts(const struct compute *compute, uint32_t dims)
{
    return (uint64_t)(compute->threads - 1) * dims * sizeof(int64_t) >
           PARTS_BYTES;
}

static enum err share_init(struct compute *compute, uint32_t chunks)
{
    const uint32_t rows = compute->problem.data->chunk_rows;
    const uint32_t most = rows < SHARE_ROWS ? SHARE_ROWS / rows : 1;

    compute->share.chunks = lesser(most, chunks);
    compute->share.r =
        mem_new((size_t)compute->share.chunks * rows, sizeof(double));
    compute->share.losses = mem_new(compute->share.chunks, sizeof(double));
    compute->share.spans =
        mem_new((size_t)SPANS * compute->threads + 1, sizeof(uint32_t));
    return compute->share.r != NULL && compute->share.losses != NULL &&
                   compute->share.spans != NULL
               ? ERR_OK
               : ERR_NOMEM;
}

static enum err parts_init(struct compute *compute, uint32_t dims,
                           uint32_t chunks)
{
    enum err err = ERR_OK;

    for (uint32_t i = 1; err == ERR_OK && i < compute->threads; i++)
        err = tally_init(&compute->parts[i], dims, chunks);
    return err;
}

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
    }
    if (err == ERR_OK)
        err = has_large_parts(&made, dims) &&
                      problem_shares(problem, EVALUATE_GRADIENT)
                  ? share_init(&made, chunks)
                  : parts_init(&made, dims, chunks);
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
    mem_free(compute->share.r);
    mem_free(compute->share.losses);
    mem_free(compute->share.spans);
    problem_round_close(&compute->round);
    *compute = (struct compute){0};
}

struct run {
    struct compute *compute;
    const struct compute_work *work;
    const struct flag *cancel;
    struct evaluation what;
    uint32_t batch; /* Chunks of an item. */
    struct problem_share share;
};

/* May this thread go on? */
static bool goes_on(const struct run *run, enum err *err)
{
    if (*err == ERR_OK && run->cancel != NULL && flag_raised(run->cancel))
        *err = ERR_CANCELLED;
    return *err == ERR_OK;
}

/* The first error of any thread. */
static enum err any_error(const struct compute *compute)
{
    for (uint32_t i = 0; i < compute->threads; i++) {
        if (compute->errs[i] != ERR_OK)
            return compute->errs[i];
    }
    return ERR_OK;
}

/* --- parts for each thread ----------------------------------------------- */

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

    if (goes_on(run, err))
        *err = problem_add_batch(&compute->problem, &compute->round, &run->what,
                                 first, lesser(left, run->batch),
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

static enum err run_parts(struct run *run)
{
    struct compute *const compute = run->compute;
    const struct compute_work *const work = run->work;
    const uint32_t chunks = work->end - work->first;
    enum err err = clear_parts(compute, work->tally);

    if (err != ERR_OK)
        return err;
    fill_tallies(compute, work);
    run->batch = problem_batch(&compute->problem, work->kind);
    compute->pool->run(compute->pool, one_batch, run,
                       chunks / run->batch + (chunks % run->batch != 0));
    for (uint32_t i = 0; i < compute->threads; i++)
        problem_settle(&compute->problem, compute->scratch[i],
                       tally_of(run, i));
    err = any_error(compute);
    for (uint32_t i = 1; i < compute->threads && err == ERR_OK; i++)
        err = tally_merge(work->tally, &compute->parts[i]);
    return err;
}

/* --- one tally for all --------------------------------------------------- */

static bool shares(const struct compute *compute,
                   const struct compute_work *work)
{
    return compute->share.r != NULL &&
           problem_shares(&compute->problem, work->kind) &&
           work->tally->dims == problem_dims(&compute->problem);
}

static void one_chunk(void *context, uint32_t thread, uint32_t item)
{
    const struct run *run = context;
    struct compute *compute = run->compute;
    const size_t rows = compute->problem.data->chunk_rows;
    enum err *err = &compute->errs[thread];

    if (goes_on(run, err))
        *err = problem_residuals(
            &compute->problem, &compute->round, &run->what,
            run->share.chunk + item, compute->scratch[thread],
            compute->share.r + item * rows, &compute->share.losses[item]);
}

static void one_span(void *context, uint32_t thread, uint32_t item)
{
    const struct run *run = context;
    const uint32_t *const at = run->compute->share.spans + item;
    enum err *err = &run->compute->errs[thread];

    if (goes_on(run, err))
        *err = problem_add_columns(&run->compute->problem, &run->share, at[0],
                                   at[1], run->work->tally);
}

static enum err mark_chunks(const struct run *run)
{
    struct tally *const tally = run->work->tally;
    const int16_t *const exponent = run->work->exponent;
    const double *loss = run->compute->share.losses;

    for (uint32_t k = run->share.chunk; k < run->share.end_chunk; k++, loss++) {
        if (!tally_loss_fits(tally, exponent, *loss))
            return ERR_RANGE;
        tally_mark(tally, exponent, k, *loss);
    }
    return ERR_OK;
}

/* A few chunks: rows, then columns. */
static enum err share_some(struct run *run)
{
    struct compute *const compute = run->compute;
    struct pool *const pool = compute->pool;
    enum err err;

    pool->run(pool, one_chunk, run, run->share.end_chunk - run->share.chunk);
    err = any_error(compute);
    if (err != ERR_OK)
        return err;
    pool->run(pool, one_span, run, SPANS * compute->threads);
    err = any_error(compute);
    if (err == ERR_OK)
        err = mark_chunks(run);
    return err;
}

static void cut_spans(struct compute *compute, const struct compute_work *work)
{
    if (!compute->share.cut)
        problem_spans(&compute->problem, work->first, work->end,
                      SPANS * compute->threads, compute->share.spans);
    compute->share.cut = true;
}

static enum err run_shared(struct run *run)
{
    struct compute *const compute = run->compute;
    const struct compute_work *const work = run->work;
    enum err err;

    cut_spans(compute, work);
    run->share = (struct problem_share){.r = compute->share.r,
                                        .exponent = work->exponent};
    err = problem_share_begin(&compute->problem, &run->share);
    for (uint32_t k = work->first; err == ERR_OK && k < work->end;
         k = run->share.end_chunk) {
        run->share.chunk = k;
        run->share.end_chunk = k + lesser(work->end - k, compute->share.chunks);
        err = share_some(run);
    }
    return err;
}

/* --- both ---------------------------------------------------------------- */

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
        .what = {.kind = work->kind,
                 .w = work->weights,
                 .v = work->v,
                 .soft = work->soft},
    };
    enum err err = prepare(compute, work, &run.what);

    if (err != ERR_OK)
        return err;
    for (uint32_t i = 0; i < compute->threads; i++)
        compute->errs[i] = ERR_OK;
    err = shares(compute, work) ? run_shared(&run) : run_parts(&run);
    CHECK(err != ERR_OVERLAP); /* Each chunk is in one item. */
    tally_fill(work->tally);   /* If nothing was added. */
    return err;
}
