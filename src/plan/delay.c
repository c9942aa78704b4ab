/*
 * delay.c - parsing and drawing delays.
 *
 * A '+' starts a new term only before a letter, so that 1e+2 is a number.
 *
 * Delays are not part of the model's bits; libm's log and exp will do.  Draws
 * other than `reference` are counter-based: a function of (seed, term, step,
 * slot).
 */
#include "plan/delay.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "base/mt19937.h"
#include "base/rng.h"
#include "math/decimal.h"
#include "plan/delay_trace.h"
#include "plan/special.h"

#define TERM_SIZE       320u /* Characters of one term, with its NUL. */
#define REFERENCE_MEAN  0.5
#define WORKER_NAME_MAX 64u

/* Streams below that of a term's draws. */
enum { STREAM_BURST = 1, STREAM_BEGIN };

/* What a kind takes: `required` numbers of at most two, and their bounds. */
struct kind {
    const char *name;
    const char *usage;
    unsigned required, most;
    double least_a, most_a, least_b;
};

static const struct kind kinds[] = {
    [DELAY_REFERENCE] = {"reference", "reference[:MEAN]", 0, 1, 0, HUGE_VAL, 0},
    [DELAY_EXP] = {"exp", "exp:MEAN", 1, 1, 0, HUGE_VAL, 0},
    [DELAY_SHIFTED] = {"shifted", "shifted:A,MEAN", 2, 2, 0, HUGE_VAL, 0},
    [DELAY_PARETO] = {"pareto", "pareto:XM,ALPHA", 2, 2, 0, HUGE_VAL, 1e-3},
    [DELAY_LOGNORMAL] = {"lognormal", "lognormal:MEDIAN,SIGMA", 2, 2, 0,
                         HUGE_VAL, 0},
    [DELAY_WEIBULL] = {"weibull", "weibull:SCALE,SHAPE", 2, 2, 0, HUGE_VAL,
                       1e-2},
    [DELAY_BIMODAL] = {"bimodal", "bimodal:P,FACTOR", 2, 2, 0, 1, 1},
    [DELAY_WORKER] = {"worker", "worker:NAME=FACTOR", 1, 1, 1, HUGE_VAL, 0},
    [DELAY_DEAD] = {"dead", "dead:P", 1, 1, 0, 1, 0},
    [DELAY_TRACE] = {"trace", "trace:FILE", 0, 0, 0, HUGE_VAL, 0},
};

#define KINDS (sizeof kinds / sizeof *kinds)

/* One number from *at on; moves *at behind it. */
static enum err parse_number(const char **at, double *value, struct why *why)
{
    const char *text = *at;
    const char *end = text;

    if (*text == '-')
        return why_set(why, ERR_RANGE, "%.32s is negative", text);
    if (!decimal_read(&end, value) || (*end != '\0' && *end != ','))
        return why_set(why, ERR_FORMAT, "`%.32s` is not a number", text);
    if (!isfinite(*value))
        return why_set(why, ERR_RANGE, "%.32s is too large", text);
    *at = end;
    return ERR_OK;
}

static enum err parse_numbers(const struct kind *kind, const char *at,
                              double value[2], struct why *why)
{
    unsigned count = 0;

    while (*at != '\0' && count < kind->most) {
        const enum err err = parse_number(&at, &value[count++], why);

        if (err != ERR_OK)
            return err;
        if (*at == ',' && count < kind->most)
            at++;
    }
    if (*at != '\0' || count < kind->required)
        return why_set(why, ERR_FORMAT, "it is written %s", kind->usage);
    return ERR_OK;
}

static enum err check_bounds(const struct kind *kind, const double value[2],
                             struct why *why)
{
    if (value[0] < kind->least_a)
        return why_set(why, ERR_RANGE, "%g is below %g in %s", value[0],
                       kind->least_a, kind->usage);
    if (value[0] > kind->most_a)
        return why_set(why, ERR_RANGE, "%g is above %g in %s", value[0],
                       kind->most_a, kind->usage);
    if (kind->most == 2 && value[1] < kind->least_b)
        return why_set(why, ERR_RANGE, "%g is below %g in %s", value[1],
                       kind->least_b, kind->usage);
    return ERR_OK;
}

static enum err take_name(const char *from, size_t length, size_t most,
                          struct delay_term *term, struct why *why)
{
    CHECK(most < sizeof term->name);
    if (length > most)
        return why_set(why, ERR_TOOBIG, "its name has at most %zu characters",
                       most);
    memcpy(term->name, from, length);
    term->name[length] = '\0';
    return ERR_OK;
}

