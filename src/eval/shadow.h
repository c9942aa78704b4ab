/*
 * shadow.h - evaluators of samples: what code `flexent` asks of workers.
 *
 * The evaluator `shadow` is another one (linear, net) with twice the chunks:
 * chunks [K + a, K + b) together are one weighted sample of the rows that
 * chunks [a, b) have in the step (data/rows/strata.h).  It is drawn anew in
 * each step.
 */
#ifndef EVAL_SHADOW_H
#define EVAL_SHADOW_H

#include "base/sampler.h"
#include "data/rows/colour.h"
#include "math/draw.h"

/* How samples are drawn, all of it in the brief; of how many rows, who asks for
 * one says (struct computation). */
struct shadowing {
    enum draw_kind draw;
    uint64_t seed;
    struct colouring colouring;
};

/* Filters for these rows, with cells that samples of the share `size` can tell
 * apart where `primaries` share out a step's rows.  `wish` as colour_candidates
 * has it.  ERR_NOMEM; ERR_RANGE, with a sentence. */
MUST_CHECK enum err shadowing_choose(struct shadowing *shadowing, double size,
                                     const struct dataset *data,
                                     const struct sampler *sampler,
                                     uint32_t primaries, const char *wish,
                                     struct why *why);

#endif /* EVAL_SHADOW_H */
