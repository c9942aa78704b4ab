/*
 * sums.c - the exact sum of some vectors against a plain loop that rounds.
 *
 *     sums [MEMBERS WIDTH REPEATS]          8 1000000 5
 *
 * Doubles and floats of normal size, the same with every thousandth number
 * 10^20 times smaller, and the worst: every column 2^200 wide.  Loops and sums
 * alternate and the best of each counts, in processor time of one thread.  One
 * line each: what, milliseconds of the loop, of the sum, how many times more.
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
#include "math/exact/exact.h"

enum kind { KIND_NORMAL, KIND_MIXED, KIND_WIDE, KINDS };

static const char *const kind_names[KINDS] = {"alike", "some small", "wide"};

struct vectors {
    uint32_t members;
    size_t width;
    enum exact_type type;
    void **rows;
    void *out;
    double *column;
};

static double now(void)
{
    struct timespec time;

    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

static double number(struct rng *rng, enum kind kind)
{
    const double value = rng_unit(rng) - 0.5;

    if (kind == KIND_MIXED && rng_below(rng, 1000) == 0)
        return value * 1e-20;
    if (kind == KIND_WIDE)
        return ldexp(value, (int)rng_between(rng, -100, 100));
    return value;
}

static void fill(const struct vectors *vectors, enum kind kind)
{
    struct rng rng;

    rng_init(&rng, 5);
    for (uint32_t i = 0; i < vectors->members; i++) {
        for (size_t j = 0; j < vectors->width; j++) {
            const double value = number(&rng, kind);

            if (vectors->type == EXACT_F64)
                ((double *)vectors->rows[i])[j] = value;
            else
                ((float *)vectors->rows[i])[j] = (float)value;
        }
    }
}

/* Row after row, as anybody would. */
static void plain(const struct vectors *vectors)
{
    memcpy(vectors->out, vectors->rows[0],
           vectors->width * exact_size(vectors->type));
    for (uint32_t i = 1; i < vectors->members; i++) {
        for (size_t j = 0; j < vectors->width; j++) {
            if (vectors->type == EXACT_F64)
                ((double *)vectors->out)[j] +=
                    ((const double *)vectors->rows[i])[j];
            else
                ((float *)vectors->out)[j] +=
                    ((const float *)vectors->rows[i])[j];
        }
    }
}

static void exact(const struct vectors *vectors)
{
    exact_sum(isa_best(), vectors->type, (const void *const *)vectors->rows,
              vectors->members, vectors->width, vectors->column, vectors->out);
}

static double least_of(const struct vectors *vectors,
                       void (*run)(const struct vectors *), double least)
{
    const double began = now();

    run(vectors);
    return fmin(least, now() - began);
}

static void measure(const struct vectors *vectors, enum kind kind, int repeats)
{
    double loop = HUGE_VAL, sum = HUGE_VAL;

    fill(vectors, kind);
    for (int i = 0; i < repeats; i++) {
        loop = least_of(vectors, plain, loop);
        sum = least_of(vectors, exact, sum);
    }
    printf("%-6s %-10s %8.2f ms %8.2f ms %6.2f x\n",
           vectors->type == EXACT_F64 ? "double" : "float", kind_names[kind],
           1e3 * loop, 1e3 * sum, sum / loop);
}

int main(int argc, char **argv)
{
    struct vectors vectors = {
        .members = argc > 1 ? (uint32_t)strtoul(argv[1], NULL, 10) : 8,
        .width = argc > 2 ? strtoul(argv[2], NULL, 10) : 1000000,
    };
    const int repeats = argc > 3 ? (int)strtol(argv[3], NULL, 10) : 5;

    CHECK(vectors.members > 0 && vectors.members <= EXACT_ROWS_MAX);
    CHECK(vectors.width > 0 && repeats > 0);
    vectors.rows = mem_new(vectors.members, sizeof *vectors.rows);
    vectors.column = mem_new(vectors.members, sizeof *vectors.column);
    vectors.out = mem_new(vectors.width, sizeof(double));
    CHECK(vectors.rows != NULL && vectors.column != NULL);
    CHECK(vectors.out != NULL);
    for (uint32_t i = 0; i < vectors.members; i++) {
        vectors.rows[i] = mem_new(vectors.width, sizeof(double));
        CHECK(vectors.rows[i] != NULL);
    }
    for (int type = EXACT_F64; type <= EXACT_F32; type++) {
        vectors.type = (enum exact_type)type;
        for (int kind = 0; kind < KINDS; kind++)
            measure(&vectors, (enum kind)kind, repeats);
    }
    for (uint32_t i = 0; i < vectors.members; i++)
        mem_free(vectors.rows[i]);
    mem_free(vectors.rows);
    mem_free(vectors.column);
    mem_free(vectors.out);
    return 0;
}
