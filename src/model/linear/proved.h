/*
 * proved.h - the scale of a linear model's sums: from bounds of the data.
 */
#ifndef MODEL_LINEAR_PROVED_H
#define MODEL_LINEAR_PROVED_H

#include "math/exact/scale.h"
#include "model/linear/bounds.h"
#include "model/linear/problem.h"

struct proved {
    struct scale scale;
    const struct bounds *bounds; /* Borrowed. */
    struct problem problem;
    struct bounds_memo memo;
};

/* Zeroed memory, and nothing to close. */
void proved_init(struct proved *proved, const struct bounds *bounds,
                 const struct problem *problem);

#endif /* MODEL_LINEAR_PROVED_H */
