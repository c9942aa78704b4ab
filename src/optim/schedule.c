/*
 * schedule.c - the learning rate, step by step.
 *
 * Additions, multiplications, divisions alone: libraries' cosines and powers
 * differ from machine to machine.
 */
#include <math.h>
#include <string.h>

#include "base/check.h"
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

static double rate_decay(const struct optim_options *o, uint32_t step)
{
    return o->rate * optim_power(o->decay, step);
}

static double rate_constant(const struct optim_options *o, uint32_t step)
{
    (void)step;
    return o->rate;
}

static double rate_inverse(const struct optim_options *o, uint32_t step)
{
    return o->rate / (1 + (double)step);
}

static double rate_step(const struct optim_options *o, uint32_t step)
{
    return o->rate * optim_power(o->decay, step / o->decay_every);
}

static double rate_cosine(const struct optim_options *o, uint32_t step)
{
    return o->rate * half_cosine(step < o->steps ? (double)step / o->steps : 1);
}

static const struct {
    const char *name;
    unsigned needs;
    double (*rate)(const struct optim_options *options, uint32_t step);
} table[] = {
#define SCHEDULE_ROW(NAME, name, needs, text) {#name, needs, rate_##name},
    SCHEDULE_LIST(SCHEDULE_ROW)
#undef SCHEDULE_ROW
};

bool optim_schedule_parse(const char *name, enum optim_schedule *schedule)
{
    for (unsigned i = 0; i < SCHEDULES; i++) {
        if (strcmp(name, table[i].name) == 0) {
            *schedule = (enum optim_schedule)i;
            return true;
        }
    }
    return false;
}

const char *optim_schedule_name(enum optim_schedule schedule)
{
    CHECK((unsigned)schedule < SCHEDULES);
    return table[schedule].name;
}

unsigned optim_schedule_needs(enum optim_schedule schedule)
{
    CHECK((unsigned)schedule < SCHEDULES);
    return table[schedule].needs;
}

double optim_rate(const struct optim *opt)
{
    const struct optim_options *o = &opt->options;
    const double rate = table[o->schedule].rate(o, opt->step);

    return opt->step < o->warmup ? rate * (((double)opt->step + 1) / o->warmup)
                                 : rate;
}

bool optim_schedule_fits(const struct optim_options *o)
{
    unsigned needs;

    if ((unsigned)o->schedule >= SCHEDULES)
        return false;
    needs = optim_schedule_needs(o->schedule);
    return ((needs & SCHEDULE_STAIRS) == 0 || o->decay_every > 0) &&
           ((needs & SCHEDULE_FACTOR) == 0 ||
            (isfinite(o->decay) && o->decay > 0));
}
