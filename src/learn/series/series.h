/*
 * series.h - the trainings of folds and grids on workers, one after the other.
 *
 * Each is a run of its own, in a folder of its own under the series', with all
 * workers; they stand at one door, which is open from the first training to the
 * last.  While the workers of one begin, the model of the one before is judged
 * here.  What is over is in the logbook, and is not made again.  Whoever dies
 * in a training is dealt with as in any run; if this process dies, the next one
 * goes on with the training at hand.
 *
 *     DIR/series, DIR/scores-T-F    logbook.h
 *     DIR/trial-T-F/                journal and checkpoints of the one at hand,
 *                                   and of the one that is being judged
 */
#ifndef LEARN_SERIES_H
#define LEARN_SERIES_H

#include "base/flag.h"
#include "learn/absent.h"
#include "learn/folds.h"
#include "learn/series/logbook.h"
#include "node/fixed/alone.h"

struct series_options {
    struct setup *setup; /* Its door is opened, and stays so. */
    const struct recipe *recipe;
    const char *folder; /* Ours, once it is ready. */
    bool more;          /* Another run follows at the door when all are over. */
    struct absent *absent; /* Of the trainings, and of that run. */
    const struct flag *stop;

    void *context;
    /* Makes the folder ready; NULL: it is.  All that is written there is
     * synced, and while the disk is waited for the rows are hashed. */
    enum err (*ready)(void *context, struct why *why);

    /* Who looks on; any may be NULL. */
    /* A training begins, with the setup it has; `over` of `count` are over. */
    void (*begin)(void *context, const struct setup *part, uint32_t over,
                  uint32_t count);
    /* As train_options.watch. */
    void (*trace)(void *context, const struct trace *trace);
};

struct series;

/* Of trainings, in the folder; those of the logbook are its own. */
extern const struct names series_names;

MUST_CHECK enum err series_open(const struct series_options *options,
                                struct series **series, struct why *why);
void series_close(struct series *series); /* Accepts NULL. */

/* What is trained, before anything else is asked: the logbook is opened. */
MUST_CHECK enum err series_plan(struct series *series,
                                const struct folds *folds,
                                const struct trial *trials, uint32_t count,
                                struct why *why);
struct logbook *series_logbook(const struct series *series);

/* For the next training: what of the one before is left to be done.  It is
 * called once the workers have begun, or not at all. */
void series_meanwhile(struct series *series, const struct meanwhile *left);

/* One training of `part`; after the last no other one follows.  ERR_CANCELLED:
 * it was told to stop, its state is saved.  ERR_RANGE: it diverged, and not
 * that it gave up with its state saved, which is ERR_UNDECODABLE. */
MUST_CHECK enum err series_train(struct series *series,
                                 const struct setup *part,
                                 const struct trial *trial, uint32_t fold,
                                 bool last, struct alone_result *result,
                                 struct why *why);
/* It is over, and what it came to as well. */
MUST_CHECK enum err series_done(struct series *series,
                                const struct entry *entry, const double *scores,
                                size_t count, struct why *why);

/* Of one that is over: its run's files, which a kill may have left. */
void series_forget(const struct series *series, uint32_t trial, uint32_t fold);

/* ERR_CANCELLED, with the sentence that says what is kept. */
enum err series_stopped(const struct series *series, struct why *why);
/* The signal that stopped it; 0: none. */
int series_signal(const struct series *series);

#endif /* LEARN_SERIES_H */
