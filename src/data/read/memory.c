/*
 * memory.c - arrays of the calling program become a data set.
 *
 * Dense rows are looked at once, block by block, by all threads: a census
 * decides the storage, as for files.  Most tables end as fp32, so the rows are
 * packed as fp32 while they are looked at; if the census chooses another form,
 * they are packed again.
 */
#include "data/read/memory.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "base/mem.h"
#include "math/kernel/narrow.h"

enum { BLOCK_VALUES = 1 << 16, STAGE_ENTRIES = 1 << 17, TILE_ROWS = 16 };

#define FLOAT_LIMIT 0x1.ffffffp127 /* As sparse_in_range has it. */

/* --- cells ---------------------------------------------------------------- */

static double load_f64(const uint8_t *at)
{
    double value;

    memcpy(&value, at, sizeof value);
    return value;
}

static double load_f32(const uint8_t *at)
{
    float value;

    memcpy(&value, at, sizeof value);
    return (double)value;
}

/* Adding +0 makes a zero of -0 (block_pack). */
static void load_strided(enum cell cell, const uint8_t *at, int64_t step,
                         size_t count, size_t out_step, double *out)
{
    if (cell == CELL_F64) {
        for (size_t k = 0; k < count; k++)
            out[k * out_step] = load_f64(at + (int64_t)k * step) + 0.0;
    } else if (cell == CELL_F32) {
        for (size_t k = 0; k < count; k++)
            out[k * out_step] = load_f32(at + (int64_t)k * step) + 0.0;
    } else {
        for (size_t k = 0; k < count; k++)
            out[k * out_step] = cell_load(cell, at + (int64_t)k * step);
    }
}

static bool memory_divides(const struct memory_rows *from)
{
    return from->cell == CELL_U8 && from->byte > 1;
}

/* Up to TILE_ROWS rows as doubles, one after the other.  Along the memory,
 * whichever way that is. */
static void load_tile(const struct memory_rows *from, uint64_t row,
                      size_t count, double *out)
{
    const size_t cols = (size_t)from->cols;
    const uint8_t *const at =
        (const uint8_t *)from->x + (int64_t)row * from->row_step;

    if (llabs(from->col_step) <= llabs(from->row_step)) {
        for (size_t i = 0; i < count; i++)
            load_strided(from->cell, at + (int64_t)i * from->row_step,
                         from->col_step, cols, 1, out + i * cols);
    } else {
        for (size_t j = 0; j < cols; j++)
            load_strided(from->cell, at + (int64_t)j * from->col_step,
                         from->row_step, count, cols, out + j);
    }
    for (size_t k = 0; memory_divides(from) && k < count * cols; k++)
        out[k] /= from->byte;
}

/* --- the census ----------------------------------------------------------- */

struct look {
    struct census census;
    uint64_t bad; /* The first row with a value that is out of range, and 1. */
};

/* Value by value, as stage.c takes it; only while some narrow form may still
 * hold all of them, or where fp32 loses more than bits. */
static void look_closely(const double *row, size_t count, bool wide,
                         struct census *census)
{
    for (size_t k = 0; k < count; k++) {
        const double kept = wide ? row[k] : (double)(float)row[k];
        const double error = fabs((double)(float)row[k] - row[k]);

        if (kept != row[k]) {
            census->rounded++;
            if (error > census->error * fabs(row[k]))
                census->error = error / fabs(row[k]);
        }
        census->nonzero += kept != 0;
        census->fits &= value_fits(kept);
    }
}

static bool in_range(const double *row, size_t count, bool wide)
{
    const double limit = wide ? (double)INFINITY : FLOAT_LIMIT;
    uint32_t good = 0;

    for (size_t k = 0; k < count; k++)
        good += fabs(row[k]) < limit;
    return good == count;
}

