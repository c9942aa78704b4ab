/*
 * report_cost.c - worker-hours of a run and their price.
 *
 * A worker is paid for while it is there, whether it computes, waits or was
 * called off: from the first broadcast to the last commit, less the steps in
 * which it was away.  Where steps were thinned (cli/show/history.h), one stands
 * for those before it that were not kept.  Time between a stop and --resume is
 * not paid for, nor is the coordinator, which needs no machine of its own.
 */
#include "cli/report/report_cost.h"

#include "plan/hindsight.h"

static size_t workers_here(const json_t *step)
{
    const json_t *answered = json_object_get(step, "answered");
    size_t here = 0;

    for (size_t i = 0; i < json_array_size(answered); i++)
        here +=
            json_integer_value(json_array_get(answered, i)) != HINDSIGHT_AWAY;
    return here;
}

static double worker_hours(const json_t *steps)
{
    double seconds = 0, before = 0;

    for (size_t i = 0; i < json_array_size(steps); i++) {
        const json_t *step = json_array_get(steps, i);
        const double end = json_number_value(json_object_get(step, "t_s"));

        seconds += (end - before) * (double)workers_here(step);
        before = end;
    }
    return seconds / 3600;
}

json_t *report_cost(const json_t *data, double price)
{
    const json_t *steps = json_object_get(data, "steps");
    const json_t *uncoded =
        json_object_get(json_object_get(data, "hindsight"), "uncoded");
    const double hours = worker_hours(steps);
    json_t *cost;

    if (json_array_size(steps) == 0)
        return NULL;
    cost = json_pack("{s:f, s:f, s:f}", "price", price, "worker_hours", hours,
                     "spent", hours * price);
    if (uncoded == NULL)
        return cost;
    /* As many workers for so much longer. */
    (void)json_object_set_new(
        cost, "uncoded",
        json_real(hours * price *
                  json_number_value(json_object_get(uncoded, "ratio"))));
    (void)json_object_set_new(
        cost, "uncoded_least",
        json_real(hours * price *
                  json_number_value(json_object_get(uncoded, "least"))));
    return cost;
}
