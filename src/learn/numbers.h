/*
 * numbers.h - the optimiser's numbers for one model on one set of rows.
 *
 * Folds and grids ask again for each of their parts, so this depends on the
 * options and the problem alone and changes neither.
 */
#ifndef LEARN_NUMBERS_H
#define LEARN_NUMBERS_H

#include "base/pool.h"
#include "learn/recipe/recipe.h"
#include "model/linear/problem.h"
#include "optim/optim.h"

struct family;

struct numbers {
    struct optim_options optim;
    /* Multiplies objectives when they are shown: C N with LIBLINEAR's flags,
     * else 1. */
    double shown_factor;
};

/* Rows that count: weight 0 leaves a row out. */
uint32_t numbers_rows(const struct dataset *data);

/* What all families share: the optimiser's own, rows, batches, steps.  A pass
 * costs `row_work` flops a row; 0: that does not count. */
MUST_CHECK enum err numbers_begin(const struct recipe *recipe,
                                  const struct family *family,
                                  const struct dataset *data, double row_work,
                                  struct numbers *numbers, struct why *why);
/* A rate that was said, or `rate`, if that is above 0, by --batch-per-worker
 * times the number of workers, with a warm-up; false: there is none. */
bool numbers_rate(const struct recipe *recipe, double rate,
                  struct optim_options *optim);
/* A penalty that was said, by either name; false: none was. */
bool numbers_penalty(const struct recipe *recipe, double *l2);
/* Steps over batches end as far from the optimum as the rate is large, so that
 * it falls to 0 unless somebody says how it goes. */
void numbers_let_fall(const struct recipe *recipe, struct optim_options *optim);
/* Of a linear model. */
MUST_CHECK enum err numbers_choose(const struct recipe *recipe,
                                   enum model_kind model, enum isa isa,
                                   const struct dataset *data,
                                   struct pool *pool, struct numbers *numbers,
                                   struct why *why);

#endif /* LEARN_NUMBERS_H */
