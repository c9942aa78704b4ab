/*
 * folds.h - many trainings side by side, each judged on rows it did not see.
 *
 *     folds      which rows are left out when, and who is judged
 *     trial      one recipe, trained once for every fold
 *
 * Rows are left out by a weight of 0 on a copy of the weights alone: the data
 * are shared by all threads, whatever their storage, and a fold costs 8 bytes a
 * row.  Where the rows were encoded (scaled, filled in, one-hot), what was
 * fitted must not have seen the rows that are left out: each fold then has its
 * own encoder and rows, one copy for each thread at a time.  So has a network,
 * whose batches are drawn from the rows it is taught alone.  Every training
 * runs on one thread and its sums are exact, so that results depend neither on
 * the number of threads nor on who came first.
 */
#ifndef LEARN_FOLDS_H
#define LEARN_FOLDS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/flag.h"
#include "learn/family/constant.h"
#include "learn/setup.h"

#define FOLD_NEVER UINT32_MAX

struct folds {
    uint32_t count;
    uint32_t *of; /* The fold that leaves the row out, or FOLD_NEVER. */
    /* Judged by every training; NULL: each judges the rows it left out. */
    const struct dataset *judge;
};

/* `count` parts of nearly equal size, drawn from the seed; of classes each has
 * its share of every one. */
MUST_CHECK enum err folds_draw(struct folds *folds, const struct setup *setup,
                               uint32_t count, uint64_t seed, struct why *why);
/* One training, judged on a part of the rows, with its share of every class. */
MUST_CHECK enum err folds_part(struct folds *folds, const struct setup *setup,
                               double part, uint64_t seed, struct why *why);
/* One training on all rows, judged on another set. */
MUST_CHECK enum err folds_other(struct folds *folds, const struct setup *setup,
                                const struct dataset *judge, struct why *why);
void folds_close(struct folds *folds);

struct fold {
    struct metrics metrics;
    uint32_t steps;
    double objective; /* As shown: numbers.h. */
    double seconds;
    struct digest hash; /* Of the model. */
    enum optim_end end;
    char nothing[CONSTANT_TEXT]; /* Of one that learnt nothing: what is said. */
    enum err err;
    bool diverged; /* Its numbers ran away, which is ERR_RANGE. */
    struct why why;
};

struct trial {
    struct recipe recipe;
    enum model_kind model;
    struct setup *staff; /* Who trains it (series/staff.h); NULL: as all. */
    char text[128];      /* What is special: "c=0.1 lr=1". */
    double *scores;      /* Of the judged rows, one for each output. */
    struct fold *fold;   /* `folds` of them. */
    uint32_t folds;
    struct metrics metrics; /* Over all judged rows. */
    uint64_t steps;         /* Of all folds, ... */
    double seconds;         /* ... and how long they took. */
    bool diverged;          /* Some fold did: there are no metrics. */
};

/* Room for the results; `recipe` and `model` are set by the caller. */
MUST_CHECK enum err trial_init(struct trial *trial, const struct setup *setup,
                               const struct folds *folds);
void trial_close(struct trial *trial);

/* Scores of one row. */
uint32_t trial_outputs(const struct setup *setup, const struct trial *trial);

struct series;

/* Who looks on; any may be NULL. */
struct trial_hooks {
    void *context;
    /* A training is over; other threads call, too. */
    void (*done)(void *context, const struct trial *trial, uint32_t fold);
    const struct flag *stop; /* Once raised: ERR_CANCELLED. */
    /* Workers do them, one after the other (learn/series/series.h); NULL: this
     * process does, side by side. */
    struct series *series;
};

/* Train and judge all.  Fails with the first error in the order of the trials,
 * whatever came first in time; that one of them diverged is none unless all
 * did. */
MUST_CHECK enum err trials_run(const struct setup *setup,
                               const struct folds *folds, struct trial *trials,
                               uint32_t count, const struct trial_hooks *hooks,
                               struct why *why);

/* OPT_FOLDS folds drawn from OPT_SEED, and one trial of the recipe, for
 * trials_run.  Both are zeroed before, and closed by the caller after any
 * outcome. */
MUST_CHECK enum err folds_prepare(const struct setup *setup,
                                  const struct recipe *recipe,
                                  struct folds *folds, struct trial *trial,
                                  struct why *why);
/* Cross-validation, all at once: both of these. */
MUST_CHECK enum err folds_validate(const struct setup *setup,
                                   const struct recipe *recipe,
                                   const struct trial_hooks *hooks,
                                   struct folds *folds, struct trial *trial,
                                   struct why *why);

#endif /* LEARN_FOLDS_H */
