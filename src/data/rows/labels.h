/*
 * labels.h - from labels as read to what models want.
 *
 *     two                     -1 and +1, the smaller first
 *     words, or 3 to 20       0, 1, 2, ... in ascending order (classes)
 *     whole numbers, each
 *     seen 5 times or more
 *     other                   as read (regression); they are not counted
 *
 * More than 10 whole numbers that are spread over more than twice as many, as
 * prices in thousands are, are no classes: names of classes are counted up.
 *
 * If classes are asked for, all are numbered 0, 1, ..., two of them too.
 */
#ifndef DATA_LABELS_H
#define DATA_LABELS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "data/rows/dataset.h"

#define LABELS_CLASSES_MAX 20u /* More, or one rarer, are numbers. */
#define LABELS_SEEN_MIN    5u
#define LABELS_SPREAD_MIN  10u /* So many are classes however far apart. */
#define LABELS_SPREAD      2u
/* 2^53: whole numbers below it are all different in binary64; it is what 2^53
 * + 1 is rounded to. */
#define LABELS_WHOLE_END 9007199254740992.0

struct label_options {
    bool regression;      /* Keep labels as read, whatever they are. */
    bool classes;         /* Number them, whole or not, two or more. */
    bool numbered;        /* The same if they are classes by themselves. */
    bool words;           /* They are numbers of words. */
    const double *labels; /* Those of the training set (or model), ascending,
                             or NULL to find them. */
    uint32_t label_count;
};

#define LABEL_TEXT_SIZE 32u

/* A label for people: a whole one with all its digits, another as the shortest
 * text that reads back to the same bits.  Returns `text`. */
const char *label_write(double label, char text[LABEL_TEXT_SIZE]);

/* Are `count` whole labels from `least` to `most` too far apart for names? */
bool labels_spread(double least, double most, uint32_t count);

/* Count and map data->y; sets label and classes.  ERR_MISMATCH if a label is
 * not one of options->labels, ERR_RANGE if a class to be found is 2^53 or more
 * and so may be several that were rounded, or if there are more words than
 * CLASSES_MAX, ERR_NOMEM: with a sentence. */
MUST_CHECK enum err labels_settle(struct dataset *data,
                                  const struct label_options *options,
                                  struct why *why);

#endif /* DATA_LABELS_H */
