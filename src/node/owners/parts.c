/*
 * parts.c - what a coordinator keeps of private data: homes, labels, columns
 * and bounds, as one file in the run's folder so that a resumed run need not
 * ask again.
 */
#include "node/owners/parts.h"

#include <math.h>
#include <string.h>

#include "base/bytes.h"
#include "base/check.h"
#include "base/mem.h"
#include "os/file/file.h"

#define PARTS_FILE "parts"
#define MAGIC      "MUSTPRT3"
#define HEAD_BYTES 80u
#define HOME_BYTES (DIGEST_BYTES + 4u)
#define FILE_MAX   ROLL_PARTS_MAX(DIMS_MAX)

static const char *const files[] = {PARTS_FILE};
const struct names parts_names = NAMES_OF(files);

void parts_close(struct parts *parts)
{
    mem_free(parts->homes);
    mem_free(parts->labels);
    bounds_close(&parts->bounds);
    *parts = (struct parts){0};
}

enum err parts_cut(struct parts *parts, uint32_t chunk_rows)
{
    uint64_t chunk = 0;

    CHECK(chunk_rows > 0);
    for (uint32_t h = 0; h < parts->count; h++) {
        const uint32_t rows = parts->homes[h].rows;

        parts->homes[h].first = (uint32_t)chunk;
        chunk += rows / chunk_rows + (rows % chunk_rows != 0);
        if (chunk > CHUNKS_MAX)
            return ERR_TOOBIG;
        parts->homes[h].end = (uint32_t)chunk;
    }
    parts->chunk_rows = chunk_rows;
    parts->chunks = (uint32_t)chunk;
    return ERR_OK;
}

struct digest parts_digest(const struct parts *parts)
{
    static const char domain[] = "muster-parts-1";
    const int64_t shape[] = {parts->rows,  parts->cols,       parts->intercept,
                             parts->model, parts->chunk_rows, parts->count};
    struct hasher hasher;

    hasher_init(&hasher);
    hasher_add(&hasher, domain, sizeof domain);
    hasher_add_i64(&hasher, shape, sizeof shape / sizeof *shape);
    hasher_add_f64(&hasher, parts->labels, parts->label_count);
    for (uint32_t h = 0; h < parts->count; h++)
        hasher_add(&hasher, parts->homes[h].part.bytes, DIGEST_BYTES);
    return hasher_end(&hasher);
}

static void add_bounds(struct hasher *hasher, const struct bounds *bounds)
{
    const double all[] = {bounds->label, bounds->norm, bounds->weight};

    hasher_add_f64(hasher, all, sizeof all / sizeof *all);
    hasher_add_f64(hasher, bounds->u, bounds->dims);
    hasher_add_f64(hasher, bounds->v, bounds->dims);
    hasher_add_f64(hasher, bounds->m, bounds->dims);
    hasher_add_f64(hasher, bounds->x_max, bounds->dims);
}

struct digest parts_derived(const struct parts *parts)
{
    static const char domain[] = "muster-parts-derived-1";
    const int64_t shape[] = {parts->image.height,   parts->image.width,
                             parts->image.channels, parts->sizes.whole,
                             parts->chunks,         parts->bounds.dims};
    const double sizes[] = {parts->sizes.least, parts->sizes.most};
    struct hasher hasher;

    hasher_init(&hasher);
    hasher_add(&hasher, domain, sizeof domain);
    hasher_add_i64(&hasher, shape, sizeof shape / sizeof *shape);
    hasher_add_f64(&hasher, sizes, sizeof sizes / sizeof *sizes);
    for (uint32_t h = 0; h < parts->count; h++) {
        const int64_t rows = parts->homes[h].rows;

        hasher_add_i64(&hasher, &rows, 1);
    }
    add_bounds(&hasher, &parts->bounds);
    return hasher_end(&hasher);
}

enum err parts_hollow(const struct parts *parts, struct dataset *data)
{
    uint32_t *rows = mem_new(parts->count, sizeof *rows);
    struct dataset made = {0};
    enum err err;

    if (rows == NULL)
        return ERR_NOMEM;
    for (uint32_t h = 0; h < parts->count; h++)
        rows[h] = parts->homes[h].rows;
    err = dataset_init_hollow(&made, rows, parts->count, parts->cols,
                              parts->chunk_rows);
    mem_free(rows);
    if (err == ERR_OK)
        err = dataset_set_labels(&made, parts->labels, parts->label_count);
    if (err != ERR_OK) {
        dataset_close(&made);
        return err;
    }
    made.image = parts->image;
    made.digest = parts_digest(parts);
    made.digest_known = true;
    *data = made;
    return ERR_OK;
}

uint32_t parts_find(const struct parts *parts, const struct digest *part)
{
    uint32_t h = 0;

    while (h < parts->count && !digest_equal(&parts->homes[h].part, part))
        h++;
    return h;
}

