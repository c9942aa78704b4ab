/*
 * square.c - Gaussian elimination with partial pivoting, and one correction of
 * every solution by its own error.
 */
#include "code/square.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "base/mem.h"

struct factors {
    uint32_t n;
    double *lu;      /* n x n, rows in the order of `from`. */
    uint32_t *from;  /* Row i was row from[i]. */
    double *x, *sum; /* n each. */
};

static double *row_of(const struct factors *factors, uint32_t i)
{
    return factors->lu + (size_t)i * factors->n;
}

static void swap_rows(struct factors *factors, uint32_t i, uint32_t k)
{
    double *a = row_of(factors, i);
    double *b = row_of(factors, k);
    const uint32_t from = factors->from[i];

    factors->from[i] = factors->from[k];
    factors->from[k] = from;
    for (uint32_t j = 0; j < factors->n; j++) {
        const double kept = a[j];

        a[j] = b[j];
        b[j] = kept;
    }
}

static uint32_t pivot_of(const struct factors *factors, uint32_t column)
{
    uint32_t best = column;

    for (uint32_t i = column + 1; i < factors->n; i++) {
        if (fabs(row_of(factors, i)[column]) >
            fabs(row_of(factors, best)[column]))
            best = i;
    }
    return best;
}

static double largest(const struct factors *factors)
{
    double most = 0;

    for (size_t i = 0; i < (size_t)factors->n * factors->n; i++)
        most = fmax(most, fabs(factors->lu[i]));
    return most;
}

static enum err factorise(struct factors *factors)
{
    const uint32_t n = factors->n;
    const double least = DBL_EPSILON * n * largest(factors);

    for (uint32_t k = 0; k < n; k++) {
        const uint32_t best = pivot_of(factors, k);
        const double *top = row_of(factors, k);

        if (best != k)
            swap_rows(factors, k, best);
        if (!(fabs(top[k]) > least))
            return ERR_UNDECODABLE;
        for (uint32_t i = k + 1; i < n; i++) {
            double *row = row_of(factors, i);

            if (row[k] == 0)
                continue;
            row[k] /= top[k];
            for (uint32_t j = k + 1; j < n; j++)
                row[j] -= row[k] * top[j];
        }
    }
    return ERR_OK;
}

/* x = the solution for `right`. */
static void back(const struct factors *factors, const double *right)
{
    const uint32_t n = factors->n;
    double *x = factors->x;

    for (uint32_t i = 0; i < n; i++) {
        const double *row = row_of(factors, i);

        x[i] = right[factors->from[i]];
        for (uint32_t j = 0; j < i; j++)
            x[i] -= row[j] * x[j];
    }
    for (uint32_t i = n; i > 0; i--) {
        const double *row = row_of(factors, i - 1);

        for (uint32_t j = i; j < n; j++)
            x[i - 1] -= row[j] * x[j];
        x[i - 1] /= row[i - 1];
    }
}

static void solve_one(const struct factors *factors, const double *a, double *b)
{
    const uint32_t n = factors->n;
    double *sum = factors->sum;

    back(factors, b);
    memcpy(sum, factors->x, n * sizeof *sum);
    for (uint32_t i = 0; i < n; i++) {
        for (uint32_t j = 0; j < n; j++)
            b[i] -= a[(size_t)i * n + j] * sum[j];
    }
    back(factors, b);
    for (uint32_t i = 0; i < n; i++)
        b[i] = sum[i] + factors->x[i];
}

enum err square_solve(const double *a, double *b, uint32_t n, uint32_t count)
{
    struct factors factors = {.n = n};
    enum err err = ERR_NOMEM;

    factors.lu = mem_new((size_t)n * n, sizeof *factors.lu);
    factors.from = mem_new(n, sizeof *factors.from);
    factors.x = mem_new(n, sizeof *factors.x);
    factors.sum = mem_new(n, sizeof *factors.sum);
    if (factors.lu != NULL && factors.from != NULL && factors.x != NULL &&
        factors.sum != NULL) {
        memcpy(factors.lu, a, (size_t)n * n * sizeof *a);
        for (uint32_t i = 0; i < n; i++)
            factors.from[i] = i;
        err = factorise(&factors);
    }
    for (uint32_t k = 0; k < count && err == ERR_OK; k++)
        solve_one(&factors, a, b + (size_t)k * n);
    mem_free(factors.lu);
    mem_free(factors.from);
    mem_free(factors.x);
    mem_free(factors.sum);
    return err;
}
