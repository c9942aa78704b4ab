/*
 * state.c - an optimiser's state as bytes, for checkpoints between any two
 * rounds.  All kinds keep their vectors in one block, so that one format serves
 * all of them; what follows from the saved numbers is computed anew.
 */
#include "base/bytes.h"
#include "base/check.h"
#include "math/vec.h"
#include "optim/optim.h"
#include "optim/parts.h"
#include "optim/soften.h"

/* Three points of three numbers, three flags, trials, step. */
enum { SEARCH_BYTES = 3 * 3 * 8 + 3 + 4 + 8 };
/* kind, dims, vectors, step, round, evaluations, objective, gradient_norm,
 * excess, objective_first, norm_start, calm, flags; phase, pairs, newest,
 * cg_round, cg_rr, cg_first, norm_first. */
enum { STATE_HEAD = 1 + 4 * 4 + 8 + 5 * 8 + 4 + 1 + 4 * 4 + 3 * 8 };
enum { SOFTEN_BYTES = 4 * 4 + 1 + 3 * 8 };
enum { FLAG_DIVERGED = 1, FLAG_STALLED = 2, FLAG_WEAK = 4 };

size_t optim_state_bytes(const struct optim *opt)
{
    return STATE_HEAD + SEARCH_BYTES + SOFTEN_BYTES +
           (size_t)opt->vectors * opt->dims * sizeof *opt->kept;
}

static void put_point(struct writer *out, const struct search_point *point)
{
    put_f64(out, point->step);
    put_f64(out, point->value);
    put_f64(out, point->slope);
}

static void put_search(struct writer *out, const struct search *search)
{
    put_point(out, &search->start);
    put_point(out, &search->low);
    put_point(out, &search->high);
    put_u8(out, search->bracketed);
    put_u8(out, (uint8_t)search->rule);
    put_u8(out, search->last);
    put_u32(out, search->trials);
    put_f64(out, search->step);
}

static void put_soften(struct writer *out, const struct soften *soften)
{
    put_u32(out, soften->phase);
    put_u32(out, soften->level);
    put_u32(out, soften->shifts);
    put_u32(out, soften->proofs);
    put_u8(out, soften->sure);
    put_f64(out, soften->target);
    put_f64(out, soften->truth);
    put_f64(out, soften->least);
}

void optim_save(const struct optim *opt, struct writer *out)
{
    const size_t count = (size_t)opt->vectors * opt->dims;
    const int flags = (opt->diverged ? FLAG_DIVERGED : 0) |
                      (opt->stalled ? FLAG_STALLED : 0) |
                      (opt->weak ? FLAG_WEAK : 0);

    put_u8(out, (uint8_t)opt->options.kind);
    put_u32(out, opt->dims);
    put_u32(out, opt->vectors);
    put_u32(out, opt->step);
    put_u32(out, opt->round);
    put_u64(out, opt->evaluations);
    put_f64(out, opt->objective);
    put_f64(out, opt->gradient_norm);
    put_f64(out, opt->excess);
    put_f64(out, opt->objective_first);
    put_f64(out, opt->norm_start);
    put_u32(out, opt->calm);
    put_u8(out, (uint8_t)flags);
    put_u32(out, opt->phase);
    put_u32(out, opt->pairs);
    put_u32(out, opt->newest);
    put_u32(out, opt->cg_round);
    put_f64(out, opt->cg_rr);
    put_f64(out, opt->cg_first);
    put_f64(out, opt->norm_first);
    put_search(out, &opt->search);
    put_soften(out, &opt->soften);
    put_bytes(out, opt->kept, count * sizeof *opt->kept);
}

static struct search_point get_point(struct reader *in)
{
    struct search_point point;

    point.step = get_f64(in);
    point.value = get_f64(in);
    point.slope = get_f64(in);
    return point;
}

