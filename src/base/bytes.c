/*
 * bytes.c - little-endian serialisation.  Numbers are put together byte by
 * byte, so that neither the byte order nor the alignment of a machine shows in
 * a message or a file.
 */
#include "base/bytes.h"

#include <string.h>

#include "base/check.h"

struct writer writer_on(void *data, size_t capacity)
{
    return (struct writer){.data = data, .capacity = capacity, .ok = true};
}

uint8_t *put_room(struct writer *out, size_t size)
{
    uint8_t *room;

    if (!out->ok || size > out->capacity - out->size) {
        out->ok = false;
        return NULL;
    }
    room = out->data + out->size;
    out->size += size;
    return room;
}

static inline void put_le(struct writer *out, uint64_t value, size_t size)
{
    uint8_t *room = put_room(out, size);

    if (room != NULL)
        memcpy(room, &value, size);
}

void put_u8(struct writer *out, uint8_t value)
{
    put_le(out, value, 1);
}

void put_u16(struct writer *out, uint16_t value)
{
    put_le(out, value, 2);
}

void put_u32(struct writer *out, uint32_t value)
{
    put_le(out, value, 4);
}

void put_u64(struct writer *out, uint64_t value)
{
    put_le(out, value, 8);
}

void put_i64(struct writer *out, int64_t value)
{
    put_le(out, (uint64_t)value, 8);
}

void put_f64(struct writer *out, double value)
{
    uint64_t bits;

    memcpy(&bits, &value, sizeof bits);
    put_le(out, bits, 8);
}

void put_bytes(struct writer *out, const void *data, size_t size)
{
    uint8_t *room = put_room(out, size);

    if (room != NULL && size > 0)
        memcpy(room, data, size);
}

void put_text(struct writer *out, const char *text)
{
    const size_t size = strlen(text);

    CHECK(size <= UINT16_MAX);
    put_u16(out, (uint16_t)size);
    put_bytes(out, text, size);
}

struct reader reader_on(const void *data, size_t size)
{
    return (struct reader){.data = data, .size = size, .ok = true};
}

void skip_rest(struct reader *in)
{
    in->at = in->size;
}

void get_bytes(struct reader *in, void *data, size_t size)
{
    const uint8_t *view = get_view(in, size);

    if (view != NULL && size > 0)
        memcpy(data, view, size);
}

void get_text(struct reader *in, char *text, size_t capacity)
{
    const size_t size = get_u16(in);
    const uint8_t *view = get_view(in, size);

    CHECK(capacity > 0);
    text[0] = '\0';
    if (view == NULL)
        return;
    if (size >= capacity || memchr(view, '\0', size) != NULL) {
        in->ok = false;
        return;
    }
    memcpy(text, view, size);
    text[size] = '\0';
}

bool reader_done(const struct reader *in)
{
    return in->ok && in->at == in->size;
}
