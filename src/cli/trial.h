/*
 * trial.h - many trainings side by side, each judged on rows it did not see.
 *
 *     plan       which rows are left out when, and who is judged
 *     trial      one choice of options, trained once for every fold
 *
 * Rows are left out by a weight of 0 on a copy of the weights alone: the data
 * are shared by all threads, whatever their storage, and a fold costs 8 bytes a
 * row.  Where the rows were encoded (scaled, filled in, one-hot), what was
 * fitted must not have seen the rows that are left out: each fold then has its
 * own encoder and rows, one copy for each thread at a time.  Every training
 * runs on one thread and its sums are exact, so that results depend neither on
 * the number of threads nor on who came first.
 */
#ifndef CLI_TRIAL_H
#define CLI_TRIAL_H

#include <stdbool.h>
#include <stdint.h>

#include "cli/cli.h"
#include "learn/setup.h"

#define PLAN_NEVER UINT32_MAX

struct plan {
    uint32_t folds;
    uint32_t *fold_of; /* The fold that leaves the row out, or PLAN_NEVER. */
    /* Judged by every training; NULL: each judges the rows it left out. */
    const struct dataset *judge;
};

/* `folds` parts of nearly equal size, drawn from the seed; of classes each has
 * its share of every one. */
MUST_CHECK enum err plan_folds(struct plan *plan, const struct setup *setup,
                               uint32_t folds, uint64_t seed, struct why *why);
/* One training, judged on a part of the rows, with its share of every class. */
MUST_CHECK enum err plan_part(struct plan *plan, const struct setup *setup,
                              double part, uint64_t seed, struct why *why);
/* One training on all rows, judged on another set. */
MUST_CHECK enum err plan_other(struct plan *plan, const struct setup *setup,
                               const struct dataset *judge, struct why *why);
void plan_close(struct plan *plan);

struct fold {
    struct metrics metrics;
    uint32_t steps;
    double objective; /* As shown: numbers.h. */
    double seconds;
    enum err err;
    struct why why;
};

struct trial {
    struct options options;
    enum model_kind model;
    char text[128];         /* What is special: "c=0.1 lr=1". */
    double *scores;         /* Of the judged rows, one for each output. */
    struct fold *fold;      /* plan.folds of them. */
    struct metrics metrics; /* Over all judged rows. */
    uint64_t steps;         /* Of all folds. */
};

/* Room for the results; `options` and `model` are set by the caller. */
MUST_CHECK enum err trial_init(struct trial *trial, const struct setup *setup,
                               const struct plan *plan);
void trial_close(struct trial *trial);

/* Train and judge all.  Fails with the first error in the order of the trials,
 * whatever came first in time. */
MUST_CHECK enum err trials_run(const struct cli *cli, const struct setup *setup,
                               const struct plan *plan, struct trial *trials,
                               uint32_t count, struct why *why);

/* cli/cross.c: -v FOLDS. */
int cross_command(struct cli *cli, const struct setup *setup);

/* cli/grid.c: --grid. */
struct run;

/* Is the text of --grid well formed, its keys and values known? */
MUST_CHECK enum err grid_check(const struct options *options, struct why *why);
/* Try all and show the table; with FILE, train the best on all rows. */
int grid_command(struct run *run);

#endif /* CLI_TRIAL_H */