static void get_search(struct reader *in, struct search *search)
{
    search->start = get_point(in);
    search->low = get_point(in);
    search->high = get_point(in);
    search->bracketed = get_u8(in) != 0;
    search->rule = (enum search_rule)get_u8(in);
    search->last = get_u8(in) != 0;
    search->trials = get_u32(in);
    search->step = get_f64(in);
}

static void get_soften(struct reader *in, struct soften *soften)
{
    soften->phase = get_u32(in);
    soften->level = get_u32(in);
    soften->shifts = get_u32(in);
    soften->proofs = get_u32(in);
    soften->sure = get_u8(in) != 0;
    soften->target = get_f64(in);
    soften->truth = get_f64(in);
    soften->least = get_f64(in);
}

/* All but the vectors, in the order of optim_save. */
static void get_head(struct reader *in, struct optim *opt)
{
    uint8_t flags;

    opt->step = get_u32(in);
    opt->round = get_u32(in);
    opt->evaluations = get_u64(in);
    opt->objective = get_f64(in);
    opt->gradient_norm = get_f64(in);
    opt->excess = get_f64(in);
    opt->objective_first = get_f64(in);
    opt->norm_start = get_f64(in);
    opt->calm = get_u32(in);
    flags = get_u8(in);
    opt->diverged = (flags & FLAG_DIVERGED) != 0;
    opt->stalled = (flags & FLAG_STALLED) != 0;
    opt->weak = (flags & FLAG_WEAK) != 0;
    opt->phase = get_u32(in);
    opt->pairs = get_u32(in);
    opt->newest = get_u32(in);
    opt->cg_round = get_u32(in);
    opt->cg_rr = get_f64(in);
    opt->cg_first = get_f64(in);
    opt->norm_first = get_f64(in);
    get_search(in, &opt->search);
    get_soften(in, &opt->soften);
}

static bool phase_fits(const struct optim *opt)
{
    const uint32_t left = opt->ops->phases - opt->phase;

    if (opt->phase >= opt->ops->phases)
        return false;
    if (!opt->ops->has_search || left > 2)
        return true;
    return left == 1 ? opt->options.line : opt->metric != NULL;
}

/* These index arrays: a damaged file must not get that far. */
static bool counters_fit(const struct optim *opt)
{
    const uint32_t pairs_max = opt->pair_s != NULL ? opt->options.memory : 0;

    if (opt->options.kind == OPTIM_COLUMNS && opt->step > opt->vectors)
        return false;
    return phase_fits(opt) && opt->search.rule < SEARCH_RULES &&
           opt->pairs <= pairs_max && soften_fits(opt) &&
           (opt->newest == 0 || opt->newest < pairs_max);
}

/* What the saved numbers imply. */
static void restore(struct optim *opt)
{
    opt->ops->place(opt); /* `b` may lie elsewhere. */
    if (opt->ops->has_search)
        optim_place_trial(opt);
    for (uint32_t i = 0; i < opt->pairs; i++) {
        const uint32_t place = quasi_pair_at(opt, i);
        const size_t at = (size_t)place * opt->dims;

        opt->pair_rho[place] =
            1 / vec_dot(opt->pair_s + at, opt->pair_y + at, opt->dims);
    }
}

enum err optim_load(struct optim *opt, struct reader *in)
{
    const size_t size = optim_state_bytes(opt);
    const size_t count = (size_t)opt->vectors * opt->dims;
    const uint8_t *const view = get_view(in, size);
    struct reader state = reader_on(view, view == NULL ? 0 : size);
    struct optim loaded = *opt;

    if (view == NULL || get_u8(&state) != (uint8_t)opt->options.kind ||
        get_u32(&state) != opt->dims || get_u32(&state) != opt->vectors)
        return ERR_FORMAT;
    get_head(&state, &loaded);
    if (!counters_fit(&loaded))
        return ERR_FORMAT;
    *opt = loaded;
    opt->known = (struct known){0};
    opt->gathered = (struct optim_gathered){0};
    for (size_t i = 0; i < count; i++)
        opt->kept[i] = get_f64(&state);
    CHECK(reader_done(&state));
    restore(opt);
    return ERR_OK;
}
