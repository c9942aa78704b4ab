/*
 * local.c - a worker's local SGD steps with its threads: the gradient and the
 * rows that optim/local.c asks for.
 */
#include "node/eval/local.h"
#include "node/eval/sequential.h"

struct run {
    struct part *part;
    struct compute *compute;
    const struct flag *cancel;
};

static enum err gradient(void *context, const double *w, double *sum,
                         double *loss_sum)
{
    const struct run *run = context;
    struct part *part = run->part;
    const struct compute_work work = {
        .first = part->first,
        .end = part->end,
        .kind = EVALUATE_GRADIENT,
        .weights = w,
        .exponent = part->exponent,
        .tally = &part->tally,
    };
    enum err err = part_begin(part, w);

    if (err == ERR_OK)
        err = compute_run(run->compute, &work, run->cancel);
    if (err == ERR_OK)
        part_end(part, sum, loss_sum);
    return err;
}

static struct sgd_row row(void *context, uint32_t i)
{
    const struct run *run = context;
    const struct reading_row read = part_row(run->part, i);

    return sequential_row(&read);
}

enum err local_compute(const struct local *local, struct part *part,
                       struct compute *compute, const struct local_work *work,
                       const struct flag *cancel)
{
    const struct problem *problem = part->problem;
    struct run run = {part, compute, cancel};
    struct local_part view = {
        .context = &run,
        .cols = problem->data->cols,
        .dims = problem_dims(problem),
        .loss = problem->model->loss,
        .gradient = gradient,
        .row = row,
    };
    enum err err = part_take(part, work->first, work->end, compute->pool);

    if (err != ERR_OK)
        return err;
    view.first_row = part->first_row;
    view.rows = part->rows;
    view.counted = part->counted;
    return local_run(local, &view, work->round, work->weights, work->out);
}
