#define _GNU_SOURCE
/*
 * wait.c - a supervisor's poll: a pipe, signals and the end of a child, without
 * an event loop whose state a fork would copy.
 */
#include "os/run/wait.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/check.h"
#include "os/clock.h"

#define PIPE_BYTES (1 << 20)
#define LOOK_US    (10 * MS_US) /* How often children are looked at, ... */
#define HASTE_US   MS_US        /* ... and if nothing else is waited for. */

static const int taken[] = {SIGINT, SIGTERM, SIGHUP, SIGUSR1, SIGCHLD};

#define TAKEN (sizeof taken / sizeof *taken)

static_assert(TAKEN * sizeof(struct sigaction) <=
                  sizeof((struct waiter *)0)->kept,
              "room for all actions");
static_assert(WAIT_SIGTERM == SIGTERM, "one number on all Linuxes");

/* For the handler, which any thread of the process may run.  One waiter is open
 * at a time. */
static atomic_int came, came_fd = -1, handling;

static void on_signal(int number)
{
    const int error = errno;

    atomic_fetch_add(&handling, 1);
    atomic_store(&came, number);
    wait_give(atomic_load(&came_fd));
    atomic_fetch_sub(&handling, 1);
    errno = error;
}

/* Who ignores SIGCHLD is not told how a child ended. */
static bool reaps_unseen(const struct sigaction *action)
{
    return action->sa_handler == SIG_IGN ||
           (action->sa_flags & SA_NOCLDWAIT) != 0;
}

/* A handler of the host's for its own children stays; what is ignored, too, as
 * nohup and `&` in a script ask for.  But SIGTERM and SIGUSR1 must be heard. */
static void take_over(int number, const struct sigaction *before)
{
    const struct sigaction ours = {.sa_handler = on_signal,
                                   .sa_flags = SA_RESTART};
    const struct sigaction plain = {.sa_handler = SIG_DFL};

    if (number == SIGCHLD && reaps_unseen(before))
        (void)sigaction(number, &plain, NULL);
    else if (number != SIGCHLD && !((number == SIGHUP || number == SIGINT) &&
                                    before->sa_handler == SIG_IGN))
        (void)sigaction(number, &ours, NULL);
}

enum err waiter_open(struct waiter *waiter, struct why *why)
{
    struct sigaction before[TAKEN];

    waiter->fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
    if (waiter->fd < 0)
        return why_set(why, ERR_IO, "cannot watch signals: %s",
                       strerror(errno));
    waiter->told = 0;
    atomic_store(&came, 0);
    atomic_store(&came_fd, waiter->fd);
    for (size_t i = 0; i < TAKEN; i++) {
        (void)sigaction(taken[i], NULL, &before[i]);
        take_over(taken[i], &before[i]);
    }
    memcpy(waiter->kept, before, sizeof before);
    return ERR_OK;
}

int waiter_close(struct waiter *waiter)
{
    struct sigaction before[TAKEN];

    if (waiter->fd < 0)
        return 0;
    memcpy(before, waiter->kept, sizeof before);
    for (size_t i = 0; i < TAKEN; i++) {
        (void)sigaction(taken[i], &before[i], NULL);
        /* What of the host's ended meanwhile the kernel would have reaped. */
        if (taken[i] == SIGCHLD && reaps_unseen(&before[i]))
            while (waitpid(-1, NULL, WNOHANG) > 0)
                continue;
    }
    /* A thread that is in the handler yet must not write to what gets the
     * number next. */
    atomic_store(&came_fd, -1);
    while (atomic_load(&handling) > 0)
        (void)sched_yield();
    (void)close(waiter->fd);
    waiter->fd = -1;
    return atomic_exchange(&came, 0);
}

static int wait_ms(time_us until, time_us most)
{
    const time_us left = until - clock_now_us();

    if (left <= 0)
        return 0;
    return (int)(((left < most ? left : most) + MS_US - 1) / MS_US);
}

/* One call for all children, ours or not, that reaps none.  Without any, the
 * host has reaped ours. */
static bool some_child_ended(void)
{
    siginfo_t info = {0};

    return waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) != 0 ||
           info.si_pid != 0;
}

/* An echo of the signal told last is none: see WAIT_ECHO_US. */
static void take_signal(struct waiter *waiter, struct wake *wake)
{
    const time_us now = clock_now_us();
    uint64_t times;
    int number;

    if (read(waiter->fd, &times, sizeof times) != (ssize_t)sizeof times)
        return;
    number = atomic_exchange(&came, 0);
    if (number == 0 ||
        (number == waiter->told && now - waiter->told_at < WAIT_ECHO_US))
        return;
    waiter->told = number;
    waiter->told_at = now;
    wake->signal = number;
}

struct wake waiter_wait_any(struct waiter *waiter, const int *fds,
                            uint32_t count, time_us until)
{
    struct pollfd polled[WAIT_PIPES + 1] = {
        {.fd = waiter->fd, .events = POLLIN}};
    time_us most = HASTE_US;
    struct wake wake = {0};

    CHECK(count <= WAIT_PIPES);
    for (uint32_t i = 0; i < count; i++) {
        polled[i + 1] = (struct pollfd){.fd = fds[i], .events = POLLIN};
        if (fds[i] >= 0)
            most = LOOK_US;
    }
    if (poll(polled, count + 1, wait_ms(until, most)) > 0) {
        take_signal(waiter, &wake);
        for (uint32_t i = 1; i <= count; i++)
            wake.readable = wake.readable || polled[i].revents != 0;
    }
    wake.child = some_child_ended();
    return wake;
}

struct wake waiter_wait(struct waiter *waiter, int fd, time_us until)
{
    return waiter_wait_any(waiter, &fd, 1, until);
}

enum err wait_passes(int *fd, struct why *why)
{
    *fd = eventfd(0, EFD_SEMAPHORE | EFD_CLOEXEC);
    if (*fd < 0)
        return why_set(why, ERR_IO, "cannot make an event: %s",
                       strerror(errno));
    return ERR_OK;
}

void wait_give(int fd)
{
    const uint64_t one = 1;

    while (write(fd, &one, sizeof one) < 0 && errno == EINTR)
        continue;
}

void wait_take(int fd)
{
    uint64_t one;

    while (read(fd, &one, sizeof one) < 0 && errno == EINTR)
        continue;
}

enum err wait_pipe(int *reader, int *writer, struct why *why)
{
    int fds[2];

    if (pipe2(fds, O_CLOEXEC) != 0)
        return why_set(why, ERR_IO, "cannot make a pipe: %s", strerror(errno));
    (void)fcntl(fds[0], F_SETFL, O_NONBLOCK);
    (void)fcntl(fds[0], F_SETPIPE_SZ, PIPE_BYTES);
    *reader = fds[0];
    *writer = fds[1];
    return ERR_OK;
}

size_t wait_read(int fd, void *data, size_t capacity, bool *ended)
{
    const ssize_t got = read(fd, data, capacity);

    *ended = got == 0 || (got < 0 && errno != EAGAIN && errno != EINTR);
    return got > 0 ? (size_t)got : 0;
}

void wait_write(int fd, const void *data, size_t size)
{
    const char *at = data;

    while (size > 0) {
        const ssize_t put = write(fd, at, size);

        if (put < 0 && errno != EINTR)
            return;
        at += put > 0 ? put : 0;
        size -= put > 0 ? (size_t)put : 0;
    }
}

void wait_close(int *fd)
{
    if (*fd >= 0)
        (void)close(*fd);
    *fd = -1;
}
