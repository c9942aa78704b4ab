/*
 * fit.h - one training of a checked setup: in this process, which is what one
 * perfect machine computes, or with workers; same bits.
 *
 * Nothing is printed and no signal is caught: who looks on does that.
 *
 *     setup_workers, setup_load  -->  fit_run  -->  fit_settle  -->  save.h
 */
#ifndef LEARN_FIT_H
#define LEARN_FIT_H

#include "base/flag.h"
#include "learn/absent.h"
#include "learn/setup.h"
#include "node/run/train.h"

struct keep;
struct collective;

struct fit {
    const struct setup *setup;
    const struct recipe *recipe; /* fit_alone: NULL is no limit on time. */
    const struct flag *stop; /* Once raised: end, the state saved.  Or NULL. */

    /* Who looks on; any may be NULL. */
    void *context;
    /* In one process, after each round; false ends the run there. */
    bool (*step)(void *context, const struct optim *optim);
    /* With workers: as train_options.watch. */
    void (*trace)(void *context, const struct trace *trace);
    bool stints; /* Trace what everybody did from when to when. */

    /* With workers: as in train_options. */
    bool gathered, more, passing;
    struct meanwhile meanwhile;
    struct absent *absent; /* Of many trainings; NULL: of this one alone. */

    /* In this process and others that do the same (node/fixed/ranks.h); NULL:
     * in this one alone.  One of them has the folder. */
    const struct collective *ranks;

    /* With workers: the run's folder; NULL: one that is gone afterwards. */
    const char *folder;
    /* In one process: make the folder for the state, when it is first saved;
     * NULL: it is not kept.  And: it was saved.  With `stays` that is after the
     * first step, and after the last. */
    bool stays;
    enum err (*keep_in)(void *context, const char **folder, struct why *why);
    enum err (*kept)(void *context, struct why *why);
    /* It is a run of this setup that is gone on with, and held; or NULL. */
    void (*resumed)(void *context);

    /* Made by fit_alone, closed by fit_close. */
    struct keep *keep;    /* NULL: the state was not saved yet. */
    struct why keep_why;  /* Why it could not be, last. */
    time_us best_step_us; /* The shortest step. */
};

/* Where the recipe names a folder (OPT_OUT) that has a run already, it is gone
 * on with. */
MUST_CHECK enum err fit_go_on(struct recipe *recipe, struct why *why);
/* The result's weights lie as the columns of setup->data do; it is closed with
 * train_result_close after any outcome. */
MUST_CHECK enum err fit_run(struct fit *fit, struct train_result *result,
                            struct why *why);
/* In this process even if the setup has workers. */
MUST_CHECK enum err fit_alone(struct fit *fit, struct train_result *result,
                              struct why *why);
void fit_close(struct fit *fit);

/* Make result->outcome that of result->weights, and judge it.  ERR_NOMEM: it
 * stays that of the point before. */
MUST_CHECK enum err fit_settle(const struct setup *setup,
                               struct train_result *result);
bool fit_diverged(const struct train_result *result);
/* Did early stopping end it without one loss that is finite?  Nothing says then
 * which of its weights are any good. */
bool fit_blind(const struct train_result *result);

#endif /* LEARN_FIT_H */
