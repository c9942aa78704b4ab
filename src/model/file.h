/*
 * file.h - linear models as LIBLINEAR's text.
 *
 *     solver_type L2R_LR          L2R_L2LOSS_SVC for svm, _SVR for linear
 *     nr_class 2
 *     label 1 -1                  what a positive score says comes first;
 *                                 no such line for regression
 *     nr_feature 3
 *     bias 1                      -1 without an intercept
 *     w
 *     0.5                         nr_feature lines, one more for the bias
 *     ...
 *
 * liblinear-predict reads what we write and we read what liblinear-train
 * writes for two classes.  Numbers have 17 digits: reading them back gives the
 * same bits.
 */
#ifndef MODEL_FILE_H
#define MODEL_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "model/problem.h"

struct model_file {
    enum model_kind kind;
    uint32_t features; /* Without the intercept. */
    bool intercept;    /* Its weight, for a column of ones, is the last. */
    double label[2];   /* For a score <= 0, for one > 0; not for linear. */
    double *w;         /* model_file_weights of them. */
};

uint32_t model_file_weights(const struct model_file *model);
void model_file_close(struct model_file *model); /* Zeroed is safe. */

/* The text, to be freed with mem_free; not NUL-terminated.  ERR_RANGE if a
 * weight is not finite. */
MUST_CHECK enum err model_file_encode(const struct model_file *model,
                                      char **text, size_t *size);

/* ERR_FORMAT, ERR_TRUNCATED, ERR_RANGE, ERR_TOOBIG or ERR_UNSUPPORTED with a
 * sentence that does not name the file. */
MUST_CHECK enum err model_file_decode(struct model_file *model,
                                      const char *text, size_t size,
                                      struct why *why);

#endif /* MODEL_FILE_H */
