/*
 * muster_train with workers as a guest: in a process with threads, signals and
 * children of its own.  A call that does not return fails by the runner's
 * time limit.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <dirent.h>
#include <limits.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "api/job.h"

enum { DIMS = 3, CHUNKS = 6, THREADS = 3, STOP_STEP = 3 };

/* ThreadSanitizer cannot follow a fork beside threads, which is what is tested
 * here. */
#ifdef __SANITIZE_THREAD__
#define FORKS_BESIDE_THREADS() skip()
#else
#define FORKS_BESIDE_THREADS() ((void)0)
#endif

static int bowl(void *context, const double *w, uint32_t chunk, double *g,
                double *loss)
{
    (void)context;
    for (uint32_t j = 0; j < DIMS; j++) {
        const double d = w[j] - (chunk + j) / 4.0;

        g[j] = d;
        *loss += d * d / 2;
    }
    return 0;
}

static struct job asked(uint32_t workers)
{
    struct job options = {0};

    options.dims = DIMS;
    options.chunks = CHUNKS;
    options.rows = CHUNKS;
    options.gradient = bowl;
    options.optimiser = "gd";
    options.rate = 0.1;
    options.steps = 20;
    options.workers = workers;
    return options;
}

static void assert_same_hash(void)
{
    const struct job alone = asked(0), with = asked(2);
    struct muster_model *a = NULL, *b = NULL;
    char why[MUSTER_WHY_SIZE];

    assert_int_equal(job_train(&alone, &a, why), MUSTER_OK);
    if (job_train(&with, &b, why) != MUSTER_OK)
        fail_msg("%s", why);
    assert_string_equal(muster_hash(a), muster_hash(b));
    muster_free(a);
    muster_free(b);
}

/* --- threads ---------------------------------------------------------------
 */

struct crowd {
    pthread_t id[THREADS];
    atomic_int ready;
    atomic_bool over;
    bool busy;
};

static void *one_of_crowd(void *argument)
{
    struct crowd *crowd = argument;
    sigset_t none;

    sigemptyset(&none);
    (void)pthread_sigmask(SIG_SETMASK, &none, NULL);
    atomic_fetch_add(&crowd->ready, 1);
    while (!atomic_load(&crowd->over)) {
        if (crowd->busy)
            free(malloc(100 + (size_t)(rand() % 5000)));
        else
            (void)poll(NULL, 0, 1);
    }
    return NULL;
}

static void crowd_start(struct crowd *crowd)
{
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(
            pthread_create(&crowd->id[i], NULL, one_of_crowd, crowd), 0);
    while (atomic_load(&crowd->ready) < THREADS)
        (void)sched_yield();
}

static void crowd_end(struct crowd *crowd)
{
    atomic_store(&crowd->over, true);
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(pthread_join(crowd->id[i], NULL), 0);
}

static void test_returns_beside_idle_threads(void **state)
{
    struct crowd crowd = {.busy = false};

    (void)state;
    FORKS_BESIDE_THREADS();
    crowd_start(&crowd);
    assert_same_hash();
    assert_same_hash();
    crowd_end(&crowd);
}

static void test_returns_beside_busy_threads(void **state)
{
    struct crowd crowd = {.busy = true};

    (void)state;
    FORKS_BESIDE_THREADS();
    crowd_start(&crowd);
    for (int i = 0; i < 5; i++)
        assert_same_hash();
    crowd_end(&crowd);
}

/* --- SIGCHLD ---------------------------------------------------------------
 */

static void reap_any(int number)
{
    (void)number;
    while (waitpid(-1, NULL, WNOHANG) > 0)
        continue;
}

static void note_it(int number)
{
    (void)number;
}

