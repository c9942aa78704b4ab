/*
 * constant.h - the best prediction that looks at no column: the mean of the
 * labels, or the classes by their shares.  A model that is no better has learnt
 * nothing, however well its run went.
 */
#ifndef LEARN_CONSTANT_H
#define LEARN_CONSTANT_H

#include "learn/setup.h"
#include "node/run/train.h"

struct constant {
    double loss;  /* Sum over rows, each times its weight: half the squared
                     error, or the model's loss. */
    double share; /* Of the most frequent class among the rows; 0: numbers. */
    uint32_t present; /* Classes of which there are rows. */
};

/* Of rows that are here, two classes being 0 and 1, or -1 and 1.  ERR_NOMEM. */
MUST_CHECK enum err constant_of(const struct dataset *data,
                                const struct model_ops *model,
                                struct constant *constant);

/* Hold result->metrics, and the sum of losses that the model has (of numbers
 * half the squared errors), against it; result->constant.  ERR_NOMEM. */
MUST_CHECK enum err constant_judge(const struct setup *setup, double loss,
                                   struct train_result *result);

/* What is to be said of a model that is no better, and what to try, in `text`;
 * NULL: it is better, or was not judged. */
#define CONSTANT_TEXT 512u
const char *constant_sentence(const struct setup *setup,
                              const struct train_result *result,
                              char text[CONSTANT_TEXT]);

/* The same of a model that says the most frequent class of every training row,
 * whatever its loss and whether it converged; by its metrics of these rows. */
const char *constant_class_sentence(const struct setup *setup,
                                    const struct metrics *metrics,
                                    char text[CONSTANT_TEXT]);

#endif /* LEARN_CONSTANT_H */
