/*
 * The exchange of one tally among 1 to 64 members, whole and in slices of
 * several segments, in drawn orders: everybody ends with the sum of all, the
 * coordinates sent are 2 (N - 1)/N of the tally for each, and what no member
 * sends changes nothing.
 */
#include "core/ring/slices.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/mem.h"
#include "base/rng.h"

#define SMALL 1024u

/* --- who adds up what ----------------------------------------------------- */

static const uint32_t sizes[] = {1,    63,   64,   65,    1023,   1024,
                                 1025, 4095, 4113, 65537, 200001, 1000003};

static void test_slices_are_a_partition(void **state)
{
    (void)state;
    for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++)
        for (uint32_t ranks = 1; ranks <= PEERS_MAX; ranks++) {
            struct slice_shape shape = {.dims = sizes[k],
                                        .ranks = ranks,
                                        .small = SMALL,
                                        .segment = 4096};
            uint32_t at = 0;

            for (uint32_t rank = 0; rank < ranks; rank++) {
                const struct slice_range slice = slice_of(&shape, rank);
                uint32_t from = slice.at;

                assert_int_equal(slice.at, slice_whole(&shape) ? 0 : at);
                assert_true(slice.at % PACK_BLOCK == 0);
                shape.self = rank;
                for (uint32_t i = 0; i < exchange_segments(&shape); i++) {
                    const struct slice_range segment =
                        exchange_segment(&shape, i);

                    assert_int_equal(segment.at, from);
                    assert_true(segment.end - segment.at <= 4096);
                    from = segment.end;
                }
                assert_int_equal(from, slice.end);
                at = slice.end;
            }
            assert_int_equal(at, sizes[k]);
        }
}

/* --- an exchange ---------------------------------------------------------- */

#define QUEUE_MAX 4096u

/* What one has sent another and the other has not taken. */
struct road {
    struct msg_slice *queue;
    uint32_t head, count;
};

struct ring {
    struct slice_shape shape; /* But for `self`. */
    struct ring_view view;
    struct round_key key;
    struct tally *own;
    struct exchange *at;
    uint32_t *told;
    struct road *roads; /* [from * ranks + to] */
    uint64_t *sent;     /* Coordinates. */
    struct rng rng;
    bool packed;
};

static struct slice_shape shape_of(const struct ring *ring, uint32_t rank)
{
    struct slice_shape shape = ring->shape;

    shape.self = rank;
    return shape;
}

static void open_ring(struct ring *ring, uint32_t ranks, uint32_t dims,
                      uint32_t segment, uint64_t seed)
{
    *ring = (struct ring){.shape = {.dims = dims,
                                    .ranks = ranks,
                                    .small = SMALL,
                                    .segment = segment},
                          .view = {.count = ranks},
                          .key = {.job = 1, .view = 2, .step = 3},
                          .packed = seed % 2 != 0};
    rng_init(&ring->rng, seed);
    ring->own = mem_new(ranks, sizeof *ring->own);
    ring->at = mem_new(ranks, sizeof *ring->at);
    ring->told = mem_new(ranks, sizeof *ring->told);
    ring->sent = mem_new(ranks, sizeof *ring->sent);
    ring->roads = mem_new((size_t)ranks * ranks, sizeof *ring->roads);
    for (uint32_t i = 0; i < ranks; i++) {
        ring->view.first[i] = 2 * i;
        ring->view.end[i] = 2 * i + 2;
        assert_int_equal(tally_init(&ring->own[i], dims, 2 * ranks), ERR_OK);
        assert_int_equal(
            exchange_init(&ring->at[i], dims, segment, &(struct slice_room){0}),
            ERR_OK);
        for (uint32_t j = 0; j < dims; j++)
            ring->own[i].sum[j] =
                (int64_t)rng_below(&ring->rng, 1u << 20) - (1 << 19);
        ring->own[i].loss = i + 1;
        memset(ring->at[i].total.sum, 0x5a, dims * sizeof(int64_t));
    }
    for (uint32_t i = 0; i < ranks * ranks; i++)
        ring->roads[i].queue = mem_new(64, sizeof *ring->roads[i].queue);
}

static void close_ring(struct ring *ring)
{
    for (uint32_t i = 0; i < ring->shape.ranks; i++) {
        tally_close(&ring->own[i]);
        exchange_close(&ring->at[i]);
    }
    for (uint32_t i = 0; i < ring->shape.ranks * ring->shape.ranks; i++)
        mem_free(ring->roads[i].queue);
    mem_free(ring->roads);
    mem_free(ring->sent);
    mem_free(ring->told);
    mem_free(ring->at);
    mem_free(ring->own);
}