/* NAME= of worker:NAME=FACTOR; moves *at behind it. */
static enum err parse_worker(const char **at, struct delay_term *term,
                             struct why *why)
{
    const char *equals = strchr(*at, '=');
    const size_t length = equals == NULL ? 0 : (size_t)(equals - *at);
    const char *from = *at;

    if (length == 0)
        return why_set(why, ERR_FORMAT, "it is written worker:NAME=FACTOR");
    *at = equals + 1;
    return take_name(from, length, WORKER_NAME_MAX, term, why);
}

/* FILE of trace:FILE; moves *at behind it. */
static enum err parse_file(const char **at, struct delay_term *term,
                           struct why *why)
{
    const char *from = *at;

    if (*from == '\0')
        return why_set(why, ERR_FORMAT, "it is written trace:FILE");
    *at += strlen(from);
    return take_name(from, strlen(from), sizeof term->name - 1, term, why);
}

static enum err find_kind(const char *text, enum delay_kind *found,
                          struct why *why)
{
    const size_t length = strcspn(text, ":");

    for (size_t i = 0; i < KINDS; i++) {
        if (strlen(kinds[i].name) == length &&
            strncmp(text, kinds[i].name, length) == 0) {
            *found = (enum delay_kind)i;
            return ERR_OK;
        }
    }
    return why_set(why, ERR_UNKNOWN,
                   "no such kind; there are reference, exp, shifted, pareto, "
                   "lognormal, weibull, bimodal, worker, dead, trace");
}

/* --- suffixes ------------------------------------------------------------ */

static enum err parse_rack(const char *at, struct delay_term *term,
                           struct why *why)
{
    static const struct kind rack = {"rack", "/rack:N", 1, 1, 1, 1e6, 0};
    double value[2] = {0, 0};
    enum err err = parse_numbers(&rack, at, value, why);

    if (err == ERR_OK)
        err = check_bounds(&rack, value, why);
    if (err == ERR_OK && value[0] != floor(value[0]))
        err = why_set(why, ERR_RANGE, "%g in /rack:N is no whole number",
                      value[0]);
    if (err == ERR_OK)
        term->rack = (uint32_t)value[0];
    return err;
}

/* One draw decides a step's state whatever the one before, or leaves it: then
 * the chain can be walked backwards from any step (slow_now), which needs the
 * two chances not to overlap. */
static enum err parse_burst(const char *at, struct delay_term *term,
                            struct why *why)
{
    static const struct kind burst = {"burst", "/burst:ENTER,LEAVE", 2, 2, 0, 1,
                                      0};
    double value[2] = {0, 0};
    enum err err = parse_numbers(&burst, at, value, why);

    if (err == ERR_OK)
        err = check_bounds(&burst, value, why);
    if (err == ERR_OK && (value[0] == 0 || value[1] == 0))
        err = why_set(why, ERR_RANGE, "a chance of 0 in /burst:ENTER,LEAVE");
    if (err == ERR_OK && value[0] + value[1] > 1)
        err = why_set(why, ERR_RANGE,
                      "ENTER and LEAVE of /burst add up to %g, above 1",
                      value[0] + value[1]);
    term->enter = value[0];
    term->leave = value[1];
    return err;
}

/* Is it a suffix?  Then it is taken; its numbers may still be wrong. */
static bool take_suffix(const char *text, struct delay_term *term,
                        enum err *err, struct why *why)
{
    if (strcmp(text, "scale") == 0)
        term->unit = UNIT_SCALE;
    else if (strcmp(text, "times") == 0)
        term->unit = UNIT_TIMES;
    else if (strcmp(text, "share") == 0)
        term->unit = UNIT_SHARE;
    else if (strcmp(text, "persistent") == 0)
        term->persistent = true;
    else if (strncmp(text, "rack:", 5) == 0)
        *err = parse_rack(text + 5, term, why);
    else if (strncmp(text, "burst:", 6) == 0)
        *err = parse_burst(text + 6, term, why);
    else
        return false;
    return true;
}

/* Cut suffixes off the end; a slash of a file's name ends them. */
static enum err cut_suffixes(char *text, struct delay_term *term,
                             struct why *why)
{
    enum err err = ERR_OK;
    char *slash;

    while (err == ERR_OK && (slash = strrchr(text, '/')) != NULL &&
           take_suffix(slash + 1, term, &err, why))
        *slash = '\0';
    return err;
}

static enum err vet_suffixes(const struct delay_term *term, struct why *why)
{
    if (term->kind == DELAY_TRACE &&
        (term->persistent || term->rack > 0 || term->enter > 0))
        return why_set(why, ERR_SHAPE,
                       "a trace says itself who is slow when; only /scale, "
                       "/times and /share go with it");
    return ERR_OK;
}

static enum err parse_term(char *text, struct delay_term *term, struct why *why)
{
    double value[2] = {0, 0};
    const char *at;
    enum err err = cut_suffixes(text, term, why);

