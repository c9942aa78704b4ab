/*
 * Checkpoints are saved with the disk failing at every operation in turn: what
 * is loaded afterwards must be the old one or the new one, whole.  Damage to a
 * file must be seen and the older one used.
 */
#include "core/run/store.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/mem.h"
#include "memory_disk.h"

#define STATE_SIZE 100u

static size_t encode(uint32_t step, uint8_t *out)
{
    uint8_t state[STATE_SIZE];
    const struct checkpoint checkpoint = {
        .job = 9,
        .view = 2,
        .step = step,
        .state = state,
        .state_size = sizeof state,
    };

    memset(state, (int)step, sizeof state);
    return checkpoint_encode(&checkpoint, out);
}

static enum err save_in(struct memory_disk *disk, uint32_t step,
                        struct saved *last)
{
    uint8_t bytes[1024];

    assert_true(checkpoint_bytes(STATE_SIZE) <= sizeof bytes);
    return store_save(&disk->disk, bytes, encode(step, bytes), last);
}

/* In a life of its own. */
static enum err save(struct memory_disk *disk, uint32_t step)
{
    struct saved last = {0};

    return save_in(disk, step, &last);
}

/* The step of the checkpoint that is loaded; 0 if there is none. */
static uint32_t loaded(struct memory_disk *disk)
{
    struct recovery found;
    struct why why;
    uint32_t step = 0;

    assert_int_equal(store_recover(&disk->disk, &found, &why), ERR_OK);
    if (found.has_checkpoint) {
        step = found.checkpoint.step;
        assert_int_equal(found.checkpoint.state_size, STATE_SIZE);
        assert_int_equal(found.checkpoint.state[STATE_SIZE - 1], step);
    }
    recovery_close(&found);
    return step;
}

static void test_newest_wins(void **state)
{
    struct memory_disk disk;

    (void)state;
    memory_disk_init(&disk);
    assert_int_equal(loaded(&disk), 0);
    for (uint32_t step = 1; step <= 5; step++) {
        assert_int_equal(save(&disk, step), ERR_OK);
        assert_int_equal(loaded(&disk), step);
    }
    memory_disk_close(&disk);
}

static void test_old_or_new(void **state)
{
    int points = 0;

    (void)state;
    for (int fail = 0;; fail++) {
        struct memory_disk disk;
        enum err err;
        uint32_t step;

        memory_disk_init(&disk);
        assert_int_equal(save(&disk, 1), ERR_OK);
        assert_int_equal(save(&disk, 2), ERR_OK);
        disk.operations = 0;
        disk.fail_after = fail;
        err = save(&disk, 3);
        disk.fail_after = -1;
        step = loaded(&disk);
        assert_true(step == 2 || step == 3);
        memory_disk_close(&disk);
        if (err == ERR_OK) {
            assert_int_equal(step, 3);
            break;
        }
        points++;
    }
    assert_int_equal(points, 5); /* Write, digest, sync, rename, folder. */
}

/* What did not fit leaves no half file that takes the room of others. */
static void test_half_a_file_is_emptied(void **state)
{
    struct memory_disk disk;
    const struct memory_file *half;

    (void)state;
    memory_disk_init(&disk);
    assert_int_equal(save(&disk, 1), ERR_OK);
    disk.operations = 0;
    disk.fail_after = 1; /* The digest's. */
    disk.fail_count = 1;
    assert_int_equal(save(&disk, 2), ERR_IO);
    half = memory_disk_find(&disk, "checkpoint.tmp");
    assert_true(half != NULL && half->size == 0);
    assert_int_equal(loaded(&disk), 1);
    disk.fail_after = -1;
    assert_int_equal(save(&disk, 2), ERR_OK);
    assert_int_equal(loaded(&disk), 2);
    memory_disk_close(&disk);
}

static void test_damage_is_seen(void **state)
{
    struct memory_disk disk;
    struct memory_file *newest;

    (void)state;
    memory_disk_init(&disk);
    assert_int_equal(save(&disk, 1), ERR_OK);
    assert_int_equal(save(&disk, 2), ERR_OK);
    newest = memory_disk_find(&disk, "checkpoint.1");
    assert_non_null(newest);
    for (size_t at = 0; at < newest->size; at++) {
        newest->data[at] ^= 1;
        assert_int_equal(loaded(&disk), 1);
        newest->data[at] ^= 1;
    }
    assert_int_equal(loaded(&disk), 2);
    memory_disk_close(&disk);
}

static enum err save_long(struct memory_disk *disk, uint32_t step,
                          struct saved *last)
{
    static uint8_t state[200000];
    static uint8_t bytes[sizeof state + 1024];
    const struct checkpoint checkpoint = {
        .step = step, .state = state, .state_size = sizeof state};

