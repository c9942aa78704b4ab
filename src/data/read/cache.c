/*
 * cache.c - a binary cache of data sets: sections at page boundaries, mapped as
 * they are.  The key is a hash of the source's bytes and of every option that
 * changes what is stored; a damaged copy is refused and read from its source
 * again.
 */
#include "data/read/cache.h"

#include <stdio.h>
#include <string.h>

#include "base/bytes.h"
#include "base/check.h"
#include "base/hex.h"
#include "base/mem.h"
#include "data/rows/labels.h"
#include "data/rows/rounding.h"
#include "math/compiler.h"
#include "os/file/file.h"
#include "os/file/input.h"
#include "os/file/output.h"
#include "os/run/pages.h"

#define CACHE_VERSION   3u
#define READING_VERSION 5u /* One more when the same text gives other rows. */
#define COLUMNS_MAX     (UINT64_C(1) << 32)

enum {
    PIECE = 1 << 20,
    LANES = 8,
    HASH_BLOCK = 1 << 20,
};

static const char magic[8] = "MUSTERDS";

/* --- checksum -------------------------------------------------------------
 */

static uint64_t mix(uint64_t a, uint64_t b)
{
    uint64_t x = a ^ (b + UINT64_C(0x9e3779b97f4a7c15));

    x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
    return x ^ x >> 31;
}

/* What every processor of the family has; left to loops over arrays, gcc keeps
 * the sums in memory and takes three times as long. */
typedef uint64_t pair __attribute__((vector_size(2 * sizeof(uint64_t))));

/* Fletcher's sums in eight lanes of 64 bits: a swap or a flip anywhere changes
 * them. */
static uint64_t piece_checksum(const uint8_t *data, size_t size)
{
    pair plain[LANES / 2] = {0};
    pair summed[LANES / 2] = {0};
    uint64_t total = size;
    size_t at = 0;

    for (; at + sizeof plain <= size; at += sizeof plain) {
        UNROLL
        for (int l = 0; l < LANES / 2; l++) {
            pair word;

            memcpy(&word, data + at + (size_t)l * sizeof word, sizeof word);
            plain[l] += word;
            summed[l] += plain[l];
        }
    }
    for (int l = 0; l < LANES; l++)
        total = mix(mix(total, plain[l / 2][l % 2]), summed[l / 2][l % 2]);
    for (; at < size; at++)
        total = mix(total, data[at]);
    return total;
}

struct summing {
    const uint8_t *data;
    size_t size;
    uint64_t *sum; /* One for each thread. */
};

static void sum_piece(void *context, uint32_t thread, uint32_t item)
{
    struct summing *const summing = context;
    const size_t first = (size_t)item * PIECE;
    const size_t left = summing->size - first;

    summing->sum[thread] +=
        mix(item,
            piece_checksum(summing->data + first, left < PIECE ? left : PIECE));
}

uint64_t cache_checksum(const void *data, size_t size, struct pool *pool)
{
    struct summing summing = {.data = data, .size = size};
    const uint32_t pieces = (uint32_t)((size + PIECE - 1) / PIECE);
    uint64_t total = size;

    if (pieces < 2) /* Waking the others takes longer. */
        pool = pool_serial();
    summing.sum = mem_new(pool->threads, sizeof *summing.sum);
    if (summing.sum == NULL)
        return 0; /* Never equal to a stored one, which is odd. */
    pool->run(pool, sum_piece, &summing, pieces);
    for (uint32_t i = 0; i < pool->threads; i++)
        total += summing.sum[i];
    mem_free(summing.sum);
    return total | 1;
}

/* --- header ---------------------------------------------------------------
 */

