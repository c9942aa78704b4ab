/*
 * coded.c - products with a coded block, and making blocks, beside what memory
 * and arithmetic allow.
 *
 *     coded [ROWS COLS PARTS BLOCKS REPEATS PLAIN]     40000 500 4 4 9 0
 *
 * One thread, fp64 blocks of dense fp32 rows.  First GB/s: reading a block of
 * that size with eight sums (the limit), then SCORES, COMBINE and BACK.  Then
 * making BLOCKS blocks, PLAIN of them of one part and the others of all, as a
 * run with so many workers begins: by themselves, all in one pass, and
 * the limit, which is the longer of two: as many products and additions on
 * registers alone; the rows read and the blocks written.  Passes alternate and
 * the least of each counts, in processor time.
 */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/check.h"
#include "base/mem.h"
#include "base/rng.h"
#include "data/rows/coded.h"

#define BLOCKS_MAX 64u

/* As wide as the machine has it. */
#if defined(__x86_64__) && !defined(__clang__)
#define WIDE                                                                   \
    __attribute__((                                                            \
        target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default"),          \
        optimize("O3", "no-fast-math", "fp-contract=off")))
#else
#define WIDE
#endif

typedef double vec __attribute__((vector_size(64), aligned(8), may_alias));

static volatile double sink;

static double now(void)
{
    struct timespec time;

    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

WIDE static void read_all(const double *x, size_t count)
{
    vec sum[8] = {{0}};

    for (size_t i = 0; i + 64 <= count; i += 64) {
        for (size_t k = 0; k < 8; k++)
            sum[k] += *(const vec *)(const void *)(x + i + 8 * k);
    }
    for (size_t k = 0; k < 8; k++)
        sink += sum[k][0];
}

/* `count` products and as many additions, of as many different numbers as
 * registers hold: what depends on nothing else the compiler cannot leave out,
 * and has no reason to keep in memory. */
WIDE static void arithmetic(const double *x, size_t count)
{
    vec sum[12];
    const vec in = *(const vec *)(const void *)x;

    for (size_t k = 0; k < 12; k++)
        sum[k] = *(const vec *)(const void *)(x + k);
    for (size_t i = 0; i < count; i += 96) {
        for (size_t k = 0; k < 12; k++)
            sum[k] = sum[k] * in + in;
    }
    for (size_t k = 0; k < 12; k++)
        sink += sum[k][0];
}

struct scene {
    struct dataset data;
    struct block_shape shape;
    struct coded block[BLOCKS_MAX];
    uint32_t blocks, plain;
    double *in, *out;
};

static void open_scene(struct scene *scene, uint32_t rows, uint32_t cols,
                       uint32_t parts)
{
    const uint32_t length = block_pad(rows > cols ? rows : cols);

    CHECK(dataset_init(&scene->data, rows, cols, 256) == ERR_OK);
    chunkset_fill(&scene->data.present);
    for (uint32_t i = 0; i < rows; i++) {
        float *row = dataset_row(&scene->data, i);

        for (uint32_t j = 0; j < cols; j++)
            row[j] = (float)rng_unit_at(1, i, j);
    }
    scene->shape = coded_shape(&scene->data, parts, 2);
    scene->in = mem_new(length, sizeof *scene->in);
    scene->out = mem_new(length, sizeof *scene->out);
    CHECK(scene->in != NULL && scene->out != NULL);
    for (uint32_t i = 0; i < length; i++)
        scene->in[i] = rng_unit_at(2, i, 0);
}

static void blank(struct scene *scene, uint32_t copies)
{
    const uint32_t parts = scene->shape.parts;

    for (uint32_t b = 0; b < scene->blocks; b++) {
        struct block_term *terms = mem_new(parts, sizeof *terms);
        const bool plain = b < scene->plain;

        CHECK(terms != NULL && parts > 0);
        for (uint32_t part = 0; part < parts; part++)
            terms[part] = (struct block_term){
                .part = part,
                .first = part * scene->shape.chunks / parts,
                .end = (part + 1) * scene->shape.chunks / parts,
                .factor = rng_normal_at(3, b, part)};
        coded_close(&scene->block[b]);
        scene->shape.copies = copies;
        CHECK(coded_init(&scene->block[b], &scene->shape,
                         terms + (plain ? b % parts : 0),
                         plain ? 1 : parts) == ERR_OK);
        mem_free(terms);
        /* Pages are there before the clock runs. */
        memset(scene->block[b].tall, 0,
               (size_t)block_rows(&scene->shape) *
                   block_pad(scene->shape.cols) * sizeof(double));
    }
}

static double product(const struct scene *scene, enum evaluation_kind kind)
{
    const struct computation asked = {
        .what = {.kind = kind, .w = scene->in},
        .end = block_range(&scene->shape, kind),
        .vector = scene->out,
    };
    const double began = now();

    CHECK(coded_multiply(&scene->block[0], &asked, isa_best(), pool_serial(),
                         NULL) == ERR_OK);
    return now() - began;
}

static double reading(const struct scene *scene)
{
    const double began = now();

    read_all(scene->block[0].tall,
             (size_t)block_rows(&scene->shape) * block_pad(scene->shape.cols));
    return now() - began;
}

static double least(double a, double b)
{
    return a == 0 || b < a ? b : a;
}

static void products(struct scene *scene, uint32_t repeats)
{
    static const enum evaluation_kind kinds[] = {
        EVALUATE_SCORES, EVALUATE_COMBINE, EVALUATE_BACK};
    static const char *const names[] = {"scores", "combine", "back"};
    const double bytes = (double)block_rows(&scene->shape) *
                         block_pad(scene->shape.cols) * sizeof(double);
    double best[3] = {0};
    double limit = 0;

    scene->blocks = 1;
    blank(scene, 2);
    CHECK(coded_fill(&scene->block[0], &scene->data, pool_serial(), NULL) ==
          ERR_OK);
    for (uint32_t i = 0; i < repeats; i++) {
        limit = least(limit, reading(scene));
        for (int k = 0; k < 3; k++)
            best[k] = least(best[k], product(scene, kinds[k]));
    }
    printf("block %.1f MB, read %.2f GB/s\n", bytes / 1e6, bytes / limit / 1e9);
    for (int k = 0; k < 3; k++)
        printf("%-8s %6.2f GB/s, %.2f of the limit's time\n", names[k],
               bytes / best[k] / 1e9, best[k] / limit);
}

static double make(struct scene *scene, bool together)
{
    struct coded *blocks[BLOCKS_MAX] = {0};
    double began;

    blank(scene, 1);
    for (uint32_t b = 0; b < scene->blocks; b++)
        blocks[b] = &scene->block[b];
    began = now();
    if (together)
        CHECK(coded_fill_all(blocks, scene->blocks, &scene->data, pool_serial(),
                             NULL) == ERR_OK);
    for (uint32_t b = 0; !together && b < scene->blocks; b++)
        CHECK(coded_fill(blocks[b], &scene->data, pool_serial(), NULL) ==
              ERR_OK);
    return now() - began;
}

/* Reads rows, writes blocks. */
static double traffic(struct scene *scene)
{
    const size_t rows = (size_t)scene->data.rows * scene->data.stride / 2;
    const double began = now();

    read_all(scene->data.x, rows);
    for (uint32_t b = 0; b < scene->blocks; b++)
        memset(scene->block[b].tall, (int)b,
               (size_t)block_rows(&scene->shape) *
                   block_pad(scene->shape.cols) * sizeof(double));
    return now() - began;
}

static double counting(const struct scene *scene)
{
    const uint32_t parts = scene->shape.parts;
    const size_t terms =
        scene->plain + (size_t)(scene->blocks - scene->plain) * parts;
    const size_t count =
        (size_t)scene->data.rows * scene->data.stride / parts * terms;
    const double began = now();

    arithmetic(scene->in, count);
    return now() - began;
}

static void making(struct scene *scene, uint32_t blocks, uint32_t plain,
                   uint32_t repeats)
{
    double alone = 0;
    double together = 0;
    double bytes = 0;
    double flops = 0;
    double limit;

    scene->blocks = blocks;
    scene->plain = plain;
    for (uint32_t i = 0; i < repeats; i++) {
        alone = least(alone, make(scene, false));
        together = least(together, make(scene, true));
        bytes = least(bytes, traffic(scene));
        flops = least(flops, counting(scene));
    }
    limit = bytes > flops ? bytes : flops;
    printf("%u blocks, %u plain, of %u parts: limit %.1f ms (memory %.1f, "
           "arithmetic %.1f)\n",
           blocks, plain, scene->shape.parts, 1e3 * limit, 1e3 * bytes,
           1e3 * flops);
    printf("one by one %.1f ms, %.2f of the limit's time\n", 1e3 * alone,
           alone / limit);
    printf("together   %.1f ms, %.2f of the limit's time\n", 1e3 * together,
           together / limit);
}

int main(int argc, char **argv)
{
    uint32_t numbers[] = {40000, 500, 4, 4, 9, 0};
    struct scene scene = {0};

    for (int i = 1; i < argc && i <= 6; i++)
        numbers[i - 1] = (uint32_t)strtoul(argv[i], NULL, 10);
    if (argc > 7 || numbers[5] > numbers[3] || numbers[0] == 0 ||
        numbers[1] == 0 || numbers[2] == 0 ||
        numbers[2] > numbers[0] / 256 + 1 || numbers[3] == 0 ||
        numbers[3] > BLOCKS_MAX) {
        (void)fprintf(stderr,
                      "usage: coded [ROWS COLS PARTS BLOCKS "
                      "REPEATS PLAIN], at most %u blocks\n",
                      BLOCKS_MAX);
        return 2;
    }
    open_scene(&scene, numbers[0], numbers[1], numbers[2]);
    products(&scene, numbers[4]);
    making(&scene, numbers[3], numbers[5], numbers[4]);
    for (uint32_t b = 0; b < BLOCKS_MAX; b++)
        coded_close(&scene.block[b]);
    dataset_close(&scene.data);
    mem_free(scene.in);
    mem_free(scene.out);
    return 0;
}
