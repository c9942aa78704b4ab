/*
 * candidate.c - the codes that a plan tries, and their names with numbers.
 * Which numbers are worth trying follows from what a small instance of the code
 * is like, so that a new preset needs no line here.
 */
#include "plan/candidate.h"

#include <stdio.h>
#include <string.h>

#include "base/check.h"

#define REPLICAS_MAX   4u  /* s + 1 of codes that store s + 1 copies. */
#define PROBE_WORKERS  12u /* 1, 2 and 3 stragglers fit. */
#define PROBE_CHUNKS   48u
#define STRAGGLERS_MAX 8u
#define TEXT_BYTES     256u

/* --- reading ------------------------------------------------------------- */

static void add_word(char label[CANDIDATE_BYTES], const char *word)
{
    const size_t used = strlen(label);

    (void)snprintf(label + used, CANDIDATE_BYTES - used, " %.24s", word);
}

/* Of samples whatever is not as the preset has it. */
static void label_samples(const struct code_spec *spec,
                          char label[CANDIDATE_BYTES])
{
    struct preset_options plain = {.name = spec->name};
    struct code_spec usual;
    char text[32];

    if (preset_spec(&plain, &usual, NULL) != ERR_OK)
        return;
    if (spec->shadows != usual.shadows) {
        (void)snprintf(text, sizeof text, "S=%u", spec->shadows);
        add_word(label, text);
    }
    if (spec->size != usual.size) {
        (void)snprintf(text, sizeof text, "%.4g%%", 100 * spec->size);
        add_word(label, text);
    }
    if (spec->draw != usual.draw)
        add_word(label, draw_name(spec->draw));
    if (spec->filters != NULL)
        add_word(label, spec->filters);
    if (spec->estimate != usual.estimate)
        add_word(label, estimate_name(spec->estimate));
}

static void label(struct candidate *candidate)
{
    const struct code_spec *spec = &candidate->spec;
    size_t used = (size_t)snprintf(candidate->label, sizeof candidate->label,
                                   "%.40s", candidate->name);

    if (spec->stragglers > 0)
        used += (size_t)snprintf(candidate->label + used,
                                 sizeof candidate->label - used, " s=%u",
                                 spec->stragglers);
    if (spec->pieces > 0)
        used += (size_t)snprintf(candidate->label + used,
                                 sizeof candidate->label - used, " p=%u",
                                 spec->pieces);
    if (spec->staleness > 0)
        used += (size_t)snprintf(candidate->label + used,
                                 sizeof candidate->label - used, " B=%u",
                                 spec->staleness);
    if (spec->stop == STOP_COLLECT)
        (void)snprintf(candidate->label + used, sizeof candidate->label - used,
                       " k=%u", spec->k);
    if (code_spec_sampled(spec))
        label_samples(spec, candidate->label);
}

static enum err complete(struct candidate *candidate,
                         struct preset_options options, struct why *why)
{
    enum err err;

    options.name = candidate->name;
    err = preset_spec(&options, &candidate->spec, why);
    if (err == ERR_OK)
        label(candidate);
    return err;
}

enum err candidate_parse(const char *text, size_t length,
                         const struct preset_options *defaults,
                         struct candidate *candidate, struct why *why)
{
    struct preset_options options = *defaults;
    struct candidate made = {0};
    char copy[TEXT_BYTES];
    enum err err;

    if (length == 0 || length >= sizeof copy)
        return why_set(why, ERR_UNKNOWN, "`%.*s` names no code",
                       length < 64 ? (int)length : 64, text);
    memcpy(copy, text, length);
    copy[length] = '\0';
    err = preset_parse(copy, &options, why);
    if (err == ERR_OK && (options.file != NULL || options.speed_text != NULL))
        err = why_set(why, ERR_SHAPE, "a plan takes no files and no speeds");
    if (err == ERR_OK) {
        (void)snprintf(made.name, sizeof made.name, "%s", options.name);
        err = complete(&made, options, why);
    }
    if (err != ERR_OK)
        return why_in(why, err, "%.*s", (int)length, text);
    *candidate = made;
    return ERR_OK;
}

void candidate_of(const struct code_spec *spec, struct candidate *candidate)
{
    *candidate = (struct candidate){.spec = *spec};
    (void)snprintf(candidate->name, sizeof candidate->name, "%s", spec->name);
    label(candidate);
}

uint32_t candidate_chunks(const struct candidate *candidate, uint32_t workers)
{
    const struct code_spec *spec = &candidate->spec;
    const uint32_t pieces =
        spec->pieces > CODE_STEAL_PIECES ? spec->pieces : CODE_STEAL_PIECES;
    const uint32_t chunks = workers * pieces;
    uint32_t parts;

    if (code_spec_elastic(spec)) /* One for each piece of each part. */
        return code_spec_enough(spec, workers) *
               (spec->pieces > 0 ? spec->pieces : CODE_SEGMENTS);
    if (!code_spec_products(spec) || spec->stragglers >= workers)
        return chunks;
    parts = workers - spec->stragglers; /* All blocks are equally large. */
    return (chunks + parts - 1) / parts * parts;
}