    if (err == ERR_OK)
        err = find_kind(text, &term->kind, why);
    if (err != ERR_OK)
        return err;
    at = text + strlen(kinds[term->kind].name);
    if (*at == ':' && at[1] == '\0')
        return why_set(why, ERR_FORMAT, "it is written %s",
                       kinds[term->kind].usage);
    at += *at == ':';
    if (term->kind == DELAY_WORKER)
        err = parse_worker(&at, term, why);
    else if (term->kind == DELAY_TRACE)
        err = parse_file(&at, term, why);
    else if (term->kind == DELAY_REFERENCE)
        value[0] = REFERENCE_MEAN;
    if (err == ERR_OK)
        err = parse_numbers(&kinds[term->kind], at, value, why);
    if (err == ERR_OK)
        err = check_bounds(&kinds[term->kind], value, why);
    if (err == ERR_OK)
        err = vet_suffixes(term, why);
    term->a = value[0];
    term->b = value[1];
    return err;
}

static size_t term_length(const char *text)
{
    size_t length = 0;

    while (text[length] != '\0' &&
           !(text[length] == '+' && isalpha((unsigned char)text[length + 1])))
        length++;
    return length;
}

enum err delay_parse(const char *text, uint64_t seed, struct delay *delay,
                     struct why *why)
{
    struct delay made = {.seed = seed};

    while (*text != '\0') {
        const size_t length = term_length(text);
        char term[TERM_SIZE] = "";
        enum err err;

        if (length >= sizeof term)
            return why_set(why, ERR_TOOBIG, "delay %.32s...: too long", text);
        if (made.count == DELAY_TERMS_MAX)
            return why_set(why, ERR_TOOBIG, "delay: more than %u joined with +",
                           DELAY_TERMS_MAX);
        memcpy(term, text, length);
        err = parse_term(term, &made.term[made.count], why);
        if (err != ERR_OK)
            return why_in(why, err, "delay %.*s", (int)length, text);
        made.count++;
        text += length;
        text += *text == '+';
    }
    *delay = made;
    return ERR_OK;
}

/* --- drawing ------------------------------------------------------------- */

static double exponential(double mean, double u)
{
    return -mean * log(1 - u);
}

/* Quantile u of the kinds that draw a length. */
static double draw_length(const struct delay_term *term, double u)
{
    double length = 0;

    switch (term->kind) {
    case DELAY_REFERENCE:
    case DELAY_EXP:
        length = exponential(term->a, u);
        break;
    case DELAY_SHIFTED:
        length = term->a + exponential(term->b, u);
        break;
    case DELAY_PARETO:
        length = term->a * exp(exponential(1 / term->b, u));
        break;
    case DELAY_LOGNORMAL:
        length = term->a * exp(term->b * normal_quantile(u));
        break;
    case DELAY_WEIBULL:
        length = term->a * pow(exponential(1, u), 1 / term->b);
        break;
    case DELAY_BIMODAL:
    case DELAY_WORKER:
    case DELAY_DEAD:
    case DELAY_TRACE:
        break;
    }
    return length < DELAY_NEVER_S ? length : DELAY_NEVER_S;
}

static void add_length(enum delay_unit unit, double length,
                       struct delay_draw *draw)
{
    if (unit == UNIT_SECONDS)
        draw->add_s += length;
    else if (unit == UNIT_SCALE)
        draw->factor += length;
    else if (unit == UNIT_SHARE)
        draw->share_s += length;
    else if (length > 1)
        draw->factor += length - 1;
}

/* Add what the term's quantile u says.  FACTOR times as long in all is
 * FACTOR - 1 times more. */
static void add_quantile(const struct delay_term *term, double u,
                         struct delay_draw *draw)
{
    if (term->kind == DELAY_BIMODAL)
        draw->factor += u < term->a ? term->b - 1 : 0;
    else if (term->kind == DELAY_DEAD)
        draw->add_s += u < term->a ? DELAY_NEVER_S : 0;
    else
        add_length(term->unit, draw_length(term, u), draw);
}

/* Is `who` in its slow state?  The last step whose draw decided says so; before
 * the first step the chain stood in its long run. */
static bool slow_now(const struct delay_term *term, uint64_t below,
                     uint32_t step, uint32_t who)
{
    const uint64_t stream = rng_at(below, STREAM_BURST, 0);

    for (uint64_t t = (uint64_t)step + 1; t-- > 0;) {
        const double u = rng_unit_at(stream, t, who);

        if (u < term->enter)
            return true;
        if (u >= 1 - term->leave)
            return false;
    }
    return rng_unit_at(rng_at(below, STREAM_BEGIN, 0), 0, who) <
           term->enter / (term->enter + term->leave);
}

