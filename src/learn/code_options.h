/*
 * code_options.h - the options that describe a code, and what they read.
 */
#ifndef LEARN_CODE_OPTIONS_H
#define LEARN_CODE_OPTIONS_H

#include "code/preset.h"
#include "learn/recipe/recipe.h"

/* What a spec points to; lives as long as it.  Zeroed is safe to close. */
struct code_inputs {
    struct code_matrix matrix;
    double *speed;
    uint32_t speeds;
    struct code_memory memory; /* Certificates made so far, ... */
    uint32_t remembered;       /* ... of which so many by earlier runs. */
};

/* --speeds, the file of a code such as matrix:FILE, and earlier runs'
 * certificates. */
MUST_CHECK enum err code_inputs_load(struct code_inputs *inputs,
                                     const struct recipe *recipe,
                                     const char *name, struct why *why);
/* Keeps new certificates for later runs. */
void code_inputs_close(struct code_inputs *inputs);

/* The preset of that name with the options as they are, for `workers`. */
struct preset_options code_options(const struct recipe *recipe,
                                   const char *name, uint32_t workers,
                                   struct code_inputs *inputs);

/* "1,4, 7" as numbers; at most `max` of them.  ERR_FORMAT: `what` and a
 * sentence. */
MUST_CHECK enum err code_numbers(const char *text, const char *what,
                                 double *numbers, uint32_t max, uint32_t *count,
                                 struct why *why);

/* --local: H, CODE_ONCE, or 0 if it is not given.  ERR_RANGE. */
#define CODE_ONCE UINT32_MAX
MUST_CHECK enum err code_every(const struct recipe *recipe, uint32_t *every,
                               struct why *why);

#endif /* LEARN_CODE_OPTIONS_H */
