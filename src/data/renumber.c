#include "data/renumber.h"

#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "base/mem.h"
#include "os/pages.h"

/* Weights and sums of so many columns fit the second-level cache. */
#define FREQUENT_MAX 16384u

enum { RUN = 12 }; /* Entries that are sorted by moving them up. */

struct counted {
    uint32_t column, count;
};

static int by_count(const void *a, const void *b)
{
    const struct counted *x = a;
    const struct counted *y = b;

    if (x->count != y->count)
        return x->count > y->count ? -1 : 1;
    return x->column < y->column ? -1 : 1;
}

/* fresh[old number] = new number; UINT32_MAX: none yet. */
struct numbering {
    uint32_t *fresh;
    uint32_t *original;
    uint32_t next;
};

static void give_number(struct numbering *to, uint32_t column)
{
    if (to->fresh[column] != UINT32_MAX)
        return;
    to->fresh[column] = to->next;
    to->original[to->next++] = column;
}

static void number_frequent(struct numbering *to, struct counted *counted,
                            uint32_t cols)
{
    const uint32_t most = cols < FREQUENT_MAX ? cols : FREQUENT_MAX;

    qsort(counted, cols, sizeof *counted, by_count);
    for (uint32_t i = 0; i < most && counted[i].count > 1; i++)
        give_number(to, counted[i].column);
}

/* How often each column is used, and the columns in order of their first use;
 * returns how many are used at all. */
static uint32_t count_columns(const struct dataset *data,
                              struct counted *counted, uint32_t *appeared)
{
    const uint64_t entries = data->begin[data->rows];
    uint32_t seen = 0;

    for (uint32_t j = 0; j < data->cols; j++)
        counted[j].column = j;
    for (uint64_t k = 0; k < entries; k++) {
        const uint32_t column = data->column[k];

        /* Written always and kept if it was the first: no branch to guess. */
        appeared[seen] = column;
        seen += counted[column].count++ == 0;
    }
    return seen;
}

static enum err number_by_counts(const struct dataset *data, bool intercept,
                                 struct numbering *to)
{
    const uint32_t cols = data->cols;
    const uint32_t features = cols - (intercept ? 1 : 0);
    struct counted *counted = pages_new(cols, sizeof *counted);
    uint32_t *appeared = pages_new((uint64_t)cols + 1, sizeof *appeared);

    if (counted != NULL && appeared != NULL) {
        const uint32_t seen = count_columns(data, counted, appeared);

        number_frequent(to, counted, features);
        for (uint32_t i = 0; i < seen; i++) {
            if (appeared[i] < features)
                give_number(to, appeared[i]);
        }
        for (uint32_t j = 0; j < cols; j++) /* Never seen; the intercept. */
            give_number(to, j);
    }
    pages_free(counted, cols, sizeof *counted);
    pages_free(appeared, (uint64_t)cols + 1, sizeof *appeared);
    return to->next == cols ? ERR_OK : ERR_NOMEM;
}

static enum err number_as(const struct dataset *like, uint32_t cols,
                          struct numbering *to)
{
    if (like->cols != cols)
        return ERR_SHAPE;
    for (uint32_t j = 0; j < cols; j++)
        give_number(to, like->original == NULL ? j : like->original[j]);
    return ERR_OK;
}

static void sort_run(uint64_t *entry, size_t count)
{
    for (size_t i = 1; i < count; i++) {
        const uint64_t moved = entry[i];
        size_t at = i;

        for (; at > 0 && entry[at - 1] > moved; at--)
            entry[at] = entry[at - 1];
        entry[at] = moved;
    }
}

static void merge(const uint64_t *a, size_t a_count, const uint64_t *b,
                  size_t b_count, uint64_t *out)
{
    while (a_count > 0 && b_count > 0) {
        const bool first = *a <= *b;

        *out++ = first ? *a : *b;
        a += first;
        a_count -= first;
        b += !first;
        b_count -= !first;
    }
    memcpy(out, a_count > 0 ? a : b, (a_count + b_count) * sizeof *out);
}

/* Runs of RUN sorted in place, then merged in pairs, to and fro; columns are
 * distinct.  Half the time of qsort, which calls back for every comparison. */
