/*
 * fit.c - maximum likelihood for the laws of the delay grammar, regression on
 * the work, rank correlation between steps; what fits best is written as a line
 * of that grammar.
 */
#include "plan/fit.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "base/mem.h"

#define SAMPLE_MIN     8u
#define CORRELATED     .2 /* From step to step: not independent. */
#define PERSISTENT     .5 /* ... and still after LAG_LONG steps. */
#define LAG_LONG       50u
#define CLUSTER_SPREAD .1 /* Of the gap: two values, not two humps. */
#define WEIBULL_STEPS  60
#define TINY           1e-12
#define BOTH_SIDES_MIN .002 /* Share of the lesser of two clusters. */

const char *law_name(enum delay_kind kind)
{
    static const char *const names[] = {
        [DELAY_REFERENCE] = "reference", [DELAY_EXP] = "exp",
        [DELAY_SHIFTED] = "shifted",     [DELAY_PARETO] = "pareto",
        [DELAY_LOGNORMAL] = "lognormal", [DELAY_WEIBULL] = "weibull",
        [DELAY_BIMODAL] = "bimodal",     [DELAY_WORKER] = "worker",
        [DELAY_DEAD] = "dead",           [DELAY_TRACE] = "trace"};

    return names[kind];
}

static int ascending(const void *a, const void *b)
{
    const double *one = a;
    const double *two = b;

    return (*one > *two) - (*one < *two);
}

/* --- families ------------------------------------------------------------ */

struct moments {
    const double *x; /* Sorted. */
    double count, mean, least, log_mean, log_square;
};

static struct moments moments_of(const double *x, size_t count)
{
    struct moments made = {.x = x, .count = (double)count, .least = x[0]};

    for (size_t i = 0; i < count; i++)
        made.mean += x[i] / (double)count;
    for (size_t i = 0; i < count && x[0] > 0; i++)
        made.log_mean += log(x[i]) / (double)count;
    for (size_t i = 0; i < count && x[0] > 0; i++) {
        const double off = log(x[i]) - made.log_mean;

        made.log_square += off * off / (double)count;
    }
    return made;
}

/* A candidate law and its log-likelihood less one per parameter. */
struct trial {
    struct law law;
    double worth;
};

static struct trial try_exp(const struct moments *m)
{
    return (struct trial){{DELAY_EXP, m->mean, 0},
                          -m->count * (log(fmax(m->mean, TINY)) + 1) - 1};
}

static struct trial try_shifted(const struct moments *m)
{
    const double mean =
        fmax((m->mean - m->least) * m->count / (m->count - 1), TINY);

    return (struct trial){{DELAY_SHIFTED, m->least, mean},
                          -m->count * (log(mean) + 1) - 2};
}

static struct trial try_pareto(const struct moments *m)
{
    const double rate = fmax(m->log_mean - log(m->least), TINY);

    return (struct trial){{DELAY_PARETO, m->least, 1 / rate},
                          -m->count * (log(rate) + m->log_mean + 1) - 2};
}

static struct trial try_lognormal(const struct moments *m)
{
    const double sigma = fmax(sqrt(m->log_square), TINY);

    return (struct trial){
        {DELAY_LOGNORMAL, exp(m->log_mean), sigma},
        -m->count * (log(sigma) + m->log_mean + .5 * log(2 * acos(-1)) + .5) -
            2};
}

/* Of the shape: mean of x^k log x over mean of x^k, less 1/k and the mean of
 * the logs; it rises with k and its root is the likelihood's peak. */
static double weibull_slope(const struct moments *m, double shape,
                            double *power_mean)
{
    double power = 0;
    double weighted = 0;

    for (size_t i = 0; i < (size_t)m->count; i++) {
        const double raised = pow(m->x[i], shape);

        power += raised;
        weighted += raised * log(m->x[i]);
    }
    *power_mean = power / m->count;
    return weighted / power - 1 / shape - m->log_mean;
}

static struct trial try_weibull(const struct moments *m)
{
    double low = .02;
    double high = 50;
    double power_mean = 1;
    double scale;

