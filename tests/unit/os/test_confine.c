/*
 * A child gives up running programs: none runs, other calls work, and a thread
 * that it starts later is no way around.
 */
#include "os/run/confine.h"

#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

enum { REFUSED = 3, RAN = 0, BROKEN = 4, NONE = 5 };

static int run_true(void)
{
    char name[] = "/bin/true";
    char *const arguments[] = {name, NULL};

    (void)execv(name, arguments);
    return errno == EPERM ? REFUSED : BROKEN;
}

static void *in_thread(void *out)
{
    *(int *)out = run_true();
    return NULL;
}

static int how_ends(int (*what)(void))
{
    int how;
    const pid_t child = fork();

    if (child == 0)
        _exit(what());
    assert_int_equal(waitpid(child, &how, 0), child);
    assert_true(WIFEXITED(how));
    return WEXITSTATUS(how);
}

static int confined(void)
{
    if (!confine_process())
        return NONE;
    if (getppid() <= 0)
        return BROKEN;
    return run_true();
}

static int confined_thread(void)
{
    pthread_t thread;
    int result = BROKEN;

    if (!confine_process())
        return NONE;
    if (pthread_create(&thread, NULL, in_thread, &result) != 0 ||
        pthread_join(thread, NULL) != 0)
        return BROKEN;
    return result;
}

#if defined(__x86_64__)
/* The way of 32-bit programs into the kernel, with numbers of their own: 20 is
 * getpid, 11 would be execve. */
static int foreign_call(void)
{
    long result = 20;

    __asm__ volatile("int $0x80" : "+a"(result) : : "memory");
    return result == getpid() ? RAN : result == -EPERM ? REFUSED : BROKEN;
}

static int confined_foreign_call(void)
{
    return confine_process() ? foreign_call() : NONE;
}

static void test_no_foreign_calls(void **state)
{
    int how;
    const pid_t child = fork();

    (void)state;
    if (child == 0)
        _exit(foreign_call());
    assert_int_equal(waitpid(child, &how, 0), child);
    if (!WIFEXITED(how) || WEXITSTATUS(how) != RAN)
        skip(); /* This kernel has no such calls. */
    how = how_ends(confined_foreign_call);
    if (how == NONE)
        skip();
    assert_int_equal(how, REFUSED);
}
#else
static void test_no_foreign_calls(void **state)
{
    (void)state;
    skip();
}
#endif

static void test_no_programs(void **state)
{
    (void)state;
    assert_int_equal(how_ends(run_true), RAN);
    if (how_ends(confined) == NONE)
        skip();
    assert_int_equal(how_ends(confined), REFUSED);
    assert_int_equal(how_ends(confined_thread), REFUSED);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_no_programs),
                                       cmocka_unit_test(test_no_foreign_calls)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
