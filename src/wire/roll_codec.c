/*
 * roll_codec.c - codec of the messages between owners of private data and the
 * coordinator before there is a job.  Every vector's length follows from what
 * was agreed before, so a decoder never takes a size from the sender alone.
 */
#include "wire/roll_codec.h"

#include <math.h>
#include <string.h>

#include "base/bytes.h"
#include "base/check.h"
#include "base/chunkset.h"
#include "wire/codec.h"

#define SMALL_BYTES    512u
#define EXPONENT_LIMIT 1022

static void must(struct reader *in, bool holds)
{
    if (!holds)
        in->ok = false;
}

static bool get_bool(struct reader *in)
{
    const uint8_t value = get_u8(in);

    must(in, value <= 1);
    return value == 1;
}

/* A size: of labels, columns, rows. */
static double get_size(struct reader *in)
{
    const double value = get_f64(in);

    must(in, isfinite(value) && !signbit(value));
    return value;
}

static double f64_at(const uint8_t *bytes, uint32_t i)
{
    double value;

    memcpy(&value, bytes + i * sizeof value, sizeof value);
    return value;
}

static const uint8_t *get_labels(struct reader *in, uint32_t *count)
{
    const uint8_t *labels;

    *count = get_u32(in);
    must(in, *count <= ROLL_LABELS_MAX);
    if (!in->ok)
        return NULL;
    labels = get_view(in, (size_t)*count * sizeof(double));
    for (uint32_t i = 0; in->ok && i < *count; i++)
        must(in, isfinite(f64_at(labels, i)) &&
                     (i == 0 || f64_at(labels, i - 1) < f64_at(labels, i)));
    return labels;
}

static size_t sums_count(uint32_t dims)
{
    return ROLL_SUMS_EACH * (size_t)dims;
}

static void put_labels(struct writer *out, const uint8_t *labels,
                       uint32_t count)
{
    put_u32(out, count);
    put_bytes(out, labels, (size_t)count * sizeof(double));
}

static uint32_t get_dims(struct reader *in)
{
    const uint32_t dims = get_u32(in);

    must(in, dims > 0 && dims <= DIMS_MAX);
    return in->ok ? dims : 0;
}

static void put_offer(struct writer *out, const struct roll_offer *offer)
{
    put_u32(out, offer->version);
    put_text(out, offer->name);
    put_bytes(out, offer->arithmetic.bytes, DIGEST_BYTES);
    put_bytes(out, offer->part.bytes, DIGEST_BYTES);
    put_bytes(out, offer->columns.bytes, DIGEST_BYTES);
    put_u32(out, offer->rows);
    put_u32(out, offer->cols);
    put_u32(out, offer->height);
    put_u32(out, offer->width);
    put_u32(out, offer->channels);
    put_f64(out, offer->least);
    put_f64(out, offer->most);
    put_u8(out, offer->whole);
    put_labels(out, offer->labels, offer->label_count);
}

/* Of as many columns as there are; or none. */
static bool is_image(const struct roll_offer *offer)
{
    const uint64_t pixels = (uint64_t)offer->height * offer->width;

    if (offer->height == 0)
        return offer->width == 0 && offer->channels == 0;
    return pixels > 0 && pixels <= offer->cols &&
           pixels * offer->channels == offer->cols;
}

static void get_offer(struct reader *in, struct roll_offer *offer)
{
    offer->version = get_u32(in);
    get_text(in, offer->name, sizeof offer->name);
    must(in, codec_name_valid(offer->name));
    get_bytes(in, offer->arithmetic.bytes, DIGEST_BYTES);
    get_bytes(in, offer->part.bytes, DIGEST_BYTES);
    get_bytes(in, offer->columns.bytes, DIGEST_BYTES);
    offer->rows = get_u32(in);
    offer->cols = get_u32(in);
    offer->height = get_u32(in);
    offer->width = get_u32(in);
    offer->channels = get_u32(in);
    offer->least = get_f64(in);
    offer->most = get_f64(in);
    offer->whole = get_bool(in);
    must(in, offer->rows > 0 && offer->cols > 0 && offer->cols <= DIMS_MAX);
    must(in, is_image(offer) && isfinite(offer->least) && offer->least <= 0 &&
                 isfinite(offer->most) && offer->most >= 0);
    offer->labels = get_labels(in, &offer->label_count);
}