/* --- listing ------------------------------------------------------------- */

/* What a preset is like, asked of a small code.  ERR_NOMEM; all other errors
 * say that it needs more than numbers. */
static enum err probe(const char *name, uint32_t stragglers,
                      enum exactness *class, double *stored)
{
    const struct preset_options options = {.name = name,
                                           .stragglers = stragglers,
                                           .collect = PROBE_WORKERS / 2,
                                           .workers = PROBE_WORKERS,
                                           .seed = 1};
    struct code_spec spec;
    struct code code = {0};
    enum err err = preset_spec(&options, &spec, NULL);

    if (err == ERR_OK && !code_spec_replays(&spec))
        err = ERR_SHAPE; /* plan_score cannot replay it. */
    if (err == ERR_OK)
        err = code_build(&code, &spec, PROBE_WORKERS, PROBE_CHUNKS, NULL);
    if (err == ERR_OK) {
        *class = code.exactness;
        *stored = code_copies(&code);
    }
    code_close(&code);
    return err;
}

static uint32_t add_once(uint32_t *list, uint32_t count, uint32_t value)
{
    for (uint32_t i = 0; i < count; i++) {
        if (list[i] == value)
            return count;
    }
    if (count < STRAGGLERS_MAX)
        list[count++] = value;
    return count;
}

/* Stragglers worth trying: copies cost, so few of them; leaving answers out
 * costs nothing more, so shares of all workers too. */
static uint32_t straggler_list(uint32_t n, bool replicates, uint32_t *list)
{
    static const double shares[] = {.05, .1, .2, .32};
    uint32_t count = 0;

    for (uint32_t s = 1; s < REPLICAS_MAX && s < n; s++)
        list[count++] = s;
    for (size_t i = 0; !replicates && i < sizeof shares / sizeof *shares; i++) {
        const uint32_t s = (uint32_t)(shares[i] * n + .5);

        if (s >= 1 && s < n)
            count = add_once(list, count, s);
    }
    return count;
}

static uint32_t collect_list(uint32_t n, uint32_t *list)
{
    static const double shares[] = {.35, .5, .7, .85};
    uint32_t count = 0;

    for (size_t i = 0; i < sizeof shares / sizeof *shares; i++) {
        const uint32_t k = (uint32_t)(shares[i] * n + .5);

        count = add_once(list, count, k >= 1 ? k : 1);
    }
    return count;
}

struct listing {
    uint32_t workers;
    uint64_t seed;
    struct candidate *list;
    uint32_t count, max;
};

static bool known(const struct listing *listing, const struct code_spec *spec)
{
    for (uint32_t i = 0; i < listing->count; i++) {
        if (memcmp(&listing->list[i].spec, spec, sizeof *spec) == 0)
            return true;
    }
    return false;
}

static void add(struct listing *listing, const char *name, uint32_t stragglers,
                uint32_t collect)
{
    const struct preset_options options = {.stragglers = stragglers,
                                           .collect = collect,
                                           .workers = listing->workers,
                                           .seed = listing->seed};
    struct candidate made = {0};

    if (listing->count == listing->max)
        return;
    (void)snprintf(made.name, sizeof made.name, "%s", name);
    if (complete(&made, options, NULL) == ERR_OK && !known(listing, &made.spec))
        listing->list[listing->count++] = made;
}

static void add_preset(struct listing *listing, const struct preset *preset,
                       bool replicates)
{
    uint32_t s[STRAGGLERS_MAX];
    uint32_t k[STRAGGLERS_MAX];
    const uint32_t s_count = straggler_list(listing->workers, replicates, s);
    const uint32_t k_count =
        preset->stop == STOP_COLLECT ? collect_list(listing->workers, k) : 0;

    if (s_count == 0) /* One worker. */
        add(listing, preset->name, 0, 1);
    for (uint32_t i = 0; i < s_count; i++) {
        if (k_count == 0)
            add(listing, preset->name, s[i], 0);
        for (uint32_t j = 0; j < k_count; j++)
            add(listing, preset->name, s[i], k[j]);
    }
}

uint32_t candidate_list(uint32_t workers, enum exactness worst, uint64_t seed,
                        struct candidate *candidates, uint32_t max)
{
    struct listing listing = {
        .workers = workers, .seed = seed, .list = candidates, .max = max};
    uint32_t count;
    const struct preset *list = preset_list(&count);

    CHECK(workers >= 1);
    for (uint32_t i = 0; i < count; i++) {
        enum exactness class;
        double stored_1;
        double stored_2;
        enum err err = probe(list[i].name, 1, &class, &stored_1);

        if (err == ERR_OK)
            err = probe(list[i].name, 2, &class, &stored_2);
        if (err == ERR_NOMEM)
            return 0;
        /* What samples are worth no time of a step tells. */
        if (err != ERR_OK || class > worst ||
            (preset_traits(list[i].name) & TRAIT(SAMPLES)) != 0)
            continue;
        add_preset(&listing, &list[i], stored_2 > stored_1 + .5);
    }
    return listing.count;
}
