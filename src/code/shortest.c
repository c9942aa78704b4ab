/*
 * shortest.c - rows q_i orthonormal with row_i = sum_{k<=i} r_ik q_k, then
 * R y = right and x = sum_k y_k q_k.
 *
 * Every row is orthogonalised twice (once loses digits where rows are nearly
 * parallel), and the solution is corrected once by its own error.
 */
#include "code/shortest.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "base/check.h"
#include "base/mem.h"

enum err shortest_init(struct shortest *room, uint32_t size)
{
    const size_t square = (size_t)size * size;

    *room = (struct shortest){.size = size};
    room->row = mem_new(square, sizeof *room->row);
    room->unit = mem_new(square, sizeof *room->unit);
    room->along = mem_new(square, sizeof *room->along);
    room->right = mem_new(size, sizeof *room->right);
    room->x = mem_new(size, sizeof *room->x);
    room->y = mem_new(size, sizeof *room->y);
    room->error = mem_new(size, sizeof *room->error);
    if (room->row == NULL || room->unit == NULL || room->along == NULL ||
        room->right == NULL || room->x == NULL || room->y == NULL ||
        room->error == NULL)
        return ERR_NOMEM;
    return ERR_OK;
}

void shortest_close(struct shortest *room)
{
    mem_free(room->row);
    mem_free(room->unit);
    mem_free(room->along);
    mem_free(room->right);
    mem_free(room->x);
    mem_free(room->y);
    mem_free(room->error);
    *room = (struct shortest){0};
}

static double *at(const struct shortest *room, double *square, uint32_t i)
{
    return square + (size_t)i * room->size;
}

static double dot(const double *a, const double *b, uint32_t n)
{
    double sum = 0;

    for (uint32_t i = 0; i < n; i++)
        sum += a[i] * b[i];
    return sum;
}

static enum err orthogonalise(struct shortest *room, uint32_t i, uint32_t n)
{
    double *unit = at(room, room->unit, i);
    double *along = at(room, room->along, i);
    const double size = sqrt(dot(unit, unit, n));
    double length;

    memset(along, 0, (i + 1) * sizeof *along);
    for (int pass = 0; pass < 2; pass++) {
        for (uint32_t k = 0; k < i; k++) {
            const double *other = at(room, room->unit, k);
            const double part = dot(unit, other, n);

            along[k] += part;
            for (uint32_t j = 0; j < n; j++)
                unit[j] -= part * other[j];
        }
    }
    length = sqrt(dot(unit, unit, n));
    if (!(length > DBL_EPSILON * n * size) || !isfinite(length))
        return ERR_UNDECODABLE;
    along[i] = length;
    for (uint32_t j = 0; j < n; j++)
        unit[j] /= length;
    return ERR_OK;
}

/* x += the solution for `right`. */
static void add_solution(struct shortest *room, const double *right,
                         uint32_t rows, uint32_t n)
{
    for (uint32_t i = 0; i < rows; i++) {
        const double *along = at(room, room->along, i);
        const double *unit = at(room, room->unit, i);

        room->y[i] = (right[i] - dot(along, room->y, i)) / along[i];
        for (uint32_t j = 0; j < n; j++)
            room->x[j] += room->y[i] * unit[j];
    }
}

enum err shortest_solve(struct shortest *room, uint32_t rows, uint32_t unknowns)
{
    enum err err = ERR_OK;

    CHECK(rows <= unknowns);
    CHECK(unknowns <= room->size);
    for (uint32_t i = 0; i < rows && err == ERR_OK; i++) {
        memcpy(at(room, room->unit, i), shortest_row(room, i),
               unknowns * sizeof *room->unit);
        err = orthogonalise(room, i, unknowns);
    }
    if (err != ERR_OK)
        return err;
    memset(room->x, 0, unknowns * sizeof *room->x);
    add_solution(room, room->right, rows, unknowns);
    for (uint32_t i = 0; i < rows; i++)
        room->error[i] =
            room->right[i] - dot(shortest_row(room, i), room->x, unknowns);
    add_solution(room, room->error, rows, unknowns);
    return ERR_OK;
}