static void put_schema(struct writer *out, const struct roll_schema *schema)
{
    put_u8(out, schema->known);
    put_bytes(out, schema->data.bytes, DIGEST_BYTES);
    put_u32(out, schema->rows);
    put_u32(out, schema->cols);
    put_u8(out, schema->intercept);
    put_u32(out, schema->chunk_rows);
    put_u32(out, schema->model);
    put_u32(out, schema->first);
    put_u32(out, schema->end);
    put_u32(out, schema->chunks);
    put_u32(out, schema->first_row);
    put_labels(out, schema->labels, schema->label_count);
}

static void get_schema(struct reader *in, struct roll_schema *schema)
{
    schema->known = get_bool(in);
    get_bytes(in, schema->data.bytes, DIGEST_BYTES);
    schema->rows = get_u32(in);
    schema->cols = get_u32(in);
    schema->intercept = get_bool(in);
    schema->chunk_rows = get_u32(in);
    schema->model = get_u32(in);
    schema->first = get_u32(in);
    schema->end = get_u32(in);
    schema->chunks = get_u32(in);
    schema->first_row = get_u32(in);
    must(in, schema->rows > 0 && schema->cols > 0 && schema->cols <= DIMS_MAX);
    must(in, schema->chunk_rows > 0 && schema->chunks <= CHUNKS_MAX);
    must(in, schema->first < schema->end && schema->end <= schema->chunks);
    must(in, schema->first_row < schema->rows);
    schema->labels = get_labels(in, &schema->label_count);
}

static void put_sizes(struct writer *out, const struct roll_sizes *sizes)
{
    put_f64(out, sizes->label);
    put_f64(out, sizes->norm);
    put_f64(out, sizes->weight);
    put_u32(out, sizes->dims);
    put_bytes(out, sizes->x_max, (size_t)sizes->dims * sizeof(double));
}

static void get_sizes(struct reader *in, struct roll_sizes *sizes)
{
    sizes->label = get_size(in);
    sizes->norm = get_size(in);
    sizes->weight = get_size(in);
    sizes->dims = get_dims(in);
    if (!in->ok)
        return;
    sizes->x_max = get_view(in, (size_t)sizes->dims * sizeof(double));
    for (uint32_t i = 0; in->ok && i < sizes->dims; i++)
        must(in, isfinite(f64_at(sizes->x_max, i)) &&
                     !signbit(f64_at(sizes->x_max, i)));
}

static bool exponents_valid(const uint8_t *bytes, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        int16_t value;

        memcpy(&value, bytes + i * sizeof value, sizeof value);
        if (value < -EXPONENT_LIMIT || value > EXPONENT_LIMIT)
            return false;
    }
    return true;
}

static void put_scales(struct writer *out, const struct roll_scales *scales)
{
    put_u32(out, scales->dims);
    put_bytes(out, scales->scale, sums_count(scales->dims) * sizeof(int16_t));
}

static void get_scales(struct reader *in, struct roll_scales *scales)
{
    scales->dims = get_dims(in);
    if (!in->ok)
        return;
    scales->scale = get_view(in, sums_count(scales->dims) * sizeof(int16_t));
    must(in,
         in->ok && exponents_valid(scales->scale, sums_count(scales->dims)));
}

/* Sums of sizes are none of them negative. */
static bool sums_valid(const uint8_t *bytes, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        int64_t value;

        memcpy(&value, bytes + i * sizeof value, sizeof value);
        if (value < 0)
            return false;
    }
    return true;
}

static void put_sums(struct writer *out, const struct roll_sums *sums)
{
    put_u32(out, sums->dims);
    put_bytes(out, sums->sum, sums_count(sums->dims) * sizeof(int64_t));
}

static void get_sums(struct reader *in, struct roll_sums *sums)
{
    sums->dims = get_dims(in);
    if (!in->ok)
        return;
    sums->sum = get_view(in, sums_count(sums->dims) * sizeof(int64_t));
    must(in, in->ok && sums_valid(sums->sum, sums_count(sums->dims)));
}

static bool control_character(char c)
{
    return ((unsigned char)c < 0x20) || c == 0x7f;
}

static void put_no(struct writer *out, const struct msg_reject *no)
{
    char clean[REASON_SIZE];
    const size_t size = strnlen(no->reason, REASON_SIZE - 1);

    for (size_t i = 0; i < size; i++)
        clean[i] = control_character(no->reason[i]) ? '?' : no->reason[i];
    clean[size] = '\0';
    put_text(out, clean);
}