static void sort_entries(uint64_t *entry, uint64_t *other, size_t count)
{
    uint64_t *from = entry;
    uint64_t *to = other;

    for (size_t at = 0; at < count; at += RUN)
        sort_run(entry + at, count - at < RUN ? count - at : RUN);
    for (size_t run = RUN; run < count; run *= 2) {
        uint64_t *const swapped = from;

        for (size_t at = 0; at < count; at += 2 * run) {
            const size_t left = count - at;
            const size_t a = left < run ? left : run;
            const size_t b = left - a < run ? left - a : run;

            merge(from + at, a, from + at + a, b, to + at);
        }
        from = to;
        to = swapped;
    }
    if (from != entry)
        memcpy(entry, from, count * sizeof *entry);
}

struct rewrite {
    struct dataset *data;
    const uint32_t *fresh;
    uint64_t *scratch; /* Twice `longest` for each thread: columns above,
                          values below. */
    size_t longest;
};

static void rewrite_row(const struct rewrite *rewrite, uint32_t row,
                        uint64_t *scratch)
{
    struct dataset *const data = rewrite->data;
    const uint64_t start = data->begin[row];
    const size_t count = data->begin[row + 1] - start;
    uint32_t *const column = data->column + start;
    float *const value = data->value == NULL ? NULL : data->value + start;

    for (size_t k = 0; k < count; k++) {
        uint32_t bits = 0;

        if (value != NULL)
            memcpy(&bits, &value[k], sizeof bits);
        scratch[k] = (uint64_t)rewrite->fresh[column[k]] << 32 | bits;
    }
    sort_entries(scratch, scratch + rewrite->longest, count);
    for (size_t k = 0; k < count; k++) {
        const uint32_t bits = (uint32_t)scratch[k];

        column[k] = (uint32_t)(scratch[k] >> 32);
        if (value != NULL)
            memcpy(&value[k], &bits, sizeof bits);
    }
}

static void rewrite_chunk(void *context, uint32_t thread, uint32_t item)
{
    const struct rewrite *const rewrite = context;
    const uint32_t first = item * rewrite->data->chunk_rows;
    const uint32_t end = first + dataset_chunk_size(rewrite->data, item);

    for (uint32_t row = first; row < end; row++)
        rewrite_row(rewrite, row,
                    rewrite->scratch + 2 * thread * rewrite->longest);
}

static enum err rewrite_rows(struct dataset *data, const uint32_t *fresh,
                             struct pool *pool)
{
    struct rewrite rewrite = {.data = data, .fresh = fresh};

    for (uint32_t row = 0; row < data->rows; row++) {
        const size_t length = data->begin[row + 1] - data->begin[row];

        if (length > rewrite.longest)
            rewrite.longest = length;
    }
    rewrite.scratch = mem_new(pool->threads, (2 * rewrite.longest + 1) *
                                                 sizeof *rewrite.scratch);
    if (rewrite.scratch == NULL)
        return ERR_NOMEM;
    pool->run(pool, rewrite_chunk, &rewrite, dataset_chunks(data));
    mem_free(rewrite.scratch);
    return ERR_OK;
}

enum err renumber_columns(struct dataset *data, const struct dataset *like,
                          bool intercept, struct pool *pool)
{
    const uint32_t cols = data->cols;
    struct numbering to = {0};
    enum err err = ERR_NOMEM;

    CHECK(dataset_is_sparse(data));
    CHECK(data->original == NULL);
    to.fresh = pages_new(cols, sizeof *to.fresh);
    to.original = pages_new(cols, sizeof *to.original);
    if (to.fresh != NULL && to.original != NULL) {
        memset(to.fresh, 0xff, cols * sizeof *to.fresh);
        err = like != NULL ? number_as(like, cols, &to)
                           : number_by_counts(data, intercept, &to);
    }
    if (err == ERR_OK)
        err = rewrite_rows(data, to.fresh, pool);
    pages_free(to.fresh, cols, sizeof *to.fresh);
    if (err != ERR_OK) {
        pages_free(to.original, cols, sizeof *to.original);
        return err;
    }
    data->original = to.original;
    return ERR_OK;
}
