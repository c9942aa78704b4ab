/*
 * local.c - a part's own steps (optim/local.h): the gradient and the rows that
 * they ask for, the gradient by the linear evaluator.
 */
#include "optim/local.h"
#include "base/mem.h"
#include "eval/kinds.h"
#include "model/linear/part.h"

struct own_steps {
    struct evaluator head;
    struct local local;
    struct evaluator *linear;
    struct pool *pool; /* Borrowed. */
    struct part part;  /* The rows stepped on. */
};

static void local_close(struct evaluator *self)
{
    struct own_steps *const own = (void *)self;

    part_close(&own->part);
    evaluator_close(own->linear);
    mem_free(own);
}

static enum err local_init(struct own_steps *own, const struct brief *brief,
                           const struct shelf *shelf)
{
    uint8_t room[BRIEF_MAX];
    struct subject subject;
    struct brief linear;
    enum err err = brief_read_local(brief, &subject, &own->local);

    if (err != ERR_OK)
        return err;
    linear = brief_linear(room, &subject, &sampler_whole);
    err = linear_evaluator.open(&linear, shelf, own->pool, &own->linear);
    if (err != ERR_OK)
        return err;
    own->head = *own->linear;
    own->head.ops = &local_evaluator;
    return local_fits(&own->local, own->head.dims) && !shelf->part
               ? part_init(&own->part, linear_problem(own->linear))
               : ERR_SHAPE;
}

static enum err local_open(const struct brief *brief, const struct shelf *shelf,
                           struct pool *pool, struct evaluator **out)
{
    struct own_steps *const made = mem_new(1, sizeof *made);
    enum err err;

    if (made == NULL)
        return ERR_NOMEM;
    made->pool = pool;
    err = local_init(made, brief, shelf);
    if (err == ERR_OK)
        *out = &made->head;
    else
        local_close(&made->head);
    return err;
}

static enum err local_shape(const struct brief *brief,
                            struct dataset_shape *shape)
{
    struct subject subject;
    struct local local;
    const enum err err = brief_read_local(brief, &subject, &local);

    if (err == ERR_OK)
        *shape = subject.rows;
    return err;
}

static enum err local_begin(struct evaluator *self,
                            const struct computation *asked)
{
    struct own_steps *const own = (void *)self;

    return evaluator_begin(own->linear, asked);
}

/* --- a run ---------------------------------------------------------------- */

struct run {
    struct own_steps *own;
    const struct flag *cancel;
};

static enum err gradient(void *context, const double *w, double *sum,
                         double *loss_sum)
{
    const struct run *run = context;
    struct part *part = &run->own->part;
    const struct computation asked = {
        .what = {.kind = EVALUATE_GRADIENT, .w = w},
        .first = part->first,
        .end = part->end,
        .exponent = part->exponent,
        .tally = &part->tally,
    };
    enum err err = part_begin(part, w);

    if (err == ERR_OK)
        err = evaluator_run(run->own->linear, &asked, run->cancel);
    if (err == ERR_OK)
        part_end(part, sum, loss_sum);
    return err;
}

static struct sgd_row row(void *context, uint32_t i)
{
    const struct run *run = context;
    const struct reading_row read = part_row(&run->own->part, i);

    return row_for_sgd(&read);
}

static enum err step_alone(struct own_steps *own,
                           const struct computation *asked,
                           const struct flag *cancel)
{
    const struct problem *problem = own->part.problem;
    struct run run = {own, cancel};
    struct local_part view = {
        .context = &run,
        .cols = problem->data->cols,
        .dims = own->head.dims,
        .loss = problem->model->loss,
        .gradient = gradient,
        .row = row,
    };
    enum err err = part_take(&own->part, asked->first, asked->end, own->pool);

    if (err != ERR_OK)
        return err;
    view.first_row = own->part.first_row;
    view.rows = own->part.rows;
    view.counted = own->part.counted;
    return local_run(&own->local, &view, asked->step, asked->what.w,
                     asked->vector);
}

static enum err local_run_any(struct evaluator *self,
                              const struct computation *asked,
                              const struct flag *cancel)
{
    struct own_steps *const own = (void *)self;

    return asked->what.kind == EVALUATE_LOCAL
               ? step_alone(own, asked, cancel)
               : evaluator_run(own->linear, asked, cancel);
}

const struct evaluator_ops local_evaluator = {
    .name = "local",
    .shape = local_shape,
    .open = local_open,
    .close = local_close,
    .run = local_run_any,
    .begin = local_begin,
};
