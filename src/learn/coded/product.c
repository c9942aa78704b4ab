/*
 * product.c - two matrices as a job on coded data: the code, the cut of the
 * rows, the columns.
 */
#include "learn/coded/product.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/check.h"
#include "base/mem.h"
#include "core/msg.h"
#include "data/read/memory.h"
#include "data/rows/coded.h"
#include "learn/workers.h"
#include "node/arithmetic.h"

#define CODE_NAME    "mds"
#define UNCODED_NAME "uncoded"
#define UNCODED_TEXT "mds:s=0"
/* Chunks of a part: strips in which blocks are sent, and what is left over when
 * the number of parts changes. */
#define PART_CHUNKS 16u
/* Numbers of the product: what a run hands over. */
#define NUMBERS_MAX SUM_DIMS_MAX

/* --- workers and code ----------------------------------------------------- */

/* One worker has nobody to be slow for. */
static bool is_uncoded(const struct recipe *recipe)
{
    const char *const text = recipe_text(recipe, OPT_CODE);
    const bool alone = recipe_count(recipe, OPT_N) <= 1 &&
                       !recipe_given(recipe, OPT_LISTEN) &&
                       !recipe_given(recipe, OPT_WORKERS);

    return text == NULL ? alone : strcmp(text, UNCODED_NAME) == 0;
}

static enum err refuse_code(const struct setup *setup, struct why *why)
{
    return why_set(
        why, ERR_SHAPE,
        "code %s adds up sums over rows, and a product has none; "
        "take mds:k=K, of which any K answers do, cec:l=L or uncoded",
        setup_code_name(setup));
}

enum err product_workers(struct setup *setup, struct recipe *recipe,
                         struct why *why)
{
    const bool uncoded = is_uncoded(recipe);
    enum err err = ERR_OK;

    setup->terms.product = true;
    if (!workers_wanted(recipe))
        err = recipe_put(recipe, OPT_N, "1", ORIGIN_FLAG, why);
    if (err == ERR_OK && uncoded)
        err = recipe_put(recipe, OPT_CODE, UNCODED_TEXT, ORIGIN_FLAG, why);
    else if (err == ERR_OK)
        err = recipe_put(recipe, OPT_CODE, CODE_NAME, ORIGIN_DEFAULT, why);
    if (err == ERR_OK)
        err = setup_workers(setup, recipe, why);
    if (err != ERR_OK)
        return err;
    if (setup->adapt || !code_spec_products(&setup->code))
        return refuse_code(setup, why);
    if (uncoded)
        (void)snprintf(setup->code.name, sizeof setup->code.name, "%s",
                       UNCODED_NAME);
    return ERR_OK;
}

/* --- matrices ------------------------------------------------------------- */

static double value_at(const struct memory_rows *matrix, uint64_t i, uint64_t j)
{
    const char *const x = matrix->x;

    return cell_load(matrix->cell, x + (int64_t)i * matrix->row_step +
                                       (int64_t)j * matrix->col_step);
}

static enum err say_value(const char *name, uint64_t i, uint64_t j,
                          struct why *why)
{
    return why_set(why, ERR_RANGE,
                   "%s: row %llu, column %llu is no finite number", name,
                   (unsigned long long)i + 1, (unsigned long long)j + 1);
}

static enum err check_shapes(const struct memory_rows *a,
                             const struct memory_rows *b, struct why *why)
{
    if (a->cols != b->rows)
        return why_set(why, ERR_SHAPE,
                       "A has %llu columns and B has %llu rows; they must be "
                       "as many",
                       (unsigned long long)a->cols,
                       (unsigned long long)b->rows);
    if (a->rows > SUM_DIMS_MAX - KERNEL_LANES || a->cols > DIMS_MAX)
        return why_set(why, ERR_TOOBIG,
                       "A is %llu by %llu; at most %u rows and %u columns are "
                       "supported",
                       (unsigned long long)a->rows, (unsigned long long)a->cols,
                       SUM_DIMS_MAX - KERNEL_LANES, DIMS_MAX);
    if (b->cols > NUMBERS_MAX / a->rows)
        return why_set(why, ERR_TOOBIG,
                       "the product of %llu by %llu has more than %u numbers; "
                       "multiply B's columns in several runs, of at most %llu",
                       (unsigned long long)a->rows, (unsigned long long)b->cols,
                       NUMBERS_MAX,
                       (unsigned long long)(NUMBERS_MAX / a->rows));
    return ERR_OK;
}

/* Parts that the code cuts the rows into, if there are enough. */
static enum err count_parts(const struct setup *setup, uint32_t rows,
                            uint32_t *parts, struct why *why)
{
    const uint32_t plenty = rows > setup->slots ? rows : setup->slots;
    struct code code = {0};
    const enum err err =
        code_build(&code, &setup->code, setup->slots,
                   plenty < CHUNKS_MAX / 2 ? plenty : CHUNKS_MAX / 2, why);

    *parts = code.parts;
    code_close(&code);
    if (err != ERR_OK || *parts <= rows)
        return err;
    return why_set(why, ERR_SHAPE,
                   "code %s cuts A's rows into %u parts, and A has %u row%s; "
                   "take fewer workers, or a smaller k",
                   setup->code.name, *parts, rows, rows == 1 ? "" : "s");
}

