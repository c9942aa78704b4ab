/*
 * preset_text.c - a code as people write it: NAME[:FILE][:KEY=VALUE]...
 *
 * What begins with a known key and `=` begins a setting; anything else belongs
 * to what stands before it, so that `stop=deadline:0.5` and names of files may
 * have colons.
 */
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "code/preset.h"

#define ONCE "once"

#define COUNT(field, low, high)                                                \
    .offset = offsetof(struct preset_options, field), .min = (low),            \
    .max = (high), .kind = KIND_COUNT
#define TEXT(field)                                                            \
    .offset = offsetof(struct preset_options, field), .kind = KIND_TEXT

enum kind { KIND_COUNT, KIND_TEXT, KIND_EVERY, KIND_DECODING };

static const struct key {
    const char *name;
    const char *help;
    enum kind kind;
    size_t offset; /* Of its field. */
    uint32_t min, max;
} keys[PRESET_KEYS] = {
    [KEY_S] = {"s", "workers that may be slow or dead; else --stragglers",
               COUNT(stragglers, 0, CODE_SLOTS_MAX)},
    [KEY_K] = {"k", "answers that suffice, n-s: the other way to say s",
               COUNT(enough, 1, CODE_SLOTS_MAX)},
    [KEY_COLLECT] = {"collect", "answers that end a step",
                     COUNT(collect, 1, CODE_SLOTS_MAX)},
    [KEY_PIECES] = {"pieces", "pieces a part is cut into and sent by",
                    COUNT(pieces, 1, CODE_PIECES_MAX)},
    [KEY_PARTS] = {"parts", "parts a worker holds, s+1 of them coded; 2(s+1)",
                   COUNT(parts, 2, 1024)},
    [KEY_REPLICAS] = {"replicas", "copies of a part; s+1",
                      COUNT(replicas, 1, 1000)},
    [KEY_STALENESS] = {"staleness",
                       "use answers up to so many updates old, wait for who is "
                       "further behind",
                       COUNT(staleness, 0, 1000)},
    [KEY_H] = {"h",
               "steps of gd, or passes of sgd, between two averages; once: "
               "only at the end",
               .kind = KIND_EVERY},
    [KEY_SPEEDS] = {"speeds", "of the workers, with commas: loads follow them",
                    TEXT(speed_text)},
    [KEY_DECODE] = {"decode",
                    "optimal (least squares) or one-step (one weight for all)",
                    .kind = KIND_DECODING},
    [KEY_STOP] = {"stop",
                  "when a step ends: all, cover, first:K, collect:K, groups:K, "
                  "deadline:SECONDS",
                  TEXT(stop)},
    [KEY_ESTIMATE] = {"estimate",
                      "for missing parts: exact, reference (nothing), ratio, "
                      "unbiased; flexent: abandon, rescale, shadow, shrink",
                      TEXT(estimate)},
    [KEY_L] = {"l", "machines that suffice; three quarters of N",
               COUNT(l, 1, CODE_NUMERIC_MAX)},
    [KEY_P] = {"p", "machines there can ever be; 2 N",
               COUNT(blocks, 1, CODE_NUMERIC_MAX)},
    [KEY_COPIES] = {"copies",
                    "1, or 2: twice the storage, and no slow worker is waited "
                    "for on the way back",
                    COUNT(copies, 1, 2)},
    [KEY_RULE] = {"rule", "wrap (loads by speed) or cyclic (as in the paper)",
                  TEXT(rule)},
    [KEY_SHADOWS] = {"shadows", "workers that compute samples; 1",
                     COUNT(shadows, 1, CODE_SLOTS_MAX)},
    [KEY_SIZE] = {"size", "rows of a sample, of those it stands for; 10%",
                  TEXT(size)},
    [KEY_SAMPLER] = {"sampler",
                     "strata (by colour, unbiased), random, or entropy (as "
                     "published)",
                     TEXT(draw)},
    [KEY_FILTERS] = {"filters",
                     "what colours rows, as in `muster data entropy`: "
                     "label+column:3",
                     TEXT(filters)},
};

const char *preset_key_name(enum preset_key key)
{
    CHECK(key < PRESET_KEYS);
    return keys[key].name;
}

const char *preset_key_help(enum preset_key key)
{
    CHECK(key < PRESET_KEYS);
    return keys[key].help;
}

/* The key that `text` sets, or PRESET_KEYS. */
static enum preset_key key_at(const char *text)
{
    const size_t length = strcspn(text, "=:");

    for (int i = 0; text[length] == '=' && i < PRESET_KEYS; i++)
        if (strlen(keys[i].name) == length &&
            strncmp(keys[i].name, text, length) == 0)
            return (enum preset_key)i;
    return PRESET_KEYS;
}

