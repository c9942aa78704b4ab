/*
 * train_liblinear.c - LIBLINEAR's train() timed in process, as train.c ours.
 *
 *     train_liblinear X.npy Y.npy TYPE C REPEATS EPS
 *     train_liblinear ROWS.svm -  TYPE C REPEATS EPS
 *
 * Files: float32, C order, or LIBSVM's text.  Prints the least CPU and wall
 * seconds of train() alone, then the weights, one a line.
 */
#define _POSIX_C_SOURCE 200809L
#include <linear.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static double read_clock(clockid_t clock)
{
    struct timespec time;

    clock_gettime(clock, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

static void stop(const char *what)
{
    fprintf(stderr, "train_liblinear: %s\n", what);
    exit(2);
}

/* The values behind an npy header of version 1. */
static float *read_npy(const char *path, long *count)
{
    unsigned char head[10];
    FILE *file = fopen(path, "rb");
    float *values;
    long begin, end;

    if (file == NULL || fread(head, 1, sizeof head, file) != sizeof head)
        stop(path);
    begin = (long)sizeof head + head[8] + 256 * head[9];
    (void)fseek(file, 0, SEEK_END);
    end = ftell(file);
    (void)fseek(file, begin, SEEK_SET);
    *count = (end - begin) / (long)sizeof *values;
    values = malloc((size_t)(end - begin));
    if (values == NULL ||
        fread(values, sizeof *values, (size_t)*count, file) != (size_t)*count)
        stop(path);
    fclose(file);
    return values;
}

/* Sparse rows, each ended by index -1: LIBLINEAR's only form. */
static struct problem make_problem(const float *x, const float *y, long rows,
                                   long cols)
{
    struct problem problem = {.l = (int)rows, .n = (int)cols, .bias = -1};
    struct feature_node *node;
    long entries = rows;

    for (long i = 0; i < rows * cols; i++)
        entries += x[i] != 0;
    node = malloc((size_t)entries * sizeof *node);
    problem.y = malloc((size_t)rows * sizeof *problem.y);
    problem.x = malloc((size_t)rows * sizeof *problem.x);
    if (rows < 1 || node == NULL || problem.y == NULL || problem.x == NULL)
        stop("out of memory");
    for (long i = 0; i < rows; i++) {
        problem.y[i] = (double)y[i];
        problem.x[i] = node;
        for (long j = 0; j < cols; j++)
            if (x[i * cols + j] != 0)
                *node++ =
                    (struct feature_node){(int)j + 1, (double)x[i * cols + j]};
        *node++ = (struct feature_node){-1, 0};
    }
    return problem;
}

/* The numbers of a line after the label, rounded to float as ours are; NULL:
 * only how many. */
static long read_entries(char *at, struct feature_node *node, int *cols)
{
    long count = 0;

    for (char *end;; count++) {
        const int column = (int)strtol(at, &end, 10);

        if (end == at || *end != ':')
            return count;
        *cols = column > *cols ? column : *cols;
        if (node != NULL)
            node[count] =
                (struct feature_node){column, (double)strtof(end + 1, &at)};
        else
            (void)strtof(end + 1, &at);
    }
}

/* LIBSVM's text, in two passes: count, then keep. */
static struct problem read_rows(const char *path)
{
    struct problem problem = {.bias = -1};
    struct feature_node *node = NULL;
    FILE *file = fopen(path, "r");
    long entries = 0;
    size_t room = 0;
    char *line = NULL, *at;

    if (file == NULL)
        stop(path);
    for (; getline(&line, &room, file) > 0; problem.l++) {
        (void)strtod(line, &at);
        entries += read_entries(at, NULL, &problem.n) + 1;
    }
    node = malloc((size_t)entries * sizeof *node);
    problem.y = malloc((size_t)problem.l * sizeof *problem.y);
    problem.x = malloc((size_t)problem.l * sizeof *problem.x);
    if (node == NULL || problem.y == NULL || problem.x == NULL)
        stop("out of memory");
    rewind(file);
    for (int i = 0; i < problem.l && getline(&line, &room, file) > 0; i++) {
        problem.y[i] = strtod(line, &at);
        problem.x[i] = node;
        node += read_entries(at, node, &problem.n);
        *node++ = (struct feature_node){-1, 0};
    }
    free(line);
    fclose(file);
    return problem;
}

static struct problem read_matrix(const char *x_path, const char *y_path)
{
    long values, rows;
    const float *const x = read_npy(x_path, &values);
    const float *const y = read_npy(y_path, &rows);

    if (rows < 1)
        stop("no rows");
    return make_problem(x, y, rows, values / rows);
}

static void quiet(const char *text)
{
    (void)text;
}

int main(int argc, char **argv)
{
    struct parameter parameter = {.p = 0.1};
    struct problem problem;
    struct model *model = NULL;
    const char *bad;
    double cpu = HUGE_VAL, wall = HUGE_VAL, sign;

    if (argc != 7)
        stop("usage: train_liblinear X.npy Y.npy TYPE C REPEATS EPS");
    problem = strcmp(argv[2], "-") == 0 ? read_rows(argv[1])
                                        : read_matrix(argv[1], argv[2]);
    parameter.solver_type = (int)strtol(argv[3], NULL, 10);
    parameter.C = strtod(argv[4], NULL);
    parameter.eps = strtod(argv[6], NULL);
    set_print_string_function(quiet);
    bad = check_parameter(&problem, &parameter);
    if (bad != NULL)
        stop(bad);
    /* What takes longer than a second is measured well enough by one run. */
    for (long i = strtol(argv[5], NULL, 10);
         i > 0 && !(cpu < HUGE_VAL && cpu > 1); i--) {
        const double begin = read_clock(CLOCK_PROCESS_CPUTIME_ID);
        const double began = read_clock(CLOCK_MONOTONIC);

        if (model != NULL)
            free_and_destroy_model(&model);
        model = train(&problem, &parameter);
        cpu = fmin(cpu, read_clock(CLOCK_PROCESS_CPUTIME_ID) - begin);
        wall = fmin(wall, read_clock(CLOCK_MONOTONIC) - began);
    }
    if (model == NULL)
        stop("REPEATS must be at least 1");
    printf("%.6f %.6f\n", cpu, wall);
    sign = model->label[0] > 0 ? 1 : -1;
    for (int j = 0; j < problem.n; j++)
        printf("%.17g\n", sign * model->w[j]);
    return 0;
}
