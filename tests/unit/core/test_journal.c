/*
 * A journal is written record by record, then damaged in every way a disk can:
 * cut at every byte, one bit flipped at every byte.  The valid prefix must be
 * what was written before the damage, never more.
 */
#include "core/run/journal.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#define RECORDS 6u

struct written {
    uint8_t bytes[RECORDS * RECORD_BYTES];
    struct digest chain;
};

static struct record make(enum record_kind kind, uint64_t view, uint32_t step)
{
    return (struct record){.kind = kind,
                           .job = 7,
                           .view = view,
                           .step = step,
                           .answered = (uint32_t)view + 2,
                           .rescale = 1,
                           .code = "steal"};
}

static void add(struct written *out, uint32_t index, struct record record)
{
    record_encode(&record, &out->chain, out->bytes + index * RECORD_BYTES);
}

static void write_all(struct written *out)
{
    memset(out, 0, sizeof *out);
    add(out, 0, make(RECORD_JOB, 0, 0));
    add(out, 1, make(RECORD_VIEW, 1, 0));
    add(out, 2, make(RECORD_STEP, 1, 1));
    add(out, 3, make(RECORD_STEP, 1, 2));
    add(out, 4, make(RECORD_VIEW, 3, 2));
    add(out, 5, make(RECORD_STEP, 3, 3));
}

static void count(void *context, const struct record *record)
{
    uint32_t *seen = context;

    assert_int_equal(record->job, 7);
    (*seen)++;
}

static void test_round_trip(void **state)
{
    struct written out;
    struct journal_summary summary;
    uint32_t seen = 0;

    (void)state;
    write_all(&out);
    assert_int_equal(
        journal_scan(out.bytes, sizeof out.bytes, count, &seen, &summary),
        ERR_OK);
    assert_int_equal(seen, RECORDS);
    assert_int_equal(summary.records, RECORDS);
    assert_int_equal(summary.view, 3);
    assert_int_equal(summary.members, 5);
    assert_int_equal(summary.step, 3);
    assert_int_equal(summary.job, 7);
    assert_false(summary.torn);
    assert_true(digest_equal(&summary.chain, &out.chain));
}

static void see_ages(void *context, const struct record *record)
{
    struct record *last = context;

    *last = *record;
}

/* staleness: how old the answers were is part of the receipt, and the last
 * of it: nothing before it gives way. */
static void test_ages(void **state)
{
    struct written out;
    struct journal_summary summary;
    struct record record = make(RECORD_STEP, 3, 3);
    struct record last;

    (void)state;
    write_all(&out);
    memset(record.silent, 0xa5, sizeof record.silent);
    record.age_sum = UINT64_C(0x123456789abcdef);
    record.age_max = 1000;
    record.condition = 12345.5f; /* Of coded data; the very last. */
    memcpy(out.chain.bytes, out.bytes + 5 * RECORD_BYTES - DIGEST_BYTES,
           DIGEST_BYTES);
    add(&out, 5, record);
    assert_int_equal(
        journal_scan(out.bytes, sizeof out.bytes, see_ages, &last, &summary),
        ERR_OK);
    assert_int_equal(summary.records, RECORDS);
    assert_int_equal(last.age_sum, record.age_sum);
    assert_int_equal(last.age_max, record.age_max);
    assert_true(last.condition == record.condition);
    assert_memory_equal(last.silent, record.silent, sizeof last.silent);
}

/* A pass is of the step before it, once; a rollback takes it back. */
static void test_passes(void **state)
{
    struct written out = {0};
    struct journal_summary summary;
    struct record pass = make(RECORD_PASS, 1, 1);
    struct record last;

    (void)state;
    pass.best_step = 1;
    pass.objective = 0.25;
    add(&out, 0, make(RECORD_JOB, 0, 0));
    add(&out, 1, make(RECORD_VIEW, 1, 0));
    add(&out, 2, make(RECORD_STEP, 1, 1));
    add(&out, 3, pass);
    assert_int_equal(journal_scan(out.bytes, (size_t)4 * RECORD_BYTES, see_ages,
                                  &last, &summary),
                     ERR_OK);
    assert_int_equal(summary.step, 1);
    assert_int_equal(summary.pass_step, 1);
    assert_int_equal(last.best_step, 1);
    assert_true(last.objective == 0.25);
    add(&out, 4, pass);
    assert_int_equal(
        journal_scan(out.bytes, (size_t)5 * RECORD_BYTES, NULL, NULL, &summary),
        ERR_FORMAT);
    memcpy(out.chain.bytes, out.bytes + 4 * RECORD_BYTES - DIGEST_BYTES,
           DIGEST_BYTES);
    add(&out, 4, make(RECORD_ROLLBACK, 1, 0));
    pass.step = 1;
    add(&out, 5, pass);
    assert_int_equal(
        journal_scan(out.bytes, sizeof out.bytes, NULL, NULL, &summary),
        ERR_FORMAT);
    assert_int_equal(summary.pass_step, 0);
}

