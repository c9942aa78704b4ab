/*
 * codec_data.c - messages about rows, and who gets them where.
 */
#include <string.h>

#include "wire/codec_parts.h"

void put_data(struct writer *out, const struct msg_data *data)
{
    put_u32(out, data->chunk);
    put_u64(out, data->block);
    put_bytes(out, data->bytes, data->size);
}

void get_data(struct reader *in, struct msg_data *data)
{
    data->chunk = get_u32(in);
    data->block = get_u64(in);
    must(in, data->chunk < CHUNKS_MAX);
    data->size = in->size - in->at;
    data->bytes = get_view(in, data->size);
}

void put_chunks(struct writer *out, const struct msg_chunks *chunks)
{
    put_u32(out, chunks->count);
    put_bytes(out, chunks->digests, (size_t)chunks->count * DIGEST_BYTES);
    put_bytes(out, chunks->place, chunks->place_size);
}

void get_chunks(struct reader *in, struct msg_chunks *chunks)
{
    chunks->count = get_u32(in);
    must(in, chunks->count > 0 && chunks->count <= CHUNKS_MAX);
    if (!in->ok)
        return;
    chunks->digests = get_view(in, (size_t)chunks->count * DIGEST_BYTES);
    chunks->place_size = in->size - in->at;
    must(in, chunks->place_size < PLACE_SIZE);
    chunks->place = (const char *)get_view(in, chunks->place_size);
    for (size_t i = 0; chunks->place != NULL && i < chunks->place_size; i++)
        must(in, !control_character(chunks->place[i]));
}

void put_have(struct writer *out, const struct msg_have *have)
{
    put_u32(out, have->count);
    put_bytes(out, have->held, msg_have_bytes(have->count));
    put_bytes(out, have->near, msg_have_bytes(have->count));
}

void get_have(struct reader *in, struct msg_have *have)
{
    have->count = get_u32(in);
    must(in, have->count > 0 && have->count <= CHUNKS_MAX);
    if (!in->ok)
        return;
    have->held = get_view(in, msg_have_bytes(have->count));
    have->near = get_view(in, msg_have_bytes(have->count));
}

void put_fetch(struct writer *out, const struct msg_fetch *fetch)
{
    put_u32(out, fetch->first);
    put_u32(out, fetch->end);
    put_u32(out, fetch->peer);
    if (fetch->peer == 0)
        return;
    put_text(out, fetch->host);
    put_u16(out, fetch->port);
    put_bytes(out, fetch->key, PEER_KEY);
}

/* An address in numbers: what could be a name is not looked up. */
static bool host_valid(const char *host)
{
    return strspn(host, "0123456789abcdef.:") == strlen(host);
}

void get_fetch(struct reader *in, struct msg_fetch *fetch)
{
    get_range(in, &fetch->first, &fetch->end);
    fetch->peer = get_u32(in);
    if (fetch->peer == 0)
        return;
    get_text(in, fetch->host, sizeof fetch->host);
    must(in, host_valid(fetch->host));
    fetch->port = get_u16(in);
    get_bytes(in, fetch->key, PEER_KEY);
}

void put_need(struct writer *out, const struct msg_need *need)
{
    put_u32(out, need->first);
    put_u32(out, need->end);
    put_u32(out, need->peer);
    put_bool(out, need->wrong);
}

void get_need(struct reader *in, struct msg_need *need)
{
    get_range(in, &need->first, &need->end);
    need->peer = get_u32(in);
    need->wrong = get_bool(in);
}
