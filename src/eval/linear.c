/*
 * linear.c - sums over chunks of a linear model, with as many threads as there
 * are.
 *
 * Each thread adds its chunks to a tally of its own; the parts are merged at
 * the end.  Where such parts would take much memory, threads share the tally
 * instead: they divide rows first, columns then (problem_shares).  Integers:
 * any order gives the same bits.
 *
 * Rows of a minibatch are gathered, a chunk at a time in each thread, and given
 * to the same kernels.  No row is in a batch twice, so that the bounds that are
 * proved of the sums of all rows (bounds.h: sums of sizes, none negative) hold
 * of a batch's too.
 */
#include "base/check.h"
#include "base/mem.h"
#include "data/rows/gather.h"
#include "eval/kinds.h"
#include "math/exact/tally.h"

/* What parts may take, but for the first thread's; above that it is shared. */
#define PARTS_BYTES ((uint64_t)4 << 20)
#define SHARE_ROWS  65536u /* Residuals that are known at a time. */
/* Spans of columns, for each thread; more, if all are long: then one that is
 * held up, as its processor has other work, keeps nobody waiting for much. */
#define SPANS      2u
#define SPANS_LONG 8u
#define SPAN_LONG  16384u
/* Rows of several stripes are divided by these as well, where there are fewer
 * chunks than that for each thread and no more sums of stripes than that. */
#define STRIPED_CHUNKS 4u
#define STRIPED_SUMS   16384u

struct linear {
    struct evaluator head;
    const struct dataset *data; /* The shelf's. */
    struct dataset seen;        /* The same as it was when a run was begun. */
    uint32_t first, first_row;  /* As in the shelf. */
    struct problem problem;     /* Of `seen`. */
    struct sampler sampler;     /* Which rows chunks stand for, ... */
    uint32_t *cut;              /* ... cut like this; NULL: as in the shelf. */
    struct gather *gathers; /* One per thread; NULL: all rows, as they lie. */
    struct pool *pool;      /* Borrowed. */
    struct tally *parts;    /* One per thread; of the first one: none. */
    struct {
        double *r;       /* Residuals; NULL: threads have parts. */
        double *losses;  /* One per chunk. */
        double *stripes; /* Sums of stripes; NULL: rows have one each. */
        uint32_t chunks; /* That many at a time. */
        uint32_t *spans; /* Of columns, as problem_spans has them, ... */
        uint32_t count;  /* ... so many; 0: it was not asked yet. */
    } share;
    uint8_t **scratch; /* One per thread. */
    struct problem_round round;
    uint64_t prepared; /* Which round that is for; 0: none. */
    enum err *errs;    /* One per thread. */
    uint32_t threads;
};

static uint32_t lesser(uint32_t a, uint32_t b)
{
    return a < b ? a : b;
}

static bool has_large_parts(const struct linear *linear, uint32_t dims)
{
    return (uint64_t)(linear->threads - 1) * dims * sizeof(int64_t) >
           PARTS_BYTES;
}

static enum err share_init(struct linear *linear, uint32_t chunks)
{
    const uint32_t rows = linear->problem.data->chunk_rows;
    const uint32_t most = rows < SHARE_ROWS ? SHARE_ROWS / rows : 1;

    linear->share.chunks = lesser(most, chunks);
    linear->share.r =
        mem_new((size_t)linear->share.chunks * rows, sizeof(double));
    linear->share.losses = mem_new(linear->share.chunks, sizeof(double));
    linear->share.spans =
        mem_new((size_t)SPANS_LONG * linear->threads + 1, sizeof(uint32_t));
    if (linear->share.r == NULL || linear->share.losses == NULL ||
        linear->share.spans == NULL)
        return ERR_NOMEM;
    if (problem_stripes(&linear->problem) == 1)
        return ERR_OK;
    linear->share.stripes = mem_new(STRIPED_SUMS, sizeof(double));
    return linear->share.stripes != NULL ? ERR_OK : ERR_NOMEM;
}

static enum err parts_init(struct linear *linear, uint32_t dims,
                           uint32_t chunks)
{
    enum err err = ERR_OK;

    for (uint32_t i = 1; err == ERR_OK && i < linear->threads; i++)
        err = tally_init(&linear->parts[i], dims, chunks);
    return err;
}

static enum err threads_init(struct linear *linear)
{
    const size_t threads = linear->threads;

