/*
 * data.c - reading a file against a plain read of the same bytes.
 *
 *     data FILE CACHE [-l LABELS] [-r REPEATS]
 *
 * One line for each way: name, threads, milliseconds, GB/s of its bytes, and
 * milliseconds of processor time, which other programs disturb less.
 *
 *     read file     pread of the whole file, block by block
 *     parse         source_load: the file to a data set, ready to train
 *     liblinear     fgets, strtok, strtol, strtod, twice over the file, as
 *                   LIBLINEAR's reader goes about it; LIBSVM text only
 *     read copy     a plain sum over the cache's copy, mapped afresh
 *     reload        source_load from the cache, checksums verified
 *
 * The ways take turns and the best of each counts.
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/check.h"
#include "base/mem.h"
#include "data/source.h"
#include "os/file/input.h"
#include "os/run/pages.h"
#include "os/run/threads.h"

#define BLOCK       ((size_t)1 << 20)
#define THREADS_TOP 2u

enum way { READ_FILE, PARSE, LIBLINEAR, READ_COPY, RELOAD, WAYS };

static const char *const names[WAYS] = {"read file", "parse", "liblinear",
                                        "read copy", "reload"};

struct bench {
    struct source_options source;
    const char *cache;
    char copy[4096]; /* The file that the cache keeps. */
    size_t file_bytes, copy_bytes;
    struct pool *pool;
    uint64_t seen; /* Keeps reads from being optimised away. */
};