static void with_action(void (*handler)(int), int flags)
{
    const struct sigaction action = {.sa_handler = handler, .sa_flags = flags};
    const struct sigaction plain = {.sa_handler = SIG_DFL};
    struct sigaction after;

    assert_int_equal(sigaction(SIGCHLD, &action, NULL), 0);
    assert_same_hash();
    assert_int_equal(sigaction(SIGCHLD, &plain, &after), 0);
    assert_true(after.sa_handler == handler);
    assert_int_equal(after.sa_flags & SA_NOCLDWAIT, flags & SA_NOCLDWAIT);
    assert_int_equal(waitpid(-1, NULL, WNOHANG), -1); /* No child is left. */
}

static void test_returns_whatever_sigchld_does(void **state)
{
    (void)state;
    FORKS_BESIDE_THREADS();
    with_action(SIG_DFL, 0);
    with_action(SIG_IGN, 0);
    with_action(SIG_DFL, SA_NOCLDWAIT);
    with_action(note_it, SA_RESTART);
    with_action(reap_any, SA_RESTART);
}

static void test_returns_with_signals_blocked(void **state)
{
    sigset_t all, before, after;

    (void)state;
    FORKS_BESIDE_THREADS();
    sigfillset(&all);
    assert_int_equal(pthread_sigmask(SIG_BLOCK, &all, &before), 0);
    assert_same_hash();
    assert_int_equal(pthread_sigmask(SIG_SETMASK, &before, &after), 0);
    assert_int_equal(sigismember(&after, SIGCHLD), 1);
    assert_int_equal(sigismember(&after, SIGTERM), 1);
}

/* The host's own children, one gone before and one that stays, are the host's
 * to wait for. */
static void test_leaves_other_children_alone(void **state)
{
    int status, hold[2];
    pid_t gone, stays;
    siginfo_t info;

    (void)state;
    FORKS_BESIDE_THREADS();
    gone = fork();
    if (gone == 0)
        _exit(7);
    assert_int_equal(pipe(hold), 0);
    stays = fork();
    if (stays == 0) {
        char byte;

        (void)close(hold[1]);
        _exit(read(hold[0], &byte, 1) == 0 ? 8 : 9);
    }
    assert_int_equal(waitid(P_PID, (id_t)gone, &info, WEXITED | WNOWAIT), 0);
    assert_same_hash();
    assert_int_equal(waitpid(gone, &status, 0), gone);
    assert_int_equal(WEXITSTATUS(status), 7);
    (void)close(hold[1]);
    assert_int_equal(waitpid(stays, &status, 0), stays);
    assert_int_equal(WEXITSTATUS(status), 8);
    (void)close(hold[0]);
}

/* --- limits ----------------------------------------------------------------
 */

/* In a process of its own, which may write no file. */
static void writes_nothing(void)
{
    const struct rlimit none = {0, 0};
    const struct job options = asked(2);
    const struct muster_group_options group_options =
        MUSTER_INIT(struct muster_group_options);
    struct muster_model *model = NULL;
    struct muster_group *group = NULL;
    char why[MUSTER_WHY_SIZE] = "";

    if (setrlimit(RLIMIT_FSIZE, &none) != 0)
        _exit(1);
    if (job_train(&options, &model, why) == MUSTER_OK || why[0] == '\0')
        _exit(2);
    why[0] = '\0';
    if (muster_group_host(&group_options, &group, why) == MUSTER_OK ||
        why[0] == '\0')
        _exit(3);
    _exit(0);
}

/* The same where files may have 1 KiB: the run goes on without its journal, but
 * not even its result can be handed over. */
static void writes_little(void)
{
    const struct rlimit little = {1024, 1024};
    const struct job options = asked(2);
    struct muster_model *model = NULL;
    char why[MUSTER_WHY_SIZE] = "";

    if (setrlimit(RLIMIT_FSIZE, &little) != 0)
        _exit(1);
    if (job_train(&options, &model, why) != MUSTER_FAILED || model != NULL)
        _exit(2);
    _exit(strstr(why, "ulimit -f") != NULL ? 0 : 3);
}

static void assert_ends_well(void (*main)(void))
{
    const pid_t child = fork();
    int status;

    if (child == 0)
        main();
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
}