static uint64_t section_bytes(const struct cache_header *header, uint32_t which)
{
    const struct dataset_shape *const shape = &header->shape;
    const bool sparse = storage_is_sparse(shape->storage);
    const uint64_t rows = shape->rows;
    const uint32_t stride =
        (shape->cols + KERNEL_LANES - 1) / KERNEL_LANES * KERNEL_LANES;

    switch ((enum cache_part)which) {
    case CACHE_LABEL:
        return (uint64_t)header->classes * sizeof(double);
    case CACHE_Y:
        return rows * sizeof(double);
    case CACHE_WEIGHT:
        return shape->weighted ? rows * sizeof(double) : 0;
    case CACHE_X:
        return rows * storage_row_bytes(shape->storage, stride);
    case CACHE_BEGIN:
        return sparse ? (rows + 1) * sizeof(uint64_t) : 0;
    case CACHE_COLUMN:
        return sparse ? shape->entries * sizeof(uint32_t) : 0;
    case CACHE_VALUE:
        return shape->storage == STORAGE_CSR ? shape->entries * sizeof(float)
                                             : 0;
    case CACHE_ORIGINAL:
        break;
    }
    return header->renumbered ? shape->cols * sizeof(uint32_t) : 0;
}

static uint64_t whole_pages(uint64_t bytes)
{
    return (bytes + CACHE_PAGE - 1) / CACHE_PAGE * CACHE_PAGE;
}

/* Sizes and offsets of all sections; the size of the file. */
static uint64_t place_sections(const struct cache_header *header,
                               struct cache_section *section)
{
    uint64_t at = CACHE_PAGE;

    for (uint32_t i = 0; i < CACHE_SECTIONS; i++) {
        section[i].offset = at;
        section[i].bytes = section_bytes(header, i);
        at += whole_pages(section[i].bytes);
    }
    return at;
}

static struct digest header_digest(const uint8_t *page)
{
    return hash_bytes(page, CACHE_PAGE - DIGEST_BYTES);
}

void cache_header_encode(const struct cache_header *header,
                         uint8_t page[CACHE_PAGE])
{
    struct writer out = writer_on(page, CACHE_PAGE);
    struct digest digest;

    memset(page, 0, CACHE_PAGE);
    put_bytes(&out, magic, sizeof magic);
    put_u32(&out, CACHE_VERSION);
    put_u32(&out, (uint32_t)header->shape.storage);
    put_u32(&out, header->shape.rows);
    put_u32(&out, header->shape.cols);
    put_u32(&out, header->shape.chunk_rows);
    put_u64(&out, header->shape.entries);
    put_u8(&out, header->shape.weighted);
    put_u32(&out, header->shape.image.height);
    put_u32(&out, header->shape.image.width);
    put_u32(&out, header->shape.image.channels);
    put_u8(&out, header->renumbered);
    put_u32(&out, header->classes);
    put_u64(&out, header->rounded);
    put_f64(&out, header->rounding);
    put_u64(&out, header->file_bytes);
    put_bytes(&out, header->key.bytes, DIGEST_BYTES);
    put_bytes(&out, header->data.bytes, DIGEST_BYTES);
    for (uint32_t i = 0; i < CACHE_SECTIONS; i++) {
        put_u64(&out, header->section[i].offset);
        put_u64(&out, header->section[i].bytes);
        put_u64(&out, header->section[i].checksum);
    }
    CHECK(out.ok);
    digest = header_digest(page);
    memcpy(page + CACHE_PAGE - DIGEST_BYTES, digest.bytes, DIGEST_BYTES);
}

static void read_fields(struct reader *in, struct cache_header *header)
{
    header->shape.storage = (enum storage)get_u32(in);
    header->shape.rows = get_u32(in);
    header->shape.cols = get_u32(in);
    header->shape.chunk_rows = get_u32(in);
    header->shape.entries = get_u64(in);
    header->shape.weighted = get_u8(in) != 0;
    header->shape.image.height = get_u32(in);
    header->shape.image.width = get_u32(in);
    header->shape.image.channels = get_u32(in);
    header->renumbered = get_u8(in) != 0;
    header->classes = get_u32(in);
    header->rounded = get_u64(in);
    header->rounding = get_f64(in);
    header->file_bytes = get_u64(in);
    get_bytes(in, header->key.bytes, DIGEST_BYTES);
    get_bytes(in, header->data.bytes, DIGEST_BYTES);
    for (uint32_t i = 0; i < CACHE_SECTIONS; i++) {
        header->section[i].offset = get_u64(in);
        header->section[i].bytes = get_u64(in);
        header->section[i].checksum = get_u64(in);
    }
}

