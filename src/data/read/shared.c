/*
 * shared.c - range reads of a prepared file on disk or on the web: one window
 * for a run of chunks, and each chunk's bytes as they would have been shipped.
 */
#include "data/read/shared.h"

#include <stdio.h>
#include <string.h>

#include "base/check.h"
#include "base/mem.h"
#include "data/read/cache.h"
#include "os/file/input.h"
#include "os/net/web.h"

#define PLACE_MAX    1024u
#define WINDOW_BYTES (4u << 20) /* Read at once, if so much is wanted. */
#define TRIES        3u

enum { STATUS_PART = 206, STATUS_WHOLE = 200 };

/* Rows that were read, as a data set of their own. */
struct window {
    uint32_t first, end; /* Chunks. */
    uint64_t base;       /* Sparse: entries of all rows before. */
    struct dataset rows; /* Its arrays are the buffers below. */
    void *buffer[CACHE_SECTIONS];
    size_t capacity[CACHE_SECTIONS];
};

struct shared {
    char place[PLACE_MAX];
    const char *ca;  /* Of an https server, or NULL. */
    struct web *web; /* NULL: a path. */
    struct input input;
    bool opened;
    struct cache_header header;
    struct dataset_shape shape; /* Of the job. */
    struct window window;
    uint8_t *bytes; /* Of a chunk. */
    size_t bytes_capacity;
};

/* --- ranges ---------------------------------------------------------------
 */

static enum err ask(struct shared *shared, uint64_t offset, void *out,
                    size_t size, struct why *why)
{
    const struct web_question question = {.url = shared->place,
                                          .ca = shared->ca,
                                          .range = true,
                                          .first = offset,
                                          .size = size};
    struct web_answer answer = {.bytes = out, .capacity = size};
    enum err err = ERR_CLOSED;

    for (uint32_t i = 0; i < TRIES && err == ERR_CLOSED; i++)
        err = web_ask(shared->web, &question, &answer, why);
    if (err == ERR_TOOBIG)
        return why_set(why, ERR_UNSUPPORTED,
                       "%.300s: the server does not serve parts of a file",
                       shared->place);
    if (err != ERR_OK)
        return err;
    if (answer.status != STATUS_PART && answer.status != STATUS_WHOLE)
        return why_set(why, ERR_NOTFOUND,
                       "%.300s: the server answered HTTP %ld", shared->place,
                       answer.status);
    return answer.size == size
               ? ERR_OK
               : why_set(why, ERR_TRUNCATED, "%.300s: ends too early",
                         shared->place);
}

static enum err read_range(struct shared *shared, uint64_t offset, void *out,
                           size_t size, struct why *why)
{
    size_t got = 0;
    enum err err;

    if (size == 0)
        return ERR_OK;
    if (shared->web != NULL)
        return ask(shared, offset, out, size, why);
    err = input_read_at(&shared->input, offset, out, size, &got);
    if (err != ERR_OK)
        return why_set(why, err, "%.300s: %s", shared->place, err_text(err));
    return got == size ? ERR_OK
                       : why_set(why, ERR_TRUNCATED, "%.300s: ends too early",
                                 shared->place);
}

/* --- open -----------------------------------------------------------------
 */

static enum err read_header(struct shared *shared, struct why *why)
{
    uint8_t page[CACHE_PAGE];
    const enum err err = read_range(shared, 0, page, sizeof page, why);

    if (err == ERR_OK && cache_header_decode(page, &shared->header) == ERR_OK)
        return ERR_OK;
    if (err != ERR_OK && err != ERR_TRUNCATED)
        return err;
    return why_set(why, ERR_FORMAT,
                   "%.300s: no prepared data; remove it and let `muster train "
                   "DATA --data-shared PATH` write it",
                   shared->place);
}

enum err shared_open(const char *place, const char *ca, struct shared **shared,
                     struct why *why)
{
    struct shared *made = mem_new(1, sizeof *made);
    enum err err = ERR_OK;

