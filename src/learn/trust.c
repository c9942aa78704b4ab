/*
 * trust.c - --verify and --audit (Byzantine workers): what is asked
 * for.
 */
#include "learn/trust.h"

#include "math/decimal.h"

enum err trust_share(const char *text, double *share, struct why *why)
{
    double value;

    if (!decimal_share(text, &value) || value > 1)
        return why_set(
            why, ERR_RANGE,
            "--audit %.40s: write a share of the pieces, such as 1%% "
            "or 0.01",
            text);
    *share = value;
    return ERR_OK;
}

enum err trust_choose(struct setup *setup, const struct recipe *recipe,
                      struct why *why)
{
    const char *audit = recipe_text(recipe, OPT_AUDIT);

    setup->verify = recipe_flag(recipe, OPT_VERIFY);
    return audit == NULL ? ERR_OK : trust_share(audit, &setup->audit, why);
}
