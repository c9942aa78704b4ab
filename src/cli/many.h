/*
 * many.h - folds and grids: many trainings in this process, watched.
 */
#ifndef CLI_MANY_H
#define CLI_MANY_H

#include "cli/cli.h"
#include "learn/folds.h"

struct many {
    const struct cli *cli;
    struct flag stop;
    time_us began;
    double seconds; /* From many_begin to many_end. */
};

/* Ctrl-C stops them, lines tell of those that take long. */
struct trial_hooks many_begin(struct many *many, const struct cli *cli);
void many_end(struct many *many);

/* cli/cross.c: -v FOLDS. */
int cross_command(struct cli *cli, const struct setup *setup);

/* cli/grid.c: try all and show the table; with FILE, train the best on all
 * rows. */
struct run;
int grid_command(struct run *run);

#endif /* CLI_MANY_H */
