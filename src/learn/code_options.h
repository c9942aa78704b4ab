/*
 * code_options.h - what --code says, and what it reads.
 */
#ifndef LEARN_CODE_OPTIONS_H
#define LEARN_CODE_OPTIONS_H

#include "code/preset.h"
#include "learn/recipe/recipe.h"

/* What a spec points to; lives as long as it.  Zeroed is safe to close. */
struct code_inputs {
    char *text; /* Which options point into. */
    struct code_matrix matrix;
    double *speed;
    uint32_t speeds;
    struct code_memory memory; /* Certificates made so far, ... */
    uint32_t remembered;       /* ... of which so many by earlier runs. */
};

/* Earlier runs' certificates. */
void code_inputs_remember(struct code_inputs *inputs);
/* Keeps new certificates for later runs. */
void code_inputs_close(struct code_inputs *inputs);

/* NAME[:FILE][:KEY=VALUE]..., and what the recipe says of codes: all but the
 * number of workers.  Files are read; `options` point into `inputs`, which is
 * to be closed after any outcome. */
MUST_CHECK enum err code_options(const struct recipe *recipe, const char *text,
                                 size_t length, struct code_inputs *inputs,
                                 struct preset_options *options,
                                 struct why *why);
/* How much of "frc:s=2,cb:speeds=1,2,rep" is the first code: numbers after a
 * comma are still its own. */
size_t code_length(const char *list);

/* "1,4, 7" as numbers; at most `max` of them.  ERR_RANGE: `what` and a
 * sentence. */
MUST_CHECK enum err code_numbers(const char *text, const char *what,
                                 double *numbers, uint32_t max, uint32_t *count,
                                 struct why *why);

#endif /* LEARN_CODE_OPTIONS_H */
