/*
 * A segment between processes: who sits is seen, and seen to be gone however it
 * ends; a value that many change at once loses no change; a bell is heard; what
 * is not a segment is refused.
 */
#include "os/run/segment.h"

#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "os/clock.h"

enum { KIND = 77, CHILDREN = 4, CHANGES = 2000 };

static const struct segment_shape shape = {
    .kind = KIND, .bytes = 1 << 20, .facts = {5}};

static struct segment *new_segment(void)
{
    const uint64_t value[SEGMENT_VALUE_WORDS] = {1, 2, 3};
    struct segment *segment = NULL;

    assert_int_equal(segment_new(&shape, value, &segment, NULL), ERR_OK);
    return segment;
}

/* Every word is raised by one, CHANGES times. */
static void change(struct segment *segment, uint32_t seat)
{
    for (int i = 0; i < CHANGES; i++) {
        uint64_t value[SEGMENT_VALUE_WORDS], read;

        do {
            read = segment_read(segment, value);
            for (uint32_t k = 0; k < SEGMENT_VALUE_WORDS; k++)
                value[k]++;
        } while (!segment_swap(segment, seat, read, value));
    }
}

static void child(const char *name, uint32_t seat)
{
    struct segment *segment = NULL;

    if (segment_open(name, KIND, &segment, NULL) != ERR_OK ||
        !segment_sit(segment, seat) || segment_shape(segment)->facts[0] != 5)
        _exit(1);
    change(segment, seat);
    memcpy(segment_text(segment, seat), "child", sizeof "child");
    segment_bytes(segment, 0)[seat] = 9;
    segment_set_mark(segment, seat, 1, 42);
    segment_ring(segment);
    for (;;)
        (void)pause();
}

static void await(struct segment *segment, uint32_t seat)
{
    while (segment_mark(segment, seat, 1) != 42) {
        const uint32_t bell = segment_bell(segment);

        if (segment_mark(segment, seat, 1) != 42)
            (void)segment_wait(segment, bell, 10, clock_now_us() + MS_US);
    }
}

static void test_processes(void **state)
{
    struct segment *segment = new_segment();
    uint64_t value[SEGMENT_VALUE_WORDS];
    pid_t pids[CHILDREN];

    (void)state;
    for (uint32_t i = 0; i < CHILDREN; i++) {
        pids[i] = fork();
        if (pids[i] == 0)
            child(segment_name(segment), i);
    }
    assert_true(segment_sit(segment, CHILDREN));
    change(segment, CHILDREN);
    for (uint32_t i = 0; i < CHILDREN; i++) {
        await(segment, i);
        assert_true(segment_occupied(segment, i));
        assert_false(segment_sit(segment, i));
        assert_string_equal(segment_text(segment, i), "child");
        assert_int_equal(segment_bytes(segment, 0)[i], 9);
        assert_int_equal(kill(pids[i], SIGKILL), 0);
        assert_int_equal(waitpid(pids[i], NULL, 0), pids[i]);
        assert_false(segment_occupied(segment, i));
    }
    (void)segment_read(segment, value);
    for (uint32_t k = 0; k < SEGMENT_VALUE_WORDS; k++)
        assert_int_equal(value[k] - (k < 3 ? k + 1 : 0),
                         (CHILDREN + 1) * CHANGES);
    segment_free(segment);
}

/* Only what was read may be changed. */
static void test_swap(void **state)
{
    struct segment *segment = new_segment();
    uint64_t value[SEGMENT_VALUE_WORDS];
    const uint64_t read = segment_read(segment, value);

    (void)state;
    assert_int_equal(value[2], 3);
    assert_true(segment_swap(segment, 0, read, value));
    assert_false(segment_swap(segment, 1, read, value));
    segment_free(segment);
    segment_free(NULL);
}

static void test_bell(void **state)
{
    struct segment *segment = new_segment();
    const uint32_t bell = segment_bell(segment);

    (void)state;
    assert_false(segment_wait(segment, bell, 0, clock_now_us() + MS_US));
    segment_ring(segment);
    assert_true(segment_wait(segment, bell, 0, TIME_NEVER / 2));
    segment_free(segment);
}

static void test_refused(void **state)
{
    struct segment *segment = new_segment(), *other = NULL;
    struct why why;

    (void)state;
    assert_int_equal(segment_open(segment_name(segment), 78, &other, &why),
                     ERR_FORMAT);
    assert_int_equal(segment_open("/etc/passwd", KIND, &other, &why),
                     ERR_DENIED);
    assert_int_equal(segment_open("/proc/self/nothing", KIND, &other, &why),
                     ERR_NOTFOUND);
    assert_null(other);
    assert_int_equal(segment_reserve(segment, 4096, 8192), ERR_OK);
    segment_free(segment);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_processes),
        cmocka_unit_test(test_swap),
        cmocka_unit_test(test_bell),
        cmocka_unit_test(test_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
