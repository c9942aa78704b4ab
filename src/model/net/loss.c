/*
 * loss.c - softmax cross-entropy and squared error of one sample.
 */
#include "model/net/loss.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "math/kernel/poly_ref.h"
#include "model/net/bugs.h"

double loss_softmax(const float *z, size_t classes, uint32_t label,
                    float *gradient)
{
    double largest = (double)z[0], sum = 0;

    for (size_t k = 1; k < classes; k++)
        largest = (double)z[k] > largest ? (double)z[k] : largest;
    /* The sum first: its terms are computed again rather than kept, because a
     * float would round them. */
    for (size_t k = 0; k < classes; k++)
        sum += ref_exp((double)z[k] - largest);
    for (size_t k = 0; k < classes; k++)
        gradient[k] =
            (float)(ref_exp((double)z[k] - largest) / sum -
                    (k == label && !NEURAL_BUG(NEURAL_BUG_SOFTMAX) ? 1 : 0));
    return ref_log(sum) - ((double)z[label] - largest);
}

double loss_squared(const float *z, size_t count, const float *target,
                    float *gradient)
{
    double sum = 0;

    for (size_t k = 0; k < count; k++) {
        const double distance = (double)z[k] - (double)target[k];

        gradient[k] = (float)distance;
        sum += distance * distance;
    }
    return sum / 2;
}

double loss_weigh(double loss, float weight, size_t count, float *gradient)
{
    bool finite = true;

    if (weight == 0) {
        memset(gradient, 0, count * sizeof *gradient);
        return 0;
    }
    for (size_t k = 0; k < count; k++) {
        gradient[k] *= weight;
        finite &= isfinite(gradient[k]) != 0;
    }
    return finite ? loss * (double)weight : HUGE_VAL;
}
