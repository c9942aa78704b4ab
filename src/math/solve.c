#include "math/solve.h"

#include <assert.h>
#include <float.h>
#include <lapacke.h>
#include <math.h>

#include "base/check.h"
#include "base/mem.h"

static_assert(sizeof(lapack_int) == 4, "indices are handed over as int32");

/* LAPACK counts the wrong argument when an input is NaN: not our bug, so no
 * CHECK. */
static enum err err_of(lapack_int info)
{
    if (info == 0)
        return ERR_OK;
    if (info == LAPACK_WORK_MEMORY_ERROR ||
        info == LAPACK_TRANSPOSE_MEMORY_ERROR)
        return ERR_NOMEM;
    return info > 0 ? ERR_UNDECODABLE : ERR_RANGE;
}

/* Rounding hides a singular matrix from the factorisation, not from its
 * condition number. */
static enum err factorise(double *a, lapack_int n, lapack_int *pivot)
{
    const double norm = LAPACKE_dlange(LAPACK_ROW_MAJOR, '1', n, n, a, n);
    double inverse_condition = 0.0;
    enum err err;

    if (!isfinite(norm))
        return ERR_RANGE;
    err = err_of(LAPACKE_dgetrf(LAPACK_ROW_MAJOR, n, n, a, n, pivot));
    if (err != ERR_OK)
        return err;
    err = err_of(LAPACKE_dgecon(LAPACK_ROW_MAJOR, '1', n, a, n, norm,
                                &inverse_condition));
    if (err == ERR_OK && !(inverse_condition > DBL_EPSILON))
        return ERR_UNDECODABLE;
    return err;
}

enum err solve_square(double *a, double *b, uint32_t n)
{
    const lapack_int order = (lapack_int)n;
    lapack_int *pivot;
    enum err err;

    CHECK(n <= INT32_MAX);
    if (n == 0)
        return ERR_OK;
    pivot = mem_new(n, sizeof *pivot);
    if (pivot == NULL)
        return ERR_NOMEM;
    err = factorise(a, order, pivot);
    if (err == ERR_OK)
        err = err_of(LAPACKE_dgetrs(LAPACK_ROW_MAJOR, 'N', order, 1, a, order,
                                    pivot, b, 1));
    mem_free(pivot);
    return err;
}

enum err solve_least_squares(double *a, double *b, uint32_t rows, uint32_t cols)
{
    const uint32_t least = rows < cols ? rows : cols;
    const uint32_t most = rows < cols ? cols : rows;
    double *singular;
    lapack_int rank = 0;
    enum err err;

    CHECK(most <= INT32_MAX);
    if (least == 0) {
        for (uint32_t j = 0; j < cols; j++)
            b[j] = 0.0;
        return ERR_OK;
    }
    singular = mem_new(least, sizeof *singular);
    if (singular == NULL)
        return ERR_NOMEM;
    err = err_of(LAPACKE_dgelsd(LAPACK_ROW_MAJOR, (lapack_int)rows,
                                (lapack_int)cols, 1, a, (lapack_int)cols, b, 1,
                                singular, DBL_EPSILON * most, &rank));
    mem_free(singular);
    return err;
}
