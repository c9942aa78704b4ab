/*
 * A run told by hand, drawn into a file in place of standard error, and
 * compared with the whole picture: a line for each of 8 workers, a cell for
 * each of 64 and of 256.
 */
#include "cli/show/screen.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#define PICTURE_SIZE 16384u

static struct progress progress;
static struct screen screen;

static struct trace make(enum trace_kind kind, uint32_t worker)
{
    struct trace trace = {.kind = kind};

    (void)snprintf(trace.name, sizeof trace.name, "w%u", worker);
    return trace;
}

static void happens(enum trace_kind kind, uint32_t worker, uint64_t chunks)
{
    struct trace trace = make(kind, worker);

    trace.b = chunks;
    progress_event(&progress, &trace);
}

static void committed(uint32_t step, double loss)
{
    struct trace trace = {.kind = TRACE_COMMIT, .value = loss};

    trace.key.step = step;
    progress_event(&progress, &trace);
}

/* Three windows in which worker i does 60 + i % 40 chunks; w3 hardly any. */
static void work(uint32_t count)
{
    progress_init(&progress);
    screen = (struct screen){.mode = SCREEN_BLOCK, .steps = 100, .code = "frc"};
    for (uint32_t i = 0; i < count; i++)
        happens(TRACE_JOINED, i, 0);
    happens(TRACE_ROUND, 0, 0);
    for (time_us window = 1; window <= 3; window++) {
        for (uint32_t i = 0; i < count; i++)
            happens(TRACE_TALLY, i, i == 3 ? 2 : 60 + i % 40);
        progress_tick(&progress, window * PACE_WINDOW_US);
    }
    committed(41, .25);
}

/* What the terminal is sent; the cursor's way back and all. */
static const char *picture(void)
{
    static char text[PICTURE_SIZE];
    FILE *file = tmpfile();
    const int kept = dup(STDERR_FILENO);
    size_t size;

    assert_non_null(file);
    (void)fflush(stderr);
    assert_true(dup2(fileno(file), STDERR_FILENO) >= 0);
    screen_end(&screen, &progress, NULL, 0);
    (void)fflush(stderr);
    assert_true(dup2(kept, STDERR_FILENO) >= 0);
    (void)close(kept);
    rewind(file);
    size = fread(text, 1, sizeof text - 1, file);
    text[size] = '\0';
    (void)fclose(file);
    return text;
}

#define END "\033[K\n"

static void test_eight(void **state)
{
    (void)state;
    work(8);
    happens(TRACE_DIED, 6, 0);
    assert_string_equal(
        picture(),
        "step 41/100   loss 0.250000   7 workers, code frc" END
        "  w0                 #####################     working" END
        "  w1                 #####################     working" END
        "  w2                 ######################    working" END
        "  w3                                           straggling" END
        "  w4                 ######################    working" END
        "  w5                 #######################   working" END
        "  w6                                           dead" END
        "  w7                 ########################  working" END "\033[J");
}

/* 40 steps in ten seconds; how long a run takes that may end before its last
 * step, nobody knows. */
static void test_time_left(void **state)
{
    (void)state;
    progress_init(&progress);
    screen = (struct screen){.mode = SCREEN_BLOCK,
                             .steps = 100,
                             .began_step = 1,
                             .began_at = SECOND_US,
                             .drawn_at = 11 * SECOND_US};
    committed(41, .25);
    assert_string_equal(picture(), "step 41/100   loss 0.250000   4.00 "
                                   "steps/s, 15 s left" END "\033[J");
    screen.rows = 0;
    screen.may_end = true;
    assert_string_equal(picture(), "step 41 of at most 100   loss 0.250000   "
                                   "4.00 steps/s" END "\033[J");
}

/* Of batches: the pass that the step is in, of how many; the last may be cut
 * short. */
static void test_passes(void **state)
{
    const char *const late = "step 41/100, pass 6/13   loss 0.250000 ";
    const char *const full = "\033[2Astep 40/100, pass 5/13   loss 0.250000 ";

    (void)state;
    work(1);
    screen.pass = 8;
    assert_memory_equal(picture(), late, strlen(late));
    committed(40, .25);
    assert_memory_equal(picture(), full, strlen(full));
}

