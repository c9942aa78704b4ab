/*
 * Eight workers on paper: seven are alike, what is wrong with the eighth is
 * known, and the verdict must name it.
 */
#include "core/link/slow.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#define WORKERS 8u

/* What goes on in one second. */
struct second {
    int64_t owed_ms, compute_ms, cpu_ms, starved_ms, loop_ms, stopped_ms,
        held_ms;
    uint64_t chunks, faults;
};

static const struct second fine = {.owed_ms = 900,
                                   .compute_ms = 850,
                                   .cpu_ms = 840,
                                   .starved_ms = 10,
                                   .chunks = 100};

static void live(struct slow *slow, const struct second *second, uint32_t count)
{
    struct vitals vitals = {0};

    slow_init(slow);
    for (uint32_t i = 0; i <= count; i++) {
        const time_us now = i * SECOND_US;

        slow_take(slow, &vitals, now);
        slow_owes(slow, true, now);
        slow_owes(slow, false, now + second->owed_ms * MS_US);
        vitals.compute_us += second->compute_ms * MS_US;
        vitals.cpu_us += second->cpu_ms * MS_US;
        vitals.starved_us += second->starved_ms * MS_US;
        vitals.loop_us += second->loop_ms * MS_US;
        vitals.stopped_us += second->stopped_ms * MS_US;
        vitals.held_us += second->held_ms * MS_US;
        vitals.chunks += second->chunks;
        vitals.faults += second->faults;
    }
}

static struct slow_verdict verdict_of(const struct second *odd)
{
    struct slow_times times[WORKERS];
    struct slow_verdict verdicts[WORKERS];
    double scratch[WORKERS];
    struct slow slow;

    for (uint32_t i = 0; i < WORKERS; i++) {
        live(&slow, i == 5 ? odd : &fine, 6);
        times[i] = slow_times(&slow);
        assert_true(times[i].known);
    }
    slow_judge(times, WORKERS, scratch, verdicts);
    for (uint32_t i = 0; i < WORKERS; i++) {
        if (i != 5)
            assert_int_equal(verdicts[i].cause, SLOW_NOT);
    }
    return verdicts[5];
}

static void expect(const struct second *odd, enum slow_cause cause,
                   double factor)
{
    const struct slow_verdict verdict = verdict_of(odd);

    assert_int_equal(verdict.cause, cause);
    assert_true(verdict.factor > factor * .99);
    assert_true(verdict.factor < factor * 1.01);
    assert_true(cause == SLOW_NOT || verdict.share > .5);
}

static void test_alike_is_not_slow(void **state)
{
    (void)state;
    expect(&fine, SLOW_NOT, 1);
}

static void test_a_little_is_not_slow(void **state)
{
    struct second odd = fine;

    (void)state;
    odd.chunks = 70;
    expect(&odd, SLOW_NOT, 100. / 70);
}

static void test_slow_processor(void **state)
{
    struct second odd = fine;

    (void)state;
    odd.chunks = 25;
    expect(&odd, SLOW_COMPUTE, 4);
}

/* It computes all the time by the clock, but has the processor a fifth of it:
 * the talking thread, too, waits for its turn. */
static void test_starved_processor(void **state)
{
    const struct second odd = {.owed_ms = 1000,
                               .compute_ms = 800,
                               .cpu_ms = 160,
                               .starved_ms = 640,
                               .loop_ms = 150,
                               .chunks = 20};
    struct slow slow;

    (void)state;
    expect(&odd, SLOW_COMPUTE, (1. / 20) / (.9 / 100));
    live(&slow, &odd, 3);
    assert_true(slow_times(&slow).starved * 20 > .78);
}

/* All compute in a twentieth of the time; their talking threads wait for a
 * processor while nobody waits for them.  One of them has a narrow road. */
static void test_starved_while_nothing_is_owed(void **state)
{
    const struct second usual = {.owed_ms = 60,
                                 .compute_ms = 50,
                                 .cpu_ms = 50,
                                 .loop_ms = 700,
                                 .chunks = 100};
    struct slow_times times[2];
    struct slow_verdict verdicts[2];
    double scratch[2];
    struct second odd = usual;
    struct slow slow;

    (void)state;
    odd.owed_ms = 600;
    odd.compute_ms = 590;
    live(&slow, &usual, 6);
    times[0] = slow_times(&slow);
    live(&slow, &odd, 6);
    times[1] = slow_times(&slow);
    assert_true(times[0].part[SLOW_COMPUTE] <= times[0].owed);
    slow_judge(times, 2, scratch, verdicts);
    assert_int_equal(verdicts[0].cause, SLOW_NOT);
    assert_int_equal(verdicts[1].cause, SLOW_COMPUTE);
}

