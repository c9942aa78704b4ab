/*
 * sparse_ref.c - the definition of sparse.h in plain scalars, one row after
 * the other, sums in 128 bits of their own.
 */
#include <math.h>

#include "base/check.h"
#include "math/kernel/slope_ref.h"
#include "math/kernel/sparse.h"

/* The exponent k of the quantised weights. */
static int ref_weight_exponent(const double *w, uint32_t cols)
{
    int k = 1022;

    for (uint32_t j = 0; j < cols; j++) {
        while (!(ldexp(fabs(w[j]), k) < 0x1p30))
            k--;
    }
    for (uint32_t j = 0; j < cols; j++) {
        if (w[j] != 0.0)
            return k;
    }
    return 0;
}

/* Profile csr: no exponent more than 63 above another. */
static bool ref_span(const int16_t *exponent, uint32_t cols)
{
    int least = exponent[0];
    int most = exponent[0];

    for (uint32_t j = 0; j < cols; j++) {
        least = exponent[j] < least ? exponent[j] : least;
        most = exponent[j] > most ? exponent[j] : most;
    }
    return most - least <= 63;
}

static bool ref_finite(const double *w, uint32_t cols)
{
    for (uint32_t j = 0; j < cols; j++) {
        if (!isfinite(w[j]))
            return false;
    }
    return true;
}

static double ref_index_score(const struct sparse_rows *in, uint32_t i,
                              const double *w, int k)
{
    int64_t sum = 0;

    for (uint64_t t = in->begin[i]; t < in->begin[i + 1]; t++) {
        const double q = rint(ldexp(w[in->column[t]], k));

        sum += (int64_t)fmax(fmin(q, 0x1p30 - 1), 1 - 0x1p30);
    }
    return ldexp((double)sum, -k);
}

static double ref_csr_score(const struct sparse_rows *in, uint32_t i,
                            const double *w)
{
    double lane[4] = {0};

    for (uint64_t t = in->begin[i]; t < in->begin[i + 1]; t++)
        lane[(t - in->begin[i]) % 4] += (double)in->value[t] * w[in->column[t]];
    return (lane[0] + lane[2]) + (lane[1] + lane[3]);
}

struct ref_job {
    struct loss loss;
    const struct sparse_rows *in;
    const struct evaluation *what;
    const int16_t *exponent;
    int k, kv;
};

/* What row i multiplies its entries by. */
static double ref_residual(const struct ref_job *job, uint32_t i, double *loss)
{
    const struct sparse_rows *const in = job->in;
    const bool csr = in->value != NULL;
    const double *const w = job->what->w;
    const double *const v = job->what->v;
    const double z =
        csr ? ref_csr_score(in, i, w) : ref_index_score(in, i, w, job->k);
    const struct loss_slope slope =
        ref_slope_of_row(job->loss, z, in->y[i], in->weight, i);

    if (job->what->kind == EVALUATE_GRADIENT) {
        *loss += slope.loss;
        return slope.r;
    }
    return slope.h *
           (csr ? ref_csr_score(in, i, v) : ref_index_score(in, i, v, job->kv));
}

/* Adds the rows if `sum` is not NULL; says whether all of them fit. */
static bool ref_rows(const struct ref_job *job, int64_t *sum, double *loss)
{
    const struct sparse_rows *const in = job->in;

    *loss = 0.0;
    for (uint32_t i = 0; i < in->rows; i++) {
        const double r = ref_residual(job, i, loss);

        /* A row without entries is judged too. */
        if (!isfinite(r) ||
            (in->value == NULL && !(fabs(ldexp(r, job->exponent[0])) < 0x1p62)))
            return false;
        for (uint64_t t = in->begin[i]; t < in->begin[i + 1]; t++) {
            const uint32_t j = in->column[t];
            const double scaled =
                in->value != NULL
                    ? ldexp((double)in->value[t] * r, job->exponent[j])
                    : ldexp(r, job->exponent[0]);

            if (!(fabs(scaled) < (in->value != NULL ? 0x1p57 : 0x1p62)))
                return false;
            if (sum != NULL)
                sum[j] += (int64_t)rint(scaled);
        }
    }
    return true;
}

enum err sparse_add_chunk_ref(struct loss loss, const struct sparse_rows *in,
                              const struct evaluation *what,
                              const int16_t *exponent, uint32_t chunk,
                              struct tally *tally)
{
    struct ref_job job = {loss, in, what, exponent, 0, 0};
    double loss_sum = 0.0;

    CHECK(what->kind != EVALUATE_HESSIAN);
    if (chunkset_has(&tally->chunks, chunk))
        return ERR_OVERLAP;
    if (in->value == NULL) {
        if (!ref_finite(what->w, in->cols) ||
            (what->v != NULL && !ref_finite(what->v, in->cols)))
            return ERR_RANGE;
        job.k = ref_weight_exponent(what->w, in->cols);
        if (what->v != NULL)
            job.kv = ref_weight_exponent(what->v, in->cols);
    }
    if (in->value != NULL && !ref_span(exponent, in->cols))
        return ERR_RANGE;
    if (!ref_rows(&job, NULL, &loss_sum) ||
        !tally_loss_fits(tally, exponent, loss_sum))
        return ERR_RANGE;
    (void)ref_rows(&job, tally->sum, &loss_sum);
    tally_mark(tally, exponent, chunk, loss_sum);
    return ERR_OK;
}
