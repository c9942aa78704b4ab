/*
 * preset.c - the table of presets, and what a name stands for.
 *
 * frc and rep after Tandon et al., "Gradient Coding", ICML 2017, cyclic too;
 * ignore is k-sync SGD of Dutta et al., "Slow and stale gradients can win the
 * race", AISTATS 2018; agc is ErasureHead, Wang et al., 2019; steal asks for
 * redundant work only when it is needed; local is parallel SGD, Zinkevich et
 * al., NIPS 2010, and Stich, ICLR 2019.  The others name their papers in their
 * placements.
 */
#include "code/preset.h"

#include <stdio.h>
#include <string.h>

#include "base/check.h"
#include "code/axes.h"
#include "math/computation.h"
#include "math/decimal.h"

#define KEY(name) (1u << KEY_##name)
/* Any code may be told when a step ends, and what stands for what is missing.
 */
#define ENDS (KEY(STOP) | KEY(ESTIMATE))

/* SCHED_ALL and ESTIMATE_EXACT where nothing else is said. */
static const struct preset presets[] = {
    {.name = "uncoded",
     .line = "every worker its own part; waits for all of them",
     .placement = PLACE_ONCE,
     .stop = STOP_ALL,
     .keys = ENDS},
    {.name = "ignore",
     .alias = "ksync",
     .line = "own parts; the S slowest are left out, or late: staleness=B",
     .placement = PLACE_ONCE,
     .stop = STOP_FIRST,
     .estimate = ESTIMATE_RATIO,
     .keys = ENDS | KEY(S) | KEY(STALENESS)},
    {.name = "frc",
     .line = "groups of S+1 do the same work; the first of each counts",
     .placement = PLACE_REP,
     .stop = STOP_COVER,
     .divisible = true,
     .keys = ENDS | KEY(S)},
    {.name = "rep",
     .line = "frc for any number of workers",
     .placement = PLACE_REP,
     .stop = STOP_COVER,
     .keys = ENDS | KEY(S)},
    {.name = "cyclic",
     .line = "S+1 coded parts each; any N-S answers decode (numeric)",
     .placement = PLACE_CYCLIC,
     .stop = STOP_FIRST,
     .keys = ENDS | KEY(S)},
    {.name = "cb",
     .line = "coded parts by speed; any N-S answers decode (numeric)",
     .placement = PLACE_CB,
     .stop = STOP_FIRST,
     .keys = ENDS | KEY(S) | KEY(SPEEDS) | PRESET_FILE},
    {.name = "partial-frc",
     .line = "own parts first, all needed; then as frc",
     .placement = PLACE_PARTIAL_FRC,
     .stop = STOP_COVER,
     .divisible = true,
     .keys = ENDS | KEY(S) | KEY(PARTS)},
    {.name = "partial-cyclic",
     .line = "own parts first, all needed; then as cyclic (numeric)",
     .placement = PLACE_PARTIAL_CYCLIC,
     .stop = STOP_FIRST,
     .keys = ENDS | KEY(S) | KEY(PARTS)},
    {.name = "matrix",
     .line = "matrix:FILE, your own encoding; least squares (numeric)",
     .placement = PLACE_MATRIX,
     .stop = STOP_FIRST,
     .keys = ENDS | KEY(S) | KEY(DECODE) | PRESET_FILE},
    {.name = "mds",
     .line = "coded data of linear models; any N-S answers do (numeric)",
     .placement = PLACE_MDS,
     .stop = STOP_FIRST,
     .keys = ENDS | KEY(S) | KEY(K)},
    {.name = "cec",
     .alias = "elastic",
     .line = "coded data; any L of P machines, who come and go (numeric)",
     .placement = PLACE_CEC,
     .stop = STOP_FIRST,
     .keys = KEY(L) | KEY(P) | KEY(COPIES) | KEY(RULE) | KEY(PIECES)},
    {.name = "agc",
     .alias = "erasurehead",
     .line = "rep, ended after K workers (approximate)",
     .placement = PLACE_REP,
     .stop = STOP_COLLECT,
     .estimate = ESTIMATE_REFERENCE,
     .keys = ENDS | KEY(S) | KEY(COLLECT)},
    {.name = "sgc",
     .line = "S+1 copies, no decoding; right on average (approximate)",
     .placement = PLACE_SGC,
     .stop = STOP_FIRST,
     .estimate = ESTIMATE_UNBIASED,
     .keys = ENDS | KEY(S) | KEY(REPLICAS)},
    {.name = "flexent",
     .line = "SHADOWS compute samples that stand for late parts (approximate)",
     .placement = PLACE_SHADOW,
     .stop = STOP_SHADOW,
     .estimate = ESTIMATE_SHRINK,
     .keys = KEY(S) | KEY(ESTIMATE) | KEY(SHADOWS) | KEY(SIZE) | KEY(SAMPLER) |
             KEY(FILTERS)},
    {.name = "local",
     .line = "H steps on own rows, then the weights are averaged",
     .placement = PLACE_LOCAL,
     .stop = STOP_ALL,
     .estimate = ESTIMATE_RATIO,
     .keys = ENDS | KEY(H)},
    {.name = "stream",
     .line = "S+1 parts each, own first; every part sent when done",
     .placement = PLACE_SHIFT,
     .schedule = SCHED_STREAM,
     .stop = STOP_COVER,
     .keys = ENDS | KEY(S) | KEY(PIECES)},
    {.name = "steal",
     .line = "rep storage; own part first, then help the slow",
     .placement = PLACE_REP,
     .schedule = SCHED_STEAL,
     .stop = STOP_COVER,
     .keys = ENDS | KEY(S) | KEY(PIECES)},
};

