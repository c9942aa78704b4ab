/*
 * A child gives up running programs: none runs, other calls work, and a thread
 * that it starts later is no way around.
 */
#include "os/confine.h"

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
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_no_programs)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
