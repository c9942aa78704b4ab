/*
 * golden.c - the proved scales of a small generated problem, to the bit.
 *
 * The exponents of a round decide how sums are rounded: a coordinator that
 * resumes a run with other bounds than it began with would end on another
 * model.
 */
#include "model/linear/golden.h"

#include "base/pool.h"
#include "data/make/gen.h"
#include "model/linear/bounds.h"
#include "model/linear/problem.h"

enum { STRIDE_MAX = 16, SUMS = STRIDE_MAX * (STRIDE_MAX + 1) / 2 };

static void add_exponents(struct hasher *hasher, const struct bounds *bounds,
                          const struct problem *problem,
                          enum evaluation_kind kind)
{
    double w[STRIDE_MAX], v[STRIDE_MAX];
    int16_t exponent[SUMS + 1] = {0};
    int64_t said[SUMS + 1];
    const struct evaluation what = {.kind = kind, .w = w, .v = v};
    const uint32_t count = evaluation_exponents(kind, problem_dims(problem));

    for (uint32_t j = 0; j < STRIDE_MAX; j++) {
        w[j] = 0x1.1p-3 * (j % 5);
        v[j] = 3.0 - j;
    }
    /* Broken arithmetic may have none: then zeros are hashed. */
    if (bounds_exponents(bounds, problem, &what, exponent) != ERR_OK)
        exponent[0] = INT16_MIN;
    for (uint32_t j = 0; j < count; j++)
        said[j] = exponent[j];
    hasher_add_i64(hasher, said, count);
}

static enum err add_model(struct hasher *hasher, const struct dataset *data,
                          enum model_kind kind, enum isa isa)
{
    static const enum evaluation_kind kinds[] = {
        EVALUATE_GRADIENT, EVALUATE_HESSVEC, EVALUATE_HESSIAN,
        EVALUATE_DIAGONAL};
    const struct problem problem = problem_of(data, kind, isa);
    struct bounds bounds = {0};
    enum err err = bounds_init(&bounds, data->stride);

    if (err == ERR_OK)
        err = bounds_measure(&bounds, &problem, pool_serial());
    if (err == ERR_OK) {
        hasher_add_f64(hasher, bounds.u, bounds.dims);
        hasher_add_f64(hasher, bounds.v, bounds.dims);
        hasher_add_f64(hasher, bounds.m, bounds.dims);
        for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++)
            add_exponents(hasher, &bounds, &problem, kinds[k]);
    }
    bounds_close(&bounds);
    return err;
}

static struct digest compute(const enum isa *isa)
{
    const enum isa best = isa != NULL ? *isa : isa_best();
    const struct source_options options = {
        .spec = "gen:linear:29,9", .seed = 5, .chunk_rows = 8};
    struct digest digest = {{0}};
    struct dataset data = {0};
    struct dataset none = {0};
    struct hasher hasher;
    bool has_test = false;
    struct why why;
    enum err err = gen_load(&options, &data, &none, &has_test, &why);

    if (err != ERR_OK)
        return digest;
    hasher_init(&hasher);
    err = add_model(&hasher, &data, MODEL_LINEAR, best);
    if (err != ERR_NOMEM)
        err = add_model(&hasher, &data, MODEL_LOGISTIC, best);
    digest = hasher_end(&hasher);
    dataset_close(&data);
    if (has_test)
        dataset_close(&none);
    if (err == ERR_NOMEM)
        digest = (struct digest){{0}};
    return digest;
}

const struct golden_part scale_golden = {
    "bounds-1", compute,
    "36eb3fe245481d4444817cd86c6d098ff19be7280e6df81dc93b4dd3287ebdd8"};
