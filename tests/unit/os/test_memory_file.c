/*
 * What a child writes its parent reads, the last of several; none and too much
 * are told apart.
 */
#include "os/file/memory_file.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/mem.h"

static void test_from_a_child(void **state)
{
    const int fd = memory_file_new();
    static const char text[] = "what it made";
    uint8_t *data;
    size_t size;
    int how;
    pid_t child;

    (void)state;
    assert_true(fd >= 0);
    assert_int_equal(memory_file_read(fd, 100, &data, &size), ERR_NOTFOUND);
    child = fork();
    if (child == 0)
        _exit(memory_file_write(fd, "something longer than that", 26) !=
                  ERR_OK ||
              memory_file_write(fd, text, sizeof text) != ERR_OK);
    assert_int_equal(waitpid(child, &how, 0), child);
    assert_int_equal(how, 0);
    assert_int_equal(memory_file_read(fd, 100, &data, &size), ERR_OK);
    assert_int_equal(size, sizeof text);
    assert_memory_equal(data, text, size);
    mem_free(data);
    assert_int_equal(memory_file_read(fd, 3, &data, &size), ERR_TOOBIG);
    memory_file_free(fd);
}

static void test_none(void **state)
{
    uint8_t *data;
    size_t size;

    (void)state;
    assert_int_equal(memory_file_write(-1, "x", 1), ERR_IO);
    assert_int_equal(memory_file_read(-1, 100, &data, &size), ERR_NOTFOUND);
    memory_file_free(-1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_from_a_child),
        cmocka_unit_test(test_none),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
