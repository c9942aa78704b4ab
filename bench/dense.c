/*
 * dense.c - how close the exact gradient comes to merely reading the data.
 *
 *     dense [rows columns [repeats]]     default 400000 500 7
 *
 * A gradient must read every row once, so a plain read of the same bytes is
 * the bound.  Reads and gradients alternate and the best of each counts: on a
 * shared machine only figures of the same minute can be compared.  Gradients
 * include the rounding of every chunk of 1024 rows into its thread's tally.
 */
#define _GNU_SOURCE
#include <inttypes.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#include "base/check.h"
#include "base/mem.h"
#include "base/rng.h"
#include "math/golden.h"
#include "math/kernel.h"
#include "math/pack.h"
#include "math/tally.h"

#define CHUNK_ROWS  1024u
#define THREADS_MAX 2u
#define RUNS        4u /* The read, then the three variants. */
#define TALLY_DIMS  4096u

struct data {
    float *x;
    double *y;
    double *w;
    int16_t *exponent;
    uint32_t rows;
    uint32_t stride;
    uint32_t chunks;
};

/* What one thread does; `run` 0 is the read. */
struct job {
    const struct data *data;
    uint32_t *next; /* Next chunk; shared, atomic. */
    unsigned run;
    uint64_t seen; /* Of the read: keeps it from being optimised away. */
    struct tally tally;
    double *g;
    double *scratch;
};

