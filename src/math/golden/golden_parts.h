/*
 * golden_parts.h - the golden problems (math/ only).
 */
#ifndef MATH_GOLDEN_PARTS_H
#define MATH_GOLDEN_PARTS_H

#include <stdint.h>

#include "base/hash.h"
#include "math/kernel/kernel.h"

#define GOLDEN_PROBLEMS      5u
#define GOLDEN_ROWS_MAX      77u
#define GOLDEN_STRIDE_MAX    520u
#define GOLDEN_CELLS_MAX     4680u /* Rows times stride. */
#define GOLDEN_LOSS_EXPONENT 60

struct golden_problem {
    struct dense_rows rows;
    float x[GOLDEN_CELLS_MAX];
    double y[GOLDEN_ROWS_MAX];
    double w[GOLDEN_STRIDE_MAX];
};

void golden_problem_make(struct golden_problem *problem, uint32_t index);

struct digest golden_dense(const enum isa *isa);
struct digest golden_wide(const enum isa *isa);
struct digest golden_stripes(const enum isa *isa);
struct digest golden_index(const enum isa *isa);
struct digest golden_csr(const enum isa *isa);
struct digest golden_softmax(const enum isa *isa);
struct digest golden_vectors(const enum isa *isa);
struct digest golden_tally(const enum isa *isa);
struct digest golden_follow(const enum isa *isa);
struct digest golden_exact(const enum isa *isa);
struct digest golden_survey(const enum isa *isa);
struct digest golden_solve(const enum isa *isa);
struct digest golden_batches(const enum isa *isa);

#endif /* MATH_GOLDEN_PARTS_H */
