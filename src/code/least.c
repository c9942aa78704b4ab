/*
 * least.c - the weights nearest to a^T B = 1, by least squares.
 *
 * min |B_S^T a - 1| over the slots S that answered, the shortest such a where
 * there are several: a QR factorisation with pivoting of a spans x |S| matrix,
 * O(spans |S|^2).  Stragglers tend to be the same ones step after step, so the
 * last few patterns are remembered.
 */
#include <string.h>

#include "base/check.h"
#include "base/mem.h"
#include "code/axes.h"
#include "math/solve.h"

#define PATTERNS 16u

struct least {
    uint32_t slots, spans;
    double *system; /* Column by column, one for each slot that is in. */
    double *right;
    struct solve_room room;
    /* The last patterns and their weights. */
    bool *in;       /* PATTERNS x slots. */
    double *weight; /* Likewise. */
    uint32_t count; /* Ever remembered. */
};

enum err least_new(const struct code *code, struct least **least)
{
    const uint32_t most =
        code->slots > code->span_count ? code->slots : code->span_count;
    struct least *made = mem_new(1, sizeof *made);
    enum err err;

    if (made == NULL)
        return ERR_NOMEM;
    made->slots = code->slots;
    made->spans = code->span_count;
    made->system =
        mem_new((size_t)made->slots * made->spans, sizeof *made->system);
    made->right = mem_new(most, sizeof *made->right);
    made->in = mem_new((size_t)PATTERNS * made->slots, sizeof *made->in);
    made->weight =
        mem_new((size_t)PATTERNS * made->slots, sizeof *made->weight);
    err = solve_room_init(&made->room, made->spans, made->slots);
    if (err == ERR_OK && (made->system == NULL || made->right == NULL ||
                          made->in == NULL || made->weight == NULL))
        err = ERR_NOMEM;
    if (err != ERR_OK) {
        least_free(made);
        return err;
    }
    *least = made;
    return ERR_OK;
}

void least_free(struct least *least)
{
    if (least == NULL)
        return;
    mem_free(least->system);
    mem_free(least->right);
    mem_free(least->in);
    mem_free(least->weight);
    solve_room_close(&least->room);
    mem_free(least);
}

static bool recall(const struct least *least, const bool *in, double *weight)
{
    const uint32_t n = least->slots;
    const uint32_t kept = least->count < PATTERNS ? least->count : PATTERNS;

    for (uint32_t i = 0; i < kept; i++) {
        if (memcmp(least->in + (size_t)i * n, in, n * sizeof *in) == 0) {
            memcpy(weight, least->weight + (size_t)i * n, n * sizeof *weight);
            return true;
        }
    }
    return false;
}

static void remember(struct least *least, const bool *in, const double *weight)
{
    const size_t at = (size_t)(least->count++ % PATTERNS) * least->slots;

    memcpy(least->in + at, in, least->slots * sizeof *in);
    memcpy(least->weight + at, weight, least->slots * sizeof *weight);
}

/* Returns the number of columns. */
static uint32_t set_system(struct least *least, const struct code *code,
                           const bool *in)
{
    const struct code_table *table = &code->table;
    uint32_t columns = 0;

    for (uint32_t slot = 0; slot < code->slots; slot++) {
        double *column = least->system + (size_t)columns * least->spans;

        if (!in[slot] || !code->busy[slot])
            continue;
        memset(column, 0, least->spans * sizeof *column);
        for (uint32_t i = table->row[slot]; i < table->row[slot + 1]; i++) {
            if (!code_span_empty(code, table->span[i]))
                column[table->span[i]] = table->value[i];
        }
        columns++;
    }
    for (uint32_t q = 0; q < least->spans; q++)
        least->right[q] = code_span_empty(code, q) ? 0 : 1;
    return columns;
}

enum err least_run(struct least *least, const struct code *code,
                   const bool *slot_in, double *weight)
{
    uint32_t columns;
    uint32_t at = 0;
    enum err err;

    if (recall(least, slot_in, weight))
        return ERR_OK;
    columns = set_system(least, code, slot_in);
    if (columns == 0)
        return ERR_UNDECODABLE;
    err = solve_shortest(&least->room, least->system, least->right,
                         least->spans, columns);
    if (err != ERR_OK)
        return err;
    for (uint32_t slot = 0; slot < code->slots; slot++)
        weight[slot] =
            slot_in[slot] && code->busy[slot] ? least->right[at++] : 0;
    CHECK(at == columns);
    remember(least, slot_in, weight);
    return ERR_OK;
}