#define PRESETS (sizeof presets / sizeof *presets)

const struct preset *preset_list(uint32_t *count)
{
    *count = (uint32_t)PRESETS;
    return presets;
}

static bool same(const char *name, size_t length, const char *known)
{
    return known != NULL && strlen(known) == length &&
           strncmp(name, known, length) == 0;
}

const struct preset *preset_find(const char *name)
{
    const size_t length = strcspn(name, ":");

    for (size_t i = 0; i < PRESETS; i++) {
        const struct preset *preset = &presets[i];

        if (same(name, length, preset->name) ||
            same(name, length, preset->alias))
            return preset;
    }
    return NULL;
}

enum err preset_unknown(const char *name, struct why *why)
{
    char names[WHY_SIZE / 2] = "";
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

static void take_axes(const struct preset *preset, struct code_spec *spec)
{
    spec->placement = preset->placement;
    spec->schedule = preset->schedule;
    spec->stop = preset->stop;
    spec->estimate = preset->estimate;
    spec->divisible = preset->divisible;
}

/* Who waits for everyone has no straggler to spare, whatever was asked. */
static enum err choose_s(const struct preset_options *options,
                         const struct preset *preset, struct code_spec *spec,
                         struct why *why)
{
    if (options->enough > options->workers)
        return why_set(why, ERR_SHAPE,
                       "code %s: k=%u answers are more than the %u workers "
                       "there are; k is 1 to %u",
                       spec->name, options->enough, options->workers,
                       options->workers);
    spec->stragglers = preset->stop == STOP_ALL ? 0
                       : options->enough > 0
                           ? options->workers - options->enough
                           : options->stragglers;
    return ERR_OK;
}

/* Of first:k and collect:k. */
static enum err choose_k(const struct preset_options *options,
                         struct code_spec *spec, struct why *why)
{
    const uint32_t n = options->workers;
    const uint32_t s = spec->stragglers;

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
                           "code %s needs collect=K, the number of workers "
                           "to wait for, 1 to %u",
                           spec->name, n);
        spec->k = options->collect;
    }
    return ERR_OK;
}

bool preset_takes_file(const char *name)
{
    const struct preset *preset = preset_find(name);

    return preset != NULL && (preset->keys & PRESET_FILE) != 0;
}

trait_set preset_traits(const char *name)
{
    const struct preset *preset = preset_find(name);
    struct code_spec spec = {0};

    if (preset == NULL)
        return 0;
    take_axes(preset, &spec);
    return code_traits(&spec);
}

static enum err choose_stop(const struct preset_options *options,
                            struct code_spec *spec, struct why *why)
{
    if (options->stop == NULL)
        return choose_k(options, spec, why);
    if (options->collect != 0)
        return why_set(why, ERR_SHAPE,
                       "collect=K is stop=collect:K; say one of them");
    return stop_parse(options->stop, spec, why);
}

/* The mean of one step each is the step of the sum: a tally, with its bits. */
static void average_sums(struct code_spec *spec)
{
    spec->placement = PLACE_ONCE;
    spec->every = 0;
    if (spec->stop == STOP_ALL)
        spec->estimate = ESTIMATE_EXACT;
}

/* Late answers are kept, not called off.  With B = 0 there are none to keep:
 * then it is `ignore` as it stands, tallies and all. */
static enum err keep_late(const struct preset *preset, struct code_spec *spec,
                          struct why *why)
{
    if ((preset->keys & KEY(STALENESS)) == 0)
        return why_set(why, ERR_SHAPE, "code %s keeps no late answers",
                       spec->name);
    spec->placement = PLACE_STALE;
    return ERR_OK;
}

static enum err choose_rule(const struct preset_options *options,
                            struct code_spec *spec, struct why *why)
{
    const bool cyclic =
        options->rule != NULL && strcmp(options->rule, "cyclic") == 0;

    if (options->rule != NULL && !cyclic && strcmp(options->rule, "wrap") != 0)
        return why_set(why, ERR_RANGE, "rule=%.32s: expected wrap or cyclic",
                       options->rule);
    spec->rule = cyclic ? ARC_CYCLIC : ARC_WRAP;
    return ERR_OK;
}

/* L and P, in the paper's letters: Yang et al., "Coded elastic computing", ISIT
 * 2019. */
