/*
 * model.h - the table of models.
 *
 * One ops row per model kind (linear, logistic, svm, hinge, softmax) says what
 * it is like: others ask for a column, not for a model by name.  Softened
 * hinges have rows that have no kind (problem_soft).
 */
#ifndef MODEL_MODEL_H
#define MODEL_MODEL_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "math/kernel/loss.h"

enum model_kind {
    MODEL_LINEAR,
    MODEL_LOGISTIC,
    MODEL_SVM,
    MODEL_HINGE,
    MODEL_SOFTMAX,
};

struct model_ops {
    const char *name;   /* As typed: "linear", "logistic", "svm", ... */
    bool classes;       /* A weight vector for each class; y is its number. */
    bool regression;    /* y is a number to come near to, not a class. */
    bool probable;      /* Scores tell probabilities. */
    bool kinks;         /* The slope of the loss jumps somewhere. */
    struct loss loss;   /* Of a single weight vector; softmax.h else. */
    bool squared;       /* loss <= (|y| + |z|)^2, else <= 2 |z| + 32. */
    double bound_label; /* a of bounds.h. */
    double bound_score; /* b of it. */
    double curvature;   /* c of it: at least sup of d2loss/dz2. */
    const char *loss_text; /* What is summed, in words. */
    const char *metric;    /* Main metric: "mse" or "accuracy". */
    /* LOSS_SOFTS rows, kinks softened ever less: problem_soft.  NULL: none. */
    const struct model_ops *softened;
};

const struct model_ops *model_ops(enum model_kind kind);
/* ERR_UNKNOWN if there is no model of that name. */
MUST_CHECK enum err model_parse(const char *name, enum model_kind *kind);
/* The row of that name; NULL: none, or `name` is NULL. */
const struct model_ops *model_named(const char *name);
/* Is `kind` a model, and can it have so many weight vectors? */
bool model_has_outputs(uint32_t kind, uint32_t outputs);

#endif /* MODEL_MODEL_H */
