/*
 * cut.c - how the rows of a shelf are cut into chunks, to a sampler: where each
 * owner's rows have chunks of their own, only they say where one begins.
 */
#include "base/mem.h"
#include "eval/kinds.h"

/* Of a part: its rows as they are numbered among all owners'. */
static uint32_t *cut_of_part(const struct shelf *shelf)
{
    const struct dataset *const data = shelf->data;
    const uint32_t chunks = dataset_chunks(data);
    uint32_t *const cut = mem_new((size_t)chunks + 1, sizeof *cut);

    for (uint32_t k = 0; cut != NULL && k < chunks; k++)
        cut[k] = shelf->first_row + dataset_first_row(data, k);
    if (cut != NULL)
        cut[chunks] = shelf->first_row + data->rows;
    return cut;
}

static bool part_fits(const struct sampler *sampler, const struct shelf *shelf)
{
    return !sampler_scatters(sampler->kind) &&
           shelf->first_row <= sampler->rows &&
           shelf->data->rows <= sampler->rows - shelf->first_row;
}

enum err shelf_cut(const struct shelf *shelf, struct sampler *sampler,
                   uint32_t **own)
{
    *own = NULL;
    if (!shelf->part) {
        sampler->cut = shelf->data->cut;
        sampler->chunks = dataset_chunks(shelf->data);
        return ERR_OK;
    }
    if (!part_fits(sampler, shelf))
        return ERR_SHAPE;
    *own = cut_of_part(shelf);
    sampler->cut = *own;
    sampler->first = shelf->first;
    sampler->chunks = shelf->chunks;
    return *own != NULL ? ERR_OK : ERR_NOMEM;
}