/* Look at a row that narrow() has counted. */
static void look_at(const double *row, size_t count, const struct narrowed *n,
                    struct census *census)
{
    census->rows++;
    if (census->fits != VALUES_F32 || n->normal + n->zero != count) {
        look_closely(row, count, false, census);
        return;
    }
    census->nonzero += n->normal;
    census->rounded += n->rounded;
    if (n->rounded > 0 && census->error < 0x1p-24)
        census->error = 0x1p-24; /* At most. */
}

static void merge(struct census *total, const struct census *one)
{
    total->rows += one->rows;
    total->nonzero += one->nonzero;
    total->fits &= one->fits;
    total->rounded += one->rounded;
    total->error = one->error > total->error ? one->error : total->error;
}

/* --- dense rows ----------------------------------------------------------- */

struct packing {
    const struct memory_rows *from;
    enum isa isa;
    bool wide;
    uint32_t features; /* Columns that are kept. */
    bool intercept;
    uint64_t block_rows;
    struct look *look; /* One for each block; NULL: looked at before. */
    double *tile;      /* TILE_ROWS rows for each thread. */
    struct dataset *data;
};

/* The values of a row to the data set; while it is looked at, false if one is
 * out of range. */
static bool pack_values(const struct packing *p, const double *row, void *out,
                        struct census *census)
{
    const enum storage storage = p->data->storage;

    if (storage == STORAGE_F32) {
        const struct narrowed n = narrow(p->isa, row, p->features, out);

        if (n.spoiled == 0 && p->look != NULL)
            look_at(row, p->features, &n, census);
        return n.spoiled == 0;
    }
    if (p->look != NULL && !in_range(row, p->features, p->wide))
        return false;
    if (p->look != NULL) {
        census->rows++;
        look_closely(row, p->features, p->wide, census);
    }
    for (uint32_t j = 0; j < p->features; j++)
        storage_put(storage, out, j, row[j] + 0.0);
    return true;
}

static bool pack_row(const struct packing *p, const double *row, uint32_t to,
                     struct census *census)
{
    struct dataset *const data = p->data;
    void *const out = dataset_row(data, to); /* Fresh: zeros. */

    if (p->intercept)
        storage_put(data->storage, out, data->cols - 1, 1);
    data->y[to] = p->from->label != NULL ? p->from->label[to] : nan("");
    if (data->weight != NULL)
        data->weight[to] = p->from->weight[to];
    return pack_values(p, row, out, census);
}

/* Doubles one after the other are read where they lie. */
static bool lies_plain(const struct memory_rows *from)
{
    return from->cell == CELL_F64 && from->col_step == sizeof(double) &&
           (uintptr_t)from->x % sizeof(double) == 0 &&
           from->row_step % (int64_t)sizeof(double) == 0;
}

static const double *rows_at(const struct memory_rows *from, uint64_t row,
                             size_t count, double *tile)
{
    if (lies_plain(from))
        return (const double *)(const void *)((const uint8_t *)from->x +
                                              (int64_t)row * from->row_step);
    load_tile(from, row, count, tile);
    return tile;
}

static void pack_block(void *context, uint32_t thread, uint32_t item)
{
    struct packing *const p = context;
    const size_t step = lies_plain(p->from) ? 1 : TILE_ROWS;
    const size_t cols = (size_t)p->from->cols;
    const uint64_t first = item * p->block_rows;
    const uint64_t end = first + p->block_rows < p->from->rows
                             ? first + p->block_rows
                             : p->from->rows;
    double *const tile = p->tile + (size_t)thread * TILE_ROWS * cols;
    struct look look = {.census = {.fits = VALUES_ALL}};

    for (uint64_t row = first; row < end && look.bad == 0; row += step) {
        const size_t count = end - row < step ? (size_t)(end - row) : step;
        const double *const at = rows_at(p->from, row, count, tile);

        for (size_t i = 0; i < count && look.bad == 0; i++)
            if (!pack_row(p, at + i * cols, (uint32_t)(row + i), &look.census))
                look.bad = row + i + 1;
    }
    if (p->look != NULL)
        p->look[item] = look;
}

