#define _GNU_SOURCE
/*
 * process.c - children by fork without exec.  A child dies with its parent
 * (PR_SET_PDEATHSIG), closes what is not its own and starts with fresh signals.
 */
#include "os/run/process.h"

#include <errno.h>
#include <limits.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "os/log.h"
#include "os/run/pages.h"

#define PROC_STAT_SIZE 512u

/* There only in builds that measure coverage, whose counters would be written
 * by exit() alone. */
extern void __gcov_dump(void) __attribute__((weak));

static atomic_flag claimed = ATOMIC_FLAG_INIT;

bool process_claim(void)
{
    return !atomic_flag_test_and_set(&claimed);
}

void process_disclaim(void)
{
    atomic_flag_clear(&claimed);
}

/* A socket that stays open in a sibling hides a death from its peer. */
static void drop_fds(const struct process_start *start)
{
    for (uint32_t i = 0; i < start->drop_count; i++) {
        if (start->drop[i] >= 0)
            (void)close(start->drop[i]);
    }
}

static void fresh_signals(void)
{
    sigset_t none;

    for (int number = 1; number < NSIG; number++)
        (void)signal(number, SIG_DFL);
    (void)signal(SIGINT, SIG_IGN);
    (void)signal(SIGPIPE, SIG_IGN);
    (void)signal(SIGXFSZ, SIG_IGN); /* A write fails, which is told. */
    file_map_watch();
    sigemptyset(&none);
    (void)sigprocmask(SIG_SETMASK, &none, NULL);
}

__attribute__((noreturn)) static void child(const struct process_start *start,
                                            pid_t parent)
{
    int code;

    /* The parent may have died before the request was made. */
    if (prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0) != 0 || getppid() != parent)
        _exit(1);
    (void)prctl(PR_SET_NAME, start->title, 0, 0, 0);
    fresh_signals();
    drop_fds(start);
    code = start->main(start->context);
    if (__gcov_dump != NULL)
        __gcov_dump();
    log_end();
    _exit(code);
}

enum err process_fork(const struct process_start *start, int *pid,
                      struct why *why)
{
    const pid_t parent = getpid();
    sigset_t all, before;
    pid_t made;

    /* No handler of the parent may run in the child: it would speak for both.
     */
    sigfillset(&all);
    (void)pthread_sigmask(SIG_SETMASK, &all, &before);
    made = fork();
    if (made != 0)
        (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (made < 0)
        return why_set(why, ERR_NOMEM,
                       errno == EAGAIN
                           ? "cannot start a process: there may be no more of "
                             "them; raise the limit (ulimit -u) or take fewer "
                             "workers"
                           : "cannot start a process: there is not enough "
                             "memory; take fewer workers");
    if (made == 0)
        child(start, parent);
    *pid = made;
    return ERR_OK;
}

void process_keep_only(int *fd)
{
    const int kept = STDERR_FILENO + 1;

    if (*fd != kept && dup2(*fd, kept) == kept)
        *fd = kept;
    if (*fd == kept)
        (void)close_range((unsigned)kept + 1, UINT_MAX, 0);
}

bool process_ended(int pid, struct process_end *end)
{
    int status;
    const pid_t got = waitpid(pid, &status, WNOHANG);

    *end = (struct process_end){0};
    if (got == 0 || (got < 0 && errno == EINTR))
        return false;
    if (got < 0) {
        end->unseen = true;
        return true;
    }
    if (WIFSIGNALED(status))
        end->signal = WTERMSIG(status);
    else
        end->code = WEXITSTATUS(status);
    return true;
}

void process_reap(int pid)
{
    while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
        continue;
}

/* Never 0 or less: that would be a whole group. */
static void send_signal(int pid, int number)
{
    if (pid > 0)
        (void)kill(pid, number);
}

void process_kill(int pid)
{
    send_signal(pid, SIGKILL);
}

void process_terminate(int pid)
{
    send_signal(pid, SIGTERM);
}

void process_alert(int pid)
{
    send_signal(pid, SIGUSR1);
}

void process_stop(int pid)
{
    send_signal(pid, SIGSTOP);
}

void process_resume(int pid)
{
    send_signal(pid, SIGCONT);
}

uint32_t process_own_pid(void)
{
    return (uint32_t)getpid();
}

uint32_t process_parent(uint32_t pid)
{
    char path[32], text[PROC_STAT_SIZE];
    const char *at = NULL;
    FILE *file;

    (void)snprintf(path, sizeof path, "/proc/%u/stat", (unsigned)pid);
    file = fopen(path, "re");
    if (file == NULL)
        return 0;
    if (fgets(text, sizeof text, file) != NULL)
        at = strrchr(text, ')'); /* A name may have any letters. */
    (void)fclose(file);
    /* ") S 123": its state, its parent. */
    return at == NULL || strlen(at) < 5 ? 0
                                        : (uint32_t)strtoul(at + 4, NULL, 10);
}

bool process_began_with(uint32_t pid, const char *variable, bool *has)
{
    const size_t length = strlen(variable);
    char path[32];
    size_t matched = 0; /* Letters of this entry; SIZE_MAX: it is another. */
    bool found = false, any = false;
    int letter;
    FILE *file;

    (void)snprintf(path, sizeof path, "/proc/%u/environ", (unsigned)pid);
    file = fopen(path, "re");
    if (file == NULL)
        return false;
    while (!found && (letter = getc(file)) != EOF) {
        any = true;
        found = matched == length && letter == '=';
        if (letter == '\0')
            matched = 0;
        else if (matched < length && letter == variable[matched])
            matched++;
        else
            matched = SIZE_MAX;
    }
    (void)fclose(file);
    *has = found;
    return any; /* Of one that is ending there is nothing to read. */
}

bool process_pin(uint32_t index)
{
    cpu_set_t may, one;

    CPU_ZERO(&may);
    CPU_ZERO(&one);
    if (sched_getaffinity(0, sizeof may, &may) != 0)
        return false;
    for (size_t cpu = 0; cpu < CPU_SETSIZE; cpu++) {
        if (CPU_ISSET(cpu, &may) && index-- == 0) {
            CPU_SET(cpu, &one);
            return sched_setaffinity(0, sizeof one, &one) == 0;
        }
    }
    return false;
}