static void get_no(struct reader *in, struct msg_reject *no)
{
    get_text(in, no->reason, REASON_SIZE);
    for (const char *c = no->reason; *c != '\0'; c++)
        must(in, !control_character(*c));
}

static void put_parts(struct writer *out, const struct roll_parts *parts)
{
    put_u32(out, parts->size);
    put_bytes(out, parts->bytes, parts->size);
}

/* What is in them is read by who takes them (node/owners/parts.h). */
static void get_parts(struct reader *in, struct roll_parts *parts)
{
    parts->size = get_u32(in);
    must(in, parts->size <= ROLL_PARTS_MAX(DIMS_MAX));
    parts->bytes = in->ok ? get_view(in, parts->size) : NULL;
}

bool roll_codec_is(const uint8_t *data, size_t size)
{
    return size > 0 && data[0] >= ROLL_OFFER && data[0] <= ROLL_PARTS;
}

size_t roll_codec_max(uint32_t dims)
{
    return SMALL_BYTES + ROLL_PARTS_MAX(dims);
}

size_t roll_codec_bound(const struct roll_msg *msg)
{
    switch (msg->kind) {
    case ROLL_OFFER:
    case ROLL_PEER:
        return SMALL_BYTES + msg->offer.label_count * sizeof(double);
    case ROLL_SCHEMA:
        return SMALL_BYTES + msg->schema.label_count * sizeof(double);
    case ROLL_SIZES:
        return SMALL_BYTES + (size_t)msg->sizes.dims * sizeof(double);
    case ROLL_SCALES:
        return SMALL_BYTES + sums_count(msg->scales.dims) * sizeof(int16_t);
    case ROLL_SUMS:
        return SMALL_BYTES + sums_count(msg->sums.dims) * sizeof(int64_t);
    case ROLL_PARTS:
        return SMALL_BYTES + (size_t)msg->parts.size;
    case ROLL_NO:
        break;
    }
    return SMALL_BYTES;
}

size_t roll_codec_encode(const struct roll_msg *msg, uint8_t *out)
{
    struct writer writer = writer_on(out, roll_codec_bound(msg));

    put_u8(&writer, (uint8_t)msg->kind);
    switch (msg->kind) {
    case ROLL_OFFER:
    case ROLL_PEER:
        put_offer(&writer, &msg->offer);
        break;
    case ROLL_SCHEMA:
        put_schema(&writer, &msg->schema);
        break;
    case ROLL_SIZES:
        put_sizes(&writer, &msg->sizes);
        break;
    case ROLL_SCALES:
        put_scales(&writer, &msg->scales);
        break;
    case ROLL_SUMS:
        put_sums(&writer, &msg->sums);
        break;
    case ROLL_NO:
        put_no(&writer, &msg->no);
        break;
    case ROLL_PARTS:
        put_parts(&writer, &msg->parts);
        break;
    }
    CHECK(writer.ok);
    return writer.size;
}

static void get_body(struct reader *in, struct roll_msg *msg)
{
    switch (msg->kind) {
    case ROLL_OFFER:
    case ROLL_PEER:
        get_offer(in, &msg->offer);
        return;
    case ROLL_SCHEMA:
        get_schema(in, &msg->schema);
        return;
    case ROLL_SIZES:
        get_sizes(in, &msg->sizes);
        return;
    case ROLL_SCALES:
        get_scales(in, &msg->scales);
        return;
    case ROLL_SUMS:
        get_sums(in, &msg->sums);
        return;
    case ROLL_NO:
        get_no(in, &msg->no);
        return;
    case ROLL_PARTS:
        get_parts(in, &msg->parts);
        return;
    }
    in->ok = false; /* No such kind. */
}

enum err roll_codec_decode(const uint8_t *data, size_t size,
                           struct roll_msg *msg)
{
    struct reader in = reader_on(data, size);
    struct roll_msg made;

    memset(&made, 0, sizeof made);
    if (!roll_codec_is(data, size))
        return ERR_FORMAT;
    made.kind = (enum roll_kind)get_u8(&in);
    get_body(&in, &made);
    if (!reader_done(&in))
        return ERR_FORMAT;
    *msg = made;
    return ERR_OK;
}
