/*
 * Whole rounds on coded rows, members leaving and joining in the midst of them:
 * scores X w are decoded piece by piece from whoever answered, X^T r comes from
 * input coding (handbook 5.3, B1) with the rows of the dead coded anew, and
 * logistic regression takes the path it takes on one machine (O7).
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "base/rng.h"
#include "code/erasure.h"
#include "code/residual.h"

#define PARTS_MAX  8u
#define BLOCKS     16u
#define ROWS       29u /* Of a part. */
#define COLS       5u
#define PIECES_MAX 64u
#define STEPS      50u

struct job {
    struct rng rng;
    struct erasure erasure;
    struct residual residual;
    uint32_t pieces;
    double x[PARTS_MAX][ROWS][COLS], y[PARTS_MAX][ROWS];
    double coded[BLOCKS][ROWS][COLS];
    struct arc_member members[BLOCKS];
    uint32_t count;
    struct blockset done[PIECES_MAX], doing[PIECES_MAX];
    uint32_t delivered;
    uint32_t left, joined; /* In the midst of rounds. */
};

static uint32_t row_at(const struct job *job, uint32_t piece)
{
    return piece * ROWS / job->pieces;
}

static void set_job(struct job *job, uint32_t parts, uint32_t pieces,
                    uint64_t seed)
{
    memset(job, 0, sizeof *job);
    job->pieces = pieces;
    rng_init(&job->rng, seed);
    assert_int_equal(erasure_init(&job->erasure, parts, BLOCKS, seed), ERR_OK);
    assert_int_equal(residual_init(&job->residual, BLOCKS, pieces), ERR_OK);
    for (uint32_t i = 0; i < parts * ROWS; i++) {
        double score = .5;

        for (uint32_t j = 0; j < COLS; j++) {
            job->x[i / ROWS][i % ROWS][j] = rng_normal_at(seed, i, j);
            score += job->x[i / ROWS][i % ROWS][j] * (j - 1.5);
        }
        job->y[i / ROWS][i % ROWS] =
            score + rng_normal_at(seed, i, COLS) > 0 ? 1 : -1;
    }
    for (uint32_t i = 0; i < BLOCKS * ROWS * COLS; i++) {
        const uint32_t p = i / (ROWS * COLS);
        const uint32_t r = i / COLS % ROWS;

        for (uint32_t l = 0; l < parts; l++)
            job->coded[p][r][i % COLS] +=
                job->erasure.row[p * parts + l] * job->x[l][r][i % COLS];
    }
}

static void close_job(struct job *job)
{
    erasure_close(&job->erasure);
    residual_close(&job->residual);
}

/* Some block that nobody holds. */
static void join(struct job *job)
{
    bool held[BLOCKS] = {0};
    uint32_t block;

    for (uint32_t i = 0; i < job->count; i++)
        held[job->members[i].block] = true;
    do
        block = (uint32_t)rng_below(&job->rng, BLOCKS);
    while (held[block]);
    job->members[job->count++] =
        (struct arc_member){.block = block,
                            .ready = job->pieces,
                            .speed = 1 + 2 * rng_unit(&job->rng)};
}

static void deliver(struct job *job, uint32_t member, uint32_t piece)
{
    const uint32_t block = job->members[member].block;

    assert_false(blockset_has(&job->done[piece], block));
    blockset_add(&job->done[piece], block);
    blockset_remove(&job->doing[piece], block);
    job->delivered++;
}

/* Let every member work through its list for a time; what one is at then is on
 * its way. */
static void work_for(struct job *job, double time)
{
    const struct residual *plan = &job->residual;

    for (uint32_t i = 0; i < job->count; i++) {
        struct arc_member *member = &job->members[i];
        double at = member->free_s;
        uint32_t k = plan->first[i];

        for (uint32_t p = 0; p < job->pieces && at <= time; p++) {
            if (blockset_has(&job->doing[p], member->block))
                deliver(job, i, p);
        }
        for (; k < plan->first[i + 1] && at + 1 / member->speed <= time; k++) {
            at += 1 / member->speed;
            deliver(job, i, plan->list[k]);
        }
        if (at < time && k < plan->first[i + 1]) {
            member->next = plan->list[k];
            blockset_add(&job->doing[member->next], member->block);
            at += 1 / member->speed;
        }
        member->free_s = at > time ? at - time : 0;
    }
}

