/*
 * ages.c - the staleness of a run's answers as a mean and as JSON.
 */
#include "cli/show/ages.h"

double ages_mean(const struct ages *ages)
{
    return ages->answers == 0 ? 0 : (double)ages->sum / (double)ages->answers;
}

json_t *ages_json(const struct ages *ages)
{
    return json_pack("{s:f, s:I}", "mean", ages_mean(ages), "max",
                     (json_int_t)ages->max);
}
