/*
 * lockstep.c - ask, evaluate this rank's chunks, add up over all, feed.
 */
#include "node/fixed/lockstep.h"

#include "base/check.h"
#include "base/mem.h"
#include "core/run/failure.h"
#include "math/exact/tally.h"

/* What travels beside the sums: the loss in three limbs, the chunks that are
 * in, and how many ranks have which trouble. */
enum {
    LOSS_LOW,
    LOSS_MIDDLE,
    LOSS_HIGH,
    COVERED,
    TROUBLE,
    EXTRAS = TROUBLE + 5
};

/* The worst first: what any rank says holds for all. */
static const enum err troubles[EXTRAS - TROUBLE] = {
    ERR_NOMEM, ERR_CLOSED, ERR_CANCELLED, ERR_RANGE, ERR_TOOBIG};

#define LIMB_BITS 40 /* 2^20 ranks of them fit. */

struct lockstep {
    struct trainer *trainer;
    struct evaluator *evaluator;
    const struct collective *collective;
    const struct lockstep_hooks *hooks;
    uint32_t first, end; /* Chunks of this rank. */
    struct tally tally;
    int64_t *shared; /* Of several ranks: sums and extras. */
    double *sums;
    bool stopping; /* This rank wants to. */
};

static uint32_t ranks(const struct lockstep *l)
{
    return collective_size(l->collective);
}

static enum err open_all(struct lockstep *l)
{
    const uint64_t chunks = l->evaluator->chunks;
    const uint64_t rank = collective_rank(l->collective);
    const size_t dims = l->trainer->sum_dims;
    enum err err;

    CHECK(rank < ranks(l));
    l->first = (uint32_t)(rank * chunks / ranks(l));
    l->end = (uint32_t)((rank + 1) * chunks / ranks(l));
    l->sums = mem_new(dims, sizeof *l->sums);
    l->shared = mem_new(ranks(l) > 1 ? dims + EXTRAS : 0, sizeof *l->shared);
    if (l->sums == NULL || l->shared == NULL)
        return ERR_NOMEM;
    err = tally_init(&l->tally, l->trainer->sum_dims, l->evaluator->chunks);
    l->tally.pool = l->trainer->options.pool;
    return err;
}

static void close_all(struct lockstep *l)
{
    tally_close(&l->tally);
    mem_free(l->shared);
    mem_free(l->sums);
}

/* --- sums over all -------------------------------------------------------- */

static void put_loss(tally_loss loss, int64_t *extra)
{
    const tally_loss limb = (tally_loss)1 << LIMB_BITS;

    extra[LOSS_LOW] = (int64_t)(loss & (limb - 1));
    extra[LOSS_MIDDLE] = (int64_t)(loss >> LIMB_BITS & (limb - 1));
    extra[LOSS_HIGH] = (int64_t)(loss >> 2 * LIMB_BITS);
}

static tally_loss get_loss(const int64_t *extra)
{
    const tally_loss limb = (tally_loss)1 << LIMB_BITS;

    return ((tally_loss)extra[LOSS_HIGH] * limb + extra[LOSS_MIDDLE]) * limb +
           extra[LOSS_LOW];
}

static enum err worst_trouble(const int64_t *extra)
{
    for (int i = 0; i < EXTRAS - TROUBLE; i++) {
        if (extra[TROUBLE + i] > 0)
            return troubles[i];
    }
    return ERR_OK;
}

/* This rank's tally, or its trouble, becomes everybody's. */
static enum err add_up(struct lockstep *l, enum err err)
{
    const size_t dims = l->tally.dims;
    int64_t *extra = l->shared + dims;
    bool told = err == ERR_OK;
    enum err summed;

    for (size_t j = 0; j < dims; j++)
        l->shared[j] = err == ERR_OK ? l->tally.sum[j] : 0;
    for (int i = 0; i < EXTRAS - TROUBLE; i++) {
        extra[TROUBLE + i] = err == troubles[i];
        told = told || err == troubles[i];
    }
    CHECK(told); /* Else its chunks would be missing without a word. */
    put_loss(err == ERR_OK ? l->tally.loss : 0, extra);
    extra[COVERED] = l->end - l->first;
    summed = l->collective->ops->sum(l->collective->context, l->shared,
                                     dims + EXTRAS);
    if (summed != ERR_OK)
        return summed;
    CHECK(extra[COVERED] == l->evaluator->chunks); /* Each chunk once. */
    for (size_t j = 0; j < dims; j++)
        l->tally.sum[j] = l->shared[j];
    l->tally.loss = get_loss(extra);
    return worst_trouble(extra);
}

/* --- the loop ------------------------------------------------------------- */

static enum err evaluate(struct lockstep *l)
{
    const struct trainer *t = l->trainer;
    const struct computation asked = {.what = t->what,
                                      .first = l->first,
                                      .end = l->end,
                                      .step = t->optim.step,
                                      .exponent = t->exponent,
                                      .tally = &l->tally};
    enum err err = ERR_CANCELLED;