    linear->parts = mem_new(threads, sizeof *linear->parts);
    linear->scratch = mem_new(threads, sizeof *linear->scratch);
    linear->errs = mem_new(threads, sizeof *linear->errs);
    if (linear->parts == NULL || linear->scratch == NULL ||
        linear->errs == NULL)
        return ERR_NOMEM;
    for (uint32_t i = 0; i < threads; i++) {
        linear->scratch[i] =
            mem_new(problem_scratch_bytes(&linear->problem), 1);
        if (linear->scratch[i] == NULL)
            return ERR_NOMEM;
    }
    return ERR_OK;
}

/* Of a part they count from its own first chunk. */
static enum err gathers_init(struct linear *linear)
{
    const uint32_t most = sampler_chunk_most(&linear->sampler);
    const uint32_t chunks = linear->cut != NULL ? dataset_chunks(linear->data)
                                                : linear->head.chunks;
    enum err err = ERR_OK;

    if (linear->sampler.kind == SAMPLER_WHOLE)
        return ERR_OK;
    linear->gathers = mem_new(linear->threads, sizeof *linear->gathers);
    if (linear->gathers == NULL)
        return ERR_NOMEM;
    for (uint32_t i = 0; err == ERR_OK && i < linear->threads; i++)
        err = gather_init(&linear->gathers[i], linear->data, chunks, most);
    return err;
}

static enum err linear_init(struct linear *linear)
{
    const uint32_t dims = problem_dims(&linear->problem);
    const uint32_t chunks = dataset_chunks(linear->data);
    enum err err = chunkset_init(&linear->seen.present, chunks);

    if (err == ERR_OK)
        err = problem_round_init(&linear->round, &linear->problem);
    if (err == ERR_OK)
        err = threads_init(linear);
    if (err == ERR_OK)
        err = gathers_init(linear);
    if (err != ERR_OK)
        return err;
    chunkset_copy(&linear->seen.present, &linear->data->present);
    if (linear->gathers != NULL)
        return parts_init(linear, dims, linear->head.chunks);
    return has_large_parts(linear, dims) &&
                   problem_shares(&linear->problem, EVALUATE_GRADIENT)
               ? share_init(linear, chunks)
               : parts_init(linear, dims, chunks);
}

static void linear_close(struct evaluator *self)
{
    struct linear *const linear = (void *)self;

    for (uint32_t i = 0; i < linear->threads; i++) {
        if (linear->parts != NULL)
            tally_close(&linear->parts[i]);
        if (linear->scratch != NULL)
            mem_free(linear->scratch[i]);
        if (linear->gathers != NULL)
            gather_close(&linear->gathers[i]);
    }
    mem_free(linear->gathers);
    mem_free(linear->cut);
    mem_free(linear->parts);
    mem_free(linear->scratch);
    mem_free(linear->errs);
    mem_free(linear->share.r);
    mem_free(linear->share.losses);
    mem_free(linear->share.stripes);
    mem_free(linear->share.spans);
    problem_round_close(&linear->round);
    chunkset_close(&linear->seen.present);
    mem_free(linear);
}

enum err subject_problem(const struct subject *subject,
                         const struct shelf *shelf, struct problem *problem)
{
    const struct dataset_shape *const rows = &subject->rows;
    const struct dataset *const data = shelf->data;

    if (data == NULL || rows->cols != data->cols ||
        rows->chunk_rows != data->chunk_rows ||
        (!shelf->part &&
         (rows->rows != data->rows || rows->storage != data->storage)))
        return ERR_SHAPE;
    *problem = (struct problem){.data = data,
                                .model = subject->model,
                                .isa = shelf->isa,
                                .outputs = subject->outputs};
    return ERR_OK;
}

static enum err linear_open(const struct brief *brief,
                            const struct shelf *shelf, struct pool *pool,
                            struct evaluator **out)
{
    struct linear *const made = mem_new(1, sizeof *made);
    struct subject subject;
    enum err err = made == NULL
                       ? ERR_NOMEM
                       : brief_read_linear(brief, &subject, &made->sampler);

    if (err == ERR_OK)
        err = subject_problem(&subject, shelf, &made->problem);
    if (err == ERR_OK)
        err = shelf_cut(shelf, &made->sampler, &made->cut);
    if (err != ERR_OK) {
        mem_free(made);
        return err;
    }
    made->data = shelf->data;
    made->first = shelf->first;
    made->first_row = shelf->first_row;
    made->seen = *shelf->data;
    made->seen.present = (struct chunkset){0};
    made->problem.data = &made->seen;
    made->pool = pool;
    made->threads = pool->threads;
    made->head = (struct evaluator){
        .ops = &linear_evaluator,
        .dims = problem_dims(&made->problem),
        .sums = problem_dims(&made->problem),
        .chunks = sampler_chunks(&made->sampler),
        .scattered = sampler_reach(&made->sampler, dataset_chunks(shelf->data)),
        .shard_max = dataset_chunk_bytes_max(shelf->data),
    };
    err = linear_init(made);
    if (err == ERR_OK)
        *out = &made->head;
    else
        linear_close(&made->head);
    return err;
}

