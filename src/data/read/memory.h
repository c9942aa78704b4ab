/*
 * memory.h - rows that the calling program holds already: arrays of its own,
 * read where they lie.
 *
 *     dense    value (i, j) at x + i * row_step + j * col_step, in bytes: C
 *              order, Fortran order, and slices of either
 *     CSR      row i has the entries begin[i] .. begin[i + 1] - 1 of column
 *              and value, columns in any order, each at most once
 *
 * Dense rows are packed into the data set straight from the array: there is no
 * copy in between.  All else goes through a stage, as files do.  What becomes
 * of the rows (storage, fp64 where rounding does harm, labels, intercept)
 * follows the rules of source.h, so that an array and a file of the same
 * numbers give the same data set.
 */
#ifndef DATA_READ_MEMORY_H
#define DATA_READ_MEMORY_H

#include <stdint.h>

#include "base/err.h"
#include "base/pool.h"
#include "data/rows/stage.h"
#include "data/table/cell.h"
#include "data/table/frame.h"

struct arrow_table;

struct memory_rows {
    uint64_t rows, cols;
    enum cell cell; /* Of x, or of CSR's values. */
    uint32_t byte;  /* Dense: what bytes are divided by; 0: nothing. */
    const void *x;  /* Dense; else NULL. */
    int64_t row_step, col_step;
    const void *begin;    /* CSR: rows + 1 of them; else NULL. */
    enum cell begin_cell; /* CELL_I32 or CELL_I64, as column_cell. */
    const void *column;
    enum cell column_cell;
    const void *value;               /* NULL: every entry is 1. */
    const struct arrow_table *arrow; /* A table by columns; else NULL. */
    const double *label;             /* rows; NULL: there are none. */
    const double *weight;            /* rows, 0 or more; NULL: all 1. */
};

/* The data set of dense rows, labels as given.  ERR_UNSUPPORTED without a
 * sentence: it should be a sparse one, read it by memory_stage.  Others as
 * stage_build. */
MUST_CHECK enum err memory_pack(const struct memory_rows *from, bool wide,
                                const struct stage_options *options,
                                struct pool *pool, struct dataset *data,
                                struct why *why);
/* Dense rows as a frame of numbers.  Takes the form, which is empty afterwards.
 * Without `gaps` a NaN is ERR_RANGE. */
MUST_CHECK enum err memory_frame(const struct memory_rows *from, bool gaps,
                                 struct csv *form, struct frame *frame,
                                 struct why *why);
/* Rows of either kind.  Sentences name row and column. */
MUST_CHECK enum err memory_stage(const struct memory_rows *from,
                                 struct pool *pool, struct stage *stage,
                                 struct why *why);

#endif /* DATA_READ_MEMORY_H */
