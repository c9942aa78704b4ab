/*
 * strata.c - how many of each cell, and which.
 */
#include "data/rows/strata.h"

#include <math.h>
#include <string.h>

#include "base/check.h"
#include "base/mem.h"
#include "base/rng.h"
#include "math/kernel/poly_ref.h"

double strata_entropy(const uint32_t *count, uint32_t cells, uint32_t total)
{
    double bits = 0;

    for (uint32_t i = 0; i < cells; i++) {
        const double p = (double)count[i] / (double)total;

        if (count[i] > 0)
            bits -= p * ref_log(p) * POLY_LOG2E;
    }
    return bits > 0 ? bits : 0; /* Of one cell it is -0. */
}

/* --- how many ------------------------------------------------------------ */

/* Equal counts have the largest entropy, so whoever has fewest is next, of
 * equals the largest cell, then the first: the level rises, and what is left
 * over at the end goes by size. */
static void share_equal(const uint32_t *count, uint32_t cells, uint32_t b,
                        uint32_t *take)
{
    memset(take, 0, cells * sizeof *take);
    for (uint32_t given = 0; given < b; given++) {
        uint32_t best = cells;

        for (uint32_t c = 0; c < cells; c++) {
            if (take[c] < count[c] &&
                (best == cells || take[c] < take[best] ||
                 (take[c] == take[best] && count[c] > count[best])))
                best = c;
        }
        CHECK(best < cells);
        take[best]++;
    }
}

/* Cells whose share is below one get one, and the others share what is left, of
 * which some may then have less than one.  Returns what is left for those that
 * have not been given one; *rows is how many rows they have. */
static uint32_t settle_small(const uint32_t *count, uint32_t cells, uint32_t b,
                             uint32_t *take, uint64_t *rows)
{
    uint32_t left = b;
    bool changed = true;

    memset(take, 0, cells * sizeof *take);
    *rows = 0;
    for (uint32_t c = 0; c < cells; c++)
        *rows += count[c];
    while (changed) {
        const uint64_t all = *rows;
        const uint32_t before = left;

        changed = false;
        for (uint32_t c = 0; c < cells; c++) {
            if (count[c] == 0 || take[c] > 0 ||
                (uint64_t)before * count[c] >= all)
                continue;
            take[c] = 1;
            left--;
            *rows -= count[c];
            changed = true;
        }
    }
    return left;
}

#define ONE_MORE UINT32_MAX

/* Of those without any yet, the one with the largest remainder; of equals the
 * first. */
static uint32_t largest_rest(const uint32_t *count, uint32_t cells,
                             uint64_t left, uint64_t rows, const uint32_t *take)
{
    uint32_t best = cells;

    for (uint32_t c = 0; c < cells; c++) {
        if (take[c] == 0 && count[c] > 0 &&
            (best == cells ||
             left * count[c] % rows > left * count[best] % rows))
            best = c;
    }
    CHECK(best < cells);
    return best;
}

/* Cells without any yet, whose shares of what is left are one at least. */
static void share_rest(const uint32_t *count, uint32_t cells, uint64_t left,
                       uint64_t rows, uint32_t *take)
{
    uint64_t more = left;

    for (uint32_t c = 0; c < cells; c++)
        more -= take[c] == 0 ? left * count[c] / rows : 0;
    for (; more > 0; more--)
        take[largest_rest(count, cells, left, rows, take)] = ONE_MORE;
    for (uint32_t c = 0; c < cells; c++) {
        const uint32_t whole = (uint32_t)(left * count[c] / rows);

        if (take[c] == 0 || take[c] == ONE_MORE)
            take[c] = whole + (take[c] == ONE_MORE);
    }
}

bool strata_share(const uint32_t *count, uint32_t cells, uint32_t b, bool equal,
                  uint32_t *take)
{
    uint32_t filled = 0;
    uint64_t rows;
    uint32_t left;

    if (equal) {
        share_equal(count, cells, b, take);
        return true;
    }
    for (uint32_t c = 0; c < cells; c++)
        filled += count[c] > 0;
    if (filled > b / DRAW_WEIGHT_MOST && filled > 1)
        return false;
    left = settle_small(count, cells, b, take, &rows);
    if (rows > 0)
        share_rest(count, cells, left, rows, take);
    return true;
}

/* --- which --------------------------------------------------------------- */

enum err strata_init(struct strata *strata, uint32_t rows, uint32_t colours)
{
    *strata = (struct strata){.rows = rows, .colours = colours};
    strata->row = mem_new(rows, sizeof *strata->row);
    strata->weight = mem_new(rows, sizeof *strata->weight);
    strata->cell = mem_new(rows, sizeof *strata->cell);
    strata->order = mem_new(rows, sizeof *strata->order);
    strata->size = mem_new(colours, sizeof *strata->size);
    strata->take = mem_new(colours, sizeof *strata->take);
    strata->map = mem_new(colours, sizeof *strata->map);
    strata->first = mem_new((size_t)colours + 1, sizeof *strata->first);
    if (strata->row != NULL && strata->weight != NULL && strata->cell != NULL &&
        strata->order != NULL && strata->size != NULL && strata->take != NULL &&
        strata->map != NULL && strata->first != NULL)
        return ERR_OK;
    strata_close(strata);
    return ERR_NOMEM;
}

