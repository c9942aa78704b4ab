/*
 * stop.c - the stop axis: when a round may end.
 *
 *   all        every slot with work has delivered its initial work
 *   cover      every piece is in, whoever sent it
 *   first:k    k slots have delivered their initial work
 *   collect:k  first:k or cover, whichever comes first; counts workers, not
 *              groups, as Wang, Charles & Papailiopoulos do, "ErasureHead:
 *              Distributed Gradient Descent without Delays Using Approximate
 *              Gradient Coding", 2019
 *   groups:k   all pieces of k groups are in
 *   deadline:t t seconds have passed and something is in, or everything is
 *   shadow     all parts but s at most are in, and a sample of each of those
 *
 * Where answers are coded, the plain pieces must all be in besides.  A slot
 * without work counts as arrived from the start, but at least one slot with
 * work must have answered: an update of nothing is no step.
 */
#include "code/axes.h"

#include <math.h>
#include <stddef.h>
#include <string.h>

#include "base/check.h"
#include "math/decimal.h"

/* How many of the slots with work must answer to make k slots. */
static uint32_t busy_needed(const struct code *code, uint32_t k)
{
    const uint32_t idle = code->slots - code->busy_count;

    return k > idle ? k - idle : 1;
}

static bool busy_reach(const struct code *code, const bool *slots,
                       uint32_t needed)
{
    uint32_t count = 0;

    for (uint32_t slot = 0; slot < code->slots && count < needed; slot++)
        count += slots[slot] && code->busy[slot];
    return count >= needed;
}

/* The caller's count answers at once for most arrivals; it may or may not
 * include slots without work, so that where there are any the slots are
 * counted. */
static bool slots_reach(const struct code *code,
                        const struct code_progress *progress, uint32_t k)
{
    const uint32_t needed = busy_needed(code, k);

    if (progress->slots_in < needed)
        return false;
    if (code->busy_count == code->slots)
        return true;
    return busy_reach(code, progress->slot_in, needed);
}

/* Coded rounds: what nobody else can make up for. */
static bool plain_in(const struct code *code,
                     const struct code_progress *progress)
{
    return code->carrier == CARRIER_TALLY ||
           progress->pieces_in >= code->plain_count;
}

static bool all_enough(const struct code *code,
                       const struct code_progress *progress)
{
    return plain_in(code, progress) && slots_reach(code, progress, code->slots);
}

static bool all_feasible(const struct code *code, const bool *slot_alive)
{
    return busy_reach(code, slot_alive, code->busy_count);
}

static bool cover_enough(const struct code *code,
                         const struct code_progress *progress)
{
    return progress->pieces_in >= code->piece_count;
}

static bool cover_feasible(const struct code *code, const bool *slot_alive)
{
    for (uint32_t span = 0; span < code->span_count; span++) {
        if (!code_span_empty(code, span) &&
            !table_covers(&code->table, span, slot_alive))
            return false;
    }
    return true;
}

static bool first_enough(const struct code *code,
                         const struct code_progress *progress)
{
    return plain_in(code, progress) &&
           slots_reach(code, progress, code->spec.k);
}

static bool first_feasible(const struct code *code, const bool *slot_alive)
{
    return busy_reach(code, slot_alive, busy_needed(code, code->spec.k));
}

static bool collect_enough(const struct code *code,
                           const struct code_progress *progress)
{
    return cover_enough(code, progress) || first_enough(code, progress);
}

static bool collect_feasible(const struct code *code, const bool *slot_alive)
{
    return first_feasible(code, slot_alive) || cover_feasible(code, slot_alive);
}

static bool group_in(const struct group *group, const bool *piece_in)
{
    for (uint32_t id = group->piece_first; id < group->piece_end; id++) {
        if (!piece_in[id])
            return false;
    }
    return true;
}

/* Groups without data are in from the start, but do not end a step alone. */
static bool groups_enough(const struct code *code,
                          const struct code_progress *progress)
{
    uint32_t count = 0;

    if (progress->pieces_in == 0)
        return false;
    if (code->piece_count == code->group_count)
        return progress->pieces_in >= code->spec.k;
    for (uint32_t q = 0; q < code->group_count; q++)
        count += group_in(&code->groups[q], progress->piece_in);
    return count >= code->spec.k;
}

static bool groups_feasible(const struct code *code, const bool *slot_alive)
{
    uint32_t living = 0;
    uint32_t with_data = 0;

    for (uint32_t q = 0; q < code->group_count; q++) {
        const bool lives = table_covers(&code->table, q, slot_alive);

        living += lives || code_span_empty(code, q);
        with_data += lives && !code_span_empty(code, q);
    }
    return with_data > 0 && living >= code->spec.k;
}

