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

/* How much work the routine wants for the largest system. */
static lapack_int work_wanted(uint32_t rows, uint32_t cols)
{
    const lapack_int most = (lapack_int)(rows > cols ? rows : cols);
    lapack_int rank = 0;
    double wanted = 0;
    double dummy = 0;
    lapack_int pivot = 0;

    if (LAPACKE_dgelsy_work(LAPACK_COL_MAJOR, (lapack_int)rows,
                            (lapack_int)cols, 1, &dummy, (lapack_int)rows,
                            &dummy, most, &pivot, DBL_EPSILON * most, &rank,
                            &wanted, -1) != 0)
        return 0;
    return (lapack_int)wanted;
}

enum err solve_room_init(struct solve_room *room, uint32_t rows, uint32_t cols)
{
    CHECK(rows > 0 && cols > 0);
    *room = (struct solve_room){.rows = rows, .cols = cols};
    room->work_size = work_wanted(rows, cols);
    if (room->work_size <= 0)
        return ERR_UNSUPPORTED;
    room->work = mem_new((size_t)room->work_size, sizeof *room->work);
    room->pivot = mem_new(cols, sizeof *room->pivot);
    if (room->work == NULL || room->pivot == NULL) {
        solve_room_close(room);
        return ERR_NOMEM;
    }
    return ERR_OK;
}

void solve_room_close(struct solve_room *room)
{
    mem_free(room->work);
    mem_free(room->pivot);
    *room = (struct solve_room){0};
}

enum err solve_shortest(struct solve_room *room, double *a, double *b,
                        uint32_t rows, uint32_t cols)
{
    const lapack_int most = (lapack_int)(rows > cols ? rows : cols);
    lapack_int rank = 0;

    CHECK(rows <= room->rows && cols <= room->cols);
    for (uint32_t j = 0; j < cols; j++)
        room->pivot[j] = 0;
    return err_of(LAPACKE_dgelsy_work(LAPACK_COL_MAJOR, (lapack_int)rows,
                                      (lapack_int)cols, 1, a, (lapack_int)rows,
                                      b, most, room->pivot, DBL_EPSILON * most,
                                      &rank, room->work, room->work_size));
}
