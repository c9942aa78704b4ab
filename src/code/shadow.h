/*
 * shadow.h - what stands for a part that did not come, where a sample of its
 * rows did: the estimators of code `flexent`.
 *
 *     g     the sum over a missing part's rows, m of them
 *     g^    its estimate from a sample, right on average, of variance V
 *     r     what the parts that came suggest: m / (rows in) times their sum
 *
 *     abandon   0
 *     rescale   r
 *     shadow    g^
 *     shrink    l g^ + (1 - l) r,  l = D / (D + V),  D = max(0, |g^ - r|^2 - V)
 *
 * D estimates how far g is from r, so that l is the weight of least expected
 * error (James and Stein's, with its positive part): a sample that says no more
 * than its own noise is not listened to.  With parts of alike rows rescaling
 * has an error of m s^2, s^2 the variance between rows, and a sample of b rows
 * one of m^2 s^2 / b (1 - b/m), so that alone it wins above half of the rows;
 * where parts differ it wins with few.
 */
#ifndef CODE_SHADOW_H
#define CODE_SHADOW_H

#include <stdint.h>

#include "code/code.h"

struct shadow_part {
    const double *sum; /* g^ */
    double variance;   /* V; infinite: not known, as of a single row. */
    uint64_t rows;     /* m */
    double share;      /* b/m: of its rows in the sample. */
    double weight;     /* l, which shadow_fill sets. */
};

/* The weight of least expected error: distance2 is |g^ - r|^2. */
double shadow_weight(double distance2, double variance);

/* `sum` has what came, of `rows_in` rows: all `width` numbers of it become
 * the estimate for everything, the missing parts included.  Distances are of
 * the first `dims`.  Returns the expected squared error, over those, of what
 * stands for the missing parts: NaN where a variance it asks for is not known.
 * Where the distance is within the sample's own noise, rows are taken for
 * alike: then r, or nothing, is off by m s^2 at least (above). */
double shadow_fill(enum estimate estimate, struct shadow_part *parts,
                   uint32_t count, uint64_t rows_in, uint32_t dims,
                   uint32_t width, double *sum);

#endif /* CODE_SHADOW_H */
