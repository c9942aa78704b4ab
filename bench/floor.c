/*
 * floor.c - the least that a step of exact sums can cost on this machine.
 *
 *     floor WORKERS WEIGHTS STEPS [hash|row|tcp]
 *
 * Processes that share memory and sleep on one word each way (a futex).  A step
 * publishes WEIGHTS doubles; each worker reads them and writes as many 64-bit
 * integers; when the last one has, all are added up in one pass and turned into
 * the next weights.  No rows, no messages, no bounds, no keys, no journal, no
 * norms, nobody may die; with `hash` there is SHA-256 of the weights, too,
 * while the workers are at work.  With `row` each worker has a row of floats
 * and answers with the gradient of a least-squares loss there (its score, in an
 * order that suits the machine, then an integer for each weight by its
 * exponent), and workers, awake between the two, add up slices for each other:
 * what is left to pay of a step whose coordinator costs nothing.  With `tcp`
 * weights and integers go through a connection to each worker instead, a slice
 * at a time so that what is copied stays in the cache; no frames, no checks.
 * Prints the least and the median step in milliseconds.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <jansson.h>
#include <linux/futex.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/hash.h"

#define LINE        64u
#define WORKERS_MAX 64u
#define SLICE       ((size_t)16384) /* Weights: 128 KiB. */

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
    _Alignas(LINE) _Atomic uint32_t full; /* The same, before they are added. */
};

/* One worker's way through a step by TCP, in bytes; `slice` is what has come
 * and is not added yet. */
struct way {
    size_t gone, come;
    int64_t slice[SLICE];
};

