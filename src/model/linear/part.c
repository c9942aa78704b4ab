/*
 * part.c - the sums of one worker's rows alone, for local SGD: chunks of the
 * part are measured, bounded and added up by the functions that do it for all
 * rows.
 */
#include "model/linear/part.h"

#include "base/check.h"
#include "base/mem.h"

enum err part_init(struct part *part, const struct problem *problem)
{
    const uint32_t dims = problem_dims(problem);
    struct part made = {.problem = problem};
    enum err err = bounds_init(&made.bounds, problem->data->stride);

    if (err == ERR_OK)
        err = tally_init(&made.tally, dims, dataset_chunks(problem->data));
    if (err == ERR_OK)
        err = reading_init(&made.reading, problem->data);
    made.exponent = mem_new((size_t)dims + 1, sizeof *made.exponent);
    if (err == ERR_OK && made.exponent == NULL)
        err = ERR_NOMEM;
    if (err == ERR_OK)
        *part = made;
    else
        part_close(&made);
    return err;
}

void part_close(struct part *part)
{
    bounds_close(&part->bounds);
    tally_close(&part->tally);
    reading_close(&part->reading);
    mem_free(part->exponent);
    *part = (struct part){0};
}

static void count_rows(struct part *part)
{
    const struct dataset *const data = part->problem->data;

    part->first_row = dataset_first_row(data, part->first);
    part->rows = 0;
    for (uint32_t chunk = part->first; chunk < part->end; chunk++)
        part->rows += dataset_chunk_size(data, chunk);
    part->counted = 0;
    for (uint32_t i = 0; i < part->rows; i++)
        part->counted +=
            data->weight == NULL || data->weight[part->first_row + i] > 0;
}

enum err part_take(struct part *part, uint32_t first, uint32_t end,
                   struct pool *pool)
{
    enum err err;

    CHECK(first < end);
    if (part->first == first && part->end == end)
        return ERR_OK;
    part->end = part->first = 0;
    err = bounds_measure_part(&part->bounds, part->problem, first, end, pool);
    if (err != ERR_OK)
        return err;
    part->first = first;
    part->end = end;
    count_rows(part);
    return ERR_OK;
}

enum err part_begin(struct part *part, const double *w)
{
    const struct evaluation what = {.kind = EVALUATE_GRADIENT, .w = w};
    const enum err err =
        bounds_exponents(&part->bounds, part->problem, &what, part->exponent);

    tally_clear(&part->tally);
    return err;
}

void part_end(const struct part *part, double *sum, double *loss_sum)
{
    (void)tally_gradient(&part->tally, part->exponent, sum);
    *loss_sum = tally_loss_value(&part->tally, part->exponent);
}

struct reading_row part_row(const struct part *part, uint32_t i)
{
    CHECK(i < part->rows);
    return reading_at(&part->reading, part->first_row + i);
}