static void test_every_cut(void **state)
{
    struct written out;

    (void)state;
    write_all(&out);
    for (size_t size = 0; size < sizeof out.bytes; size++) {
        struct journal_summary summary;

        assert_int_equal(journal_scan(out.bytes, size, NULL, NULL, &summary),
                         ERR_OK);
        assert_int_equal(summary.records, size / RECORD_BYTES);
        assert_int_equal(summary.torn, size % RECORD_BYTES != 0);
    }
}

static void test_every_flip(void **state)
{
    struct written out;

    (void)state;
    write_all(&out);
    for (size_t at = 0; at < sizeof out.bytes; at++) {
        struct journal_summary summary;

        out.bytes[at] ^= 0x10;
        assert_int_equal(
            journal_scan(out.bytes, sizeof out.bytes, NULL, NULL, &summary),
            ERR_OK);
        assert_int_equal(summary.records, at / RECORD_BYTES);
        assert_true(summary.torn);
        out.bytes[at] ^= 0x10;
    }
}

/* Records whose chain is intact but that no coordinator would write. */
static void check_refused(struct record second, struct record third)
{
    struct written out = {0};
    struct journal_summary summary;

    add(&out, 0, make(RECORD_JOB, 0, 0));
    add(&out, 1, second);
    add(&out, 2, third);
    assert_int_equal(
        journal_scan(out.bytes, 3 * RECORD_BYTES, NULL, NULL, &summary),
        ERR_FORMAT);
    assert_int_equal(summary.records, 2); /* The third is the broken one. */
}

static void test_rules(void **state)
{
    struct record other = make(RECORD_VIEW, 2, 0);
    struct written out = {0};
    struct journal_summary summary;

    (void)state;
    check_refused(make(RECORD_VIEW, 1, 0), make(RECORD_STEP, 1, 2));
    check_refused(make(RECORD_VIEW, 1, 0), make(RECORD_STEP, 2, 1));
    check_refused(make(RECORD_VIEW, 1, 0), make(RECORD_VIEW, 1, 0));
    check_refused(make(RECORD_VIEW, 1, 0), make(RECORD_JOB, 1, 0));
    check_refused(make(RECORD_VIEW, 1, 0), make(RECORD_ROLLBACK, 1, 5));
    check_refused(make(RECORD_VIEW, 1, 0), make(RECORD_GAP, 1, 0));
    check_refused(make(RECORD_VIEW, 3, 0), make(RECORD_GAP, 2, 5));
    other.job = 8;
    check_refused(make(RECORD_VIEW, 1, 0), other);
    add(&out, 0, make(RECORD_VIEW, 1, 0));
    assert_int_equal(
        journal_scan(out.bytes, RECORD_BYTES, NULL, NULL, &summary),
        ERR_FORMAT);
}

/* Another size is for steps to come, and a share. */
static void test_sizes(void **state)
{
    static const struct {
        uint32_t step;
        double size;
        enum err err;
    } cases[] = {{2, .25, ERR_OK},       {9, 1, ERR_OK},
                 {1, .25, ERR_FORMAT},   {2, .001, ERR_OK},
                 {2, .0009, ERR_FORMAT}, {2, 0, ERR_FORMAT},
                 {2, 1.5, ERR_FORMAT}};

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct record size = make(RECORD_SIZE, 1, cases[i].step);
        struct journal_summary summary;
        struct written out = {0};
        struct record last;

        size.size = cases[i].size;
        add(&out, 0, make(RECORD_JOB, 0, 0));
        add(&out, 1, make(RECORD_VIEW, 1, 0));
        add(&out, 2, make(RECORD_STEP, 1, 1));
        add(&out, 3, size);
        assert_int_equal(journal_scan(out.bytes, (size_t)4 * RECORD_BYTES,
                                      see_ages, &last, &summary),
                         cases[i].err);
        assert_int_equal(summary.step, 1); /* It is none. */
        if (cases[i].err == ERR_OK)
            assert_true(last.size == cases[i].size);
    }
}

static void test_rollback(void **state)
{
    struct written out = {0};
    struct journal_summary summary;

    (void)state;
    add(&out, 0, make(RECORD_JOB, 0, 0));
    add(&out, 1, make(RECORD_VIEW, 1, 0));
    add(&out, 2, make(RECORD_STEP, 1, 1));
    add(&out, 3, make(RECORD_ROLLBACK, 1, 0));
    add(&out, 4, make(RECORD_VIEW, 2, 0));
    add(&out, 5, make(RECORD_STEP, 2, 1));
    assert_int_equal(
        journal_scan(out.bytes, sizeof out.bytes, NULL, NULL, &summary),
        ERR_OK);
    assert_int_equal(summary.records, RECORDS);
    assert_int_equal(summary.step, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_round_trip), cmocka_unit_test(test_ages),
        cmocka_unit_test(test_every_cut),  cmocka_unit_test(test_every_flip),
        cmocka_unit_test(test_rules),      cmocka_unit_test(test_rollback),
        cmocka_unit_test(test_passes),     cmocka_unit_test(test_sizes),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