/* Why the first bad row is one. */
static enum err say_bad(const struct memory_rows *from, uint64_t row, bool wide,
                        struct why *why)
{
    const uint8_t *const at =
        (const uint8_t *)from->x + (int64_t)row * from->row_step;

    for (uint64_t j = 0; j < from->cols; j++) {
        const double value =
            cell_load(from->cell, at + (int64_t)j * from->col_step);

        if (in_range(&value, 1, wide))
            continue;
        return why_set(why, ERR_RANGE, "row %llu, column %llu: %g%s%s",
                       (unsigned long long)row, (unsigned long long)j, value,
                       isfinite(value) ? " is too large; at most "
                                       : " is not a finite number",
                       isfinite(value) ? sparse_limit(wide) : "");
    }
    return why_set(why, ERR_RANGE, "row %llu is not finite",
                   (unsigned long long)row);
}

static enum err take_looks(const struct packing *p, uint32_t blocks,
                           struct census *total, struct why *why)
{
    *total = (struct census){.cols = p->data->cols, .fits = VALUES_ALL};
    for (uint32_t i = 0; i < blocks; i++) {
        if (p->look[i].bad > 0)
            return say_bad(p->from, p->look[i].bad - 1, p->wide, why);
        merge(total, &p->look[i].census);
    }
    if (p->intercept)
        total->nonzero += total->rows;
    return ERR_OK;
}

static enum err pack_as(struct packing *p, enum storage storage,
                        const struct stage_options *options, struct pool *pool,
                        uint32_t blocks, struct why *why)
{
    const struct dataset_shape shape = {
        .storage = storage,
        .rows = (uint32_t)p->from->rows,
        .cols = p->features + (p->intercept ? 1 : 0),
        .chunk_rows = options->chunk_rows != 0
                          ? options->chunk_rows
                          : dataset_default_chunk_rows((uint32_t)p->from->rows),
        .weighted = p->from->weight != NULL,
    };
    const enum err err = dataset_init_shape(p->data, &shape);

    if (err != ERR_OK)
        return why_set(why, err, "%u rows of %u columns in chunks of %u: %s",
                       shape.rows, shape.cols, shape.chunk_rows, err_text(err));
    pool->run(pool, pack_block, p, blocks);
    chunkset_fill(&p->data->present);
    return ERR_OK;
}

static enum err pack(struct packing *p, const struct stage_options *options,
                     struct pool *pool, uint32_t blocks, struct why *why)
{
    enum storage storage = p->wide ? STORAGE_F64 : STORAGE_F32;
    struct census census;
    enum err err = pack_as(p, storage, options, pool, blocks, why);

    if (err == ERR_OK)
        err = take_looks(p, blocks, &census, why);
    if (err == ERR_OK)
        err = stage_storage(options, &census, &storage, why);
    if (err == ERR_OK && storage_is_sparse(storage))
        return ERR_UNSUPPORTED;
    if (err == ERR_OK && storage != p->data->storage) {
        dataset_close(p->data);
        p->look = NULL;
        err = pack_as(p, storage, options, pool, blocks, why);
    }
    if (err == ERR_OK) {
        p->data->rounded = census.rounded;
        p->data->rounding = census.error;
    }
    return err;
}

static enum err check_shape(const struct memory_rows *from, struct why *why)
{
    if (from->rows == 0 || from->cols == 0)
        return why_set(why, ERR_SHAPE, "no rows or no columns");
    if (from->rows > DATA_ROWS_MAX || from->cols >= DATA_COLS_MAX)
        return why_set(why, ERR_TOOBIG,
                       "%llu rows of %llu columns; at most %u and %u are "
                       "supported",
                       (unsigned long long)from->rows,
                       (unsigned long long)from->cols, DATA_ROWS_MAX,
                       DATA_COLS_MAX - 1);
    return ERR_OK;
}

/* Dense rows have all their columns: others than the training set's are a
 * mistake. */
