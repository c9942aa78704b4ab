/*
 * file.h - models and their files: linear ones as LIBLINEAR's text, networks as
 * safetensors (files/network.h).
 *
 *     solver_type L2R_LR          L2R_L2LOSS_SVC for svm, L2R_L1LOSS_SVC_DUAL
 *                                 for hinge, L2R_L2LOSS_SVR for linear,
 *                                 MCSVM_CS for softmax
 *     nr_class 2
 *     label 1 -1                  of two, what a positive score says comes
 *                                 first; no such line for regression
 *     nr_feature 3
 *     bias 1                      -1 without an intercept
 *     w
 *     0.5                         nr_feature lines, one more for the bias;
 *     ...                         more than two classes: a number for each
 *     muster softmax              behind the last weight, of softmax only
 *
 * LIBLINEAR has no softmax regression.  MCSVM_CS is its name for one weight
 * vector per class, of two classes too, and the largest score wins: softmax
 * says the same label.  It offers no probabilities for that name (of L2R_LR it
 * would, and wrong ones) and does not read on behind the weights, where ours
 * stands.
 *
 * liblinear-predict reads what we write and we read what liblinear-train
 * writes.  Numbers have 17 digits: reading them back gives the same bits.
 *
 * What is known of the rows' columns (data/table/encode.h) follows the weights,
 * where LIBLINEAR does not look any more.  Models without it are about rows of
 * indices from 1, as LIBLINEAR's are.
 */
#ifndef MODEL_FILE_H
#define MODEL_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/hash.h"
#include "data/table/encode.h"
#include "model/linear/problem.h"

#define MODEL_CLASSES_MAX CLASSES_MAX

struct neural_model;

struct model_file {
    enum model_kind kind;
    uint32_t features; /* Without the intercept. */
    bool intercept;    /* Its weight, for a column of ones, is the last. */
    uint32_t classes;  /* 0 for regression. */
    uint32_t outputs;  /* Weight vectors: 1, or one for each class, of which
                          the one with the largest score is said. */
    double *label;     /* classes of them.  One output: for a score <= 0, for
                          one > 0; else that of each output. */
    double *w;         /* outputs vectors of model_file_weights, one after the
                          other. */
    struct encoder encoder; /* Of the rows; zeroed if nothing is known. */
    /* A network with its parameters, whose scores they are then; `w` is NULL,
     * and `kind` says what is made of scores: softmax, or linear.  NULL: a
     * linear model. */
    struct neural_model *net;
};

/* Of one output of a linear model. */
uint32_t model_file_weights(const struct model_file *model);
/* All numbers that were learnt, and their hash. */
size_t model_file_numbers(const struct model_file *model);
struct digest model_file_hash(const struct model_file *model);
void model_file_close(struct model_file *model); /* Zeroed is safe. */
/* The word that a label stands for; NULL if labels are numbers. */
const char *model_file_word(const struct model_file *model, double label);

/* %.17g, with a point whatever the locale.  Returns its length. */
#define MODEL_NUMBER_SIZE 32
size_t model_number_text(double value, char text[MODEL_NUMBER_SIZE]);
/* One of these that is equal to another, so that it could never be said; NULL
 * if there is none. */
const double *model_label_twice(const double *label, uint32_t count);

/* The file's bytes, to be freed with mem_free; not NUL-terminated.  ERR_RANGE
 * if a weight is not finite. */
MUST_CHECK enum err model_file_encode(const struct model_file *model,
                                      char **text, size_t *size);

/* ERR_FORMAT, ERR_TRUNCATED, ERR_RANGE, ERR_TOOBIG or ERR_UNSUPPORTED with a
 * sentence that does not name the file. */
MUST_CHECK enum err model_file_decode(struct model_file *model,
                                      const char *text, size_t size,
                                      struct why *why);

#endif /* MODEL_FILE_H */
