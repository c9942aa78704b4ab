/*
 * allreduce.c - one all-reduce, timed: every process has a vector of its own
 * and ends with the sum in its place.  Built twice, on muster_sum and on MPI.
 *
 *     build/release/bench/allreduce PROCESSES TURNS TYPE BYTES...
 *     mpirun -n PROCESSES build/release/bench/allreduce_mpi TURNS TYPE BYTES...
 *
 * TYPE is i64, f32 or f64.  For each size one line: bytes, the median of TURNS
 * calls in microseconds (of each process, and of those the mean), and the
 * processor time of a call, of all processes together.  A call begins when all
 * are there.
 */
#define _GNU_SOURCE
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#ifdef PEER_MPI
#include <mpi.h>
#else
#include "muster.h"
#endif

enum { TURNS_MAX = 10000 };

static int rank, world, type;
static double took[TURNS_MAX];

static double now_us(clockid_t clock)
{
    struct timespec t;

    (void)clock_gettime(clock, &t);
    return 1e6 * (double)t.tv_sec + 1e-3 * (double)t.tv_nsec;
}

#ifdef PEER_MPI
static void sum(void *values, size_t count, int of)
{
    const MPI_Datatype types[] = {MPI_INT64_T, MPI_FLOAT, MPI_DOUBLE};

    (void)MPI_Allreduce(MPI_IN_PLACE, values, (int)count, types[of], MPI_SUM,
                        MPI_COMM_WORLD);
}

static void meet(void)
{
    (void)MPI_Barrier(MPI_COMM_WORLD);
}
#else
static struct muster_group *group;

static void sum(void *values, size_t count, int of)
{
    const enum muster_type types[] = {MUSTER_INT64, MUSTER_FLOAT,
                                      MUSTER_DOUBLE};
    char why[MUSTER_WHY_SIZE];

    if (muster_sum(group, values, count, types[of], 0, NULL, why) == MUSTER_OK)
        return;
    (void)fprintf(stderr, "allreduce: %s\n", why);
    exit(1);
}

static void meet(void)
{
    int64_t one = 1;

    sum(&one, 1, 0);
}
#endif

static int by_size(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

static void fill(void *values, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (type == 0)
            ((int64_t *)values)[i] = (int64_t)i + rank;
        else if (type == 1)
            ((float *)values)[i] = (float)(i % 1000) * 0x1p-7f + (float)rank;
        else
            ((double *)values)[i] = (double)(i % 1000) * 0x1p-7 + rank;
    }
}

static void measure(size_t bytes, int turns)
{
    const size_t count = bytes / (type == 1 ? 4 : 8);
    void *values = malloc(bytes);
    double figures[2] = {0}; /* Of all processes: time, processors' time. */

    if (values == NULL)
        exit(1);
    if (bytes > 1 << 22)
        turns = turns > 9 ? turns / 3 : 3;
    for (int i = -2; i < turns; i++) {
        double began, used;

        fill(values, count);
        meet();
        began = now_us(CLOCK_MONOTONIC);
        used = now_us(CLOCK_PROCESS_CPUTIME_ID);
        sum(values, count, type);
        if (i < 0)
            continue;
        took[i] = now_us(CLOCK_MONOTONIC) - began;
        figures[1] += now_us(CLOCK_PROCESS_CPUTIME_ID) - used;
    }
    qsort(took, (size_t)turns, sizeof *took, by_size);
    figures[0] = took[turns / 2];
    sum(figures, 2, 2);
    if (rank == 0)
        printf("%zu %.2f %.2f\n", bytes, figures[0] / world,
               figures[1] / turns);
    (void)fflush(stdout);
    free(values);
}

static void measure_all(int count, char **arguments)
{
    const int turns = atoi(arguments[0]);

    type = strcmp(arguments[1], "i64") == 0   ? 0
           : strcmp(arguments[1], "f32") == 0 ? 1
                                              : 2;
    for (int i = 2; i < count; i++)
        measure((size_t)strtoull(arguments[i], NULL, 10),
                turns < TURNS_MAX ? turns : TURNS_MAX);
}

#ifdef PEER_MPI
int main(int count, char **arguments)
{
    (void)MPI_Init(&count, &arguments);
    (void)MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    (void)MPI_Comm_size(MPI_COMM_WORLD, &world);
    measure_all(count - 1, arguments + 1);
    (void)MPI_Finalize();
    return 0;
}
#else
/* Forked before there is a group. */
int main(int count, char **arguments)
{
    struct muster_group_options options =
        MUSTER_INIT(struct muster_group_options);
    char address[256] = "", why[MUSTER_WHY_SIZE];
    int road[2];

    if (count < 5 || pipe(road) != 0)
        return 2;
    world = atoi(arguments[1]);
    while (rank + 1 < world && fork() == 0)
        rank++;
    options.least = (uint32_t)world;
    options.bytes_max = UINT64_C(256) << 20;
    options.token_file = getenv("TOKEN_FILE");
    options.plain = getenv("PLAIN") != NULL;
    if (rank > 0 && read(road[0], address, sizeof address) <= 0)
        return 2;
    if ((rank == 0 ? muster_group_host(&options, &group, why)
                   : muster_group_join(&options, address, &group, why)) !=
        MUSTER_OK) {
        (void)fprintf(stderr, "allreduce: %s\n", why);
        return 1;
    }
    if (rank == 0)
        (void)snprintf(address, sizeof address, "%s",
                       muster_group_address(group));
    for (int i = 1; rank == 0 && i < world; i++) {
        if (write(road[1], address, sizeof address) != sizeof address)
            return 2;
    }
    measure_all(count - 2, arguments + 2);
    muster_group_leave(group);
    (void)wait(NULL);
    return 0;
}
#endif
