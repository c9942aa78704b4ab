/*
 * optim.h - optimisers that do not own the loop.
 *
 * Reverse communication: the caller asks what to evaluate and feeds the
 * result; who computes it, where and how often it had to be redone is not the
 * optimiser's business.
 *
 *     while ((ask = optim_next(opt)).kind != ASK_DONE)
 *         optim_feed(opt, gradient sum at ask.point, loss sum);
 *
 * Objective: mean loss + l2 |w|^2 (l2 = `a` of the formulas below).
 *     gd   b <- (1 - 2 a eta) b - (eta/N) g(b)
 *     agd  th = 2/(i+2);  v = (1-th) b + th u;
 *          b+ = v - (eta/N) g(b) - 2 a eta b;  u = b + (b+ - b)/th;  u0 = 0
 * Rates: eta_i = lr * decay^i.
 */
#ifndef OPTIM_OPTIM_H
#define OPTIM_OPTIM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/bytes.h"
#include "base/err.h"

enum optim_kind { OPTIM_GD, OPTIM_AGD };

struct optim_options {
    enum optim_kind kind;
    double rate;  /* lr, > 0. */
    double decay; /* Multiplies the rate each step; 1 = constant. */
    double l2;    /* a, >= 0. */
    uint32_t steps;
    uint64_t rows; /* N of the whole training set. */
    double tol; /* Stop when |gradient of the objective| <= tol; 0 = never. */
};

enum ask_kind { ASK_GRADIENT, ASK_DONE };

struct ask {
    enum ask_kind kind;
    const double *point; /* dims; valid until the next feed. */
};

struct optim {
    struct optim_options options;
    uint32_t dims;
    uint32_t step;        /* Updates made. */
    double objective;     /* At the last fed point; NaN before the first. */
    double gradient_norm; /* Of the objective there; infinite before. */
    bool diverged;        /* Weights or objective are no longer finite. */
    double *b, *u;        /* Not the caller's business: see optim_weights. */
    double *gradient;     /* Of the objective at the last fed point. */
    struct optim_ops const *ops;
};

/* Accepts "gd", "agd". */
MUST_CHECK enum err optim_parse(const char *name, enum optim_kind *kind);
const char *optim_name(enum optim_kind kind);

/* From weights of zero.  ERR_SHAPE if an option is out of range. */
MUST_CHECK enum err optim_init(struct optim *opt,
                               const struct optim_options *options,
                               uint32_t dims);
void optim_close(struct optim *opt);

/* ASK_DONE after `steps` updates, when converged (the last fed point is then
 * the answer: no update is made from it) or when `diverged`: the caller must
 * look, for there is no answer then; a smaller rate may help. */
struct ask optim_next(const struct optim *opt);
/* True if tol is set and was reached. */
bool optim_converged(const struct optim *opt);
/* eta of the step to come. */
double optim_rate(const struct optim *opt);
/* Sums over all rows (already rescaled if some were missing), not means. */
void optim_feed(struct optim *opt, const double *gradient_sum, double loss_sum);
/* The model so far: dims doubles. */
const double *optim_weights(const struct optim *opt);

/* Everything optim_feed depends on, for checkpoints: fixed size. */
size_t optim_state_bytes(const struct optim *opt);
void optim_save(const struct optim *opt, struct writer *out);
/* ERR_FORMAT if it is not a state of this optimiser and size. */
MUST_CHECK enum err optim_load(struct optim *opt, struct reader *in);

#endif /* OPTIM_OPTIM_H */
