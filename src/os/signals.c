#define _GNU_SOURCE
#include "os/signals.h"

#include <assert.h>
#include <signal.h>
#include <string.h>

static const int touched[] = {SIGINT,  SIGTERM, SIGHUP,
                              SIGUSR1, SIGCHLD, SIGPIPE};

#define TOUCHED (sizeof touched / sizeof *touched)

static_assert(TOUCHED * sizeof(struct sigaction) <= sizeof(struct signals),
              "room for all actions");

void signals_keep(struct signals *signals)
{
    struct sigaction actions[TOUCHED];
    struct sigaction ignore = {.sa_handler = SIG_IGN};

    memset(signals, 0, sizeof *signals);
    for (size_t i = 0; i < TOUCHED; i++)
        (void)sigaction(touched[i], NULL, &actions[i]);
    memcpy(signals->kept, actions, sizeof actions);
    (void)sigaction(SIGPIPE, &ignore, NULL);
}

void signals_restore(const struct signals *signals)
{
    struct sigaction actions[TOUCHED];

    memcpy(actions, signals->kept, sizeof actions);
    for (size_t i = 0; i < TOUCHED; i++)
        (void)sigaction(touched[i], &actions[i], NULL);
}

void signals_block_all(void)
{
    sigset_t all;

    sigfillset(&all);
    (void)pthread_sigmask(SIG_BLOCK, &all, NULL);
}
