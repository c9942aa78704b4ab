/*
 * The disk model, first by its own rules, then as a torture of core/run/store:
 * a crash before every disk operation of a scripted run, in many ways of losing
 * power, must leave the last durable checkpoint and every synced record.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/mem.h"
#include "core/run/store.h"
#include "sim/disk.h"

static enum err put(struct disk_model *model, const char *name,
                    const char *text)
{
    return model->disk.ops->append(&model->disk, name, text, strlen(text));
}

static enum err sync(struct disk_model *model, const char *name)
{
    return model->disk.ops->sync(&model->disk, name);
}

static void assert_holds(struct disk_model *model, const char *name,
                         const char *text)
{
    uint8_t *data;
    size_t size;

    assert_int_equal(model->disk.ops->read(&model->disk, name, &data, &size),
                     ERR_OK);
    assert_int_equal(size, strlen(text));
    assert_memory_equal(data, text, size);
    mem_free(data);
}

static void assert_lacks(struct disk_model *model, const char *name)
{
    uint8_t *data;
    size_t size;

    assert_int_equal(model->disk.ops->read(&model->disk, name, &data, &size),
                     ERR_NOTFOUND);
}

static void test_unsynced_is_lost(void **state)
{
    struct disk_model model;

    (void)state;
    disk_model_init(&model);
    assert_int_equal(put(&model, "a", "one"), ERR_OK);
    assert_int_equal(sync(&model, "a"), ERR_OK);
    assert_int_equal(model.disk.ops->sync_folder(&model.disk), ERR_OK);
    assert_int_equal(put(&model, "a", "two"), ERR_OK);
    assert_holds(&model, "a", "onetwo");
    disk_model_drop_unsynced(&model);
    assert_holds(&model, "a", "one");
    disk_model_close(&model);
}

static void test_names_need_the_folder_synced(void **state)
{
    struct disk_model model;

    (void)state;
    disk_model_init(&model);
    assert_int_equal(put(&model, "new", "x"), ERR_OK);
    assert_int_equal(sync(&model, "new"), ERR_OK);
    disk_model_drop_unsynced(&model);
    assert_lacks(&model, "new");

    assert_int_equal(put(&model, "old", "1"), ERR_OK);
    assert_int_equal(sync(&model, "old"), ERR_OK);
    assert_int_equal(model.disk.ops->sync_folder(&model.disk), ERR_OK);
    assert_int_equal(put(&model, "tmp", "2"), ERR_OK);
    assert_int_equal(sync(&model, "tmp"), ERR_OK);
    assert_int_equal(model.disk.ops->rename(&model.disk, "tmp", "old"), ERR_OK);
    assert_holds(&model, "old", "2");
    disk_model_drop_unsynced(&model);
    assert_holds(&model, "old", "1");
    disk_model_close(&model);
}

/* The pages of a failed sync are clean, not durable: a second one is no help.
 */
static void test_failed_sync_is_final(void **state)
{
    struct disk_model model;
    const uint8_t *data;
    size_t size;

    (void)state;
    disk_model_init(&model);
    assert_int_equal(put(&model, "a", "one"), ERR_OK);
    assert_int_equal(sync(&model, "a"), ERR_OK);
    assert_int_equal(model.disk.ops->sync_folder(&model.disk), ERR_OK);
    assert_int_equal(put(&model, "a", "two"), ERR_OK);
    model.error_after = 0;
    assert_int_equal(sync(&model, "a"), ERR_IO);
    assert_int_equal(put(&model, "a", "six"), ERR_OK);
    assert_int_equal(sync(&model, "a"), ERR_OK);
    assert_holds(&model, "a", "onetwosix");
    assert_true(disk_model_durable(&model, "a", &data, &size));
    assert_int_equal(size, 9);
    assert_memory_equal(data, "one\0\0\0six", 9);
    disk_model_close(&model);
}

static void test_crash_countdown(void **state)
{
    struct disk_model model;

    (void)state;
    disk_model_init(&model);
    model.crash_after = 1;
    assert_int_equal(put(&model, "a", "1"), ERR_OK);
    assert_false(model.dead);
    assert_int_equal(put(&model, "a", "2"), ERR_IO);
    assert_true(model.dead);
    assert_int_equal(sync(&model, "a"), ERR_IO);
    disk_model_revive(&model);
    assert_holds(&model, "a", "1");
    disk_model_close(&model);
}

/* --- torture of core/run/store -----------------------------------------------
 */

