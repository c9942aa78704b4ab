/*
 * sparse_columns.c - some columns of sparse rows whose residuals are known.
 *
 * Each row has its columns in order: those of a thread are found by bisection,
 * a few rows ahead of their use, and nobody looks at the others.
 */
#include "math/kernel/sparse_row.h"

/* Rows between the search for their entries and their use. */
#define ROWS_AHEAD 4u

static bool add_row_portable(const struct sparse_row *row, int least,
                             int64_t *sum)
{
    return sparse_add_rest(row, 0, least, sum);
}

static const sparse_row_adder variants[ISAS] =
    ISA_TABLE(add_row_portable, add_row_portable, sparse_add_row_avx512);

sparse_row_adder sparse_row_adder_of(enum isa isa)
{
    return isa_row(variants, isa);
}

enum err sparse_least(const int16_t *exponent, uint32_t cols, int16_t *least)
{
    int16_t low = exponent[0];
    int16_t high = exponent[0];

    for (uint32_t j = 1; j < cols; j++) {
        low = exponent[j] < low ? exponent[j] : low;
        high = exponent[j] > high ? exponent[j] : high;
    }
    if (high - low > SPARSE_EXPONENT_SPAN)
        return ERR_RANGE;
    *least = low;
    return ERR_OK;
}

void sparse_columns_open(const struct sparse_columns *columns)
{
    int64_t *const sum = columns->sum;

    for (uint32_t j = columns->first; j < columns->end; j++)
        sum[j] = (int64_t)((uint64_t)sum[j] << SPARSE_EXPONENT_BITS |
                           (uint64_t)(columns->exponent[j] - columns->least));
}

void sparse_columns_settle(const struct sparse_columns *columns)
{
    for (uint32_t j = columns->first; j < columns->end; j++)
        columns->sum[j] >>= SPARSE_EXPONENT_BITS;
}

/* Entries [from, to) of a chunk. */
struct entries {
    uint64_t from, to;
};

/* How many of the columns, which ascend, are below `limit`. */
INLINE uint64_t count_below(const uint32_t *column, uint64_t count,
                            uint32_t limit)
{
    uint64_t low = 0;

    while (count > 0) {
        const uint64_t half = count / 2;
        const bool below = column[low + half] < limit;

        low = below ? low + half + 1 : low;
        count = below ? count - half - 1 : half;
    }
    return low;
}

/* Those of a row in these columns.  Where the sums are is asked for already:
 * nobody can foresee it. */
static struct entries find_entries(const struct sparse_columns *columns,
                                   const struct sparse_rows *in, uint32_t row)
{
    const uint64_t begin = in->begin[row];
    const uint64_t end = in->begin[row + 1];
    const uint64_t from =
        begin + count_below(in->column + begin, end - begin, columns->first);
    uint64_t to = from;

    for (; to < end && in->column[to] < columns->end; to++)
        __builtin_prefetch(&columns->sum[in->column[to]], 1, 3);
    return (struct entries){from, to};
}

static bool add_entries(const struct sparse_columns *columns,
                        sparse_row_adder add_row, const struct sparse_rows *in,
                        struct entries entries, double r)
{
    const uint32_t *const column = in->column + entries.from;
    const struct sparse_row row = {
        .column = column,
        .value = in->value != NULL ? in->value + entries.from : NULL,
        .count = entries.to - entries.from,
        .r = r,
    };

    if (in->value != NULL)
        return add_row(&row, columns->least, columns->sum);
    return sparse_add_ones(column, in->column + entries.to,
                           r * power_of_two(columns->exponent[0]),
                           columns->sum);
}

bool sparse_columns_add(const struct sparse_columns *columns,
                        const struct sparse_rows *in, const double *r)
{
    const sparse_row_adder add_row = sparse_row_adder_of(columns->isa);
    struct entries ring[ROWS_AHEAD];
    bool fits = true;

    for (uint32_t i = 0; i < ROWS_AHEAD && i < in->rows; i++)
        ring[i] = find_entries(columns, in, i);
    for (uint32_t i = 0; i < in->rows; i++) {
        struct entries *const at = &ring[i % ROWS_AHEAD];

        fits &= add_entries(columns, add_row, in, *at, r[i]);
        if (in->rows - i > ROWS_AHEAD)
            *at = find_entries(columns, in, i + ROWS_AHEAD);
    }
    return fits;
}
