/*
 * fuzz_store.c - any bytes as a journal and as a checkpoint (P5, P12).
 *
 * As they are, and with the digests that make them whole: nobody guesses those,
 * and what is read behind them would never be reached.  Oracles: a checkpoint
 * that is read is written again to the same bytes; what follows the valid part
 * of a journal changes nothing in what is read; what is read of a journal keeps
 * JOUR-1..3; and of records that were really written, damaged anywhere, the
 * valid part is a whole number of them from the first on.
 */
#include <string.h>

#include "base/mem.h"
#include "core/run/journal.h"
#include "core/run/store.h"
#include "feed.h"
#include "fuzz.h"

#define RECORDS    12u
#define BODY_BYTES (RECORD_BYTES - DIGEST_BYTES)

static void read_checkpoint(const uint8_t *data, size_t size)
{
    struct checkpoint read;
    uint8_t *again;

    if (checkpoint_decode(data, size, &read) != ERR_OK)
        return;
    fuzz_reached = true;
    again = mem_new(checkpoint_bytes(read.state_size), 1);
    FUZZ_REQUIRE(again != NULL);
    FUZZ_REQUIRE(checkpoint_encode(&read, again) + DIGEST_BYTES == size);
    FUZZ_REQUIRE(memcmp(again, data, size - DIGEST_BYTES) == 0);
    mem_free(again);
}

static void read_sealed_checkpoint(const uint8_t *data, size_t size)
{
    const struct digest digest = hash_bytes(data, size);
    uint8_t *sealed = mem_new(size + DIGEST_BYTES, 1);

    FUZZ_REQUIRE(sealed != NULL);
    memcpy(sealed, data, size);
    memcpy(sealed + size, digest.bytes, DIGEST_BYTES);
    read_checkpoint(sealed, size + DIGEST_BYTES);
    mem_free(sealed);
}

/* --- journals ------------------------------------------------------------ */

struct reading {
    uint32_t records;
    struct record last; /* The highest view, the step reached. */
};

/* JOUR-1..3. */
static void check_record(void *context, const struct record *record)
{
    struct reading *reading = context;
    struct record *last = &reading->last;

    FUZZ_REQUIRE((reading->records == 0) == (record->kind == RECORD_JOB));
    FUZZ_REQUIRE(reading->records == 0 || record->job == last->job);
    if (record->kind == RECORD_VIEW)
        FUZZ_REQUIRE(record->view > last->view);
    if (record->kind == RECORD_STEP)
        FUZZ_REQUIRE(record->view == last->view &&
                     record->step == last->step + 1);
    if (record->kind == RECORD_ROLLBACK)
        FUZZ_REQUIRE(record->step <= last->step);
    if (record->kind == RECORD_GAP)
        FUZZ_REQUIRE(record->view >= last->view && record->step > last->step);
    FUZZ_REQUIRE(memchr(record->code, 0, RECORD_CODE_SIZE) != NULL);
    last->job = record->job;
    if (record->kind == RECORD_VIEW || record->kind == RECORD_GAP)
        last->view = record->view;
    if (record->kind != RECORD_JOB && record->kind != RECORD_VIEW)
        last->step = record->step;
    reading->records++;
}

static void read_journal(const uint8_t *data, size_t size)
{
    struct journal_summary all;
    struct journal_summary valid;
    struct reading reading = {0};

    if (journal_scan(data, size, check_record, &reading, &all) != ERR_OK)
        return;
    fuzz_reached = fuzz_reached || all.records > 1;
    FUZZ_REQUIRE(all.records == reading.records);
    FUZZ_REQUIRE(all.view == reading.last.view);
    FUZZ_REQUIRE(all.step == reading.last.step);
    FUZZ_REQUIRE(all.valid_bytes <= size);
    FUZZ_REQUIRE(all.valid_bytes == (size_t)all.records * RECORD_BYTES);
    FUZZ_REQUIRE(all.torn == (all.valid_bytes < size));
    FUZZ_REQUIRE(journal_scan(data, all.valid_bytes, NULL, NULL, &valid) ==
                 ERR_OK);
    FUZZ_REQUIRE(valid.records == all.records && !valid.torn);
    FUZZ_REQUIRE(digest_equal(&valid.chain, &all.chain));
}

static void read_sealed_journal(const uint8_t *data, size_t size)
{
    uint8_t journal[RECORDS * RECORD_BYTES];
    struct digest chain = {{0}};
    size_t at = 0;

    for (; at < RECORDS && (at + 1) * BODY_BYTES <= size; at++) {
        uint8_t *const out = journal + at * RECORD_BYTES;
        struct hasher hasher;

        memcpy(out, data + at * BODY_BYTES, BODY_BYTES);
        hasher_init(&hasher);
        hasher_add(&hasher, chain.bytes, DIGEST_BYTES);
        hasher_add(&hasher, out, BODY_BYTES);
        chain = hasher_end(&hasher);
        memcpy(out + BODY_BYTES, chain.bytes, DIGEST_BYTES);
    }
    read_journal(journal, at * RECORD_BYTES);
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
    read_sealed_checkpoint(data, size);
    read_journal(data, size);
    read_sealed_journal(data, size);
    read_damaged(&feed);
    return 0;
}
