/*
 * registry.c - every evaluator there is.  ARCHITECTURE.md, "To add
 * something", says what a new one needs besides its row.
 */
#include "eval/registry.h"

#include <string.h>

#include "eval/kinds.h"

static const struct evaluator_ops *const evaluators[] = {
    &linear_evaluator,   &local_evaluator,      &net_evaluator,
    &products_evaluator, &sequential_evaluator, &shadow_evaluator,
    &user_evaluator,
};

const struct evaluator_ops *evaluator_named(const struct brief *brief)
{
    for (size_t i = 0; i < sizeof evaluators / sizeof *evaluators; i++) {
        if (brief_names(brief, evaluators[i]->name))
            return evaluators[i];
    }
    return NULL;
}

enum err evaluator_open(const struct brief *brief, const struct shelf *shelf,
                        struct pool *pool, struct evaluator **out)
{
    const struct evaluator_ops *const ops = evaluator_named(brief);

    return ops == NULL ? ERR_UNKNOWN : ops->open(brief, shelf, pool, out);
}

enum err evaluator_open_problem(const struct problem *problem,
                                const struct sampler *sampler,
                                struct pool *pool, struct evaluator **out)
{
    const struct subject subject = subject_of(problem);
    const struct shelf shelf = {.data = problem->data, .isa = problem->isa};
    uint8_t room[BRIEF_MAX];
    const struct brief brief = brief_linear(room, &subject, sampler);

    return evaluator_open(&brief, &shelf, pool, out);
}
