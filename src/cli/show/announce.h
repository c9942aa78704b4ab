/*
 * announce.h - what a run is about to do, on standard error before it begins:
 * the data as they were understood, the model and why it was chosen, what is
 * minimised and how.
 */
#ifndef CLI_ANNOUNCE_H
#define CLI_ANNOUNCE_H

#include "cli/cli.h"
#include "learn/setup.h"

void announce_run(const struct cli *cli, const struct setup *setup);
/* The model and what it is to minimise; `what` goes before. */
void announce_goal(const struct cli *cli, const struct setup *setup,
                   const char *what);

#endif /* CLI_ANNOUNCE_H */
