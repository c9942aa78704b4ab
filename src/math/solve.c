/*
 * solve.c - complete orthogonal decomposition of a small dense matrix, in plain
 * loops of a fixed order: the decoding weights of a set of stragglers are the
 * same on every machine.
 */
#include "math/solve.h"

#include <float.h>
#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "base/check.h"
#include "base/mem.h"

#define LANES 8u
/* A norm that was brought down so far has lost half its digits. */
#define STALE 1e-8

enum err solve_room_init(struct solve_room *room, uint32_t rows, uint32_t cols)
{
    CHECK(rows > 0 && cols > 0);
    *room = (struct solve_room){.rows = rows, .cols = cols};
    room->from = mem_new(cols, sizeof *room->from);
    room->norm2 = mem_new(cols, sizeof *room->norm2);
    room->whole2 = mem_new(cols, sizeof *room->whole2);
    room->beta = mem_new(cols, sizeof *room->beta);
    room->first = mem_new(cols, sizeof *room->first);
    room->left = mem_new(cols, sizeof *room->left);
    room->y = mem_new(cols, sizeof *room->y);
    room->x = mem_new(cols, sizeof *room->x);
    room->error = mem_new(rows, sizeof *room->error);
    room->whole = mem_new((size_t)rows * cols, sizeof *room->whole);
    if (room->from == NULL || room->norm2 == NULL || room->whole2 == NULL ||
        room->beta == NULL || room->first == NULL || room->left == NULL ||
        room->y == NULL || room->x == NULL || room->error == NULL ||
        room->whole == NULL) {
        solve_room_close(room);
        return ERR_NOMEM;
    }
    return ERR_OK;
}

void solve_room_close(struct solve_room *room)
{
    mem_free(room->from);
    mem_free(room->norm2);
    mem_free(room->whole2);
    mem_free(room->beta);
    mem_free(room->first);
    mem_free(room->left);
    mem_free(room->y);
    mem_free(room->x);
    mem_free(room->error);
    mem_free(room->whole);
    *room = (struct solve_room){0};
}

/* Eight sums side by side, then together in a fixed order. */
static double dot(const double *a, const double *b, uint32_t n)
{
    double sum[LANES] = {0};
    uint32_t i = 0;

    for (; i + LANES <= n; i += LANES) {
        for (uint32_t k = 0; k < LANES; k++)
            sum[k] += a[i + k] * b[i + k];
    }
    for (uint32_t k = 0; i < n; i++, k++)
        sum[k] += a[i] * b[i];
    return ((sum[0] + sum[4]) + (sum[1] + sum[5])) +
           ((sum[2] + sum[6]) + (sum[3] + sum[7]));
}

static void add_times(double *to, double factor, const double *from, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++)
        to[i] += factor * from[i];
}

/* The matrix as it is reduced: [0, rank) is done. */
struct system {
    struct solve_room *room;
    double *a;
    uint32_t rows, cols, rank;
};

static double *column(const struct system *s, uint32_t j)
{
    return s->a + (size_t)j * s->rows;
}

static double *entry(const struct system *s, uint32_t i, uint32_t j)
{
    return column(s, j) + i;
}

/* Squares of very large and very small numbers do not fit: the largest entry
 * is brought to [1/2, 1), exactly.  Returns by which power of two. */
static bool take_scale(struct system *s, int *power)
{
    const size_t count = (size_t)s->rows * s->cols;
    double most = 0;

    for (size_t i = 0; i < count; i++)
        most = fmax(most, fabs(s->a[i]));
    (void)frexp(most, power);
    for (size_t i = 0; i < count; i++)
        s->a[i] = ldexp(s->a[i], -*power);
    return isfinite(most);
}

static bool take_norms(struct system *s)
{
    for (uint32_t j = 0; j < s->cols; j++) {
        const double norm2 = dot(column(s, j), column(s, j), s->rows);

        if (!isfinite(norm2))
            return false;
        s->room->from[j] = j;
        s->room->norm2[j] = s->room->whole2[j] = norm2;
    }
    return true;
}

/* The longest of the columns that are left comes next. */
static void bring_longest(struct system *s, uint32_t k)
{
    struct solve_room *room = s->room;
    uint32_t best = k;

    for (uint32_t j = k + 1; j < s->cols; j++) {
        if (room->norm2[j] > room->norm2[best])
            best = j;
    }
    if (best == k)
        return;
    for (uint32_t i = 0; i < s->rows; i++) {
        const double kept = *entry(s, i, k);

        *entry(s, i, k) = *entry(s, i, best);
        *entry(s, i, best) = kept;
    }
    const uint32_t from = room->from[k];

    room->from[k] = room->from[best];
    room->from[best] = from;
    room->norm2[best] = room->norm2[k];
    room->whole2[best] = room->whole2[k];
}

/* The length of a column is reduced by the part that has been dealt with. */
static void bring_down(struct system *s, uint32_t j, uint32_t k)
{
    struct solve_room *room = s->room;
    const double done = *entry(s, k, j);

    room->norm2[j] -= done * done;
    if (room->norm2[j] > STALE * room->whole2[j])
        return;
    room->norm2[j] =
        dot(entry(s, k + 1, j), entry(s, k + 1, j), s->rows - k - 1);
    room->whole2[j] = room->norm2[j];
}

/* I - left v v^T maps column k, from its row k down, onto its first axis; v
 * stays in its place but for v[0], which is kept aside.  Returns what became of
 * that. */
