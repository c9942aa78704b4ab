/*
 * slopes.c - slopes and loss, or second derivatives, from given scores:
 * on coded data scores are decoded from the workers' answers, and only the
 * coordinator has the labels.
 */
#include "base/check.h"
#include "model/linear/problem.h"

enum { SLOPES_BLOCK = 256 }; /* Rows whose losses are on the stack. */

double problem_slopes(const struct problem *problem, uint32_t soft, double *z)
{
    const struct problem at = problem_soft(problem, soft);
    const struct dataset *data = problem->data;
    double loss[SLOPES_BLOCK];
    double total = 0;

    CHECK(problem_outputs(problem) == 1);
    for (uint32_t i = 0; i < data->rows; i += SLOPES_BLOCK) {
        const uint32_t left = data->rows - i;
        const uint32_t count = left < SLOPES_BLOCK ? left : SLOPES_BLOCK;

        kernel_slopes(at.isa, at.model->loss, false, z + i, data->y + i,
                      data->weight == NULL ? NULL : data->weight + i, loss,
                      count);
        for (uint32_t k = 0; k < count; k++)
            total += loss[k];
    }
    return total;
}

void problem_bends(const struct problem *problem, uint32_t soft, double *z)
{
    const struct problem at = problem_soft(problem, soft);
    const struct dataset *data = problem->data;

    CHECK(problem_outputs(problem) == 1);
    kernel_slopes(at.isa, at.model->loss, true, z, data->y, data->weight, NULL,
                  data->rows);
}
