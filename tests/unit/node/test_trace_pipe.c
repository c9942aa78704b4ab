/*
 * The trace on its way to the supervisor: a SUM becomes the TALLYs it stands
 * for, wherever the bytes are cut; what can wait, waits, and is lost if nobody
 * reads; who came and went is not.
 */
#include "node/host/trace_pipe.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#include "os/clock.h"
#include "os/run/loop.h"
#include "os/run/wait.h"

#define SEEN_MAX 32u

struct pipe_end {
    struct loop *loop;
    struct timer *timer;
    int reader_fd;
    struct trace_writer writer;
    struct trace_reader reader;
    struct trace seen[SEEN_MAX];
    uint32_t count;
    uint64_t taken, died; /* Of all, seen or not. */
};

static void take(void *context, const struct trace *trace)
{
    struct pipe_end *end = context;

    end->taken++;
    end->died += trace->kind == TRACE_DIED;
    if (end->count < SEEN_MAX)
        end->seen[end->count++] = *trace;
}

static void on_due(void *context)
{
    loop_stop(((struct pipe_end *)context)->loop);
}

static void open_end(struct pipe_end *end, bool eager)
{
    int writer_fd;

    memset(end, 0, sizeof *end);
    assert_int_equal(loop_new(&end->loop), ERR_OK);
    assert_int_equal(timer_new(end->loop, on_due, end, &end->timer), ERR_OK);
    assert_int_equal(wait_pipe(&end->reader_fd, &writer_fd, NULL), ERR_OK);
    assert_int_equal(
        trace_writer_open(&end->writer, end->loop, writer_fd, eager), ERR_OK);
    assert_int_equal(trace_reader_init(&end->reader, take, end), ERR_OK);
}

static void close_end(struct pipe_end *end)
{
    trace_reader_close(&end->reader);
    trace_writer_close(&end->writer);
    wait_close(&end->reader_fd);
    timer_free(end->timer);
    loop_free(end->loop);
}

/* What is in the pipe, `step` bytes at a time; returns how many there were. */
static size_t read_all(struct pipe_end *end, size_t step)
{
    uint8_t data[4096];
    bool ended = false;
    size_t all = 0;
    size_t size;

    assert_true(step <= sizeof data);
    while ((size = wait_read(end->reader_fd, data, step, &ended)) > 0) {
        trace_reader_bytes(&end->reader, data, size);
        all += size;
    }
    return all;
}

static void add(struct pipe_end *end, enum trace_kind kind, int32_t link,
                const char *name)
{
    struct trace trace = {.kind = kind, .link = link};

    memcpy(trace.name, name, strlen(name));
    trace_writer_add(&end->writer, &trace);
}

static void add_sum(struct pipe_end *end, const struct trace_answer *answers,
                    uint32_t count)
{
    const struct trace trace = {.now = 7,
                                .kind = TRACE_SUM,
                                .link = 90,
                                .key = {.step = 12},
                                .a = count,
                                .answers = answers};

    trace_writer_add(&end->writer, &trace);
}

static void check_tally(const struct trace *trace, const char *name,
                        const struct trace_answer *answer)
{
    assert_int_equal(trace->kind, TRACE_TALLY);
    assert_string_equal(trace->name, name);
    assert_int_equal(trace->now, 7);
    assert_int_equal(trace->key.step, 12);
    assert_int_equal(trace->link, answer->link);
    assert_int_equal(trace->a, answer->piece);
    assert_int_equal(trace->b, answer->chunks);
    assert_int_equal(trace->answer.compute_us, answer->compute_us);
    assert_true(trace->answer.delay_factor == answer->delay_factor);
}

static const struct trace_answer answers[] = {
    {.link = 3, .piece = 8, .chunks = 2, .compute_us = 50, .delay_factor = 1.5},
    {.link = -1, .piece = 9, .chunks = 1, .compute_us = 60},
    {.link = 0, .piece = 4, .chunks = 3, .compute_us = 70},
};

static void test_a_sum_is_its_tallies(void **state)
{
    static const size_t steps[] = {1, 7, 288, 4096};

    (void)state;
    for (size_t i = 0; i < sizeof steps / sizeof *steps; i++) {
        struct pipe_end end;

        open_end(&end, false);
        add(&end, TRACE_JOINED, 3, "w3");
        add(&end, TRACE_JOINED, 0, "far.away");
        add_sum(&end, answers, 3);
        add_sum(&end, NULL, 0); /* All of it was answered before. */
        add(&end, TRACE_COMMIT, -1, "");
        assert_true(trace_writer_drain(&end.writer));
        assert_int_equal(read_all(&end, steps[i]),
                         5 * sizeof(struct trace) + sizeof answers);
        assert_int_equal(end.count, 6);
        assert_int_equal(end.seen[0].kind, TRACE_JOINED);
        check_tally(&end.seen[2], "w3", &answers[0]);
        check_tally(&end.seen[3], "", &answers[1]);
        check_tally(&end.seen[4], "far.away", &answers[2]);
        assert_int_equal(end.seen[5].kind, TRACE_COMMIT);
        close_end(&end);
    }
}

