#define _GNU_SOURCE
/*
 * signals.c - signals and standard streams of a host program, kept and
 * restored: the library may be a guest in a process that has handlers and
 * threads of its own.
 */
#include "os/run/signals.h"

#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <unistd.h>

#include "os/run/streams.h"

static const int touched[] = {SIGINT,  SIGTERM, SIGHUP, SIGUSR1,
                              SIGCHLD, SIGPIPE, SIGXFSZ};

#define TOUCHED (sizeof touched / sizeof *touched)

/* What they did before the first guest came; threads may be several. */
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static struct sigaction kept[TOUCHED];
static unsigned guests, held;

bool signals_ignored(int number)
{
    struct sigaction action;

    return sigaction(number, NULL, &action) == 0 &&
           action.sa_handler == SIG_IGN;
}

void signals_keep(void)
{
    const struct sigaction ignore = {.sa_handler = SIG_IGN};

    pthread_mutex_lock(&mutex);
    if (guests++ == 0) {
        held = streams_hold();
        for (size_t i = 0; i < TOUCHED; i++)
            (void)sigaction(touched[i], NULL, &kept[i]);
        (void)sigaction(SIGPIPE, &ignore, NULL);
        (void)sigaction(SIGXFSZ, &ignore, NULL); /* A write fails instead. */
    }
    pthread_mutex_unlock(&mutex);
}

void signals_restore(void)
{
    pthread_mutex_lock(&mutex);
    if (--guests == 0) {
        streams_release(held);
        for (size_t i = 0; i < TOUCHED; i++)
            (void)sigaction(touched[i], &kept[i], NULL);
    }
    pthread_mutex_unlock(&mutex);
}

void signals_give_back(int number)
{
    struct sigaction action;

    if (number != 0 && sigaction(number, NULL, &action) == 0 &&
        action.sa_handler != SIG_DFL)
        (void)kill(getpid(), number);
}

void signals_own(void)
{
    sigset_t none;

    (void)signal(SIGXFSZ, SIG_IGN);
    sigemptyset(&none);
    (void)pthread_sigmask(SIG_SETMASK, &none, NULL);
}