static uint32_t first_row(const struct parts *parts, uint32_t home)
{
    uint32_t row = 0;

    for (uint32_t h = 0; h < home; h++)
        row += parts->homes[h].rows;
    return row;
}

struct roll_schema parts_schema(const struct parts *parts, uint32_t home,
                                bool known)
{
    CHECK(home < parts->count);
    return (struct roll_schema){
        .known = known,
        .data = parts_digest(parts),
        .rows = parts->rows,
        .cols = parts->cols,
        .intercept = parts->intercept,
        .chunk_rows = parts->chunk_rows,
        .model = parts->model,
        .first = parts->homes[home].first,
        .end = parts->homes[home].end,
        .chunks = parts->chunks,
        .first_row = first_row(parts, home),
        .label_count = parts->label_count,
        .labels = (const uint8_t *)parts->labels,
    };
}

/* --- the file --------------------------------------------------------------
 */

static size_t file_bytes(const struct parts *parts)
{
    return HEAD_BYTES + 3 * sizeof(double) + DIGEST_BYTES +
           (size_t)parts->count * HOME_BYTES +
           (size_t)parts->label_count * sizeof(double) +
           4 * (size_t)parts->bounds.dims * sizeof(double);
}

static void put_parts(struct writer *out, const struct parts *parts)
{
    const struct bounds *bounds = &parts->bounds;

    put_bytes(out, MAGIC, strlen(MAGIC));
    put_u32(out, parts->count);
    put_u32(out, parts->cols);
    put_u32(out, parts->image.height);
    put_u32(out, parts->image.width);
    put_u32(out, parts->image.channels);
    put_f64(out, parts->sizes.least);
    put_f64(out, parts->sizes.most);
    put_u8(out, parts->sizes.whole);
    put_u8(out, parts->intercept);
    put_u32(out, parts->chunk_rows);
    put_u32(out, parts->model);
    put_u32(out, parts->label_count);
    put_u32(out, bounds->dims);
    for (uint32_t h = 0; h < parts->count; h++) {
        put_bytes(out, parts->homes[h].part.bytes, DIGEST_BYTES);
        put_u32(out, parts->homes[h].rows);
    }
    put_bytes(out, parts->labels, parts->label_count * sizeof *parts->labels);
    put_f64(out, bounds->label);
    put_f64(out, bounds->norm);
    put_f64(out, bounds->weight);
    put_bytes(out, bounds->u, bounds->dims * sizeof *bounds->u);
    put_bytes(out, bounds->v, bounds->dims * sizeof *bounds->v);
    put_bytes(out, bounds->m, bounds->dims * sizeof *bounds->m);
    put_bytes(out, bounds->x_max, bounds->dims * sizeof *bounds->x_max);
}

enum err parts_encode(const struct parts *parts, uint8_t **bytes, size_t *size)
{
    uint8_t *made = mem_new(file_bytes(parts), 1);
    struct writer out = writer_on(made, file_bytes(parts));
    struct digest digest;

    if (made == NULL)
        return ERR_NOMEM;
    put_parts(&out, parts);
    digest = hash_bytes(made, out.size);
    put_bytes(&out, digest.bytes, DIGEST_BYTES);
    CHECK(out.ok && out.size <= ROLL_PARTS_MAX(parts->bounds.dims));
    *bytes = made;
    *size = out.size;
    return ERR_OK;
}

enum err parts_save(const struct parts *parts, const char *folder,
                    struct why *why)
{
    char path[FILE_PATH_SIZE];
    uint8_t *bytes = NULL;
    size_t size = 0;
    enum err err = parts_encode(parts, &bytes, &size);

    if (err != ERR_OK)
        return err;
    file_path_in(folder, PARTS_FILE, path);
    err = file_write_atomic(path, bytes, size, 0600, why);
    mem_free(bytes);
    return err;
}

static enum err get_homes(struct reader *in, struct parts *parts)
{
    uint64_t rows = 0;

    parts->homes = mem_new(parts->count, sizeof *parts->homes);
    if (parts->homes == NULL)
        return ERR_NOMEM;
    for (uint32_t h = 0; h < parts->count; h++) {
        get_bytes(in, parts->homes[h].part.bytes, DIGEST_BYTES);
        parts->homes[h].rows = get_u32(in);
        rows += parts->homes[h].rows;
        if (parts->homes[h].rows == 0)
            in->ok = false;
    }
    if (rows > DATA_ROWS_MAX)
        in->ok = false;
    parts->rows = (uint32_t)rows;
    return in->ok ? ERR_OK : ERR_FORMAT;
}

/* A bound may be infinite; it is never negative, and never no number. */
static bool are_sizes(const double *value, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        if (!(value[i] >= 0))
            return false;
    return true;
}

