/*
 * delay.c - parsing and drawing injected delays.
 *
 *     text = term ('+' term)*        term = kind [':' numbers] ['/scale']
 *
 * A '+' starts a new term only before a letter, so that 1e+2 is a number.
 *
 * Delays are not part of the model's bits; libm's log and exp will do.  Draws
 * other than `reference` are counter-based: a function of (seed, term, step,
 * slot), whoever asks and in whatever order.
 */
#include "plan/delay.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mt19937.h"
#include "base/rng.h"

#define TERM_SIZE      160u /* Characters of one term, with its NUL. */
#define REFERENCE_MEAN 0.5
#define SLEEP_MAX_S    1e9 /* Heavy tails stay finite. */

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
    [DELAY_BIMODAL] = {"bimodal", "bimodal:P,FACTOR", 2, 2, 0, 1, 1},
    [DELAY_WORKER] = {"worker", "worker:NAME=FACTOR", 1, 1, 1, HUGE_VAL, 0},
};

#define KINDS (sizeof kinds / sizeof *kinds)

/* One number from *at on; moves *at behind it. */
static enum err parse_number(const char **at, double *value, struct why *why)
{
    const char *text = *at;
    char *end = NULL;

    /* strtod would also take spaces, signs, inf, nan and hexadecimal. */
    if (*text == '-')
        return why_set(why, ERR_RANGE, "%.32s is negative", text);
    if (!isdigit((unsigned char)*text) && *text != '.')
        return why_set(why, ERR_FORMAT, "`%.32s` is not a number", text);
    *value = strtod(text, &end);
    if (end == text || (*end != '\0' && *end != ','))
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

/* NAME= of worker:NAME=FACTOR; moves *at behind it. */
static enum err parse_worker(const char **at, struct delay_term *term,
                             struct why *why)
{
    const char *equals = strchr(*at, '=');
    const size_t length = equals == NULL ? 0 : (size_t)(equals - *at);

    if (length == 0)
        return why_set(why, ERR_FORMAT, "it is written worker:NAME=FACTOR");
    if (length >= sizeof term->worker)
        return why_set(why, ERR_TOOBIG,
                       "a worker's name has at most %zu "
                       "characters",
                       sizeof term->worker - 1);
    memcpy(term->worker, *at, length);
    term->worker[length] = '\0';
    *at = equals + 1;
    return ERR_OK;
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
                   "bimodal, worker");
}

/* Cut "/scale" off the end, if it is there. */
static bool cut_scale(char *text)
{
    static const char suffix[] = "/scale";
    const size_t length = strlen(text);
    const size_t cut = sizeof suffix - 1;

    if (length < cut || strcmp(text + length - cut, suffix) != 0)
        return false;
    text[length - cut] = '\0';
    return true;
}

static enum err parse_term(char *text, struct delay_term *term, struct why *why)
{
    double value[2] = {0, 0};
    const char *at;
    enum err err;

    term->scale = cut_scale(text);
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
    if (term->kind == DELAY_REFERENCE)
        value[0] = REFERENCE_MEAN;
    if (err == ERR_OK)
        err = parse_numbers(&kinds[term->kind], at, value, why);
    if (err == ERR_OK)
        err = check_bounds(&kinds[term->kind], value, why);
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

/* Step i seeds the generator with i and draws for workers 0, 1, ... in turn.
 * O(slot) a draw. */
static double reference_unit(uint32_t step, uint32_t slot)
{
    struct mt19937 mt;

    mt19937_init(&mt, step);
    for (uint32_t i = 0; i < slot; i++)
        (void)mt19937_unit(&mt);
    return mt19937_unit(&mt);
}

static double exponential(double mean, double u)
{
    return -mean * log(1 - u);
}

/* Quantile u of the additive kinds: seconds, or times the work if scaled. */
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
    case DELAY_BIMODAL:
    case DELAY_WORKER:
        break;
    }
    return length < SLEEP_MAX_S ? length : SLEEP_MAX_S;
}

/* What the factor kinds add to the factor: FACTOR times as long in all is
 * FACTOR - 1 times more. */
static double draw_factor(const struct delay_term *term, double u,
                          const char *worker)
{
    if (term->kind == DELAY_BIMODAL)
        return u < term->a ? term->b - 1 : 0;
    return worker != NULL && strcmp(worker, term->worker) == 0 ? term->a - 1
                                                               : 0;
}

struct delay_draw delay_draw(const struct delay *delay, uint32_t step,
                             uint32_t slot, const char *worker)
{
    struct delay_draw draw = {0, 0};

    for (uint32_t i = 0; i < delay->count; i++) {
        const struct delay_term *term = &delay->term[i];
        const double u =
            term->kind == DELAY_REFERENCE
                ? reference_unit(step, slot)
                : rng_unit_at(rng_at(delay->seed, i, 0), step, slot);

        if (term->kind == DELAY_BIMODAL || term->kind == DELAY_WORKER)
            draw.factor += draw_factor(term, u, worker);
        else if (term->scale)
            draw.factor += draw_length(term, u);
        else
            draw.add_s += draw_length(term, u);
    }
    return draw;
}
