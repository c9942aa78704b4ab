/*
 * setup.h - from settings to a checked training problem.
 *
 * Everything that can be refused is refused here, before a folder is made, a
 * port opened or a process started: names and numbers first, then the data,
 * then whether code, workers and data go together.
 */
#ifndef LEARN_SETUP_H
#define LEARN_SETUP_H

#include <stdbool.h>
#include <stdint.h>

#include "base/hash.h"
#include "code/code.h"
#include "data/rows/dataset.h"
#include "data/table/encode.h"
#include "learn/code_options.h"
#include "learn/recipe/delay_load.h"
#include "learn/recipe/recipe.h"
#include "model/linear/problem.h"
#include "model/metrics.h"
#include "model/net/neural_model.h"
#include "node/host/chaos.h"
#include "node/owners/enrol.h"
#include "node/owners/parts.h"
#include "optim/optim.h"
#include "plan/delay.h"

struct family;
struct gate;
struct train_door;
struct roll;
struct own;

struct memory_rows;
struct model_file;

/* What is no choice of a recipe: who asks, and for what rows. */
struct setup_terms {
    bool alone;     /* The run's state is kept without a coordinator. */
    uint32_t ranks; /* Of --topology mpi, on this machine; else 0. */
    bool simulated; /* Workers are, in virtual time. */
    bool product;   /* Two matrices, and no training. */
    bool sampled;   /* Some code samples rows, if not the one of --code. */
    /* Rows of the calling program, instead of OPT_DATA, OPT_TEST; or NULL. */
    const struct memory_rows *rows, *test;
    /* Told sentences that are no errors.  May be NULL. */
    void (*note)(void *context, const char *sentence);
    void *context;
    /* Locked while files of the run's folder are written or removed: another
     * thread may take what is there away, and end the program.  May be NULL. */
    struct gate *gate;
};

struct setup {
    struct setup_terms terms; /* The caller's, before setup_workers. */
    /* Workers and code. */
    uint32_t slots; /* n of the code; 0 = this process alone. */
    uint32_t local; /* Workers forked here. */
    uint32_t workers_max;
    struct code_spec code;
    bool adapt;                /* --code auto: `code` is where it begins. */
    enum exactness worst;      /* ... and how far it may go. */
    struct code_inputs inputs; /* What the spec points to. */
    enum exactness exactness;  /* What a step of that code can reach. */
    struct certificate certificate; /* Of a numeric code. */
    uint32_t threads;
    enum isa isa;
    struct delay delay;
    struct delay_files delay_files; /* Which `delay` borrows. */
    struct chaos chaos;
    bool verify;  /* Compare two answers to every piece, ... */
    double audit; /* ... or to this share. */
    /* Problem. */
    bool loaded, has_test, has_valid; /* Which of the three are there. */
    bool length_tried; /* A grid has chosen the passes or steps by itself. */
    bool intercept;
    const struct family *family; /* NULL: linear models. */
    enum model_kind model;       /* Of a network: what its outputs are. */
    struct neural_model net;     /* Without text: there is none. */
    struct model_file *init;     /* That --init names; NULL: none. */
    double *start;               /* Weights to begin with; NULL: 0. */
    enum metric metric;          /* To watch and to sort by. */
    struct dataset data, test, valid;
    const struct bounds *bounds; /* Of `data`; NULL: not measured yet. */
    struct encoder encoder;      /* Of the training table, for the others. */
    struct frame frame;          /* The table itself, if rows are to be held out
                                    that no encoder may have seen; else no rows. */
    /* --owners: learn/owners.h. */
    const char *folder; /* The run's, ... */
    int *lock;          /* ... if it is held already: node/run/train.h. */
    bool hollow;        /* `data` has no rows: they are with their owners. */
    struct parts parts;
    struct train_door *door;
    time_us waited_us;  /* For owners. */
    struct roll *roll;  /* Owners who wait to be told; NULL: nobody. */
    struct own *own;    /* A ring: this machine's among them, ... */
    struct owned owned; /* ... and its rows, once that is over. */
    uint32_t *home_chunk, *home_slot; /* Behind `homes`, which is the code's. */
    struct code_homes homes;
    struct optim_options optim;
    char chose[48]; /* "--passes and --optim": flags that were given, without
                       which the optimiser would be another; "": none. */
    double shown_factor; /* Of objectives when they are shown: numbers.h. */
    double uneven;       /* Of a product whose rows are coded: how many times
                            larger the largest row is than the smallest; else 0. */
    double residual_max; /* ... and --exact numeric: what the smallest bear, so
                            that they are numeric, too; else 0. */
};