static bool shape_valid(const struct cache_header *header)
{
    const struct dataset_shape *const shape = &header->shape;

    return (uint32_t)shape->storage < STORAGES && shape->rows > 0 &&
           shape->rows <= DATA_ROWS_MAX && shape->cols > 0 &&
           shape->cols <= DATA_COLS_MAX && shape->chunk_rows > 0 &&
           shape->rows / shape->chunk_rows < CHUNKS_MAX &&
           shape->entries <= DATA_BYTES_MAX / 8 &&
           header->classes <= CLASSES_MAX;
}

enum err cache_header_decode(const uint8_t page[CACHE_PAGE],
                             struct cache_header *header)
{
    const struct digest digest = header_digest(page);
    struct cache_section section[CACHE_SECTIONS];
    struct cache_header made = {0};
    struct reader in = reader_on(page, CACHE_PAGE - DIGEST_BYTES);
    char first[sizeof magic];

    get_bytes(&in, first, sizeof first);
    if (memcmp(page + CACHE_PAGE - DIGEST_BYTES, digest.bytes, DIGEST_BYTES) !=
            0 ||
        memcmp(first, magic, sizeof magic) != 0 ||
        get_u32(&in) != CACHE_VERSION)
        return ERR_FORMAT;
    read_fields(&in, &made);
    if (!in.ok || !shape_valid(&made) ||
        place_sections(&made, section) != made.file_bytes)
        return ERR_FORMAT;
    for (uint32_t i = 0; i < CACHE_SECTIONS; i++) {
        if (section[i].offset != made.section[i].offset ||
            section[i].bytes != made.section[i].bytes)
            return ERR_FORMAT;
    }
    *header = made;
    return ERR_OK;
}

/* --- place ----------------------------------------------------------------
 */

static void hash_text(struct hasher *hasher, const char *text)
{
    const int64_t given = text != NULL;

    hasher_add_i64(hasher, &given, 1);
    if (text != NULL)
        hasher_add(hasher, text, strlen(text) + 1);
}

static const char *header_name(enum csv_header header)
{
    return header == HEADER_AUTO ? "auto" : header == HEADER_YES ? "yes" : "no";
}

/* Everything that changes what is stored; what has names, by name: numbers are
 * given anew when one is added. */
static void hash_options(struct hasher *hasher,
                         const struct source_options *options)
{
    const int64_t numbers[] = {
        CACHE_VERSION,        READING_VERSION,
        options->chunk_rows,  options->cols_min,
        options->cols_max,    options->intercept,
        options->regression,  options->classes + 2 * options->numbered,
        options->pairs,       options->labels != NULL,
        options->label_count, options->zero_based,
        LABELS_CLASSES_MAX,   LABELS_SEEN_MIN,
        LABELS_SPREAD_MIN,    LABELS_SPREAD};
    const double harm = ROUNDING_HARM;

    hasher_add_i64(hasher, numbers, sizeof numbers / sizeof *numbers);
    hasher_add_f64(hasher, &harm, 1);
    hash_text(hasher, scaling_name(options->scaling));
    hash_text(hasher, options->scaling_implied ? "implied" : "asked for");
    hash_text(hasher, missing_name(options->missing));
    hash_text(hasher, header_name(options->header));
    if (options->labels != NULL)
        hasher_add_f64(hasher, options->labels,
                       options->label_count == 0 ? 2 : options->label_count);
    hash_text(hasher, options->storage);
    hash_text(hasher, options->format);
    hash_text(hasher, options->label);
    hash_text(hasher, options->categorical);
    hash_text(hasher, options->drop);
    hash_text(hasher, options->weight);
    hash_text(hasher, options->separator);
    /* The name tells tables from LIBSVM text. */
    hash_text(hasher, strrchr(options->spec, '/') == NULL
                          ? options->spec
                          : strrchr(options->spec, '/'));
}

