/*
 * sequential.c - sgd (optim/sgd.h) over all rows, one after the other.
 *
 * Not a sum over rows, so nothing that workers could share; the bits depend on
 * the data, the options and the seed, never on threads.  A run begins with
 * weights 0 and its vector gets those after the last pass.
 */
#include "base/mem.h"
#include "eval/kinds.h"

struct sequential {
    struct evaluator head;
    struct problem problem;
    struct passes passes;
    struct reading reading;
    const struct flag *cancel; /* Of the run. */
};

static void sequential_close(struct evaluator *self)
{
    struct sequential *const sequential = (void *)self;

    reading_close(&sequential->reading);
    mem_free(sequential);
}

static enum err sequential_init(struct sequential *made,
                                const struct brief *brief,
                                const struct shelf *shelf)
{
    struct subject subject;
    enum err err = brief_read_sequential(brief, &subject, &made->passes);

    if (err == ERR_OK)
        err = subject_problem(&subject, shelf, &made->problem);
    if (err != ERR_OK)
        return err;
    made->head = (struct evaluator){
        .ops = &sequential_evaluator,
        .dims = problem_dims(&made->problem),
        .sums = problem_dims(&made->problem),
        .chunks = dataset_chunks(shelf->data),
    };
    return reading_init(&made->reading, shelf->data);
}

static enum err sequential_open(const struct brief *brief,
                                const struct shelf *shelf, struct pool *pool,
                                struct evaluator **out)
{
    struct sequential *const made = mem_new(1, sizeof *made);
    const enum err err =
        made == NULL ? ERR_NOMEM : sequential_init(made, brief, shelf);

    (void)pool;
    if (err == ERR_OK)
        *out = &made->head;
    else if (made != NULL)
        sequential_close(&made->head);
    return err;
}

static bool cancelled(const struct sequential *sequential)
{
    return sequential->cancel != NULL && flag_raised(sequential->cancel);
}

static bool go_on(void *context)
{
    return !cancelled(context);
}

/* Once cancelled, what is left of the pass is passed over. */
static struct sgd_row read_row(void *context, uint32_t i)
{
    const struct sequential *const sequential = context;
    struct reading_row read;

    if (cancelled(sequential))
        return (struct sgd_row){.weight = 0};
    read = reading_at(&sequential->reading, i);
    return row_for_sgd(&read);
}

static enum err sequential_run(struct evaluator *self,
                               const struct computation *asked,
                               const struct flag *cancel)
{
    struct sequential *const sequential = (void *)self;
    const struct passes *const passes = &sequential->passes;
    const struct sgd_options options = {
        .loss = sequential->problem.model->loss,
        .rate = passes->rate,
        .c = 1 / (2 * passes->l2),
        .passes = passes->count,
        .rows = sequential->problem.data->rows,
        .dims = sequential->problem.data->cols,
        .shuffle = true,
        .seed = passes->seed,
        .has_free = passes->has_free,
        .free = passes->free,
        .go_on = go_on,
    };
    enum err err;

    if (asked->what.kind != EVALUATE_LOCAL)
        return ERR_SHAPE;
    sequential->cancel = cancel;
    err = sgd_train(&options, read_row, sequential, asked->vector);
    return err == ERR_OK && cancelled(sequential) ? ERR_CANCELLED : err;
}

const struct evaluator_ops sequential_evaluator = {
    .name = "sequential",
    .open = sequential_open,
    .close = sequential_close,
    .run = sequential_run,
};