static double now(clockid_t clock)
{
    struct timespec time;

    clock_gettime(clock, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

static uint64_t sum_words(const uint8_t *data, size_t size)
{
    uint64_t sum = 0;

    for (size_t at = 0; at + sizeof sum <= size; at += sizeof sum) {
        uint64_t word;

        memcpy(&word, data + at, sizeof word);
        sum += word;
    }
    return sum;
}

struct reading {
    struct input input;
    const uint8_t *mapped; /* NULL: read the input. */
    size_t size;
    uint8_t *room[THREADS_TOP];
    uint64_t sum[THREADS_TOP];
};

static void read_block(void *context, uint32_t thread, uint32_t item)
{
    struct reading *const reading = context;
    const size_t first = item * BLOCK;
    const size_t left = reading->size - first;
    size_t got = left < BLOCK ? left : BLOCK;

    if (reading->mapped == NULL) {
        CHECK(input_read_at(&reading->input, first, reading->room[thread],
                            BLOCK, &got) == ERR_OK);
        reading->sum[thread] += reading->room[thread][got / 2];
    } else {
        reading->sum[thread] += sum_words(reading->mapped + first, got);
    }
}

static void run_blocks(struct bench *bench, struct reading *reading)
{
    bench->pool->run(bench->pool, read_block, reading,
                     (uint32_t)((reading->size + BLOCK - 1) / BLOCK));
    for (uint32_t i = 0; i < THREADS_TOP; i++)
        bench->seen += reading->sum[i];
}

static void read_file(struct bench *bench)
{
    struct reading reading = {.size = bench->file_bytes};

    CHECK(input_open(&reading.input, bench->source.spec, NULL) == ERR_OK);
    for (uint32_t i = 0; i < THREADS_TOP; i++) {
        reading.room[i] = mem_new(BLOCK, 1);
        CHECK(reading.room[i] != NULL);
    }
    run_blocks(bench, &reading);
    for (uint32_t i = 0; i < THREADS_TOP; i++)
        mem_free(reading.room[i]);
    input_close(&reading.input);
}

static void read_copy(struct bench *bench)
{
    struct file_map map = {0};
    struct reading reading = {0};

    CHECK(file_map_open(&map, bench->copy, NULL) == ERR_OK);
    reading.mapped = map.data;
    reading.size = map.size;
    run_blocks(bench, &reading);
    file_map_close(&map);
}

static void load(struct bench *bench, const char *cache)
{
    struct source_options source = bench->source;
    struct dataset data = {0};
    struct why why = {0};

    source.cache = cache;
    source.pool = bench->pool;
    if (source_load(&source, &data, NULL, NULL, &why) != ERR_OK) {
        (void)fprintf(stderr, "data: %s\n", why.text);
        exit(1);
    }
    bench->seen += data.rows;
    dataset_close(&data);
}

/* --- the way of LIBLINEAR --------------------------------------------------
 */

struct node {
    int index;
    double value;
};

/* A whole line, however long. */
static char *next_line(FILE *file, char **line, size_t *room)
{
    size_t used;

    if (fgets(*line, (int)*room, file) == NULL)
        return NULL;
    while (strchr(*line, '\n') == NULL) {
        *room *= 2;
        *line = realloc(*line, *room); /* As the original does. */
        CHECK(*line != NULL);
        used = strlen(*line);
        if (fgets(*line + used, (int)(*room - used), file) == NULL)
            break;
    }
    return *line;
}

/* First pass: how many lines and fields there are. */
static void count_fields(FILE *file, char **line, size_t *room, size_t *rows,
                         size_t *fields)
{
    char *rest;

    while (next_line(file, line, room) != NULL) {
        char *field = strtok_r(*line, " \t", &rest);

        for (; field != NULL && *field != '\n';
             field = strtok_r(NULL, " \t", &rest))
            ++*fields;
        ++*rows;
    }
}

static size_t parse_fields(char *line, double *label, struct node *nodes)
{
    char *rest;
    size_t count = 0;

    *label = strtod(strtok_r(line, " \t\n", &rest), NULL);
    for (;;) {
        char *const index = strtok_r(NULL, ":", &rest);
        char *const value = strtok_r(NULL, " \t", &rest);

        if (value == NULL)
            return count;
        nodes[count].index = (int)strtol(index, NULL, 10);
        nodes[count].value = strtod(value, NULL);
        count++;
    }
}

static void read_like_liblinear(struct bench *bench)
{
    FILE *const file = fopen(bench->source.spec, "r");
    size_t room = 1024;
    char *line = malloc(room);
    size_t rows = 0;
    size_t fields = 0;
    struct node *nodes;
    double *label;
    struct node **row;

    CHECK(file != NULL && line != NULL);
    count_fields(file, &line, &room, &rows, &fields);
    rewind(file);
    nodes = calloc(fields + rows + 1, sizeof *nodes);
    label = malloc((rows + 1) * sizeof *label);
    row = malloc((rows + 1) * sizeof *row);
    CHECK(nodes != NULL && label != NULL && row != NULL);
    fields = 0;
    for (size_t i = 0; i < rows; i++) {
        CHECK(next_line(file, &line, &room) != NULL);
        row[i] = nodes + fields;
        fields += parse_fields(line, &label[i], row[i]);
        nodes[fields++].index = -1;
    }
    bench->seen += (uint64_t)nodes[fields / 2].index;
    free(nodes);
    free(label);
    free(row);
    free(line);
    (void)fclose(file);
}

/* --- the bench --------------------------------------------------------------
 */

static void run_way(struct bench *bench, enum way way)
{
    switch (way) {
    case READ_FILE:
        read_file(bench);
        break;
    case PARSE:
        load(bench, NULL);
        break;
    case LIBLINEAR:
        read_like_liblinear(bench);
        break;
    case READ_COPY:
        read_copy(bench);
        break;
    case RELOAD:
        load(bench, bench->cache);
        break;
    case WAYS:
        break;
    }
}

static size_t size_of(const char *path)
{
    struct stat stat_of;

    CHECK(stat(path, &stat_of) == 0);
    return (size_t)stat_of.st_size;
}

static void find_copy(struct bench *bench)
{
    DIR *const folder = opendir(bench->cache);
    struct dirent *entry;

    CHECK(folder != NULL);
    while ((entry = readdir(folder)) != NULL) {
        if (strstr(entry->d_name, ".data") != NULL)
            (void)snprintf(bench->copy, sizeof bench->copy, "%s/%s",
                           bench->cache, entry->d_name);
    }
    (void)closedir(folder);
    bench->copy_bytes = size_of(bench->copy);
}

static bool is_libsvm(const char *path)
{
    const size_t size = strlen(path);

    return size > 4 && strcmp(path + size - 4, ".svm") == 0;
}

static bool takes_part(const struct bench *bench, enum way way, int turn)
{
    return way != LIBLINEAR || (is_libsvm(bench->source.spec) &&
                                bench->pool->threads == 1 && turn <= 2);
}

static void note_best(double *best, double took)
{
    if (*best == 0 || took < *best)
        *best = took;
}

static void report(const struct bench *bench, enum way way, double best,
                   double cpu)
{
    const size_t bytes = way == READ_COPY || way == RELOAD ? bench->copy_bytes
                                                           : bench->file_bytes;

    if (best > 0)
        (void)printf("%-10s %u threads %9.2f ms %7.3f GB/s %9.2f cpu ms\n",
                     names[way], bench->pool->threads, 1e3 * best,
                     1e-9 * (double)bytes / best, 1e3 * cpu);
}

static void measure(struct bench *bench, uint32_t threads, int repeats)
{
    double best[WAYS] = {0};
    double cpu[WAYS] = {0};

    CHECK(threads_new(threads, &bench->pool) == ERR_OK);
    for (int turn = 0; turn <= repeats; turn++) {
        for (int way = 0; way < WAYS; way++) {
            const double begin = now(CLOCK_MONOTONIC);
            const double begin_cpu = now(CLOCK_PROCESS_CPUTIME_ID);

            if (!takes_part(bench, (enum way)way, turn))
                continue;
            run_way(bench, (enum way)way);
            if (turn == 0) /* Warms up. */
                continue;
            note_best(&best[way], now(CLOCK_MONOTONIC) - begin);
            note_best(&cpu[way], now(CLOCK_PROCESS_CPUTIME_ID) - begin_cpu);
        }
    }
    for (int way = 0; way < WAYS; way++)
        report(bench, (enum way)way, best[way], cpu[way]);
    threads_free(bench->pool);
}

int main(int argc, char **argv)
{
    struct bench bench = {0};
    int repeats = 5;
    int option;

    while ((option = getopt(argc, argv, "l:r:")) != -1) {
        if (option == 'l')
            bench.source.labels_file = optarg;
        else if (option == 'r')
            repeats = atoi(optarg);
    }
    if (argc - optind != 2) {
        (void)fprintf(stderr, "usage: data FILE CACHE [-l LABELS] [-r N]\n");
        return 2;
    }
    bench.source.spec = argv[optind];
    bench.cache = argv[optind + 1];
    bench.file_bytes = size_of(bench.source.spec);
    bench.pool = pool_serial();
    load(&bench, bench.cache);
    find_copy(&bench);
    for (uint32_t threads = 1; threads <= THREADS_TOP; threads++)
        measure(&bench, threads, repeats);
    return bench.seen == 0;
}
