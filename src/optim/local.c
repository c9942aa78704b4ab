/*
 * local.c - local SGD on one part: gd by the optimiser's own code, or a pass of
 * sgd, begun at the common weights; what comes out is the displacement, which
 * the coordinator averages.
 */
#include "optim/local.h"

#include <math.h>
#include <string.h>

#include "base/mem.h"
#include "math/vec.h"
#include "optim/parts.h"

/* Tells the shuffles of parts apart; the first part's are those of one machine
 * alone. */
#define PART_STRIDE UINT64_C(0x9e3779b97f4a7c15)

static bool schedule_fits(const struct local *local)
{
    const struct optim_options options = {.schedule = local->schedule,
                                          .decay = local->decay,
                                          .decay_every = local->decay_every};

    return optim_schedule_fits(&options);
}

bool local_fits(const struct local *local, uint32_t dims)
{
    const bool sgd = local->kind == OPTIM_SGD;

    return (sgd || local->kind == OPTIM_GD) && local->every > 0 &&
           isfinite(local->rate) && local->rate > 0 && schedule_fits(local) &&
           isfinite(local->clip) && local->clip >= 0 && isfinite(local->l2) &&
           (sgd ? local->l2 > 0 : local->l2 >= 0) &&
           optim_free_fits(local->l2_free, local->l2_stride) &&
           local->l2_free < dims;
}

uint32_t local_steps(const struct local *local, uint32_t round)
{
    const uint64_t before = (uint64_t)round * local->every;

    if (before >= local->steps)
        return 0;
    return local->steps - before < local->every
               ? (uint32_t)(local->steps - before)
               : local->every;
}

/* All of gd's own arithmetic: a job whose only part has all rows is gd. */
static enum err run_gd(const struct local *local, const struct local_part *part,
                       uint32_t round, double *w, double *sum, double *loss)
{
    const uint32_t before = round * local->every;
    const struct optim_options options = {
        .kind = OPTIM_GD,
        .schedule = local->schedule,
        .rate = local->rate,
        .decay = local->decay,
        .decay_every = local->decay_every,
        .warmup = local->warmup,
        .clip = local->clip,
        .l2 = local->l2,
        .l2_free = local->l2_free,
        .l2_stride = local->l2_stride,
        .rows = part->counted,
        .steps = local->steps,
    };
    const uint32_t end = before + local_steps(local, round);
    struct optim optim;
    enum err err = optim_init(&optim, &options, part->dims);

    if (err != ERR_OK)
        return err;
    optim_start(&optim, w, before);
    while (err == ERR_OK && optim.step < end) {
        double here;

        err = part->gradient(part->context, optim_weights(&optim), sum, &here);
        if (err != ERR_OK)
            break;
        if (optim.step == before)
            *loss = here;
        (void)optim_feed(&optim, sum, here);
        if (optim.diverged)
            err = ERR_RANGE;
    }
    memcpy(w, optim_weights(&optim), part->dims * sizeof *w);
    optim_close(&optim);
    return err;
}

static enum err run_sgd(const struct local *local,
                        const struct local_part *part, uint32_t round,
                        double *w, double *sum, double *loss)
{
    const uint32_t before = round * local->every;
    const struct sgd_options options = {
        .loss = part->loss,
        .rate = local->rate,
        .c = 1 / (2 * local->l2),
        .passes = local_steps(local, round),
        .pass_first = before,
        .seen = (uint64_t)before * part->counted,
        .rows = part->rows,
        .dims = part->cols,
        .shuffle = true,
        .seed = local->seed + part->first_row * PART_STRIDE,
        .has_free = local->l2_stride > 0,
        .free = local->l2_free,
    };
    enum err err = part->gradient(part->context, w, sum, loss);

    if (err != ERR_OK)
        return err;
    return sgd_train_from(&options, part->row, part->context, w);
}

enum err local_run(const struct local *local, const struct local_part *part,
                   uint32_t round, const double *w, double *out)
{
    const uint32_t dims = part->dims;
    double *sum = mem_new(dims, sizeof *sum);
    double *moved = mem_new(dims, sizeof *moved);
    double loss = 0;
    enum err err = sum == NULL || moved == NULL ? ERR_NOMEM : ERR_OK;

    if (err == ERR_OK)
        memcpy(moved, w, dims * sizeof *moved);
    /* Rows that do not count lead nowhere. */
    if (err == ERR_OK && part->counted > 0)
        err = local->kind == OPTIM_SGD
                  ? run_sgd(local, part, round, moved, sum, &loss)
                  : run_gd(local, part, round, moved, sum, &loss);
    if (err == ERR_OK && !(vec_finite(moved, dims) && isfinite(loss)))
        err = ERR_RANGE;
    if (err == ERR_OK) {
        for (uint32_t j = 0; j < dims; j++)
            out[j] = moved[j] - w[j];
        out[dims] = part->counted > 0 ? loss / part->counted : 0;
    }
    mem_free(sum);
    mem_free(moved);
    return err;
}
