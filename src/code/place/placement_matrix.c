/*
 * placement_matrix.c - the user's own encoding matrix.
 *
 * Row i of the file is slot i, column j part j; an entry that is not zero means
 * that the slot holds the part and answers with it times that number.  What
 * came in is undone by least squares (optimal), or by the same weight for all
 * (one-step), so that any matrix can be tried: Bernoulli, expander, block
 * designs (tools/make_matrix.py).  How well it does is in the certificate.
 */
#include <math.h>
#include <string.h>

#include "base/check.h"
#include "code/axes.h"

/* With everyone's answers the sum must come back better than this. */
#define WHOLE_RESIDUAL 1e-9

static uint32_t matrix_parts(const struct code *code)
{
    return code->spec.matrix->cols;
}

static const double *entries(const struct code *code, uint32_t slot)
{
    return code->spec.matrix->entry + (size_t)slot * code->spec.matrix->cols;
}

static uint32_t matrix_row(const struct code *code, uint32_t slot,
                           uint32_t *spans, uint32_t max)
{
    const double *entry = entries(code, slot);
    uint32_t count = 0;

    for (uint32_t j = 0; j < code->parts; j++) {
        if (entry[j] == 0)
            continue;
        if (count < max)
            spans[count] = j;
        count++;
    }
    return count;
}

static enum err matrix_vet(const struct code *code, struct why *why)
{
    const struct code_spec *spec = &code->spec;

    if (spec->matrix == NULL)
        return why_set(why, ERR_SHAPE,
                       "code %s needs a file: --code matrix:FILE.csv",
                       spec->name);
    if (spec->matrix->rows != code->slots)
        return why_set(why, ERR_SHAPE,
                       "the matrix has %u rows, one for each worker; there are "
                       "%u workers",
                       spec->matrix->rows, code->slots);
    if ((spec->estimate != ESTIMATE_EXACT &&
         spec->estimate != ESTIMATE_REFERENCE) ||
        (spec->stop != STOP_FIRST && spec->stop != STOP_ALL &&
         spec->stop != STOP_DEADLINE))
        return why_set(why, ERR_SHAPE,
                       "code %s goes only with schedule all, stop first:K, all "
                       "or deadline:T, estimate exact or reference",
                       spec->name);
    return ERR_OK;
}

static enum err matrix_draw(struct code *code, uint32_t draw)
{
    (void)draw;
    for (uint32_t slot = 0; slot < code->slots; slot++) {
        const struct code_table *table = &code->table;

        for (uint32_t i = table->row[slot]; i < table->row[slot + 1]; i++)
            table->value[i] = entries(code, slot)[table->span[i]];
    }
    return ERR_OK;
}

/* The same weight for all who answered, so that the total is right: for a
 * 0/1 matrix parts / entries in, the one-step decoding of Charles et al.,
 * "Approximate gradient coding via sparse random graphs", 2017. */
static enum err one_step(const struct code *code, const bool *slot_in,
                         double *weight)
{
    const struct code_table *table = &code->table;
    double total = 0;

    for (uint32_t slot = 0; slot < code->slots; slot++) {
        for (uint32_t i = table->row[slot];
             slot_in[slot] && i < table->row[slot + 1]; i++)
            total += table->value[i];
    }
    if (!(fabs(total) > 0))
        return ERR_UNDECODABLE;
    for (uint32_t slot = 0; slot < code->slots; slot++)
        weight[slot] =
            slot_in[slot] && code->busy[slot] ? code->span_count / total : 0;
    return ERR_OK;
}

static enum err matrix_decode(const struct code *code, const bool *slot_in,
                              double *weight)
{
    return code->spec.decoding == DECODE_ONE_STEP
               ? one_step(code, slot_in, weight)
               : least_run(code->decoder->least, code, slot_in, weight);
}

/* Rank enough: all answers together must give the sum, unless the user said
 * that less will do. */
static enum err matrix_finish(struct code *code, struct why *why)
{
    bool in[CODE_NUMERIC_MAX];
    double weight[CODE_NUMERIC_MAX];
    double residual;
    enum err err;

    if (code->spec.estimate == ESTIMATE_REFERENCE ||
        code->spec.decoding == DECODE_ONE_STEP) {
        code->exactness = EXACT_APPROX;
        return ERR_OK;
    }
    memset(in, true, sizeof in);
    err = code_decode(code, in, weight, &residual);
    if (err == ERR_NOMEM)
        return err;
    if (err == ERR_OK && residual <= WHOLE_RESIDUAL)
        return ERR_OK;
    return why_set(why, ERR_SHAPE,
                   "the matrix is rank-deficient: its rows do not span the sum "
                   "of all parts (off by %.1e with every answer in); add rows, "
                   "or take estimate=reference to train with that error",
                   err == ERR_OK ? residual : 1.0);
}

const struct placement_ops placement_matrix = {
    .name = "matrix",
    .carrier = CARRIER_F64,
    .traits = TRAIT(COPIES) | TRAIT(MATRIX),
    .parts = matrix_parts,
    .row = matrix_row,
    .vet = matrix_vet,
    .draw = matrix_draw,
    .decode = matrix_decode,
    .fixed = true,
    .finish = matrix_finish,
};