    if (made == NULL)
        return ERR_NOMEM;
    made->ca = ca;
    if (snprintf(made->place, PLACE_MAX, "%s", place) >= (int)PLACE_MAX)
        err = why_set(why, ERR_RANGE, "--data-shared: the name is too long");
    else if (web_is_address(place))
        err = web_new(&made->web);
    else
        err = input_open(&made->input, place, why);
    made->opened = err == ERR_OK && made->web == NULL;
    if (err == ERR_UNSUPPORTED)
        err = why_set(why, err, "%.300s: not a plain file", place);
    if (err == ERR_OK)
        err = read_header(made, why);
    if (err == ERR_OK)
        *shared = made;
    else
        shared_close(made);
    return err;
}

void shared_close(struct shared *shared)
{
    if (shared == NULL)
        return;
    if (shared->opened)
        input_close(&shared->input);
    web_free(shared->web);
    for (uint32_t i = 0; i < CACHE_SECTIONS; i++)
        mem_free(shared->window.buffer[i]);
    chunkset_close(&shared->window.rows.present);
    mem_free(shared->bytes);
    mem_free(shared);
}

enum err shared_check(struct shared *shared, const struct dataset_shape *shape,
                      const struct digest *data, struct why *why)
{
    const struct dataset_shape *const has = &shared->header.shape;

    if (has->storage != shape->storage || has->rows != shape->rows ||
        has->cols != shape->cols || has->entries != shape->entries ||
        has->weighted != shape->weighted ||
        !digest_equal(&shared->header.data, data))
        return why_set(why, ERR_MISMATCH,
                       "%.300s: holds other data than the coordinator trains "
                       "on",
                       shared->place);
    shared->shape = *shape;
    return ERR_OK;
}

/* --- chunks ---------------------------------------------------------------
 */

static uint32_t min_u32(uint32_t a, uint32_t b)
{
    return a < b ? a : b;
}

/* Bytes [first, first + size) of a section into its buffer. */
static enum err load(struct shared *shared, uint32_t section, uint64_t first,
                     uint64_t size, void **out, struct why *why)
{
    struct window *window = &shared->window;
    const struct cache_section *at = &shared->header.section[section];

    CHECK(first + size <= at->bytes);
    if (size > window->capacity[section]) {
        void *grown = mem_grow(window->buffer[section], 0, size, 1,
                               &window->capacity[section]);

        if (grown == NULL)
            return ERR_NOMEM;
        window->buffer[section] = grown;
    }
    *out = size == 0 ? NULL : window->buffer[section];
    return read_range(shared, at->offset + first, window->buffer[section], size,
                      why);
}

static bool begins_ascend(const uint64_t *begin, uint32_t rows,
                          uint64_t entries)
{
    for (uint32_t i = 0; i < rows; i++) {
        if (begin[i] > begin[i + 1])
            return false;
    }
    return begin[rows] <= entries;
}

static enum err load_sparse(struct shared *shared, uint64_t row,
                            struct why *why)
{
    struct window *window = &shared->window;
    struct dataset *rows = &window->rows;
    void *begin = NULL;
    void *column = NULL;
    void *value = NULL;
    uint64_t count;
    enum err err =
        load(shared, CACHE_BEGIN, row * sizeof(uint64_t),
             ((uint64_t)rows->rows + 1) * sizeof(uint64_t), &begin, why);

    if (err != ERR_OK)
        return err;
    CHECK(begin != NULL); /* One number more than there are rows. */
    rows->begin = begin;
    if (!begins_ascend(rows->begin, rows->rows, shared->shape.entries))
        return why_set(why, ERR_MISMATCH, "%.300s: damaged", shared->place);
    window->base = rows->begin[0];
    for (uint32_t i = 0; i <= rows->rows; i++)
        rows->begin[i] -= window->base;
    count = rows->begin[rows->rows];
    err = load(shared, CACHE_COLUMN, window->base * sizeof(uint32_t),
               count * sizeof(uint32_t), &column, why);
    if (err == ERR_OK && rows->storage == STORAGE_CSR)
        err = load(shared, CACHE_VALUE, window->base * sizeof(float),
                   count * sizeof(float), &value, why);
    rows->column = column;
    rows->value = value;
    rows->entries = count;
    return err;
}

static uint64_t chunk_cost(const struct shared *shared)
{
    const struct dataset_shape *const shape = &shared->shape;
    const struct dataset *const rows = &shared->window.rows;
    const uint64_t each =
        2 * sizeof(double) +
        (storage_is_sparse(shape->storage)
             ? sizeof(uint64_t) + 8 * (shape->entries / shape->rows + 1)
             : storage_row_bytes(shape->storage, rows->stride));

    return each * shape->chunk_rows;
}

