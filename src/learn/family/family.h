/*
 * family.h - what a training asks of a family of models: linear ones, networks.
 *
 * Labels and rows become a setup, and weights a result, in the same order for
 * all of them; what differs is asked of a row here.
 */
#ifndef LEARN_FAMILY_H
#define LEARN_FAMILY_H

#include "learn/numbers.h"
#include "learn/setup.h"
#include "model/file.h"
#include "node/run/train.h"

struct family {
    bool constant;  /* A column of 1 may be added to the rows: the intercept. */
    bool numbered;  /* Two classes are 0 and 1, as more are; not -1 and 1. */
    bool converges; /* It can be told whether there is more to gain. */
    /* Rows without weight are still drawn: what a training is not to see, it
     * does not get. */
    bool apart;
    /* Where nobody says: rows of a chunk, whether a step is over a batch or
     * over all rows; 0: a share of the batch, and of all rows what
     * dataset_default_chunk_rows says. */
    uint32_t chunk_rows;
    /* Where nobody says: passes, and as many more as make so many steps; 0:
     * steps over all rows are not counted by passes. */
    uint32_t passes, steps_least;
    /* What is chosen where nobody says, before rows are read; may be NULL. */
    enum err (*begin)(struct recipe *recipe, struct why *why);
    /* The name of the model that the labels ask for; NULL: they do not say. */
    const char *(*model)(const struct setup *setup);
    /* Rows and labels are known: does it fit them?  May be NULL. */
    enum err (*build)(struct setup *setup, const struct recipe *recipe,
                      struct why *why);
    /* The optimiser where the user names none. */
    const char *(*optimiser)(const struct setup *setup,
                             const struct recipe *recipe);
    enum err (*numbers)(const struct setup *setup, const struct recipe *recipe,
                        struct pool *pool, struct numbers *numbers,
                        struct why *why);
    /* Weights of a training's state. */
    uint32_t (*dims)(const struct setup *setup);
    /* Version of its arithmetic: golden.h. */
    const char *(*profile)(const struct setup *setup);
    /* What else decides its bits; may be NULL. */
    void (*digest)(const struct setup *setup, struct hasher *hasher);
    /* Of any rows with the columns of setup->data, one for each output.
     * ERR_NOMEM; ERR_RANGE: one is not finite. */
    enum err (*scores)(const struct setup *setup, const struct dataset *data,
                       struct pool *pool, const double *w, double *z);
    /* As setup_measure, of rows that are here.  ERR_NOMEM, ERR_RANGE. */
    enum err (*measure)(const struct setup *setup, const struct dataset *data,
                        const double *w, struct metrics *metrics);
    /* Of those metrics, what a training minimises, but for the penalty. */
    double (*loss)(const struct setup *setup, const struct metrics *metrics);
    /* The outputs and weights of a model's file.  ERR_NOMEM. */
    enum err (*fill)(const struct setup *setup, const double *w,
                     struct model_file *model);
    /* What names these weights. */
    struct digest (*hash)(const struct setup *setup, const double *w);
    /* As fit_settle. */
    enum err (*settle)(const struct setup *setup, struct pool *pool,
                       struct train_result *result);
};

extern const struct family linear_family, net_family;

#endif /* LEARN_FAMILY_H */