static enum err hash_content(struct hasher *hasher, const struct input *input)
{
    uint8_t *block = mem_new(HASH_BLOCK, 1);
    enum err err = block == NULL ? ERR_NOMEM : ERR_OK;
    size_t got = HASH_BLOCK;

    for (uint64_t at = 0; err == ERR_OK && got == HASH_BLOCK; at += got) {
        err = input_read_at(input, at, block, HASH_BLOCK, &got);
        if (err == ERR_OK)
            hasher_add(hasher, block, got);
    }
    mem_free(block);
    return err;
}

/* Add a file to both hashes; to `content` only if it is not NULL. */
static enum err hash_file(struct hasher *identity, struct hasher *content,
                          const char *path, struct why *why)
{
    struct input input;
    enum err err = input_open(&input, path, why);

    if (err != ERR_OK)
        return err;
    if (identity != NULL) {
        const struct input_identity *const id = &input.identity;
        const int64_t numbers[] = {(int64_t)id->device, (int64_t)id->inode,
                                   (int64_t)id->size, id->modified_ns,
                                   id->changed_ns};

        hasher_add_i64(identity, numbers, sizeof numbers / sizeof *numbers);
    }
    if (content != NULL)
        err = hash_content(content, &input);
    input_close(&input);
    return err == ERR_OK ? err : why_set(why, err, "%s", err_text(err));
}

static enum err hash_source(const struct source_options *options, bool content,
                            struct digest *digest, struct why *why)
{
    struct hasher hasher;
    enum err err;

    hasher_init(&hasher);
    hash_options(&hasher, options);
    err = hash_file(content ? NULL : &hasher, content ? &hasher : NULL,
                    options->spec, why);
    if (err == ERR_OK && options->labels_file != NULL)
        err = hash_file(content ? NULL : &hasher, content ? &hasher : NULL,
                        options->labels_file, why);
    *digest = hasher_end(&hasher);
    return err;
}

/* The key that the note of an unchanged file leads to. */
static bool read_note(const char *path, struct digest *key)
{
    uint8_t *text = NULL;
    size_t size = 0;
    bool good;

    if (file_read_private(path, 2 * DIGEST_BYTES + 1, &text, &size, NULL) !=
        ERR_OK)
        return false;
    good = size >= 2 * DIGEST_BYTES &&
           hex_get((const char *)text, DIGEST_BYTES, key->bytes);
    mem_free(text);
    return good;
}

enum err cache_place(const struct source_options *options,
                     struct cache_place *place, struct why *why)
{
    struct digest identity;
    char hex[DIGEST_TEXT];
    enum err err = hash_source(options, false, &identity, why);

    if (err != ERR_OK)
        return err;
    if (strlen(options->cache) > sizeof place->path - 128)
        return why_set(why, ERR_RANGE, "--cache: the name is too long");
    (void)snprintf(place->identity, sizeof place->identity, "%s/%s.key",
                   options->cache, digest_text(&identity, hex));
    if (!read_note(place->identity, &place->key))
        err = hash_source(options, true, &place->key, why);
    if (err != ERR_OK)
        return err;
    (void)snprintf(place->path, sizeof place->path, "%s/%s.data",
                   options->cache, digest_text(&place->key, hex));
    (void)snprintf(place->columns, sizeof place->columns, "%s/%s.columns",
                   options->cache, hex);
    return ERR_OK;
}

bool cache_place_holds(const struct cache_place *place,
                       const struct source_options *options)
{
    struct digest identity;
    char hex[DIGEST_TEXT];

    return hash_source(options, false, &identity, NULL) == ERR_OK &&
           strstr(place->identity, digest_text(&identity, hex)) != NULL;
}

/* --- load and store -------------------------------------------------------
 */

static enum err say_damaged(const struct cache_place *place, struct why *why)
{
    return why_set(why, ERR_FORMAT,
                   "%s: damaged; reading the source again and replacing it",
                   place->path);
}

