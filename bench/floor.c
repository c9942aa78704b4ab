/*
 * floor.c - the least that a step of exact sums can cost on this machine.
 *
 *     floor WORKERS WEIGHTS STEPS [hash]
 *
 * Processes that share memory and sleep on one word each way (a futex).  A step
 * publishes WEIGHTS doubles; each worker reads them and writes as many 64-bit
 * integers; when the last one has, all are added up in one pass and turned into
 * the next weights.  No rows, no messages, no bounds, no keys, no journal, no
 * norms, nobody may die; with `hash` there is SHA-256 of the weights, too,
 * while the workers are at work.  Prints the least and the median step in
 * milliseconds.
 */
#define _GNU_SOURCE
#include <linux/futex.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/hash.h"

#define LINE        64u
#define WORKERS_MAX 64u

/* AVX-512 where the machine has it: plain loops, made wide by the compiler. */
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__)
#define WIDE                                                                   \
    __attribute__((                                                            \
        target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default"),          \
        optimize("O3")))
#else
#define WIDE
#endif

struct bells {
    _Alignas(LINE) _Atomic uint32_t go;   /* Steps begun. */
    _Alignas(LINE) _Atomic uint32_t done; /* Answers given, of all steps. */
};

struct step {
    uint32_t workers;
    size_t weights;
    uint32_t steps;
    bool hash;
    struct bells *bells;
    double *w;
    int64_t *sums; /* A vector for each worker. */
};

static void *share(size_t size)
{
    void *memory = mmap(NULL, size, PROT_READ | PROT_WRITE,
                        MAP_SHARED | MAP_ANONYMOUS, -1, 0);

    if (memory == MAP_FAILED)
        abort();
    return memory;
}

static void sleep_on(_Atomic uint32_t *word, uint32_t value)
{
    (void)syscall(SYS_futex, word, FUTEX_WAIT, value, NULL, NULL, 0);
}

static void wake(_Atomic uint32_t *word, int count)
{
    (void)syscall(SYS_futex, word, FUTEX_WAKE, count, NULL, NULL, 0);
}

WIDE static void answer(const double *restrict w, int64_t *restrict sum,
                        size_t count)
{
    for (size_t j = 0; j < count; j++)
        sum[j] = (int64_t)(w[j] * 0x1p40 + 1);
}

WIDE static void add_up(const int64_t *restrict sums, uint32_t workers,
                        double *restrict w, size_t count)
{
    for (size_t j = 0; j < count; j += 8) {
        int64_t total[8] = {0};

        for (uint32_t i = 0; i < workers; i++)
            for (size_t k = 0; k < 8; k++)
                total[k] += sums[i * count + j + k];
        for (size_t k = 0; k < 8; k++)
            w[j + k] -= (double)total[k] * 0x1p-50;
    }
}

static void work(const struct step *step, uint32_t number)
{
    struct bells *bells = step->bells;

    for (uint32_t i = 1; i <= step->steps; i++) {
        uint32_t go;

        while ((go = atomic_load(&bells->go)) < i)
            sleep_on(&bells->go, go);
        answer(step->w, step->sums + number * step->weights, step->weights);
        if (atomic_fetch_add(&bells->done, 1) + 1 == step->workers * i)
            wake(&bells->done, 1);
    }
}

static double now_ms(void)
{
    struct timespec now;

    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec * 1e3 + (double)now.tv_nsec * 1e-6;
}

/* One step after the other; `took` has room for all. */
static void lead(const struct step *step, double *took)
{
    struct bells *bells = step->bells;
    const uint32_t every = step->workers;

    for (uint32_t i = 1; i <= step->steps; i++) {
        const double began = now_ms();
        uint32_t done;

        atomic_store(&bells->go, i);
        wake(&bells->go, (int)every);
        if (step->hash)
            (void)hash_f64(step->w, step->weights);
        while ((done = atomic_load(&bells->done)) != every * i)
            sleep_on(&bells->done, done);
        add_up(step->sums, every, step->w, step->weights);
        took[i - 1] = now_ms() - began;
    }
}

static int by_size(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

static void run(const struct step *step)
{
    double *took = calloc(step->steps, sizeof *took);

    if (took == NULL)
        abort();
    for (uint32_t i = 0; i < step->workers; i++) {
        const pid_t child = fork();

        if (child < 0)
            abort();
        if (child == 0) {
            work(step, i);
            _exit(0);
        }
    }
    lead(step, took);
    while (wait(NULL) > 0)
        continue;
    qsort(took, step->steps, sizeof *took, by_size);
    (void)printf("{\"least\": %.6f, \"median\": %.6f}\n", took[0],
                 took[step->steps / 2]);
    free(took);
}

int main(int argc, char **argv)
{
    struct step step = {.hash = argc > 4 && strcmp(argv[4], "hash") == 0};

    if (argc < 4) {
        (void)fprintf(stderr, "floor WORKERS WEIGHTS STEPS [hash]\n");
        return 2;
    }
    step.workers = (uint32_t)strtoul(argv[1], NULL, 10);
    step.weights = (strtoul(argv[2], NULL, 10) + 7) / 8 * 8;
    step.steps = (uint32_t)strtoul(argv[3], NULL, 10);
    if (step.workers == 0 || step.workers > WORKERS_MAX || step.weights == 0 ||
        step.steps == 0)
        return 2;
    step.bells = share(sizeof *step.bells);
    step.w = share(step.weights * sizeof *step.w);
    step.sums = share(step.workers * step.weights * sizeof *step.sums);
    run(&step);
    return 0;
}