static enum err check_cols(const struct memory_rows *from,
                           const struct stage_options *options, struct why *why)
{
    const uint64_t cols = from->cols + (options->intercept ? 1 : 0);
    const uint32_t wanted =
        options->like != NULL ? options->like->cols : options->cols_min;

    if (wanted == 0 || cols == wanted)
        return ERR_OK;
    return why_set(
        why, ERR_MISMATCH, "%llu columns, but the model was trained on %u",
        (unsigned long long)from->cols, wanted - (options->intercept ? 1 : 0));
}

enum err memory_pack(const struct memory_rows *from, bool wide,
                     const struct stage_options *options, struct pool *pool,
                     struct dataset *data, struct why *why)
{
    struct dataset made = {0};
    struct packing p = {.from = from,
                        .isa = isa_best(),
                        .wide = wide,
                        .intercept = options->intercept,
                        .data = &made};
    uint32_t blocks;
    struct look *look;
    enum err err = check_shape(from, why);

    CHECK(from->x != NULL);
    if (err == ERR_OK)
        err = check_cols(from, options, why);
    if (err != ERR_OK)
        return err;
    p.features = (uint32_t)from->cols;
    p.block_rows = BLOCK_VALUES / from->cols + 1;
    blocks = (uint32_t)((from->rows + p.block_rows - 1) / p.block_rows);
    p.look = look = mem_new(blocks, sizeof *look);
    p.tile = mem_new((size_t)pool->threads * TILE_ROWS,
                     (size_t)from->cols * sizeof *p.tile);
    err = look == NULL || p.tile == NULL
              ? why_set(why, ERR_NOMEM, "out of memory")
              : pack(&p, options, pool, blocks, why);
    mem_free(look);
    mem_free(p.tile);
    if (err == ERR_OK)
        *data = made;
    else
        dataset_close(&made);
    return err;
}

/* --- through a stage ------------------------------------------------------ */

/* Row numbers count from 0, as the caller's do. */
static enum err say_entry(uint64_t row, const char *what, struct why *why)
{
    return why_set(why, ERR_RANGE, "row %llu: %s", (unsigned long long)row,
                   what);
}

static int64_t whole(enum cell cell, const void *array, uint64_t k)
{
    return cell == CELL_I64 ? ((const int64_t *)array)[k]
                            : ((const int32_t *)array)[k];
}

static void swap_entries(uint32_t *index, double *value, size_t a, size_t b)
{
    const uint32_t i = index[a];
    const double v = value[a];

    index[a] = index[b];
    value[a] = value[b];
    index[b] = i;
    value[b] = v;
}

/* The entry at `at` goes down until none below it in the heap is larger. */
static void sift(uint32_t *index, double *value, size_t at, size_t count)
{
    for (size_t child = 2 * at + 1; child < count; child = 2 * at + 1) {
        if (child + 1 < count && index[child + 1] > index[child])
            child++;
        if (index[child] <= index[at])
            return;
        swap_entries(index, value, at, child);
        at = child;
    }
}

static bool ascends(const uint32_t *index, size_t count)
{
    for (size_t k = 1; k < count; k++)
        if (index[k - 1] >= index[k])
            return false;
    return true;
}

/* Ascending columns; most rows come so.  A heap takes n log n steps and no
 * memory.  False: a column is there twice. */
static bool sort_row(uint32_t *index, double *value, size_t count)
{
    if (ascends(index, count))
        return true;
    for (size_t at = count / 2; at-- > 0;)
        sift(index, value, at, count);
    for (size_t end = count; end-- > 1;) {
        swap_entries(index, value, 0, end);
        sift(index, value, 0, end);
    }
    return ascends(index, count);
}

/* One entry to where the row ends now. */
static enum err put_entry(const struct memory_rows *from, uint64_t row,
                          uint64_t k, struct sparse *rows, size_t *at,
                          struct why *why)
{
    const int64_t column = whole(from->column_cell, from->column, k);
    double value = 1;

