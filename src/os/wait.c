#define _GNU_SOURCE
#include "os/wait.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "os/clock.h"

#define PIPE_BYTES (1 << 20)

static_assert(sizeof(sigset_t) <= sizeof((struct waiter *)0)->old_mask,
              "room for a signal mask");
static_assert(WAIT_SIGTERM == SIGTERM, "one number on all Linuxes");

enum err waiter_open(struct waiter *waiter, struct why *why)
{
    sigset_t wanted, old;

    sigemptyset(&wanted);
    sigaddset(&wanted, SIGINT);
    sigaddset(&wanted, SIGTERM);
    sigaddset(&wanted, SIGHUP);
    sigaddset(&wanted, SIGUSR1);
    sigaddset(&wanted, SIGCHLD);
    waiter->fd = signalfd(-1, &wanted, SFD_NONBLOCK | SFD_CLOEXEC);
    if (waiter->fd < 0)
        return why_set(why, ERR_IO, "cannot watch signals: %s",
                       strerror(errno));
    (void)sigprocmask(SIG_BLOCK, &wanted, &old);
    memcpy(waiter->old_mask, &old, sizeof old);
    return ERR_OK;
}

void waiter_close(struct waiter *waiter)
{
    sigset_t old;

    if (waiter->fd <= 0)
        return;
    (void)close(waiter->fd);
    waiter->fd = -1;
    memcpy(&old, waiter->old_mask, sizeof old);
    (void)sigprocmask(SIG_SETMASK, &old, NULL);
}

static int wait_ms(time_us until)
{
    const time_us left = until - clock_now_us();

    if (left <= 0)
        return 0;
    return left > 1000 * SECOND_US ? 1000000
                                   : (int)((left + MS_US - 1) / MS_US);
}

static void take_signals(struct waiter *waiter, struct wake *wake)
{
    struct signalfd_siginfo info;

    while (read(waiter->fd, &info, sizeof info) == (ssize_t)sizeof info) {
        if (info.ssi_signo == SIGCHLD)
            wake->child = true;
        else
            wake->signal = (int)info.ssi_signo;
    }
}

struct wake waiter_wait(struct waiter *waiter, int fd, time_us until)
{
    struct pollfd polled[2] = {{.fd = waiter->fd, .events = POLLIN},
                               {.fd = fd, .events = POLLIN}};
    struct wake wake = {0};

    if (poll(polled, 2, wait_ms(until)) <= 0)
        return wake;
    if (polled[0].revents != 0)
        take_signals(waiter, &wake);
    wake.readable = polled[1].revents != 0;
    return wake;
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

void wait_close(int *fd)
{
    if (*fd >= 0)
        (void)close(*fd);
    *fd = -1;
}