static enum err choose_blocks(const struct preset_options *options,
                              struct code_spec *spec, struct why *why)
{
    const uint32_t n = options->workers;
    const uint32_t l = options->l > 0 ? options->l : (3 * n + 3) / 4;
    const uint32_t p = options->blocks > 0        ? options->blocks
                       : 2 * n > CODE_NUMERIC_MAX ? CODE_NUMERIC_MAX
                                                  : 2 * n;

    if (l > p)
        return why_set(why, ERR_SHAPE,
                       "code %s: of p=%u blocks l=%u cannot be wanted; p is "
                       "the number of machines there can ever be, l how many "
                       "suffice",
                       spec->name, p, l);
    if (n < l)
        return why_set(why, ERR_SHAPE,
                       "code %s needs l=%u machines at least, and %u are to "
                       "start; give -n %u or more, or a smaller l",
                       spec->name, l, n, l);
    if (n > p)
        return why_set(why, ERR_SHAPE,
                       "code %s has blocks for p=%u machines, and %u are to "
                       "start; give a larger p",
                       spec->name, p, n);
    spec->blocks = p;
    spec->stragglers = p - l;
    spec->k = l;
    spec->copies = options->copies == 0 ? 1 : options->copies;
    return choose_rule(options, spec, why);
}

#define SHADOWS_DEFAULT 1u
#define SIZE_DEFAULT    .1

enum err preset_size(const char *text, double *share, struct why *why)
{
    double value;

    if (!decimal_share(text, &value) || !computation_samples(value))
        return why_set(why, ERR_RANGE,
                       "size=%.32s: expected a share of the rows, 0.1%% to "
                       "100%%",
                       text);
    *share = value;
    return ERR_OK;
}

/* Who computes samples, of how many rows, and which. */
static enum err choose_shadows(const struct preset_options *options,
                               struct code_spec *spec, struct why *why)
{
    enum err err = ERR_OK;

    spec->shadows = options->shadows > 0 ? options->shadows : SHADOWS_DEFAULT;
    spec->size = SIZE_DEFAULT;
    spec->draw = DRAW_STRATA;
    spec->filters = options->filters;
    if (options->size != NULL)
        err = preset_size(options->size, &spec->size, why);
    if (err == ERR_OK && options->draw != NULL &&
        !draw_parse(options->draw, &spec->draw))
        err = why_set(why, ERR_RANGE,
                      "sampler=%.32s: expected strata, random or entropy",
                      options->draw);
    if (err == ERR_OK && options->workers == 1)
        err = why_set(why, ERR_SHAPE,
                      "code %s needs a primary worker beside its shadow, and "
                      "there is only 1 worker; take %u workers or more, or "
                      "code steal",
                      spec->name, spec->shadows + 2);
    if (err == ERR_OK && options->workers > 0 &&
        spec->shadows >= options->workers)
        err = why_set(why, ERR_SHAPE,
                      "code %s: %u shadows of %u workers leave nobody to "
                      "shadow; at most %u",
                      spec->name, spec->shadows, options->workers,
                      options->workers - 1);
    return err;
}

enum err preset_words(const struct preset_options *options, struct why *why)
{
    struct code_spec spec = {0};
    enum err err = ERR_OK;

    if (options->estimate != NULL)
        err = estimate_find(options->estimate, &spec.estimate, why);
    if (err == ERR_OK && options->stop != NULL)
        err = stop_parse(options->stop, &spec, why);
    if (err == ERR_OK)
        err = choose_shadows(options, &spec, why);
    return err == ERR_OK ? choose_rule(options, &spec, why) : err;
}

enum err preset_spec(const struct preset_options *options,
                     struct code_spec *spec, struct why *why)
{
    const struct preset *preset = preset_find(options->name);
    struct code_spec made = {
        .seed = options->seed,
        .parts = options->parts,
        .pieces = options->pieces,
        .replicas = options->replicas,
        .staleness = options->staleness,
        .every = options->every,
        .decoding = options->decoding,
        .copies = 2,
        .matrix = options->matrix,
        .speed = options->speed,
        .speeds = options->speeds,
        .memory = options->memory,
    };
    enum err err = ERR_OK;

    if (preset == NULL)
        return preset_unknown(options->name, why);
    (void)snprintf(made.name, sizeof made.name, "%s", preset->name);
    take_axes(preset, &made);
    err = choose_s(options, preset, &made, why);
    if (err == ERR_OK && options->estimate != NULL)
        err = estimate_find(options->estimate, &made.estimate, why);
    if (err == ERR_OK)
        err = choose_stop(options, &made, why);
    if (err == ERR_OK && made.placement == PLACE_SHADOW)
        err = choose_shadows(options, &made, why);
    if (err == ERR_OK && made.placement == PLACE_CEC)
        err = choose_blocks(options, &made, why);
    if (err == ERR_OK && made.placement == PLACE_LOCAL && made.every == 1 &&
        !options->by_rows)
        average_sums(&made);
    if (err == ERR_OK && made.staleness > 0)
        err = keep_late(preset, &made, why);
    if (err == ERR_OK)
        *spec = made;
    return err;
}
