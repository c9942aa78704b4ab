#include "node/sequential.h"

#include "base/mem.h"
#include "math/vec.h"
#include "node/compute.h"

struct sgd_row sequential_row(const struct reading_row *read)
{
    return (struct sgd_row){.value = read->value,
                            .wide = read->wide,
                            .index = read->index,
                            .count = read->count,
                            .y = read->y,
                            .weight = read->weight};
}

static struct sgd_row read_row(void *context, uint32_t i)
{
    const struct reading_row read = reading_at(context, i);

    return sequential_row(&read);
}

/* Mean loss + l2 |w|^2: the loss by the kernels, like any other's. */
static enum err measure(const struct problem *problem, struct pool *pool,
                        const struct optim_options *options, const double *w,
                        double *objective)
{
    const struct evaluation what = {.kind = EVALUATE_GRADIENT, .w = w};
    const uint32_t dims = problem_dims(problem);
    const uint32_t chunks = dataset_chunks(problem->data);
    int16_t *exponent = mem_new(dims, sizeof *exponent);
    struct bounds bounds = {0};
    struct compute compute = {0};
    struct tally tally = {0};
    const struct compute_work work = {.end = chunks,
                                      .kind = EVALUATE_GRADIENT,
                                      .weights = w,
                                      .exponent = exponent,
                                      .tally = &tally};
    enum err err = exponent == NULL ? ERR_NOMEM : ERR_OK;

    if (err == ERR_OK)
        err = bounds_init(&bounds, problem->data->stride);
    if (err == ERR_OK)
        err = bounds_measure(&bounds, problem, pool);
    if (err == ERR_OK)
        err = bounds_exponents(&bounds, problem, &what, exponent);
    if (err == ERR_OK || err == ERR_TOOBIG)
        err = compute_init(&compute, problem, dims, chunks, pool);
    if (err == ERR_OK)
        err = tally_init(&tally, dims, chunks);
    if (err == ERR_OK)
        err = compute_run(&compute, &work, NULL);
    if (err == ERR_OK)
        *objective = tally_loss_value(&tally) / (double)options->rows +
                     options->l2 * vec_dot(w, w, dims);
    tally_close(&tally);
    compute_close(&compute);
    bounds_close(&bounds);
    mem_free(exponent);
    return err;
}

enum err sequential_train(const struct problem *problem, struct pool *pool,
                          const struct optim_options *options,
                          struct single_result *result, struct why *why)
{
    const struct dataset *const data = problem->data;
    const struct sgd_options sgd = {
        .loss = problem->model->loss,
        .rate = options->rate,
        .c = 1 / (2 * options->l2),
        .passes = options->steps,
        .rows = data->rows,
        .dims = data->cols,
        .shuffle = true,
        .seed = options->seed,
    };
    struct single_result made = {.dims = problem_dims(problem),
                                 .steps = options->steps};
    struct reading reading = {0};
    enum err err = reading_init(&reading, data);

    made.weights = mem_new(made.dims, sizeof *made.weights);
    if (made.weights == NULL)
        err = ERR_NOMEM;
    if (err == ERR_OK)
        err = sgd_train(&sgd, read_row, &reading, made.weights);
    if (err == ERR_OK)
        err = measure(problem, pool, options, made.weights, &made.objective);
    if (err == ERR_RANGE)
        (void)why_set(why, err,
                      "the weights are too large after %u passes: sgd "
                      "diverged; a smaller --lr or a larger --l2 helps",
                      options->steps);
    reading_close(&reading);
    if (err != ERR_OK) {
        mem_free(made.weights);
        return err;
    }
    made.hash = hash_f64(made.weights, data->cols);
    *result = made;
    return ERR_OK;
}