    assert_true(checkpoint_bytes(sizeof state) <= sizeof bytes);
    memset(state, (int)step, sizeof state);
    return store_save(&disk->disk, bytes, checkpoint_encode(&checkpoint, bytes),
                      last);
}

/* The first one who saves in a life looks at the files a block at a time:
 * damage anywhere in the newer one makes it the one that is written over. */
static void test_damage_is_seen_by_blocks(void **state)
{
    static const size_t places[] = {0, 65535, 65536, 150000, 199999};

    (void)state;
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        struct memory_disk disk;
        struct memory_file *newest;
        struct saved last = {0}, later = {0};

        memory_disk_init(&disk);
        assert_int_equal(save_long(&disk, 1, &last), ERR_OK);
        assert_int_equal(save_long(&disk, 2, &last), ERR_OK);
        newest = memory_disk_find(&disk, "checkpoint.1");
        assert_non_null(newest);
        newest->data[places[i]] ^= 1;
        assert_int_equal(save_long(&disk, 3, &later), ERR_OK);
        newest = memory_disk_find(&disk, "checkpoint.1");
        assert_non_null(newest);
        assert_int_equal(newest->data[newest->size / 2], 3);
        memory_disk_close(&disk);
    }
}

/* ... and those who come later need not: what a life has saved it knows. */
static void test_a_life_reads_once(void **state)
{
    struct memory_disk disk;
    struct saved last = {0};

    (void)state;
    memory_disk_init(&disk);
    for (uint32_t step = 1; step <= 5; step++) {
        disk.read_bytes = 0;
        assert_int_equal(save_long(&disk, step, &last), ERR_OK);
        assert_true(disk.read_bytes < 1000);
    }
    assert_int_equal(memory_disk_find(&disk, "checkpoint.0")->data[100000], 5);
    assert_int_equal(memory_disk_find(&disk, "checkpoint.1")->data[100000], 4);
    last = (struct saved){.known = false};
    assert_int_equal(save_long(&disk, 6, &last), ERR_OK);
    assert_true(disk.read_bytes > 400000);
    assert_int_equal(memory_disk_find(&disk, "checkpoint.1")->data[100000], 6);
    memory_disk_close(&disk);
}

/* What it has saved last and does not find there: it looks again, and leaves
 * alone what is whole. */
static void test_what_was_saved_is_gone(void **state)
{
    (void)state;
    for (int how = 0; how < 4; how++) {
        struct memory_disk disk;
        struct memory_file *newest;
        struct saved last = {0};

        memory_disk_init(&disk);
        assert_int_equal(save_in(&disk, 1, &last), ERR_OK);
        assert_int_equal(save_in(&disk, 2, &last), ERR_OK);
        newest = memory_disk_find(&disk, "checkpoint.1");
        if (how == 0)
            newest->name[0] = 'x'; /* Removed, */
        if (how == 1)
            newest->size--; /* ... cut off, */
        if (how == 2)
            newest->data[newest->size - 1] ^= 1; /* ... of another end, */
        if (how == 3)
            newest->data[0] ^= 1; /* ... none of ours. */
        disk.operations = 0;
        disk.fail_after = 4; /* It is renamed, and that is all. */
        assert_int_equal(save_in(&disk, 3, &last), ERR_IO);
        disk.fail_after = -1;
        assert_int_equal(loaded(&disk), 3);
        newest = memory_disk_find(&disk, "checkpoint.0");
        assert_int_equal(newest->data[newest->size - 40], 1);
        memory_disk_close(&disk);
    }
}

/* Wherever a save fails: the next one of the same life leaves the newest. */
static void test_after_a_failure_it_looks(void **state)
{
    (void)state;
    for (int fail = 0; fail < 5; fail++) {
        struct memory_disk disk;
        struct saved last = {0};
        uint32_t step;

        memory_disk_init(&disk);
        assert_int_equal(save_in(&disk, 1, &last), ERR_OK);
        assert_int_equal(save_in(&disk, 2, &last), ERR_OK);
        disk.operations = 0;
        disk.fail_after = fail;
        assert_int_equal(save_in(&disk, 3, &last), ERR_IO);
        disk.fail_after = -1;
        step = loaded(&disk);
        assert_int_equal(save_in(&disk, 4, &last), ERR_OK);
        assert_int_equal(loaded(&disk), 4);
        for (int i = 0; i < 2; i++) {
            struct memory_file *const file = memory_disk_find(
                &disk, i == 0 ? "checkpoint.0" : "checkpoint.1");
            const uint8_t of = file->data[file->size - 40];

            assert_true(of == 4 || of == step);
        }
        memory_disk_close(&disk);
    }
}

