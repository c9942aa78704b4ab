/*
 * erasure.c - a systematic Gaussian code: its matrix, and how sets of blocks
 * are undone, kept by set.
 */
#include "code/erasure.h"

#include <math.h>
#include <string.h>

#include "base/check.h"
#include "base/mem.h"
#include "base/rng.h"
#include "code/square.h"
#include "math/solve.h"
#include "math/vec.h"

#define KEPT_BYTES (UINT32_C(32) << 20)
#define DRAW_WORK  30000000.0 /* Multiplications to choose a matrix with. */
#define SETS_MAX   512u

/* A set that is kept, and its arrays. */
struct kept {
    struct erasure_set set;
    uint64_t used; /* When; 0: never. */
    uint32_t *block, *part;
    double *weight;
};

struct erasure_room {
    uint32_t count; /* Of `kept`. */
    uint64_t clock;
    struct kept *kept;
    uint32_t *number; /* What they point into. */
    double *weight;
    uint32_t missing_max;
    struct square square;
    struct solve_room least;
    double *a;       /* (missing + 1) x missing. */
    double *inverse; /* The same. */
};

void erasure_row(uint64_t seed, uint32_t parts, uint32_t block, double *row)
{
    for (uint32_t l = 0; l < parts; l++)
        row[l] = block < parts ? block == l
                               : rng_normal_at(seed, block, l) / sqrt(parts);
}

static const double *row_of(const struct erasure *erasure, uint32_t block)
{
    return erasure->row + (size_t)block * erasure->parts;
}

static void list_set(const struct erasure *erasure, struct kept *kept)
{
    struct erasure_set *set = &kept->set;

    set->count = set->missing = 0;
    for (uint32_t l = 0; l < erasure->parts; l++) {
        if (blockset_has(&set->blocks, l))
            kept->block[set->count++] = l;
        else
            kept->part[set->missing++] = l;
    }
    set->copies = set->count;
    for (uint32_t p = blockset_next(&set->blocks, erasure->parts);
         p < BLOCKS_MAX; p = blockset_next(&set->blocks, p + 1))
        kept->block[set->count++] = p;
    set->block = kept->block;
    set->part = kept->part;
    set->weight = kept->weight;
}

/* G[k-th coded block][m-th missing part] */
static double entry(const struct erasure *erasure,
                    const struct erasure_set *set, uint32_t k, uint32_t m)
{
    return row_of(erasure, set->block[set->copies + k])[set->part[m]];
}

/* Row m of the inverse is what the coded blocks give to missing part m: A^T w =
 * e_m.  Solved for by rows, since it is W A that must be near to I; by columns
 * A W would be, and W A off by the condition number once more. */
static enum err invert_square(struct erasure_room *room,
                              const struct erasure *erasure,
                              const struct erasure_set *set)
{
    const uint32_t n = set->missing;
    enum err err;

    memset(room->inverse, 0, (size_t)n * n * sizeof *room->inverse);
    for (uint32_t m = 0; m < n; m++) {
        for (uint32_t k = 0; k < n; k++)
            room->a[(size_t)m * n + k] = entry(erasure, set, k, m);
        room->inverse[(size_t)m * n + m] = 1;
    }
    err = square_factor(&room->square, room->a, n);
    if (err == ERR_OK)
        square_apply(&room->square, room->inverse, n);
    return err;
}

/* With one block more there are many such w; the shortest is that of least
 * squares. */
static enum err invert_least(struct erasure_room *room,
                             const struct erasure *erasure,
                             const struct erasure_set *set)
{
    const uint32_t n = set->missing;
    enum err err = ERR_OK;

    for (uint32_t m = 0; m < n && err == ERR_OK; m++) {
        double *right = room->inverse + (size_t)m * (n + 1);

        for (uint32_t k = 0; k <= n; k++) {
            for (uint32_t l = 0; l < n; l++)
                room->a[(size_t)k * n + l] = entry(erasure, set, k, l);
        }
        memset(right, 0, ((size_t)n + 1) * sizeof *right);
        right[m] = 1;
        err = solve_shortest(&room->least, room->a, right, n, n + 1);
    }
    return err;
}

