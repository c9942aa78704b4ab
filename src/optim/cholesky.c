#include "optim/cholesky.h"

#include <math.h>
#include <stddef.h>

#include "math/vec.h"

/* What is left of a pivot below this share of the diagonal is rounding. */
#define PIVOT_LEAST 1e-14

static size_t row_at(uint32_t i)
{
    return (size_t)i * (i + 1) / 2;
}

void cholesky_factor(double *a, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        double *row = a + row_at(i);
        double left;

        for (uint32_t j = 0; j < i; j++) {
            const double *above = a + row_at(j);

            row[j] =
                above[j] > 0 ? (row[j] - vec_dot(row, above, j)) / above[j] : 0;
        }
        left = row[i] - vec_dot(row, row, i);
        row[i] = left > PIVOT_LEAST * row[i] && left > 0 ? sqrt(left) : 0;
    }
}

void cholesky_solve(const double *l, uint32_t n, double *x)
{
    for (uint32_t i = 0; i < n; i++) {
        const double *row = l + row_at(i);

        x[i] = row[i] > 0 ? (x[i] - vec_dot(row, x, i)) / row[i] : 0;
    }
    for (uint32_t i = n; i-- > 0;) {
        const double *row = l + row_at(i);

        if (!(row[i] > 0))
            continue;
        x[i] /= row[i];
        for (uint32_t j = 0; j < i; j++)
            x[j] -= row[j] * x[i];
    }
}
