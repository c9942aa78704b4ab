/*
 * rules.h - what goes with what: the one table of it.
 *
 * A choice (a code, an optimiser, an option) sets traits, which are bits; a
 * rule is a set of traits that is refused, with its sentence.  Whoever puts
 * choices together asks here: the command line before anything is read, the
 * public interface, the coordinator when a relay dials in, and the simulator
 * before it draws one more thing for a seed.  `muster codes --rules` prints
 * the table.  Whether numbers fit each other (3 of 2 workers) is no matter of
 * rules: code_build says that.
 */
#ifndef CODE_RULES_H
#define CODE_RULES_H

#include "code/code.h"

enum trait {
    /* What a code is like. */
    TRAIT_SUMS,       /* Its answers are parts of one sum over all rows. */
    TRAIT_AVERAGES,   /* They are weights, to be averaged. */
    TRAIT_MIXTURES,   /* They are rounded: no two workers give the same. */
    TRAIT_BLOCKS,     /* Workers hold coded data instead of rows, ... */
    TRAIT_ELASTIC,    /* ... and may come and go in mid-round. */
    TRAIT_LATE,       /* Answers may come in a later step. */
    TRAIT_COPIES,     /* Several workers are given the same rows. */
    TRAIT_SAMPLES,    /* Some compute samples of rows. */
    TRAIT_MATRIX,     /* It is read from a file. */
    TRAIT_HASTY,      /* A step ends without second answers. */
    TRAIT_NUMERIC,    /* The class of its steps ... */
    TRAIT_APPROX,     /* ... (bitwise has no trait). */
    TRAIT_ESTIMATE,   /* Approximate even when nothing is missing. */
    TRAIT_ADAPTS,     /* --code auto: any code may come, ... */
    TRAIT_ADAPTS_FAR, /* ... also one that is not bitwise. */
    TRAIT_CODE,       /* One was asked for. */
    /* Who computes. */
    TRAIT_ALONE,   /* This process, ... */
    TRAIT_WORKERS, /* ... or others. */
    TRAIT_LOCAL_WORKERS,
    TRAIT_STAR,  /* Workers have a coordinator, ... */
    TRAIT_RING,  /* ... or are peers. */
    TRAIT_PEERS, /* Some of these are on other machines. */
    TRAIT_MPI,   /* Ranks, which mpirun started. */
    TRAIT_RELAYS,
    TRAIT_SHM,
    TRAIT_UNSEALED,      /* What is large goes without TLS. */
    TRAIT_NEEDS_WORKERS, /* What is asked for means nothing without them. */
    TRAIT_STARTED,       /* ... or unless muster starts them. */
    TRAIT_CHECKED,       /* --verify, --audit. */
    TRAIT_LIES,          /* --chaos lie:. */
    TRAIT_ON_CENTRE,     /* --chaos kill:coordinator and the like. */
    TRAIT_DELAY,
    TRAIT_RECORD,
    TRAIT_WANTS_BITWISE,
    TRAIT_WANTS_NUMERIC,
    /* Where rows are, and how they are read. */
    TRAIT_DATA,
    TRAIT_OWNERS, /* Rows stay with their owners. */
    TRAIT_SHARED,
    TRAIT_SHIP,
    TRAIT_READING,
    TRAIT_CATEGORIES,
    TRAIT_MEANS,
    TRAIT_DROP,
    TRAIT_STORAGE,
    TRAIT_CLASS_WEIGHT,
    TRAIT_VALID,
    TRAIT_VALID_PART,
    /* What is learnt, and how. */
    TRAIT_FUNCTION, /* A gradient function of the user's, not rows. */
    TRAIT_NO_HESSVEC,
    TRAIT_NET,     /* A network, not a linear model. */
    TRAIT_INIT,    /* It begins with the weights of another model. */
    TRAIT_CLASSES, /* A weight vector for each class. */
    TRAIT_LOSS,
    TRAIT_NOT_SVM,
    TRAIT_SEARCHES, /* Compares sums: line searches, curvature pairs. */
    TRAIT_NEWTON,
    TRAIT_PLAIN,    /* It has no estimate of what is left to gain, ... */
    TRAIT_ACCURACY, /* ... by which a run may end. */
    TRAIT_SGD,
    TRAIT_AGD,
    TRAIT_MEMORY, /* The optimiser keeps more than weights. */
    TRAIT_RATED,  /* It needs a rate, ... */
    TRAIT_NO_RATE,
    TRAIT_RATE,      /* ... and has this one, ... */
    TRAIT_RATE_RULE, /* ... which changes from step to step. */
    TRAIT_MOMENTUM,  /* How much of the last step is in the next, ... */
    TRAIT_STEADY,    /* ... of which the optimiser knows nothing. */
    TRAIT_BATCH,     /* A step is over some of the rows, ... */
    TRAIT_SCATTERED, /* ... wherever they are. */
    TRAIT_PASSES,    /* Passes over the rows are counted. */
    TRAIT_PATIENCE,  /* Rows held out end it, at the end of a pass. */
    TRAIT_ENDS,      /* It ends by the gradient or the objective. */
    TRAIT_GAP,
    TRAIT_NO_OPTIMUM,
    /* Many runs at once. */
    TRAIT_MANY,
    TRAIT_FOLDS,   /* Folds without a grid. */
    TRAIT_SIZES,   /* A grid says how many workers there are, ... */
    TRAIT_GATHERS, /* ... or whoever comes. */
    TRAIT_SAVE,
    TRAIT_NO_SAVE,
    TRAIT_TEST,
    /* The simulator. */
    TRAIT_FAULTS,
    TRAIT_ONE_RUN,
    TRAIT_SEEDS,
    TRAIT_TRACE,
    TRAIT_COMPARE,
    TRAIT_NO_COMPUTE,
    TRAITS,
};

/* A bit for each: 64 would be too few. */
__extension__ typedef unsigned __int128 trait_set;

#define TRAIT(name) ((trait_set)1 << TRAIT_##name)

struct rule {
    trait_set all; /* Refused if all of these are there ... */
    trait_set any; /* ... and one of these, which the sentence calls <it>. */
    const char *why;
};

/* Everything somebody chose.  Zeroed is nothing. */
struct choices {
    trait_set traits;
    const char *name[TRAITS]; /* What set it; NULL: as trait_name has it. */
    const char *code, *optim, *model; /* Their names. */
    bool fields; /* Said in fields, not in --flags: sentences without them. */
};

/* Rules are told in flags: --code steal is what a field says as code steal. */
void choices_add(struct choices *choices, trait_set traits, const char *name);
void choices_code(struct choices *choices, const struct code_spec *spec);
/* By the optimiser's name; one that is not known is like none. */
void choices_optim(struct choices *choices, const char *name);
/* The class of the code's steps, and the worst that is wanted. */
void choices_class(struct choices *choices, enum exactness class,
                   enum exactness wanted);

/* ERR_SHAPE, with the sentence of the first rule that is broken. */
MUST_CHECK enum err rules_check(const struct choices *choices, struct why *why);
/* The same of a code with an optimiser, by its name. */
MUST_CHECK enum err rules_check_code(const struct code_spec *code,
                                     const char *optim, struct why *why);
/* Is no rule broken? */
bool rules_allow(trait_set traits);

trait_set code_traits(const struct code_spec *spec);
/* As the table calls it: "--fanout", "a code of data (mds)". */
const char *trait_name(enum trait trait);
const struct rule *rule_list(uint32_t *count);

#endif /* CODE_RULES_H */
