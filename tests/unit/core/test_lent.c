/*
 * Sums that are lent: added up and decoded where they lie, beside sums that
 * were sent; what has changed meanwhile, what is out of bound and what is lent
 * by halves is found.
 */
#include "core/ring/slices.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

enum { DIMS = 1000, RANKS = 3, SEGMENT = 128, SELF = 1 };

/* Rank 0 lends, rank 2 sends or lends; rank 1 adds up slice 1. */
struct table {
    int64_t sum[RANKS][DIMS], total[RANKS][DIMS];
    struct seal seals[RANKS], total_seals[RANKS];
    struct ring_view view;
    struct exchange x;
    struct tally own;
    bool lends[RANKS];
};

static struct table t;

static const struct slice_shape shape = {
    .dims = DIMS, .ranks = RANKS, .self = SELF, .segment = SEGMENT};
static const struct round_key key = {.step = 3};

static int open_table(void **state)
{
    const struct slice_room none = {NULL, NULL};

    (void)state;
    t = (struct table){.lends = {true, true, false}};
    for (uint32_t rank = 0; rank < RANKS; rank++) {
        t.view.first[rank] = rank;
        t.view.end[rank] = rank + 1;
        t.seals[rank].number = 7;
        t.total_seals[rank].number = 9;
        for (uint32_t j = 0; j < DIMS; j++) {
            t.sum[rank][j] = (int64_t)j * (rank + 1) - 500;
            t.total[rank][j] = (int64_t)j * 6 - 1500;
        }
    }
    assert_int_equal(exchange_init(&t.x, DIMS, SEGMENT, &none), ERR_OK);
    assert_int_equal(tally_init_at(&t.own, DIMS, RANKS, t.sum[SELF]), ERR_OK);
    return 0;
}

static int close_table(void **state)
{
    (void)state;
    t.own.sum = NULL;
    tally_close(&t.own);
    exchange_close(&t.x);
    return 0;
}

static struct msg_slice part(uint32_t rank, struct slice_range range)
{
    struct msg_slice msg = {.key = key,
                            .first = rank,
                            .end = rank + 1,
                            .dims = DIMS,
                            .at = range.at,
                            .count = range.end - range.at,
                            .loss = 1,
                            .sum = t.sum[rank] + range.at};

    if (t.lends[rank]) {
        msg.seal = &t.seals[rank];
        msg.number = seal_number(&t.seals[rank]);
    }
    return msg;
}

static struct msg_slice total(uint32_t rank, struct slice_range range)
{
    struct msg_slice msg = part(rank, range);

    msg.total = true;
    msg.first = 0;
    msg.end = RANKS;
    msg.sum = t.total[rank] + range.at;
    if (t.lends[rank])
        msg.seal = &t.total_seals[rank], msg.number = 9;
    return msg;
}

static enum slice_fate take(uint32_t rank, const struct msg_slice *msg)
{
    struct slice_range done;

    return exchange_take(&t.x, &shape, &t.view, rank, msg, &done);
}

static void take_part(uint32_t rank)
{
    for (uint32_t i = 0; i < exchange_segments(&shape); i++) {
        const struct msg_slice msg = part(rank, exchange_segment(&shape, i));

        assert_int_equal(take(rank, &msg), SLICE_COUNTED);
    }
}

static void take_total(uint32_t rank)
{
    const struct slice_range slice = slice_of(&shape, rank);

    for (uint32_t at = slice.at; at < slice.end; at += SEGMENT) {
        const uint32_t end =
            at + SEGMENT < slice.end ? at + SEGMENT : slice.end;
        const struct msg_slice msg = total(rank, (struct slice_range){at, end});

        assert_int_equal(take(rank, &msg), SLICE_COUNTED);
    }
}

static bool settle_all(struct slice_blame *blame)
{
    while (t.x.settled < exchange_segments(&shape))
        if (!exchange_settle(&t.x, &shape, blame))
            return false;
    return true;
}

static void take_parts(void)
{
    take_part(0);
    exchange_give(&t.x, &shape, &key, &t.own, 0);
    take_part(2);
}

static void test_sums(void **state)
{
    static int16_t exponent[DIMS + 1];
    static double gradient[DIMS];
    struct slice_blame blame;

    (void)state;
    for (uint32_t lends = 0; lends < 4; lends++) {
        exchange_blank(&t.x);
        t.lends[0] = (lends & 1) != 0;
        t.lends[2] = (lends & 2) != 0;
        take_parts();
        assert_true(settle_all(&blame));
        assert_false(exchange_complete(&t.x, &shape));
        take_total(0);
        take_total(2);
        assert_true(exchange_complete(&t.x, &shape));
        assert_true(exchange_decode(&t.x, &shape, exponent, gradient));
        assert_int_equal(exchange_gone(&t.x, &shape), 0);
        for (uint32_t j = 0; j < DIMS; j++)
            assert_true(gradient[j] == (double)j * 6 - 1500);
    }
}

/* Whoever lent them writes there again before all is read. */
static void test_parts_change(void **state)
{
    struct slice_blame blame;

    (void)state;
    take_parts();
    seal_break(&t.seals[0]);
    assert_false(settle_all(&blame));
    assert_int_equal(blame.gone, 1);
    assert_int_equal(blame.bad, 0);
}

static void test_totals_change(void **state)
{
    static int16_t exponent[DIMS + 1];
    static double gradient[DIMS];
    struct slice_blame blame;

    (void)state;
    take_parts();
    assert_true(settle_all(&blame));
    take_total(0);
    take_total(2);
    seal_break(&t.total_seals[0]);
    (void)exchange_decode(&t.x, &shape, exponent, gradient);
    assert_int_equal(exchange_gone(&t.x, &shape), 1);
}

static void test_out_of_bound(void **state)
{
    struct slice_blame blame;

    (void)state;
    t.lends[2] = true;
    t.sum[2][slice_of(&shape, SELF).at + 200] = INT64_C(1) << TALLY_BITS;
    take_parts();
    assert_false(settle_all(&blame));
    assert_int_equal(blame.gone, 0);
    assert_int_equal(blame.bad, 4);
}

static void test_by_halves(void **state)
{
    struct msg_slice msg = part(0, exchange_segment(&shape, 0));

    (void)state;
    assert_int_equal(take(0, &msg), SLICE_COUNTED);
    msg = part(0, exchange_segment(&shape, 1));
    msg.seal = NULL;
    assert_int_equal(take(0, &msg), SLICE_BAD);
    msg = part(0, exchange_segment(&shape, 1));
    msg.number++;
    assert_int_equal(take(0, &msg), SLICE_BAD);
    msg = part(2, exchange_segment(&shape, 0));
    assert_int_equal(take(2, &msg), SLICE_COUNTED);
    t.lends[2] = true;
    msg = part(2, exchange_segment(&shape, 1));
    assert_int_equal(take(2, &msg), SLICE_BAD);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_sums, open_table, close_table),
        cmocka_unit_test_setup_teardown(test_parts_change, open_table,
                                        close_table),
        cmocka_unit_test_setup_teardown(test_totals_change, open_table,
                                        close_table),
        cmocka_unit_test_setup_teardown(test_out_of_bound, open_table,
                                        close_table),
        cmocka_unit_test_setup_teardown(test_by_halves, open_table,
                                        close_table),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
