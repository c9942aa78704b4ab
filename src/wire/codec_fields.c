/*
 * codec_fields.c - what several messages are made of.
 */
#include <string.h>

#include "core/link/offset.h"
#include "wire/codec_parts.h"

#define SOME_FLOATS    1024u
#define FLOAT_SIGN     0x80000000u
#define FLOAT_INFINITE 0x7f800000u /* Above are those that are no numbers. */

bool codec_name_valid(const char *name)
{
    const size_t size = strlen(name);

    if (size == 0 || size >= NAME_SIZE)
        return false;
    for (size_t i = 0; i < size; i++) {
        const char c = name[i];

        if (!((c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') ||
              (c >= '0' && c <= '9') || c == '.' || c == '_' || c == '-'))
            return false;
    }
    return true;
}

bool control_character(char c)
{
    return ((unsigned char)c < 0x20) || c == 0x7f;
}

void put_bool(struct writer *out, bool value)
{
    put_u8(out, value ? 1 : 0);
}

bool get_bool(struct reader *in)
{
    const uint8_t value = get_u8(in);

    must(in, value <= 1);
    return value == 1;
}

void put_digest(struct writer *out, const struct digest *digest)
{
    put_bytes(out, digest->bytes, DIGEST_BYTES);
}

void get_digest(struct reader *in, struct digest *digest)
{
    get_bytes(in, digest->bytes, DIGEST_BYTES);
}

void put_sentence(struct writer *out, const char *text)
{
    char clean[REASON_SIZE];
    size_t size = strnlen(text, REASON_SIZE - 1);

    for (size_t i = 0; i < size; i++)
        clean[i] = control_character(text[i]) ? '?' : text[i];
    clean[size] = '\0';
    put_text(out, clean);
}

void get_sentence(struct reader *in, char text[REASON_SIZE])
{
    get_text(in, text, REASON_SIZE);
    for (const char *c = text; *c != '\0'; c++)
        must(in, !control_character(*c));
}

void put_key(struct writer *out, const struct round_key *key)
{
    put_u64(out, key->job);
    put_u64(out, key->view);
    put_u32(out, key->step);
    put_u32(out, key->round);
    put_u32(out, key->attempt);
    put_u64(out, key->scale);
    put_u64(out, key->weights);
}

void get_key(struct reader *in, struct round_key *key)
{
    key->job = get_u64(in);
    key->view = get_u64(in);
    key->step = get_u32(in);
    key->round = get_u32(in);
    key->attempt = get_u32(in);
    key->scale = get_u64(in);
    key->weights = get_u64(in);
}

void get_range(struct reader *in, uint32_t *first, uint32_t *end)
{
    *first = get_u32(in);
    *end = get_u32(in);
    must(in, *first <= *end && *end <= CHUNKS_MAX);
}

int64_t get_duration(struct reader *in)
{
    const int64_t value = get_i64(in);

    must(in, value >= 0 && value <= DURATION_MAX_US);
    return value;
}

bool get_version(struct reader *in, uint32_t *version)
{
    *version = get_u32(in);
    if (*version != MSG_VERSION)
        skip_rest(in);
    return *version == MSG_VERSION;
}

void put_vector(struct writer *out, const double *values, size_t count)
{
    put_bytes(out, values, count * sizeof *values);
}

void get_vector(struct reader *in, double *values, size_t count)
{
    get_bytes(in, values, count * sizeof *values);
}

void put_floats(struct writer *out, const double *values, size_t count)
{
    float some[SOME_FLOATS];

    for (size_t at = 0; at < count; at += SOME_FLOATS) {
        const size_t left = count - at;
        const size_t n = left < SOME_FLOATS ? left : SOME_FLOATS;

        for (size_t j = 0; j < n; j++)
            some[j] = (float)values[at + j];
        put_bytes(out, some, n * sizeof *some);
    }
}

const uint8_t *get_floats(struct reader *in, size_t count)
{
    const uint8_t *const view = get_view(in, count * sizeof(float));
    uint32_t largest = 0;

    for (size_t j = 0; in->ok && j < count; j++) {
        uint32_t bits;

        memcpy(&bits, view + j * sizeof bits, sizeof bits);
        bits &= ~FLOAT_SIGN;
        largest = bits > largest ? bits : largest;
    }
    must(in, largest <= FLOAT_INFINITE);
    return view;
}

void widen_floats(const uint8_t *from, size_t count, double *to)
{
    float some[SOME_FLOATS];

    /* The last come first, and by way of `some`: they may lie where `to` has
     * the first of twice their size. */
    for (size_t end = count; end > 0;) {
        const size_t over = end % SOME_FLOATS;
        const size_t n = over > 0 ? over : SOME_FLOATS;

        end -= n;
        memcpy(some, from + end * sizeof *some, n * sizeof *some);
        for (size_t j = 0; j < n; j++)
            to[end + j] = (double)some[j];
    }
}

int64_t get_time(struct reader *in)
{
    const int64_t t = get_i64(in);

    must(in, t >= 0 && t <= OFFSET_CLOCK_MAX);
    return t;
}