static double now(void)
{
    struct timespec time;

    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

/* Touched, on huge pages if the system has some. */
static void *big_new(size_t size)
{
    const size_t huge = (size_t)2 << 20;
    void *memory = NULL;

    CHECK(posix_memalign(&memory, huge, (size + huge - 1) / huge * huge) == 0);
    (void)madvise(memory, size, MADV_HUGEPAGE);
    memset(memory, 0, size);
    return memory;
}

static void data_make(struct data *data, uint32_t rows, uint32_t columns)
{
    struct rng rng;

    data->rows = rows;
    data->stride = (columns + KERNEL_LANES - 1) / KERNEL_LANES * KERNEL_LANES;
    data->chunks = (rows + CHUNK_ROWS - 1) / CHUNK_ROWS;
    data->x = big_new((size_t)rows * data->stride * sizeof *data->x);
    data->y = big_new(rows * sizeof *data->y);
    data->w = mem_new(data->stride, sizeof *data->w);
    data->exponent = mem_new(data->stride, sizeof *data->exponent);
    CHECK(data->w != NULL);
    CHECK(data->exponent != NULL);
    rng_init(&rng, 1);
    for (uint32_t j = 0; j < columns; j++)
        data->w[j] = (rng_unit(&rng) - 0.5) * 0.2;
    for (uint32_t j = 0; j < data->stride; j++)
        data->exponent[j] = tally_exponent(rows); /* |x|, |r| <= 1. */
    for (size_t i = 0; i < rows; i++) {
        data->y[i] = rng_chance(&rng, 0.5) ? 1.0 : -1.0;
        for (uint32_t j = 0; j < columns; j++)
            data->x[i * data->stride + j] = (float)(rng_unit(&rng) * 2 - 1);
    }
}

static void data_close(struct data *data)
{
    free(data->x);
    free(data->y);
    mem_free(data->w);
    mem_free(data->exponent);
}

typedef uint64_t line __attribute__((vector_size(64), aligned(4), may_alias));

#ifdef __x86_64__
__attribute__((target_clones("avx512f", "avx2", "default")))
#endif
static uint64_t
read_floats(const float *x, size_t count)
{
    line sum[4] = {{0}};
    uint64_t all = 0;

    for (size_t i = 0; i + 64 <= count; i += 64) {
        for (size_t k = 0; k < 4; k++)
            sum[k] += *(const line *)(x + i + 16 * k);
    }
    sum[0] += sum[1] + sum[2] + sum[3];
    for (size_t k = 0; k < 8; k++)
        all += sum[0][k];
    return all;
}

static void one_chunk(struct job *job, uint32_t chunk)
{
    const struct data *data = job->data;
    const uint32_t first = chunk * CHUNK_ROWS;
    const uint32_t left = data->rows - first;
    const struct dense_rows rows = {
        .x = data->x + (size_t)first * data->stride,
        .y = data->y + first,
        .rows = left < CHUNK_ROWS ? left : CHUNK_ROWS,
        .stride = data->stride,
    };
    double loss = 0.0;

    if (job->run == 0) {
        job->seen += read_floats(rows.x, (size_t)rows.rows * rows.stride);
        return;
    }
    kernel_gradient((enum isa)(job->run - 1), LOSS_LOGISTIC, &rows, data->w,
                    job->g, &loss, job->scratch);
    CHECK(tally_add_chunk(&job->tally, chunk, job->g, loss, data->exponent) ==
          ERR_OK);
}

static void *work(void *argument)
{
    struct job *job = argument;
    uint32_t chunk;

    while ((chunk = __atomic_fetch_add(job->next, 1, __ATOMIC_RELAXED)) <
           job->data->chunks)
        one_chunk(job, chunk);
    return NULL;
}

/* Seconds of one pass over the data. */
static double pass(struct job *job, unsigned threads, unsigned run)
{
    pthread_t thread[THREADS_MAX];
    uint32_t next = 0;
    double begin;

    for (unsigned t = 0; t < threads; t++) {
        job[t].run = run;
        job[t].next = &next;
        tally_clear(&job[t].tally);
    }
    begin = now();
    for (unsigned t = 1; t < threads; t++)
        CHECK(pthread_create(&thread[t], NULL, work, &job[t]) == 0);
    (void)work(&job[0]);
    for (unsigned t = 1; t < threads; t++)
        CHECK(pthread_join(thread[t], NULL) == 0);
    return now() - begin;
}

/* The whole point, checked where it is measured. */
static void check_same(struct job *job, unsigned threads, unsigned run,
                       struct digest *first)
{
    struct digest digest;

    for (unsigned t = 1; t < threads; t++)
        CHECK(tally_merge(&job[0].tally, &job[t].tally) == ERR_OK);
    digest = tally_digest(&job[0].tally);
    if (threads == 1 && run == 1)
        *first = digest;
    CHECK(digest_equal(&digest, first));
}

static void measure(struct job *job, unsigned threads, unsigned repeats,
                    struct digest *first)
{
    const struct data *data = job->data;
    const double bytes = 4.0 * data->rows * data->stride;
    double best[RUNS] = {1e9, 1e9, 1e9, 1e9};

    for (unsigned n = 0; n < repeats; n++) {
        for (unsigned run = 0; run < RUNS; run++) {
            if (run > 0 && !isa_runs((enum isa)(run - 1)))
                continue;
            best[run] = fmin(best[run], pass(job, threads, run));
            if (run > 0 && n == 0)
                check_same(job, threads, run, first);
        }
    }
    printf("%u thread%s: read %.1f GB/s; share of it:", threads,
           threads == 1 ? "" : "s", 1e-9 * bytes / best[0]);
    for (unsigned run = RUNS - 1; run > 0; run--) {
        if (isa_runs((enum isa)(run - 1)))
            printf("  %s %.2f", isa_name((enum isa)(run - 1)),
                   best[0] / best[run]);
    }
    puts("");
}

static void bench_dense(uint32_t rows, uint32_t columns, unsigned repeats)
{
    struct job job[THREADS_MAX] = {{0}};
    struct digest first;
    struct data data;

    data_make(&data, rows, columns);
    printf("%u x %u, logistic, chunks of %u rows\n", rows, columns, CHUNK_ROWS);
    for (unsigned t = 0; t < THREADS_MAX; t++) {
        job[t].data = &data;
        job[t].g = mem_new(data.stride, sizeof(double));
        job[t].scratch = mem_new(kernel_scratch_bytes(data.stride), 1);
        CHECK(job[t].g != NULL);
        CHECK(job[t].scratch != NULL);
        CHECK(tally_init(&job[t].tally, data.stride, data.chunks) == ERR_OK);
    }
    for (unsigned threads = 1; threads <= THREADS_MAX; threads++)
        measure(job, threads, repeats, &first);
    for (unsigned t = 0; t < THREADS_MAX; t++) {
        tally_close(&job[t].tally);
        mem_free(job[t].g);
        mem_free(job[t].scratch);
    }
    data_close(&data);
}

/* Tallies and their packing, in cache: what a chunk and a message cost on top
 * of the kernel. */
static void bench_tally(void)
{
    static double g[TALLY_DIMS];
    static int16_t exponent[TALLY_DIMS];
    static int64_t back[TALLY_DIMS];
    uint8_t *bytes = mem_new(pack_bound(TALLY_DIMS), 1);
    struct tally tally = {0};
    double best[3] = {1e9, 1e9, 1e9};
    size_t size = 0;
    size_t used = 0;

    CHECK(bytes != NULL);
    CHECK(tally_init(&tally, TALLY_DIMS, CHUNKS_MAX) == ERR_OK);
    for (uint32_t j = 0; j < TALLY_DIMS; j++) {
        g[j] = rng_unit_at(1, j, 0) - 0.5;
        exponent[j] = 40;
    }
    for (uint32_t n = 0; n < 2000; n++) {
        double time[4];

        time[0] = now();
        CHECK(tally_add_chunk(&tally, n, g, 0.0, exponent) == ERR_OK);
        time[1] = now();
        size = pack_i64(tally.sum, TALLY_DIMS, bytes);
        time[2] = now();
        CHECK(unpack_i64(bytes, size, TALLY_DIMS, back, &used) == ERR_OK);
        time[3] = now();
        for (unsigned i = 0; i < 3; i++)
            best[i] = fmin(best[i], time[i + 1] - time[i]);
    }
    printf("tally: %.2f ns a coordinate; pack %.2f GB/s of int64, unpack %.2f "
           "GB/s (%.2f bytes a value)\n",
           1e9 * best[0] / TALLY_DIMS, 8e-9 * TALLY_DIMS / best[1],
           8e-9 * TALLY_DIMS / best[2], (double)size / TALLY_DIMS);
    tally_close(&tally);
    mem_free(bytes);
}

int main(int argc, char **argv)
{
    const unsigned long rows = argc > 2 ? strtoul(argv[1], NULL, 10) : 400000;
    const unsigned long columns = argc > 2 ? strtoul(argv[2], NULL, 10) : 500;
    const unsigned long repeats = argc > 3 ? strtoul(argv[3], NULL, 10) : 7;
    struct why why = {{0}};

    if (rows == 0 || columns == 0 || rows > CHUNK_ROWS * CHUNKS_MAX ||
        columns > 1u << 20) {
        fputs("usage: dense [rows columns [repeats]]\n", stderr);
        return 2;
    }
    if (golden_check(isa_best(), &why) != ERR_OK) {
        fprintf(stderr, "dense: %s\n", why.text);
        return 1;
    }
    bench_tally();
    bench_dense((uint32_t)rows, (uint32_t)columns, (unsigned)repeats);
    return 0;
}