static bool sections_intact(const struct file_map *map,
                            const struct cache_header *header,
                            struct pool *pool)
{
    for (uint32_t i = 0; i < CACHE_SECTIONS; i++) {
        const struct cache_section *const one = &header->section[i];

        if (cache_checksum((const uint8_t *)map->data + one->offset, one->bytes,
                           pool) != one->checksum)
            return false;
    }
    return true;
}

static void *at_section(const struct file_map *map,
                        const struct cache_header *header,
                        enum cache_part which)
{
    const struct cache_section *const one = &header->section[which];

    return one->bytes == 0 ? NULL : (uint8_t *)map->data + one->offset;
}

/* Point a data set into the mapping, which it then owns. */
static enum err adopt(const struct file_map *map,
                      const struct cache_header *header, struct dataset *data)
{
    const struct dataset_shape *const shape = &header->shape;
    struct dataset made = {
        .storage = shape->storage,
        .rows = shape->rows,
        .cols = shape->cols,
        .stride =
            (shape->cols + KERNEL_LANES - 1) / KERNEL_LANES * KERNEL_LANES,
        .chunk_rows = shape->chunk_rows,
        .image = shape->image,
        .entries = shape->entries,
        .rounded = header->rounded,
        .rounding = header->rounding,
        .x = at_section(map, header, CACHE_X),
        .begin = at_section(map, header, CACHE_BEGIN),
        .column = at_section(map, header, CACHE_COLUMN),
        .value = at_section(map, header, CACHE_VALUE),
        .original = at_section(map, header, CACHE_ORIGINAL),
        .y = at_section(map, header, CACHE_Y),
        .weight = at_section(map, header, CACHE_WEIGHT),
        .digest = header->data,
        .digest_known = true,
        .map = map->data,
        .map_bytes = map->size,
    };
    enum err err = chunkset_init(&made.present, dataset_chunks(&made));

    if (err == ERR_OK)
        err = dataset_set_labels(&made, at_section(map, header, CACHE_LABEL),
                                 header->classes);
    if (err != ERR_OK) {
        made.map = NULL; /* The caller's still. */
        chunkset_close(&made.present);
        return err;
    }
    chunkset_fill(&made.present);
    *data = made;
    return ERR_OK;
}

/* The digest of what follows it, in hexadecimal, and a line feed. */
static enum err load_columns(const struct cache_place *place,
                             struct encoder *encoder, struct why *why)
{
    const size_t head = 2 * DIGEST_BYTES + 1;
    struct digest said = {0};
    struct digest found;
    uint8_t *text = NULL;
    size_t size = 0;
    enum err err =
        file_read_private(place->columns, COLUMNS_MAX, &text, &size, NULL);

    if (err != ERR_OK || size < head) {
        mem_free(text);
        return say_damaged(place, why);
    }
    found = hash_bytes(text + head, size - head);
    if (!hex_get((const char *)text, DIGEST_BYTES, said.bytes) ||
        !digest_equal(&said, &found) ||
        encoder_from_text(encoder, (const char *)text + head, size - head,
                          NULL) != ERR_OK)
        err = say_damaged(place, why);
    mem_free(text);
    return err;
}

static enum err store_columns(const struct cache_place *place,
                              const struct encoder *encoder, struct why *why)
{
    const size_t head = 2 * DIGEST_BYTES + 1;
    struct digest digest;
    char *text = NULL;
    char *page;
    size_t size = 0;
    enum err err = encoder_to_text(encoder, &text, &size);

    page = err == ERR_OK ? mem_new(head + size, 1) : NULL;
    if (page == NULL) {
        mem_free(text);
        return why_set(why, ERR_NOMEM, "--cache: out of memory");
    }
    digest = hash_bytes(text, size);
    (void)digest_text(&digest, page); /* Its NUL becomes the line feed. */
    page[head - 1] = '\n';
    memcpy(page + head, text, size);
    err = file_write_atomic(place->columns, page, head + size, 0600, why);
    mem_free(text);
    mem_free(page);
    return err;
}

enum err cache_load(const struct cache_place *place, struct pool *pool,
                    struct dataset *data, struct encoder *encoder,
                    struct why *why)
{
    struct cache_header header = {0};
    struct file_map map = {0};
    enum err err;

