/*
 * A file that is mapped is cut: a program of our own ends with a sentence that
 * names it, and other bad addresses end it as ever.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "os/run/pages.h"
#include "os/run/thread.h"

#define FILE_NAME  "test_pages.tmp"
#define FILE_BYTES (1 << 16)

static void write_file(void)
{
    FILE *file = fopen(FILE_NAME, "wb");

    assert_non_null(file);
    assert_int_equal(fclose(file), 0);
    assert_int_equal(truncate(FILE_NAME, FILE_BYTES), 0);
}

static void read_middle(void *data)
{
    _exit(((const volatile char *)data)[FILE_BYTES / 2] + 3);
}

/* In a process of its own, and there on a thread that takes no signals. */
static void read_what_was_cut(int out)
{
    struct file_map map = {0};
    struct thread *thread = NULL;

    (void)dup2(out, STDERR_FILENO);
    file_map_watch();
    if (file_map_open(&map, FILE_NAME, NULL) != ERR_OK ||
        truncate(FILE_NAME, 0) != 0 ||
        thread_start(read_middle, map.data, &thread) != ERR_OK)
        _exit(2);
    thread_join(thread);
    _exit(2);
}

static void test_file_that_is_cut(void **state)
{
    char text[256] = {0};
    int ends[2];
    int status = 0;
    pid_t child;

    (void)state;
    write_file();
    assert_int_equal(pipe(ends), 0);
    child = fork();
    assert_true(child >= 0);
    if (child == 0)
        read_what_was_cut(ends[1]);
    assert_int_equal(close(ends[1]), 0);
    assert_true(read(ends[0], text, sizeof text - 1) > 0);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 1);
    assert_string_equal(text, "muster: " FILE_NAME ": cut short while it was "
                              "in use; remove it and start again\n");
    assert_int_equal(close(ends[0]), 0);
    assert_int_equal(unlink(FILE_NAME), 0);
}

static void test_other_signals_end_as_ever(void **state)
{
    int status = 0;
    const pid_t child = fork();

    (void)state;
    assert_true(child >= 0);
    if (child == 0) {
        file_map_watch();
        (void)raise(SIGBUS);
        (void)raise(SIGBUS);
        _exit(0);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGBUS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_file_that_is_cut),
        cmocka_unit_test(test_other_signals_end_as_ever),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
