#include "math/chunks.h"

#include <math.h>
#include <string.h>

#include "base/check.h"
#include "base/mem.h"

static double draw_w(struct rng *rng, enum chunk_kind kind)
{
    const double u = rng_unit(rng) - 0.5;

    switch (kind) {
    case CHUNK_HUGE:
        return u * 1e-30;
    case CHUNK_STEEP:
        return u * 4000.0;
    case CHUNK_PLAIN:
    case CHUNK_DENORMAL:
    case CHUNK_MIXED:
    case CHUNK_BROKEN:
    case CHUNK_KINDS:
        break;
    }
    return rng_chance(rng, 0.02) ? 0x1p-1060 * u : u * 0.2;
}

static double draw_x(struct rng *rng, enum chunk_kind kind)
{
    const double u = rng_unit(rng) - 0.5;

    if (rng_chance(rng, 1.0 / 16.0))
        return -0.0;
    switch (kind) {
    case CHUNK_DENORMAL:
        return u * 1e-39;
    case CHUNK_HUGE:
        return u * 1e30;
    case CHUNK_MIXED:
        return ldexp(u, (int)rng_between(rng, -30, 30));
    case CHUNK_PLAIN:
    case CHUNK_STEEP:
    case CHUNK_BROKEN:
    case CHUNK_KINDS:
        break;
    }
    return u * 2.0;
}

static double draw_y(struct rng *rng)
{
    if (rng_chance(rng, 0.03))
        return 0.0;
    return rng_chance(rng, 0.5) ? 1.0 : -1.0;
}

void chunk_make(struct chunk *chunk, uint64_t seed, enum chunk_kind kind,
                uint32_t rows_max, uint32_t columns_max)
{
    struct rng rng;
    uint32_t rows;
    uint32_t columns;
    uint32_t stride;

    rng_init(&rng, seed);
    rows = 1 + (uint32_t)rng_below(&rng, rows_max);
    columns = 1 + (uint32_t)rng_below(&rng, columns_max);
    stride = (columns + KERNEL_LANES - 1) / KERNEL_LANES * KERNEL_LANES;
    chunk->x = mem_new((size_t)rows * stride, sizeof *chunk->x);
    chunk->y = mem_new(rows, sizeof *chunk->y);
    chunk->w = mem_new(stride, sizeof *chunk->w);
    CHECK(chunk->x != NULL && chunk->y != NULL && chunk->w != NULL);

    for (uint32_t j = 0; j < columns; j++)
        chunk->w[j] = draw_w(&rng, kind);
    if (kind == CHUNK_BROKEN) {
        const double broken[] = {(double)NAN, (double)INFINITY,
                                 -(double)INFINITY, 1e308};

        chunk->w[rng_below(&rng, columns)] = broken[rng_below(&rng, 4)];
    }
    for (uint32_t i = 0; i < rows; i++) {
        chunk->y[i] = draw_y(&rng);
        for (uint32_t j = 0; j < columns; j++)
            chunk->x[(size_t)i * stride + j] = (float)draw_x(&rng, kind);
    }
    chunk->rows = (struct dense_rows){
        .x = chunk->x, .y = chunk->y, .rows = rows, .stride = stride};
}

void chunk_close(struct chunk *chunk)
{
    mem_free(chunk->x);
    mem_free(chunk->y);
    mem_free(chunk->w);
}

bool same_bits(const double *a, const double *b, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        if (isnan(a[i]) && isnan(b[i]))
            continue;
        if (memcmp(&a[i], &b[i], sizeof a[i]) != 0)
            return false;
    }
    return true;
}