static enum err linear_shape(const struct brief *brief,
                             struct dataset_shape *shape)
{
    struct subject subject;
    struct sampler sampler;
    const enum err err = brief_read_linear(brief, &subject, &sampler);

    if (err == ERR_OK)
        *shape = subject.rows;
    return err;
}

const struct problem *linear_problem(const struct evaluator *self)
{
    return &((const struct linear *)self)->problem;
}

/* Chunks that come from now on are written where this run does not look. */
static enum err linear_begin(struct evaluator *self,
                             const struct computation *asked)
{
    struct linear *const linear = (void *)self;

    (void)asked;
    chunkset_copy(&linear->seen.present, &linear->data->present);
    return ERR_OK;
}

static bool linear_has_vector(const struct evaluator *self,
                              enum evaluation_kind kind)
{
    return problem_has_vector(linear_problem(self), kind);
}

/* --- a run ---------------------------------------------------------------- */

struct run {
    struct linear *linear;
    const struct computation *work;
    const struct flag *cancel;
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
static enum err any_error(const struct linear *linear)
{
    for (uint32_t i = 0; i < linear->threads; i++) {
        if (linear->errs[i] != ERR_OK)
            return linear->errs[i];
    }
    return ERR_OK;
}

/* --- parts for each thread ----------------------------------------------- */

/* Where a thread's chunks go: the first one's straight to the end. */
static struct tally *tally_of(const struct run *run, uint32_t thread)
{
    return thread > 0 ? &run->linear->parts[thread] : run->work->tally;
}

/* The rows of a chunk, by their places here. */
static uint32_t select_rows(const struct linear *linear, uint32_t step,
                            uint32_t chunk, uint32_t *row)
{
    const uint32_t count =
        sampler_select(&linear->sampler, step, linear->first + chunk, row);

    for (uint32_t i = 0; i < count; i++)
        row[i] -= linear->first_row;
    return count;
}

/* A chunk of rows that are gathered first; a short batch has some without
 * any. */
static enum err add_gathered(const struct run *run, uint32_t thread,
                             uint32_t chunk)
{
    const struct linear *linear = run->linear;
    const struct computation *const work = run->work;
    struct gather *const gather = &linear->gathers[thread];
    struct tally *const tally = tally_of(run, thread);
    struct problem problem = linear->problem;
    const uint32_t count = select_rows(linear, work->step, chunk, gather->row);
    enum err err = gather_take(gather, &linear->seen, chunk, count);

    problem.data = &gather->rows;
    if (err == ERR_OK && count > 0)
        return problem_add(&problem, &linear->round, &work->what, chunk,
                           work->exponent, linear->scratch[thread], tally);
    if (err == ERR_OK) {
        tally_fill(tally);
        tally_mark(tally, work->exponent, chunk, 0);
    }
    return err;
}

static void one_gathered(void *context, uint32_t thread, uint32_t item)
{
    const struct run *run = context;
    enum err *err = &run->linear->errs[thread];

    if (goes_on(run, err))
        *err = add_gathered(run, thread, run->work->first + item);
}

static void one_batch(void *context, uint32_t thread, uint32_t item)
{
    const struct run *run = context;
    struct linear *linear = run->linear;
    const uint32_t first = run->work->first + item * run->batch;
    const uint32_t left = run->work->end - first;
    enum err *err = &linear->errs[thread];

    if (goes_on(run, err))
        *err = problem_add_batch(
            &linear->problem, &linear->round, &run->work->what, first,
            lesser(left, run->batch), run->work->exponent,
            linear->scratch[thread], tally_of(run, thread));
}

/* Parts as large as the tally that is asked for; they change size only
 * between gradients and Hessians, and where these rows are a part of others. */
static enum err clear_parts(struct linear *linear, const struct tally *like)
{
    for (uint32_t i = 1; i < linear->threads; i++) {
        struct tally *part = &linear->parts[i];
        enum err err;

        if (part->dims != like->dims ||
            part->chunks.count != like->chunks.count) {
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
static void fill_tallies(struct linear *linear, const struct computation *work)
{
    if (problem_stores(&linear->problem, work->what.kind))
        return;
    tally_fill(work->tally);
    for (uint32_t i = 1; i < linear->threads; i++)
        tally_fill(&linear->parts[i]);
}

static enum err run_parts(struct run *run)
{
    struct linear *const linear = run->linear;
    const struct computation *const work = run->work;
    const uint32_t chunks = work->end - work->first;
    enum err err = clear_parts(linear, work->tally);

    if (err != ERR_OK)
        return err;
    fill_tallies(linear, work);
    run->batch = linear->gathers != NULL
                     ? 1
                     : problem_batch(&linear->problem, work->what.kind);
    linear->pool->run(linear->pool,
                      linear->gathers != NULL ? one_gathered : one_batch, run,
                      chunks / run->batch + (chunks % run->batch != 0));
    for (uint32_t i = 0; i < linear->threads; i++)
        problem_settle(&linear->problem, linear->scratch[i], tally_of(run, i));
    err = any_error(linear);
    for (uint32_t i = 1; i < linear->threads && err == ERR_OK; i++)
        err = tally_merge(work->tally, &linear->parts[i]);
    return err;
}

/* --- one tally for all --------------------------------------------------- */

static bool shares(const struct linear *linear, const struct computation *work)
{
    return linear->share.r != NULL &&
           problem_shares(&linear->problem, work->what.kind) &&
           work->tally->dims == problem_dims(&linear->problem);
}

static void one_chunk(void *context, uint32_t thread, uint32_t item)
{
    const struct run *run = context;
    struct linear *linear = run->linear;
    const size_t rows = linear->problem.data->chunk_rows;
    enum err *err = &linear->errs[thread];

    if (goes_on(run, err))
        *err = problem_residuals(
            &linear->problem, &linear->round, &run->work->what,
            run->share.chunk + item, linear->scratch[thread],
            linear->share.r + item * rows, &linear->share.losses[item]);
}

/* Sums of a chunk's stripes, by w and behind them, of a HESSVEC, by v. */
static double *stripes_of(const struct run *run, uint32_t item, uint32_t vector)
{
    const struct linear *const linear = run->linear;
    const uint32_t vectors = run->work->what.kind == EVALUATE_HESSVEC ? 2 : 1;

    return linear->share.stripes + ((size_t)item * vectors + vector) *
                                       problem_stripes(&linear->problem) *
                                       linear->problem.data->chunk_rows;
}

static void one_stripe(void *context, uint32_t thread, uint32_t item)
{
    const struct run *run = context;
    const struct linear *const linear = run->linear;
    const struct evaluation *const what = &run->work->what;
    const uint32_t vectors = what->kind == EVALUATE_HESSVEC ? 2 : 1;
    const uint32_t stripes = problem_stripes(&linear->problem);
    const uint32_t vector = item / stripes % vectors;
    const uint32_t at = item / stripes / vectors;
    const uint32_t chunk = run->share.chunk + at;
    const size_t rows = dataset_chunk_size(linear->problem.data, chunk);

    if (goes_on(run, &linear->errs[thread]))
        problem_stripe(&linear->problem, vector == 0 ? what->w : what->v, chunk,
                       item % stripes,
                       stripes_of(run, at, vector) + item % stripes * rows);
}

/* Few long rows: threads that have no chunk help with those of others. */
static bool run_stripes(struct run *run)
{
    struct linear *const linear = run->linear;
    const size_t rows = linear->problem.data->chunk_rows;
    const uint32_t chunks = run->share.end_chunk - run->share.chunk;
    const uint32_t items = (run->work->what.kind == EVALUATE_HESSVEC ? 2 : 1) *
                           problem_stripes(&linear->problem) * chunks;

    if (linear->share.stripes == NULL ||
        chunks >= STRIPED_CHUNKS * linear->threads ||
        items * rows > STRIPED_SUMS)
        return false;
    linear->pool->run(linear->pool, one_stripe, run, items);
    for (uint32_t k = 0; any_error(linear) == ERR_OK && k < chunks; k++)
        problem_joined(&linear->problem, &run->work->what, run->share.chunk + k,
                       stripes_of(run, k, 0), stripes_of(run, k, 1),
                       linear->scratch[0], linear->share.r + k * rows,
                       &linear->share.losses[k]);
    return true;
}

static void one_span(void *context, uint32_t thread, uint32_t item)
{
    const struct run *run = context;
    const uint32_t *const at = run->linear->share.spans + item;
    enum err *err = &run->linear->errs[thread];

    if (goes_on(run, err))
        *err = problem_add_columns(&run->linear->problem, &run->share, at[0],
                                   at[1], run->work->tally);
}

static enum err mark_chunks(const struct run *run)
{
    struct tally *const tally = run->work->tally;
    const int16_t *const exponent = run->work->exponent;
    const double *loss = run->linear->share.losses;

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
    struct linear *const linear = run->linear;
    struct pool *const pool = linear->pool;
    enum err err;

    if (!run_stripes(run))
        pool->run(pool, one_chunk, run,
                  run->share.end_chunk - run->share.chunk);
    err = any_error(linear);
    if (err != ERR_OK)
        return err;
    pool->run(pool, one_span, run, linear->share.count);
    err = any_error(linear);
    if (err == ERR_OK)
        err = mark_chunks(run);
    return err;
}

/* Of sparse rows each span looks at all. */
static uint32_t span_count(const struct linear *linear)
{
    const struct dataset *const data = linear->problem.data;
    const uint32_t least = SPANS * linear->threads;
    const uint32_t most = SPANS_LONG * linear->threads;
    const uint32_t fit = data->stride / SPAN_LONG;

    if (dataset_is_sparse(data) || fit < least)
        return least;
    return lesser(fit, most);
}

static void cut_spans(struct linear *linear, const struct computation *work)
{
    if (linear->share.count > 0)
        return;
    linear->share.count = span_count(linear);
    problem_spans(&linear->problem, work->first, work->end, linear->share.count,
                  linear->share.spans);
}

static enum err run_shared(struct run *run)
{
    struct linear *const linear = run->linear;
    const struct computation *const work = run->work;
    enum err err;

    cut_spans(linear, work);
    run->share = (struct problem_share){.r = linear->share.r,
                                        .exponent = work->exponent};
    err = problem_share_begin(&linear->problem, &run->share);
    for (uint32_t k = work->first; err == ERR_OK && k < work->end;
         k = run->share.end_chunk) {
        run->share.chunk = k;
        run->share.end_chunk = k + lesser(work->end - k, linear->share.chunks);
        err = share_some(run);
    }
    return err;
}

/* --- both ---------------------------------------------------------------- */

static enum err prepare(struct linear *linear, const struct computation *work)
{
    enum err err;

    if (work->name != 0 && work->name == linear->prepared)
        return ERR_OK;
    linear->prepared = 0;
    err = problem_round_prepare(&linear->round, &linear->problem, &work->what);
    if (err == ERR_OK)
        linear->prepared = work->name;
    return err;
}

static void linear_forget(struct evaluator *self)
{
    struct linear *const linear = (void *)self;

    linear->prepared = 0;
    problem_round_forget(&linear->round);
}

/* Private rows are cut by themselves: their chunks count from `first`. */
static struct computation own_chunks(const struct linear *linear,
                                     const struct computation *asked)
{
    struct computation own = *asked;

    own.first -= linear->first;
    own.end -= linear->first;
    return own;
}

static bool can_answer(const struct linear *linear, enum evaluation_kind kind)
{
    if (kind == EVALUATE_HESSIAN)
        return problem_has_hessian(&linear->problem);
    return kind == EVALUATE_GRADIENT || kind == EVALUATE_HESSVEC ||
           kind == EVALUATE_DIAGONAL;
}

/* Tallies of a Hessian have more dims than the model: fine. */
static enum err linear_run(struct evaluator *self,
                           const struct computation *asked,
                           const struct flag *cancel)
{
    struct linear *const linear = (void *)self;
    const struct computation work = own_chunks(linear, asked);
    struct run run = {.linear = linear, .work = &work, .cancel = cancel};
    enum err err = can_answer(linear, asked->what.kind) ? prepare(linear, &work)
                                                        : ERR_SHAPE;

    if (err != ERR_OK)
        return err;
    for (uint32_t i = 0; i < linear->threads; i++)
        linear->errs[i] = ERR_OK;
    err = shares(linear, &work) ? run_shared(&run) : run_parts(&run);
    CHECK(err != ERR_OVERLAP); /* Each chunk is in one item. */
    tally_fill(work.tally);    /* If nothing was added. */
    return err;
}

const struct evaluator_ops linear_evaluator = {
    .name = "linear",
    .anywhere = true,
    .shape = linear_shape,
    .open = linear_open,
    .close = linear_close,
    .run = linear_run,
    .begin = linear_begin,
    .forget = linear_forget,
    .has_vector = linear_has_vector,
};
