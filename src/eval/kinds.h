/*
 * kinds.h - the evaluators to each other and to their table; nobody else's.
 */
#ifndef EVAL_KINDS_H
#define EVAL_KINDS_H

#include "base/bytes.h"
#include "data/rows/reading.h"
#include "eval/briefs.h"
#include "eval/evaluator.h"
#include "optim/sgd.h"

extern const struct evaluator_ops linear_evaluator, local_evaluator,
    net_evaluator, products_evaluator, sequential_evaluator, shadow_evaluator,
    user_evaluator;

/* Is it one for the evaluator of that name? */
bool brief_names(const struct brief *brief, const char *name);

/* What is behind the name, each by its own kind.  ERR_FORMAT. */
MUST_CHECK enum err brief_read_linear(const struct brief *brief,
                                      struct subject *subject,
                                      struct sampler *sampler);
MUST_CHECK enum err brief_read_local(const struct brief *brief,
                                     struct subject *subject,
                                     struct local *local);
/* The model without parameters, which the caller closes, even after an
 * error. */
MUST_CHECK enum err brief_read_net(const struct brief *brief,
                                   struct dataset_shape *rows,
                                   struct neural_model *model,
                                   struct sampler *sampler, uint64_t *seed);
MUST_CHECK enum err brief_read_products(const struct brief *brief,
                                        struct dataset_shape *rows,
                                        bool *narrow);
MUST_CHECK enum err brief_read_sequential(const struct brief *brief,
                                          struct subject *subject,
                                          struct passes *passes);
/* `inside` points into the brief. */
MUST_CHECK enum err brief_read_shadow(const struct brief *brief,
                                      struct shadowing *shadowing,
                                      struct brief *inside);
MUST_CHECK enum err brief_read_user(const struct brief *brief, uint32_t *dims,
                                    uint32_t *chunks);

/* The problem that the subject is of these rows.  ERR_SHAPE: it is of
 * others. */
MUST_CHECK enum err subject_problem(const struct subject *subject,
                                    const struct shelf *shelf,
                                    struct problem *problem);

/* Lets the sampler know how these rows are cut; *own is what was made for it,
 * the caller's to free.  ERR_SHAPE: it draws from rows that are elsewhere. */
MUST_CHECK enum err shelf_cut(const struct shelf *shelf,
                              struct sampler *sampler, uint32_t **own);

/* Of a linear evaluator; its data are those that the run reads. */
const struct problem *linear_problem(const struct evaluator *self);

/* A row that was read, as sgd takes it. */
static inline struct sgd_row row_for_sgd(const struct reading_row *read)
{
    return (struct sgd_row){.value = read->value,
                            .wide = read->wide,
                            .index = read->index,
                            .count = read->count,
                            .y = read->y,
                            .weight = read->weight};
}

#endif /* EVAL_KINDS_H */