    if (from->value != NULL)
        load_strided(from->cell,
                     (const uint8_t *)from->value + k * cell_bytes(from->cell),
                     0, 1, 1, &value);
    if (column < 0 || (uint64_t)column >= from->cols)
        return say_entry(row, "an entry of a column that is not there", why);
    if (!sparse_in_range(rows, value))
        return say_entry(row,
                         isfinite(value) ? "a value is too large for fp32; set "
                                           "storage to f64"
                                         : "a value is not finite",
                         why);
    rows->index[*at] = (uint32_t)column;
    rows->value[*at] = value;
    *at += value != 0;
    return ERR_OK;
}

static enum err add_csr_row(const struct memory_rows *from, uint64_t row,
                            struct sparse *rows, struct why *why)
{
    const int64_t first = whole(from->begin_cell, from->begin, row);
    const int64_t end = whole(from->begin_cell, from->begin, row + 1);
    const size_t start = rows->start[rows->rows];
    size_t at = start;

    if (first < 0 || end < first || (uint64_t)(end - first) > from->cols)
        return say_entry(row,
                         "its entries end before they begin, or are more "
                         "than there are columns",
                         why);
    if (sparse_reserve(rows, (size_t)(end - first)) != ERR_OK)
        return why_set(why, ERR_NOMEM, "out of memory");
    for (int64_t k = first; k < end; k++) {
        const enum err err = put_entry(from, row, (uint64_t)k, rows, &at, why);

        if (err != ERR_OK)
            return err;
    }
    if (!sort_row(rows->index + start, rows->value + start, at - start))
        return say_entry(row, "two entries of one column; add them up first",
                         why);
    rows->start[rows->rows] = at;
    return ERR_OK;
}

static enum err add_dense_row(const struct memory_rows *from, uint64_t row,
                              double *values, struct sparse *rows,
                              struct why *why)
{
    size_t at = rows->start[rows->rows];

    load_tile(from, row, 1, values);
    if (!in_range(values, (size_t)from->cols, rows->wide))
        return say_bad(from, row, rows->wide, why);
    if (sparse_reserve(rows, (size_t)from->cols) != ERR_OK)
        return why_set(why, ERR_NOMEM, "out of memory");
    for (uint32_t j = 0; j < from->cols; j++) {
        rows->index[at] = j;
        rows->value[at] = values[j];
        at += values[j] != 0;
    }
    rows->start[rows->rows] = at;
    return ERR_OK;
}

struct staging {
    const struct memory_rows *from;
    bool wide;
    uint64_t block_rows;
    struct block *block;
    enum err *err;
    struct why *why; /* Both: one for each block. */
};

static enum err stage_rows_of(const struct staging *s, uint64_t first,
                              uint64_t end, double *values, struct sparse *rows,
                              struct why *why)
{
    const struct memory_rows *const from = s->from;

    for (uint64_t row = first; row < end; row++) {
        enum err err = sparse_add_row(
            rows, from->label != NULL ? from->label[row] : nan(""));

        if (err != ERR_OK)
            return why_set(why, err, "%s", err_text(err));
        if (from->weight != NULL)
            rows->weight[rows->rows - 1] = from->weight[row];
        err = from->x != NULL ? add_dense_row(from, row, values, rows, why)
                              : add_csr_row(from, row, rows, why);
        if (err != ERR_OK)
            return err;
    }
    rows->cols = (uint32_t)from->cols;
    rows->weighted = from->weight != NULL;
    return ERR_OK;
}

static void stage_block(void *context, uint32_t thread, uint32_t item)
{
    struct staging *const s = context;
    const uint64_t first = item * s->block_rows;
    const uint64_t end = first + s->block_rows < s->from->rows
                             ? first + s->block_rows
                             : s->from->rows;
    struct sparse rows = {.wide = s->wide};
    double *const values =
        mem_new(s->from->x != NULL ? (size_t)s->from->cols : 1, sizeof *values);

    (void)thread;
    s->err[item] =
        values == NULL
            ? why_set(&s->why[item], ERR_NOMEM, "out of memory")
            : stage_rows_of(s, first, end, values, &rows, &s->why[item]);
    if (s->err[item] == ERR_OK && block_pack(&s->block[item], &rows) != ERR_OK)
        s->err[item] = why_set(&s->why[item], ERR_NOMEM, "out of memory");
    mem_free(values);
    sparse_close(&rows);
}

