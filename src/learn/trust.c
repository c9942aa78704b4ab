/*
 * trust.c - --verify and --audit (Byzantine workers): what is asked for, and
 * which codes have answers to compare.
 */
#include "learn/trust.h"

#include <math.h>
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

enum err trust_choose(struct setup *setup, const struct recipe *recipe,
                      struct why *why)
{
    const char *audit = recipe_text(recipe, OPT_AUDIT);
    enum err err = ERR_OK;

    setup->verify = recipe_flag(recipe, OPT_VERIFY);
    if (audit != NULL)
        err = parse_share(audit, &setup->audit, why);
    if (err != ERR_OK || (!setup->verify && !(setup->audit > 0)))
        return err;
    return check_code(setup, setup->verify ? "--verify" : "--audit", why);
}
