/*
 * colour.h - filters that colour rows: what samples are stratified by.
 *
 * A filter maps a row to one of a few colours.  Its characteristic graph joins
 * rows of different colours, so that it is complete multipartite: its least
 * colouring is the partition by the filter's value, and its graph entropy under
 * a uniform choice of rows is the entropy of that value (Koerner, 1973).  No
 * graph is built.
 *
 *     label        the class, or the quartile of a number
 *     intensity    images: the quartile of the mean value
 *     block:i,j    images: is the mean of a quarter above what it usually is?
 *     edges        images: the quartile of the Sobel energy
 *     projection:k is a random mixture of all columns above its median?
 *     column:k     the quartile of a column as it is encoded (a file's column
 *                  of words is several), counted from 1, which a user may
 *                  name; of columns that none is named the widest spread are
 *                  tried
 *
 * A row's colour under several filters is the tuple; rows of one tuple are a
 * cell.  Colours depend on the row and the filters, with the thresholds that
 * are part of them, so that every machine gives a row the same.
 */
#ifndef DATA_COLOUR_H
#define DATA_COLOUR_H

#include <stdint.h>

#include "base/err.h"
#include "data/rows/dataset.h"

#define FILTER_BINS   4u /* Of quartiles; labels may have more. */
#define FILTERS_MAX   6u /* At once. */
#define FILTERS_TRIED 32u
#define FILTER_TEXT   32u
#define COLOURS_MAX   65536u /* Tuples of all filters together. */
#define COLOUR_ROWS   16384u /* Thresholds come from so many rows at most. */
#define COLOUR_SEED   UINT64_C(0x636f6c6f7572) /* Of projections. */

enum filter_kind {
    FILTER_LABEL,
    FILTER_INTENSITY,
    FILTER_BLOCK,
    FILTER_EDGES,
    FILTER_PROJECTION,
    FILTER_COLUMN,
    FILTER_KINDS,
};

struct filter {
    enum filter_kind kind;
    uint32_t arg;  /* Block, projection or column; label: classes, or 0. */
    uint32_t bins; /* Colours. */
    double cut[FILTER_BINS - 1]; /* bins - 1 of them, ascending: the colour is
                                    how many the value is above; of classes
                                    none. */
};

struct colouring {
    struct image image; /* Of filters that look at images. */
    uint32_t cols;
    uint32_t count;
    struct filter filter[FILTERS_MAX];
};

/* "block:0,1". */
const char *filter_text(const struct filter *filter, char text[FILTER_TEXT]);

/* Could it be one of rows of so many columns?  For those that come over the
 * network. */
bool colouring_fits(const struct colouring *colouring);
/* Tuples: the product of all filters' colours, 1 without any. */
uint32_t colouring_colours(const struct colouring *colouring);

/* Below colouring_colours.  `values` is room for data->cols numbers. */
uint32_t colour_row(const struct colouring *colouring,
                    const struct dataset *data, uint32_t row, double *values);

/* Are all names of a wish (below) filters?  Whether rows have them is another
 * question.  ERR_RANGE, with a sentence. */
MUST_CHECK enum err colour_vet(const char *wish, struct why *why);
/* That question: of rows with so many columns of the user's, to whom the
 * intercept is none.  ERR_RANGE, with a sentence. */
MUST_CHECK enum err colour_check(const char *wish, const struct image *image,
                                 uint32_t cols, struct why *why);

/* Filters that suit the rows, at most FILTERS_TRIED, with their thresholds from
 * these rows, all of them present.  `wish` names some (`label+column:3`; NULL:
 * those that suit).  ERR_NOMEM.  ERR_RANGE, with a sentence:
 * no such filter, or not of these rows. */
MUST_CHECK enum err colour_candidates(const struct dataset *data,
                                      const char *wish, struct filter *filter,
                                      uint32_t *count, struct why *why);

/* How a choice went on. */
struct colour_choice {
    struct filter filter;
    double alone; /* Entropy of its colours, in bits, ... */
    double joint; /* ... of the tuples with those before it. */
    uint32_t cells;
};

/* Of the candidates, greedily, the one that adds most to the joint entropy, as
 * long as there are at most `cells_max` cells that have rows: entropy is
 * submodular, so greed comes within 1 - 1/e of the best.  `choice`, if not
 * NULL, has room for FILTERS_MAX.  ERR_NOMEM. */
MUST_CHECK enum err colour_choose(const struct dataset *data,
                                  const struct filter *filter, uint32_t count,
                                  uint32_t cells_max,
                                  struct colouring *colouring,
                                  struct colour_choice *choice);

#endif /* DATA_COLOUR_H */
