/*
 * sum_codec.c - codec of the group's messages (exact sums for a user's own
 * loop): vectors are views into the message.
 */
#include "wire/sum_codec.h"

#include <string.h>

#include "base/bytes.h"
#include "base/check.h"
#include "math/exact/exact.h"
#include "wire/codec.h"

#if __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "vectors travel as they lie in memory: little-endian"
#endif

#define HEAD_MAX 512u
#define WHO_MAX  (SUM_SEATS_MAX * NAME_SIZE)

size_t sum_codec_bound(const struct sum_msg *msg)
{
    return HEAD_MAX + msg->who_size + msg->size;
}

size_t sum_codec_message_max(uint64_t size_max)
{
    return HEAD_MAX + WHO_MAX + (size_t)size_max;
}

static void put_vector(struct writer *out, const struct sum_msg *msg)
{
    put_u32(out, msg->shape.type);
    put_u64(out, msg->shape.count);
    put_u64(out, msg->size);
    put_bytes(out, msg->bytes, msg->size);
}

/* As long as its shape says, and of a type there is. */
static void get_vector(struct reader *in, struct sum_msg *msg)
{
    size_t unit;
    uint64_t size;

    msg->shape.type = get_u32(in);
    msg->shape.count = get_u64(in);
    size = get_u64(in);
    unit = exact_size((enum exact_type)msg->shape.type);
    if (unit == 0 || size % unit != 0 || size / unit != msg->shape.count)
        in->ok = false;
    msg->size = size;
    msg->bytes = get_view(in, msg->size);
}

static void put_total(struct writer *out, const struct sum_msg *msg)
{
    put_u64(out, msg->call);
    put_u64(out, msg->serial);
    put_u32(out, msg->contributed);
    put_u32(out, msg->members);
    put_u32(out, (uint32_t)msg->who_size);
    put_bytes(out, msg->who, msg->who_size);
    put_vector(out, msg);
}

static void get_total(struct reader *in, struct sum_msg *msg)
{
    msg->call = get_u64(in);
    msg->serial = get_u64(in);
    msg->contributed = get_u32(in);
    msg->members = get_u32(in);
    msg->who_size = get_u32(in);
    if (msg->who_size > WHO_MAX)
        in->ok = false;
    msg->who = (const char *)get_view(in, msg->who_size);
    get_vector(in, msg);
}

static void put_body(struct writer *out, const struct sum_msg *msg)
{
    switch (msg->kind) {
    case SUM_HELLO:
        put_u32(out, msg->version);
        put_text(out, msg->name);
        put_u64(out, msg->incarnation);
        put_u64(out, msg->group);
        return;
    case SUM_WELCOME:
        put_u64(out, msg->group);
        put_u64(out, msg->call);
        put_i64(out, msg->beat_us);
        put_i64(out, msg->dead_us);
        put_u64(out, msg->size_max);
        return;
    case SUM_GIVE:
        put_u64(out, msg->call);
        put_i64(out, msg->patience_us);
        put_u64(out, msg->serial);
        put_vector(out, msg);
        return;
    case SUM_TOTAL:
        put_total(out, msg);
        return;
    case SUM_MISSED:
        put_u64(out, msg->call);
        put_u64(out, msg->next);
        return;
    case SUM_REFUSE:
        put_u64(out, msg->call);
        put_text(out, msg->reason);
        return;
    case SUM_WITHDRAW:
    case SUM_WITHDRAWN:
        put_u64(out, msg->call);
        return;
    case SUM_REJECT:
    case SUM_BYE:
        put_text(out, msg->reason);
        return;
    case SUM_BEAT:
    case SUM_ECHO:
    case SUM_LEAVE:
        return;
    }
}

size_t sum_codec_encode(const struct sum_msg *msg, uint8_t *out)
{
    struct writer to = writer_on(out, sum_codec_bound(msg));

    put_u8(&to, (uint8_t)msg->kind);
    put_body(&to, msg);
    CHECK(to.ok);
    return to.size;
}

static void get_hello(struct reader *in, struct sum_msg *msg)
{
    msg->version = get_u32(in);
    get_text(in, msg->name, sizeof msg->name);
    msg->incarnation = get_u64(in);
    msg->group = get_u64(in);
    if (!codec_name_valid(msg->name))
        in->ok = false;
}

static void get_welcome(struct reader *in, struct sum_msg *msg)
{
    msg->group = get_u64(in);
    msg->call = get_u64(in);
    msg->beat_us = get_i64(in);
    msg->dead_us = get_i64(in);
    msg->size_max = get_u64(in);
    if (msg->group == 0 || msg->beat_us <= 0 || msg->beat_us > SECOND_US ||
        msg->dead_us <= 0)
        in->ok = false;
}

static void get_body(struct reader *in, struct sum_msg *msg)
{
    switch (msg->kind) {
    case SUM_HELLO:
        get_hello(in, msg);
        return;
    case SUM_WELCOME:
        get_welcome(in, msg);
        return;
    case SUM_GIVE:
        msg->call = get_u64(in);
        msg->patience_us = get_i64(in);
        msg->serial = get_u64(in);
        if (msg->patience_us < 0 || msg->patience_us > TIME_NEVER / 4)
            in->ok = false;
        get_vector(in, msg);
        return;
    case SUM_TOTAL:
        get_total(in, msg);
        return;
    case SUM_MISSED:
        msg->call = get_u64(in);
        msg->next = get_u64(in);
        return;
    case SUM_REFUSE:
        msg->call = get_u64(in);
        get_text(in, msg->reason, sizeof msg->reason);
        return;
    case SUM_WITHDRAW:
    case SUM_WITHDRAWN:
        msg->call = get_u64(in);
        return;
    case SUM_REJECT:
    case SUM_BYE:
        get_text(in, msg->reason, sizeof msg->reason);
        return;
    case SUM_BEAT:
    case SUM_ECHO:
    case SUM_LEAVE:
        return;
    }
    in->ok = false;
}

enum err sum_codec_decode(const uint8_t *data, size_t size, struct sum_msg *msg)
{
    struct reader in = reader_on(data, size);
    struct sum_msg made = {0};

    made.kind = (enum sum_kind)get_u8(&in);
    get_body(&in, &made);
    if (!reader_done(&in))
        return ERR_FORMAT;
    *msg = made;
    return ERR_OK;
}