/* Stopped in the middle of a piece: by the clock it computes. */
static void test_stopped_while_computing(void **state)
{
    const struct second odd = {.owed_ms = 1000,
                               .compute_ms = 980,
                               .cpu_ms = 180,
                               .starved_ms = 5,
                               .stopped_ms = 790,
                               .chunks = 20};

    (void)state;
    expect(&odd, SLOW_PAUSE, (1. / 20) / (.9 / 100));
}

static void test_stopped_between_pieces(void **state)
{
    const struct second odd = {.owed_ms = 1000,
                               .compute_ms = 180,
                               .cpu_ms = 175,
                               .stopped_ms = 790,
                               .chunks = 20};

    (void)state;
    expect(&odd, SLOW_PAUSE, (1. / 20) / (.9 / 100));
}

static void test_slow_on_purpose(void **state)
{
    const struct second odd = {.owed_ms = 1000,
                               .compute_ms = 170,
                               .cpu_ms = 168,
                               .held_ms = 800,
                               .chunks = 20};

    (void)state;
    expect(&odd, SLOW_PAUSE, (1. / 20) / (.9 / 100));
}

/* It owes all the time and has nothing to do for most of it. */
static void test_slow_road(void **state)
{
    const struct second odd = {
        .owed_ms = 1000, .compute_ms = 170, .cpu_ms = 168, .chunks = 20};

    (void)state;
    expect(&odd, SLOW_NETWORK, (1. / 20) / (.9 / 100));
}

static void test_pages_from_disk(void **state)
{
    const struct second odd = {.owed_ms = 1000,
                               .compute_ms = 980,
                               .cpu_ms = 180,
                               .starved_ms = 5,
                               .faults = 4000,
                               .chunks = 20};

    (void)state;
    expect(&odd, SLOW_DISK, (1. / 20) / (.9 / 100));
}

/* Called off again and again: no piece was ever finished. */
static void test_one_that_finishes_nothing(void **state)
{
    const struct second odd = {
        .owed_ms = 1000, .compute_ms = 990, .cpu_ms = 100, .starved_ms = 890};
    const struct slow_verdict verdict = verdict_of(&odd);

    (void)state;
    assert_int_equal(verdict.cause, SLOW_COMPUTE);
    assert_true(verdict.factor > 100);
}

static void test_too_early_to_tell(void **state)
{
    struct slow slow;
    struct slow_times times;
    struct slow_verdict verdict;
    double scratch;

    (void)state;
    live(&slow, &fine, 0);
    times = slow_times(&slow);
    assert_false(times.known);
    slow_judge(&times, 1, &scratch, &verdict);
    assert_int_equal(verdict.cause, SLOW_NOT);
    assert_true(verdict.factor == 0);
}

/* Old trouble is forgotten with the window. */
static void test_the_window_moves_on(void **state)
{
    struct slow slow;
    struct vitals vitals = {0};
    struct slow_times times;

    (void)state;
    slow_init(&slow);
    for (uint32_t i = 0; i < 10; i++) {
        slow_take(&slow, &vitals, i * SECOND_US);
        vitals.stopped_us += i < 5 ? 500 * MS_US : 0;
        vitals.chunks += 10;
    }
    times = slow_times(&slow);
    assert_true(times.known);
    assert_true(times.part[SLOW_PAUSE] == 0);
}

/* What is owed now counts, too. */
static void test_owing_is_counted_while_it_lasts(void **state)
{
    struct slow slow;
    const struct vitals vitals = {0};

    (void)state;
    slow_init(&slow);
    slow_take(&slow, &vitals, 0);
    slow_owes(&slow, true, 0);
    slow_owes(&slow, true, SECOND_US); /* Said twice. */
    slow_take(&slow, &vitals, 3 * SECOND_US);
    assert_true(slow_times(&slow).owed == 3);
    assert_false(slow_times(&slow).finished);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_alike_is_not_slow),
        cmocka_unit_test(test_a_little_is_not_slow),
        cmocka_unit_test(test_slow_processor),
        cmocka_unit_test(test_starved_processor),
        cmocka_unit_test(test_starved_while_nothing_is_owed),
        cmocka_unit_test(test_stopped_while_computing),
        cmocka_unit_test(test_stopped_between_pieces),
        cmocka_unit_test(test_slow_on_purpose),
        cmocka_unit_test(test_slow_road),
        cmocka_unit_test(test_pages_from_disk),
        cmocka_unit_test(test_one_that_finishes_nothing),
        cmocka_unit_test(test_too_early_to_tell),
        cmocka_unit_test(test_the_window_moves_on),
        cmocka_unit_test(test_owing_is_counted_while_it_lasts),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
