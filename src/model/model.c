/*
 * model.c - the table of models.
 *
 * Residual bounds |r| <= a|y| + b|x||w|, by |z| <= |x||w|:
 *     linear    r = 2 (z - y)                  a = 2, b = 2
 *     logistic  r = -y / (1 + exp(y z))        a = 1, b = 0   (|y| = 1)
 *     svm       r = -2 y max(0, 1 - y z)       a = 2, b = 2   (|y| = 1)
 *     hinge     r = -y or 0                    a = 1, b = 0   (|y| = 1)
 *     softmax   r = p_k - [y = k]              a = 1, b = 0   (y counts as 1)
 * The hinge has no curvature; 1 bounds it too and gives a sane default rate.
 */
#include "model/model.h"

#include <string.h>

#include "base/check.h"
#include "math/kernel/softmax.h"

/* Of width 2^-k: curvature 2^k, the rest as the hinge's. */
#define SOFT(k)                                                                \
    [k] = {.name = "hinge",                                                    \
           .loss_text = "hinge loss",                                          \
           .loss = {LOSS_HINGE_SOFT, (double)(UINT32_C(1) << (k))},            \
           .bound_label = 1,                                                   \
           .bound_score = 0,                                                   \
           .curvature = (double)(UINT32_C(1) << (k)),                          \
           .metric = "accuracy"}
#define SOFT_4(k) SOFT(k), SOFT((k) + 1), SOFT((k) + 2), SOFT((k) + 3)

static const struct model_ops soft_hinges[LOSS_SOFTS] = {
    SOFT_4(0),  SOFT_4(4),  SOFT_4(8),  SOFT_4(12),
    SOFT_4(16), SOFT_4(20), SOFT_4(24), SOFT_4(28),
};

static const struct model_ops kinds[] = {
    [MODEL_LINEAR] = {.name = "linear",
                      .regression = true,
                      .loss_text = "squared error",
                      .loss = {.kind = LOSS_SQUARED},
                      .squared = true,
                      .bound_label = 2,
                      .bound_score = 2,
                      .curvature = 2,
                      .metric = "mse"},
    [MODEL_LOGISTIC] = {.name = "logistic",
                        .probable = true,
                        .loss_text = "log loss",
                        .loss = {.kind = LOSS_LOGISTIC},
                        .bound_label = 1,
                        .bound_score = 0,
                        .curvature = 0.25,
                        .metric = "accuracy"},
    [MODEL_SVM] = {.name = "svm",
                   .loss_text = "squared hinge loss",
                   .loss = {.kind = LOSS_SQUARED_HINGE},
                   .squared = true,
                   .bound_label = 2,
                   .bound_score = 2,
                   .curvature = 2,
                   .metric = "accuracy"},
    [MODEL_HINGE] = {.name = "hinge",
                     .kinks = true,
                     .softened = soft_hinges,
                     .loss_text = "hinge loss",
                     .loss = {.kind = LOSS_HINGE},
                     .bound_label = 1,
                     .bound_score = 0,
                     .curvature = 1,
                     .metric = "accuracy"},
    [MODEL_SOFTMAX] = {.name = "softmax",
                       .probable = true,
                       .loss_text = "log loss",
                       .classes = true,
                       .loss = {.kind = LOSS_LOGISTIC},
                       .bound_label = 1,
                       .bound_score = 0,
                       .curvature = 0.5,
                       .metric = "accuracy"},
};
enum { KINDS = sizeof kinds / sizeof *kinds };

const struct model_ops *model_ops(enum model_kind kind)
{
    CHECK((unsigned)kind < KINDS);
    return &kinds[kind];
}

enum err model_parse(const char *name, enum model_kind *kind)
{
    for (unsigned i = 0; i < KINDS; i++) {
        if (strcmp(name, kinds[i].name) == 0) {
            *kind = (enum model_kind)i;
            return ERR_OK;
        }
    }
    return ERR_UNKNOWN;
}

const struct model_ops *model_named(const char *name)
{
    enum model_kind kind;

    return name != NULL && model_parse(name, &kind) == ERR_OK ? &kinds[kind]
                                                              : NULL;
}

bool model_has_outputs(uint32_t kind, uint32_t outputs)
{
    if (kind >= KINDS)
        return false;
    if (!kinds[kind].classes)
        return outputs == 1;
    return outputs >= 2 && outputs <= SOFTMAX_CLASSES_MAX;
}