static bool bounds_are_sizes(const struct bounds *bounds)
{
    return are_sizes(&bounds->label, 1) && are_sizes(&bounds->norm, 1) &&
           are_sizes(&bounds->weight, 1) &&
           are_sizes(bounds->u, bounds->dims) &&
           are_sizes(bounds->v, bounds->dims) &&
           are_sizes(bounds->m, bounds->dims) &&
           are_sizes(bounds->x_max, bounds->dims);
}

static enum err get_bounds(struct reader *in, uint32_t dims,
                           struct bounds *bounds)
{
    const enum err err = bounds_init(bounds, dims);

    if (err != ERR_OK)
        return err;
    bounds->label = get_f64(in);
    bounds->norm = get_f64(in);
    bounds->weight = get_f64(in);
    get_bytes(in, bounds->u, dims * sizeof *bounds->u);
    get_bytes(in, bounds->v, dims * sizeof *bounds->v);
    get_bytes(in, bounds->m, dims * sizeof *bounds->m);
    get_bytes(in, bounds->x_max, dims * sizeof *bounds->x_max);
    return in->ok && bounds_are_sizes(bounds) ? ERR_OK : ERR_FORMAT;
}

static bool labels_ascend(const struct parts *parts)
{
    for (uint32_t i = 0; i < parts->label_count; i++)
        if (!isfinite(parts->labels[i]) ||
            (i > 0 && parts->labels[i - 1] >= parts->labels[i]))
            return false;
    return true;
}

static enum err get_parts(struct reader *in, struct parts *parts)
{
    char magic[sizeof MAGIC] = "";
    uint32_t chunk_rows;
    uint32_t dims;
    enum err err;

    get_bytes(in, magic, strlen(MAGIC));
    parts->count = get_u32(in);
    parts->cols = get_u32(in);
    parts->image.height = get_u32(in);
    parts->image.width = get_u32(in);
    parts->image.channels = get_u32(in);
    parts->sizes.least = get_f64(in);
    parts->sizes.most = get_f64(in);
    parts->sizes.whole = get_u8(in) == 1;
    parts->intercept = get_u8(in) == 1;
    chunk_rows = get_u32(in);
    parts->model = get_u32(in);
    parts->label_count = get_u32(in);
    dims = get_u32(in);
    if (!in->ok || strcmp(magic, MAGIC) != 0 || parts->count == 0 ||
        parts->count > HOMES_MAX || parts->label_count > ROLL_LABELS_MAX ||
        parts->cols == 0 || (dims > 0 && dims < parts->cols) ||
        dims > (in->size - in->at) / (4 * sizeof(double)) || dims > DIMS_MAX ||
        chunk_rows == 0)
        return ERR_FORMAT;
    err = get_homes(in, parts);
    if (err != ERR_OK)
        return err;
    parts->labels = mem_new(parts->label_count, sizeof *parts->labels);
    if (parts->labels == NULL)
        return ERR_NOMEM;
    get_bytes(in, parts->labels, parts->label_count * sizeof *parts->labels);
    if (!in->ok || !labels_ascend(parts))
        return ERR_FORMAT;
    err = get_bounds(in, dims, &parts->bounds);
    return err == ERR_OK ? parts_cut(parts, chunk_rows) : err;
}

void parts_remove(const char *folder)
{
    char path[FILE_PATH_SIZE];

    file_path_in(folder, PARTS_FILE, path);
    file_remove(path);
}

enum err parts_decode(const uint8_t *bytes, size_t size, struct parts *parts)
{
    struct parts made = {0};
    struct digest is, said;
    struct reader in;
    enum err err = ERR_FORMAT;

    if (size > DIGEST_BYTES) {
        is = hash_bytes(bytes, size - DIGEST_BYTES);
        memcpy(said.bytes, bytes + size - DIGEST_BYTES, DIGEST_BYTES);
        in = reader_on(bytes, size - DIGEST_BYTES);
        err = digest_equal(&is, &said) ? get_parts(&in, &made) : ERR_FORMAT;
        if (err == ERR_OK && !reader_done(&in))
            err = ERR_FORMAT;
    }
    if (err == ERR_OK)
        *parts = made;
    else
        parts_close(&made);
    return err;
}

enum err parts_load(struct parts *parts, const char *folder, struct why *why)
{
    char path[FILE_PATH_SIZE];
    uint8_t *bytes;
    size_t size;
    enum err err;

    file_path_in(folder, PARTS_FILE, path);
    err = file_read_plain(path, FILE_MAX, &bytes, &size, why);
    if (err != ERR_OK)
        return err;
    err = parts_decode(bytes, size, parts);
    mem_free(bytes);
    return err == ERR_OK ? ERR_OK
                         : why_set(why, err, "%s: it is damaged", path);
}
