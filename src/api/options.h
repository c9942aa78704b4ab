/*
 * options.h - what the user asked for, read with care.
 */
#ifndef API_OPTIONS_H
#define API_OPTIONS_H

#include "base/err.h"
#include "code/code.h"
#include "eval/user.h"
#include "muster.h"
#include "optim/optim.h"

/* Fields of a later version than the program's are zero.  ERR_UNKNOWN: a
 * version this library does not know. */
MUST_CHECK enum err options_read(const struct muster_options *given,
                                 struct muster_options *options,
                                 struct why *why);
/* ERR_SHAPE with a sentence if something cannot be. */
MUST_CHECK enum err options_check(const struct muster_options *options,
                                  struct why *why);
/* The same of what only runs with workers use, for one without. */
MUST_CHECK enum err options_alone(const struct muster_options *options,
                                  struct why *why);
/* Does all that is chosen go together, under a code whose steps are of that
 * class?  NULL: of no code. */
MUST_CHECK enum err options_rules(const struct muster_options *options,
                                  const struct code_spec *code,
                                  enum exactness class, struct why *why);
/* The code, if all that is chosen goes together with it. */
MUST_CHECK enum err options_code(const struct muster_options *options,
                                 uint32_t workers, struct code_spec *code,
                                 struct why *why);
MUST_CHECK enum err options_optim(const struct muster_options *options,
                                  struct optim_options *optim, struct why *why);
struct user_function options_user(const struct muster_options *options);

/* For a function of muster.h that ends with `err`: copies the sentence, or a
 * general one. */
enum muster_status status_end(enum err err, const struct why *sentence,
                              char *why);

#endif /* API_OPTIONS_H */