static void set_weights(const struct erasure *erasure, struct kept *kept)
{
    const struct erasure_set *set = &kept->set;
    const uint32_t coded = set->count - set->copies;

    for (uint32_t m = 0; m < set->missing; m++) {
        double *weight = kept->weight + (size_t)m * set->count;

        memset(weight, 0, set->copies * sizeof *weight);
        memcpy(weight + set->copies, erasure->room->inverse + (size_t)m * coded,
               coded * sizeof *weight);
        for (uint32_t s = set->copies; s < set->count; s++) {
            const double *row = row_of(erasure, set->block[s]);

            for (uint32_t t = 0; t < set->copies; t++)
                weight[t] -= weight[s] * row[set->block[t]];
        }
    }
}

/* |(W G_S - I)[m][l]| of missing parts; of the others it is rounding alone, as
 * W was made. */
static double residual_at(const struct erasure *erasure,
                          const struct erasure_set *set, uint32_t m, uint32_t l)
{
    const double *weight = set->weight + (size_t)m * set->count;
    double sum = m == l ? -1 : 0;

    for (uint32_t s = set->copies; s < set->count; s++)
        sum += weight[s] * entry(erasure, set, s - set->copies, l);
    return fabs(sum);
}

/* |G_S|_1 */
static double norm_of(const struct erasure *erasure,
                      const struct erasure_set *set)
{
    double norm = 0;

    for (uint32_t l = 0; l < erasure->parts; l++) {
        double sum = blockset_has(&set->blocks, l);

        for (uint32_t s = set->copies; s < set->count; s++)
            sum += fabs(row_of(erasure, set->block[s])[l]);
        norm = fmax(norm, sum);
    }
    return norm;
}

/* |G_S^-1|_1 */
static double inverse_norm(const struct erasure_set *set)
{
    double norm = 0;

    for (uint32_t s = 0; s < set->count; s++) {
        double sum = s < set->copies;

        for (uint32_t m = 0; m < set->missing; m++)
            sum += fabs(set->weight[(size_t)m * set->count + s]);
        norm = fmax(norm, sum);
    }
    return norm;
}

static void judge(const struct erasure *erasure, struct erasure_set *set)
{
    set->residual = 0;
    set->amplification = 1;
    for (uint32_t m = 0; m < set->missing; m++) {
        double sum = 0;

        for (uint32_t s = 0; s < set->count; s++)
            sum += fabs(set->weight[(size_t)m * set->count + s]);
        set->amplification = fmax(set->amplification, sum);
        for (uint32_t l = 0; l < set->missing; l++)
            set->residual =
                fmax(set->residual, residual_at(erasure, set, m, l));
    }
    if (set->missing > 0)
        set->residual += set->amplification * erasure->rounding;
    set->rcond = 1 / (norm_of(erasure, set) * inverse_norm(set));
}

static enum err undo(const struct erasure *erasure, struct kept *kept)
{
    struct erasure_set *set = &kept->set;
    enum err err = ERR_OK;

    list_set(erasure, kept);
    if (set->missing > 0)
        err = (set->count == erasure->parts ? invert_square : invert_least)(
            erasure->room, erasure, set);
    if (err != ERR_OK)
        return ERR_UNDECODABLE;
    set_weights(erasure, kept);
    judge(erasure, set);
    return set->rcond > 0 ? ERR_OK : ERR_UNDECODABLE; /* Not if it is NaN. */
}

enum err erasure_find(const struct erasure *erasure,
                      const struct blockset *blocks,
                      const struct erasure_set **set)
{
    struct erasure_room *room = erasure->room;
    const uint32_t count = blockset_count(blocks);
    struct kept *oldest = &room->kept[0];
    enum err err;

    CHECK(count <= erasure->parts + 1);
    if (count < erasure->parts)
        return ERR_UNDECODABLE;
    for (uint32_t i = 0; i < room->count; i++) {
        struct kept *kept = &room->kept[i];

        if (kept->used > 0 && blockset_equal(&kept->set.blocks, blocks)) {
            kept->used = ++room->clock;
            *set = &kept->set;
            return ERR_OK;
        }
        if (kept->used < oldest->used)
            oldest = kept;
    }
    oldest->set.blocks = *blocks;
    err = undo(erasure, oldest);
    oldest->used = err == ERR_OK ? ++room->clock : 0;
    if (err == ERR_OK)
        *set = &oldest->set;
    return err;
}

bool erasure_serves(const struct erasure_set *set, double rcond,
                    double residual)
{
    return set->rcond >= rcond && set->residual <= residual;
}