static bool deadline_enough(const struct code *code,
                            const struct code_progress *progress)
{
    if (!plain_in(code, progress))
        return false;
    if (!progress->late)
        return code->carrier == CARRIER_TALLY
                   ? cover_enough(code, progress)
                   : slots_reach(code, progress, code->slots);
    return code->carrier == CARRIER_TALLY
               ? progress->pieces_in > 0
               : busy_reach(code, progress->slot_in, 1);
}

static bool deadline_feasible(const struct code *code, const bool *slot_alive)
{
    return busy_reach(code, slot_alive, 1);
}

/* Primaries that may be missing: as many as there are stragglers. */
static uint32_t spared(const struct code *code)
{
    const uint32_t primaries = code_primaries(code);

    return code->spec.stragglers < primaries ? code->spec.stragglers
                                             : primaries - 1;
}

static bool shadow_enough(const struct code *code,
                          const struct code_progress *progress)
{
    const uint32_t pieces = code_data_pieces(code);
    uint32_t missing = 0;

    for (uint32_t id = 0; id < pieces; id++) {
        if (progress->piece_in[id])
            continue;
        if (!progress->piece_in[pieces + id])
            return false;
        missing++;
    }
    return missing <= spared(code) && missing < pieces;
}

static bool span_lives(const struct code *code, uint32_t span,
                       const bool *slot_alive)
{
    return code_span_empty(code, span) ||
           table_covers(&code->table, span, slot_alive);
}

static bool shadow_feasible(const struct code *code, const bool *slot_alive)
{
    const uint32_t primaries = code_primaries(code);
    uint32_t missing = 0;

    for (uint32_t p = 0; p < primaries; p++) {
        if (span_lives(code, p, slot_alive))
            continue;
        if (!span_lives(code, primaries + p, slot_alive))
            return false;
        missing++;
    }
    return missing <= spared(code);
}

static const struct stop_ops stops[] = {
    [STOP_ALL] = {.name = "all",
                  .enough = all_enough,
                  .feasible = all_feasible},
    [STOP_COVER] = {.name = "cover",
                    .enough = cover_enough,
                    .feasible = cover_feasible},
    [STOP_FIRST] = {.name = "first",
                    .counts = true,
                    .partial = true,
                    .enough = first_enough,
                    .feasible = first_feasible},
    [STOP_COLLECT] = {.name = "collect",
                      .counts = true,
                      .partial = true,
                      .enough = collect_enough,
                      .feasible = collect_feasible},
    [STOP_GROUPS] = {.name = "groups",
                     .counts = true,
                     .partial = true,
                     .enough = groups_enough,
                     .feasible = groups_feasible},
    [STOP_DEADLINE] = {.name = "deadline",
                       .partial = true,
                       .enough = deadline_enough,
                       .feasible = deadline_feasible},
    [STOP_SHADOW] = {.name = "shadow",
                     .partial = true,
                     .enough = shadow_enough,
                     .feasible = shadow_feasible},
};

#define STOPS (sizeof stops / sizeof *stops)

const struct stop_ops *stop_ops(enum stop stop)
{
    CHECK((size_t)stop < STOPS);
    return &stops[stop];
}

static enum err parse_value(const char *text, enum stop stop,
                            struct code_spec *spec, struct why *why)
{
    const char *end = text;
    double value;

    if (!decimal_read(&end, &value) || *end != '\0' || !(value > 0) ||
        (stops[stop].counts && value != floor(value)) ||
        value > CODE_SLOTS_MAX * 1e3)
        return why_set(why, ERR_RANGE, "%s:%.32s: expected %s",
                       stops[stop].name, text,
                       stops[stop].counts ? "a whole number above zero"
                                          : "seconds above zero");
    spec->stop = stop;
    spec->k = stops[stop].counts ? (uint32_t)value : 0;
    spec->deadline_s = stops[stop].counts ? 0 : value;
    return ERR_OK;
}

enum err stop_parse(const char *text, struct code_spec *spec, struct why *why)
{
    const size_t length = strcspn(text, ":");

    for (size_t i = 0; i < STOPS; i++) {
        const bool valued = stops[i].counts || i == STOP_DEADLINE;

        if (strlen(stops[i].name) != length ||
            strncmp(text, stops[i].name, length) != 0)
            continue;
        if (valued != (text[length] == ':'))
            return why_set(why, ERR_RANGE, "%s %s", stops[i].name,
                           valued ? "needs a value, as in first:3 or "
                                    "deadline:0.5"
                                  : "takes no value");
        if (valued)
            return parse_value(text + length + 1, (enum stop)i, spec, why);
        spec->stop = (enum stop)i;
        spec->k = 0;
        spec->deadline_s = 0;
        return ERR_OK;
    }
    return why_set(why, ERR_UNKNOWN,
                   "no stop rule named %.32s; there are all, cover, first:K, "
                   "collect:K, groups:K, deadline:SECONDS",
                   text);
}
