/*
 * estimate.c - the estimate axis: the factor on the sum of what came in.
 *
 *   exact       1; all of the data must be in
 *   reference   1, whatever is missing, as the published ErasureHead does: the
 *               update is too short by the missing share
 *   ratio       rows / rows covered: the mean over the rows seen stands for
 *               the mean over all (a ratio estimator)
 *
 * Applied once, in fp64, after the merge (TALLY-5).
 */
#include "code/axes.h"

#include <string.h>

#include "base/check.h"

static double one_rescale(uint64_t rows_covered, uint64_t rows)
{
    (void)rows_covered;
    (void)rows;
    return 1;
}

/* Nothing covered: the sum is zero and stays zero. */
static double ratio_rescale(uint64_t rows_covered, uint64_t rows)
{
    return rows_covered == 0 ? 1 : (double)rows / (double)rows_covered;
}

static const struct estimate_ops estimates[] = {
    [ESTIMATE_EXACT] = {.name = "exact", .rescale = one_rescale},
    [ESTIMATE_REFERENCE] = {.name = "reference",
                            .partial = true,
                            .rescale = one_rescale},
    [ESTIMATE_RATIO] = {.name = "ratio",
                        .partial = true,
                        .rescale = ratio_rescale},
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
        if (strcmp(name, estimates[i].name) == 0) {
            *estimate = (enum estimate)i;
            return ERR_OK;
        }
    }
    return why_set(why, ERR_UNKNOWN,
                   "no estimate named %.64s; there are exact, reference, ratio",
                   name);
}
