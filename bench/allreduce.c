/*
 * allreduce.c - one all-reduce, timed: every process has a vector of its own
 * and ends with the sum in its place.  Built on muster_sum, on MPI, and on
 * nothing.
 *
 *     build/release/bench/allreduce PROCESSES TURNS TYPE BYTES...
 *     build/release/bench/allreduce_bare PROCESSES TURNS i64 BYTES...
 *     mpirun -n PROCESSES build/release/bench/allreduce_mpi TURNS TYPE BYTES...
 *
 * TYPE is i64, f32 or f64.  For each size one line: bytes, the median of TURNS
 * calls in microseconds (of each process, and of those the mean), and the
 * processor time of a call, of all processes together.  A call begins when all
 * are there.
 *
 * The bare one is what a sum needs whose vectors outlive their processes, in
 * memcpy and plain loops: each copies its own into memory that all share, all
 * meet, and each adds the others' to its own, or, of more than two, a slice of
 * all for all.  Nobody may die, come or be late, and who waits never sleeps.
 * With PAST in the environment copies go past the caches; the quicker of the
 * two is what the machine allows to a sum that is made in this way.
 */
#define _GNU_SOURCE
#include <sched.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#if defined(PEER_MPI)
#include <mpi.h>
#elif defined(PEER_BARE)
#include <sys/mman.h>
#ifdef __x86_64__
#include <immintrin.h>
#endif
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

#if defined(PEER_MPI)
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
#elif defined(PEER_BARE)
/* 256 MiB, and something, lest all begin in the same set of a cache. */
#define PLACE_BYTES (((size_t)256 << 20) + (size_t)67 * 64)

static _Atomic unsigned *arrived;
static uint8_t *shared;
static unsigned calls;

/* Of a process, in even and odd calls: its vector, and its slice. */
static int64_t *place(int of, int what)
{
    const size_t at = (size_t)of * 4 + 2 * (calls & 1) + (size_t)what;

    return (int64_t *)(void *)(shared + at * PLACE_BYTES);
}

static void meet(void)
{
    const unsigned all = (unsigned)world;
    const unsigned mine = atomic_fetch_add(arrived, 1);

    for (unsigned i = 1; atomic_load(arrived) / all <= mine / all; i++)
        if (i % 1024 == 0)
            (void)sched_yield();
}

/* For others: `to` begins on a line. */
static void copy(void *to, const void *from, size_t size)
{
#ifdef __x86_64__
    static int past = -1;

    if (past < 0)
        past = getenv("PAST") != NULL;
    if (past) {
        const uint8_t *source = from;
        uint8_t *place = to;

        for (; size >= sizeof(__m128i); size -= sizeof(__m128i)) {
            _mm_stream_si128(
                (__m128i *)(void *)place,
                _mm_loadu_si128((const __m128i *)(const void *)source));
            place += sizeof(__m128i);
            source += sizeof(__m128i);
        }
        _mm_sfence();
        to = place;
        from = source;
    }
#endif
    memcpy(to, from, size);
}

static void add_all(size_t first, size_t end, const int64_t *own, int64_t *out)
{
    const int64_t *rows[64];
    int others = 0;

    for (int i = 0; i < world; i++)
        if (i != rank)
            rows[others++] = place(i, 0);
    for (size_t j = first; j < end; j += 8)
        for (size_t k = j; k < j + 8 && k < end; k++) {
            int64_t all = own[k];

            for (int i = 0; i < others; i++)
                all += rows[i][k];
            out[k] = all;
        }
}

static void add_two(size_t count, const int64_t *other, int64_t *values)
{
    for (size_t j = 0; j < count; j++)
        values[j] += other[j];
}

static void sum(void *values, size_t count, int of)
{
    int64_t *const numbers = values;
    const size_t each = count / (size_t)world + 1;

    if (of == 2) { /* The figures: two doubles. */
        meet();
        memcpy(place(rank, 0), values, count * sizeof(double));
        meet();
        for (int i = 0; i < world; i++)
            for (size_t j = 0; i != rank && j < count; j++)
                ((double *)values)[j] += ((double *)(void *)place(i, 0))[j];
        calls++;
        return;
    }
    copy(place(rank, 0), values, count * sizeof *numbers);
    meet();
    if (world == 2) {
        add_two(count, place(1 - rank, 0), numbers);
        calls++;
        return;
    }
    for (int i = 0; i < world; i++) {
        const int whose = (rank + i) % world;
        const size_t first = (size_t)whose * each;
        const size_t end = first + each < count ? first + each : count;

        if (i == 0)
            add_all(first, end, numbers, place(rank, 1));
        if (i == 0)
            meet();
        if (first < end)
            memcpy(numbers + first, place(whose, 1) + first,
                   (end - first) * sizeof *numbers);
    }
    calls++;
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

#if defined(PEER_MPI)
int main(int count, char **arguments)
{
    (void)MPI_Init(&count, &arguments);
    (void)MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    (void)MPI_Comm_size(MPI_COMM_WORLD, &world);
    measure_all(count - 1, arguments + 1);
    (void)MPI_Finalize();
    return 0;
}
#elif defined(PEER_BARE)
int main(int count, char **arguments)
{
    const int access = PROT_READ | PROT_WRITE;
    size_t bytes;

    if (count < 5 || strcmp(arguments[3], "i64") != 0)
        return 2;
    world = atoi(arguments[1]);
    if (world < 2 || world > 64)
        return 2;
    bytes = (size_t)world * 4 * PLACE_BYTES;
    shared = mmap(NULL, bytes + sizeof *arrived, access,
                  MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (shared == MAP_FAILED)
        return 1;
    arrived = (_Atomic unsigned *)(void *)(shared + bytes);
    while (rank + 1 < world && fork() == 0)
        rank++;
    measure_all(count - 2, arguments + 2);
    (void)wait(NULL);
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
