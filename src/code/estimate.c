/*
 * estimate.c - the estimate axis: the factor on the sum of what came in.
 *
 *   exact       1; all of the data must be in
 *   reference   1, whatever is missing, as the published ErasureHead does: the
 *               update is too short by the missing share
 *   ratio       rows / rows covered: the mean over the rows seen stands for
 *               the mean over all (a ratio estimator)
 *   shadow      1: samples of what is missing are added instead
 *   shrink      the same, as far as they can be trusted (code/shadow.h)
 *   unbiased    1 / the chance that a group is covered, when any k of the n
 *               slots are equally likely to be the first: right on average,
 *               and therefore not 1 even in a step that covers everything
 *
 * Applied once, in fp64, after the merge (TALLY-5).
 */
#include "code/axes.h"

#include <string.h>

#include "base/check.h"

static double one_rescale(const struct code *code, uint64_t rows_covered,
                          uint64_t rows)
{
    (void)code;
    (void)rows_covered;
    (void)rows;
    return 1;
}

/* Nothing covered: the sum is zero and stays zero. */
static double ratio_rescale(const struct code *code, uint64_t rows_covered,
                            uint64_t rows)
{
    (void)code;
    return rows_covered == 0 ? 1 : (double)rows / (double)rows_covered;
}

static uint32_t group_size(const struct code *code)
{
    return placement_ops(code->spec.placement)->group_size(code);
}

/* All d slots of a group are among the f silent ones of n with probability
 * C(n-d, f-d) / C(n, f) = f/n (f-1)/(n-1) ...: d factors. */
static double unbiased_rescale(const struct code *code, uint64_t rows_covered,
                               uint64_t rows)
{
    const uint32_t n = code->slots;
    const uint32_t d = group_size(code);
    const double silent = n - code->spec.k;
    double missed = 1;

    (void)rows_covered;
    (void)rows;
    if (code->spec.stop == STOP_GROUPS)
        return (double)code->group_count / code->spec.k;
    for (uint32_t i = 0; i < d; i++)
        missed *= silent > i ? (silent - i) / (n - i) : 0;
    return 1 / (1 - missed);
}

static bool groups_alike(const struct code_spec *spec)
{
    return placement_ops(spec->placement)->group_size != NULL &&
           spec->schedule == SCHED_ALL;
}

static enum err unbiased_vet(const struct code *code, struct why *why)
{
    const struct code_spec *spec = &code->spec;

    if (code->carrier == CARRIER_F64)
        return ERR_OK; /* It is in the coefficients. */
    if (!groups_alike(spec))
        return why_set(why, ERR_SHAPE,
                       "estimate unbiased needs groups of workers that do the "
                       "same work at once, and code %s has none; use ratio",
                       spec->name);
    if (spec->stop != STOP_FIRST && spec->stop != STOP_COLLECT &&
        spec->stop != STOP_GROUPS)
        return why_set(why, ERR_SHAPE,
                       "estimate unbiased needs the chance of being covered, "
                       "which is known only for the stops first, collect and "
                       "groups; use ratio with code %s",
                       spec->name);
    if (code->slots % group_size(code) != 0)
        return why_set(why, ERR_SHAPE,
                       "estimate unbiased needs groups of one size, and %u "
                       "does not divide %u; use ratio",
                       group_size(code), code->slots);
    return ERR_OK;
}

static enum err shadow_vet(const struct code *code, struct why *why)
{
    if (placement_ops(code->spec.placement)->sampled)
        return ERR_OK;
    return why_set(why, ERR_SHAPE,
                   "estimate %s needs samples of what is missing, and code %s "
                   "has none; take flexent, or ratio",
                   estimate_ops(code->spec.estimate)->name, code->spec.name);
}

static const struct estimate_ops estimates[] = {
    [ESTIMATE_EXACT] = {.name = "exact", .rescale = one_rescale},
    [ESTIMATE_REFERENCE] = {.name = "reference",
                            .alias = "abandon",
                            .partial = true,
                            .rescale = one_rescale},
    [ESTIMATE_RATIO] = {.name = "ratio",
                        .alias = "rescale",
                        .partial = true,
                        .rescale = ratio_rescale},
    [ESTIMATE_UNBIASED] = {.name = "unbiased",
                           .partial = true,
                           .rescale = unbiased_rescale,
                           .vet = unbiased_vet},
    [ESTIMATE_SHADOW] = {.name = "shadow",
                         .partial = true,
                         .rescale = one_rescale,
                         .vet = shadow_vet},
    [ESTIMATE_SHRINK] = {.name = "shrink",
                         .partial = true,
                         .rescale = one_rescale,
                         .vet = shadow_vet},
};

#define ESTIMATES (sizeof estimates / sizeof *estimates)

const struct estimate_ops *estimate_ops(enum estimate estimate)
{
    CHECK((size_t)estimate < ESTIMATES);
    return &estimates[estimate];
}

enum err estimate_find(const char *name, enum estimate *estimate,
                       struct why *why)
{
    for (size_t i = 0; i < ESTIMATES; i++) {
        if (strcmp(name, estimates[i].name) == 0 ||
            (estimates[i].alias != NULL &&
             strcmp(name, estimates[i].alias) == 0)) {
            *estimate = (enum estimate)i;
            return ERR_OK;
        }
    }
    return why_set(why, ERR_UNKNOWN,
                   "no estimate named %.64s; there are exact, reference "
                   "(abandon), ratio (rescale), unbiased, shadow, shrink",
                   name);
}
