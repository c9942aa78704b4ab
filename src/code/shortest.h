/*
 * shortest.h - the shortest solution of a small system with more unknowns than
 * equations, or as many.
 *
 * By orthogonalisation, in plain C: no library, no allocation once there is
 * room, the same bits on every machine.
 */
#ifndef CODE_SHORTEST_H
#define CODE_SHORTEST_H

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

/* Room for systems of up to `size` equations and unknowns. */
struct shortest {
    uint32_t size;
    double *row;   /* size x size: equation i is row i; the caller's to fill. */
    double *right; /* size; the caller's to fill. */
    double *x;     /* size: the solution. */
    double *unit;  /* The rows made orthonormal ... */
    double *along; /* ... and what they were made of. */
    double *y;
    double *error;
};

MUST_CHECK enum err shortest_init(struct shortest *room, uint32_t size);
void shortest_close(struct shortest *room);
static inline double *shortest_row(const struct shortest *room, uint32_t i)
{
    return room->row + (size_t)i * room->size;
}
/* The shortest x with `rows` equations met, in `unknowns` of at most size, rows
 * <= unknowns.  ERR_UNDECODABLE if the equations depend on each other. */
MUST_CHECK enum err shortest_solve(struct shortest *room, uint32_t rows,
                                   uint32_t unknowns);

#endif /* CODE_SHORTEST_H */