#define SAVES  4u
#define WAYS   600u   /* What one power cut may leave. */
#define STATES 20000u /* In all, at least. */

struct books {
    uint32_t checkpoint; /* Last reported durable. */
    uint32_t records;    /* Last reported durable. */
};

static enum err save(struct disk_model *model, uint32_t step,
                     struct saved *last)
{
    uint8_t state[700];
    uint8_t file[1024];
    const struct checkpoint checkpoint = {
        .job = 7, .step = step, .state = state, .state_size = sizeof state};

    memset(state, (int)step, sizeof state);
    assert_true(checkpoint_bytes(sizeof state) <= sizeof file);
    return store_save(&model->disk, file, checkpoint_encode(&checkpoint, file),
                      last);
}

static enum err append(struct disk_model *model, uint32_t number,
                       struct digest *chain)
{
    const struct record record = {.kind =
                                      number == 0 ? RECORD_JOB : RECORD_STEP,
                                  .job = 7,
                                  .step = number};
    uint8_t bytes[RECORD_BYTES];

    record_encode(&record, chain, bytes);
    return store_append(&model->disk, bytes, sizeof bytes, true);
}

/* A journal and four checkpoints, until done or dead. */
static void write_run(struct disk_model *model, struct books *books)
{
    struct digest chain = {{0}};
    struct saved last = {0};

    for (uint32_t step = 0; step <= SAVES; step++) {
        if (append(model, step, &chain) != ERR_OK)
            return;
        books->records = step + 1;
        if (step > 0 && save(model, step, &last) != ERR_OK)
            return;
        books->checkpoint = step;
    }
}

static void assert_recovers(struct disk_model *model, const struct books *books)
{
    struct recovery found = {0};
    struct why why;

    disk_model_revive(model);
    assert_int_equal(store_recover(&model->disk, &found, &why), ERR_OK);
    assert_true(found.journal.records >= books->records);
    if (books->checkpoint > 0)
        assert_true(found.has_checkpoint);
    if (found.has_checkpoint) {
        assert_true(found.checkpoint.step >= books->checkpoint);
        assert_int_equal(found.checkpoint.state_size, 700);
        for (size_t i = 0; i < 700; i++)
            assert_int_equal(found.checkpoint.state[i], found.checkpoint.step);
    }
    recovery_close(&found);
}

static uint64_t operations_of_run(void)
{
    struct disk_model model;
    struct books books = {0};
    uint64_t count;

    disk_model_init(&model);
    write_run(&model, &books);
    assert_int_equal(books.checkpoint, SAVES);
    count = model.operations;
    disk_model_close(&model);
    return count;
}

static void test_power_cut_at_every_operation(void **state)
{
    const uint64_t count = operations_of_run();
    struct rng rng;

    (void)state;
    rng_init(&rng, 11);
    assert_true((count + 1) * WAYS >= STATES);
    for (uint32_t after = 0; after <= count; after++) {
        for (uint32_t way = 0; way < WAYS; way++) {
            struct disk_model model;
            struct books books = {0};

            disk_model_init(&model);
            model.crash_after = after;
            write_run(&model, &books);
            disk_model_cut_power(&model, &rng);
            assert_recovers(&model, &books);
            disk_model_close(&model);
        }
    }
}

/* The crash comes, recovery crashes too, then recovery is left in peace. */
static void test_power_cut_during_recovery(void **state)
{
    const uint64_t count = operations_of_run();
    struct rng rng;

    (void)state;
    rng_init(&rng, 12);
    for (uint32_t way = 0; way < 4000; way++) {
        struct disk_model model;
        struct books books = {0};
        struct recovery found = {0};
        struct why why;

        disk_model_init(&model);
        model.crash_after = (uint32_t)rng_below(&rng, count);
        write_run(&model, &books);
        disk_model_cut_power(&model, &rng);
        disk_model_revive(&model);
        model.crash_after = (uint32_t)rng_below(&rng, 8);
        if (store_recover(&model.disk, &found, &why) == ERR_OK)
            recovery_close(&found);
        disk_model_cut_power(&model, &rng);
        assert_recovers(&model, &books);
        disk_model_close(&model);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_unsynced_is_lost),
        cmocka_unit_test(test_names_need_the_folder_synced),
        cmocka_unit_test(test_failed_sync_is_final),
        cmocka_unit_test(test_crash_countdown),
        cmocka_unit_test(test_power_cut_at_every_operation),
        cmocka_unit_test(test_power_cut_during_recovery),
    };

    return cmocka_run_group_tests_name("disk", tests, NULL, NULL);
}