static enum err load_rows(struct shared *shared, uint64_t row, struct why *why)
{
    struct dataset *rows = &shared->window.rows;
    const uint64_t row_bytes =
        dataset_is_sparse(rows)
            ? 0
            : storage_row_bytes(rows->storage, rows->stride);
    void *y = NULL;
    void *weight = NULL;
    void *x = NULL;
    enum err err = load(shared, CACHE_Y, row * sizeof(double),
                        rows->rows * sizeof(double), &y, why);

    if (err == ERR_OK && shared->shape.weighted)
        err = load(shared, CACHE_WEIGHT, row * sizeof(double),
                   rows->rows * sizeof(double), &weight, why);
    if (err == ERR_OK && !dataset_is_sparse(rows))
        err = load(shared, CACHE_X, row * row_bytes, rows->rows * row_bytes, &x,
                   why);
    rows->y = y;
    rows->weight = weight;
    rows->x = x;
    if (err == ERR_OK && dataset_is_sparse(rows))
        err = load_sparse(shared, row, why);
    return err;
}

/* Read chunks from `first` on: as many as fit the window, up to `end`. */
static enum err load_window(struct shared *shared, uint32_t first, uint32_t end,
                            struct why *why)
{
    const struct dataset_shape *const shape = &shared->shape;
    struct window *window = &shared->window;
    struct dataset *rows = &window->rows;
    uint64_t many;
    enum err err;

    chunkset_close(&rows->present);
    *rows = (struct dataset){
        .storage = shape->storage,
        .cols = shape->cols,
        .stride =
            (shape->cols + KERNEL_LANES - 1) / KERNEL_LANES * KERNEL_LANES,
        .chunk_rows = shape->chunk_rows,
    };
    window->first = window->end = 0;
    many = WINDOW_BYTES / chunk_cost(shared);
    if (many < 1)
        many = 1;
    end = many < end - first ? first + (uint32_t)many : end;
    rows->rows = min_u32(shape->rows - first * shape->chunk_rows,
                         (end - first) * shape->chunk_rows);
    err = load_rows(shared, (uint64_t)first * shape->chunk_rows, why);
    if (err == ERR_OK)
        err = chunkset_init(&rows->present, end - first);
    if (err != ERR_OK)
        return err;
    chunkset_fill(&rows->present);
    window->first = first;
    window->end = end;
    return ERR_OK;
}

/* The offset of a sparse chunk counts from the first row of all. */
static void set_offset(const struct shared *shared, uint32_t chunk,
                       uint8_t *bytes)
{
    const struct window *window = &shared->window;
    const uint32_t rows =
        dataset_chunk_size(&window->rows, chunk - window->first);
    uint8_t *at =
        bytes + rows * sizeof(double) * (shared->shape.weighted ? 2 : 1);
    uint64_t start;

    if (!dataset_is_sparse(&window->rows))
        return;
    memcpy(&start, at, sizeof start);
    start += window->base;
    memcpy(at, &start, sizeof start);
}

enum err shared_chunk(struct shared *shared, uint32_t chunk, uint32_t end,
                      const uint8_t **bytes, size_t *size, struct why *why)
{
    struct window *window = &shared->window;
    size_t needed;

    CHECK(shared->shape.rows > 0 && chunk < end);
    if (chunk < window->first || chunk >= window->end) {
        const enum err err = load_window(shared, chunk, end, why);

        if (err != ERR_OK)
            return err;
    }
    needed = dataset_chunk_bytes(&window->rows, chunk - window->first);
    if (needed > shared->bytes_capacity) {
        uint8_t *grown =
            mem_grow(shared->bytes, 0, needed, 1, &shared->bytes_capacity);

        if (grown == NULL)
            return ERR_NOMEM;
        shared->bytes = grown;
    }
    dataset_chunk_encode(&window->rows, chunk - window->first, shared->bytes);
    set_offset(shared, chunk, shared->bytes);
    *bytes = shared->bytes;
    *size = needed;
    return ERR_OK;
}
