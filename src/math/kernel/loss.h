/*
 * loss.h - the losses, and what one makes of a row.
 *
 *     logistic       log(1 + exp(-y z)), y in {-1, +1}
 *     squared        (z - y)^2
 *     squared_hinge  max(0, 1 - y z)^2, y in {-1, +1}
 *     hinge          max(0, 1 - y z), y in {-1, +1}; h = 0
 *     hinge_soft     the same with its kink rounded off: with m = 1 - y z and
 *                    a kink of width t = 1 / parameter it is m^2 / (2 t) for
 *                    0 < m <= t and m - t / 2 beyond, so that the hinge is
 *                    above it by t / 2 at most and never below
 *
 * A new one is a line here, a function in loss.c (the definition, in scalars)
 * and one in loss.inc (the same on vectors): kernels, sgd and tests go through
 * the list, golden vectors too, whose digest changes with it (ARCHITECTURE.md,
 * "To add something").
 */
#ifndef MATH_LOSS_H
#define MATH_LOSS_H

#include <stdint.h>

/* X(enumerator, function, parameter to test it with; 0: it has none). */
#define LOSS_LIST(X)                                                           \
    X(LOGISTIC, logistic, 0)                                                   \
    X(SQUARED, squared, 0)                                                     \
    X(SQUARED_HINGE, squared_hinge, 0)                                         \
    X(HINGE, hinge, 0)                                                         \
    X(HINGE_SOFT, hinge_soft, 8)

#define LOSS_KIND(NAME, name, sample) LOSS_##NAME,
enum loss_kind { LOSS_LIST(LOSS_KIND) LOSSES };
#undef LOSS_KIND

struct loss {
    enum loss_kind kind;
    double parameter; /* What it is, the kind says; 0 if it has none. */
};

/* Of a row with score z and label y. */
struct loss_slope {
    double r; /* dloss/dz */
    double h; /* d2loss/dz2 */
    double loss;
};

/* All NaN if z is not finite, and never -0. */
struct loss_slope loss_at(struct loss loss, double z, double y);

/* One of each kind, in the order of the list. */
extern const struct loss loss_samples[LOSSES];

static inline struct loss loss_plain(enum loss_kind kind)
{
    return (struct loss){.kind = kind};
}

/* `soft` is that of struct evaluation, 1 to LOSS_SOFTS: a width of
 * 2^-(soft - 1).  Powers of two make all products with it exact. */
#define LOSS_SOFTS 32u
static inline struct loss loss_hinge_soft(uint32_t soft)
{
    return (struct loss){.kind = LOSS_HINGE_SOFT,
                         .parameter = (double)(UINT32_C(1) << (soft - 1))};
}

#endif /* MATH_LOSS_H */
