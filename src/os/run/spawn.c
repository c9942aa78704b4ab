#define _GNU_SOURCE
/*
 * spawn.c - fork and exec of a program that runs beside us.
 */
#include "os/run/spawn.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "base/mem.h"
#include "os/run/process.h"
#include "os/run/program.h"

#define SELF         "/proc/self/exe"
#define EXIT_NO_EXEC 127
#define WORDS_MAX    4096u

/* Of the child: its ends of the pipes, and where it says why there is no
 * program. */
struct ends {
    int in[2], out[2], err[2], trouble[2];
};

static void close_pair(const int pair[2])
{
    for (int i = 0; i < 2; i++)
        if (pair[i] >= 0)
            (void)close(pair[i]);
}

static void close_ends(const struct ends *ends)
{
    close_pair(ends->in);
    close_pair(ends->out);
    close_pair(ends->err);
    close_pair(ends->trouble);
}

/* None of them is for any other child: a pipe that a sibling holds never
 * ends. */
static bool open_ends(struct ends *ends, bool piped)
{
    *ends = (struct ends){{-1, -1}, {-1, -1}, {-1, -1}, {-1, -1}};
    return pipe2(ends->trouble, O_CLOEXEC) == 0 &&
           (!piped || (pipe2(ends->in, O_CLOEXEC) == 0 &&
                       pipe2(ends->out, O_CLOEXEC) == 0 &&
                       pipe2(ends->err, O_CLOEXEC) == 0));
}

/* Only what may be called between fork and exec. */
static _Noreturn void become(const struct spawn *spawn, const struct ends *ends,
                             char *const *argv, char *const *env, pid_t parent)
{
    int error;
    bool ready;

    (void)signal(SIGPIPE, SIG_DFL);
    if (spawn->piped)
        ready = setsid() >= 0 && dup2(ends->in[0], STDIN_FILENO) >= 0 &&
                dup2(ends->out[1], STDOUT_FILENO) >= 0 &&
                dup2(ends->err[1], STDERR_FILENO) >= 0;
    else
        ready = setpgid(0, 0) == 0;
    ready = ready &&
            prctl(PR_SET_PDEATHSIG, spawn->piped ? SIGKILL : SIGTERM) == 0 &&
            getppid() == parent;
    if (ready)
        (void)execvpe(spawn->program != NULL ? spawn->program : SELF, argv,
                      env);
    error = errno;
    (void)!write(ends->trouble[1], &error, sizeof error);
    _exit(EXIT_NO_EXEC);
}

/* Words with the program's name before them; the array is the caller's. */
static char **make_argv(const struct spawn *spawn)
{
    static char self[] = "muster";
    size_t count = 0;
    char **argv;

    while (count < WORDS_MAX && spawn->words[count] != NULL)
        count++;
    argv = mem_new(count + 2, sizeof *argv);
    if (argv == NULL)
        return NULL;
    if (spawn->program == NULL)
        argv[0] = self;
    else
        memcpy(&argv[0], &spawn->program, sizeof *argv);
    memcpy(&argv[1], spawn->words, count * sizeof *argv);
    return argv;
}

/* Once it is another program the pipe is closed, and nothing was said. */
static int hear_trouble(int fd)
{
    int error = 0;
    ssize_t got;

    do
        got = read(fd, &error, sizeof error);
    while (got < 0 && errno == EINTR);
    return got == (ssize_t)sizeof error ? error : 0;
}

static void take_ends(const struct ends *ends, pid_t pid,
                      struct spawned *spawned)
{
    *spawned = (struct spawned){.pid = pid,
                                .in = ends->in[1],
                                .out = ends->out[0],
                                .err = ends->err[0]};
    if (spawned->out >= 0)
        (void)fcntl(spawned->out, F_SETFL, O_NONBLOCK);
    if (spawned->err >= 0)
        (void)fcntl(spawned->err, F_SETFL, O_NONBLOCK);
    if (spawned->in >= 0)
        (void)fcntl(spawned->in, F_SETFL, O_NONBLOCK);
}