/* A multiple of the parts, so that no block is larger than it must be. */
static uint32_t cut(uint32_t rows, uint32_t parts)
{
    const uint32_t chunks = parts * PART_CHUNKS;

    CHECK(chunks > 0);
    return rows > chunks ? (rows - 1) / chunks + 1 : 1;
}

static enum err check_block(const struct setup *setup, uint32_t parts,
                            struct why *why)
{
    const struct block_shape shape = coded_shape(&setup->data, parts, 1);

    if (coded_bytes(&shape) <= CODED_BYTES_MAX)
        return ERR_OK;
    return why_set(why, ERR_TOOBIG,
                   "code %s would make blocks of %.1f GiB for each worker, and "
                   "%u GiB is the limit; take more workers or a larger k",
                   setup->code.name, (double)coded_bytes(&shape) / (1u << 30),
                   (unsigned)(CODED_BYTES_MAX >> 30));
}

static enum err fill_rows(struct dataset *data, const struct memory_rows *a,
                          struct why *why)
{
    for (uint32_t i = 0; i < data->rows; i++) {
        double *const row = dataset_row(data, i);

        for (uint32_t j = 0; j < data->cols; j++) {
            row[j] = value_at(a, i, j);
            if (!isfinite(row[j]))
                return say_value("A", i, j, why);
        }
    }
    chunkset_fill(&data->present);
    return ERR_OK;
}

/* A block is a sum of rows: of one that is far smaller than another it is added
 * to, that many digits are lost. */
static void measure_rows(struct setup *setup, const struct recipe *recipe)
{
    const struct dataset *const data = &setup->data;
    double least = HUGE_VAL, most = 0;

    if (setup->code.stragglers == 0 && !code_spec_elastic(&setup->code))
        return; /* Rows as they are. */
    for (uint32_t i = 0; i < data->rows; i++) {
        const double *const row = dataset_row(data, i);
        double size = 0;

        for (uint32_t j = 0; j < data->cols; j++)
            size = fmax(size, fabs(row[j]));
        least = size > 0 ? fmin(least, size) : least;
        most = fmax(most, size);
    }
    /* Finite, so that a residual of 0 times it is 0. */
    setup->uneven = fmin(most / least, DBL_MAX);
    if (workers_class(recipe) == EXACT_NUMERIC)
        setup->residual_max = CODE_RESIDUAL_MAX / fmax(setup->uneven, 1);
    else if (setup->uneven > PRODUCT_UNEVEN_MOST)
        setup_note(setup,
                   "rows of A have numbers up to %.1e and only up to %.1e: "
                   "coded, the small ones may be right to %.0e of themselves; "
                   "--code uncoded keeps them, or bring rows to one size",
                   most, least, DBL_EPSILON * setup->uneven);
}

static enum err take_rows(struct setup *setup, const struct recipe *recipe,
                          const struct memory_rows *a, struct why *why)
{
    const uint32_t rows = (uint32_t)a->rows;
    struct dataset_shape shape = {
        .storage = STORAGE_F64, .rows = rows, .cols = (uint32_t)a->cols};
    uint32_t parts = 0;
    enum err err = count_parts(setup, rows, &parts, why);

    if (err != ERR_OK)
        return err;
    shape.chunk_rows = cut(rows, parts);
    err = dataset_init_shape(&setup->data, &shape);
    if (err != ERR_OK)
        return why_set(why, err, "no room for A, %u by %u in doubles", rows,
                       shape.cols);
    setup->loaded = true;
    err = fill_rows(&setup->data, a, why);
    if (err == ERR_OK)
        err = check_block(setup, parts, why);
    if (err == ERR_OK) {
        setup_know(setup, &setup->data); /* Many ask. */
        measure_rows(setup, recipe);
    }
    return err;
}

/* As the rows lie: each padded. */
static enum err take_columns(const struct memory_rows *b, uint32_t stride,
                             double **columns, struct why *why)
{
    double *const made = mem_new(b->cols * stride, sizeof *made);

    if (made == NULL)
        return why_set(why, ERR_NOMEM, "no room for B");
    for (uint64_t j = 0; j < b->cols; j++) {
        for (uint64_t i = 0; i < b->rows; i++) {
            const double value = value_at(b, i, j);

            made[j * stride + i] = value;
            if (isfinite(value))
                continue;
            mem_free(made);
            return say_value("B", i, j, why);
        }
    }
    *columns = made;
    return ERR_OK;
}

enum err product_load(struct setup *setup, const struct recipe *recipe,
                      const struct memory_rows *a, const struct memory_rows *b,
                      double **columns, struct why *why)
{
    enum err err = arithmetic_check(setup->isa, why);

    *columns = NULL;
    if (err == ERR_OK)
        err = check_shapes(a, b, why);
    if (err == ERR_OK)
        err = take_rows(setup, recipe, a, why);
    if (err == ERR_OK)
        err = take_columns(b, setup->data.stride, columns, why);
    if (err != ERR_OK)
        return err;
    setup->model = MODEL_LINEAR; /* Whose scores are products. */
    setup->shown_factor = 1;
    setup->optim = optim_defaults(OPTIM_COLUMNS);
    setup->optim.rows = setup->data.rows;
    setup->optim.steps = (uint32_t)b->cols;
    setup->optim.columns = (struct optim_columns){*columns, setup->data.stride};
    return workers_try_code(setup, recipe, dataset_chunks(&setup->data), why);
}
