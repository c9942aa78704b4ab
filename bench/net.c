/*
 * net.c - products of matrices against OpenBLAS, and networks in training.
 *
 *     net gemm                                       GFLOP/s, one thread
 *     net train NET SHAPE MICRO THREADS BATCH SECONDS
 *
 * SHAPE is 28x28x1.  Time is that of the processor with one thread, which a
 * busy machine disturbs least, and elapsed time with more.  A line for each
 * product: shape, ours, OpenBLAS's, ratio (where it is installed; Debian:
 * libopenblas-dev); for training: images a second of the best step, and the
 * mean loss of the last.
 */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/check.h"
#include "base/mem.h"
#include "base/rng.h"
#include "math/net/gemm.h"
#include "model/net/work.h"
#include "os/run/threads.h"

#ifdef HAVE_OPENBLAS
void cblas_sgemm(int order, int turn_a, int turn_b, int m, int n, int k,
                 float alpha, const float *a, int lda, const float *b, int ldb,
                 float beta, float *c, int ldc);
void openblas_set_num_threads(int threads);
#endif

enum { EXPONENT = 40, IMAGES = 1024, TENSORS_MAX = 64 };

static double now(bool cpu)
{
    struct timespec time;

    clock_gettime(cpu ? CLOCK_THREAD_CPUTIME_ID : CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

static float *numbers(size_t count, uint64_t seed)
{
    float *const made = mem_new(count, sizeof *made);

    CHECK(made != NULL);
    for (size_t i = 0; i < count; i++)
        made[i] = (float)(rng_unit_at(seed, 0, i) - 0.5);
    return made;
}

/* --- products ------------------------------------------------------------ */

static double theirs(const struct gemm *g)
{
#ifdef HAVE_OPENBLAS
    const double begin = now(true);

    cblas_sgemm(101, 111, 111, (int)g->m, (int)g->n, (int)g->k, 1, g->a,
                (int)g->a_row, g->b, (int)g->b_row, 0, g->c, (int)g->c_row);
    return now(true) - begin;
#else
    (void)g;
    return 0;
#endif
}

static double ours(const struct gemm *g, float *scratch)
{
    const double begin = now(true);

    gemm_run(isa_best(), g, scratch);
    return now(true) - begin;
}

static void product(uint32_t m, uint32_t n, uint32_t k, float *scratch)
{
    const double work = 2e-9 * (double)m * (double)n * (double)k;
    const int repeats = work < 1 ? 60 : 8;
    double best[2] = {1e9, 1e9};
    float *const a = numbers((size_t)m * k, 1);
    float *const b = numbers((size_t)k * n, 2);
    struct gemm g = {.m = m,
                     .n = n,
                     .k = k,
                     .a = a,
                     .a_row = k,
                     .a_col = 1,
                     .b = b,
                     .b_row = n,
                     .b_col = 1,
                     .c_row = n};

    g.c = numbers((size_t)m * n, 3);
    for (int r = 0; r < repeats; r++) {
        const double one = ours(&g, scratch), other = theirs(&g);

        best[0] = one < best[0] ? one : best[0];
        best[1] = other < best[1] ? other : best[1];
    }
    if (best[1] > 0)
        printf("%5u x %4u x %5u  %7.1f %7.1f  %.2f\n", m, n, k, work / best[0],
               work / best[1], best[1] / best[0]);
    else
        printf("%5u x %4u x %5u  %7.1f\n", m, n, k, work / best[0]);
    mem_free(a);
    mem_free(b);
    mem_free(g.c);
}

static int products(void)
{
    static const uint32_t shapes[][3] = {
        {256, 256, 256}, {512, 512, 512}, {1024, 1024, 1024}, {16, 128, 9216},
        {64, 128, 9216}, {64, 512, 784},  {64, 256, 512},     {9216, 128, 32},
    };
    float *const scratch = mem_new(GEMM_SCRATCH, sizeof *scratch);

    CHECK(scratch != NULL);
#ifdef HAVE_OPENBLAS
    openblas_set_num_threads(1);
#endif
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++)
        product(shapes[i][0], shapes[i][1], shapes[i][2], scratch);
    mem_free(scratch);
    return 0;
}

/* --- training ------------------------------------------------------------ */

struct training {
    struct neural net;
    struct neural_work *work;
    uint32_t micro, batch, threads;
    float *x, *parameters;
    uint32_t *label;
    uint64_t *id;
    int64_t *sum;
    int16_t exponent[TENSORS_MAX];
    int64_t size[IMAGES * TENSORS_MAX];
    double losses[IMAGES], loss;
};

static void make_images(struct training *t)
{
    const size_t floats = neural_floats(&t->net.in);
    const uint32_t classes = (uint32_t)neural_floats(&t->net.out);

    t->x = numbers(IMAGES * floats, 4);
    t->label = mem_new(IMAGES, sizeof *t->label);
    t->id = mem_new(IMAGES, sizeof *t->id);
    CHECK(t->label != NULL && t->id != NULL);
    for (uint32_t i = 0; i < IMAGES; i++) {
        t->label[i] = i % classes;
        t->id[i] = i;
        for (size_t k = 0; k < floats; k++) {
            if (k * classes / floats == t->label[i])
                t->x[i * floats + k] += 0.5f;
        }
    }
}

static void step(struct training *t, uint64_t number)
{
    const uint32_t first =
        (uint32_t)(number * t->batch % (IMAGES - t->batch + 1));
    const size_t floats = neural_floats(&t->net.in);
    const double rate = 0.05 / t->batch / (double)(INT64_C(1) << EXPONENT);

    const struct neural_rows rows = {.count = t->batch,
                                     .micro = t->micro,
                                     .x = t->x + first * floats,
                                     .label = t->label + first,
                                     .id = t->id + first,
                                     .seed = 1,
                                     .step = number};
    struct neural_sums sums = {.exponent = t->exponent,
                               .sum = t->sum,
                               .blank = true, /* As a step's first are. */
                               .size = t->size,
                               .loss = t->losses};

    CHECK(neural_work_load(t->work, t->parameters) == ERR_OK);
    CHECK(neural_work_gradient(t->work, &rows, &sums) == ERR_OK);
    t->loss = 0;
    for (uint32_t m = 0; m * t->micro < t->batch; m++)
        t->loss += t->losses[m];
    for (size_t i = 0; i < t->net.parameters; i++)
        t->parameters[i] -= (float)((double)t->sum[i] * rate);
}

static void prepare(struct training *t, const char *text, const char *shape)
{
    struct neural_shape in;
    struct pool *pool = pool_serial();
    struct why why = {{0}};

    if (sscanf(shape, "%ux%ux%u", &in.height, &in.width, &in.channels) != 3 ||
        neural_init(&t->net, text, &in, NEURAL_SOFTMAX, &why) != ERR_OK) {
        fprintf(stderr, "net: %s: %s\n", shape, why.text);
        exit(2);
    }
    if (t->threads > 1)
        CHECK(threads_new(t->threads, &pool) == ERR_OK);
    CHECK(t->net.tensor_count <= TENSORS_MAX);
    CHECK(neural_work_new(&t->net, t->batch,
                          t->micro < t->batch ? t->micro : t->batch, isa_best(),
                          pool, &t->work, &why) == ERR_OK);
    t->parameters = mem_new(t->net.parameters, sizeof *t->parameters);
    t->sum = mem_new(t->net.parameters, sizeof *t->sum);
    CHECK(t->parameters != NULL && t->sum != NULL);
    for (uint32_t k = 0; k < TENSORS_MAX; k++)
        t->exponent[k] = EXPONENT;
    neural_draw(&t->net, 1, t->parameters);
    make_images(t);
}

static int train(char **argument)
{
    static struct training t;
    const double seconds = strtod(argument[5], NULL);
    double best = 1e9, spent = 0;

    t.micro = (uint32_t)strtoul(argument[2], NULL, 10);
    t.threads = (uint32_t)strtoul(argument[3], NULL, 10);
    t.batch = (uint32_t)strtoul(argument[4], NULL, 10);
    CHECK(t.micro > 0 && t.threads > 0 && t.batch > 0 && t.batch <= IMAGES);
    prepare(&t, argument[0], argument[1]);
    for (uint64_t number = 0; spent < seconds || number < 3; number++) {
        const double begin = now(t.threads == 1);
        double took;

        step(&t, number);
        took = now(t.threads == 1) - begin;
        spent += took;
        best = took < best ? took : best;
    }
    printf("%.1f %.4f\n", t.batch / best, t.loss / t.batch);
    return 0;
}

int main(int count, char **argument)
{
    if (count == 2 && strcmp(argument[1], "gemm") == 0)
        return products();
    if (count == 8 && strcmp(argument[1], "train") == 0)
        return train(argument + 2);
    fprintf(stderr, "usage: net gemm | net train NET SHAPE MICRO THREADS BATCH "
                    "SECONDS\n");
    return 2;
}
