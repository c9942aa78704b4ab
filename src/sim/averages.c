/*
 * averages.c - an oracle of code `local`: it computes an average once more from
 * the receipt alone, by plain loops of its own, because what is shared with the
 * coordinator would be wrong in both.
 */
#include "sim/averages.h"

#include <string.h>

#include "base/mem.h"

enum err averages_init(struct averages *averages, struct oracle *oracle)
{
    const size_t dims = oracle->dims;
    struct averages made = {.oracle = oracle};

    made.weights =
        mem_new((oracle->capacity + (size_t)1) * dims, sizeof *made.weights);
    made.room = mem_new(2 * (dims + 1), sizeof *made.room);
    if (made.weights == NULL || made.room == NULL) {
        averages_close(&made);
        return ERR_NOMEM;
    }
    *averages = made;
    return ERR_OK;
}

void averages_close(struct averages *averages)
{
    mem_free(averages->weights);
    mem_free(averages->room);
    *averages = (struct averages){0};
}

struct share {
    uint32_t first, end; /* Chunks. */
    uint64_t rows;       /* 0: missing, or nothing to do. */
};

static struct share share_of(const struct averages *averages,
                             const struct record *record, uint32_t slot)
{
    const struct dataset *const data = averages->oracle->problem->data;
    const uint64_t chunks = averages->oracle->chunks;
    struct share share = {.first = (uint32_t)(slot * chunks / record->slots),
                          .end =
                              (uint32_t)((slot + 1) * chunks / record->slots)};

    if (((unsigned)record->silent[slot / 8] >> slot % 8 & 1u) != 0)
        return share;
    for (uint32_t chunk = share.first; chunk < share.end; chunk++)
        share.rows += dataset_chunk_size(data, chunk);
    return share;
}

/* sum <- the mean displacement of those who took part. */
static enum err add_shares(struct averages *averages,
                           const struct record *record, const double *w,
                           uint64_t rows, double *sum)
{
    const uint32_t dims = averages->oracle->dims;
    double *const moved = sum + dims + 1;
    enum err err = ERR_OK;

    memset(sum, 0, (dims + (size_t)1) * sizeof *sum);
    for (uint32_t slot = 0; slot < record->slots && err == ERR_OK; slot++) {
        const struct share share = share_of(averages, record, slot);

        if (share.rows == 0)
            continue;
        err = oracle_local(averages->oracle, averages->oracle->problem,
                           record->step - 1, w, share.first, share.end, moved);
        for (uint32_t j = 0; j < dims; j++)
            sum[j] += (double)share.rows / (double)rows * moved[j];
    }
    return err;
}

const char *averages_redo(struct averages *averages,
                          const struct record *record)
{
    const struct oracle *const oracle = averages->oracle;
    const uint32_t dims = oracle->dims;
    uint64_t rows = 0;
    uint32_t chunks = 0;
    const double *before;
    double *after;
    struct digest hash;

    if (record->step == 0 || record->step > oracle->capacity ||
        record->slots == 0 || record->slots > RECORD_SLOTS)
        return "names no average";
    for (uint32_t slot = 0; slot < record->slots; slot++) {
        const struct share share = share_of(averages, record, slot);

        rows += share.rows;
        chunks += share.rows > 0 ? share.end - share.first : 0;
    }
    if (rows == 0 || chunks != record->chunks)
        return "counts other chunks than its slots have";
    if (record->rescale != (double)oracle->problem->data->rows / (double)rows)
        return "has another factor than its rows";
    before = averages->weights + (size_t)(record->step - 1) * dims;
    after = averages->weights + (size_t)record->step * dims;
    if (add_shares(averages, record, before, rows, averages->room) != ERR_OK)
        return "cannot be computed again";
    for (uint32_t j = 0; j < dims; j++)
        after[j] = before[j] + averages->room[j];
    hash = oracle_hash(oracle, after);
    return digest_equal(&hash, &record->weights)
               ? NULL
               : "has other weights than those who took part give";
}