/* As people call it: that of the code, or auto. */
const char *setup_code_name(const struct setup *setup);
__attribute__((format(printf, 2, 3))) void setup_note(const struct setup *setup,
                                                      const char *format, ...);
/* Workers, code, delay, chaos: no file is read but a code's matrix. */
MUST_CHECK enum err setup_workers(struct setup *setup, struct recipe *recipe,
                                  struct why *why);
/* The data and what depends on it; after setup_workers. */
MUST_CHECK enum err setup_load(struct setup *setup, struct recipe *recipe,
                               struct why *why);
void setup_close(struct setup *setup);

/* Traits of what is chosen so far (code/rules.h), for who has more to add; and
 * whether it goes together, asked whenever more is known. */
void setup_choose(const struct setup *setup, const struct recipe *recipe,
                  struct choices *choices);
MUST_CHECK enum err setup_rules(const struct setup *setup,
                                const struct recipe *recipe, struct why *why);

/* The training rows again, encoded by what is fitted `without` some of them;
 * `encoder` may be NULL.  Only if there is a frame. */
MUST_CHECK enum err setup_encode(const struct setup *setup,
                                 const struct recipe *recipe,
                                 const bool *without, struct encoder *encoder,
                                 struct dataset *data, struct why *why);

/* The optimiser, if the recipe names none, and how many steps at most; then
 * what goes with what. */
MUST_CHECK enum err setup_optimiser(const struct setup *setup,
                                    struct recipe *recipe, struct why *why);

/* As many as were asked for; threads_free ends them. */
MUST_CHECK enum err setup_threads(const struct setup *setup, struct pool **pool,
                                  struct why *why);
/* For before and after a run with workers, when their processors are free, and
 * while they begin: as many as all of them have here.  threads_free ends them,
 * and none may be there while a run forks. */
MUST_CHECK enum err setup_crowd(const struct setup *setup, struct pool **pool);
/* dataset_know, by those. */
void setup_know(const struct setup *setup, struct dataset *data);
/* The optimiser's numbers from the options as they are now, and their record;
 * setup_load ends with it. */
MUST_CHECK enum err setup_numbers(struct setup *setup, struct recipe *recipe,
                                  struct why *why);
/* Behind a sentence about labels: which column they were read from, if a table
 * has them and nobody said so.  Returns `err`. */
enum err setup_blame_label(const struct setup *setup,
                           const struct recipe *recipe, enum err err,
                           struct why *why);

/* The model that --model, --loss and the labels ask for. */
MUST_CHECK enum err setup_model(const struct setup *setup,
                                const struct recipe *recipe,
                                enum model_kind *model, struct why *why);

/* Are the data coded, so that workers give products and no sums? */
bool setup_is_coded(const struct setup *setup);

/* The optimiser as the coordinator runs it under a code: with `local` it
 * averages, and its steps are the averages. */
struct optim_options setup_optim(const struct setup *setup,
                                 const struct code_spec *code);

struct problem setup_problem(const struct setup *setup);
/* NULL: a linear model. */
const struct neural_model *setup_net(const struct setup *setup);
const struct family *setup_family(const struct setup *setup);
/* The first label that is no whole number, of all as far as they are known;
 * NULL: none. */
const double *setup_find_number(const struct dataset *data);

/* learn/config_digest.c: of everything that decides the bits, the rows
 * included; in this program's arithmetic (node/arithmetic.h), or another. */
struct digest config_digest(const struct setup *setup);
struct digest config_digest_in(const struct setup *setup,
                               const struct digest *arithmetic);
/* ... less what was derived from rows that are not here: another one of these
 * means other data or options, and this one with another config_digest other
 * sizes or bounds of the same rows. */
struct digest config_given(const struct setup *setup);

/* Metrics of weights as the training data's columns lie, on another set or on
 * the same.  All NaN if they cannot be measured. */
struct metrics setup_measure(const struct setup *setup,
                             const struct dataset *data, const double *w);

/* How early stopping measures `valid`; lends the setup. */
struct held_out setup_held_out(const struct setup *setup);

#endif /* LEARN_SETUP_H */
