/*
 * What ranks make of sums: one outcome for all, that of the lowest rank in
 * trouble, with its sentence; bytes of rank 0 in all.  Ranks are threads, and
 * any set of them may be in trouble.
 */
#include "node/fixed/collective.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

enum { RANKS_MAX = 5, BYTES_MAX = 70001 };

struct meeting {
    pthread_barrier_t barrier;
    uint32_t ranks;
    int64_t *given[RANKS_MAX];
    int64_t sums; /* That were asked for, of rank 0. */
};

struct rank {
    struct meeting *meeting;
    uint32_t number;
    bool troubled;
    enum err err;
    struct why why;
    uint8_t bytes[BYTES_MAX];
    size_t size;
};

static uint32_t number_of(void *context)
{
    return ((struct rank *)context)->number;
}

static uint32_t ranks_of(void *context)
{
    return ((struct rank *)context)->meeting->ranks;
}

/* Each adds a stripe up and gives it to all: nobody reads what is written. */
static enum err sum_all(void *context, int64_t *sums, size_t count)
{
    struct rank *rank = context;
    struct meeting *meeting = rank->meeting;

    meeting->given[rank->number] = sums;
    if (rank->number == 0) /* The others do not even add 0 to it. */
        meeting->sums++;
    (void)pthread_barrier_wait(&meeting->barrier);
    for (size_t j = rank->number; j < count; j += meeting->ranks) {
        int64_t total = 0;

        for (uint32_t r = 0; r < meeting->ranks; r++)
            total += meeting->given[r][j];
        for (uint32_t r = 0; r < meeting->ranks; r++)
            meeting->given[r][j] = total;
    }
    (void)pthread_barrier_wait(&meeting->barrier);
    return ERR_OK;
}

static const struct collective_ops together = {number_of, ranks_of, sum_all};

static struct rank ranks[RANKS_MAX];

static int64_t run_all(uint32_t count, void *(*run)(void *))
{
    struct meeting meeting = {.ranks = count};
    pthread_t thread[RANKS_MAX];

    assert_int_equal(pthread_barrier_init(&meeting.barrier, NULL, count), 0);
    for (uint32_t r = 0; r < count; r++) {
        ranks[r].meeting = &meeting;
        ranks[r].number = r;
        assert_int_equal(pthread_create(&thread[r], NULL, run, &ranks[r]), 0);
    }
    for (uint32_t r = 0; r < count; r++)
        assert_int_equal(pthread_join(thread[r], NULL), 0);
    (void)pthread_barrier_destroy(&meeting.barrier);
    return meeting.sums;
}

static void *agree(void *context)
{
    struct rank *rank = context;
    const struct collective all = {&together, rank};
    const enum err own = rank->number % 2 == 0 ? ERR_NOTFOUND : ERR_FORMAT;

    rank->why.text[0] = '\0';
    if (rank->troubled)
        (void)snprintf(rank->why.text, sizeof rank->why.text, "I am %u",
                       rank->number);
    rank->err =
        collective_agree(&all, rank->troubled ? own : ERR_OK, &rank->why);
    return NULL;
}

static void check_agreed(uint32_t count, uint32_t troubled)
{
    char wanted[32] = "";
    enum err err = ERR_OK;

    for (uint32_t r = count; r-- > 0;)
        if ((troubled >> r & 1) != 0) {
            err = r % 2 == 0 ? ERR_NOTFOUND : ERR_FORMAT;
            (void)snprintf(wanted, sizeof wanted,
                           r == 0 ? "I am %u" : "rank %u: I am %u", r, r);
        }
    for (uint32_t r = 0; r < count; r++) {
        assert_int_equal(ranks[r].err, err);
        assert_string_equal(ranks[r].why.text, wanted);
    }
}

static void test_lowest_in_trouble(void **state)
{
    (void)state;
    for (uint32_t count = 1; count <= RANKS_MAX; count++)
        for (uint32_t troubled = 0; troubled < 1u << count; troubled++) {
            int64_t sums;

            for (uint32_t r = 0; r < count; r++)
                ranks[r].troubled = (troubled >> r & 1) != 0;
            sums = run_all(count, agree);
            check_agreed(count, troubled);
            if (troubled == 0) /* It is asked in every pass. */
                assert_int_equal(sums, count > 1);
        }
}

static void *share(void *context)
{
    struct rank *rank = context;
    const struct collective all = {&together, rank};

    for (size_t i = 0; i < BYTES_MAX; i++)
        rank->bytes[i] = (uint8_t)(rank->number == 0 ? 255 - i % 251 : i);
    rank->err = collective_share(&all, rank->bytes, rank->size);
    return NULL;
}

static void test_bytes_of_rank_0(void **state)
{
    static const size_t sizes[] = {0, 1, 7, 8, 9, 32768, 32769, 70000};

    (void)state;
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        for (uint32_t r = 0; r < 3; r++)
            ranks[r].size = sizes[i];
        (void)run_all(3, share);
        for (uint32_t r = 0; r < 3; r++) {
            assert_int_equal(ranks[r].err, ERR_OK);
            for (size_t j = 0; j < sizes[i]; j++)
                assert_int_equal(ranks[r].bytes[j], 255 - j % 251);
            assert_int_equal(
                ranks[r].bytes[sizes[i]],
                (uint8_t)(r == 0 ? 255 - sizes[i] % 251 : sizes[i]));
        }
    }
}

static enum err sum_fails(void *context, int64_t *sums, size_t count)
{
    (void)context;
    memset(sums, 0, count * sizeof *sums);
    return ERR_CLOSED;
}

/* A rank that is gone is no trouble of its own to agree on. */
static void test_somebody_is_gone(void **state)
{
    static const struct collective_ops broken = {number_of, ranks_of,
                                                 sum_fails};
    struct meeting meeting = {.ranks = 2};
    const struct collective all = {&broken, &ranks[0]};
    struct why why = {{0}};

    (void)state;
    ranks[0].meeting = &meeting;
    ranks[0].number = 0;
    assert_int_equal(collective_agree(&all, ERR_OK, &why), ERR_CLOSED);
    assert_string_equal(why.text, "another rank is gone");
    assert_int_equal(collective_share(&all, ranks[0].bytes, 8), ERR_CLOSED);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_lowest_in_trouble),
        cmocka_unit_test(test_bytes_of_rank_0),
        cmocka_unit_test(test_somebody_is_gone),
    };

    return cmocka_run_group_tests_name("collective", tests, NULL, NULL);
}
