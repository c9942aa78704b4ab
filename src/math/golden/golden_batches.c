/*
 * golden_batches.c - known rows of minibatches.
 *
 * Which rows a chunk of a step stands for is part of the bits: a machine that
 * permutes otherwise would compute good gradients of other rows.
 */
#include "base/check.h"
#include "base/sampler.h"
#include "math/golden/golden_parts.h"

#define SEED UINT64_C(0x626174636865)

enum { STEPS = 3, CHUNK_MOST = 64 };

/* An odd number of bits and an even one; a last batch that is short, chunks
 * that are; more rows than 16 bits count. */
static const struct {
    uint32_t rows, chunk_rows, batch;
} shapes[] = {{37, 5, 8}, {600, 16, 64}, {70001, 64, 300}};

static void add_step(struct hasher *hasher, const struct sampler *sampler,
                     uint32_t step)
{
    uint32_t row[CHUNK_MOST];

    CHECK(sampler_chunk_most(sampler) <= CHUNK_MOST);
    for (uint32_t k = 0; k < sampler_chunks(sampler); k++) {
        const uint32_t count = sampler_select(sampler, step, k, row);

        for (uint32_t i = 0; i < count; i++) {
            const double number = row[i];

            hasher_add_f64(hasher, &number, 1);
        }
    }
}

/* The first steps, those around the end of a pass, and one far on. */
struct digest golden_batches(const enum isa *isa)
{
    struct hasher hasher;

    (void)isa;
    hasher_init(&hasher);
    for (int kind = SAMPLER_WHOLE + 1; kind < SAMPLERS; kind++) {
        for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
            const struct sampler sampler =
                sampler_of((enum sampler_kind)kind, shapes[i].rows,
                           shapes[i].chunk_rows, shapes[i].batch, SEED + i);
            const uint32_t pass = sampler_steps(&sampler);

            add_step(&hasher, &sampler, 0);
            for (uint32_t s = 0; s < STEPS; s++)
                add_step(&hasher, &sampler, pass - 1 + s);
            add_step(&hasher, &sampler, 1000003);
        }
    }
    return hasher_end(&hasher);
}
