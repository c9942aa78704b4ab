/*
 * renumber.c - renumbering of sparse columns by frequency, for the cache: a
 * counting pass, then a radix sort of each chunk's entries.
 */
#include "data/rows/renumber.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "base/mem.h"
#include "os/run/pages.h"

/* Weights and sums of so many columns fit the second-level cache. */
#define FREQUENT_MAX 16384u

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

/*
 * Rows are sorted many at a time, by a radix sort of (new number, row): digits
 * of the number from the lowest up, then the row.  Every entry is moved four
 * times at most and no comparison can be guessed wrong, which sorting row by
 * row costs most.
 *
 *     entry  =  number << 40 | row of the group << 32 | bits of the value
 */

enum {
    GROUP_ROWS = 256,     /* Rows of a group have 8 bits. */
    GROUP_ENTRIES = 8192, /* Enough that clearing the counts is cheap. */
    DIGIT_BITS = 9,
    DIGITS = 1 << DIGIT_BITS,
    DIGITS_MOST = 3, /* Of a column: 24 bits. */
    NUMBER_SHIFT = 40,
    ROW_SHIFT = 32,
};

static_assert(DATA_COLS_MAX <= UINT32_C(1) << (64 - NUMBER_SHIFT),
              "a column's number must fit above the row");

struct rewrite {
    struct dataset *data;
    const uint32_t *fresh;
    uint64_t *scratch; /* Twice `room` for each thread. */
    size_t room;
    uint32_t digits; /* Of the largest number. */
};

static uint32_t digit_of(uint64_t entry, uint32_t digit)
{
    return (uint32_t)(entry >> (NUMBER_SHIFT + DIGIT_BITS * digit)) &
           (DIGITS - 1);
}

static void number_entries(const struct rewrite *rewrite, uint32_t first,
                           uint32_t end, uint64_t *entry)
{
    const struct dataset *const data = rewrite->data;
    size_t at = 0;

    for (uint32_t row = first; row < end; row++) {
        const uint64_t place = (uint64_t)(row - first) << ROW_SHIFT;

        for (uint64_t k = data->begin[row]; k < data->begin[row + 1]; k++) {
            const uint64_t number = rewrite->fresh[data->column[k]];
            uint32_t bits = 0;

            if (data->value != NULL)
                memcpy(&bits, &data->value[k], sizeof bits);
            entry[at++] = number << NUMBER_SHIFT | place | bits;
        }
    }
}

/* Stable: entries of equal digits keep their order. */
static void sort_by_digit(const uint64_t *from, uint64_t *to, size_t count,
                          uint32_t digit)
{
    uint32_t next[DIGITS] = {0};
    uint32_t before = 0;

    for (size_t k = 0; k < count; k++)
        next[digit_of(from[k], digit)]++;
    for (uint32_t d = 0; d < DIGITS; d++) {
        const uint32_t here = next[d];

        next[d] = before;
        before += here;
    }
    for (size_t k = 0; k < count; k++)
        to[next[digit_of(from[k], digit)]++] = from[k];
}

/* Each entry, in the order of numbers, to the next place of its row. */
static void deal_out(struct dataset *data, const uint64_t *entry, size_t count,
                     uint32_t first, uint32_t end)
{
    uint64_t next[GROUP_ROWS];

    memcpy(next, data->begin + first, (end - first) * sizeof *next);
    for (size_t k = 0; k < count; k++) {
        const uint32_t row = (uint32_t)(entry[k] >> ROW_SHIFT) & 0xffu;
        const uint64_t at = next[row]++;
        const uint32_t bits = (uint32_t)entry[k];

        data->column[at] = (uint32_t)(entry[k] >> NUMBER_SHIFT);
        if (data->value != NULL)
            memcpy(&data->value[at], &bits, sizeof bits);
    }
}

static void rewrite_group(const struct rewrite *rewrite, uint32_t first,
                          uint32_t end, uint64_t *scratch)
{
    struct dataset *const data = rewrite->data;
    const size_t count = data->begin[end] - data->begin[first];
    uint64_t *from = scratch;
    uint64_t *to = scratch + rewrite->room;

    number_entries(rewrite, first, end, from);
    for (uint32_t digit = 0; digit < rewrite->digits; digit++) {
        uint64_t *const sorted = to;

        sort_by_digit(from, to, count, digit);
        to = from;
        from = sorted;
    }
    deal_out(data, from, count, first, end);
}

/* Rows from `first` that make a group: a single one may be longer. */
static uint32_t group_end(const struct dataset *data, uint32_t first,
                          uint32_t end)
{
    uint32_t row = first + 1;

    while (row < end && row - first < GROUP_ROWS &&
           data->begin[row + 1] - data->begin[first] <= GROUP_ENTRIES)
        row++;
    return row;
}

static void rewrite_chunk(void *context, uint32_t thread, uint32_t item)
{
    const struct rewrite *const rewrite = context;
    const struct dataset *const data = rewrite->data;
    const uint32_t end =
        item * data->chunk_rows + dataset_chunk_size(data, item);
    uint64_t *const scratch = rewrite->scratch + 2 * thread * rewrite->room;

    for (uint32_t row = item * data->chunk_rows; row < end;) {
        const uint32_t next = group_end(data, row, end);

        rewrite_group(rewrite, row, next, scratch);
        row = next;
    }
}

static enum err rewrite_rows(struct dataset *data, const uint32_t *fresh,
                             struct pool *pool)
{
    struct rewrite rewrite = {
        .data = data, .fresh = fresh, .room = GROUP_ENTRIES};

    for (uint32_t row = 0; row < data->rows; row++) {
        const size_t length = data->begin[row + 1] - data->begin[row];

        if (length > rewrite.room)
            rewrite.room = length;
    }
    while ((data->cols - 1) >> (DIGIT_BITS * rewrite.digits) != 0)
        rewrite.digits++;
    CHECK(rewrite.digits <= DIGITS_MOST);
    rewrite.scratch =
        mem_new(pool->threads, 2 * rewrite.room * sizeof *rewrite.scratch);
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