    for (int i = 0; i < WEIBULL_STEPS; i++) {
        const double middle = sqrt(low * high);

        if (weibull_slope(m, middle, &power_mean) > 0)
            high = middle;
        else
            low = middle;
    }
    (void)weibull_slope(m, low, &power_mean);
    scale = pow(power_mean, 1 / low);
    return (struct trial){
        {DELAY_WEIBULL, scale, low},
        m->count * (log(low) - low * log(scale) + (low - 1) * m->log_mean - 1) -
            2};
}

/* Two values and nothing between: cut at the widest gap.  For a law of delays
 * the lesser value is taken for none. */
static bool try_bimodal(const double *x, size_t count, struct law *law)
{
    size_t cut = 1;
    double low = 0;
    double high = 0;
    double spread = 0;
    double gap;

    for (size_t i = 1; i < count; i++) {
        if (x[i] - x[i - 1] > x[cut] - x[cut - 1])
            cut = i;
    }
    for (size_t i = 0; i < count; i++)
        *(i < cut ? &low : &high) +=
            x[i] / (double)(i < cut ? cut : count - cut);
    gap = high - low;
    for (size_t i = 0; i < count; i++)
        spread = fmax(spread, fabs(x[i] - (i < cut ? low : high)));
    if (gap <= 0 || spread > CLUSTER_SPREAD * gap ||
        (double)(count - cut) < BOTH_SIDES_MIN * (double)count ||
        low > CLUSTER_SPREAD * high)
        return false;
    *law = (struct law){DELAY_BIMODAL, (double)(count - cut) / (double)count,
                        1 + high};
    return true;
}

struct law fit_law(double *sample, size_t count)
{
    struct moments m;
    struct trial trials[5];
    uint32_t used = 0;
    uint32_t best = 0;
    struct law law;

    CHECK(count >= 2);
    qsort(sample, count, sizeof *sample, ascending);
    if (try_bimodal(sample, count, &law))
        return law;
    m = moments_of(sample, count);
    trials[used++] = try_exp(&m);
    trials[used++] = try_shifted(&m);
    if (m.least > 0) {
        trials[used++] = try_pareto(&m);
        trials[used++] = try_lognormal(&m);
        trials[used++] = try_weibull(&m);
    }
    for (uint32_t i = 1; i < used; i++) {
        if (trials[i].worth > trials[best].worth)
            best = i;
    }
    return trials[best].law;
}

double fit_distance(const struct law *law, const double *sorted, size_t count)
{
    /* The law of a bimodal delay is 0 or b - 1; law_cdf's time is 1 or b. */
    const double shift = law->kind == DELAY_BIMODAL ? 1 : 0;
    double worst = 0;

    for (size_t i = 0; i < count; i++) {
        const double f = law_cdf(law, sorted[i] + shift);
        const double below = (double)i / (double)count;
        const double above = (double)(i + 1) / (double)count;

        if (i + 1 < count && sorted[i + 1] == sorted[i])
            continue; /* The step of equal values is at the last of them. */
        if (law->kind != DELAY_BIMODAL)
            worst = fmax(worst, fabs(f - below));
        worst = fmax(worst, fabs(f - above));
    }
    return worst;
}

/* --- from step to step --------------------------------------------------- */

struct ranked {
    double value;
    size_t at;
};

static int by_value(const void *a, const void *b)
{
    return ascending(&((const struct ranked *)a)->value,
                     &((const struct ranked *)b)->value);
}

/* Values to their ranks in 0..1, equal ones sharing the mean: heavy tails must
 * not decide what is correlated. */
static enum err to_ranks(double *value, size_t count)
{
    struct ranked *list = mem_new(count, sizeof *list);

    if (list == NULL)
        return ERR_NOMEM;
    for (size_t i = 0; i < count; i++)
        list[i] = (struct ranked){value[i], i};
    qsort(list, count, sizeof *list, by_value);
    for (size_t i = 0; i < count;) {
        size_t end = i + 1;

        while (end < count && list[end].value == list[i].value)
            end++;
        for (size_t j = i; j < end; j++)
            value[list[j].at] = (double)(i + end) / 2 / (double)count;
        i = end;
    }
    mem_free(list);
    return ERR_OK;
}

