/*
 * columns.c - no descent at all: the columns of a matrix B, each multiplied by
 * the data X in turn.
 *
 *     step t   asks for SCORES at column t of B, and keeps the X b_t it is fed
 *
 * What is handed over is X B, column after column (optim_model); the model of a
 * step is the column it made, so that a receipt names that one: hashes of all
 * there are would cost the square of their number.
 */
#include <string.h>

#include "optim/parts.h"

static uint32_t vectors(const struct optim *opt)
{
    return opt->options.steps;
}

static double *column(const struct optim *opt, uint32_t step)
{
    return opt->kept + (size_t)step * opt->dims;
}

static void place(struct optim *opt)
{
    opt->b = column(opt, opt->step > 0 ? opt->step - 1 : 0);
}

static struct evaluation what(const struct optim *opt)
{
    const struct optim_columns *const columns = &opt->options.columns;

    return (struct evaluation){.kind = EVALUATE_SCORES,
                               .w = columns->first +
                                    (size_t)opt->step * columns->stride};
}

static bool feed(struct optim *opt, const double *sum, double loss_sum)
{
    (void)loss_sum;
    memcpy(column(opt, opt->step), sum, opt->dims * sizeof *sum);
    opt->objective = 0; /* There is none, and receipts have no word for that. */
    opt->step++;
    place(opt);
    return true;
}

const struct optim_ops optim_columns_ops = {
    "columns", OPTIM_RATE_NONE, false, 1, vectors, place, what, feed, NULL};
