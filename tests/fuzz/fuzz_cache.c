/*
 * Any bytes as the first page of a cached data set, with the digest that makes
 * it pass: what is accepted must describe sections that lie in the file, in
 * order, and must encode to the same page.
 * README.md says how to build and run it.
 */
#include "fuzz.h"

#include <string.h>

#include "data/read/cache.h"

static void check(const struct cache_header *header)
{
    uint64_t at = CACHE_PAGE;

    for (uint32_t i = 0; i < CACHE_SECTIONS; i++) {
        FUZZ_REQUIRE(header->section[i].offset == at);
        FUZZ_REQUIRE(header->section[i].bytes <= header->file_bytes - at);
        at += (header->section[i].bytes + CACHE_PAGE - 1) / CACHE_PAGE *
              CACHE_PAGE;
    }
    FUZZ_REQUIRE(at == header->file_bytes);
    FUZZ_REQUIRE(header->shape.rows > 0 && header->shape.cols > 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    uint8_t page[CACHE_PAGE] = {0};
    uint8_t again[CACHE_PAGE];
    struct cache_header header;
    struct digest digest;

    if (size > CACHE_PAGE - DIGEST_BYTES)
        size = CACHE_PAGE - DIGEST_BYTES;
    if (size > 0)
        memcpy(page, data, size);
    if (cache_header_decode(page, &header) == ERR_OK)
        FUZZ_REQUIRE(!"a page without its digest");
    digest = hash_bytes(page, CACHE_PAGE - DIGEST_BYTES);
    memcpy(page + CACHE_PAGE - DIGEST_BYTES, digest.bytes, DIGEST_BYTES);
    if (cache_header_decode(page, &header) != ERR_OK)
        return 0;
    fuzz_reached = true;
    check(&header);
    /* Flags may be written in many ways, and what follows is free. */
    cache_header_encode(&header, again);
    FUZZ_REQUIRE(cache_header_decode(again, &header) == ERR_OK);
    check(&header);
    return 0;
}
