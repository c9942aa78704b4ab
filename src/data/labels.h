/*
 * labels.h - from labels as read to what models want.
 *
 *     two            -1 and +1, the smaller first
 *     more, whole    0, 1, 2, ... in ascending order (classes)
 *     other          as read (regression)
 *
 * If classes are asked for, all are numbered 0, 1, ..., two of them too.
 */
#ifndef DATA_LABELS_H
#define DATA_LABELS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "data/dataset.h"

struct label_options {
    bool regression;      /* Keep labels as read, whatever they are. */
    bool classes;         /* Number them, whole or not, two or more. */
    const double *labels; /* Those of the training set (or model), ascending,
                             or NULL to find them. */
    uint32_t label_count;
};

/* Count and map data->y; sets label and classes.  ERR_MISMATCH if a label is
 * not one of options->labels, ERR_NOMEM: with a sentence. */
MUST_CHECK enum err labels_settle(struct dataset *data,
                                  const struct label_options *options,
                                  struct why *why);

#endif /* DATA_LABELS_H */
