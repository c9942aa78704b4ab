/*
 * The ledger: a chain that scans, receipts that wait, promises that are kept
 * or not, checkpoints when they are due.
 */
#include "core/run/ledger.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/mem.h"
#include "stage.h"

#define STATE_BYTES 16u

static const struct ledger_options usual = {.checkpoint_steps = 10,
                                            .checkpoint_us = SECOND_US};

struct desk {
    struct ledger ledger;
    struct actions actions;
    uint8_t journal[16 * RECORD_BYTES]; /* What was to be written. */
    size_t size;
};

static void open_desk(struct desk *desk, const struct ledger_options *options)
{
    *desk = (struct desk){0};
    assert_int_equal(ledger_init(&desk->ledger, options, STATE_BYTES), ERR_OK);
    assert_int_equal(actions_init(&desk->actions, 8), ERR_OK);
}

static void close_desk(struct desk *desk)
{
    ledger_close(&desk->ledger);
    actions_close(&desk->actions);
}

/* The driver writes, and says so. */
static void write_all(struct desk *desk, enum err err)
{
    for (uint32_t i = 0; i < desk->actions.count; i++) {
        const struct action *action = &desk->actions.list[i];

        if (action->kind != ACTION_JOURNAL)
            continue;
        memcpy(desk->journal + desk->size, action->bytes, action->size);
        desk->size += action->size;
        (void)ledger_journaled(&desk->ledger, err);
    }
    desk->actions.count = 0;
    ledger_turn(&desk->ledger);
}

static struct digest digest_of(uint8_t byte)
{
    struct digest digest = {{0}};

    digest.bytes[0] = byte;
    return digest;
}

static struct record step_record(uint32_t step)
{
    return (struct record){.kind = RECORD_STEP,
                           .job = 7,
                           .view = 1,
                           .step = step,
                           .slots = 1,
                           .rescale = 1,
                           .weights = digest_of((uint8_t)step)};
}

static void append(struct desk *desk, enum record_kind kind, uint32_t step)
{
    struct record record = step_record(step);

    record.kind = kind;
    ledger_append(&desk->ledger, &record, kind != RECORD_STEP, &desk->actions);
}

/* A journal of a job, its view and so many steps. */
static void write_run(struct desk *desk, uint32_t steps)
{
    append(desk, RECORD_JOB, 0);
    append(desk, RECORD_VIEW, 0);
    write_all(desk, ERR_OK);
    for (uint32_t step = 1; step <= steps; step++) {
        append(desk, RECORD_STEP, step);
        write_all(desk, ERR_OK);
    }
}

static void test_the_chain_holds(void **state)
{
    struct journal_summary summary;
    struct desk desk;

    (void)state;
    open_desk(&desk, &usual);
    write_run(&desk, 3);
    assert_true(desk.ledger.loose);
    ledger_sync(&desk.ledger, &desk.actions);
    assert_true(ledger_waits(&desk.ledger));
    assert_false(desk.ledger.loose);
    write_all(&desk, ERR_OK);
    assert_false(ledger_waits(&desk.ledger));
    assert_int_equal(
        journal_scan(desk.journal, desk.size, NULL, NULL, &summary), ERR_OK);
    assert_int_equal(summary.records, 5);
    assert_int_equal(summary.step, 3);
    assert_true(digest_equal(&summary.chain, &desk.ledger.chain));
    close_desk(&desk);
}

/* It is told once, and nothing is put off any more. */
static void test_a_broken_disk(void **state)
{
    struct desk desk;

    (void)state;
    open_desk(&desk, &usual);
    append(&desk, RECORD_JOB, 0);
    append(&desk, RECORD_VIEW, 0);
    assert_true(ledger_journaled(&desk.ledger, ERR_IO));
    assert_false(ledger_journaled(&desk.ledger, ERR_IO));
    assert_true(desk.ledger.broken);
    assert_false(ledger_may_put_off(&desk.ledger, 1));
    assert_false(ledger_checkpoint_due(&desk.ledger, 1000, 0));
    close_desk(&desk);
}