struct step {
    uint32_t workers;
    size_t weights;
    uint32_t steps;
    bool hash, row;
    struct bells *bells;
    double *w;
    int16_t *exponent;
    int64_t *sums;       /* A vector for each worker; by TCP the total alone. */
    struct way *ways;    /* By TCP: one for each worker, or NULL. */
    int at[WORKERS_MAX]; /* The coordinator's ends ... */
    int end[WORKERS_MAX]; /* ... and the workers'. */
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

/* Vectors are `apart` from each other. */
WIDE static void add_up(const int64_t *restrict sums, uint32_t workers,
                        size_t apart, double *restrict w, size_t count)
{
    for (size_t j = 0; j < count; j += 8) {
        int64_t total[8] = {0};

        for (uint32_t i = 0; i < workers; i++)
            for (size_t k = 0; k < 8; k++)
                total[k] += sums[i * apart + j + k];
        for (size_t k = 0; k < 8; k++)
            w[j + k] -= (double)total[k] * 0x1p-50;
    }
}

static void work_by_memory(const struct step *step, uint32_t number)
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

/* --- with a row ----------------------------------------------------------- */

WIDE static double score(const double *restrict w, const float *restrict x,
                         size_t count)
{
    double lanes[32] = {0}, sum = 0;
    size_t j = 0;

    for (; j + 32 <= count; j += 32)
        for (size_t k = 0; k < 32; k++)
            lanes[k] += w[j + k] * (double)x[j + k];
    for (; j < count; j++)
        lanes[0] += w[j] * (double)x[j];
    for (size_t k = 0; k < 32; k++)
        sum += lanes[k];
    return sum;
}

/* 2^(30 + exponent) times r x, as integers. */
WIDE static void gradient(const float *restrict x, double r,
                          const int16_t *restrict exponent,
                          int64_t *restrict sum, size_t count)
{
    for (size_t j = 0; j < count; j++) {
        const union {
            int64_t bits;
            double power;
        } scale = {.bits = (int64_t)(1023 + 30 + exponent[j]) << 52};

        sum[j] = (int64_t)((double)x[j] * r * scale.power);
    }
}

static float *new_row(size_t weights)
{
    float *x = calloc(weights, sizeof *x);

    if (x == NULL)
        abort();
    for (size_t j = 0; j < weights; j++)
        x[j] = (float)(j % 7) - 3;
    return x;
}

/* A slice of whole eights. */
static void add_slice(const struct step *step, uint32_t number)
{
    const size_t eights = step->weights / 8;
    const size_t first = eights * number / step->workers * 8;
    const size_t end = eights * (number + 1) / step->workers * 8;

    add_up(step->sums + first, step->workers, step->weights, step->w + first,
           end - first);
}

static void work_on_row(const struct step *step, uint32_t number)
{
    struct bells *bells = step->bells;
    int64_t *sum = step->sums + number * step->weights;
    float *x = new_row(step->weights);

    for (uint32_t i = 1; i <= step->steps; i++) {
        uint32_t go;

        while ((go = atomic_load(&bells->go)) < i)
            sleep_on(&bells->go, go);
        gradient(x, 1 + score(step->w, x, step->weights), step->exponent, sum,
                 step->weights);
        (void)atomic_fetch_add(&bells->full, 1);
        while (atomic_load(&bells->full) < step->workers * i)
            (void)sched_yield();
        add_slice(step, number);
        if (atomic_fetch_add(&bells->done, 1) + 1 == step->workers * i)
            wake(&bells->done, 1);
    }
    free(x);
}

static void lead_by_memory(const struct step *step, uint32_t number)
{
    struct bells *bells = step->bells;
    const uint32_t every = step->workers;
    uint32_t done;

    atomic_store(&bells->go, number);
    wake(&bells->go, (int)every);
    if (step->hash)
        (void)hash_f64(step->w, step->weights);
    while ((done = atomic_load(&bells->done)) != every * number)
        sleep_on(&bells->done, done);
    if (!step->row)
        add_up(step->sums, every, step->weights, step->w, step->weights);
}

/* --- by connections ------------------------------------------------------ */

/* Two ends of a connection through the loopback device. */
static void connect_pair(int *at, int *end)
{
    struct sockaddr_in name = {.sin_family = AF_INET,
                               .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t size = sizeof name;
    const int on = 1, door = socket(AF_INET, SOCK_STREAM, 0);

    *end = socket(AF_INET, SOCK_STREAM, 0);
    if (bind(door, (struct sockaddr *)&name, size) != 0 ||
        listen(door, 1) != 0 ||
        getsockname(door, (struct sockaddr *)&name, &size) != 0 ||
        connect(*end, (struct sockaddr *)&name, size) != 0 ||
        (*at = accept4(door, NULL, NULL, SOCK_NONBLOCK)) < 0)
        abort();
    (void)setsockopt(*at, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    (void)setsockopt(*end, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    (void)close(door);
}

static void open_ways(struct step *step)
{
    step->ways = calloc(step->workers, sizeof *step->ways);
    if (step->ways == NULL)
        abort();
    for (uint32_t i = 0; i < step->workers; i++)
        connect_pair(&step->at[i], &step->end[i]);
}

static void receive_all(int fd, void *to, size_t size)
{
    for (size_t have = 0; have < size;) {
        const ssize_t got = recv(fd, (char *)to + have, size - have, 0);

        if (got <= 0)
            abort();
        have += (size_t)got;
    }
}

static void send_all(int fd, const void *from, size_t size)
{
    for (size_t gone = 0; gone < size;) {
        const ssize_t took =
            send(fd, (const char *)from + gone, size - gone, 0);

        if (took <= 0)
            abort();
        gone += (size_t)took;
    }
}

static size_t lesser(size_t a, size_t b)
{
    return a < b ? a : b;
}

static void work_by_tcp(const struct step *step, uint32_t number)
{
    double *w = calloc(step->weights, sizeof *w);
    int64_t *slice = calloc(SLICE, sizeof *slice);

    if (w == NULL || slice == NULL)
        abort();
    for (uint32_t i = 0; i < step->steps; i++) {
        receive_all(step->end[number], w, step->weights * sizeof *w);
        for (size_t j = 0; j < step->weights; j += SLICE) {
            const size_t count = lesser(SLICE, step->weights - j);

            answer(w + j, slice, count);
            send_all(step->end[number], slice, count * sizeof *slice);
        }
    }
    free(slice);
    free(w);
}

WIDE static void add(const int64_t *restrict more, int64_t *restrict sum,
                     size_t count)
{
    for (size_t j = 0; j < count; j++)
        sum[j] += more[j];
}

static void give(const struct step *step, int fd, struct way *way)
{
    const size_t size = step->weights * sizeof *step->w;
    const ssize_t took = send(fd, (const char *)step->w + way->gone,
                              size - way->gone, MSG_DONTWAIT);

    if (took < 0 && errno != EAGAIN)
        abort();
    way->gone += took > 0 ? (size_t)took : 0;
}

/* What has come is added while it is in the cache; the odd bytes of an integer
 * wait in front of the slice. */
static void take(const struct step *step, int fd, struct way *way)
{
    const size_t size = step->weights * sizeof *step->sums;
    const size_t odd = way->come % sizeof *step->sums;
    const size_t first = way->come / sizeof *step->sums;
    const ssize_t got =
        recv(fd, (char *)way->slice + odd,
             lesser(sizeof way->slice - odd, size - way->come), MSG_DONTWAIT);
    size_t whole;

    if (got == 0 || (got < 0 && errno != EAGAIN))
        abort();
    if (got < 0)
        return;
    way->come += (size_t)got;
    whole = way->come / sizeof *step->sums - first;
    add(way->slice, step->sums + first, whole);
    (void)memmove(way->slice, way->slice + whole,
                  way->come % sizeof *step->sums);
}

WIDE static void turn_over(int64_t *restrict sum, double *restrict w,
                           size_t count)
{
    for (size_t j = 0; j < count; j++) {
        w[j] -= (double)sum[j] * 0x1p-50;
        sum[j] = 0;
    }
}

static void lead_by_tcp(const struct step *step)
{
    struct way *ways = step->ways;
    const size_t size = step->weights * sizeof *step->w;
    struct pollfd polls[WORKERS_MAX];
    uint32_t left = step->workers;

    for (uint32_t i = 0; i < step->workers; i++) {
        ways[i].gone = ways[i].come = 0;
        polls[i] =
            (struct pollfd){.fd = step->at[i], .events = POLLIN | POLLOUT};
    }
    while (left > 0) {
        if (poll(polls, step->workers, -1) < 0)
            abort();
        for (uint32_t i = 0; i < step->workers; i++) {
            if (polls[i].revents & POLLOUT)
                give(step, step->at[i], &ways[i]);
            if (ways[i].gone == size)
                polls[i].events = POLLIN;
            if (!(polls[i].revents & POLLIN))
                continue;
            take(step, step->at[i], &ways[i]);
            if (ways[i].come == size)
                left--;
        }
    }
    turn_over(step->sums, step->w, step->weights);
}

/* --- both ---------------------------------------------------------------- */

static double now_ms(void)
{
    struct timespec now;

    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec * 1e3 + (double)now.tv_nsec * 1e-6;
}

/* One step after the other; `took` has room for all. */
static void lead(const struct step *step, double *took)
{
    for (uint32_t i = 1; i <= step->steps; i++) {
        const double began = now_ms();

        if (step->ways != NULL)
            lead_by_tcp(step);
        else
            lead_by_memory(step, i);
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
    json_t *said;

    if (took == NULL)
        abort();
    for (uint32_t i = 0; i < step->workers; i++) {
        const pid_t child = fork();

        if (child < 0)
            abort();
        if (child == 0) {
            if (step->ways != NULL)
                work_by_tcp(step, i);
            else if (step->row)
                work_on_row(step, i);
            else
                work_by_memory(step, i);
            _exit(0);
        }
    }
    lead(step, took);
    while (wait(NULL) > 0)
        continue;
    qsort(took, step->steps, sizeof *took, by_size);
    said = json_pack("{s:f, s:f}", "least", took[0], "median",
                     took[step->steps / 2]);
    (void)json_dumpf(said, stdout, JSON_REAL_PRECISION(6));
    (void)fputc('\n', stdout);
    json_decref(said);
    free(took);
}

int main(int argc, char **argv)
{
    const char *extra = argc > 4 ? argv[4] : "";
    struct step step = {.hash = strcmp(extra, "hash") == 0,
                        .row = strcmp(extra, "row") == 0};

    if (argc < 4) {
        (void)fprintf(stderr, "floor WORKERS WEIGHTS STEPS [hash|row|tcp]\n");
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
    step.exponent = share(step.weights * sizeof *step.exponent);
    step.sums = share(step.workers * step.weights * sizeof *step.sums);
    if (strcmp(extra, "tcp") == 0)
        open_ways(&step);
    run(&step);
    return 0;
}
