/*
 * grid.h - `train --grid "c=0.1,1 lr=0.5,1"`: all combinations at once.
 *
 *     axis          key  value value ...        one word of the text
 *     combination   one value of each axis; the last axis turns fastest
 *
 * Each is a copy of the recipe with its values set, so that whatever an option
 * means for a run it means here.  Judged by -v FOLDS, by --valid, or by a fifth
 * of the rows.
 */
#ifndef LEARN_GRID_H
#define LEARN_GRID_H

#include "learn/folds.h"

#define GRID_AXES_MAX 8u
#define GRID_TEXT_MAX 4096u

struct axis {
    int id;
    const char *key;    /* As typed. */
    const char *values; /* Texts one after the other, each with its NUL. */
    uint32_t count;
};

struct grid {
    char text[GRID_TEXT_MAX]; /* Cut into words in place. */
    struct axis axis[GRID_AXES_MAX];
    uint32_t axes;
    uint32_t count; /* Of combinations: product of the counts. */
    /* Made by grid_prepare: */
    struct folds folds;
    struct trial *trial; /* One for each combination. */
    uint32_t *order;     /* The best first. */
};

/* Is the text of OPT_GRID well formed, its keys and values known?  If it tries
 * numbers of workers, the most of them are the recipe's. */
MUST_CHECK enum err grid_check(struct recipe *recipe, struct why *why);

/* The text, over anything; close what it made. */
MUST_CHECK enum err grid_parse(struct grid *grid, const char *text,
                               struct why *why);
/* What is to be trained: all that can be wrong with options, labels and rows is
 * told here, before a run is in the folder, and before there is a worker or
 * a hash of the rows. */
MUST_CHECK enum err grid_prepare(struct grid *grid, const struct setup *setup,
                                 const struct recipe *recipe, struct why *why);
/* Train and judge all. */
MUST_CHECK enum err grid_search(struct grid *grid, const struct setup *setup,
                                const struct trial_hooks *hooks,
                                struct why *why);
/* Make the best combination that of setup and recipe, for all rows. */
MUST_CHECK enum err grid_take_best(const struct grid *grid, struct setup *setup,
                                   struct recipe *recipe, struct why *why);
/* Have those that differ in the number of workers alone the same models? */
bool grid_same_models(const struct grid *grid);
void grid_close(struct grid *grid); /* Zeroed is safe. */

#endif /* LEARN_GRID_H */