static void test_another_coordinator_has_other_links(void **state)
{
    struct pipe_end end;
    uint8_t half[sizeof(struct trace) / 2] = {0};

    (void)state;
    open_end(&end, false);
    add(&end, TRACE_JOINED, 3, "w3");
    assert_true(trace_writer_drain(&end.writer));
    (void)read_all(&end, 4096);
    trace_reader_bytes(&end.reader, half, sizeof half); /* It was killed. */
    trace_reader_begin(&end.reader);
    add(&end, TRACE_JOINED, 0, "w1");
    add_sum(&end, answers, 3);
    assert_true(trace_writer_drain(&end.writer));
    (void)read_all(&end, 4096);
    assert_int_equal(end.count, 5);
    check_tally(&end.seen[2], "", &answers[0]); /* Nobody has joined there. */
    check_tally(&end.seen[4], "w1", &answers[2]);
    close_end(&end);
}

/* In virtual time: `sent_at` is when the first batch went. */
static void test_what_can_wait_waits(void **state)
{
    struct pipe_end end;

    (void)state;
    open_end(&end, false);
    trace_writer_look(&end.writer, 1000000, false); /* Nothing to send. */
    add(&end, TRACE_VIEW, -1, "");
    trace_writer_look(&end.writer, 1000000, false);
    assert_true(read_all(&end, 4096) > 0); /* At once. */
    add(&end, TRACE_ROUND, -1, "");
    add(&end, TRACE_PULSE, 0, "w0");
    add_sum(&end, answers, 3);
    add(&end, TRACE_STOLEN, 0, "");
    trace_writer_look(&end.writer, 1009000, false);
    assert_int_equal(read_all(&end, 4096), 0);
    trace_writer_look(&end.writer, 1010000, false);
    assert_int_equal(read_all(&end, 4096),
                     4 * sizeof(struct trace) + sizeof answers);
    add(&end, TRACE_COMMIT, -1, "");
    trace_writer_look(&end.writer, 1010500, true); /* The run is over. */
    assert_int_equal(read_all(&end, 4096), sizeof(struct trace));
    close_end(&end);
}

/* Nobody looks again: the timer sends it. */
static void test_the_lag_ends_by_itself(void **state)
{
    struct pipe_end end;

    (void)state;
    open_end(&end, false);
    end.writer.sent_at = clock_now_us() + 1000; /* So that it is not due. */
    add(&end, TRACE_ROUND, -1, "");
    trace_writer_look(&end.writer, clock_now_us(), false);
    assert_int_equal(read_all(&end, 4096), 0);
    while (read_all(&end, 4096) == 0) {
        timer_at(end.timer, clock_now_us() + 1000);
        loop_run(end.loop);
    }
    assert_int_equal(end.count, 1);
    close_end(&end);
}

static void test_where_steps_cannot_wait(void **state)
{
    struct pipe_end end;

    (void)state;
    open_end(&end, true);
    end.writer.sent_at = 1000000;
    add(&end, TRACE_ROUND, -1, "");
    trace_writer_look(&end.writer, 1000001, false);
    assert_int_equal(read_all(&end, 4096), sizeof(struct trace));
    close_end(&end);
}

/* More than pipe and backlog hold, and nobody reads. */
static void test_what_is_frequent_is_lost(void **state)
{
    static struct trace_answer many[1000];
    const struct trace stint = {.kind = TRACE_STINT};
    struct pipe_end end;
    uint64_t sums = 0;

    (void)state;
    open_end(&end, false);
    for (uint32_t i = 0; i < 100; i++) {
        add_sum(&end, many, 1000);
        trace_writer_add(&end.writer, &stint);
        trace_writer_look(&end.writer, 0, true);
    }
    add(&end, TRACE_DIED, 5, "w5");
    trace_writer_look(&end.writer, 0, true);
    assert_true(outlet_queued(end.writer.outlet) > 0);
    while (outlet_queued(end.writer.outlet) > 0) {
        (void)read_all(&end, 4096);
        timer_at(end.timer, clock_now_us());
        loop_run(end.loop);
    }
    (void)read_all(&end, 4096);
    end.count = 0;
    sums = end.taken;
    assert_true(sums > 1000 && sums < 50000);
    assert_int_equal(end.died, 1);
    trace_writer_add(&end.writer, &stint);
    assert_true(trace_writer_drain(&end.writer));
    (void)read_all(&end, 4096);
    assert_int_equal(end.count, 1);
    assert_in_range(end.seen[0].a, 50, 99); /* Stints lost. */
    close_end(&end);
}

static void test_nobody_listens(void **state)
{
    struct trace_writer writer;
    const struct trace trace = {.kind = TRACE_DIED};

    (void)state;
    assert_int_equal(trace_writer_open(&writer, NULL, -1, false), ERR_OK);
    trace_writer_add(&writer, &trace);
    trace_writer_look(&writer, 5, true);
    assert_false(trace_writer_drain(&writer));
    trace_writer_close(&writer);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_sum_is_its_tallies),
        cmocka_unit_test(test_another_coordinator_has_other_links),
        cmocka_unit_test(test_what_can_wait_waits),
        cmocka_unit_test(test_the_lag_ends_by_itself),
        cmocka_unit_test(test_where_steps_cannot_wait),
        cmocka_unit_test(test_what_is_frequent_is_lost),
        cmocka_unit_test(test_nobody_listens),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