void strata_close(struct strata *strata)
{
    mem_free(strata->row);
    mem_free(strata->weight);
    mem_free(strata->cell);
    mem_free(strata->order);
    mem_free(strata->size);
    mem_free(strata->take);
    mem_free(strata->map);
    mem_free(strata->first);
    *strata = (struct strata){0};
}

/* Colours that have rows become cells 0, 1, ...  NULL: all rows are one. */
static void count_cells(struct strata *s, const uint32_t *colour, uint32_t m)
{
    if (colour == NULL) {
        s->cells = 1;
        s->size[0] = m;
        return;
    }
    memset(s->map, 0, s->colours * sizeof *s->map);
    for (uint32_t i = 0; i < m; i++) {
        CHECK(colour[i] < s->colours);
        s->map[colour[i]]++;
    }
    s->cells = 0;
    for (uint32_t c = 0; c < s->colours; c++) {
        if (s->map[c] == 0)
            continue;
        s->size[s->cells] = s->map[c];
        s->map[c] = s->cells++;
    }
}

/* s->order: the rows, cell by cell. */
static void sort_rows(struct strata *s, const uint32_t *colour, uint32_t m)
{
    s->first[0] = 0;
    for (uint32_t c = 0; c < s->cells; c++)
        s->first[c + 1] = s->first[c] + s->size[c];
    for (uint32_t i = 0; i < m; i++)
        s->order[s->first[colour == NULL ? 0 : s->map[colour[i]]]++] = i;
    for (uint32_t c = s->cells; c > 0; c--)
        s->first[c] = s->first[c - 1];
    s->first[0] = 0;
}

/* The first `take` of a cell's order (Fisher and Yates, as far as needed). */
static void pick(struct strata *s, uint32_t cell, double weight, uint64_t key)
{
    uint32_t *const order = s->order + s->first[cell];
    const uint64_t own = rng_at(key, cell, s->size[cell]);

    for (uint32_t i = 0; i < s->take[cell]; i++) {
        const uint32_t left = s->size[cell] - i;
        const uint32_t at =
            i +
            (uint32_t)((uint64_t)(uint32_t)(rng_word(own, i) >> 32) * left >>
                       32);
        const uint32_t chosen = order[at];

        order[at] = order[i];
        order[i] = chosen;
        s->row[s->count] = chosen;
        s->cell[s->count] = cell;
        s->weight[s->count++] = weight;
    }
}

void strata_draw(struct strata *strata, enum draw_kind kind,
                 const uint32_t *colour, uint32_t m, uint32_t b, uint64_t key)
{
    const double even = (double)m / b;

    CHECK(b > 0 && b <= m && m <= strata->rows);
    if (kind == DRAW_RANDOM)
        colour = NULL;
    count_cells(strata, colour, m);
    if (!strata_share(strata->size, strata->cells, b, kind == DRAW_ENTROPY,
                      strata->take)) {
        colour = NULL; /* More cells than the sample can tell apart. */
        count_cells(strata, colour, m);
        CHECK(strata_share(strata->size, 1, b, false, strata->take));
    }
    sort_rows(strata, colour, m);
    strata->count = 0;
    for (uint32_t c = 0; c < strata->cells; c++)
        pick(strata, c,
             kind == DRAW_ENTROPY ? even
                                  : (double)strata->size[c] / strata->take[c],
             key);
    CHECK(strata->count == b);
}

/* Squares around the mean of `count` vectors. */
static double around(double squares, double sum, uint32_t count)
{
    const double between = squares - sum / count;

    return between > 0 ? between : 0;
}

/* Within cells of which there are two or more, as if all spread alike; if there
 * is no such cell, of all rows together. */
static double pooled(const struct strata *strata,
                     const struct strata_moments *moments)
{
    double squares = 0;
    double within = 0;
    uint32_t degrees = 0;

    for (uint32_t c = 0; c < strata->cells; c++) {
        squares += moments->squares[c];
        if (strata->take[c] < 2)
            continue;
        within +=
            around(moments->squares[c], moments->sums[c], strata->take[c]);
        degrees += strata->take[c] - 1;
    }
    if (degrees > 0)
        return within / degrees;
    return strata->count < 2 ? (double)INFINITY
                             : around(squares, moments->sum, strata->count) /
                                   (strata->count - 1.0);
}

double strata_variance(const struct strata *strata,
                       const struct strata_moments *moments)
{
    const double others = pooled(strata, moments);
    double variance = 0;

    for (uint32_t c = 0; c < strata->cells; c++) {
        const double size = strata->size[c];
        const double take = strata->take[c];

        if (take == size || take == 0)
            continue;
        variance += size * size * (1 - take / size) / take *
                    (take < 2 ? others
                              : around(moments->squares[c], moments->sums[c],
                                       strata->take[c]) /
                                    (take - 1));
    }
    return variance;
}