static double reflect(struct system *s, uint32_t k)
{
    const uint32_t n = s->rows - k;
    double *v = entry(s, k, k);
    const double length = sqrt(dot(v, v, n));
    const double image = v[0] > 0 ? -length : length;

    if (length == 0)
        return 0;
    v[0] -= image;
    s->room->first[k] = v[0];
    s->room->left[k] = 2 / dot(v, v, n);
    for (uint32_t j = k + 1; j < s->cols; j++) {
        add_times(entry(s, k, j), -s->room->left[k] * dot(v, entry(s, k, j), n),
                  v, n);
        bring_down(s, j, k);
    }
    return image;
}

/* From the left; the rank is that up to rounding. */
static void triangulate(struct system *s)
{
    const uint32_t least = s->rows < s->cols ? s->rows : s->cols;
    const uint32_t most = s->rows < s->cols ? s->cols : s->rows;
    double first = 0;

    for (uint32_t k = 0; k < least; k++) {
        double image;

        bring_longest(s, k);
        image = reflect(s, k);
        if (k == 0)
            first = fabs(image);
        if (!(fabs(image) > DBL_EPSILON * most * first))
            return;
        *entry(s, k, k) = image;
        s->rank = k + 1;
    }
}

/* Rows i and k, of what is right of the square. */
static double row_dot(const struct system *s, uint32_t i, uint32_t k)
{
    double sum = 0;

    for (uint32_t j = s->rank; j < s->cols; j++)
        sum += *entry(s, i, j) * *entry(s, k, j);
    return sum;
}

/* From the right: row i, beyond the square, onto its place i.  v stays beyond
 * the square; its first is scaled to 1. */
static void fold_row(struct system *s, uint32_t i)
{
    double *own = entry(s, i, i);
    const double rest2 = row_dot(s, i, i);
    double length, image, first;

    s->room->beta[i] = 0;
    if (rest2 == 0)
        return;
    length = sqrt(*own * *own + rest2);
    image = *own > 0 ? -length : length;
    first = *own - image;
    for (uint32_t j = s->rank; j < s->cols; j++)
        *entry(s, i, j) /= first;
    s->room->beta[i] = 2 / (1 + rest2 / (first * first));
    *own = image;
    for (uint32_t k = 0; k < i; k++) {
        const double t =
            s->room->beta[i] * (*entry(s, k, i) + row_dot(s, k, i));

        *entry(s, k, i) -= t;
        for (uint32_t j = s->rank; j < s->cols; j++)
            *entry(s, k, j) -= t * *entry(s, i, j);
    }
}

/* All reflections from the left, of a right side. */
static void turn(const struct system *s, double *b)
{
    for (uint32_t k = 0; k < s->rank; k++) {
        const double *v = entry(s, k, k) + 1;
        const uint32_t n = s->rows - k - 1;
        const double first = s->room->first[k];
        const double t =
            s->room->left[k] * (first * b[k] + dot(v, b + k + 1, n));

        b[k] -= t * first;
        add_times(b + k + 1, -t, v, n);
    }
}

/* The triangle, from its last row up. */
static void substitute(const struct system *s, const double *b)
{
    double *y = s->room->y;

    memcpy(y, b, s->rank * sizeof *y);
    for (uint32_t k = s->rank; k-- > 0;) {
        y[k] /= *entry(s, k, k);
        add_times(y, -y[k], column(s, k), k);
    }
    for (uint32_t k = s->rank; k < s->cols; k++)
        y[k] = 0;
}

static void unfold_row(const struct system *s, uint32_t i)
{
    double *y = s->room->y;
    double t = y[i];

    if (s->room->beta[i] == 0)
        return;
    for (uint32_t j = s->rank; j < s->cols; j++)
        t += *entry(s, i, j) * y[j];
    t *= s->room->beta[i];
    y[i] -= t;
    for (uint32_t j = s->rank; j < s->cols; j++)
        y[j] -= t * *entry(s, i, j);
}

/* The solution for right side b, which is lost, is added to room->x. */
static void add_solution(const struct system *s, double *b)
{
    struct solve_room *room = s->room;

    turn(s, b);
    substitute(s, b);
    for (uint32_t i = 0; i < s->rank; i++)
        unfold_row(s, i);
    for (uint32_t j = 0; j < s->cols; j++)
        room->x[room->from[j]] += room->y[j];
}

enum err solve_shortest(struct solve_room *room, double *a, double *b,
                        uint32_t rows, uint32_t cols)
{
    struct system s = {.room = room, .a = a, .rows = rows, .cols = cols};
    int power;

    CHECK(rows <= room->rows && cols <= room->cols);
    if (!take_scale(&s, &power) || !take_norms(&s) ||
        !isfinite(dot(b, b, rows)))
        return ERR_RANGE;
    memcpy(room->whole, a, (size_t)rows * cols * sizeof *a);
    triangulate(&s);
    for (uint32_t i = s.rank; i-- > 0;)
        fold_row(&s, i);
    memset(room->x, 0, cols * sizeof *room->x);
    memcpy(room->error, b, rows * sizeof *b);
    add_solution(&s, b);
    /* Once more for what it is wrong by. */
    for (uint32_t j = 0; j < cols; j++)
        add_times(room->error, -room->x[j], room->whole + (size_t)j * rows,
                  rows);
    add_solution(&s, room->error);
    for (uint32_t j = 0; j < cols; j++)
        b[j] = ldexp(room->x[j], -power);
    return ERR_OK;
}