static void post(struct ring *ring, uint32_t from, uint32_t to,
                 struct msg_slice msg)
{
    struct road *road = &ring->roads[from * ring->shape.ranks + to];

    assert_true(road->count < 64);
    msg.key = ring->key;
    msg.dims = ring->shape.dims;
    road->queue[road->count++] = msg;
    ring->sent[from] += msg.count;
}

static struct msg_slice part_of(const struct ring *ring, uint32_t from,
                                struct slice_range range)
{
    return (struct msg_slice){.first = ring->view.first[from],
                              .end = ring->view.end[from],
                              .at = range.at,
                              .count = range.end - range.at,
                              .loss = ring->own[from].loss,
                              .sum = ring->own[from].sum + range.at};
}

static void send_totals(struct ring *ring, uint32_t rank)
{
    const struct slice_shape shape = shape_of(ring, rank);

    while (ring->told[rank] < exchange_segments(&shape) &&
           exchange_ready(&ring->at[rank], &shape, ring->told[rank])) {
        const struct slice_range range =
            exchange_segment(&shape, ring->told[rank]);
        struct slice_blame blame;

        if (ring->at[rank].settled <= ring->told[rank])
            assert_true(exchange_settle(&ring->at[rank], &shape, &blame));
        ring->told[rank]++;
        for (uint32_t to = 0; to < shape.ranks; to++)
            if (to != rank && !slice_whole(&shape))
                post(ring, rank, to,
                     (struct msg_slice){.total = true,
                                        .flags = ring->at[rank].flags,
                                        .end = 2 * shape.ranks,
                                        .at = range.at,
                                        .count = range.end - range.at,
                                        .sum = ring->at[rank].total.sum +
                                               range.at});
    }
}

static void give(struct ring *ring, uint32_t rank, uint8_t flags)
{
    struct slice_shape shape = shape_of(ring, rank);

    exchange_give(&ring->at[rank], &shape, &ring->key, &ring->own[rank], flags);
    for (uint32_t to = 0; to < shape.ranks; to++) {
        shape.self = to;
        for (uint32_t i = 0; to != rank && i < exchange_segments(&shape); i++) {
            struct msg_slice part =
                part_of(ring, rank, exchange_segment(&shape, i));

            part.flags = flags;
            post(ring, rank, to, part);
        }
    }
    send_totals(ring, rank);
}

/* As it comes over a wire, in every other run. */
static enum slice_fate take(struct ring *ring, uint32_t from, uint32_t to,
                            const struct msg_slice *msg)
{
    const struct slice_shape shape = shape_of(ring, to);
    struct msg_slice in = *msg;
    uint8_t *bytes = mem_new(pack_bound(msg->count) + 1, 1);
    struct slice_range done;
    enum slice_fate fate;

    if (ring->packed) {
        const size_t size = pack_i64(msg->sum, msg->count, bytes);

        assert_int_equal(packed_find(bytes, size, msg->count, &in.packed),
                         ERR_OK);
        in.sum = NULL;
    }
    fate = exchange_take(&ring->at[to], &shape, &ring->view, from, &in, &done);
    mem_free(bytes);
    return fate;
}

/* Somebody gives, or something arrives, until nothing is left. */
static void run(struct ring *ring, uint8_t flags)
{
    const uint32_t ranks = ring->shape.ranks;
    uint32_t given = 0;

    for (;;) {
        const uint32_t start = (uint32_t)rng_below(&ring->rng, ranks * ranks);
        bool moved = false;

        if (given < ranks && rng_below(&ring->rng, 3) == 0) {
            give(ring, given, given == ranks / 2 ? flags : 0);
            given++;
            continue;
        }
        for (uint32_t i = 0; i < ranks * ranks && !moved; i++) {
            const uint32_t at = (start + i) % (ranks * ranks);
            struct road *road = &ring->roads[at];

            if (road->head == road->count)
                continue;
            assert_int_equal(
                take(ring, at / ranks, at % ranks, &road->queue[road->head]),
                SLICE_COUNTED);
            if (rng_below(&ring->rng, 4) == 0) /* ... and once more. */
                assert_int_equal(
                    take(ring, at / ranks, at % ranks,
                         &road->queue[road->head]),
                    road->queue[road->head].total &&
                            ring->at[at % ranks].got[at / ranks] <=
                                slice_of(&ring->shape, at / ranks).end -
                                    slice_of(&ring->shape, at / ranks).at
                        ? SLICE_BAD
                        : SLICE_TWICE);
            road->head++;
            send_totals(ring, at % ranks);
            moved = true;
        }
        if (!moved && given == ranks)
            return;
    }
}

