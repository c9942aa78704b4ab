/*
 * proved.c - bounds of the data as a scale (math/exact/scale.h).
 */
#include "model/linear/proved.h"

static enum err exponents(struct scale *self, const struct evaluation *what,
                          int16_t *exponent)
{
    struct proved *proved = (struct proved *)self;
    const enum err err =
        bounds_exponents_again(proved->bounds, &proved->problem, what,
                               &proved->memo, self->pool, exponent);

    self->same = err == ERR_OK && proved->memo.same;
    return err;
}

void proved_init(struct proved *proved, const struct bounds *bounds,
                 const struct problem *problem)
{
    static const struct scale_ops ops = {.exponents = exponents};

    *proved = (struct proved){
        .scale = {.ops = &ops}, .bounds = bounds, .problem = *problem};
}
