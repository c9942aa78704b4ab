/*
 * trust.c - options and results of --verify and --audit (Byzantine workers).
 */
#include "cli/trust.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* "1%" or "0.01". */
static enum err parse_share(const char *text, double *share, struct why *why)
{
    char *end;
    double value = strtod(text, &end);

    if (end != text && strcmp(end, "%") == 0) {
        value /= 100;
        end++;
    }
    if (end == text || *end != '\0' || !isfinite(value) || value < 0 ||
        value > 1)
        return why_set(
            why, ERR_RANGE,
            "--audit %.40s: write a share of the pieces, such as 1%% "
            "or 0.01",
            text);
    *share = value;
    return ERR_OK;
}

/* Are its answers sums whose bits two workers can be compared by, and does a
 * step wait for the second one? */
static enum err check_code(const struct setup *setup, const char *flag,
                           struct why *why)
{
    const struct code_spec *code = &setup->code;

    if (!code_spec_tally(code) || code->placement == PLACE_LOCAL)
        return why_set(why, ERR_SHAPE,
                       "%s compares two workers' answers bit for bit, and code "
                       "%s answers with rounded mixtures that no two workers "
                       "share; take steal, frc, rep, stream or partial-frc",
                       flag, code->name);
    if (code->estimate != ESTIMATE_EXACT &&
        !(code->placement == PLACE_REP && code->stop == STOP_COLLECT))
        return why_set(why, ERR_SHAPE,
                       "%s waits for second answers, and code %s ends a step "
                       "without them; take steal, frc, rep, stream, "
                       "partial-frc or agc",
                       flag, code->name);
    if (setup->adapt && setup->worst != EXACT_BITWISE)
        return why_set(why, ERR_SHAPE,
                       "%s goes with bitwise codes only; let --code auto stay "
                       "with them (--exact bitwise)",
                       flag);
    return ERR_OK;
}

enum err trust_choose(struct setup *setup, const struct options *options,
                      struct why *why)
{
    const char *audit = option_text(options, OPT_AUDIT);
    enum err err = ERR_OK;

    setup->verify = option_flag(options, OPT_VERIFY);
    if (audit != NULL)
        err = parse_share(audit, &setup->audit, why);
    if (err != ERR_OK || (!setup->verify && !(setup->audit > 0)))
        return err;
    return check_code(setup, setup->verify ? "--verify" : "--audit", why);
}

static uint32_t shown(const struct coordinator_stats *stats)
{
    return stats->banned < BANNED_SHOWN ? stats->banned : BANNED_SHOWN;
}

static const char *reason(const struct coordinator_stats *stats, uint32_t i)
{
    return poison_text((enum poison_kind)stats->banned_for[i]);
}

json_t *trust_json(const struct coordinator_stats *stats)
{
    json_t *poison = json_object();
    json_t *banned = json_array();

    for (int kind = 0; kind < POISON_KINDS; kind++)
        (void)json_object_set_new(
            poison, poison_name((enum poison_kind)kind),
            json_integer((json_int_t)stats->poison_by[kind]));
    for (uint32_t i = 0; i < shown(stats); i++)
        (void)json_array_append_new(banned, json_pack("{s:s, s:s}", "name",
                                                      stats->banned_name[i],
                                                      "why", reason(stats, i)));
    return json_pack("{s:o, s:I, s:I, s:I, s:o}", "poison", poison, "checked",
                     (json_int_t)stats->checked, "judged",
                     (json_int_t)stats->judged, "unchecked",
                     (json_int_t)stats->unchecked_bad, "banned", banned);
}

void trust_text(const struct coordinator_stats *stats)
{
    if (stats->checked > 0 || stats->judged > 0)
        (void)printf("verified   %" PRIu64 " pieces by two workers, %" PRIu64
                     " here\n",
                     stats->checked, stats->judged);
    for (uint32_t i = 0; i < shown(stats); i++)
        (void)printf("quarantine %s: three broken answers, the last %s\n",
                     stats->banned_name[i], reason(stats, i));
    if (stats->unchecked_bad > 0)
        (void)printf("caution    %" PRIu64
                     " answers of quarantined workers counted before they "
                     "were caught; do not trust this model\n",
                     stats->unchecked_bad);
}