enum err erasure_pick(const struct erasure *erasure,
                      const struct blockset *answered, double rcond,
                      double residual, const struct erasure_set **set)
{
    struct blockset taken = {0};
    uint32_t count = 0;
    uint32_t block = blockset_next(answered, 0);
    enum err err;

    for (; block < BLOCKS_MAX && count < erasure->parts; count++) {
        blockset_add(&taken, block);
        block = blockset_next(answered, block + 1);
    }
    err = erasure_find(erasure, &taken, set);
    for (uint32_t i = 0; i < ERASURE_SPARE && block < BLOCKS_MAX; i++) {
        const struct erasure_set *more;

        if (err == ERR_OK && erasure_serves(*set, rcond, residual))
            break;
        blockset_add(&taken, block);
        if (erasure_find(erasure, &taken, &more) == ERR_OK &&
            (err != ERR_OK || more->rcond > (*set)->rcond)) {
            *set = more;
            err = ERR_OK;
        }
        blockset_remove(&taken, block);
        block = blockset_next(answered, block + 1);
    }
    return err;
}

void erasure_decode(const struct erasure_set *set, size_t rows,
                    const double *const *answer, double *const *part)
{
    for (uint32_t m = 0; m < set->missing; m++) {
        if (part[set->part[m]] != NULL)
            vec_weigh(set->weight + (size_t)m * set->count, answer, set->count,
                      rows, part[set->part[m]]);
    }
    for (uint32_t s = 0; s < set->copies; s++) {
        double *to = part[set->block[s]];

        if (to != NULL && to != answer[s])
            memcpy(to, answer[s], rows * sizeof *to);
    }
}

void erasure_spread(const struct erasure *erasure,
                    const struct erasure_set *set, size_t rows,
                    const double *const *r, double *const *u)
{
    double weight[BLOCKS_MAX + 1];
    const double *from[BLOCKS_MAX + 1];

    CHECK(set->count == erasure->parts);
    for (uint32_t s = 0; s < set->count; s++) {
        uint32_t terms = 0;

        if (s < set->copies) {
            weight[terms] = 1;
            from[terms++] = r[set->block[s]];
        }
        for (uint32_t m = 0; m < set->missing; m++) {
            weight[terms] = set->weight[(size_t)m * set->count + s];
            from[terms++] = r[set->part[m]];
        }
        vec_weigh(weight, from, terms, rows, u[s]);
    }
}

/* Sets are at most so many bytes together; at least what a decision needs. */
static uint32_t kept_for(const struct erasure *erasure, uint32_t missing)
{
    const uint64_t bytes =
        ((uint64_t)missing * 8 + 8) * ((uint64_t)erasure->parts + 1);
    const uint64_t most = 2 * (uint64_t)erasure->blocks + ERASURE_KEPT;
    const uint64_t room = KEPT_BYTES / bytes;

    return (uint32_t)(room < ERASURE_KEPT ? ERASURE_KEPT
                      : room < most       ? room
                                          : most);
}

static enum err room_kept(struct erasure *erasure)
{
    struct erasure_room *room = erasure->room;
    const size_t missing = room->missing_max;
    const size_t blocks = (size_t)erasure->parts + 1;

    room->count = kept_for(erasure, room->missing_max);
    room->kept = mem_new(room->count, sizeof *room->kept);
    room->number =
        mem_new(room->count * (blocks + missing), sizeof *room->number);
    room->weight =
        mem_new(room->count * blocks * missing, sizeof *room->weight);
    if (room->kept == NULL || room->number == NULL || room->weight == NULL)
        return ERR_NOMEM;
    for (uint32_t i = 0; i < room->count; i++) {
        struct kept *kept = &room->kept[i];

        kept->block = room->number + i * (blocks + missing);
        kept->part = kept->block + blocks;
        kept->weight = room->weight + i * blocks * missing;
    }
    return ERR_OK;
}

static enum err room_new(struct erasure *erasure)
{
    const uint32_t spare = erasure->blocks - erasure->parts;
    struct erasure_room *room = mem_new(1, sizeof *room);
    enum err err;

    erasure->room = room;
    if (room == NULL)
        return ERR_NOMEM;
    room->missing_max = spare < erasure->parts ? spare : erasure->parts;
    const uint32_t missing = room->missing_max > 0 ? room->missing_max : 1;

    room->a = mem_new(((size_t)missing + 1) * missing, sizeof *room->a);
    room->inverse =
        mem_new(((size_t)missing + 1) * missing, sizeof *room->inverse);
    err = room_kept(erasure);
    if (err == ERR_OK)
        err = square_init(&room->square, missing);
    if (err == ERR_OK)
        err = solve_room_init(&room->least, missing, missing + 1);
    return room->a == NULL || room->inverse == NULL ? ERR_NOMEM : err;
}

