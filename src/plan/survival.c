/*
 * survival.c - the Kaplan-Meier estimate and draws from it, for answers that
 * were called off before they came.
 */
#include "plan/survival.h"

#include <math.h>
#include <stdlib.h>

#include "base/check.h"
#include "base/mem.h"

#define AT_RISK 10u

/* At the same time, ends come before cuts: what was cut was longer. */
static int ascending(const void *a, const void *b)
{
    const struct survival_time *one = a;
    const struct survival_time *two = b;

    if (one->t != two->t)
        return one->t < two->t ? -1 : 1;
    return (int)one->cut - (int)two->cut;
}

/* The last few say nothing of what is beyond them: the table ends where fewer
 * than AT_RISK are left, unless there were never more. */
static void estimate(struct survival *survival,
                     const struct survival_time *times, uint32_t count)
{
    const uint32_t at_risk = count > 2 * AT_RISK ? AT_RISK : 1;
    double beyond = 1;
    double total = 0;

    for (uint32_t i = 0; i < count; i++) {
        total += times[i].t;
        if (times[i].cut)
            continue;
        survival->ends++;
        if (count - i < at_risk)
            continue;
        beyond *= 1 - 1.0 / (count - i);
        survival->t[survival->count] = times[i].t;
        survival->beyond[survival->count++] = beyond;
    }
    survival->mean = survival->ends > 0 ? total / survival->ends : 0;
}

enum err survival_init(struct survival *survival, struct survival_time *times,
                       uint32_t count)
{
    *survival = (struct survival){
        .t = mem_new(count, sizeof *survival->t),
        .beyond = mem_new(count, sizeof *survival->beyond),
    };
    if (survival->t == NULL || survival->beyond == NULL) {
        survival_close(survival);
        return ERR_NOMEM;
    }
    if (count > 0)
        qsort(times, count, sizeof *times, ascending);
    estimate(survival, times, count);
    return ERR_OK;
}

void survival_close(struct survival *survival)
{
    mem_free(survival->t);
    mem_free(survival->beyond);
    *survival = (struct survival){0};
}

/* The first end after t. */
static uint32_t after(const struct survival *survival, double t)
{
    uint32_t low = 0, high = survival->count;

    while (low < high) {
        const uint32_t middle = low + (high - low) / 2;

        if (survival->t[middle] > t)
            high = middle;
        else
            low = middle + 1;
    }
    return low;
}

double survival_draw(const struct survival *survival, double t, double u)
{
    const uint32_t first = after(survival, t);
    const double share = first == 0 ? 1 : survival->beyond[first - 1];
    const double target = share * u;
    uint32_t low = first, high = survival->count;
    double last, left;

    CHECK(survival->ends > 0 && u > 0 && u <= 1);
    /* `beyond` falls: the first end that not more than the target exceeds. */
    while (low < high) {
        const uint32_t middle = low + (high - low) / 2;

        if (survival->beyond[middle] <= target)
            high = middle;
        else
            low = middle + 1;
    }
    if (low < survival->count)
        return survival->t[low];
    last = survival->count > 0 ? survival->t[survival->count - 1] : 0;
    left = survival->count > 0 ? survival->beyond[survival->count - 1] : 1;
    /* All ends are behind us: only the exponential is left. */
    if (left <= 0 || target <= 0 || target >= left)
        return fmax(last, t) - survival->mean * log(u);
    return fmax(last, t) + survival->mean * log(left / target);
}
