/*
 * peer_codec.c - codec of the messages by which workers fetch chunks from each
 * other.  Their senders are strangers to each other, so ranges are checked
 * before anything is believed.
 */
#include "wire/peer_codec.h"

#include "base/bytes.h"
#include "base/check.h"
#include "base/chunkset.h"

size_t peer_codec_encode(const struct peer_msg *msg, uint8_t *out)
{
    struct writer writer = writer_on(
        out, msg->kind == PEER_PART ? PEER_MESSAGE_BYTES : PEER_SMALL_BYTES);

    put_u8(&writer, (uint8_t)msg->kind);
    if (msg->kind != PEER_WAIT)
        put_u32(&writer, msg->chunk);
    if (msg->kind == PEER_PART) {
        put_u64(&writer, msg->size);
        put_u64(&writer, msg->at);
        put_bytes(&writer, msg->bytes, msg->count);
    }
    CHECK(writer.ok);
    return writer.size;
}

/* Where the bytes are in the chunk must be possible. */
static void get_part(struct reader *in, struct peer_msg *msg)
{
    msg->size = get_u64(in);
    msg->at = get_u64(in);
    msg->count = in->size - in->at;
    msg->bytes = get_view(in, msg->count);
    if (msg->count == 0 || msg->count > PEER_PART_BYTES ||
        msg->at >= msg->size || msg->count > msg->size - msg->at)
        in->ok = false;
}

enum err peer_codec_decode(const uint8_t *data, size_t size,
                           struct peer_msg *msg)
{
    struct reader in = reader_on(data, size);
    struct peer_msg made = {.kind = (enum peer_kind)get_u8(&in)};

    if (made.kind == PEER_WANT || made.kind == PEER_PART)
        made.chunk = get_u32(&in);
    else if (made.kind != PEER_WAIT)
        return ERR_FORMAT;
    if (made.chunk > CHUNKS_MAX) /* One behind the last chunk: papers. */
        return ERR_FORMAT;
    if (made.kind == PEER_PART)
        get_part(&in, &made);
    if (!reader_done(&in))
        return ERR_FORMAT;
    *msg = made;
    return ERR_OK;
}
