/*
 * sequential.c - a driver of sgd on this machine: rows in shuffled order, one
 * after the other, with the objective at the end by exact tallies.
 */
#include "node/eval/sequential.h"

#include <math.h>

#include "base/mem.h"
#include "node/eval/evaluate.h"

struct sgd_row sequential_row(const struct reading_row *read)
{
    return (struct sgd_row){.value = read->value,
                            .wide = read->wide,
                            .index = read->index,
                            .count = read->count,
                            .y = read->y,
                            .weight = read->weight};
}

struct sequence {
    struct reading reading;
    const struct flag *cancel;
};

static bool cancelled(const struct sequence *sequence)
{
    return sequence->cancel != NULL && flag_raised(sequence->cancel);
}

static bool go_on(void *context)
{
    return !cancelled(context);
}

/* Once cancelled, what is left of the pass is passed over. */
static struct sgd_row read_row(void *context, uint32_t i)
{
    struct sequence *const sequence = context;
    struct reading_row read;

    if (cancelled(sequence))
        return (struct sgd_row){.weight = 0};
    read = reading_at(&sequence->reading, i);
    return sequential_row(&read);
}

enum err sequential_train(const struct problem *problem, struct pool *pool,
                          const struct optim_options *options,
                          const struct flag *cancel,
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
        .has_free = options->l2_stride > 0,
        .free = options->l2_free,
        .go_on = go_on,
    };
    struct single_result made = {.dims = problem_dims(problem),
                                 .steps = options->steps,
                                 .outcome.end = OPTIM_STEPS,
                                 .outcome.excess = HUGE_VAL};
    struct sequence sequence = {.cancel = cancel};
    enum err err = reading_init(&sequence.reading, data);

    made.weights = mem_new(made.dims, sizeof *made.weights);
    if (made.weights == NULL)
        err = ERR_NOMEM;
    if (err == ERR_OK)
        err = evaluate_at(problem, pool, options, made.weights,
                          &made.outcome.objective_first, NULL);
    if (err == ERR_OK)
        err = sgd_train(&sgd, read_row, &sequence, made.weights);
    if (err == ERR_OK && cancelled(&sequence))
        err = why_set(why, ERR_CANCELLED,
                      "stopped; sgd goes row by row and keeps no state: start "
                      "it again");
    if (err == ERR_OK)
        err = evaluate_outcome(problem, pool, options, made.weights,
                               &made.outcome);
    if (err == ERR_RANGE)
        (void)why_set(why, err,
                      "the weights are too large after %u passes: sgd "
                      "diverged; a smaller --lr or a larger --l2 helps",
                      options->steps);
    reading_close(&sequence.reading);
    if (err != ERR_OK) {
        mem_free(made.weights);
        return err;
    }
    made.hash = hash_f64(made.weights, data->cols);
    *result = made;
    return ERR_OK;
}