static void test_a_receipt_waits(void **state)
{
    const struct digest hash = digest_of(99);
    struct record record = step_record(1);
    struct desk desk;

    (void)state;
    open_desk(&desk, &usual);
    write_run(&desk, 0);
    assert_true(ledger_may_put_off(&desk.ledger, 1));
    assert_false(ledger_owes(&desk.ledger, 1));
    ledger_put_off(&desk.ledger, &record);
    assert_true(ledger_owes(&desk.ledger, 1));
    assert_false(ledger_owes(&desk.ledger, 2));
    assert_int_equal(desk.actions.count, 0);
    ledger_receipt(&desk.ledger, &hash, &desk.actions);
    assert_false(ledger_owes(&desk.ledger, 1));
    ledger_check(&desk.ledger, 1);
    assert_true(digest_equal(&desk.ledger.receipt.weights, &hash));
    write_all(&desk, ERR_OK);
    assert_int_equal(desk.size, 3 * RECORD_BYTES);
    close_desk(&desk);
}

/* Steps after the checkpoint are promised; those of lost receipts are not. */
static void test_promises(void **state)
{
    struct recovery recovery = {.found = true, .has_checkpoint = true};
    struct record record;
    struct desk past;
    struct desk desk;

    (void)state;
    open_desk(&past, &usual);
    write_run(&past, 4);
    recovery.journal_bytes = past.journal;
    assert_int_equal(
        journal_scan(past.journal, past.size, NULL, NULL, &recovery.journal),
        ERR_OK);
    open_desk(&desk, &usual);
    assert_int_equal(ledger_resume(&desk.ledger, &recovery, 2, true), ERR_OK);
    assert_true(desk.ledger.resumed);
    assert_false(desk.ledger.rollback);
    assert_int_equal(desk.ledger.saved_step, 2);
    for (uint32_t step = 1; step <= 5; step++) {
        assert_int_equal(ledger_replays(&desk.ledger, step),
                         step == 3 || step == 4);
        record = step_record(step);
        assert_false(ledger_contradicts(&desk.ledger, &record));
        record.weights = digest_of(77);
        assert_int_equal(ledger_contradicts(&desk.ledger, &record),
                         step == 3 || step == 4);
    }
    close_desk(&desk);
    open_desk(&desk, &usual);
    assert_int_equal(ledger_resume(&desk.ledger, &recovery, 2, false), ERR_OK);
    assert_true(desk.ledger.rollback);
    assert_false(ledger_replays(&desk.ledger, 3));
    close_desk(&desk);
    close_desk(&past);
}

static void test_checkpoints_are_due(void **state)
{
    struct ledger_options options = usual;
    const struct checkpoint head = {.job = 7, .step = 10};
    struct writer out;
    struct checkpoint read;
    struct desk desk;
    uint8_t *file;
    size_t size;

    (void)state;
    open_desk(&desk, &options);
    ledger_start(&desk.ledger, 5);
    assert_false(ledger_checkpoint_due(&desk.ledger, 9, 6));
    assert_true(ledger_checkpoint_due(&desk.ledger, 10, 6));
    assert_true(ledger_checkpoint_due(&desk.ledger, 1, 5 + SECOND_US));
    out = ledger_state(&desk.ledger);
    put_u64(&out, 42);
    ledger_take(&desk.ledger, &head, &out, 6);
    ledger_file(&desk.ledger, &desk.actions);
    file = stage_sealed(&desk.actions.list[0], &size);
    assert_int_equal(checkpoint_decode(file, size, &read), ERR_OK);
    assert_int_equal(read.step, 10);
    assert_int_equal(read.state_size, 8);
    mem_free(file);
    assert_false(ledger_checkpoint_due(&desk.ledger, 20, 6)); /* One at once. */
    ledger_checkpointed(&desk.ledger, 10, ERR_IO);
    assert_int_equal(desk.ledger.saved_step, 0);
    assert_false(ledger_checkpoint_due(&desk.ledger, 19, 6));
    close_desk(&desk);
    options.sync = true;
    open_desk(&desk, &options);
    assert_false(ledger_checkpoint_due(&desk.ledger, 0, 0));
    assert_true(ledger_checkpoint_due(&desk.ledger, 1, 0));
    close_desk(&desk);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_chain_holds),
        cmocka_unit_test(test_a_broken_disk),
        cmocka_unit_test(test_a_receipt_waits),
        cmocka_unit_test(test_promises),
        cmocka_unit_test(test_checkpoints_are_due),
    };

    return cmocka_run_group_tests_name("ledger", tests, NULL, NULL);
}
