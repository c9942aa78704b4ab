/*
 * papers.c - papers as bytes, and back.
 */
#include "node/ring/papers.h"

#include "base/check.h"
#include "base/chunkset.h"
#include "base/mem.h"
#include "core/msg.h"

#define HEAD_BYTES (64u + BRIEF_MAX + OPTIM_OPTIONS_BYTES)

enum err papers_keep(const struct papers *papers, struct papers_kept *kept)
{
    const size_t start = papers->start_count * sizeof(double);
    const size_t capacity = HEAD_BYTES + (size_t)papers->chunks * DIGEST_BYTES +
                            start + papers->kit.size;
    uint8_t *bytes = mem_new(capacity, 1);
    struct writer out = writer_on(bytes, capacity);

    if (bytes == NULL)
        return ERR_NOMEM;
    put_u16(&out, (uint16_t)papers->brief.size);
    put_bytes(&out, papers->brief.bytes, papers->brief.size);
    optim_options_put(&out, &papers->optim);
    put_u32(&out, papers->chunks);
    put_bytes(&out, papers->digests, (size_t)papers->chunks * DIGEST_BYTES);
    put_u32(&out, papers->start_count);
    put_bytes(&out, papers->start, start);
    put_u64(&out, papers->kit.size);
    put_bytes(&out, papers->kit.bytes, papers->kit.size);
    CHECK(out.ok);
    *kept = (struct papers_kept){.view = {bytes, out.size},
                                 .digest = hash_bytes(bytes, out.size),
                                 .chunks = papers->chunks};
    return ERR_OK;
}

void papers_drop(struct papers_kept *kept)
{
    union {
        const uint8_t *bytes;
        void *memory;
    } const own = {kept->view.bytes}; /* papers_keep made it. */

    mem_free(own.memory);
    *kept = (struct papers_kept){0};
}

enum err papers_read(const uint8_t *bytes, size_t size, struct papers *papers)
{
    struct reader in = reader_on(bytes, size);
    struct papers made = {0};

    made.brief.size = get_u16(&in);
    in.ok = in.ok && made.brief.size <= BRIEF_MAX;
    made.brief.bytes = get_view(&in, made.brief.size);
    optim_options_get(&in, &made.optim);
    made.chunks = get_u32(&in);
    in.ok = in.ok && made.chunks > 0 && made.chunks <= CHUNKS_MAX;
    made.digests = get_view(&in, (size_t)made.chunks * DIGEST_BYTES);
    made.start_count = get_u32(&in);
    in.ok = in.ok && made.start_count <= DIMS_MAX;
    made.start = get_view(&in, made.start_count * sizeof(double));
    made.kit.size = get_u64(&in);
    made.kit.bytes = get_view(&in, made.kit.size);
    if (!reader_done(&in))
        return ERR_FORMAT;
    *papers = made;
    return ERR_OK;
}
