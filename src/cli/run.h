/*
 * run.h - one training run from a checked setup, in either form.
 */
#ifndef CLI_RUN_H
#define CLI_RUN_H

#include <stdbool.h>

#include "base/flag.h"
#include "cli/cli.h"
#include "cli/reading.h"
#include "cli/report/recorder.h"
#include "cli/report/trace_file.h"
#include "cli/show/curve.h"
#include "cli/show/history.h"
#include "cli/show/screen.h"
#include "learn/card/model_card.h"
#include "learn/fit.h"
#include "learn/setup.h"
#include "learn/watch/progress.h"
#include "os/run/thread.h"

#define RUN_NAME_SIZE 64u

struct run {
    struct cli *cli;
    struct setup *setup;
    struct screen screen;
    struct progress progress;
    struct recorder recorder; /* --record. */
    struct trace_file trace;  /* --trace. */
    char out[RUN_PATH_SIZE];  /* "" when nothing is kept. */
    bool fresh;               /* There was no such folder. */
    bool made;                /* It was made, or found to be ours. */
    bool launched;            /* A launcher's: LAUNCH_FILE goes with it. */
    bool latest;              /* `latest` leads to it. */
    bool left_by_ranks;       /* An MPI's began it, and none is here. */
    struct gate
        gate; /* Who holds it changes the folder, until rows are read. */
    int lock; /* Of the folder, until others have it; or -1. */
    struct reading reading; /* While rows are. */
    struct history history;
    struct curve curve;
    char history_path[RUN_PATH_SIZE + 32];
    time_us history_at;      /* When it was last written, ... */
    time_us history_cost_us; /* ... how long that took, ... */
    uint32_t history_died;   /* ... and how many deaths were in it. */
    double *ended; /* --resume of a run that was over: its weights ... */
    uint32_t ended_dims, ended_steps; /* ... then. */
    bool said;                        /* run_keep_said was asked. */
    bool announced;                   /* The join line was printed. */
    bool gathered;    /* Workers are here from another run: fit.h. */
    struct flag stop; /* A signal came. */
    struct fit fit;
    struct absent absent; /* Of a search, and of the training after it. */
    time_us judged_at;    /* When the validation set was last looked at ... */
    time_us judged_us;    /* ... and how long that took. */
    struct model_card_metrics metrics; /* Of the model that it ended with. */
};

/* Both ways to run hold signals if there is a model to save, until
 * run_settle. */

/* In this process; `keeps`: its state is saved now and then. */
MUST_CHECK enum err run_alone(struct run *run, bool keeps,
                              struct train_result *result, struct why *why);
/* With processes.  `run->out` is made; the result's weights are the caller's.
 */
MUST_CHECK enum err run_cluster(struct run *run, struct train_result *result,
                                struct why *why);

/* Rows that nobody asked for would give a model of nothing. */
MUST_CHECK enum err run_check_data(const struct options *options,
                                   struct why *why);

/* In the environment of a training that a launcher has started: the words by
 * which it is started again, up to `train`. */
#define LAUNCHED_BY "MUSTER_LAUNCHED_BY"

/* For every command that lets others join: may it listen there?  And, once the
 * coordinator does, what to type on the other machines, or, where the key is
 * the run's own, on this one; false: not yet. */
MUST_CHECK enum err cluster_check_listen(const struct options *options,
                                         struct why *why);
bool cluster_announce(const struct cli *cli, const char *folder, bool hollow);

/* What is on the screen of a run with workers: how many of them, with what
 * code, how many steps.  And, of each event and tick: the line for those who
 * would join, once; the picture.  Before another run begins, what was seen of
 * the last one is forgotten. */
void run_forget(struct run *run);
void run_describe(struct run *run, const struct setup *setup);
void run_see(struct run *run, const struct trace *trace);

/* The end of both. */
void run_hold(enum err err, const struct train_result *result);

/* A run that --max-time ended is done; one that somebody stopped before is
 * not. */
bool run_is_done(const struct train_result *result);
/* Its weights are not worth a file, or nobody knows whether they are; say so,
 * if it is. */
bool run_is_bad(const struct train_result *result);
void run_tell_bad(const struct train_result *result);
/* Judge and measure a model, write it and its card as --save says, and let
 * signals come.  `path`: the file, NULL if there is none to be. */
MUST_CHECK enum err run_settle(struct run *run, struct train_result *result,
                               const char **path, struct why *why);

/* What the screen says of the steps to make. */
void run_show_steps(struct run *run, const struct optim_options *optim);

/* Where the run's files go: --resume, --out, or a new folder's name.  Nothing
 * is made.  ERR_EXISTS if there is a run already and --resume was not given.
 * With --resume and no data, the run's own options are read. */
MUST_CHECK enum err run_choose_folder(struct run *run, struct why *why);

/* Make it, once; of a name that was drawn it is one that nobody had made. */
MUST_CHECK enum err run_make_folder(struct run *run, struct why *why);
/* The same, and hold it: while rows are read, no other run begins there. */
MUST_CHECK enum err run_take_folder(struct run *run, struct why *why);
/* It was not needed. */
void run_leave_folder(struct run *run);
/* The process ends with its door open: nobody is there any more, and who held
 * the folder does not keep it from being closed. */
void run_shut_door(const struct run *run);
/* The same, with the run's options in it. */
MUST_CHECK enum err run_open_folder(struct run *run, struct why *why);
/* With --resume, once it is sure that the run is the same: what is said now
 * holds for the next --resume, too.  The folder is ours then.  If the disk
 * fails, that is told, and the run goes on. */
void run_keep_said(struct run *run);
/* Once there is something to go on from, it is the last run: before, --resume
 * would find nothing, and hide the run before it. */
MUST_CHECK enum err run_point_latest(struct run *run, struct why *why);
/* Undo that, if the run was never begun and the folder was made for it. */
void run_close_folder(const struct run *run);
/* Is the folder of a run without workers one that somebody named, as its rank 0
 * wants it to be kept? */
bool run_stays(const struct run *run);
/* A run in one process is over, and its model safe: remove its state. */
void run_discard(struct run *run);

/* cli/show/history_file.c: where to, the file (`result` may be NULL), and now
 * and then during the run. */
void history_choose(struct run *run);
void history_write(const struct run *run, json_t *result);
void history_tick(struct run *run, time_us now);
/* Who is the coordinator now?  One may be gone before the first tick. */
void history_look(struct run *run);

/* Settings that --demo implies, where the user did not say otherwise. */
MUST_CHECK enum err demo_settings(struct options *options, bool terminal,
                                  struct why *why);
struct card;

/* The result as `train --format json` prints it. */
json_t *result_json(const struct run *run, const struct train_result *result,
                    const char *saved);
/* The result on standard output; `saved` is the model file or NULL, `card` is
 * NULL but for the demo. */
void result_show(const struct run *run, const struct train_result *result,
                 const char *saved, const struct card *card);

#endif /* CLI_RUN_H */