static void check_totals(const struct ring *ring, uint8_t flags)
{
    const uint32_t ranks = ring->shape.ranks;

    for (uint32_t j = 0; j < ring->shape.dims; j++) {
        int64_t sum = 0;

        for (uint32_t i = 0; i < ranks; i++)
            sum += ring->own[i].sum[j];
        for (uint32_t i = 0; i < ranks && ranks > 1; i++) /* Alone: in place. */
            if (ring->at[i].total.sum[j] != sum)
                fail_msg("%u members, %u sums: member %u, sum %u", ranks,
                         ring->shape.dims, i, j);
    }
    for (uint32_t i = 0; i < ranks; i++) {
        const struct slice_shape shape = shape_of(ring, i);

        assert_true(exchange_complete(&ring->at[i], &shape));
        assert_int_equal(ring->at[i].flags, flags);
        assert_true(ring->at[i].total.loss == ranks * (ranks + 1) / 2);
    }
}

/* 2 (N - 1)/N x M, but for where slices are cut: on whole blocks. */
static void check_sent(const struct ring *ring)
{
    const uint64_t n = ring->shape.ranks;
    const uint64_t m = ring->shape.dims;
    uint64_t all = 0;

    for (uint32_t i = 0; i < n; i++) {
        const struct slice_range own = slice_of(&ring->shape, i);
        const uint64_t slice = own.end - own.at;

        assert_true(ring->sent[i] == (slice_whole(&ring->shape)
                                          ? (n - 1) * m
                                          : m - slice + (n - 1) * slice));
        all += ring->sent[i];
    }
    if (!slice_whole(&ring->shape))
        assert_true(all == 2 * (n - 1) * m);
}

static void one(uint32_t ranks, uint32_t dims, uint32_t segment, uint64_t seed)
{
    struct ring ring;

    open_ring(&ring, ranks, dims, segment, seed);
    run(&ring, SLICE_STOP);
    check_totals(&ring, SLICE_STOP);
    check_sent(&ring);
    close_ring(&ring);
}

static void test_everybody_has_the_sum(void **state)
{
    (void)state;
    for (uint32_t ranks = 1; ranks <= PEERS_MAX;
         ranks += ranks < 6 ? 1 : 29) { /* ... 6, 35, 64. */
        one(ranks, 1, 64, ranks);
        one(ranks, 1000, 64 * 16, ranks + 1);
        one(ranks, 1025, 64, ranks); /* More members than blocks: empty. */
        one(ranks, 5003, 64 * 8, ranks + 1);
    }
}

/* Slices of dozens of segments, the last of them odd. */
static void test_long_tallies(void **state)
{
    (void)state;
    one(2, 200001, 4096, 1);
    one(3, 200001, 4096, 2);
    one(5, 70003, 512, 3);
    one(64, 200001, 1024, 4);
}

/* --- what no member sends ------------------------------------------------- */

/* Of three; the second one takes what the first sends. */
static void open_three(struct ring *ring)
{
    open_ring(ring, 3, 5003, 512, 2);
}

static void test_wrong_parts(void **state)
{
    struct ring ring;
    struct msg_slice good;
    struct msg_slice bad[10];
    int64_t huge[512];
    uint32_t count = 0;

    (void)state;
    open_three(&ring);
    {
        const struct slice_shape shape = shape_of(&ring, 1);

        good = part_of(&ring, 0, exchange_segment(&shape, 1));
        good.key = ring.key;
        good.dims = ring.shape.dims;
    }
    for (uint32_t j = 0; j < 512; j++)
        huge[j] = INT64_C(1) << TALLY_BITS;
    for (; count < 10; count++)
        bad[count] = good;
    bad[0].at++;
    bad[1].count--;
    bad[2].at = 0; /* A slice that it does not add up. */
    bad[3].first++;
    bad[4].end++;
    bad[5].dims--;
    bad[6].sum = huge;
    bad[7].loss = (tally_loss)1 << TALLY_LOSS_BITS;
    bad[8].count = 0; /* It has chunks, and nothing against them. */
    bad[9].at = ring.shape.dims - 1; /* Beyond the end. */
    for (uint32_t i = 0; i < count; i++) {
        exchange_blank(&ring.at[1]);
        if (take(&ring, 0, 1, &bad[i]) != SLICE_BAD)
            fail_msg("%u was taken", i);
    }
    exchange_blank(&ring.at[1]);
    assert_int_equal(take(&ring, 0, 1, &good), SLICE_COUNTED);
    assert_int_equal(take(&ring, 0, 1, &good), SLICE_TWICE);
    close_ring(&ring);
}

