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
#define VIEW_MAX (128u + SUM_SEATS * (NAME_SIZE + SUM_PLACE + 16u))

size_t sum_codec_bound(const struct sum_msg *msg)
{
    return HEAD_MAX + (msg->view != NULL ? VIEW_MAX : 0) + msg->size;
}

size_t sum_codec_message_max(uint64_t size_max)
{
    return HEAD_MAX + VIEW_MAX + (size_t)size_max;
}

static void put_shape(struct writer *out, const struct sum_shape *shape)
{
    put_u32(out, shape->type);
    put_u64(out, shape->count);
}

/* A type there is, or none and nothing. */
static struct sum_shape get_shape(struct reader *in, bool some)
{
    struct sum_shape shape;

    shape.type = get_u32(in);
    shape.count = get_u64(in);
    if (shape.type == 0 ? some || shape.count != 0
                        : exact_size((enum exact_type)shape.type) == 0)
        in->ok = false;
    return shape;
}

static void put_seat(struct writer *out, const struct sum_seat *seat)
{
    put_text(out, seat->name);
    put_text(out, seat->place);
    put_u64(out, seat->incarnation);
}

static void get_seat(struct reader *in, struct sum_seat *seat)
{
    get_text(in, seat->name, sizeof seat->name);
    get_text(in, seat->place, sizeof seat->place);
    seat->incarnation = get_u64(in);
    if (!codec_name_valid(seat->name))
        in->ok = false;
}

static void put_view(struct writer *out, const struct sum_view *view)
{
    put_u64(out, view->group);
    put_u64(out, view->number);
    put_u32(out, view->least);
    put_u32(out, view->members_max);
    put_u64(out, view->size_max);
    put_u64(out, view->call);
    put_u64(out, view->set);
    put_u8(out, view->closed);
    put_shape(out, &view->shape);
    put_u32(out, view->count);
    for (uint32_t i = 0; i < view->count; i++)
        put_seat(out, &view->seats[i]);
}

static bool get_bool(struct reader *in)
{
    const uint8_t value = get_u8(in);

    if (value > 1)
        in->ok = false;
    return value == 1;
}

static void get_sum_view(struct reader *in, struct sum_view *view)
{
    memset(view, 0, sizeof *view);
    view->group = get_u64(in);
    view->number = get_u64(in);
    view->least = get_u32(in);
    view->members_max = get_u32(in);
    view->size_max = get_u64(in);
    view->call = get_u64(in);
    view->set = get_u64(in);
    view->closed = get_bool(in);
    view->shape = get_shape(in, false);
    view->count = get_u32(in);
    if (view->group == 0 || view->number == 0 || view->least == 0 ||
        view->members_max > SUM_SEATS || view->count > view->members_max ||
        view->call == 0 || view->size_max > SUM_BYTES_MAX ||
        (view->count < SUM_SEATS && view->set >> view->count != 0))
        in->ok = false;
    for (uint32_t i = 0; in->ok && i < view->count; i++)
        get_seat(in, &view->seats[i]);
}

static void put_state(struct writer *out, const struct sum_state *state)
{
    put_u64(out, state->committed);
    put_u8(out, state->holds);
    put_u8(out, state->leaving);
    put_u8(out, state->impatient);
    put_u64(out, state->given);
    put_shape(out, &state->shape);
    put_u64(out, state->links);
    put_u64(out, state->accepted);
}

static void get_state(struct reader *in, struct sum_state *state)
{
    state->committed = get_u64(in);
    state->holds = get_bool(in);
    state->leaving = get_bool(in);
    state->impatient = get_bool(in);
    state->given = get_u64(in);
    state->shape = get_shape(in, state->given != 0);
    state->links = get_u64(in);
    state->accepted = get_u64(in);
    if (state->committed >= UINT64_MAX - 1)
        in->ok = false;
}

