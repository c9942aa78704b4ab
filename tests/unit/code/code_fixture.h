/*
 * code_fixture.h - what the tests of codes share: building one from a preset,
 * and keeping its progress as a coordinator does.
 */
#ifndef TESTS_CODE_FIXTURE_H
#define TESTS_CODE_FIXTURE_H

#include "code/code.h"
#include "code/preset.h"

#define SLOTS_MAX  64u
#define PIECES_MAX (SLOTS_MAX * CODE_STEAL_PIECES)

struct shape {
    const char *name;
    uint32_t n, s, collect, chunks;
};

/* The spec of a preset that must exist. */
struct code_spec spec_of(struct shape shape);
/* A code that must build. */
struct code code_of(struct shape shape);
/* Building must fail with `err` and a sentence that contains `words`. */
void refuse(struct shape shape, enum err err, const char *words);

struct step {
    const struct code *code;
    bool piece_in[PIECES_MAX];
    bool slot_in[SLOTS_MAX];
    struct code_progress progress;
};

void step_begin(struct step *step, const struct code *code);
/* The slot's whole initial work comes in; false if it was in already. */
bool step_arrive(struct step *step, uint32_t slot);
void step_piece(struct step *step, uint32_t piece);
/* Begin, and let all slots of the mask arrive: may the step end? */
bool enough_with(const struct code *code, uint32_t mask);
bool feasible_with(const struct code *code, uint32_t mask);
/* Rows are added as they are: with the slots of the mask in, each that has work
 * weighs 1 and the others nothing, and what they have is covered.  Returns the
 * residual; *chunks is what is covered. */
double decode_plainly(const struct code *code, uint32_t mask, uint32_t *chunks);

#endif /* TESTS_CODE_FIXTURE_H */
