/*
 * placement_local.c - every part in one place, each answered by itself.
 *
 * Slot i holds part i and answers with how far its own steps led
 * (optim/local.h).  Nothing is decoded: the answers are averaged by the rows
 * behind them, in the order of the slots, so that the same participants give
 * the same bits.  Approximate whoever answers: an average of models is not the
 * model of all rows.
 */
#include "code/axes.h"

static uint32_t local_row(const struct code *code, uint32_t slot,
                          uint32_t *spans, uint32_t max)
{
    (void)code;
    if (max > 0)
        spans[0] = slot;
    return 1;
}

static enum err local_vet(const struct code *code, struct why *why)
{
    const struct code_spec *spec = &code->spec;

    if (spec->estimate == ESTIMATE_RATIO &&
        (spec->stop == STOP_ALL || spec->stop == STOP_FIRST ||
         spec->stop == STOP_DEADLINE))
        return ERR_OK;
    return why_set(why, ERR_SHAPE,
                   "code %s goes only with schedule all, stop all, first:K or "
                   "deadline:T, estimate ratio",
                   spec->name);
}

static enum err local_draw(struct code *code, uint32_t draw)
{
    (void)draw;
    for (uint32_t i = 0; i < code->table.count; i++)
        code->table.value[i] = 1;
    return ERR_OK;
}

static enum err local_decode(const struct code *code, const bool *slot_in,
                             double *weight)
{
    for (uint32_t slot = 0; slot < code->slots; slot++)
        weight[slot] = slot_in[slot] && code->busy[slot] ? 1 : 0;
    return ERR_OK;
}

const struct placement_ops placement_local = {
    .name = "local",
    .carrier = CARRIER_F64,
    .summed = true,
    .traits = TRAIT(AVERAGES) | TRAIT(ESTIMATE),
    .row = local_row,
    .vet = local_vet,
    .draw = local_draw,
    .decode = local_decode,
    .fixed = true,
};
