/*
 * bytes.h - little-endian writer and reader over a caller's buffer.
 *
 * Both carry their error along: after the first overrun every call is a no-op
 * and `ok` stays false, so that a codec reads as a list of fields and checks
 * once at its end.  The reader never trusts a length it has not compared with
 * what is left.
 */
#ifndef BASE_BYTES_H
#define BASE_BYTES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#if __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "numbers are copied as they lie: little-endian only"
#endif

struct writer {
    uint8_t *data;
    size_t capacity;
    size_t size; /* Written so far. */
    bool ok;
};

struct reader {
    const uint8_t *data;
    size_t size;
    size_t at; /* Read so far. */
    bool ok;
};

struct writer writer_on(void *data, size_t capacity);
void put_u8(struct writer *out, uint8_t value);
void put_u16(struct writer *out, uint16_t value);
void put_u32(struct writer *out, uint32_t value);
void put_u64(struct writer *out, uint64_t value);
void put_i64(struct writer *out, int64_t value);
void put_f64(struct writer *out, double value); /* The IEEE bits. */
void put_bytes(struct writer *out, const void *data, size_t size);
/* u16 length, then the characters; at most 65535 of them. */
void put_text(struct writer *out, const char *text);
/* Room for `size` bytes to be filled by the caller; NULL if there is none. */
uint8_t *put_room(struct writer *out, size_t size);

struct reader reader_on(const void *data, size_t size);
void skip_rest(struct reader *in); /* Whatever it is. */
void get_bytes(struct reader *in, void *data, size_t size);
/* A NUL-terminated copy; not ok if it does not fit or holds a NUL. */
void get_text(struct reader *in, char *text, size_t capacity);
/* True if all was read without overrun and nothing is left. */
bool reader_done(const struct reader *in);

/* Inline from here on: a coordinator reads thousands of numbers in a step. */

/* A view of the next `size` bytes; NULL if there are not so many. */
static inline const uint8_t *get_view(struct reader *in, size_t size)
{
    const uint8_t *view;

    if (!in->ok || size > in->size - in->at) {
        in->ok = false;
        return NULL;
    }
    view = in->data + in->at;
    in->at += size;
    return view;
}

static inline uint64_t get_le(struct reader *in, size_t size)
{
    const uint8_t *view = get_view(in, size);
    uint64_t value = 0;

    if (view != NULL)
        memcpy(&value, view, size);
    return value;
}

static inline uint8_t get_u8(struct reader *in)
{
    return (uint8_t)get_le(in, 1);
}

static inline uint16_t get_u16(struct reader *in)
{
    return (uint16_t)get_le(in, 2);
}

static inline uint32_t get_u32(struct reader *in)
{
    return (uint32_t)get_le(in, 4);
}

static inline uint64_t get_u64(struct reader *in)
{
    return get_le(in, 8);
}

static inline int64_t get_i64(struct reader *in)
{
    return (int64_t)get_le(in, 8);
}

static inline double get_f64(struct reader *in)
{
    const uint64_t bits = get_le(in, 8);
    double value;

    memcpy(&value, &bits, sizeof value);
    return value;
}

#endif /* BASE_BYTES_H */