static void put_body(struct writer *out, const struct sum_msg *msg)
{
    switch (msg->kind) {
    case SUM_HELLO:
        put_u32(out, msg->version);
        put_seat(out, &msg->who);
        put_u64(out, msg->group);
        return;
    case SUM_REJECT:
        put_text(out, msg->reason);
        return;
    case SUM_BEAT:
        return;
    case SUM_VIEW:
        put_view(out, msg->view);
        return;
    case SUM_JOIN:
    case SUM_HAVE:
        put_u64(out, msg->number);
        put_u64(out, msg->call);
        return;
    case SUM_REQUEST:
        put_u64(out, msg->number);
        return;
    case SUM_COLLECT:
    case SUM_ACCEPT:
        put_u64(out, msg->number);
        put_u64(out, msg->ballot);
        return;
    case SUM_STATE:
        put_u64(out, msg->number);
        put_u64(out, msg->ballot);
        put_state(out, &msg->state);
        if (msg->state.accepted != 0)
            put_view(out, msg->view);
        return;
    case SUM_PROPOSE:
        put_u64(out, msg->number);
        put_u64(out, msg->ballot);
        put_view(out, msg->view);
        return;
    case SUM_SLICE:
    case SUM_PART:
        put_u64(out, msg->number);
        put_u64(out, msg->call);
        put_shape(out, &msg->shape);
        put_u64(out, msg->size);
        return;
    }
}

size_t sum_codec_head(const struct sum_msg *msg, uint8_t *out)
{
    struct writer to = writer_on(out, sum_codec_bound(msg));

    put_u8(&to, (uint8_t)msg->kind);
    put_body(&to, msg);
    CHECK(to.ok);
    return to.size;
}

size_t sum_codec_encode(const struct sum_msg *msg, uint8_t *out)
{
    const size_t head = sum_codec_head(msg, out);

    if (msg->size > 0)
        memcpy(out + head, msg->bytes, msg->size);
    return head + msg->size;
}

static void get_hello(struct reader *in, struct sum_msg *msg)
{
    msg->version = get_u32(in);
    get_seat(in, &msg->who);
    msg->group = get_u64(in);
}

static void get_piece_head(struct reader *in, struct sum_msg *msg)
{
    msg->number = get_u64(in);
    msg->call = get_u64(in);
    msg->shape = get_shape(in, true);
    msg->size = get_u64(in);
}

bool sum_codec_peek_piece(const uint8_t *begin, size_t size, uint64_t *bytes)
{
    struct reader in = reader_on(begin, size);
    const uint8_t kind = get_u8(&in);
    struct sum_msg msg = {0};

    if (kind != SUM_SLICE && kind != SUM_PART)
        return false;
    get_piece_head(&in, &msg);
    *bytes = msg.size;
    return in.ok && msg.size <= SUM_BYTES_MAX;
}

static void get_body(struct reader *in, struct sum_codec_room *room,
                     struct sum_msg *msg)
{
    switch (msg->kind) {
    case SUM_HELLO:
        get_hello(in, msg);
        return;
    case SUM_REJECT:
        get_text(in, room->reason, sizeof room->reason);
        msg->reason = room->reason;
        return;
    case SUM_BEAT:
        return;
    case SUM_VIEW:
        get_sum_view(in, &room->view);
        msg->view = &room->view;
        return;
    case SUM_JOIN:
    case SUM_HAVE:
        msg->number = get_u64(in);
        msg->call = get_u64(in);
        return;
    case SUM_REQUEST:
        msg->number = get_u64(in);
        return;
    case SUM_COLLECT:
    case SUM_ACCEPT:
        msg->number = get_u64(in);
        msg->ballot = get_u64(in);
        return;
    case SUM_STATE:
        msg->number = get_u64(in);
        msg->ballot = get_u64(in);
        get_state(in, &msg->state);
        if (msg->state.accepted == 0)
            return;
        get_sum_view(in, &room->view);
        msg->view = &room->view;
        return;
    case SUM_PROPOSE:
        msg->number = get_u64(in);
        msg->ballot = get_u64(in);
        get_sum_view(in, &room->view);
        msg->view = &room->view;
        return;
    case SUM_SLICE:
    case SUM_PART:
        get_piece_head(in, msg);
        msg->bytes = get_view(in, msg->size);
        return;
    }
    in->ok = false;
}

enum err sum_codec_decode(const uint8_t *data, size_t size,
                          struct sum_codec_room *room, struct sum_msg *msg)
{
    struct reader in = reader_on(data, size);
    struct sum_msg made = {0};

    made.kind = (enum sum_kind)get_u8(&in);
    get_body(&in, room, &made);
    if (!reader_done(&in))
        return ERR_FORMAT;
    *msg = made;
    return ERR_OK;
}
