/*
 * streams.c - standard streams that are closed, held so that no socket of ours
 * gets their number.
 */
#include "os/run/streams.h"

#include <fcntl.h>
#include <unistd.h>

unsigned streams_hold(void)
{
    /* The wrong way round: a write to what was closed fails still. */
    static const int mode[] = {O_WRONLY, O_RDONLY, O_RDONLY};
    unsigned held = 0;

    for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
        if (fcntl(fd, F_GETFD) < 0 &&
            open("/dev/null", mode[fd] | O_CLOEXEC) == fd)
            held |= 1U << fd;
    return held;
}

void streams_release(unsigned held)
{
    for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
        if ((held >> fd & 1U) != 0)
            (void)close(fd);
}
