/*
 * options.c - an optimiser's options as bytes, for a machine that brings
 * neither data nor options: field by field, every number by its bits.
 *
 * What they point to is not among them: weights to begin with go by
 * themselves, columns and averages are not for who joins.  A reader takes what
 * a writer can have written; whether the numbers go together, optim_init says.
 */
#include "optim/optim.h"

_Static_assert(sizeof(struct optim_options) == 304,
               "another field is another line below, and in the test");

static void put_sampler(struct writer *out, const struct sampler *sampler)
{
    put_u8(out, (uint8_t)sampler->kind);
    put_u32(out, sampler->rows);
    put_u32(out, sampler->chunk_rows);
    put_u32(out, sampler->batch);
    put_u64(out, sampler->seed);
}

/* Of SAMPLER_WHOLE only the kind counts. */
static void get_sampler(struct reader *in, struct sampler *sampler)
{
    const uint8_t kind = get_u8(in);

    sampler->kind = kind < SAMPLERS ? (enum sampler_kind)kind : SAMPLER_WHOLE;
    sampler->rows = get_u32(in);
    sampler->chunk_rows = get_u32(in);
    sampler->batch = get_u32(in);
    sampler->seed = get_u64(in);
    in->ok = in->ok && kind < SAMPLERS &&
             (kind == SAMPLER_WHOLE || sampler_fits(sampler));
}

static bool get_flag(struct reader *in)
{
    const uint8_t flag = get_u8(in);

    in->ok = in->ok && flag <= 1;
    return flag == 1;
}

void optim_options_put(struct writer *out, const struct optim_options *o)
{
    put_u8(out, (uint8_t)o->kind);
    put_u8(out, (uint8_t)o->schedule);
    put_f64(out, o->rate);
    put_f64(out, o->decay);
    put_f64(out, o->clip);
    put_u32(out, o->decay_every);
    put_u32(out, o->warmup);
    put_f64(out, o->l2);
    put_f64(out, o->tol);
    put_f64(out, o->gap);
    put_f64(out, o->optimum);
    put_f64(out, o->accuracy);
    put_f64(out, o->momentum);
    put_f64(out, o->beta1);
    put_f64(out, o->beta2);
    put_f64(out, o->epsilon);
    put_u64(out, o->rows);
    put_sampler(out, &o->sampler);
    put_u32(out, o->steps);
    put_u8(out, o->held_out);
    put_u32(out, o->patience);
    put_u32(out, o->l2_free);
    put_u32(out, o->l2_stride);
    put_u32(out, o->memory);
    put_u32(out, o->dense_max);
    put_u32(out, o->cg_max);
    put_u8(out, o->diagonal);
    put_u8(out, o->line);
    put_u8(out, o->kinks);
    put_u32(out, o->weight_bits);
    put_u64(out, o->seed);
}

void optim_options_get(struct reader *in, struct optim_options *o)
{
    const uint8_t kind = get_u8(in), schedule = get_u8(in);

    *o = (struct optim_options){0};
    in->ok = in->ok && kind <= OPTIM_ADAMW && kind != OPTIM_SGD &&
             kind != OPTIM_AVERAGE && schedule < SCHEDULES;
    if (!in->ok)
        return;
    o->kind = (enum optim_kind)kind;
    o->schedule = (enum optim_schedule)schedule;
    o->rate = get_f64(in);
    o->decay = get_f64(in);
    o->clip = get_f64(in);
    o->decay_every = get_u32(in);
    o->warmup = get_u32(in);
    o->l2 = get_f64(in);
    o->tol = get_f64(in);
    o->gap = get_f64(in);
    o->optimum = get_f64(in);
    o->accuracy = get_f64(in);
    o->momentum = get_f64(in);
    o->beta1 = get_f64(in);
    o->beta2 = get_f64(in);
    o->epsilon = get_f64(in);
    o->rows = get_u64(in);
    get_sampler(in, &o->sampler);
    o->steps = get_u32(in);
    o->held_out = get_flag(in);
    o->patience = get_u32(in);
    o->l2_free = get_u32(in);
    o->l2_stride = get_u32(in);
    o->memory = get_u32(in);
    o->dense_max = get_u32(in);
    o->cg_max = get_u32(in);
    o->diagonal = get_flag(in);
    o->line = get_flag(in);
    o->kinks = get_flag(in);
    o->weight_bits = get_u32(in);
    o->seed = get_u64(in);
}
