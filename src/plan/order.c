/*
 * order.c - order statistics of workers' times.
 *
 * For an iid sample the share u = F(t) of times that have passed by t is all
 * that matters: the quorum is content at u with chance Phi(u), so that
 *     E = integral over 0 < u < 1 of Q(u) dPhi(u),    Q the quantile function,
 * and for a sample x(1) <= .. <= x(N)
 *     E = sum over i of x(i) (Phi(i/N) - Phi((i-1)/N)).
 */
#include "plan/order.h"

#include <math.h>

#include "base/check.h"
#include "plan/special.h"

/* Tanh-sinh quadrature: u = 1 / (1 + exp(-2 s)), s = pi/2 sinh t.  Its nodes
 * crowd at both ends, where quantile functions have their singularities. */
#define NODE_STEP (1.0 / 64)
#define NODES     384 /* On either side, up to t = 6. */
#define PI_HALF   1.57079632679489661923

/* --- laws ---------------------------------------------------------------- */

double law_quantile(const struct law *law, double u, double v)
{
    const double unit = -log(v); /* Quantile of Exp(1). */

    switch (law->kind) {
    case DELAY_REFERENCE:
    case DELAY_EXP:
        return law->a * unit;
    case DELAY_SHIFTED:
        return law->a + law->b * unit;
    case DELAY_PARETO:
        return law->a * exp(unit / law->b);
    case DELAY_LOGNORMAL:
        return law->a * exp(law->b * (u < 0.5 ? normal_quantile(u)
                                              : -normal_quantile(v)));
    case DELAY_WEIBULL:
        return law->a * pow(unit, 1 / law->b);
    case DELAY_BIMODAL:
        return v <= law->a ? law->b : 1;
    case DELAY_WORKER:
    case DELAY_DEAD:
    case DELAY_TRACE:
        break;
    }
    return (double)NAN;
}

double law_cdf(const struct law *law, double x)
{
    switch (law->kind) {
    case DELAY_REFERENCE:
    case DELAY_EXP:
        return x <= 0 ? 0 : -expm1(-x / law->a);
    case DELAY_SHIFTED:
        return x <= law->a ? 0 : -expm1(-(x - law->a) / law->b);
    case DELAY_PARETO:
        return x <= law->a ? 0 : -expm1(law->b * log(law->a / x));
    case DELAY_LOGNORMAL:
        return x <= 0 ? 0 : normal_cdf(log(x / law->a) / law->b);
    case DELAY_WEIBULL:
        return x <= 0 ? 0 : -expm1(-pow(x / law->a, law->b));
    case DELAY_BIMODAL:
        return x < 1 ? 0 : x < law->b ? 1 - law->a : 1;
    case DELAY_WORKER:
    case DELAY_DEAD:
    case DELAY_TRACE:
        break;
    }
    return (double)NAN;
}

/* --- rules --------------------------------------------------------------- */

double quorum_cdf(const struct quorum *quorum, double u)
{
    const double group = quorum->d == 1 ? u : 1 - pow(1 - u, quorum->d);

    return beta_cdf(group, quorum->k, quorum->groups - quorum->k + 1.0);
}

/* d Phi / d u. */
static double quorum_density(const struct quorum *quorum, double u, double v)
{
    const double d = quorum->d;
    const double missing = pow(v, d);
    const double group = quorum->d == 1 ? u : -expm1(d * log(v));

    if (group <= 0 || missing <= 0)
        return 0;
    return beta_density(group, missing, quorum->k,
                        quorum->groups - quorum->k + 1.0) *
           d * pow(v, d - 1);
}

/* --- closed forms -------------------------------------------------------- */

static double closed_exponential(double mean, const struct quorum *quorum)
{
    return mean / quorum->d *
           (harmonic(quorum->groups) - harmonic(quorum->groups - quorum->k));
}

/* The first of d Pareto(x_m, alpha) is Pareto(x_m, d alpha). */
static double closed_pareto(const struct law *law, const struct quorum *quorum)
{
    const double n = quorum->groups;
    const double k = quorum->k;
    const double power = 1 / (law->b * quorum->d);

    if (n - k + 1 <= power)
        return HUGE_VAL;
    return law->a * exp(lgamma(n + 1) + lgamma(n - k + 1 - power) -
                        lgamma(n - k + 1) - lgamma(n + 1 - power));
}

/* Slow unless at most groups - k of the groups are slow throughout. */
static double closed_bimodal(const struct law *law, const struct quorum *quorum)
{
    const double slow = pow(law->a, quorum->d);

    return 1 + (law->b - 1) *
                   beta_cdf(slow, quorum->groups - quorum->k + 1.0, quorum->k);
}

double order_closed(const struct law *law, const struct quorum *quorum)
{
    CHECK(quorum->k >= 1);
    CHECK(quorum->k <= quorum->groups);
    if (law->kind == DELAY_EXP || law->kind == DELAY_REFERENCE)
        return closed_exponential(law->a, quorum);
    if (law->kind == DELAY_SHIFTED)
        return law->a + closed_exponential(law->b, quorum);
    if (law->kind == DELAY_PARETO)
        return closed_pareto(law, quorum);
    if (law->kind == DELAY_BIMODAL)
        return closed_bimodal(law, quorum);
    return (double)NAN;
}

/* --- quadrature and samples ---------------------------------------------- */

double order_quadrature(const struct law *law, const struct quorum *quorum)
{
    double sum = 0;

    CHECK(quorum->k >= 1);
    CHECK(quorum->k <= quorum->groups);
    for (int i = -NODES; i <= NODES; i++) {
        const double t = i * NODE_STEP;
        const double s = PI_HALF * sinh(t);
        const double u = 1 / (1 + exp(-2 * s));
        const double v = 1 / (1 + exp(2 * s));
        /* du = 2 u v ds, ds = pi/2 cosh t dt. */
        const double weight = 2 * u * v * PI_HALF * cosh(t);
        const double density = weight > 0 ? quorum_density(quorum, u, v) : 0;

        if (density > 0)
            sum += weight * density * law_quantile(law, u, v);
    }
    return sum * NODE_STEP;
}

double order_sample(const double *sorted, size_t count,
                    const struct quorum *quorum)
{
    double before = 0;
    double sum = 0;

    CHECK(count > 0);
    for (size_t i = 0; i < count; i++) {
        const double now = quorum_cdf(quorum, (double)(i + 1) / (double)count);

        sum += sorted[i] * (now - before);
        before = now;
    }
    return sum;
}