static void room_free(struct erasure_room *room)
{
    if (room == NULL)
        return;
    square_close(&room->square);
    solve_room_close(&room->least);
    mem_free(room->a);
    mem_free(room->inverse);
    mem_free(room->kept);
    mem_free(room->number);
    mem_free(room->weight);
    mem_free(room);
}

/* The i-th set to judge a matrix by: all sets one after the other if they are
 * few, otherwise neighbours (what arcs have, and what a rack takes away), then
 * any. */
static void sample(const struct erasure *erasure, uint32_t i,
                   struct blockset *set)
{
    const uint32_t blocks = erasure->blocks;
    struct rng rng;
    uint32_t left = erasure->parts;

    *set = (struct blockset){0};
    rng_init(&rng, rng_at(erasure->parts, blocks, i));
    for (uint32_t p = 0; p < blocks; p++) {
        if (i < blocks ? (p + blocks - i) % blocks < erasure->parts
                       : rng_below(&rng, blocks - p) < left) {
            blockset_add(set, p);
            left -= left > 0;
        }
    }
}

static bool next_set(struct blockset *set, uint32_t blocks)
{
    uint32_t low = blockset_next(set, 0);
    uint32_t run = 0;

    for (; low < blocks && blockset_has(set, low); low++, run++)
        blockset_remove(set, low);
    if (low >= blocks)
        return false;
    blockset_add(set, low);
    for (uint32_t p = 0; p + 1 < run; p++)
        blockset_add(set, p);
    return true;
}

static double draw_rcond(struct erasure *erasure, uint32_t sets, bool all)
{
    const struct erasure_set *set;
    struct blockset blocks = {0};
    double worst = 1;

    for (uint32_t p = 0; p < erasure->parts; p++)
        blockset_add(&blocks, p);
    for (uint32_t i = 0; i < sets; i++) {
        if (!all)
            sample(erasure, i, &blocks);
        if (erasure_find(erasure, &blocks, &set) != ERR_OK)
            return 0;
        worst = fmin(worst, set->rcond);
        if (all && !next_set(&blocks, erasure->blocks))
            break;
    }
    return worst;
}

static void draw(struct erasure *erasure, uint64_t seed)
{
    erasure->seed = seed;
    for (uint32_t p = 0; p < erasure->blocks; p++)
        erasure_row(seed, erasure->parts, p,
                    erasure->row + (size_t)p * erasure->parts);
    for (uint32_t i = 0; i < erasure->room->count; i++)
        erasure->room->kept[i].used = 0;
}

static double choose(double n, double k)
{
    double product = 1;

    for (double i = 1; i <= k && product < 2 * SETS_MAX; i++)
        product *= (n - k + i) / i;
    return product;
}

static void draw_best(struct erasure *erasure, uint64_t seed)
{
    const double all = choose(erasure->blocks, erasure->parts);
    const double missing = erasure->room->missing_max;
    const double work =
        missing * missing * (2 * missing + erasure->parts) + 100;
    const double most = fmin(all, SETS_MAX);
    const double sets = fmin(fmax(DRAW_WORK / (ERASURE_DRAWS * work), 1), most);
    const double draws =
        fmin(fmax(DRAW_WORK / (sets * work), 1), ERASURE_DRAWS);
    uint64_t best = rng_at(seed, 0, erasure->blocks);
    double rcond = -1;

    for (uint32_t d = 0; d < (uint32_t)draws && draws >= 2; d++) {
        double own;

        draw(erasure, rng_at(seed, d, erasure->blocks));
        own = draw_rcond(erasure, (uint32_t)sets, sets >= all);
        if (own > rcond) {
            rcond = own;
            best = erasure->seed;
        }
    }
    draw(erasure, best);
}

enum err erasure_init(struct erasure *erasure, uint32_t parts, uint32_t blocks,
                      uint64_t seed)
{
    enum err err;

    CHECK(parts > 0 && parts <= blocks && blocks <= BLOCKS_MAX);
    *erasure = (struct erasure){.parts = parts, .blocks = blocks};
    erasure->row = mem_new((size_t)blocks * parts, sizeof *erasure->row);
    err = erasure->row != NULL ? room_new(erasure) : ERR_NOMEM;
    if (err == ERR_OK)
        draw_best(erasure, seed);
    else
        erasure_close(erasure);
    return err;
}

void erasure_close(struct erasure *erasure)
{
    room_free(erasure->room);
    mem_free(erasure->row);
    *erasure = (struct erasure){0};
}
