/*
 * lines.c - what is answered from scores that are kept (lines.h).
 */
#include "core/star/lines.h"

#include <string.h>

#include "base/bugs.h"
#include "base/check.h"
#include "base/mem.h"
#include "core/star/coordinator_parts.h"
#include "math/vec.h"

/* Sums of scores round a little more each time: so many steps on, weights are
 * multiplied anew. */
#define MOVES_MAX 16u

bool lines_on(const struct coordinator *c)
{
    return product_on(c) && c->options.optim.line;
}

/* --- room ---------------------------------------------------------------- */

static enum err room_of(struct multiplied *product, uint32_t dims,
                        uint32_t rows)
{
    product->vector = mem_new(dims, sizeof *product->vector);
    product->scores = mem_new(rows, sizeof *product->scores);
    return product->vector == NULL || product->scores == NULL ? ERR_NOMEM
                                                              : ERR_OK;
}

enum err lines_room(struct coordinator *c)
{
    const struct job *job = &c->options.job;
    struct lines *lines = &c->products.lines;

    if (!lines_on(c))
        return ERR_OK;
    lines->trial = mem_new(job->rows, sizeof *lines->trial);
    if (lines->trial == NULL ||
        room_of(&lines->from, job->dims, job->rows) != ERR_OK)
        return ERR_NOMEM;
    return room_of(&lines->way, job->dims, job->rows);
}

static void close_product(struct multiplied *product)
{
    mem_free(product->vector);
    mem_free(product->scores);
}

void lines_close(struct coordinator *c)
{
    close_product(&c->products.lines.from);
    close_product(&c->products.lines.way);
    mem_free(c->products.lines.trial);
    c->products.lines = (struct lines){0};
}

/* --- what is known ------------------------------------------------------- */

static bool knows(const struct coordinator *c, const struct multiplied *product,
                  const double *vector)
{
    const size_t bytes = c->options.job.dims * sizeof *vector;

    return product->known &&
           (BUG(BUG_OLD_SCORES) || memcmp(product->vector, vector, bytes) == 0);
}

/* Is w where the last trial was? */
static bool at_trial(const struct coordinator *c, const double *w)
{
    const struct lines *lines = &c->products.lines;

    if (!lines->from.known || !lines->way.known || lines->step == 0)
        return false;
    for (uint32_t j = 0; j < c->options.job.dims; j++) {
        if (lines->from.vector[j] + lines->step * lines->way.vector[j] != w[j])
            return false;
    }
    return true;
}

static void add_scores(const struct coordinator *c, double *into)
{
    const struct lines *lines = &c->products.lines;

    for (uint32_t i = 0; i < c->options.job.rows; i++)
        into[i] = lines->from.scores[i] + lines->step * lines->way.scores[i];
}

/* The line leads from there now. */
static void move(struct coordinator *c, const double *w)
{
    add_scores(c, c->products.lines.from.scores);
    memcpy(c->products.lines.from.vector, w, c->options.job.dims * sizeof *w);
    c->products.lines.step = 0;
    c->products.lines.moves++;
}

const double *lines_unknown_vector(struct coordinator *c)
{
    const struct evaluation *what = &c->trainer.what;
    struct lines *lines = &c->products.lines;

    if (!knows(c, &lines->from, what->w)) {
        if (lines->moves >= MOVES_MAX || !at_trial(c, what->w))
            return what->w;
        move(c, what->w);
    }
    return what->v == NULL || knows(c, &lines->way, what->v) ? NULL : what->v;
}

void lines_keep(struct coordinator *c)
{
    const struct job *job = &c->options.job;
    const bool weights = c->what.w == c->trainer.what.w;
    struct multiplied *product =
        weights ? &c->products.lines.from : &c->products.lines.way;

    memcpy(product->vector, c->what.w, job->dims * sizeof *product->vector);
    memcpy(product->scores, c->products.scores,
           job->rows * sizeof *product->scores);
    product->known = true;
    c->products.lines.step = 0;
    if (weights)
        c->products.lines.moves = 0;
}

/* --- answers ------------------------------------------------------------- */

bool lines_answer(struct coordinator *c, struct total *out)
{
    const struct evaluation *what = &c->trainer.what;
    struct lines *lines = &c->products.lines;

    if (!lines_on(c) || what->kind != EVALUATE_LINE ||
        lines_unknown_vector(c) != NULL)
        return false;
    lines->step = what->step;
    add_scores(c, lines->trial);
    out->loss =
        c->options.slopes(c->options.slopes_context, what->soft, lines->trial);
    c->gradient[0] =
        vec_dot(lines->trial, lines->way.scores, c->options.job.rows);
    return true;
}

void lines_turn(struct coordinator *c)
{
    const struct evaluation *what = &c->trainer.what;
    const uint32_t rows = c->options.job.rows;
    double *scores = c->products.scores;

    CHECK(what->kind != EVALUATE_LINE);
    memcpy(scores, c->products.lines.from.scores, rows * sizeof *scores);
    if (what->kind == EVALUATE_GRADIENT) {
        c->products.loss =
            c->options.slopes(c->options.slopes_context, what->soft, scores);
        return;
    }
    CHECK(what->kind == EVALUATE_HESSVEC);
    c->options.bends(c->options.slopes_context, what->soft, scores);
    for (uint32_t i = 0; i < rows; i++)
        scores[i] *= c->products.lines.way.scores[i];
    c->products.loss = 0;
}
