/*
 * options.h - what a training with a function of the user's asks for: the
 * function, and what the recipe says of such a training.
 */
#ifndef API_OPTIONS_H
#define API_OPTIONS_H

#include "api/handle.h"
#include "code/code.h"
#include "eval/user.h"
#include "optim/optim.h"

struct wish {
    struct muster_function function;
    struct muster_recipe *recipe; /* Who watches, and stops. */
    uint32_t steps;
    const char *optimiser;
    double rate; /* 0: the optimiser's own. */
    double l2, tol;
    uint32_t threads, workers;
    const char *code;    /* NULL: steal. */
    uint32_t stragglers; /* 0: 1, of one worker 0. */
    uint32_t wanted;     /* Begin with so many; 0: `workers`. */
    const char *listen, *token_file, *folder;
};

/* ERR_UNKNOWN: a structure of a newer header; ERR_SHAPE with a sentence if
 * something cannot be.  Borrows from both. */
MUST_CHECK enum err wish_read(struct muster_recipe *recipe,
                              const struct muster_function *function,
                              struct wish *wish, struct why *why);
/* The same of what only runs with workers use, for one without. */
MUST_CHECK enum err wish_alone(const struct wish *wish, struct why *why);
/* Does all that is chosen go together, under a code whose steps are of that
 * class?  NULL: of no code. */
MUST_CHECK enum err wish_rules(const struct wish *wish,
                               const struct code_spec *code,
                               enum exactness class, struct why *why);
/* The code, if all that is chosen goes together with it. */
MUST_CHECK enum err wish_code(const struct wish *wish, uint32_t workers,
                              struct code_spec *code, struct why *why);
MUST_CHECK enum err wish_optim(const struct wish *wish,
                               struct optim_options *optim, struct why *why);
struct user_function wish_user(const struct wish *o);

#endif /* API_OPTIONS_H */