static enum err fork_it(const struct spawn *spawn, struct ends *ends,
                        char *const *argv, char *const *env,
                        struct spawned *spawned, struct why *why)
{
    const char *name = spawn->program != NULL ? spawn->program : "muster";
    const pid_t parent = getpid();
    const pid_t pid = fork();
    int error;

    if (pid == 0)
        become(spawn, ends, argv, env, parent);
    if (pid < 0)
        return why_set(why, ERR_IO, "cannot start %.80s: %s", name,
                       strerror(errno));
    (void)close(ends->trouble[1]);
    ends->trouble[1] = -1;
    error = hear_trouble(ends->trouble[0]);
    if (error != 0) {
        process_reap(pid);
        return why_set(why, error == ENOENT ? ERR_NOTFOUND : ERR_IO,
                       "cannot start %.80s: %s", name, strerror(error));
    }
    take_ends(ends, pid, spawned);
    ends->in[1] = ends->out[0] = ends->err[0] = -1;
    return ERR_OK;
}

enum err spawn_start(const struct spawn *spawn, struct spawned *spawned,
                     struct why *why)
{
    char **argv = make_argv(spawn);
    /* One variable in the place of what it was, up to its sign. */
    const char *const variable = spawn->variable;
    char **env = program_environment(
        variable, variable == NULL ? 0 : strcspn(variable, "=") + 1, variable);
    struct ends ends;
    enum err err;

    if (argv == NULL || env == NULL)
        err = why_set(why, ERR_NOMEM, "%s", err_text(ERR_NOMEM));
    else if (!open_ends(&ends, spawn->piped))
        err = why_set(why, ERR_IO, "cannot make a pipe: %s", strerror(errno));
    else
        err = fork_it(spawn, &ends, argv, env, spawned, why);
    if (argv != NULL && env != NULL)
        close_ends(&ends);
    mem_free(argv);
    mem_free(env);
    return err;
}

bool spawn_tell(struct spawned *spawned, const void *data, size_t size)
{
    struct sigaction ignore = {.sa_handler = SIG_IGN}, before;
    ssize_t put;

    if (spawned->in < 0)
        return false;
    (void)sigaction(SIGPIPE, &ignore, &before);
    do
        put = write(spawned->in, data, size);
    while (put < 0 && errno == EINTR);
    (void)sigaction(SIGPIPE, &before, NULL);
    return put == (ssize_t)size;
}

void spawn_hush(struct spawned *spawned)
{
    if (spawned->pid != 0 && spawned->in >= 0)
        (void)close(spawned->in);
    spawned->in = -1;
}

size_t spawn_read(int *fd, void *data, size_t size)
{
    ssize_t got;

    if (*fd < 0 || size == 0) /* read() of nothing looks like the end. */
        return 0;
    do
        got = read(*fd, data, size);
    while (got < 0 && errno == EINTR);
    if (got > 0)
        return (size_t)got;
    if (got == 0 || errno != EAGAIN) {
        (void)close(*fd);
        *fd = -1;
    }
    return 0;
}

void spawn_close(struct spawned *spawned)
{
    if (spawned->pid == 0)
        return;
    spawn_hush(spawned);
    if (spawned->out >= 0)
        (void)close(spawned->out);
    if (spawned->err >= 0)
        (void)close(spawned->err);
    *spawned = (struct spawned){0};
}

void spawn_signal(const struct spawned *spawned, int number)
{
    if (spawned->pid > 0)
        (void)kill(spawned->pid, number);
}

void spawn_kill(const struct spawned *spawned)
{
    if (spawned->pid > 0)
        (void)kill(-spawned->pid, SIGKILL);
}

void spawn_wait(const int *fds, size_t count, time_us most_us)
{
    struct pollfd *polled = mem_new(count + 1, sizeof *polled);
    const time_us rounded = (most_us + MS_US - 1) / MS_US;

    for (size_t i = 0; polled != NULL && i < count; i++)
        polled[i] = (struct pollfd){.fd = fds[i], .events = POLLIN};
    (void)poll(polled, polled == NULL ? 0 : (nfds_t)count, (int)rounded);
    mem_free(polled);
}
