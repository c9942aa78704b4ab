/*
 * schedule.c - the learning rate, step by step.
 *
 * Additions, multiplications, divisions alone: libraries' cosines and powers
 * differ from machine to machine.
 */
#include <math.h>

#include "optim/parts.h"

double optim_power(double base, uint32_t exponent)
{
    double power = 1;
    double square = base;

    for (uint32_t i = exponent; i != 0; i >>= 1) {
        if (i & 1)
            power *= square;
        square *= square;
    }
    return power;
}

/* sin(pi/2 x)^2 for 0 <= x <= 1/2: the series of the sine to the 17th power,
 * whose next term is below 2^-62 there. */
static double sine_squared(double x)
{
    static const double inverse[] = {/* -1 / (2k (2k + 1)), k = 8 .. 1. */
                                     -1.0 / 272, -1.0 / 210, -1.0 / 156,
                                     -1.0 / 110, -1.0 / 72,  -1.0 / 42,
                                     -1.0 / 20,  -1.0 / 6};
    const double angle = 0x1.921fb54442d18p+0 * x;
    const double square = angle * angle;
    double sine = 1;

    for (size_t k = 0; k < sizeof inverse / sizeof *inverse; k++)
        sine = 1 + sine * (square * inverse[k]);
    sine *= angle;
    return sine * sine;
}

/* (1 + cos(pi x)) / 2 = 1 - sin(pi/2 x)^2, for 0 <= x <= 1. */
static double half_cosine(double x)
{
    return x <= 0.5 ? 1 - sine_squared(x) : sine_squared(1 - x);
}

static double scheduled(const struct optim_options *o, uint32_t step)
{
    switch (o->schedule) {
    case SCHEDULE_DECAY:
        return o->rate * optim_power(o->decay, step);
    case SCHEDULE_INVERSE:
        return o->rate / (1 + (double)step);
    case SCHEDULE_STEP:
        return o->rate * optim_power(o->decay, step / o->decay_every);
    case SCHEDULE_COSINE:
        return o->rate *
               half_cosine(step < o->steps ? (double)step / o->steps : 1);
    case SCHEDULE_CONSTANT:
        break;
    }
    return o->rate;
}

double optim_rate(const struct optim *opt)
{
    const struct optim_options *o = &opt->options;
    const double rate = scheduled(o, opt->step);

    return opt->step < o->warmup ? rate * (((double)opt->step + 1) / o->warmup)
                                 : rate;
}

bool optim_schedule_fits(const struct optim_options *o)
{
    if ((unsigned)o->schedule > SCHEDULE_COSINE)
        return false;
    if (o->schedule == SCHEDULE_STEP && o->decay_every == 0)
        return false;
    return (o->schedule != SCHEDULE_DECAY && o->schedule != SCHEDULE_STEP) ||
           (isfinite(o->decay) && o->decay > 0);
}
