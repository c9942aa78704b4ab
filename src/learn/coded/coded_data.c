/*
 * coded_data.c - limits of codes on coded data (mds, cec): one weight vector,
 * blocks that fit into memory; and the columns that filters of samples name.
 */
#include "learn/coded/coded_data.h"

#include <stdio.h>

#include "core/msg.h"
#include "data/rows/coded.h"
#include "data/rows/colour.h"

/* Of a block of sparse rows: what the rows themselves would never take. */
#define SPARSE_BYTES_MAX (UINT64_C(1) << 28)

static enum err vet_method(const struct setup *setup,
                           const struct code_spec *code, struct why *why)
{
    struct choices choices = {.model = model_ops(setup->model)->name};

    choices_code(&choices, code);
    choices_optim(&choices, optim_name(setup->optim.kind));
    if (model_ops(setup->model)->classes)
        choices_add(&choices, TRAIT(CLASSES), NULL);
    return rules_check(&choices, why);
}

/* Of too few chunks for `parts` of them, and the largest that are enough. */
static enum err refuse_chunks(const struct dataset *data, const char *code,
                              uint32_t parts, struct why *why)
{
    char enough[48] = "";

    if (data->rows >= parts)
        (void)snprintf(enough, sizeof enough, ", or --chunk-rows %u",
                       (data->rows - 1) / (parts - 1));
    return why_set(why, ERR_SHAPE,
                   "code %s cuts the rows into l=%u parts, and %u rows in "
                   "chunks of %u are only %u; give a smaller l%s",
                   code, parts, data->rows, data->chunk_rows,
                   dataset_chunks(data), enough);
}

static enum err vet_size(const struct dataset *data,
                         const struct code_spec *code, uint32_t slots,
                         struct why *why)
{
    const uint32_t chunks = dataset_chunks(data);
    const uint32_t k = code_spec_enough(code, slots);
    struct block_shape shape =
        coded_shape(data, k < chunks ? k : chunks, code->copies);
    double gib;

    shape.narrow = code->narrow;
    gib = (double)coded_bytes(&shape) / (1u << 30);
    if (code_spec_elastic(code) && chunks < k)
        return refuse_chunks(data, code->name, k, why);
    if (chunks > CHUNKS_MAX / 2)
        return why_set(why, ERR_SHAPE,
                       "code %s takes at most %u chunks, not %u; give a larger "
                       "--chunk-rows",
                       code->name, CHUNKS_MAX / 2, chunks);
    if (data->rows > SUM_DIMS_MAX - KERNEL_LANES)
        return why_set(why, ERR_SHAPE,
                       "code %s sends a number for every row, at most %u, and "
                       "there are %u rows; take steal or cb",
                       code->name, SUM_DIMS_MAX - KERNEL_LANES, data->rows);
    if (dataset_is_sparse(data) && coded_bytes(&shape) > SPARSE_BYTES_MAX)
        return why_set(why, ERR_SHAPE,
                       "these rows are sparse, and sums of them are not: code "
                       "%s would make %.1f GiB of dense numbers for each "
                       "worker; take steal",
                       code->name, gib);
    if (coded_bytes(&shape) > CODED_BYTES_MAX)
        return why_set(why, ERR_SHAPE,
                       "code %s would make %.1f GiB of dense numbers for each "
                       "worker out of %u rows of %u columns, and %u GiB is its "
                       "limit; take steal, cb or more workers",
                       code->name, gib, data->rows, data->cols,
                       (unsigned)(CODED_BYTES_MAX >> 30));
    return ERR_OK;
}

enum err coded_data_vet(const struct setup *setup, const struct code_spec *code,
                        struct why *why)
{
    enum err err;

    if (code->filters != NULL)
        return colour_check(code->filters, &setup->data.image,
                            setup->data.cols - (setup->intercept ? 1 : 0), why);
    if (!code_spec_products(code) || setup->slots == 0)
        return ERR_OK;
    err = vet_method(setup, code, why);
    return err != ERR_OK ? err
                         : vet_size(&setup->data, code, setup->slots, why);
}