static void test_wrong_totals(void **state)
{
    struct ring ring;
    struct msg_slice good;
    struct msg_slice bad[5];

    (void)state;
    open_three(&ring);
    {
        const struct slice_shape shape = shape_of(&ring, 0);
        const struct slice_range range = exchange_segment(&shape, 0);

        good = (struct msg_slice){.key = ring.key,
                                  .total = true,
                                  .end = 6,
                                  .dims = ring.shape.dims,
                                  .at = range.at,
                                  .count = range.end - range.at,
                                  .sum = ring.own[0].sum};
    }
    for (uint32_t i = 0; i < 5; i++)
        bad[i] = good;
    bad[0].at += 512; /* Out of order. */
    bad[1].count = ring.shape.dims;
    bad[2].at = slice_of(&ring.shape, 2).at; /* Another's slice. */
    bad[3].dims--;
    bad[4].count = 0; /* No sums, and nothing that does not fit. */
    for (uint32_t i = 0; i < 5; i++) {
        exchange_blank(&ring.at[1]);
        if (take(&ring, 0, 1, &bad[i]) != SLICE_BAD)
            fail_msg("%u was taken", i);
    }
    close_ring(&ring);
}

/* RING-4: who has a chunk that does not fit says so, instead of sums; all know
 * it, and nobody waits for its sums. */
static void test_what_does_not_fit(void **state)
{
    struct ring ring;
    struct slice_shape shape;
    struct msg_slice part;

    (void)state;
    open_three(&ring);
    shape = shape_of(&ring, 1);
    exchange_give(&ring.at[1], &shape, &ring.key, &ring.own[1], 0);
    for (uint32_t from = 0; from < 3; from += 2) {
        part = part_of(&ring, from, (struct slice_range){0, 0});
        part.key = ring.key;
        part.dims = ring.shape.dims;
        part.flags = from == 0 ? SLICE_TOOBIG : SLICE_RANGE;
        assert_int_equal(take(&ring, from, 1, &part), SLICE_COUNTED);
        assert_false(exchange_complete(&ring.at[1], &shape));
    }
    assert_true(exchange_ready(&ring.at[1], &shape, 0));
    for (uint32_t from = 0; from < 3; from += 2) {
        struct msg_slice total = {.key = ring.key,
                                  .total = true,
                                  .flags = SLICE_TOOBIG,
                                  .dims = ring.shape.dims,
                                  .sum = ring.own[0].sum};

        assert_int_equal(take(&ring, from, 1, &total), SLICE_COUNTED);
    }
    assert_true(exchange_complete(&ring.at[1], &shape));
    assert_int_equal(ring.at[1].flags, SLICE_TOOBIG | SLICE_RANGE);
    close_ring(&ring);
}

/* RING-9: sums that were written over while they were added up.  The segment
 * stays unsettled, however often it is asked for: a peer that was stopped hears
 * more messages after that one, and would feed what it has. */
static void test_what_has_changed_never_settles(void **state)
{
    struct seal seals[3] = {{7}, {7}, {7}};
    struct slice_blame blame;
    struct slice_shape shape;
    struct ring ring;

    (void)state;
    open_three(&ring);
    shape = shape_of(&ring, 1);
    exchange_give(&ring.at[1], &shape, &ring.key, &ring.own[1], 0);
    for (uint32_t from = 0; from < 3; from += 2)
        for (uint32_t i = 0; i < exchange_segments(&shape); i++) {
            struct msg_slice part =
                part_of(&ring, from, exchange_segment(&shape, i));

            part.key = ring.key;
            part.dims = ring.shape.dims;
            part.seal = &seals[from];
            part.number = 7;
            assert_int_equal(take(&ring, from, 1, &part), SLICE_COUNTED);
        }
    seal_break(&seals[2]);
    for (uint32_t again = 0; again < 3; again++) {
        assert_true(exchange_ready(&ring.at[1], &shape, 0));
        assert_false(exchange_settle(&ring.at[1], &shape, &blame));
        assert_int_equal(blame.gone, 4);
        assert_int_equal(ring.at[1].settled, 0);
    }
    close_ring(&ring);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_slices_are_a_partition),
        cmocka_unit_test(test_everybody_has_the_sum),
        cmocka_unit_test(test_long_tallies),
        cmocka_unit_test(test_wrong_parts),
        cmocka_unit_test(test_wrong_totals),
        cmocka_unit_test(test_what_does_not_fit),
        cmocka_unit_test(test_what_has_changed_never_settles),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
