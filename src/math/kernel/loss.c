/*
 * loss.c - the losses in plain scalars: what loss.inc must agree with to the
 * bit, and shares only the constants of poly.h with.
 */
#include "math/kernel/loss.h"

#include <math.h>

#include "base/check.h"
#include "math/kernel/poly_ref.h"

static double ref_log1p(double e)
{
    const double s = e / (e + 2.0);
    const double h = s * s;
    const double u = h * h;
    const double q = ref_horner(poly_log_even, POLY_LOG, u) +
                     h * ref_horner(poly_log_odd, POLY_LOG, u);

    return e - s * (e - (h * q) * 2.0);
}

static struct loss_slope logistic(double z, double y, double parameter)
{
    const double m = y * z;
    const double e = ref_exp(-fabs(m));
    const double d = e + 1.0;
    const double t = (m < 0.0 ? 1.0 : e) / d;
    const double loss = ref_log1p(e) + (m < 0.0 ? -m : 0.0);

    (void)parameter;
    if (y == 0.0)
        return (struct loss_slope){-y * t, 0.0, 0.0};
    return (struct loss_slope){-y * t, (e / d) / d, loss};
}

static struct loss_slope squared(double z, double y, double parameter)
{
    const double d = z - y;

    (void)parameter;
    return (struct loss_slope){d * 2.0, 2.0, d * d};
}

static struct loss_slope squared_hinge(double z, double y, double parameter)
{
    const double m = 1.0 - y * z;

    (void)parameter;
    if (!(m > 0.0))
        return (struct loss_slope){0.0, 0.0, 0.0};
    return (struct loss_slope){(y * -2.0) * m, (y * 2.0) * y,
                               y == 0.0 ? 0.0 : m * m};
}

static struct loss_slope hinge(double z, double y, double parameter)
{
    const double m = 1.0 - y * z;

    (void)parameter;
    if (!(m > 0.0))
        return (struct loss_slope){0.0, 0.0, 0.0};
    return (struct loss_slope){-y, 0.0, y == 0.0 ? 0.0 : m};
}

static struct loss_slope hinge_soft(double z, double y, double inverse)
{
    const double m = 1.0 - y * z;
    const double share = m * inverse;

    if (!(m > 0.0))
        return (struct loss_slope){0.0, 0.0, 0.0};
    if (share <= 1.0)
        return (struct loss_slope){-y * share, (y * inverse) * y,
                                   y == 0.0 ? 0.0 : m * (share * 0.5)};
    return (struct loss_slope){-y, 0.0, y == 0.0 ? 0.0 : m - 0.5 / inverse};
}

#define LOSS_FUNCTION(NAME, name, sample) [LOSS_##NAME] = (name),
static struct loss_slope (*const functions[LOSSES])(double z, double y,
                                                    double parameter) = {
    LOSS_LIST(LOSS_FUNCTION)};

#define LOSS_SAMPLE(NAME, name, sample) {LOSS_##NAME, (sample)},
const struct loss loss_samples[LOSSES] = {LOSS_LIST(LOSS_SAMPLE)};

struct loss_slope loss_at(struct loss loss, double z, double y)
{
    struct loss_slope at;

    CHECK((unsigned)loss.kind < LOSSES);
    if (!isfinite(z))
        return (struct loss_slope){(double)NAN, (double)NAN, (double)NAN};
    at = functions[loss.kind](z, y, loss.parameter);
    return (struct loss_slope){at.r + 0.0, at.h + 0.0, at.loss + 0.0};
}
