#include "cli/ending.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "cli/cli.h"
#include "data/reading.h"
#include "data/span.h"
#include "node/evaluate.h"
#include "os/log.h"
#include "os/threads.h"

#define UNEVEN 1e3 /* Columns that differ by so much slow it down. */

/* --- settling ------------------------------------------------------------ */

/* Estimated sums may put the start anywhere; the rows tell. */
static enum err measure_start(const struct setup *setup,
                              const struct problem *problem, struct pool *pool,
                              struct optim_outcome *outcome)
{
    double *zero = mem_new(problem_dims(problem), sizeof *zero);
    const enum err err = zero == NULL
                             ? ERR_NOMEM
                             : evaluate_at(problem, pool, &setup->optim, zero,
                                           &outcome->objective_first, NULL);

    mem_free(zero);
    return err;
}

static enum err settle_by_rows(const struct setup *setup, struct pool *pool,
                               struct train_result *result)
{
    const struct problem problem = setup_problem(setup);
    struct optim_outcome *outcome = &result->outcome;
    enum err err = ERR_OK;

    if (setup->exactness == EXACT_APPROX) {
        outcome->at_model = false;
        err = measure_start(setup, &problem, pool, outcome);
    }
    if (err == ERR_OK)
        err = evaluate_outcome(&problem, pool, &setup->optim, result->weights,
                               outcome);
    return err;
}

void ending_settle(const struct setup *setup, struct train_result *result)
{
    struct pool *pool;
    enum err err;

    if (setup->data.y == NULL) { /* The rows are with their owners. */
        optim_judge(&setup->optim, &result->outcome);
        return;
    }
    err = threads_new(setup->threads, &pool);
    if (err == ERR_OK) {
        err = settle_by_rows(setup, pool, result);
        threads_free(pool);
    }
    if (err != ERR_OK)
        log_line("the objective is not that of the model: %s", err_text(err));
}

bool ending_diverged(const struct train_result *result)
{
    return result->outcome.end == OPTIM_DIVERGED;
}

/* --- columns of very different size -------------------------------------- */

struct column {
    uint32_t number; /* The user's, from 1. */
    double largest;  /* |value| */
};

static enum err largest_values(const struct dataset *data, double *largest)
{
    struct reading reading = {0};
    enum err err = reading_init(&reading, data);

    for (uint32_t i = 0; err == ERR_OK && i < data->rows; i++) {
        const struct reading_row row = reading_at(&reading, i);

        for (uint32_t t = 0; t < row.count; t++) {
            const double x = row.wide != NULL    ? row.wide[t]
                             : row.value != NULL ? (double)row.value[t]
                                                 : 1;

            largest[row.index[t]] = fmax(largest[row.index[t]], fabs(x));
        }
    }
    reading_close(&reading);
    return err;
}

static struct column column_of(const struct dataset *data, uint32_t j,
                               double largest)
{
    const uint32_t number = data->original != NULL ? data->original[j] : j;

    return (struct column){number + 1, largest};
}

/* The columns of the largest and the smallest values, but the constant; false
 * if they are not far apart. */
static bool find_uneven(const struct setup *setup, struct column *big,
                        struct column *small)
{
    const struct dataset *data = &setup->data;
    const uint32_t features = data->cols - (setup->intercept ? 1 : 0);
    double *largest = mem_new(data->cols, sizeof *largest);
    bool found = largest != NULL && data->y != NULL &&
                 largest_values(data, largest) == ERR_OK;

    *big = (struct column){0};
    *small = (struct column){.largest = HUGE_VAL};
    for (uint32_t j = 0; found && j < features; j++) {
        if (largest[j] > big->largest)
            *big = column_of(data, j, largest[j]);
        if (largest[j] > 0 && largest[j] < small->largest)
            *small = column_of(data, j, largest[j]);
    }
    mem_free(largest);
    return found && big->largest > UNEVEN * small->largest;
}

