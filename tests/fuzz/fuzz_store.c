/*
 * fuzz_store.c - any bytes as a journal and as a checkpoint (P5, P12).
 *
 * Oracles: a checkpoint that is read is written again to the same bytes; what
 * follows the valid part of a journal changes nothing in what is read; and of
 * records that were really written, damaged anywhere, the valid part is a whole
 * number of them from the first on.
 */
#include <string.h>

#include "base/mem.h"
#include "core/journal.h"
#include "core/store.h"
#include "feed.h"
#include "fuzz.h"

#define RECORDS 12u

static void read_checkpoint(const uint8_t *data, size_t size)
{
    struct checkpoint read;
    uint8_t *again;

    if (checkpoint_decode(data, size, &read) != ERR_OK)
        return;
    again = mem_new(checkpoint_bytes(read.state_size), 1);
    FUZZ_REQUIRE(again != NULL);
    FUZZ_REQUIRE(checkpoint_encode(&read, again) == size);
    FUZZ_REQUIRE(memcmp(again, data, size) == 0);
    mem_free(again);
}

static void read_journal(const uint8_t *data, size_t size)
{
    struct journal_summary all;
    struct journal_summary valid;

    if (journal_scan(data, size, NULL, NULL, &all) != ERR_OK)
        return;
    FUZZ_REQUIRE(all.valid_bytes <= size);
    FUZZ_REQUIRE(all.valid_bytes == (size_t)all.records * RECORD_BYTES);
    FUZZ_REQUIRE(all.torn == (all.valid_bytes < size));
    FUZZ_REQUIRE(journal_scan(data, all.valid_bytes, NULL, NULL, &valid) ==
                 ERR_OK);
    FUZZ_REQUIRE(valid.records == all.records && !valid.torn);
    FUZZ_REQUIRE(digest_equal(&valid.chain, &all.chain));
}

/* A journal by the rules, as the input chooses. */
static size_t write_records(struct feed *feed, uint8_t *out)
{
    const uint32_t count = feed_below(feed, RECORDS + 1);
    struct digest chain = {{0}};
    struct record record = {.kind = RECORD_JOB, .job = 7};

    for (uint32_t i = 0; i < count; i++) {
        record_encode(&record, &chain, out + (size_t)i * RECORD_BYTES);
        record.kind = feed_below(feed, 4) == 1 ? RECORD_VIEW : RECORD_STEP;
        record.view += record.kind == RECORD_VIEW;
        record.step += record.kind == RECORD_STEP;
    }
    return (size_t)count * RECORD_BYTES;
}

static void read_damaged(struct feed *feed)
{
    uint8_t journal[RECORDS * RECORD_BYTES];
    const size_t size = write_records(feed, journal);
    struct journal_summary seen;
    size_t at;

    FUZZ_REQUIRE(journal_scan(journal, size, NULL, NULL, &seen) == ERR_OK);
    FUZZ_REQUIRE(seen.valid_bytes == size);
    if (size == 0)
        return;
    at = (size_t)feed_u64(feed) % size;
    journal[at] ^= (uint8_t)(1u << feed_below(feed, 8));
    /* The record that was damaged ends what is valid. */
    FUZZ_REQUIRE(journal_scan(journal, size, NULL, NULL, &seen) == ERR_OK);
    FUZZ_REQUIRE(seen.torn);
    FUZZ_REQUIRE(seen.valid_bytes == at / RECORD_BYTES * RECORD_BYTES);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct feed feed = {.data = data, .size = size};

    read_checkpoint(data, size);
    read_journal(data, size);
    read_damaged(&feed);
    return 0;
}