static void test_a_result_that_cannot_be_written_is_a_failure(void **state)
{
    (void)state;
    FORKS_BESIDE_THREADS();
    assert_ends_well(writes_little);
}

/* A write over the limit is an error that is told, not the host's end. */
static void test_a_file_limit_does_not_end_the_host(void **state)
{
    (void)state;
    FORKS_BESIDE_THREADS();
    assert_ends_well(writes_nothing);
}

/* --- killed -----------------------------------------------------------------
 */

/* Tell that a step is made, then wait to be killed. */
static int tell_and_wait(void *context, const struct muster_progress *progress)
{
    (void)progress;
    if (write(*(int *)context, "x", 1) == 1)
        for (;;)
            (void)pause();
    return 1;
}

static void trains_until_killed(int out)
{
    struct job options = asked(2);
    struct muster_model *model = NULL;

    options.watch = tell_and_wait;
    options.context = &out;
    (void)job_train(&options, &model, NULL);
    _exit(1);
}

static void hosts_until_killed(int out)
{
    const struct muster_group_options options =
        MUSTER_INIT(struct muster_group_options);
    struct muster_group *group = NULL;

    if (muster_group_host(&options, &group, NULL) == MUSTER_OK)
        (void)tell_and_wait(&out, NULL);
    _exit(1);
}

/* Folders in `under`, none of which has a key in it. */
static unsigned count_folders(const char *under)
{
    char path[PATH_MAX];
    DIR *folder = opendir(under);
    const struct dirent *entry;
    unsigned count = 0;

    assert_non_null(folder);
    while ((entry = readdir(folder)) != NULL) {
        count += entry->d_name[0] != '.';
        (void)snprintf(path, sizeof path, "%s/%s/run.token", under,
                       entry->d_name);
        assert_int_not_equal(access(path, F_OK), 0);
    }
    (void)closedir(folder);
    return count;
}

/* `main` is killed once it says that it is under way.  What it
 * left is being removed; that it is gone is waited for. */
static void assert_leaves_nothing(void (*main)(int), unsigned folders)
{
    char under[] = "/tmp/muster-test-XXXXXX";
    int told[2];
    pid_t child;
    char byte;

    assert_non_null(mkdtemp(under));
    assert_int_equal(pipe(told), 0);
    child = fork();
    if (child == 0) {
        (void)setenv("TMPDIR", under, 1);
        main(told[1]);
    }
    (void)close(told[1]);
    assert_int_equal(read(told[0], &byte, 1), 1);
    assert_int_equal(count_folders(under), folders);
    (void)kill(child, SIGKILL);
    assert_int_equal(waitpid(child, NULL, 0), child);
    while (rmdir(under) != 0)
        (void)sched_yield();
    (void)close(told[0]);
}

static void test_a_killed_host_leaves_no_folder(void **state)
{
    (void)state;
    FORKS_BESIDE_THREADS();
    assert_leaves_nothing(trains_until_killed, 1);
    assert_leaves_nothing(hosts_until_killed, 0);
}

/* --- signals that end it -----------------------------------------------------
 */

struct sender {
    struct crowd crowd;
    int number;
    bool to_thread;
};

static int send_once(void *context, const struct muster_progress *progress)
{
    struct sender *sender = context;

    if (progress->step != STOP_STEP)
        return 0;
    if (sender->to_thread)
        (void)pthread_kill(sender->crowd.id[0], sender->number);
    else
        (void)kill(getpid(), sender->number);
    return 0;
}

static void assert_stops(int number, bool to_thread)
{
    struct sender sender = {.number = number, .to_thread = to_thread};
    struct job options = asked(2);
    struct muster_model *model = NULL;
    struct sigaction after;

    options.watch = send_once;
    options.context = &sender;
    options.steps = 10000000;
    crowd_start(&sender.crowd);
    assert_int_equal(job_train(&options, &model, NULL), MUSTER_STOPPED);
    assert_non_null(model);
    assert_true(about(model).steps >= STOP_STEP);
    assert_int_equal(about(model).signal, number);
    crowd_end(&sender.crowd);
    muster_free(model);
    assert_int_equal(sigaction(number, NULL, &after), 0);
    assert_true(after.sa_handler == SIG_DFL);
}