/* Its name in the table, or its number. */
static struct quote column_name(const struct setup *setup,
                                const struct column *column)
{
    const struct encoder *encoder = &setup->encoder;
    struct quote number;

    if (encoder->schema.name != NULL &&
        encoder->cols == encoder->schema.features &&
        column->number <= encoder->cols) {
        const char *name = encoder->schema.name[column->number - 1];

        return quote((struct span){name, strlen(name)});
    }
    (void)snprintf(number.text, sizeof number.text, "%u", column->number);
    return number;
}

static void uneven_text(const struct setup *setup)
{
    struct column big, small;

    if (!find_uneven(setup, &big, &small))
        return;
    (void)printf("           columns %s (up to %.3g) and %s (up to %.3g) are "
                 "of very different size, which slows it: --scale standard\n",
                 column_name(setup, &big).text, big.largest,
                 column_name(setup, &small).text, small.largest);
}

/* --- showing ------------------------------------------------------------- */

static const char *advice(const struct setup *setup)
{
    if (setup->exactness == EXACT_APPROX)
        return "an exact code (steal) gets further";
    if (setup->optim.kind == OPTIM_SGD)
        return "sgd has no test of convergence";
    if (setup->optim.kind == OPTIM_LBFGS || setup->optim.kind == OPTIM_NEWTON)
        return "give it more --steps";
    return "give it more --steps, or leave out --optim";
}

static void not_converged(const struct setup *setup,
                          const struct train_result *result)
{
    const struct optim_outcome *outcome = &result->outcome;

    if (outcome->end == OPTIM_STEPS)
        (void)printf("NOT CONVERGED: all %u steps are made, |gradient| %.2g; "
                     "%s\n",
                     result->steps, outcome->gradient_norm, advice(setup));
    else if (outcome->end == OPTIM_STALLED)
        (void)printf("NOT CONVERGED: no step makes it better, |gradient| "
                     "%.2g\n",
                     outcome->gradient_norm);
    else
        (void)printf("NOT CONVERGED: stopped at step %u, |gradient| %.2g\n",
                     result->steps, outcome->gradient_norm);
    uneven_text(setup);
}

/* optim/soften.h */
static bool is_proved(const struct setup *setup)
{
    const enum optim_kind kind = setup->optim.kind;

    return setup->optim.kinks && setup->optim.l2 > 0 &&
           (kind == OPTIM_LBFGS || kind == OPTIM_NEWTON);
}

void ending_text(const struct setup *setup, const struct train_result *result)
{
    const struct optim_outcome *outcome = &result->outcome;

    if (isfinite(outcome->objective) && outcome->at_model)
        (void)printf("objective  %.10g\n", outcome->objective * setup->scale);
    else if (isfinite(outcome->objective) && result->steps > 0)
        (void)printf("objective  %.10g at step %u; the model is that of step "
                     "%u\n",
                     outcome->objective * setup->scale, result->steps - 1,
                     result->steps);
    (void)fputs("ended      ", stdout);
    if (ending_diverged(result))
        (void)printf("DIVERGED: the objective was %.6g at the start; a smaller "
                     "--lr helps, or leave out --optim\n",
                     outcome->objective_first * setup->scale);
    else if (outcome->end == OPTIM_CONVERGED && is_proved(setup))
        (void)printf("converged: proved to be at most %.2g above the least "
                     "objective\n",
                     outcome->excess * setup->scale);
    else if (outcome->end == OPTIM_CONVERGED)
        (void)printf("converged: |gradient| %.2g\n", outcome->gradient_norm);
    else
        not_converged(setup, result);
}

void ending_json(const struct setup *setup, const struct train_result *result,
                 json_t *object)
{
    const struct optim_outcome *outcome = &result->outcome;

    (void)json_object_set_new(object, "objective",
                              json_number(outcome->objective * setup->scale));
    (void)json_object_set_new(object, "objective_at_model",
                              json_boolean(outcome->at_model));
    (void)json_object_set_new(object, "converged",
                              json_boolean(outcome->end == OPTIM_CONVERGED));
    (void)json_object_set_new(object, "end",
                              json_string(optim_end_name(outcome->end)));
    (void)json_object_set_new(object, "gradient_norm",
                              json_number(outcome->gradient_norm));
    (void)json_object_set_new(object, "excess",
                              json_number(outcome->excess * setup->scale));
}