/* A term as one step sees it. */
struct view {
    const struct delay_term *term;
    uint64_t stream; /* Of its draws; its other streams hang below it. */
    uint32_t step;   /* Of the draw: 0 if it is drawn once. */
};

static struct view view_of(const struct delay *delay, uint32_t index,
                           uint32_t step)
{
    const struct delay_term *term = &delay->term[index];

    return (struct view){.term = term,
                         .stream = rng_at(delay->seed, index, 0),
                         .step = term->persistent ? 0 : step};
}

static uint32_t who_of(const struct delay_term *term, uint32_t slot)
{
    return term->rack > 0 ? slot / term->rack : slot;
}

/* All kinds that need neither a name nor their neighbours' draws. */
static void add_drawn(const struct view *view, uint32_t step, uint32_t slot,
                      struct delay_draw *draw)
{
    const struct delay_term *term = view->term;
    const uint32_t who = who_of(term, slot);

    if (term->enter > 0 && !slow_now(term, view->stream, step, who))
        return;
    if (term->kind == DELAY_TRACE)
        add_length(term->unit, delay_trace_at(term->trace, step, slot), draw);
    else
        add_quantile(term, rng_unit_at(view->stream, view->step, who), draw);
}

/* Step i seeds the generator with i and draws for workers 0, 1, ... in turn. */
static void add_reference(const struct view *view, uint32_t step,
                          uint32_t slot_first, uint32_t slot_end,
                          struct delay_draw *draws)
{
    const struct delay_term *term = view->term;
    struct mt19937 mt;
    uint32_t drawn = 0;
    double u = 0;

    mt19937_init(&mt, view->step);
    for (uint32_t slot = slot_first; slot < slot_end; slot++) {
        const uint32_t who = who_of(term, slot);

        while (drawn <= who) {
            u = mt19937_unit(&mt);
            drawn++;
        }
        if (term->enter == 0 || slow_now(term, view->stream, step, who))
            add_quantile(term, u, &draws[slot - slot_first]);
    }
}

static void add_worker(const struct delay_term *term, const char *worker,
                       struct delay_draw *draw)
{
    if (worker != NULL && strcmp(worker, term->name) == 0)
        draw->factor += term->a - 1;
}

/* The slot of worker "w3" is 3; UINT32_MAX for other names. */
static uint32_t named_slot(const char *name)
{
    char again[16];
    unsigned long slot;

    if (name[0] != 'w' || !isdigit((unsigned char)name[1]))
        return UINT32_MAX;
    slot = strtoul(name + 1, NULL, 10);
    if (slot >= UINT32_MAX)
        return UINT32_MAX;
    (void)snprintf(again, sizeof again, "w%lu", slot);
    return strcmp(again, name) == 0 ? (uint32_t)slot : UINT32_MAX;
}

enum err delay_check_names(const struct delay *delay, uint32_t slots,
                           struct why *why)
{
    for (uint32_t i = 0; i < delay->count; i++) {
        const struct delay_term *term = &delay->term[i];

        if (term->kind == DELAY_WORKER && named_slot(term->name) >= slots)
            return why_set(why, ERR_RANGE,
                           "--delay worker:%s: there is no such worker; of %u "
                           "the first is w0 and the last w%u",
                           term->name, slots, slots - 1);
    }
    return ERR_OK;
}

struct delay_draw delay_draw(const struct delay *delay, uint32_t step,
                             uint32_t slot, const char *worker)
{
    struct delay_draw draw = {0};

    for (uint32_t i = 0; i < delay->count; i++) {
        const struct view view = view_of(delay, i, step);

        if (view.term->kind == DELAY_WORKER)
            add_worker(view.term, worker, &draw);
        else if (view.term->kind == DELAY_REFERENCE)
            add_reference(&view, step, slot, slot + 1, &draw);
        else
            add_drawn(&view, step, slot, &draw);
    }
    return draw;
}

void delay_row(const struct delay *delay, uint32_t step, uint32_t slots,
               struct delay_draw *draws)
{
    memset(draws, 0, slots * sizeof *draws);
    for (uint32_t i = 0; i < delay->count; i++) {
        const struct view view = view_of(delay, i, step);

        if (view.term->kind == DELAY_WORKER) {
            const uint32_t slot = named_slot(view.term->name);

            if (slot < slots)
                add_worker(view.term, view.term->name, &draws[slot]);
        } else if (view.term->kind == DELAY_REFERENCE) {
            add_reference(&view, step, 0, slots, draws);
        } else {
            for (uint32_t slot = 0; slot < slots; slot++)
                add_drawn(&view, step, slot, &draws[slot]);
        }
    }
}