static volatile sig_atomic_t heard;

static void hear(int number)
{
    heard = number;
}

/* All steps are made already when it is sent. */
static int send_at_last(void *context, const struct muster_progress *progress)
{
    const struct sender *const sender = context;

    if (progress->step == STOP_STEP)
        (void)kill(getpid(), sender->number);
    return 0;
}

static void assert_heard(int number)
{
    const struct sigaction own = {.sa_handler = hear};
    struct sender sender = {.number = number};
    struct job options = asked(2);
    struct muster_model *model = NULL;
    struct sigaction before;

    options.watch = send_at_last;
    options.context = &sender;
    options.steps = STOP_STEP;
    heard = 0;
    assert_int_equal(sigaction(number, &own, &before), 0);
    assert_int_equal(job_train(&options, &model, NULL), MUSTER_OK);
    assert_int_equal(sigaction(number, &before, NULL), 0);
    assert_int_equal(heard, number);
    assert_int_equal(about(model).steps, STOP_STEP);
    assert_int_equal(about(model).signal, number);
    muster_free(model);
}

/* It came too late to stop anything; the host's handler is told. */
static void test_late_signals_are_the_host_s(void **state)
{
    (void)state;
    assert_heard(SIGTERM);
    assert_heard(SIGINT);
    assert_heard(SIGHUP);
}

static void test_signals_stop_it_whoever_gets_them(void **state)
{
    (void)state;
    FORKS_BESIDE_THREADS();
    assert_stops(SIGTERM, false);
    assert_stops(SIGTERM, true);
    assert_stops(SIGINT, true);
    assert_stops(SIGINT, false);
}

/* --- two at once -------------------------------------------------------------
 */

static void *train_beside(void *context)
{
    const struct job with = asked(2), alone = asked(0);
    struct muster_model *model = NULL;
    char why[MUSTER_WHY_SIZE];

    *(bool *)context = job_train(&with, &model, why) == MUSTER_FAILED &&
                       model == NULL && strstr(why, "another training") &&
                       job_train(&alone, &model, why) == MUSTER_OK;
    muster_free(model);
    return NULL;
}

static int start_another(void *context, const struct muster_progress *progress)
{
    pthread_t id;

    if (progress->step != 1)
        return 0;
    assert_int_equal(pthread_create(&id, NULL, train_beside, context), 0);
    assert_int_equal(pthread_join(id, NULL), 0);
    return 0;
}

static void test_second_at_once_is_refused(void **state)
{
    struct job options = asked(2);
    struct muster_model *model = NULL;
    bool refused = false;

    (void)state;
    FORKS_BESIDE_THREADS();
    options.watch = start_another;
    options.context = &refused;
    assert_int_equal(job_train(&options, &model, NULL), MUSTER_OK);
    assert_true(refused);
    muster_free(model);
    assert_same_hash(); /* And afterwards it may. */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_returns_beside_idle_threads),
        cmocka_unit_test(test_returns_beside_busy_threads),
        cmocka_unit_test(test_returns_whatever_sigchld_does),
        cmocka_unit_test(test_returns_with_signals_blocked),
        cmocka_unit_test(test_leaves_other_children_alone),
        cmocka_unit_test(test_a_file_limit_does_not_end_the_host),
        cmocka_unit_test(test_a_result_that_cannot_be_written_is_a_failure),
        cmocka_unit_test(test_a_killed_host_leaves_no_folder),
        cmocka_unit_test(test_signals_stop_it_whoever_gets_them),
        cmocka_unit_test(test_late_signals_are_the_host_s),
        cmocka_unit_test(test_second_at_once_is_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