    l->tally.dims = evaluation_dims(t->what.kind, t->options.dims);
    tally_blank(&l->tally);
    if (!l->stopping)
        err = evaluator_run(l->evaluator, &asked, l->hooks->cancel);
    return ranks(l) > 1 ? add_up(l, err) : err;
}

/* What is not finite need not be tried on all scales. */
static enum trainer_next refuse(struct trainer *trainer, enum err err)
{
    enum trainer_next next = trainer_refuse(trainer);

    while (err == ERR_RANGE && next == TRAINER_AGAIN)
        next = trainer_refuse(trainer);
    return next;
}

static enum trainer_next feed(struct lockstep *l)
{
    struct total total = {
        .sums = l->sums, .chunks = l->evaluator->chunks, .rescale = 1};

    (void)tally_gradient(&l->tally, l->trainer->exponent, l->sums);
    total.loss = tally_loss_value(&l->tally, l->trainer->exponent);
    return trainer_feed(l->trainer, &total);
}

/* ERR_CANCELLED: this was the last.  The flag first: whoever watches sees it,
 * too, and has the last word. */
static enum err look(struct lockstep *l, bool cancelled)
{
    const struct lockstep_hooks *hooks = l->hooks;
    const bool raised = hooks->cancel != NULL && flag_raised(hooks->cancel);
    const bool go_on = hooks->watch == NULL ||
                       hooks->watch(hooks->context, l->trainer, cancelled);

    l->stopping = raised || !go_on;
    /* Several stop together, with the next sum. */
    return cancelled || (l->stopping && ranks(l) == 1) ? ERR_CANCELLED : ERR_OK;
}

static enum err explain(const struct lockstep *l, enum trainer_next next,
                        struct why *why)
{
    if (next != TRAINER_STANDS)
        return failure_of(l->trainer, next, why);
    /* Of data: that the scale holds is proved. */
    return why_set(why, ERR_RANGE,
                   "step %u: a chunk gives a gradient that is not finite, or "
                   "beyond its bound; look for huge values in the data or "
                   "lower --lr",
                   l->trainer->optim.step);
}

/* Held-out rows, if a pass is over: every rank by itself, to the same bits; but
 * one may lack memory. */
static enum err end_pass(struct lockstep *l)
{
    const struct held_out *held_out = &l->hooks->held_out;
    double loss;
    enum err err;

    if (!trainer_due(l->trainer))
        return ERR_OK;
    err = held_out->loss(held_out->context, trainer_weights(l->trainer), &loss);
    err = collective_agree(l->collective, err, NULL);
    if (err == ERR_OK)
        trainer_measured(l->trainer, loss);
    return err;
}

/* One question, answered; TRAINER_ASKS: on to the next. */
static enum err one_round(struct lockstep *l, enum trainer_next *next)
{
    const enum err err = evaluate(l);
    enum err measured = ERR_OK;

    if (err == ERR_OK)
        *next = feed(l);
    else if (err == ERR_TOOBIG || err == ERR_RANGE)
        *next = refuse(l->trainer, err);
    else if (err != ERR_CANCELLED)
        return err;
    if (*next == TRAINER_AGAIN || *next == TRAINER_MORE ||
        *next == TRAINER_STEPPED || *next == TRAINER_DONE)
        *next = TRAINER_ASKS;
    if (*next == TRAINER_ASKS)
        measured = end_pass(l);
    if (measured != ERR_OK)
        return measured;
    return *next == TRAINER_ASKS ? look(l, err == ERR_CANCELLED) : ERR_OK;
}

static enum err loop(struct lockstep *l, struct why *why)
{
    const enum err resumed = end_pass(l); /* It was stopped between the two. */
    enum trainer_next next;

    if (resumed != ERR_OK)
        return resumed;
    while ((next = trainer_ask(l->trainer)) == TRAINER_ASKS) {
        const enum err err = one_round(l, &next);

        if (err == ERR_CANCELLED && trainer_done(l->trainer))
            return ERR_OK; /* Too late: it had ended. */
        if (err != ERR_OK)
            return err;
        if (next != TRAINER_ASKS)
            return explain(l, next, why);
    }
    if (next == TRAINER_DONE && !l->trainer->optim.diverged)
        return ERR_OK;
    return explain(l, TRAINER_DIVERGED, why);
}

enum err lockstep_run(struct trainer *trainer, struct evaluator *evaluator,
                      const struct collective *collective,
                      const struct lockstep_hooks *hooks, struct why *why)
{
    struct lockstep l = {.trainer = trainer,
                         .evaluator = evaluator,
                         .collective = collective,
                         .hooks = hooks};
    enum err err;

    CHECK(!trainer->options.kept); /* Nobody here carries out actions. */
    err = collective_agree(collective, open_all(&l), NULL);
    if (err == ERR_OK)
        err = loop(&l, why);
    close_all(&l);
    return err;
}
