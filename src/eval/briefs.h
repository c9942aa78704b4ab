/*
 * briefs.h - the briefs of the evaluators: what makes them.
 *
 * The name of the evaluator, then what it alone understands.  Models are named,
 * not numbered.
 */
#ifndef EVAL_BRIEFS_H
#define EVAL_BRIEFS_H

#include "base/brief.h"
#include "base/sampler.h"
#include "eval/shadow.h"
#include "eval/user.h"
#include "model/linear/problem.h"
#include "model/net/neural_model.h"
#include "optim/optim.h"

#define BRIEF_NET_MAX 3072u

/* What sums are of: which rows, and which model of them. */
struct subject {
    struct dataset_shape rows;
    const struct model_ops *model;
    uint32_t outputs;
};

struct subject subject_of(const struct problem *problem);

/* sgd over all rows, one after the other (optim/sgd.h). */
struct passes {
    double rate, l2; /* > 0 */
    uint32_t count;
    uint64_t seed;
    bool has_free; /* A weight `free` is without penalty. */
    uint32_t free;
};

/* Each writes to `room`, which is the caller's and outlives the brief.  Of a
 * sampler that is SAMPLER_WHOLE nothing else is looked at. */
struct brief brief_linear(uint8_t room[BRIEF_MAX],
                          const struct subject *subject,
                          const struct sampler *sampler);
struct brief brief_local(uint8_t room[BRIEF_MAX], const struct subject *subject,
                         const struct local *local);
/* A text of at most BRIEF_NET_MAX characters; of the model's parameters nothing
 * is said.  The seed is that of what layers draw. */
struct brief brief_net(uint8_t room[BRIEF_MAX],
                       const struct dataset_shape *rows,
                       const struct neural_model *model,
                       const struct sampler *sampler, uint64_t seed);
/* `narrow`: blocks are kept as fp32. */
struct brief brief_products(uint8_t room[BRIEF_MAX],
                            const struct dataset_shape *rows, bool narrow);
struct brief brief_sequential(uint8_t room[BRIEF_MAX],
                              const struct subject *subject,
                              const struct passes *passes);
/* What a run asks of rows: products with coded ones, averages of local models
 * or sums. */
struct brief brief_rows(uint8_t room[BRIEF_MAX], const struct problem *problem,
                        bool products, bool narrow,
                        const struct optim_options *optim);
/* The evaluator `shadow` over that of another brief, which is not in `room`. */
struct brief brief_shadow(uint8_t room[BRIEF_MAX], const struct brief *inside,
                          const struct shadowing *shadowing);
struct brief brief_user(uint8_t room[BRIEF_MAX],
                        const struct user_function *user);

#endif /* EVAL_BRIEFS_H */
