/*
 * golden.h - does this machine compute our bits?
 *
 * TALLY-6: a worker whose arithmetic differs (contracted multiply-adds, a
 * changed rounding mode, flush-to-zero) would spoil the hash for all.  A small
 * fixed problem with awkward values (denormals, -0, huge, odd sizes) is run
 * through each kernel and compared with a digest compiled in.
 */
#ifndef MATH_GOLDEN_H
#define MATH_GOLDEN_H

#include "base/err.h"
#include "base/hash.h"
#include "math/kernel/kernel.h"

/* Versions of the arithmetic: part of the hash's domain and the handshake. */
#define PROFILE_DENSE_NAME "dense-f64-1"
#define PROFILE_INDEX_NAME "index-i30-1"
#define PROFILE_CSR_NAME   "csr-f64-2"
/* PROFILE_SOFTMAX_NAME is in softmax.h. */

/* What `isa` computes here for the golden problem. */
struct digest golden_digest(enum isa isa);

/* The same for any kernel of this form: the tests try broken ones. */
typedef void (*golden_kernel)(const void *context, enum loss loss,
                              const struct dense_rows *in, const double *w,
                              double *g, double *loss_sum);
struct digest golden_digest_with(golden_kernel kernel, const void *context);

/* What every machine must compute. */
struct digest golden_expected(void);

/* What is not a plain gradient of fp32 rows.  DENSE: the hinge, sample weights,
 * narrow rows, Hessian-vector products and Hessians; INDEX and CSR: gradients
 * and Hessian-vector products of sparse rows; SOFTMAX: both, of all of them. */
enum golden_part {
    GOLDEN_DENSE,
    GOLDEN_INDEX,
    GOLDEN_CSR,
    GOLDEN_SOFTMAX,
    GOLDEN_PARTS
};

/* isa NULL: by the reference functions.  All zeros: out of memory. */
struct digest golden_part_digest(enum golden_part part, const enum isa *isa);
struct digest golden_part_expected(enum golden_part part);
const char *golden_part_profile(enum golden_part part);

/* All that golden_check compares, and the names of the profiles: who says the
 * same after that check computes the same bits of every kind of rows.  This is
 * what machines tell each other. */
struct digest golden_arithmetic(void);

/* ERR_MISMATCH, with a sentence, if it is not what it must be; also if the
 * calling thread's rounding mode or flush-to-zero flags are not the usual
 * ones.  ERR_UNSUPPORTED if this machine cannot run `isa`. */
MUST_CHECK enum err golden_check(enum isa isa, struct why *why);

#endif /* MATH_GOLDEN_H */
