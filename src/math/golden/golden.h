/*
 * golden.h - does this machine compute our bits?
 *
 * TALLY-6: a worker whose arithmetic differs (contracted multiply-adds, a
 * changed rounding mode, flush-to-zero) would spoil the hash for all.  A small
 * fixed problem with awkward values (denormals, -0, huge, odd sizes) is run
 * through each kernel and compared with a digest compiled in.  A new loss is
 * in them by being in its list (loss.h): test_golden.c prints the digests by
 * the reference functions, which golden.c then records.
 */
#ifndef MATH_GOLDEN_H
#define MATH_GOLDEN_H

#include "base/err.h"
#include "base/hash.h"
#include "math/kernel/kernel.h"

/* Versions of the arithmetic: part of the hash's domain and the handshake. */
#define PROFILE_DENSE_NAME "dense-f64-2"
#define PROFILE_INDEX_NAME "index-i30-1"
#define PROFILE_CSR_NAME   "csr-f64-2"
#define PROFILE_NET_NAME   "net-f32-2"
/* PROFILE_SOFTMAX_NAME is in softmax.h. */

/* Known bits of one kind of arithmetic. */
struct golden_part {
    const char *profile;
    /* Vectors and tallies are those of isa_best, whatever isa is.  NULL: by the
     * reference functions, where there are any.  Zeros: out of memory. */
    struct digest (*compute)(const enum isa *isa);
    const char *expected; /* What every machine must compute, in hex. */
};

/* Those of math/: dense rows (gradients of fp32; the hinge, sample weights,
 * narrow rows, Hessians and their products; scores, slopes and columns apart),
 * both kinds of sparse rows, softmax, vectors, tallies with their packing,
 * followed scales, exact sums, surveys, least squares, rows of batches. */
const struct golden_part *golden_parts(size_t *count);

/* The first of them for any kernel of this form: the tests try broken ones. */
typedef void (*golden_kernel)(const void *context, struct loss loss,
                              const struct dense_rows *in, const double *w,
                              double *g, double *loss_sum);
struct digest golden_digest_with(golden_kernel kernel, const void *context);

/* ERR_UNSUPPORTED if this machine cannot run `isa`, ERR_MISMATCH, with a
 * sentence, if the calling thread's rounding mode or flush-to-zero flags are
 * not the usual ones ... */
MUST_CHECK enum err golden_check_mode(enum isa isa, struct why *why);
/* ... if the part is not what it must be ... */
MUST_CHECK enum err golden_check_part(const struct golden_part *part,
                                      enum isa isa, struct why *why);
/* ... and all of that for the parts of math/. */
MUST_CHECK enum err golden_check(enum isa isa, struct why *why);

#endif /* MATH_GOLDEN_H */