static void leave(struct job *job, uint32_t member)
{
    for (uint32_t p = 0; p < job->pieces; p++)
        blockset_remove(&job->doing[p], job->members[member].block);
    job->members[member] = job->members[--job->count];
    job->left++;
}

/* Who computes which scores, until every piece has L answers. */
static void play_round(struct job *job)
{
    const uint32_t parts = job->erasure.parts;
    const struct residual_task task = {
        .pieces = job->pieces,
        .cover = parts,
        .done = job->done,
        .doing = job->doing,
        .members = job->members,
    };
    uint32_t events = (uint32_t)rng_below(&job->rng, 4);

    memset(job->done, 0, sizeof job->done);
    memset(job->doing, 0, sizeof job->doing);
    for (uint32_t i = 0; i < job->count; i++)
        job->members[i].free_s = 0;
    job->delivered = 0;
    for (;;) {
        struct residual_task now = task;

        now.count = job->count;
        residual_plan(&job->residual, &now);
        assert_true(job->residual.lacking == 0 || job->count < parts);
        if (job->residual.lacking > 0) {
            work_for(job, 1e9); /* What can be done is. */
            join(job);
            continue;
        }
        if (events-- == 0)
            break;
        work_for(job, rng_unit(&job->rng) * job->residual.finish_s);
        if (rng_chance(&job->rng, .6))
            leave(job, (uint32_t)rng_below(&job->rng, job->count));
        else if (job->count < BLOCKS - 1) {
            join(job);
            job->joined++;
        }
    }
    work_for(job, 1e9);
    assert_int_equal(job->delivered, parts * job->pieces);
}

static double dot(const double *a, const double *b)
{
    double sum = 0;

    for (uint32_t j = 0; j < COLS; j++)
        sum += a[j] * b[j];
    return sum;
}

/* Round A: z from whoever did which piece. */
static void scores(struct job *job, const double *w, double z[][ROWS])
{
    play_round(job);
    for (uint32_t p = 0; p < job->pieces; p++) {
        const uint32_t first = row_at(job, p);
        const uint32_t rows = row_at(job, p + 1) - first;
        const struct erasure_set *set;
        double answer[PARTS_MAX][ROWS];
        const double *answers[PARTS_MAX];
        double *parts[PARTS_MAX];

        assert_int_equal(erasure_find(&job->erasure, &job->done[p], &set),
                         ERR_OK);
        for (uint32_t s = 0; s < set->count; s++) {
            answers[s] = answer[s];
            parts[s] = z[s] + first;
            for (uint32_t r = 0; r < rows; r++)
                answer[s][r] = dot(job->coded[set->block[s]][first + r], w);
        }
        erasure_decode(set, rows, answers, parts);
    }
}

/* g += X~_block[piece]^T (factor u) */
static void add_rows(const struct job *job, uint32_t block, uint32_t piece,
                     double factor, const double *u, double *g)
{
    const uint32_t first = row_at(job, piece);

    for (uint32_t r = first; r < row_at(job, piece + 1); r++) {
        for (uint32_t j = 0; j < COLS; j++)
            g[j] += job->coded[block][r][j] * (factor * u[r - first]);
    }
}

/* The block as a sum of those of the set: of each so much. */
static void recode(const struct erasure *erasure, const struct erasure_set *set,
                   uint32_t block, double *v)
{
    const double *row[PARTS_MAX];
    double *of[PARTS_MAX];

    for (uint32_t l = 0; l < erasure->parts; l++) {
        row[l] = erasure->row + (size_t)block * erasure->parts + l;
        of[l] = v + l;
    }
    erasure_spread(erasure, set, 1, row, of);
}

/* What a member that is gone was to do with u, done by any L of the others. */
static void make_up(struct job *job, uint32_t gone, uint32_t piece,
                    const double *u, double *g)
{
    const struct erasure_set *set;
    struct blockset others = {0};
    double v[PARTS_MAX];

    for (uint32_t i = 0; i < job->count; i++) {
        if (job->members[i].block != gone)
            blockset_add(&others, job->members[i].block);
    }
    assert_int_equal(erasure_pick(&job->erasure, &others, 0, 1, &set), ERR_OK);
    recode(&job->erasure, set, gone, v);
    for (uint32_t s = 0; s < set->count; s++)
        add_rows(job, set->block[s], piece, v[s], u, g);
}