static double lagged(const double *rank, uint32_t rows, uint32_t cols,
                     uint32_t lag)
{
    double cross = 0;
    double square = 0;
    size_t pairs = 0;

    for (uint32_t t = 0; t + lag < rows; t++) {
        for (uint32_t i = 0; i < cols; i++) {
            const double a = rank[(size_t)t * cols + i] - .5;
            const double b = rank[(size_t)(t + lag) * cols + i] - .5;

            cross += a * b;
            square += (a * a + b * b) / 2;
            pairs++;
        }
    }
    return pairs > 0 && square > 0 ? cross / square : 0;
}

static enum err fit_memory(const struct delay_trace *trace,
                           struct delay_fit *fit)
{
    const size_t count = (size_t)trace->rows * trace->cols;
    const uint32_t far =
        trace->rows / 2 < LAG_LONG ? trace->rows / 2 : LAG_LONG;
    double *rank = mem_new(count, sizeof *rank);
    enum err err = ERR_NOMEM;

    if (rank != NULL) {
        memcpy(rank, trace->value, count * sizeof *rank);
        err = to_ranks(rank, count);
    }
    if (err == ERR_OK) {
        fit->correlation = lagged(rank, trace->rows, trace->cols, 1);
        fit->persistent =
            fit->correlation > PERSISTENT && far > 1 &&
            lagged(rank, trace->rows, trace->cols, far) > PERSISTENT;
        fit->bursty = fit->correlation > CORRELATED && !fit->persistent;
    }
    mem_free(rank);
    return err;
}

/* --- with the work ------------------------------------------------------- */

/* Delay = intercept + slope * work over the rows; scale if the slope explains
 * more than half of the mean delay. */
static void fit_unit(const struct delay_trace *trace, struct delay_fit *fit)
{
    double work = 0;
    double delay = 0;
    double cross = 0;
    double square = 0;
    uint32_t used = 0;

    for (int pass = 0; pass < 2; pass++) {
        for (uint32_t t = 0; t < trace->rows; t++) {
            const double *row = trace->value + (size_t)t * trace->cols;

            for (uint32_t i = 0; i < trace->cols; i++) {
                if (row[i] >= DELAY_NEVER_S)
                    continue;
                if (pass == 0) {
                    work += trace->work_s[t];
                    delay += row[i];
                    used++;
                } else {
                    cross += (trace->work_s[t] - work) * (row[i] - delay);
                    square +=
                        (trace->work_s[t] - work) * (trace->work_s[t] - work);
                }
            }
        }
        if (pass == 0 && used > 0) {
            work /= used;
            delay /= used;
        }
    }
    fit->loads_vary = work > 0 && square > 1e-6 * work * work * used;
    fit->scale =
        fit->loads_vary && delay > 0 && cross / square * work > delay / 2;
}

/* --- all of it ----------------------------------------------------------- */

/* What the law is of: every finite delay, or every worker's mean. */
static size_t gather(const struct delay_trace *trace,
                     const struct delay_fit *fit, double *sample)
{
    size_t used = 0;

    for (uint32_t i = 0; i < trace->cols; i++) {
        double sum = 0;
        uint32_t seen = 0;

        for (uint32_t t = 0; t < trace->rows; t++) {
            double value = trace->value[(size_t)t * trace->cols + i];

            if (value >= DELAY_NEVER_S)
                continue;
            if (fit->scale)
                value /= trace->work_s[t];
            sum += value;
            seen++;
            if (!fit->persistent)
                sample[used++] = value;
        }
        if (fit->persistent && seen > 0)
            sample[used++] = sum / seen;
    }
    return used;
}

static void count_dead(const struct delay_trace *trace, struct delay_fit *fit)
{
    const size_t count = (size_t)trace->rows * trace->cols;
    size_t dead = 0;

    for (size_t i = 0; i < count; i++)
        dead += trace->value[i] >= DELAY_NEVER_S;
    fit->dead = (double)dead / (double)count;
}

