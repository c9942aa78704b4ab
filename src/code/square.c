/*
 * square.c - Gaussian elimination with partial pivoting, and one correction of
 * every solution by its own error.
 */
#include "code/square.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "base/check.h"
#include "base/mem.h"

enum err square_init(struct square *square, uint32_t size)
{
    *square = (struct square){.size = size};
    square->lu = mem_new((size_t)size * size, sizeof *square->lu);
    square->from = mem_new(size, sizeof *square->from);
    square->x = mem_new(size, sizeof *square->x);
    square->sum = mem_new(size, sizeof *square->sum);
    if (square->lu != NULL && square->from != NULL && square->x != NULL &&
        square->sum != NULL)
        return ERR_OK;
    square_close(square);
    return ERR_NOMEM;
}

void square_close(struct square *square)
{
    mem_free(square->lu);
    mem_free(square->from);
    mem_free(square->x);
    mem_free(square->sum);
    *square = (struct square){0};
}

static double *row_of(const struct square *square, uint32_t i)
{
    return square->lu + (size_t)i * square->n;
}

static void swap_rows(struct square *square, uint32_t i, uint32_t k)
{
    double *a = row_of(square, i);
    double *b = row_of(square, k);
    const uint32_t from = square->from[i];

    square->from[i] = square->from[k];
    square->from[k] = from;
    for (uint32_t j = 0; j < square->n; j++) {
        const double kept = a[j];

        a[j] = b[j];
        b[j] = kept;
    }
}

static uint32_t pivot_of(const struct square *square, uint32_t column)
{
    uint32_t best = column;

    for (uint32_t i = column + 1; i < square->n; i++) {
        if (fabs(row_of(square, i)[column]) >
            fabs(row_of(square, best)[column]))
            best = i;
    }
    return best;
}

static double largest(const struct square *square)
{
    double most = 0;

    for (size_t i = 0; i < (size_t)square->n * square->n; i++)
        most = fmax(most, fabs(square->lu[i]));
    return most;
}

static enum err factorise(struct square *square)
{
    const uint32_t n = square->n;
    const double least = DBL_EPSILON * n * largest(square);

    for (uint32_t k = 0; k < n; k++) {
        const uint32_t best = pivot_of(square, k);
        const double *top = row_of(square, k);

        if (best != k)
            swap_rows(square, k, best);
        if (!(fabs(top[k]) > least))
            return ERR_UNDECODABLE;
        for (uint32_t i = k + 1; i < n; i++) {
            double *row = row_of(square, i);

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
static void back(const struct square *square, const double *right)
{
    const uint32_t n = square->n;
    double *x = square->x;

    for (uint32_t i = 0; i < n; i++) {
        const double *row = row_of(square, i);

        x[i] = right[square->from[i]];
        for (uint32_t j = 0; j < i; j++)
            x[i] -= row[j] * x[j];
    }
    for (uint32_t i = n; i > 0; i--) {
        const double *row = row_of(square, i - 1);

        for (uint32_t j = i; j < n; j++)
            x[i - 1] -= row[j] * x[j];
        x[i - 1] /= row[i - 1];
    }
}

static void solve_one(const struct square *square, double *b)
{
    const uint32_t n = square->n;
    double *sum = square->sum;

    back(square, b);
    memcpy(sum, square->x, n * sizeof *sum);
    for (uint32_t i = 0; i < n; i++) {
        for (uint32_t j = 0; j < n; j++)
            b[i] -= square->a[(size_t)i * n + j] * sum[j];
    }
    back(square, b);
    for (uint32_t i = 0; i < n; i++)
        b[i] = sum[i] + square->x[i];
}

enum err square_factor(struct square *square, const double *a, uint32_t n)
{
    CHECK(n <= square->size);
    square->n = n;
    square->a = a;
    memcpy(square->lu, a, (size_t)n * n * sizeof *a);
    for (uint32_t i = 0; i < n; i++)
        square->from[i] = i;
    return factorise(square);
}

void square_apply(const struct square *square, double *b, uint32_t count)
{
    for (uint32_t k = 0; k < count; k++)
        solve_one(square, b + (size_t)k * square->n);
}

enum err square_solve(const double *a, double *b, uint32_t n, uint32_t count)
{
    struct square square = {0};
    enum err err = square_init(&square, n);

    if (err == ERR_OK)
        err = square_factor(&square, a, n);
    if (err == ERR_OK)
        square_apply(&square, b, count);
    square_close(&square);
    return err;
}
