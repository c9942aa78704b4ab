/*
 * kernels.c - every kernel against a plain read of the bytes it works on.
 *
 *     kernels [dense ROWS COLUMNS | sparse ROWS COLUMNS ENTRIES |
 *              softmax ROWS COLUMNS CLASSES] [repeats]
 *
 * Dense: gradients of fp32, bf16, int8 and bit rows, Hessian-vector products.
 * Sparse: gradients and Hessian-vector products of 0/1 rows and of rows with
 * values, one-hot: ENTRIES fields, values skewed to the first ones, columns
 * renumbered by frequency.
 * Softmax: gradients and Hessian-vector products of CLASSES classes, dense.
 * Reads and kernels alternate and the best of each counts; softmax: of one
 * thread, in processor time.  One line each:
 * name, threads, milliseconds, share of the read.
 */
#define _GNU_SOURCE
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "base/check.h"
#include "base/mem.h"
#include "base/rng.h"
#include "math/exact/tally.h"
#include "math/golden/golden.h"
#include "math/kernel/kernel.h"
#include "math/kernel/softmax.h"
#include "math/kernel/sparse.h"

#define CHUNKS_WANTED 1024u
#define THREADS_MAX   64u

enum run { RUN_READ, RUN_F32, RUN_BF16, RUN_I8, RUN_BIT, RUN_HESSVEC, RUNS };
enum sparse_run {
    SPARSE_READ,
    SPARSE_INDEX,
    SPARSE_CSR,
    SPARSE_INDEX_HESSVEC,
    SPARSE_CSR_HESSVEC,
    SPARSE_RUNS
};

static const char *const run_names[RUNS] = {"read fp32",     "gradient fp32",
                                            "gradient bf16", "gradient int8",
                                            "gradient bit",  "hessvec fp32"};
static const char *const sparse_names[SPARSE_RUNS] = {
    "read columns", "gradient index", "gradient csr", "hessvec index",
    "hessvec csr"};

struct data {
    void *x[DENSE_BIT + 1];
    double *y, *w;
    int16_t *exponent;
    uint64_t *begin;
    uint32_t *column;
    float *value;
    struct sparse_round round[2]; /* Gradient, Hessian times vector. */
    uint32_t rows, dims, chunk_rows, chunks;
};

/* What one thread does. */
struct job {
    const struct data *data;
    void (*chunk)(struct job *job, uint32_t first, uint32_t rows,
                  uint32_t chunk);
    uint32_t *next; /* Shared, atomic. */
    int run;
    uint64_t seen; /* Keeps the read from being optimised away. */
    struct tally tally;
    struct sparse_desk desk;
    double *g;
    double *scratch;
};

static clockid_t clock_kind = CLOCK_MONOTONIC;

