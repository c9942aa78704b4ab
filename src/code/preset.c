/*
 * preset.c - the table of presets: the only file that knows their names.
 *
 * frc and rep after Tandon et al., "Gradient Coding", ICML 2017, cyclic too;
 * ignore is k-sync SGD of Dutta et al., "Slow and stale gradients can win the
 * race", AISTATS 2018; agc is ErasureHead, Wang et al., 2019; steal asks for
 * redundant work only when it is needed.
 */
#include "code/preset.h"

#include <stdio.h>
#include <string.h>

#include "base/check.h"
#include "code/axes.h"

static const struct preset presets[] = {
    {"uncoded", NULL, "every worker its own part; waits for all of them",
     PLACE_ONCE, SCHED_ALL, STOP_ALL, ESTIMATE_EXACT, false},
    {"ignore", "ksync", "own parts; ends without the S slowest (approximate)",
     PLACE_ONCE, SCHED_ALL, STOP_FIRST, ESTIMATE_RATIO, false},
    {"frc", NULL, "groups of S+1 do the same work; the first of each counts",
     PLACE_REP, SCHED_ALL, STOP_COVER, ESTIMATE_EXACT, true},
    {"rep", NULL, "frc for any number of workers", PLACE_REP, SCHED_ALL,
     STOP_COVER, ESTIMATE_EXACT, false},
    {"cyclic", NULL, "S+1 coded parts each; any N-S answers decode (numeric)",
     PLACE_CYCLIC, SCHED_ALL, STOP_FIRST, ESTIMATE_EXACT, false},
    {"agc", "erasurehead", "rep, ended after K workers (approximate)",
     PLACE_REP, SCHED_ALL, STOP_COLLECT, ESTIMATE_REFERENCE, false},
    {"steal", NULL, "rep storage; own part first, then help the slow",
     PLACE_REP, SCHED_STEAL, STOP_COVER, ESTIMATE_EXACT, false},
};

#define PRESETS (sizeof presets / sizeof *presets)

const struct preset *preset_list(uint32_t *count)
{
    *count = (uint32_t)PRESETS;
    return presets;
}

static const struct preset *find(const char *name)
{
    for (size_t i = 0; i < PRESETS; i++) {
        const struct preset *preset = &presets[i];

        if (strcmp(name, preset->name) == 0 ||
            (preset->alias != NULL && strcmp(name, preset->alias) == 0))
            return preset;
    }
    return NULL;
}

static enum err unknown(const char *name, struct why *why)
{
    char names[256] = "";
    size_t used = 0;

    for (size_t i = 0; i < PRESETS; i++) {
        const char *alias = presets[i].alias;
        const int wrote = snprintf(
            names + used, sizeof names - used, "%s%s%s%s%s", i == 0 ? "" : ", ",
            presets[i].name, alias == NULL ? "" : " (",
            alias == NULL ? "" : alias, alias == NULL ? "" : ")");

        CHECK(wrote > 0);
        used += (size_t)wrote;
        CHECK(used < sizeof names);
    }
    return why_set(why, ERR_UNKNOWN, "no code named %.64s; there are %s", name,
                   names);
}

/* Of first:k and collect:k. */
static enum err choose_k(const struct preset_options *options,
                         struct code_spec *spec, struct why *why)
{
    const uint32_t n = options->workers;
    const uint32_t s = options->stragglers;

    if (spec->stop == STOP_FIRST) {
        if (s >= n)
            return why_set(why, ERR_SHAPE,
                           "code %s cannot lose %u of %u workers", spec->name,
                           s, n);
        spec->k = n - s;
    }
    if (spec->stop == STOP_COLLECT) {
        if (options->collect == 0)
            return why_set(why, ERR_SHAPE,
                           "code %s needs --collect K, the number of workers "
                           "to wait for, 1 to %u",
                           spec->name, n);
        spec->k = options->collect;
    }
    return ERR_OK;
}

enum err preset_spec(const struct preset_options *options,
                     struct code_spec *spec, struct why *why)
{
    const struct preset *preset = find(options->name);
    struct code_spec made = {.seed = options->seed};
    enum err err = ERR_OK;

    if (preset == NULL)
        return unknown(options->name, why);
    (void)snprintf(made.name, sizeof made.name, "%s", preset->name);
    made.placement = preset->placement;
    made.schedule = preset->schedule;
    made.stop = preset->stop;
    made.estimate = preset->estimate;
    made.divisible = preset->divisible;
    /* Who waits for everyone has no straggler to spare, whatever was asked. */
    made.stragglers = preset->stop == STOP_ALL ? 0 : options->stragglers;
    if (options->estimate != NULL)
        err = estimate_find(options->estimate, &made.estimate, why);
    if (err == ERR_OK)
        err = choose_k(options, &made, why);
    if (err == ERR_OK)
        *spec = made;
    return err;
}