/* Chances of going from fast to slow and back, from the trace itself. */
static void count_bursts(const struct delay_trace *trace, double cut,
                         struct delay_fit *fit)
{
    double from[2] = {0, 0};
    double to_other[2] = {0, 0};

    for (uint32_t t = 0; t + 1 < trace->rows; t++) {
        for (uint32_t i = 0; i < trace->cols; i++) {
            const double *at = &trace->value[(size_t)t * trace->cols + i];
            const int slow = at[0] > cut;

            from[slow]++;
            to_other[slow] += (at[trace->cols] > cut) != slow;
        }
    }
    fit->enter = from[0] > 0 ? to_other[0] / from[0] : 0;
    fit->leave = from[1] > 0 ? to_other[1] / from[1] : 0;
}

static double mean_work(const struct delay_trace *trace)
{
    double sum = 0;

    for (uint32_t t = 0; t < trace->rows; t++)
        sum += trace->work_s[t] / trace->rows;
    return sum;
}

/* A bimodal law of seconds becomes one of factors, which the grammar has; it
 * needs to know the work. */
static void bimodal_factor(const struct delay_trace *trace,
                           struct delay_fit *fit)
{
    const double slow = fit->law.b - 1;
    const double work = mean_work(trace);

    if (fit->bursty)
        count_bursts(trace, (fit->scale ? work : 1) * slow / 2, fit);
    if (!fit->scale && work > 0) {
        fit->law.b = 1 + slow / work;
        fit->scale = true;
    }
}

static void write_text(struct delay_fit *fit)
{
    const struct law *law = &fit->law;
    const bool burst = law->kind == DELAY_BIMODAL && fit->bursty &&
                       fit->enter > 0 && fit->leave > 0;
    size_t used;

    if (law->kind == DELAY_EXP)
        used =
            (size_t)snprintf(fit->text, sizeof fit->text, "exp:%.4g", law->a);
    else
        used =
            (size_t)snprintf(fit->text, sizeof fit->text, "%s:%.4g,%.4g",
                             law_name(law->kind), burst ? 1 : law->a, law->b);
    if (fit->scale && law->kind != DELAY_BIMODAL)
        used += (size_t)snprintf(fit->text + used, sizeof fit->text - used,
                                 "/scale");
    if (fit->persistent)
        used += (size_t)snprintf(fit->text + used, sizeof fit->text - used,
                                 "/persistent");
    if (burst)
        used += (size_t)snprintf(fit->text + used, sizeof fit->text - used,
                                 "/burst:%.4g,%.4g", fit->enter, fit->leave);
    if (fit->dead > 0)
        (void)snprintf(fit->text + used, sizeof fit->text - used, "+dead:%.4g",
                       fit->dead);
}

enum err fit_trace(const struct delay_trace *trace, struct delay_fit *fit,
                   struct why *why)
{
    const size_t count = (size_t)trace->rows * trace->cols;
    double *sample = mem_new(count, sizeof *sample);
    struct delay_fit made = {0};
    size_t used = 0;
    enum err err = sample == NULL ? ERR_NOMEM : fit_memory(trace, &made);

    if (err == ERR_OK) {
        fit_unit(trace, &made);
        count_dead(trace, &made);
        used = gather(trace, &made, sample);
    }
    if (err == ERR_OK && used < SAMPLE_MIN)
        err = why_set(why, ERR_SHAPE,
                      "only %zu %s to fit; at least %u are needed", used,
                      made.persistent ? "workers, each with a pace of its own,"
                                      : "delays",
                      SAMPLE_MIN);
    if (err == ERR_OK) {
        made.law = fit_law(sample, used);
        made.ks = fit_distance(&made.law, sample, used);
        if (made.law.kind == DELAY_BIMODAL)
            bimodal_factor(trace, &made);
        write_text(&made);
        *fit = made;
    }
    if (err == ERR_NOMEM)
        (void)why_set(why, err, "%s", err_text(err));
    mem_free(sample);
    return err;
}