static double now(void)
{
    struct timespec time;

    clock_gettime(clock_kind, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

/* Touched, on huge pages if the system has some. */
static void *big_new(size_t size)
{
    const size_t huge = (size_t)2 << 20;
    void *memory = NULL;

    size = (size + huge) / huge * huge;
    CHECK(posix_memalign(&memory, huge, size) == 0);
    (void)madvise(memory, size, MADV_HUGEPAGE);
    memset(memory, 0, size);
    return memory;
}

static void common_make(struct data *data)
{
    data->chunk_rows = data->rows / CHUNKS_WANTED / 8 * 8 + 8;
    if (data->chunk_rows < 256)
        data->chunk_rows = 256;
    data->chunks = (data->rows + data->chunk_rows - 1) / data->chunk_rows;
    data->y = big_new(data->rows * sizeof *data->y);
    data->w = big_new(data->dims * sizeof *data->w);
    data->exponent = big_new((data->dims + 1) * sizeof *data->exponent);
    for (uint32_t i = 0; i < data->rows; i++)
        data->y[i] = rng_unit_at(1, i, 0) < 0.5 ? -1 : 1;
    for (uint32_t j = 0; j < data->dims; j++) {
        data->w[j] = 0.02 * (rng_unit_at(2, j, 0) - 0.5);
        /* |x| <= 128, |r| <= 1; rarer columns have finer scales. */
        data->exponent[j] = (int16_t)(24 + 8ul * j / data->dims);
    }
}

/* Small integers: every storage but bits holds the same values. */
static void dense_make(struct data *data, uint32_t columns)
{
    const size_t cells = (size_t)data->rows * data->dims;
    struct rng rng;

    data->x[DENSE_F32] = big_new(cells * sizeof(float));
    data->x[DENSE_BF16] = big_new(cells * sizeof(uint16_t));
    data->x[DENSE_I8] = big_new(cells);
    data->x[DENSE_BIT] = big_new(cells / 8);
    rng_init(&rng, 3);
    for (size_t at = 0; at < cells; at++) {
        const float x = (float)(int)(rng_next(&rng) % 255) - 127;
        uint32_t bits;

        if (at % data->dims >= columns)
            continue;
        memcpy(&bits, &x, sizeof bits);
        ((float *)data->x[DENSE_F32])[at] = x;
        ((uint16_t *)data->x[DENSE_BF16])[at] = (uint16_t)(bits >> 16);
        ((int8_t *)data->x[DENSE_I8])[at] = (int8_t)x;
        if (x > 0)
            ((uint8_t *)data->x[DENSE_BIT])[at / 8] |= (uint8_t)(1u << at % 8);
    }
}

static const uint32_t *sort_count;

static int by_count(const void *a, const void *b)
{
    const uint32_t x = sort_count[*(const uint32_t *)a];
    const uint32_t y = sort_count[*(const uint32_t *)b];

    return (x < y) - (x > y);
}

static int by_value(const void *a, const void *b)
{
    const uint32_t x = *(const uint32_t *)a;
    const uint32_t y = *(const uint32_t *)b;

    return (x > y) - (x < y);
}

static void renumber(struct data *data, uint32_t per_row)
{
    const size_t entries = (size_t)data->rows * per_row;
    uint32_t *count = big_new(data->dims * sizeof *count);
    uint32_t *order = big_new(data->dims * sizeof *order);
    uint32_t *place = big_new(data->dims * sizeof *place);

    for (size_t k = 0; k < entries; k++)
        count[data->column[k]]++;
    for (uint32_t j = 0; j < data->dims; j++)
        order[j] = j;
    sort_count = count;
    qsort(order, data->dims, sizeof *order, by_count);
    for (uint32_t j = 0; j < data->dims; j++)
        place[order[j]] = j;
    for (size_t k = 0; k < entries; k++)
        data->column[k] = place[data->column[k]];
    for (uint32_t i = 0; i < data->rows; i++)
        qsort(data->column + (size_t)i * per_row, per_row, sizeof *data->column,
              by_value);
    free(count);
    free(order);
    free(place);
}

static void sparse_make(struct data *data, uint32_t columns, uint32_t per_row)
{
    const size_t entries = (size_t)data->rows * per_row;
    const uint32_t field = columns / per_row;
    struct rng rng;

    data->begin = big_new((data->rows + 1ul) * sizeof *data->begin);
    data->column = big_new(entries * sizeof *data->column);
    data->value = big_new(entries * sizeof *data->value);
    rng_init(&rng, 4);
    for (uint32_t i = 0; i < data->rows; i++) {
        data->begin[i + 1] = (i + 1ul) * per_row;
        for (uint32_t f = 0; f < per_row; f++) {
            const double u = rng_unit(&rng);

            data->column[(size_t)i * per_row + f] =
                f * field + (uint32_t)(field * u * u * u);
            data->value[(size_t)i * per_row + f] = (float)u;
        }
    }
    renumber(data, per_row);
    for (int hessvec = 0; hessvec < 2; hessvec++) {
        const struct evaluation what = {
            .kind = hessvec ? EVALUATE_HESSVEC : EVALUATE_GRADIENT,
            .w = data->w,
            .v = data->w,
        };

        CHECK(sparse_round_init(&data->round[hessvec], columns) == ERR_OK);
        CHECK(sparse_round_prepare(&data->round[hessvec], &what, columns) ==
              ERR_OK);
    }
}

typedef uint64_t line __attribute__((vector_size(64), aligned(4), may_alias));

#ifdef __x86_64__
__attribute__((target_clones("avx512f", "avx2", "default")))
#endif
static uint64_t
read_bytes(const void *memory, size_t bytes)
{
    const char *at = memory;
    line sum[4] = {{0}};
    uint64_t all = 0;

    for (size_t i = 0; i + 256 <= bytes; i += 256) {
        for (size_t k = 0; k < 4; k++)
            sum[k] += *(const line *)(const void *)(at + i + 64 * k);
    }
    sum[0] += sum[1] + sum[2] + sum[3];
    for (size_t k = 0; k < 8; k++)
        all += sum[0][k];
    return all;
}

static size_t row_bytes(enum dense_storage storage, size_t dims)
{
    static const size_t bits[] = {32, 16, 8, 1};

    return dims * bits[storage] / 8;
}

static void dense_chunk(struct job *job, uint32_t first, uint32_t rows,
                        uint32_t chunk)
{
    const struct data *data = job->data;
    const enum dense_storage storage =
        job->run >= RUN_BF16 && job->run <= RUN_BIT
            ? (enum dense_storage)(job->run - 1)
            : DENSE_F32;
    const size_t bytes = row_bytes(storage, data->dims);
    const struct dense_rows in = {
        .storage = storage,
        .x = (const char *)data->x[storage] + first * bytes,
        .y = data->y + first,
        .rows = rows,
        .stride = data->dims,
    };
    double loss = 0;

    if (job->run == RUN_READ) {
        job->seen += read_bytes(in.x, rows * bytes);
        return;
    }
    if (job->run == RUN_HESSVEC)
        kernel_hessvec(isa_best(), loss_plain(LOSS_LOGISTIC), &in, data->w,
                       data->w, job->g, job->scratch);
    else
        kernel_gradient(isa_best(), loss_plain(LOSS_LOGISTIC), &in, data->w,
                        job->g, &loss, job->scratch);
    CHECK(tally_add_chunk(&job->tally, chunk, job->g, loss, data->exponent) ==
          ERR_OK);
}

static void sparse_chunk(struct job *job, uint32_t first, uint32_t rows,
                         uint32_t chunk)
{
    const struct data *data = job->data;
    const bool hessvec = job->run >= SPARSE_INDEX_HESSVEC;
    const struct evaluation what = {
        .kind = hessvec ? EVALUATE_HESSVEC : EVALUATE_GRADIENT,
        .w = data->w,
        .v = data->w,
    };
    const bool csr = job->run == SPARSE_CSR || job->run == SPARSE_CSR_HESSVEC;
    const struct sparse_rows in = {
        .begin = data->begin + first,
        .column = data->column,
        .value = csr ? data->value : NULL,
        .y = data->y + first,
        .rows = rows,
        .cols = data->dims,
    };

    if (job->run == SPARSE_READ)
        job->seen +=
            read_bytes(data->column + in.begin[0],
                       (in.begin[rows] - in.begin[0]) * sizeof *data->column);
    else
        CHECK(sparse_add_chunk(isa_best(), loss_plain(LOSS_LOGISTIC), &in,
                               &what, &data->round[hessvec], data->exponent,
                               chunk, &job->desk, &job->tally) == ERR_OK);
}

/* --- softmax ---------------------------------------------------------------
 */

enum softmax_run {
    SOFTMAX_READ,
    SOFTMAX_F32,
    SOFTMAX_BF16,
    SOFTMAX_I8,
    SOFTMAX_HESSVEC,
    SOFTMAX_RUNS
};

static const char *const softmax_names[SOFTMAX_RUNS] = {
    "read fp32", "softmax fp32", "softmax bf16", "softmax int8",
    "softmax hessvec"};

/* What the dense rows have not: classes, a weight vector for each. */
struct many {
    uint32_t classes;
    double *y, *w;
    int16_t *exponent;
};

static struct many many;

static void many_make(const struct data *data, uint32_t classes)
{
    const size_t dims = (size_t)classes * data->dims;

    many.classes = classes;
    many.y = big_new(data->rows * sizeof *many.y);
    many.w = big_new(dims * sizeof *many.w);
    many.exponent = big_new((dims + 1) * sizeof *many.exponent);
    for (uint32_t i = 0; i < data->rows; i++)
        many.y[i] = (double)(rng_at(5, i, 0) % classes);
    for (size_t j = 0; j < dims; j++) {
        many.w[j] = 0.002 * (rng_unit_at(6, j, 0) - 0.5);
        many.exponent[j] = 24;
    }
}

static void softmax_chunk(struct job *job, uint32_t first, uint32_t rows,
                          uint32_t chunk)
{
    static const enum dense_storage storages[SOFTMAX_RUNS] = {
        [SOFTMAX_BF16] = DENSE_BF16, [SOFTMAX_I8] = DENSE_I8};
    const struct data *data = job->data;
    const enum dense_storage storage = storages[job->run];
    const size_t bytes = row_bytes(storage, data->dims);
    const struct dense_rows in = {
        .storage = storage,
        .x = (const char *)data->x[storage] + first * bytes,
        .y = many.y + first,
        .rows = rows,
        .stride = data->dims,
    };
    double loss = 0;

    if (job->run == SOFTMAX_READ) {
        job->seen += read_bytes(in.x, rows * bytes);
        return;
    }
    if (job->run == SOFTMAX_HESSVEC)
        softmax_hessvec(isa_best(), many.classes, &in, many.w, many.w,
                        &(struct softmax_memo){0}, job->g, job->scratch);
    else
        softmax_gradient(isa_best(), many.classes, &in, many.w, job->g, &loss,
                         job->scratch);
    CHECK(tally_add_chunk(&job->tally, chunk, job->g, loss, many.exponent) ==
          ERR_OK);
}

static void *work(void *argument)
{
    struct job *job = argument;
    const struct data *data = job->data;
    uint32_t chunk;

    while ((chunk = __atomic_fetch_add(job->next, 1, __ATOMIC_RELAXED)) <
           data->chunks) {
        const uint32_t first = chunk * data->chunk_rows;
        const uint32_t left = data->rows - first;

        job->chunk(job, first,
                   left < data->chunk_rows ? left : data->chunk_rows, chunk);
    }
    sparse_settle(&job->desk, &job->tally);
    return NULL;
}

/* Seconds of one pass over the data, the merging of tallies included. */
static double pass(struct job *job, unsigned threads, int run)
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
    for (unsigned t = 1; t < threads; t++) {
        CHECK(pthread_join(thread[t], NULL) == 0);
        CHECK(tally_merge(&job[0].tally, &job[t].tally) == ERR_OK);
    }
    return now() - begin;
}

/* 1, 2, then all the machine has; 0 after the last. */
static unsigned more_threads(unsigned threads)
{
    const long cores = sysconf(_SC_NPROCESSORS_ONLN);
    const unsigned most =
        cores < (long)THREADS_MAX ? (unsigned)cores : THREADS_MAX;

    if (threads == 1)
        return most > 1 ? 2 : 0;
    return threads < most ? most : 0;
}

static void measure(struct job *job, const char *const *names, int runs,
                    unsigned repeats)
{
    for (unsigned threads = 1; threads > 0; threads = more_threads(threads)) {
        double best[RUNS];

        for (int run = 0; run < runs; run++)
            best[run] = HUGE_VAL;
        for (unsigned n = 0; n < repeats; n++) {
            for (int run = 0; run < runs; run++)
                best[run] = fmin(best[run], pass(job, threads, run));
        }
        for (int run = 0; run < runs; run++)
            printf("%-16s %u thread%s %9.2f ms  %.2f of the read\n", names[run],
                   threads, threads == 1 ? " " : "s", 1e3 * best[run],
                   best[0] / best[run]);
    }
}

static void softmax_jobs(struct job *job, const struct data *data)
{
    const uint32_t dims = many.classes * data->dims;

    for (unsigned t = 0; t < THREADS_MAX; t++) {
        job[t] = (struct job){.data = data, .chunk = softmax_chunk};
        job[t].g = mem_new(dims, sizeof(double));
        job[t].scratch =
            mem_new(softmax_scratch_bytes(data->dims, many.classes), 1);
        CHECK(job[t].g != NULL);
        CHECK(job[t].scratch != NULL);
        CHECK(tally_init(&job[t].tally, dims, data->chunks) == ERR_OK);
    }
}

static void jobs_init(struct job *job, const struct data *data)
{
    for (unsigned t = 0; t < THREADS_MAX; t++) {
        job[t] = (struct job){.data = data};
        job[t].g = mem_new(data->dims, sizeof(double));
        job[t].scratch = mem_new(kernel_scratch_bytes(data->dims), 1);
        CHECK(job[t].g != NULL);
        CHECK(job[t].scratch != NULL);
        CHECK(tally_init(&job[t].tally, data->dims, data->chunks) == ERR_OK);
    }
}

static uint32_t number(int argc, char **argv, int at, uint32_t otherwise)
{
    return argc > at ? (uint32_t)strtoul(argv[at], NULL, 10) : otherwise;
}

/* One thread, in processor time: a gradient takes longer than a busy machine
 * leaves us alone. */
static void softmax_measure(struct job *job, unsigned repeats)
{
    double best[SOFTMAX_RUNS];

    clock_kind = CLOCK_PROCESS_CPUTIME_ID;
    for (int run = 0; run < SOFTMAX_RUNS; run++)
        best[run] = HUGE_VAL;
    for (unsigned n = 0; n < repeats; n++) {
        for (int run = 0; run < SOFTMAX_RUNS; run++)
            best[run] = fmin(best[run], pass(job, 1, run));
    }
    for (int run = 0; run < SOFTMAX_RUNS; run++)
        printf("%-16s 1 thread  %9.2f ms  %.2f of the read\n",
               softmax_names[run], 1e3 * best[run], best[0] / best[run]);
}

/* kernels softmax ROWS COLUMNS CLASSES [repeats]; MNIST's shape. */
static int softmax_main(int argc, char **argv)
{
    const uint32_t columns = number(argc, argv, 3, 784);
    const uint32_t classes = number(argc, argv, 4, 10);
    struct data data = {.rows = number(argc, argv, 2, 60000),
                        .dims = (columns + 7) / 8 * 8};
    struct job job[THREADS_MAX];

    CHECK(data.rows > 0 && columns > 0);
    CHECK(classes >= 2 && classes <= SOFTMAX_CLASSES_MAX);
    common_make(&data);
    dense_make(&data, columns);
    many_make(&data, classes);
    softmax_jobs(job, &data);
    softmax_measure(job, number(argc, argv, 5, 5));
    return 0;
}

int main(int argc, char **argv)
{
    const bool sparse = argc > 1 && strcmp(argv[1], "sparse") == 0;
    const uint32_t rows = number(argc, argv, 2, sparse ? 1000000 : 400000);
    const uint32_t columns = number(argc, argv, 3, sparse ? 200000 : 500);
    const uint32_t per_row = number(argc, argv, 4, 45);
    const uint32_t repeats = number(argc, argv, sparse ? 5 : 4, 5);
    struct data data = {.rows = rows, .dims = (columns + 7) / 8 * 8};
    struct job job[THREADS_MAX];
    struct why why = {{0}};

    if (rows == 0 || columns < per_row || golden_check(isa_best(), &why) != 0) {
        fprintf(stderr,
                "usage: kernels [dense ROWS COLUMNS | sparse ROWS "
                "COLUMNS ENTRIES | softmax ROWS COLUMNS CLASSES] "
                "[repeats]\n%s\n",
                why.text);
        return 2;
    }
    if (argc > 1 && strcmp(argv[1], "softmax") == 0)
        return softmax_main(argc, argv);
    common_make(&data);
    if (sparse)
        sparse_make(&data, columns, per_row);
    else
        dense_make(&data, columns);
    jobs_init(job, &data);
    for (unsigned t = 0; t < THREADS_MAX; t++)
        job[t].chunk = sparse ? sparse_chunk : dense_chunk;
    measure(job, sparse ? sparse_names : run_names,
            sparse ? (int)SPARSE_RUNS : (int)RUNS, repeats);
    return 0;
}
