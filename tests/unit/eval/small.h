/*
 * small.h - a few rows that are easy to count with: cols numbers of a row, the
 * last one 1, labels +1 and -1 in turn.
 */
#ifndef TEST_SMALL_H
#define TEST_SMALL_H

#include "eval/briefs.h"
#include "eval/registry.h"

struct small {
    struct dataset data;
    struct problem problem;
    struct subject subject;
    struct shelf shelf;
};

void small_open(struct small *small, uint32_t rows, uint32_t cols,
                uint32_t chunk_rows);
void small_close(struct small *small);
/* Column j of row i. */
double small_x(const struct small *small, uint32_t i, uint32_t j);

#endif /* TEST_SMALL_H */