static enum err read_count(const struct key *key, const char *text,
                           uint32_t *count, struct why *why)
{
    char *end;
    const unsigned long value = strtoul(text, &end, 10);

    if (end != text && *end == ':')
        return why_set(why, ERR_UNKNOWN,
                       "`%.32s` is no setting of a code; `muster codes NAME` "
                       "lists them",
                       end + 1);
    if (end != text && *end == ',')
        return why_set(why, ERR_RANGE,
                       "%s=%.32s: settings are set apart by `:`, not by `,`",
                       key->name, text);
    if (*text < '0' || *text > '9' || *end != '\0' || value < key->min ||
        value > key->max)
        return why_set(why, ERR_RANGE,
                       "%s=%.32s: expected a whole number from %u to %u",
                       key->name, text, key->min, key->max);
    *count = (uint32_t)value;
    return ERR_OK;
}

static enum err read_every(const char *text, uint32_t *every, struct why *why)
{
    static const struct key steps = {.name = "h", .min = 1, .max = PRESET_ONCE};

    if (strcmp(text, ONCE) == 0)
        *every = PRESET_ONCE;
    else if (read_count(&steps, text, every, NULL) != ERR_OK)
        return why_set(why, ERR_RANGE,
                       "h=%.32s: expected a whole number of steps above "
                       "zero, or " ONCE,
                       text);
    return ERR_OK;
}

static enum err read_decoding(const char *text, enum decoding *decoding,
                              struct why *why)
{
    const bool one_step = strcmp(text, "one-step") == 0;

    if (!one_step && strcmp(text, "optimal") != 0)
        return why_set(why, ERR_RANGE,
                       "decode=%.32s: expected optimal or one-step", text);
    *decoding = one_step ? DECODE_ONE_STEP : DECODE_OPTIMAL;
    return ERR_OK;
}

static enum err take(enum preset_key which, const char *text,
                     struct preset_options *options, struct why *why)
{
    const struct key *key = &keys[which];
    char *field = (char *)options + key->offset;

    switch (key->kind) {
    case KIND_COUNT:
        return read_count(key, text, (uint32_t *)(void *)field, why);
    case KIND_EVERY:
        return read_every(text, &options->every, why);
    case KIND_DECODING:
        return read_decoding(text, &options->decoding, why);
    case KIND_TEXT:
        break;
    }
    *(const char **)(void *)field = text;
    return ERR_OK;
}

/* The settings that mean something to a code. */
static void list_keys(const struct preset *preset, char *list, size_t size)
{
    size_t used = 0;

    list[0] = '\0';
    for (int i = 0; i < PRESET_KEYS; i++)
        if ((preset->keys >> i & 1) != 0)
            used += (size_t)snprintf(list + used, size - used, "%s%s",
                                     used == 0 ? "" : ", ", keys[i].name);
    CHECK(used < size);
}

static enum err no_key(const struct preset *preset, const char *typed,
                       struct why *why)
{
    const size_t length = strcspn(typed, "=:");
    char list[WHY_SIZE / 2];

    list_keys(preset, list, sizeof list);
    return why_set(why, ERR_SHAPE,
                   "code %s has no setting `%.*s`; there are %s, each with "
                   "=VALUE",
                   preset->name, length < 48 ? (int)length : 48, typed, list);
}

/* The end of the word at `text`: where the next setting begins. */
static char *word_end(char *text)
{
    char *colon = strchr(text, ':');

    while (colon != NULL && key_at(colon + 1) == PRESET_KEYS)
        colon = strchr(colon + 1, ':');
    return colon;
}

enum err preset_read(char *text, struct preset_options *options,
                     struct why *why)
{
    const struct preset *preset = preset_find(text);
    char *next = word_end(text);
    char *file = strchr(text, ':');
    uint32_t seen = 0; /* Keys, by bits. */
    enum err err = ERR_OK;

    options->name = text;
    if (preset == NULL)
        return preset_unknown(text, why);
    if (file != NULL && file != next) {
        if (!preset_takes_file(text))
            return no_key(preset, file + 1, why);
        options->file = file + 1;
    }
    if (file != NULL)
        *file = '\0';
    while (err == ERR_OK && next != NULL) {
        char *const setting = next + 1;
        const enum preset_key key = key_at(setting);

        *next = '\0';
        next = word_end(setting);
        if ((preset->keys >> key & 1) == 0)
            return no_key(preset, setting, why);
        if ((seen >> key & 1) != 0)
            return why_set(why, ERR_SHAPE, "code %s: %s is set twice",
                           preset->name, keys[key].name);
        seen |= 1u << key;
        if (next != NULL)
            *next = '\0';
        err = take(key, setting + strlen(keys[key].name) + 1, options, why);
    }
    return err;
}

enum err preset_parse(char *text, struct preset_options *options,
                      struct why *why)
{
    const struct preset *const preset = preset_find(text);
    const enum err err = preset_read(text, options, why);

    if (err == ERR_OK && (preset->keys & 1u << KEY_H) != 0 &&
        options->every == 0)
        return why_set(why, ERR_SHAPE,
                       "code %s needs h=H, the steps between two averages, "
                       "or h=" ONCE,
                       preset->name);
    return err;
}
