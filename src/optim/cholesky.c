/*
 * cholesky.c - Cholesky factorisation and its triangular solves, every sum a
 * vec_dot.  A pivot that is rounding is set to zero (or to its floor), and what
 * depends on it is left out of the solution.
 */
#include "optim/cholesky.h"

#include <math.h>
#include <stddef.h>

#include "math/vec.h"

/* What is left of a pivot below this share of the diagonal is rounding. */
#define PIVOT_LEAST    1e-14
#define PIVOT_ROUNDING 0x1p-50

static void factor(double *a, uint32_t n, double floor)
{
    for (uint32_t i = 0; i < n; i++) {
        double *row = a + cholesky_row(i);
        double left;

        for (uint32_t j = 0; j < i; j++) {
            const double *above = a + cholesky_row(j);

            row[j] =
                above[j] > 0 ? (row[j] - vec_dot(row, above, j)) / above[j] : 0;
        }
        left = row[i] - vec_dot(row, row, i);
        if (!(left > PIVOT_LEAST * row[i]))
            left = floor * row[i];
        row[i] = left > 0 ? sqrt(left) : 0;
    }
}

void cholesky_factor(double *a, uint32_t n)
{
    factor(a, n, 0);
}

void cholesky_factor_all(double *a, uint32_t n)
{
    factor(a, n, PIVOT_ROUNDING);
}

void cholesky_null(const double *l, uint32_t n, uint32_t i, double *v)
{
    const double *taken = l + cholesky_row(i);

    for (uint32_t j = 0; j < n; j++)
        v[j] = j < i ? -taken[j] : 0;
    for (uint32_t j = i; j-- > 0;) {
        const double *row = l + cholesky_row(j);

        v[j] = row[j] > 0 ? v[j] / row[j] : 0;
        for (uint32_t k = 0; k < j; k++)
            v[k] -= row[k] * v[j];
    }
    v[i] = 1;
}

void cholesky_solve(const double *l, uint32_t n, double *x)
{
    for (uint32_t i = 0; i < n; i++) {
        const double *row = l + cholesky_row(i);

        x[i] = row[i] > 0 ? (x[i] - vec_dot(row, x, i)) / row[i] : 0;
    }
    for (uint32_t i = n; i-- > 0;) {
        const double *row = l + cholesky_row(i);

        if (!(row[i] > 0))
            continue;
        x[i] /= row[i];
        for (uint32_t j = 0; j < i; j++)
            x[j] -= row[j] * x[i];
    }
}
