/*
 * trust.c - what came of --verify and --audit (Byzantine workers).
 */
#include "cli/trust.h"

#include <inttypes.h>
#include <stdio.h>

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
                     "were caught; do not trust the result\n",
                     stats->unchecked_bad);
}