    if (!file_exists(place->path))
        return ERR_NOTFOUND;
    if (file_check_private(place->path, NULL) != ERR_OK)
        return why_set(why, ERR_DENIED,
                       "%s: not a plain file that is yours alone; reading the "
                       "source again and replacing it",
                       place->path);
    err = file_map_open(&map, place->path, why);
    if (err == ERR_FORMAT)
        return say_damaged(place, why);
    if (err != ERR_OK)
        return err == ERR_NOTFOUND ? ERR_IO : err;
    if (map.size < CACHE_PAGE ||
        cache_header_decode(map.data, &header) != ERR_OK ||
        header.file_bytes != map.size ||
        !digest_equal(&header.key, &place->key) ||
        !sections_intact(&map, &header, pool))
        err = say_damaged(place, why);
    if (err == ERR_OK)
        err = load_columns(place, encoder, why);
    if (err == ERR_OK)
        err = adopt(&map, &header, data);
    if (err != ERR_OK)
        file_map_close(&map);
    return err;
}

static const void *section_data(const struct dataset *data, uint32_t which)
{
    switch ((enum cache_part)which) {
    case CACHE_LABEL:
        return data->label;
    case CACHE_Y:
        return data->y;
    case CACHE_WEIGHT:
        return data->weight;
    case CACHE_X:
        return data->x;
    case CACHE_BEGIN:
        return data->begin;
    case CACHE_COLUMN:
        return data->column;
    case CACHE_VALUE:
        return data->value;
    case CACHE_ORIGINAL:
        break;
    }
    return data->original;
}

static struct cache_header describe(const struct digest *key,
                                    const struct dataset *data,
                                    struct pool *pool)
{
    struct cache_header header = {
        .shape = dataset_shape(data),
        .classes = data->classes,
        .renumbered = data->original != NULL,
        .rounded = data->rounded,
        .rounding = data->rounding,
        .key = *key,
        .data = dataset_digest(data),
    };

    header.file_bytes = place_sections(&header, header.section);
    for (uint32_t i = 0; i < CACHE_SECTIONS; i++)
        header.section[i].checksum = cache_checksum(
            section_data(data, i), header.section[i].bytes, pool);
    return header;
}

static void write_sections(struct output *output,
                           const struct cache_header *header,
                           const struct dataset *data)
{
    static const uint8_t zeros[CACHE_PAGE];

    for (uint32_t i = 0; i < CACHE_SECTIONS; i++) {
        const uint64_t bytes = header->section[i].bytes;

        output_write(output, section_data(data, i), bytes);
        output_write(output, zeros, whole_pages(bytes) - bytes);
    }
}

enum err cache_write(const char *path, const struct digest *key,
                     const struct dataset *data, struct pool *pool,
                     struct why *why)
{
    const struct cache_header header = describe(key, data, pool);
    uint8_t page[CACHE_PAGE];
    struct output *output = NULL;
    enum err err = output_open(&output, path, OUTPUT_OWN, 0600, why);

    if (err != ERR_OK)
        return err;
    cache_header_encode(&header, page);
    output_write(output, page, sizeof page);
    write_sections(output, &header, data);
    return output_commit(output, why);
}

enum err cache_store(const struct cache_place *place,
                     const struct dataset *data, const struct encoder *encoder,
                     struct pool *pool, struct why *why)
{
    char folder[sizeof place->path];
    char hex[DIGEST_TEXT];
    enum err err;

    (void)snprintf(folder, sizeof folder, "%s", place->path);
    *strrchr(folder, '/') = '\0';
    err = file_make_folder(folder, why);
    if (err == ERR_OK)
        err = file_check_folder(folder, why);
    if (err == ERR_OK)
        err = store_columns(place, encoder, why);
    if (err == ERR_OK)
        err = cache_write(place->path, &place->key, data, pool, why);
    if (err != ERR_OK)
        return err;
    return file_write_atomic(place->identity, digest_text(&place->key, hex),
                             2 * DIGEST_BYTES, 0600, why);
}
