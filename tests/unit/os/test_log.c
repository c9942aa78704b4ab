/*
 * The log of a process: who says it, how much at once, and silence.
 */
#include "os/log.h"

#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/mem.h"
#include "os/file/file.h"

#define PATH "log.txt"
#define MANY 2000u

static int kept; /* Standard error while a test has it. */

static void listen_in(void)
{
    const int fd = open(PATH, O_WRONLY | O_CREAT | O_TRUNC, 0600);

    assert_true(fd >= 0);
    kept = dup(STDERR_FILENO);
    assert_true(dup2(fd, STDERR_FILENO) >= 0);
    (void)close(fd);
}

/* What was said since; to be freed. */
static char *heard(void)
{
    uint8_t *data;
    size_t size;

    assert_true(dup2(kept, STDERR_FILENO) >= 0);
    (void)close(kept);
    assert_int_equal(file_read(PATH, 1u << 20, &data, &size, NULL), ERR_OK);
    file_remove(PATH);
    return (char *)data;
}

static uint32_t lines_of(const char *text)
{
    uint32_t count = 0;

    for (; *text != '\0'; text++)
        count += *text == '\n';
    return count;
}

static void test_a_line_says_who_says_it(void **state)
{
    char *text;

    (void)state;
    listen_in();
    log_name("w3");
    log_line("%d of %s", 7, "ten");
    log_name("");
    log_line("plain");
    text = heard();
    assert_string_equal(text, "muster: w3: 7 of ten\nmuster: plain\n");
    mem_free(text);
}

/* Long lines are cut, and still end. */
static void test_a_long_line_is_cut(void **state)
{
    char word[3000];
    char *text;

    (void)state;
    memset(word, 'x', sizeof word);
    word[sizeof word - 1] = '\0';
    listen_in();
    log_line("%s", word);
    text = heard();
    assert_int_equal(lines_of(text), 1);
    assert_true(strlen(text) < 1200);
    mem_free(text);
}

/* -q is for progress, not for trouble. */
static void test_silence(void **state)
{
    char *text;

    (void)state;
    listen_in();
    log_quiet(true);
    log_note("nobody hears this");
    log_line("but %s", "that");
    log_quiet(false);
    log_note("and this");
    text = heard();
    assert_string_equal(text, "muster: but that\nmuster: and this\n");
    mem_free(text);
}

/* Whoever makes a process talk does not fill its disk. */
static void test_a_flood_is_damped(void **state)
{
    char *text;

    (void)state;
    listen_in();
    for (uint32_t i = 0; i < MANY; i++)
        log_line("once more");
    log_end();
    log_end(); /* It was said. */
    text = heard();
    assert_in_range(lines_of(text), 2, MANY / 2);
    assert_non_null(strstr(text, "muster: ... and "));
    mem_free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_line_says_who_says_it),
        cmocka_unit_test(test_a_long_line_is_cut),
        cmocka_unit_test(test_silence),
        cmocka_unit_test(test_a_flood_is_damped),
    };

    return cmocka_run_group_tests_name("log", tests, NULL, NULL);
}