/* So many rows have about STAGE_ENTRIES entries. */
static uint64_t rows_of_block(const struct memory_rows *from)
{
    const uint64_t entries =
        from->x != NULL
            ? from->rows * from->cols
            : (uint64_t)whole(from->begin_cell, from->begin, from->rows);

    return STAGE_ENTRIES / (entries / from->rows + 1) + 1;
}

enum err memory_stage(const struct memory_rows *from, struct pool *pool,
                      struct stage *stage, struct why *why)
{
    struct staging s = {.from = from, .wide = stage->wide};
    uint32_t blocks;
    enum err err = check_shape(from, why);

    if (err != ERR_OK)
        return err;
    s.block_rows = rows_of_block(from);
    blocks = (uint32_t)((from->rows + s.block_rows - 1) / s.block_rows);
    s.err = mem_new(blocks, sizeof *s.err);
    s.why = mem_new(blocks, sizeof *s.why);
    if (s.err == NULL || s.why == NULL ||
        stage_extend(stage, blocks, &s.block) != ERR_OK)
        err = why_set(why, ERR_NOMEM, "out of memory");
    else
        pool->run(pool, stage_block, &s, blocks);
    for (uint32_t i = 0; err == ERR_OK && s.err != NULL && i < blocks; i++)
        if (s.err[i] != ERR_OK)
            err = why_set(why, s.err[i], "%s", s.why[i].text);
    mem_free(s.err);
    mem_free(s.why);
    return err;
}

/* --- frames --------------------------------------------------------------- */

static enum err fill_frame(const struct memory_rows *from, bool gaps,
                           struct frame *frame, struct why *why)
{
    for (uint32_t j = 0; j < frame->csv.cols; j++) {
        const uint32_t role = frame->csv.columns.role[j];
        double *to;

        if (role >= COLUMN_FEATURES)
            continue;
        to = frame->column[role].number = mem_new(frame->rows, sizeof *to);
        if (to == NULL)
            return why_set(why, ERR_NOMEM, "out of memory");
        load_strided(from->cell, (const uint8_t *)from->x + j * from->col_step,
                     from->row_step, frame->rows, 1, to);
        for (uint32_t i = 0; i < frame->rows; i++)
            if (!isfinite(to[i]) && !(gaps && isnan(to[i])))
                return say_bad(from, i, true, why);
    }
    return ERR_OK;
}

/* Labels and weights, where rows have them. */
static enum err fill_sides(const struct memory_rows *from, struct frame *frame,
                           struct why *why)
{
    const size_t bytes = frame->rows * sizeof *frame->label;

    if (from->label != NULL)
        memcpy(frame->label, from->label, bytes);
    if (from->weight == NULL)
        return ERR_OK;
    frame->weight = mem_new(frame->rows, sizeof *frame->weight);
    if (frame->weight == NULL)
        return why_set(why, ERR_NOMEM, "out of memory");
    memcpy(frame->weight, from->weight, bytes);
    return ERR_OK;
}

enum err memory_frame(const struct memory_rows *from, bool gaps,
                      struct csv *form, struct frame *frame, struct why *why)
{
    struct frame made;
    enum err err = check_shape(from, why);

    if (err != ERR_OK)
        return err;
    form->wanted.label = LABEL_NONE;
    form->cols = (uint32_t)from->cols;
    err = frame_begin(form, (uint32_t)from->rows, &made, why);
    if (err == ERR_OK)
        err = fill_sides(from, &made, why);
    if (err == ERR_OK)
        err = fill_frame(from, gaps, &made, why);
    if (err == ERR_OK)
        *frame = made;
    else
        frame_close(&made);
    return err;
}
