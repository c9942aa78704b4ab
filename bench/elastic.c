/*
 * elastic.c - what coded elastic computing costs besides the products.
 *
 *     elastic [PIECES]                      64
 *
 * First, rounds in virtual time in which one member leaves or joins at a time
 * drawn uniformly (handbook 5.6), as multiples of an undisturbed round: begun
 * again by the members that are there, the cyclic rule anew without what was
 * delivered, the residual allocator, and the least there can be.  Half of the
 * rounds have equal speeds, half speeds of 1 to 2.  Then times of one thread:
 * planning, undoing a new set, decoding.
 */
#define _GNU_SOURCE
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/check.h"
#include "base/mem.h"
#include "base/rng.h"
#include "code/erasure.h"
#include "code/residual.h"

#define MEMBERS_MAX 130u
#define PIECES_MAX  512u
#define ROUNDS      400u

static double now(void)
{
    struct timespec time;

    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

/* A round in which something has happened. */
struct round {
    uint32_t parts, pieces;
    struct arc_member members[MEMBERS_MAX];
    uint32_t count;
    struct blockset done[PIECES_MAX], doing[PIECES_MAX];
    double whole; /* How long it would take. */
    double at;    /* When it happened. */
    double rest;  /* The last of what is being done ends so much later. */
};

static struct residual residual;

static void begin(struct round *round, struct rng *rng, uint32_t n,
                  uint32_t parts, uint32_t pieces, bool even)
{
    memset(round, 0, sizeof *round);
    round->parts = parts;
    round->pieces = pieces;
    round->count = n;
    for (uint32_t i = 0; i < n; i++)
        round->members[i] = (struct arc_member){
            .block = i, .ready = pieces, .speed = even ? 1 : 1 + rng_unit(rng)};
}

static double finish(const struct round *round, const struct arc *arcs)
{
    double last = 0;

    for (uint32_t i = 0; i < round->count; i++)
        last = fmax(last, arcs[i].count / round->members[i].speed);
    return last;
}

static double lay(const struct round *round, enum arc_rule rule,
                  struct arc *arcs)
{
    const enum err err = arcs_lay(rule, round->members, round->count,
                                  round->parts, round->pieces, arcs);

    CHECK(err == ERR_OK);
    return finish(round, arcs);
}

/* Up to a share of the round; `leaver` goes with what it is at. */
static void play(struct round *round, enum arc_rule rule, double share,
                 uint32_t leaver)
{
    struct arc arcs[MEMBERS_MAX];

    round->whole = lay(round, rule, arcs);
    round->at = share * round->whole;
    for (uint32_t i = 0; i < round->count; i++) {
        struct arc_member *member = &round->members[i];
        const double did = round->at * member->speed;
        const uint32_t done =
            did < arcs[i].count ? (uint32_t)did : arcs[i].count;

        for (uint32_t k = 0; k < done; k++)
            blockset_add(&round->done[(arcs[i].begin + k) % round->pieces],
                         member->block);
        member->next = (arcs[i].begin + done) % round->pieces;
        if (done == arcs[i].count || i == leaver)
            continue;
        blockset_add(&round->doing[member->next], member->block);
        member->free_s = (done + 1 - did) / member->speed;
        round->rest = fmax(round->rest, member->free_s);
    }
    if (leaver < round->count)
        round->members[leaver] = round->members[--round->count];
}

static void join(struct round *round)
{
    round->members[round->count] = (struct arc_member){
        .block = MEMBERS_MAX, .ready = round->pieces, .speed = 1};
    round->count++;
}

static void plan(const struct round *round)
{
    residual_plan(&residual, &(struct residual_task){
                                 .pieces = round->pieces,
                                 .cover = round->parts,
                                 .done = round->done,
                                 .doing = round->doing,
                                 .members = round->members,
                                 .count = round->count,
                             });
    CHECK(residual.lacking == 0);
}

static int by_size(const void *a, const void *b)
{
    const double x = *(const double *)a;
    const double y = *(const double *)b;

    return (x > y) - (x < y);
}

/* The cyclic rule for who is there, each without what it has delivered: when
 * the last piece has its answers. */
static double anew(const struct round *round)
{
    static double came[PIECES_MAX][2 * MEMBERS_MAX];
    uint32_t count[PIECES_MAX] = {0};
    struct arc arcs[MEMBERS_MAX];
    double last = 0;

    CHECK(round->pieces > 0);
    (void)lay(round, ARC_CYCLIC, arcs);
    for (uint32_t p = 0; p < round->pieces; p++) {
        for (uint32_t b = 0; b < blockset_count(&round->done[p]); b++)
            came[p][count[p]++] = 0;
    }
    for (uint32_t i = 0; i < round->count; i++) {
        const struct arc_member *member = &round->members[i];
        double at = member->free_s;

        if (at > 0) /* It is at `next`. */
            came[member->next][count[member->next]++] = at;
        for (uint32_t k = 0; k < arcs[i].count; k++) {
            const uint32_t p = (arcs[i].begin + k) % round->pieces;

            if (blockset_has(&round->done[p], member->block) ||
                blockset_has(&round->doing[p], member->block))
                continue;
            at += 1 / member->speed;
            came[p][count[p]++] = at;
        }
    }
    for (uint32_t p = 0; p < round->pieces; p++) {
        qsort(came[p], count[p], sizeof came[p][0], by_size);
        last = fmax(last, came[p][round->parts - 1]);
    }
    return last;
}

struct means {
    double restart, anew, residual, bound, worst;
};

static void add(struct means *means, const struct round *round)
{
    struct arc arcs[MEMBERS_MAX];
    double end;

    plan(round);
    end = round->at + fmax(round->rest, residual.finish_s);
    means->restart +=
        (round->at + lay(round, ARC_WRAP, arcs)) / round->whole / ROUNDS;
    means->residual += end / round->whole / ROUNDS;
    means->bound += (round->at + residual.bound_s) / round->whole / ROUNDS;
    means->worst = fmax(means->worst, end / (round->at + residual.bound_s));
}

static void table(uint32_t pieces)
{
    static const uint32_t shapes[][2] = {{10, 5}, {20, 10}, {20, 15}, {8, 6}};
    static struct round round, cyclic;

    printf("one leaves or joins, %u pieces: rounds\n", pieces);
    printf("  N  L        restart  cyclic  residual  bound   worst/bound\n");
    for (uint32_t k = 0; k < 2 * (sizeof shapes / sizeof *shapes); k++) {
        const uint32_t n = shapes[k / 2][0];
        const uint32_t parts = shapes[k / 2][1];
        struct means means = {0};
        struct rng rng;

        rng_init(&rng, k / 2);
        for (uint32_t i = 0; i < ROUNDS; i++) {
            const double share = rng_unit(&rng);
            const uint32_t leaver =
                k % 2 ? UINT32_MAX : (uint32_t)rng_below(&rng, n);

            begin(&round, &rng, n, parts, pieces, i % 2);
            cyclic = round;
            play(&round, ARC_WRAP, share, leaver);
            play(&cyclic, ARC_CYCLIC, share, leaver);
            if (k % 2) {
                join(&round);
                join(&cyclic);
            }
            add(&means, &round);
            means.anew += (cyclic.at + anew(&cyclic)) / round.whole / ROUNDS;
        }
        printf(" %2u %2u  %s    %.3f   %.3f   %.3f    %.3f   %.3f\n", n, parts,
               k % 2 ? "join " : "leave", means.restart, means.anew,
               means.residual, means.bound, means.worst);
    }
}

static void time_plans(uint32_t n, uint32_t parts, uint32_t pieces)
{
    static struct round round;
    double took[200];
    struct rng rng;

    rng_init(&rng, 1);
    for (uint32_t i = 0; i < 200; i++) {
        double began;

        begin(&round, &rng, n, parts, pieces, i % 2);
        play(&round, ARC_WRAP, .1 + .8 * rng_unit(&rng),
             (uint32_t)rng_below(&rng, n));
        if (i % 3 == 0)
            join(&round);
        began = now();
        plan(&round);
        took[i] = 1e6 * (now() - began);
    }
    qsort(took, 200, sizeof *took, by_size);
    printf("plan N %3u L %2u G %3u: median %6.0f us, worst %6.0f us\n", n,
           parts, pieces, took[100], took[199]);
}

/* A round's products by one thread at one multiplication and addition of
 * cached numbers an element, as the yardstick of what decoding may cost. */
static double time_product(const double *block, uint32_t rows, uint32_t cols,
                           const double *w, double *out)
{
    const double began = now();

    for (uint32_t i = 0; i < rows; i++) {
        double lane[8] = {0};

        for (uint32_t j = 0; j + 8 <= cols; j += 8) {
            for (uint32_t k = 0; k < 8; k++)
                lane[k] += block[(size_t)i * cols + j + k] * w[j + k];
        }
        for (uint32_t k = 0; k < 8; k++)
            out[i] += lane[k];
    }
    return now() - began;
}

static void time_decode(uint32_t parts, uint32_t blocks, uint32_t rows)
{
    const uint32_t cols = 50 * parts;
    double *in = mem_new((size_t)parts * rows, sizeof *in);
    double *out = mem_new((size_t)parts * rows, sizeof *out);
    double *block = mem_new((size_t)rows * cols, sizeof *block);
    double *w = mem_new(cols, sizeof *w);
    const double *answers[BLOCKS_MAX];
    double *got[BLOCKS_MAX];
    const struct erasure_set *set = NULL;
    struct blockset chosen = {0};
    struct erasure erasure;
    double undo, decode, product, began = now();
    enum err err = erasure_init(&erasure, parts, blocks, 1);
    const double drawn = now() - began;

    CHECK(in != NULL && out != NULL && block != NULL && w != NULL);
    CHECK(err == ERR_OK);
    for (uint32_t l = 0; l < parts; l++) {
        answers[l] = in + (size_t)l * rows;
        got[l] = out + (size_t)l * rows;
        blockset_add(&chosen, l * blocks / parts); /* Half of them coded. */
    }
    for (size_t i = 0; i < (size_t)rows * cols; i++)
        block[i] = (double)(i % 7);
    for (uint32_t j = 0; j < cols; j++)
        w[j] = j % 3;
    began = now();
    err = erasure_find(&erasure, &chosen, &set);
    CHECK(err == ERR_OK);
    undo = now() - began;
    erasure_decode(set, rows, answers, got); /* Warm. */
    decode = product = HUGE_VAL;
    for (uint32_t i = 0; i < 20; i++) {
        began = now();
        for (uint32_t k = 0; k < 100; k++) /* To ask the time takes as long. */
            erasure_decode(set, rows, answers, got);
        decode = fmin(decode, (now() - began) / 100);
        product = fmin(product, time_product(block, rows, cols, w, out));
    }
    printf(
        "L %2u P %3u: matrix %5.1f ms, new set of %2u missing %6.1f us, "
        "decode %.2f ns a row and part, %.2f %% of all products (D = 50 L)\n",
        parts, blocks, 1e3 * drawn, set->missing, 1e6 * undo,
        1e9 * decode / rows / parts, 100 * decode / (product * parts));
    erasure_close(&erasure);
    mem_free(in);
    mem_free(out);
    mem_free(block);
    mem_free(w);
}

int main(int argc, char **argv)
{
    const long pieces = argc > 1 ? strtol(argv[1], NULL, 10) : 64;
    const enum err err = residual_init(&residual, MEMBERS_MAX, PIECES_MAX);

    if (err != ERR_OK || pieces < 1 || pieces > PIECES_MAX)
        return 1;
    table((uint32_t)pieces);
    time_plans(20, 10, 64);
    time_plans(20, 10, 512);
    time_plans(128, 10, 512);
    time_plans(128, 64, 512);
    time_plans(128, 100, 512);
    time_decode(3, 6, 512);
    time_decode(10, 20, 512);
    time_decode(64, 128, 512);
    residual_close(&residual);
    return 0;
}
