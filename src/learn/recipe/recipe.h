/*
 * recipe.h - all choices of one training, as typed values.
 *
 * Each is set by its name and a text, checked by its row (recipe_table.c) and
 * read by its number.  The flags of the command line and the keys of
 * include/muster.h are these rows: a new choice is one row there and one name
 * here.  What nobody chose has its default, or no value where the default is
 * worked out from others or from the data (learn/setup.h).
 */
#ifndef LEARN_RECIPE_H
#define LEARN_RECIPE_H

#include "learn/recipe/option.h"

#define RECIPE_WORKERS_MAX 10000u /* Of -n and --workers. */

enum recipe_option {
    /* The rows, and how files are read. */
    OPT_DATA,
    OPT_INPUT,
    OPT_LABEL,
    OPT_LABELS,
    OPT_TEST_LABELS,
    OPT_CATEGORICAL,
    OPT_PAIRS,
    OPT_SCALE,
    OPT_MISSING,
    OPT_DROP,
    OPT_WEIGHT,
    OPT_HEADER,
    OPT_SEPARATOR,
    OPT_ZERO_BASED,
    OPT_SHAPE,
    OPT_STORAGE,
    OPT_CACHE,
    OPT_DATA_SHARED,
    OPT_SHIP,
    OPT_CA,
    OPT_OWNERS,
    OPT_DATA_PRIVATE,
    OPT_OWNER_WAIT,
    /* What is learnt. */
    OPT_NET,
    OPT_INIT,
    OPT_MODEL,
    OPT_LOSS,
    OPT_TEST,
    OPT_VALID,
    OPT_METRIC,
    OPT_NO_INTERCEPT,
    OPT_L2,
    OPT_WEIGHT_DECAY,
    OPT_CLASS_WEIGHT,
    OPT_CHUNK_ROWS,
    OPT_SEED,
    /* How. */
    OPT_OPTIM,
    OPT_LR,
    OPT_SCHEDULE,
    OPT_DECAY,
    OPT_DECAY_EVERY,
    OPT_WARMUP,
    OPT_CLIP,
    OPT_MOMENTUM,
    OPT_BATCH,
    OPT_BATCH_PER_WORKER,
    OPT_SHUFFLE,
    OPT_PASSES,
    OPT_PATIENCE,
    OPT_STEPS,
    OPT_TOL,
    OPT_GAP,
    OPT_ACCURACY,
    OPT_OPTIMUM,
    OPT_MAX_TIME,
    /* Many runs at once. */
    OPT_FOLDS,
    OPT_GRID,
    /* LIBLINEAR's habit. */
    OPT_SOLVER,
    OPT_COST,
    OPT_EPS,
    OPT_BIAS,
    OPT_SVR_EPS,
    /* Who computes what. */
    OPT_N,
    OPT_WORKERS,
    OPT_CODE,
    OPT_STRAGGLERS,
    OPT_EXACT,
    OPT_VERIFY,
    OPT_AUDIT,
    OPT_THREADS,
    OPT_ISA,
    OPT_TOPOLOGY,
    /* Trouble on purpose. */
    OPT_DELAY,
    OPT_CHAOS,
    /* The cluster. */
    OPT_LISTEN,
    OPT_PEERS,
    OPT_NAME,
    OPT_INTERFACE,
    OPT_FANOUT,
    OPT_TOKEN_FILE,
    OPT_RESPAWN,
    OPT_OUT,
    OPT_RESUME,
    OPT_SYNC,
    OPT_BULK,
    OPT_PREEMPT_NOTICE,
    OPT_PREEMPT_ADDRESS,
    RECIPE_OPTIONS,
};

/* Zeroed it is a recipe without even defaults, which may be closed. */
struct recipe {
    struct setting setting[RECIPE_OPTIONS];
};

/* The defaults of `muster train`.  ERR_NOMEM. */
MUST_CHECK enum err recipe_init(struct recipe *recipe, struct why *why);
/* Over a zeroed one, which is to be closed after any outcome.  ERR_NOMEM. */
MUST_CHECK enum err recipe_copy(struct recipe *to, const struct recipe *from,
                                struct why *why);
void recipe_close(struct recipe *recipe);

/* Choose: ERR_UNKNOWN if there is no such name or alias, ERR_RANGE for a value
 * that is not to be had, each with a sentence.  Texts are copied. */
MUST_CHECK enum err recipe_set(struct recipe *recipe, const char *name,
                               const char *text, struct why *why);
/* The same by number, and for values that others imply (ORIGIN_DEFAULT). */
MUST_CHECK enum err recipe_put(struct recipe *recipe, int id, const char *text,
                               enum origin origin, struct why *why);
/* Values that were worked out, for whoever asks what was chosen. */
MUST_CHECK enum err recipe_record_real(struct recipe *recipe, int id,
                                       double value, struct why *why);
MUST_CHECK enum err recipe_record_count(struct recipe *recipe, int id,
                                        uint32_t value, struct why *why);

/* Its row, and the number of a name or alias; RECIPE_OPTIONS: none. */
const struct option *recipe_row(int id);
int recipe_find(const char *typed, size_t length);

bool recipe_given(const struct recipe *recipe, int id);
/* Does --grid try values of it? */
bool recipe_tries(const struct recipe *recipe, int id);
/* NULL if it has no value. */
const char *recipe_text(const struct recipe *recipe, int id);
bool recipe_flag(const struct recipe *recipe, int id);
uint64_t recipe_count(const struct recipe *recipe, int id);
double recipe_real(const struct recipe *recipe, int id);

/* The traits of all that was given. */
void recipe_choose(const struct recipe *recipe, struct choices *choices);

#endif /* LEARN_RECIPE_H */