/* Round B: every piece's r is spread over the set that arcs give it; a third of
 * the pieces of one member are never delivered. */
static void backward(struct job *job, double r[][ROWS], double *g)
{
    const uint32_t parts = job->erasure.parts;
    const uint32_t gone = job->members[rng_below(&job->rng, job->count)].block;
    struct arc arcs[BLOCKS];

    memset(g, 0, COLS * sizeof *g);
    assert_int_equal(
        arcs_lay(ARC_WRAP, job->members, job->count, parts, job->pieces, arcs),
        ERR_OK);
    for (uint32_t p = 0; p < job->pieces; p++) {
        const uint32_t first = row_at(job, p);
        const struct erasure_set *set;
        struct blockset blocks;
        double u[PARTS_MAX][ROWS];
        const double *from[PARTS_MAX];
        double *to[PARTS_MAX];
        uint32_t block[PARTS_MAX];

        arcs_set(job->members, arcs, job->count, job->pieces, p, &blocks);
        assert_int_equal(erasure_find(&job->erasure, &blocks, &set), ERR_OK);
        for (uint32_t l = 0; l < parts; l++) {
            from[l] = r[l] + first;
            to[l] = u[l];
            block[l] = set->block[l];
        }
        erasure_spread(&job->erasure, set, row_at(job, p + 1) - first, from,
                       to);
        for (uint32_t s = 0; s < parts; s++) {
            if (block[s] == gone && job->count > parts && p % 3 == 0)
                make_up(job, gone, p, u[s], g);
            else
                add_rows(job, block[s], p, 1, u[s], g);
        }
    }
}

/* -y sigma(-y z) */
static double slope(double y, double z)
{
    return -y / (1 + exp(y * z));
}

static void plain_gradient(const struct job *job, const double *w, double *g)
{
    memset(g, 0, COLS * sizeof *g);
    for (uint32_t l = 0; l < job->erasure.parts; l++) {
        for (uint32_t r = 0; r < ROWS; r++) {
            const double s = slope(job->y[l][r], dot(job->x[l][r], w));

            for (uint32_t j = 0; j < COLS; j++)
                g[j] += s * job->x[l][r][j];
        }
    }
}

static void coded_gradient(struct job *job, const double *w, double *g)
{
    double z[PARTS_MAX][ROWS];

    scores(job, w, z);
    for (uint32_t l = 0; l < job->erasure.parts; l++) {
        for (uint32_t r = 0; r < ROWS; r++) {
            assert_true(fabs(z[l][r] - dot(job->x[l][r], w)) < 1e-9);
            z[l][r] = slope(job->y[l][r], z[l][r]);
        }
    }
    while (job->count < job->erasure.parts)
        join(job);
    backward(job, z, g);
}

static void train(uint32_t parts, uint32_t pieces, uint64_t seed)
{
    static struct job job;
    double w[COLS] = {0};
    double alone[COLS] = {0};
    double length = 0;

    set_job(&job, parts, pieces, seed);
    while (job.count < parts + 2)
        join(&job);
    for (uint32_t step = 0; step < STEPS; step++) {
        double g[COLS];

        coded_gradient(&job, w, g);
        for (uint32_t j = 0; j < COLS; j++)
            w[j] -= .02 * g[j];
        plain_gradient(&job, alone, g);
        for (uint32_t j = 0; j < COLS; j++)
            alone[j] -= .02 * g[j];
    }
    for (uint32_t j = 0; j < COLS; j++)
        length = fmax(length, fabs(alone[j]));
    assert_true(length > .1);
    for (uint32_t j = 0; j < COLS; j++)
        assert_true(fabs(w[j] - alone[j]) <= 1e-10 * length);
    assert_true(job.left >= 20 && job.joined >= 10);
    close_job(&job);
}

/* ROWS is 29: 29 pieces of a row, fewer of several, more of which some have
 * none. */
static void test_same_path(void **state)
{
    static const uint32_t shapes[][2] = {{1, 7},  {2, 29}, {3, 10},
                                         {5, 13}, {8, 7},  {4, 40}};

    (void)state;
    for (uint32_t k = 0; k < sizeof shapes / sizeof *shapes; k++) {
        for (uint64_t seed = 0; seed < 3; seed++)
            train(shapes[k][0], shapes[k][1], seed);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_same_path)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