static void test_one_is_a_worker(void **state)
{
    (void)state;
    work(2);
    happens(TRACE_DIED, 1, 0);
    assert_non_null(strstr(picture(), "   1 worker, code frc"));
}

/* Which workers sit behind which relay. */
static void test_relays(void **state)
{
    struct trace joined = {.kind = TRACE_JOINED};

    (void)state;
    work(34);
    for (uint32_t i = 0; i < 34; i++) {
        (void)snprintf(joined.name, sizeof joined.name, "w%u", i);
        (void)snprintf(joined.relay, sizeof joined.relay, "r%u", i / 16);
        progress_event(&progress, &joined);
    }
    assert_non_null(strstr(picture(), "  behind r0 r1" END "  w32"));
    assert_non_null(strstr(picture(), "  behind r2" END));
    work(8);
    (void)snprintf(joined.name, sizeof joined.name, "w3");
    progress_event(&progress, &joined);
    assert_non_null(strstr(picture(), "working  behind r2" END "  w4"));
}

static void test_sixty_four(void **state)
{
    (void)state;
    work(64);
    happens(TRACE_DIED, 17, 0);
    happens(TRACE_LEFT, 40, 0);
    happens(TRACE_SUSPECT, 63, 0);
    assert_string_equal(
        picture(),
        "step 41/100   loss 0.250000   62 workers, code frc" END
        "  w0         666s6666 66777777 7x778888 88888899" END
        "  w32        99999999 -6666666 66777777 7777888?" END
        "  straggling w3   suspect w63   dead w17   left w40" END "\033[J");
}

static void test_two_hundred_and_fifty_six(void **state)
{
    (void)state;
    work(256);
    for (uint32_t i = 100; i < 130; i++)
        happens(TRACE_DIED, i, 0);
    assert_string_equal(
        picture(),
        "step 41/100   loss 0.250000   226 workers, code frc" END
        "  w0         666s6666 66777777 77778888 88888899" END
        "  w32        99999999 66666666 66777777 77778888" END
        "  w64        88888899 99999999 66666666 66777777" END
        "  w96        7777xxxx xxxxxxxx xxxxxxxx xxxxxxxx" END
        "  w128       xx777777 77778888 88888899 99999999" END
        "  w160       66666666 66777777 77778888 88888899" END
        "  w192       99999999 66666666 66777777 77778888" END
        "  w224       88888899 99999999 66666666 66777777" END
        "  straggling w3   dead w100, w101, w102, w103, w104, and 25 more" END
        "\033[J");
}

static void test_blocks_and_colours(void **state)
{
    const char *seen;

    (void)state;
    work(17);
    screen.utf8 = true;
    screen.colour = true;
    seen = picture();
    assert_non_null(strstr(seen, "  w0         \033[32m\u2587\033[0m"));
    assert_non_null(strstr(seen, "\033[33ms\033[0m"));
    assert_non_null(strstr(seen, " \033[32m\u2588\033[0m" END));
}

/* Lines grow no longer than a terminal, whatever the names. */
static void test_long_names(void **state)
{
    struct trace trace = {.kind = TRACE_JOINED};
    const char *line;

    (void)state;
    progress_init(&progress);
    screen = (struct screen){.mode = SCREEN_BLOCK, .code = "steal"};
    for (uint32_t i = 0; i < 200; i++) {
        (void)snprintf(trace.name, sizeof trace.name,
                       "a-host-with-a-name-as-long-as-they-come.example.%u", i);
        trace.kind = TRACE_JOINED;
        progress_event(&progress, &trace);
        trace.kind = TRACE_DIED;
        progress_event(&progress, &trace);
    }
    for (line = picture(); *line != '\0'; line += strcspn(line, "\n") + 1) {
        assert_true(strcspn(line, "\n") <= 80 + strlen("\033[K"));
        if (line[strcspn(line, "\n")] == '\0')
            break;
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_eight),
        cmocka_unit_test(test_one_is_a_worker),
        cmocka_unit_test(test_time_left),
        cmocka_unit_test(test_passes),
        cmocka_unit_test(test_relays),
        cmocka_unit_test(test_sixty_four),
        cmocka_unit_test(test_two_hundred_and_fifty_six),
        cmocka_unit_test(test_blocks_and_colours),
        cmocka_unit_test(test_long_names),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
