/*
 * candidate.h - a code with its numbers, as people write it (code/preset.h)
 * and as a plan tries it.
 *
 *     frc:s=2  agc:s=1:collect=11  steal:s=2:pieces=32
 */
#ifndef PLAN_CANDIDATE_H
#define PLAN_CANDIDATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "code/preset.h"

#define CANDIDATE_BYTES 64u
#define CANDIDATES_MAX  96u

struct candidate {
    char name[CANDIDATE_BYTES];  /* Of the preset. */
    char label[CANDIDATE_BYTES]; /* "frc s=2". */
    struct code_spec spec;
    bool adapt; /* It is only the beginning: plan/adapt.h. */
};

/* `text` is one candidate of `length` characters; what it does not say comes
 * from `defaults` (its name is not looked at). */
MUST_CHECK enum err candidate_parse(const char *text, size_t length,
                                    const struct preset_options *defaults,
                                    struct candidate *candidate,
                                    struct why *why);

/* The candidate of a spec that is there already. */
void candidate_of(const struct code_spec *spec, struct candidate *candidate);

/* Chunks enough that every piece of the code has one. */
uint32_t candidate_chunks(const struct candidate *candidate, uint32_t workers);

/* All presets with numbers that make sense for so many workers, at most `max`;
 * presets whose class is worse than `worst` are left out.
 * Returns how many; 0 if there is not enough memory to look at them. */
uint32_t candidate_list(uint32_t workers, enum exactness worst, uint64_t seed,
                        struct candidate *candidates, uint32_t max);

#endif /* PLAN_CANDIDATE_H */