static void test_torn_journal_is_cut(void **state)
{
    const struct record job = {.kind = RECORD_JOB, .job = 9};
    struct digest chain = {{0}};
    uint8_t bytes[RECORD_BYTES];
    struct memory_disk disk;
    struct recovery found;
    struct why why;

    (void)state;
    memory_disk_init(&disk);
    record_encode(&job, &chain, bytes);
    assert_int_equal(store_append(&disk.disk, bytes, sizeof bytes, true),
                     ERR_OK);
    assert_int_equal(store_append(&disk.disk, bytes, 100, false), ERR_OK);
    assert_int_equal(store_recover(&disk.disk, &found, &why), ERR_OK);
    assert_true(found.found);
    assert_true(found.journal.torn);
    assert_int_equal(found.journal.records, 1);
    assert_int_equal(memory_disk_find(&disk, JOURNAL_FILE)->size, RECORD_BYTES);
    recovery_close(&found);
    memory_disk_close(&disk);
}

/* Steps 1 to `steps` of a run whose checkpoint is of the last one. */
static void write_run(struct memory_disk *disk, uint32_t steps)
{
    struct record record = {.kind = RECORD_JOB, .job = 9};
    struct digest chain = {{0}};
    uint8_t bytes[RECORD_BYTES];

    for (uint32_t i = 0; i < steps + 2; i++) {
        record.kind = i == 0 ? RECORD_JOB : i == 1 ? RECORD_VIEW : RECORD_STEP;
        record.view = i == 0 ? 0 : 2;
        record.step = i < 2 ? 0 : i - 1;
        record_encode(&record, &chain, bytes);
        assert_int_equal(store_append(&disk->disk, bytes, sizeof bytes, true),
                         ERR_OK);
    }
    assert_int_equal(save(disk, steps), ERR_OK);
}

/* Whatever of the journal is lost, cut off or altered: the checkpoint is whole,
 * and the journal says from where on it has receipts. */
static void test_lost_receipts(void **state)
{
    const uint32_t steps = 5;
    const size_t whole = (size_t)(steps + 2) * RECORD_BYTES;

    (void)state;
    for (size_t at = 0; at < whole; at += 7) {
        for (int cut = 0; cut < 2; cut++) {
            struct memory_disk disk;
            struct memory_file *journal;
            struct recovery found;
            struct journal_summary again;
            struct why why = {0};

            memory_disk_init(&disk);
            write_run(&disk, steps);
            journal = memory_disk_find(&disk, JOURNAL_FILE);
            assert_int_equal(journal->size, whole);
            if (cut != 0)
                journal->size = at;
            else
                journal->data[at] ^= 1;
            assert_int_equal(store_recover(&disk.disk, &found, &why), ERR_OK);
            assert_true(found.found && found.has_checkpoint);
            assert_int_equal(found.checkpoint.step, steps);
            assert_int_equal(found.journal.step, steps);
            assert_int_equal(found.journal.job, 9);
            assert_true(found.journal.view >= 2);
            assert_non_null(strstr(found.lost.text, "receipts"));
            assert_int_equal(store_walk(&disk.disk, NULL, NULL, &again),
                             ERR_OK);
            assert_int_equal(again.step, steps);
            assert_false(again.torn);
            recovery_close(&found);
            memory_disk_close(&disk);
        }
    }
}

/* A file that says it is long is not read to its end. */
static void test_walk_stops_at_rubbish(void **state)
{
    struct memory_disk disk;
    struct journal_summary summary;
    static const uint8_t zeros[1 << 21];

    (void)state;
    memory_disk_init(&disk);
    write_run(&disk, 5);
    assert_int_equal(store_append(&disk.disk, zeros, sizeof zeros, false),
                     ERR_OK);
    assert_int_equal(store_walk(&disk.disk, NULL, NULL, &summary), ERR_OK);
    assert_int_equal(summary.records, 7);
    assert_true(summary.torn);
    memory_disk_close(&disk);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_newest_wins),
        cmocka_unit_test(test_old_or_new),
        cmocka_unit_test(test_half_a_file_is_emptied),
        cmocka_unit_test(test_damage_is_seen),
        cmocka_unit_test(test_damage_is_seen_by_blocks),
        cmocka_unit_test(test_a_life_reads_once),
        cmocka_unit_test(test_what_was_saved_is_gone),
        cmocka_unit_test(test_after_a_failure_it_looks),
        cmocka_unit_test(test_torn_journal_is_cut),
        cmocka_unit_test(test_lost_receipts),
        cmocka_unit_test(test_walk_stops_at_rubbish),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
