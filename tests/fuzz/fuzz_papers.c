/*
 * fuzz_papers.c - what a ring sends to a machine that joins it, from a peer
 * that says anything (src/node/ring/papers.h).
 *
 * Oracle: papers that are read are written as the same bytes.
 */
#include <string.h>

#include "fuzz.h"
#include "node/ring/papers.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct papers papers;
    struct papers_kept kept = {.chunks = 0};

    if (papers_read(data, size, &papers) != ERR_OK)
        return 0;
    fuzz_reached = true;
    FUZZ_REQUIRE(papers_keep(&papers, &kept) == ERR_OK);
    FUZZ_REQUIRE(kept.view.size == size && kept.chunks == papers.chunks);
    FUZZ_REQUIRE(memcmp(kept.view.bytes, data, size) == 0);
    papers_drop(&kept);
    return 0;
}
