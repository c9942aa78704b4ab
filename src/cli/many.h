/*
 * many.h - folds and grids: many trainings, watched; in this process side by
 * side, or with workers one after the other.
 */
#ifndef CLI_MANY_H
#define CLI_MANY_H

#include "cli/cli.h"
#include "core/run/names.h"
#include "learn/folds.h"

struct run;

struct many {
    struct run *run;
    struct trial_hooks hooks;
    struct flag stop;
    struct series *series; /* NULL: without workers. */
    time_us began;
    double seconds; /* From many_begin to many_end. */
};

/* Ctrl-C stops them, lines tell of those that take long.  After any outcome
 * many_end and, last of all, many_close. */
MUST_CHECK enum err many_begin(struct many *many, struct run *run,
                               struct why *why);
void many_end(struct many *many);
/* Say why they failed, or that they were stopped: the exit status. */
int many_failed(const struct many *many, enum err err, const struct why *why);
void many_close(struct many *many);

/* What a search with workers came to, in its folder, for `muster status`; of
 * one whose best is trained on all rows that training tells. */
#define SEARCH_FILE "search.json"
extern const struct names many_names;
void many_keep(const struct run *run, const struct trial *best,
               uint32_t trainings);

/* What there is to say of the workers. */
void many_json(const struct run *run, json_t *object);

/* cli/cross.c: -v FOLDS. */
int cross_command(struct run *run);

/* cli/grid.c: try all and show the table; with FILE, train the best on all
 * rows. */
int grid_command(struct run *run);

#endif /* CLI_MANY_H */
