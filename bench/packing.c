/*
 * packing.c - how fast sums are packed and unpacked, beside memcpy.
 *
 *     packing [VALUES REPEATS]              1000000 20
 *
 * Random values of so many bits, every instruction set that runs here.  Passes
 * alternate and the best of each counts, in processor time of one thread.  One
 * line each: bits, instruction set, bytes a value, then billions of bytes of
 * plain values a second: copied, packed, unpacked.
 */
#define _GNU_SOURCE
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/check.h"
#include "base/mem.h"
#include "base/rng.h"
#include "math/exact/pack_parts.h"

struct sample {
    size_t count; /* Whole blocks. */
    int64_t *values, *back;
    uint8_t *widths, *packed;
    size_t size;
};

static double now(void)
{
    struct timespec time;

    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

static void fill(const struct sample *sample, unsigned bits)
{
    struct rng rng;

    rng_init(&rng, 5);
    for (size_t i = 0; i < sample->count; i++)
        sample->values[i] = (int64_t)rng_next(&rng) >> (64 - bits);
}

static double copy(struct sample *sample)
{
    const double began = now();

    memcpy(sample->back, sample->values, sample->count * sizeof(int64_t));
    return now() - began;
}

static double put(struct sample *sample, const struct pack_ops *ops)
{
    const double began = now();

    sample->size = ops->put(sample->values, sample->count / PACK_LANES,
                            sample->widths, sample->packed);
    return now() - began;
}

static double get(struct sample *sample, const struct pack_ops *ops)
{
    const double began = now();

    CHECK(ops->get(sample->packed, sample->widths, sample->count / PACK_LANES,
                   sample->back));
    return now() - began;
}

static void measure(struct sample *sample, unsigned bits, enum isa isa,
                    int repeats)
{
    const struct pack_ops *const ops = pack_ops_of(isa);
    const double bytes = 1e-9 * (double)(sample->count * sizeof(int64_t));
    double copied = HUGE_VAL, packed = HUGE_VAL, unpacked = HUGE_VAL;

    for (int i = 0; i < repeats; i++) {
        copied = fmin(copied, copy(sample));
        packed = fmin(packed, put(sample, ops));
        unpacked = fmin(unpacked, get(sample, ops));
    }
    CHECK(memcmp(sample->back, sample->values,
                 sample->count * sizeof(int64_t)) == 0);
    printf("%2u bits  %-8s %5.2f  copied %6.2f  packed %6.2f  unpacked %6.2f\n",
           bits, isa_name(isa), (double)sample->size / (double)sample->count,
           bytes / copied, bytes / packed, bytes / unpacked);
}

int main(int argc, char **argv)
{
    const unsigned bits[] = {5, 16, 30, 45, 61};
    const size_t values = argc > 1 ? strtoul(argv[1], NULL, 10) : 1000000;
    const int repeats = argc > 2 ? (int)strtol(argv[2], NULL, 10) : 20;
    struct sample sample = {.count = values / PACK_BLOCK * PACK_BLOCK};

    CHECK(sample.count > 0 && repeats > 0);
    sample.values = mem_new(sample.count, sizeof(int64_t));
    sample.back = mem_new(sample.count, sizeof(int64_t));
    sample.widths = mem_new(sample.count / PACK_BLOCK, 1);
    sample.packed = mem_new(pack_bound(sample.count), 1);
    CHECK(sample.values != NULL && sample.back != NULL);
    CHECK(sample.widths != NULL && sample.packed != NULL);
    for (unsigned i = 0; i < sizeof bits / sizeof *bits; i++) {
        fill(&sample, bits[i]);
        for (int isa = ISA_PORTABLE; isa <= ISA_AVX512; isa++) {
            if (isa_runs((enum isa)isa))
                measure(&sample, bits[i], (enum isa)isa, repeats);
        }
    }
    mem_free(sample.values);
    mem_free(sample.back);
    mem_free(sample.widths);
    mem_free(sample.packed);
    return 0;
}
