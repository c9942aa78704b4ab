/*
 * options.c - from words, environment and files to checked settings.
 *
 * Every value passes through option_set, whatever its origin, so that a range
 * is checked once and the rule of precedence stands in one line there.
 */
#include "cli/options/options.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "base/mem.h"
#include "base/nearest.h"
#include "os/file/file.h"

#define LIST_BYTES     128u
#define NAME_MAX_BYTES 48u
#define FILE_MAX_BYTES 65536u
#define PATH_MAX_BYTES 4096u

static char plain(char c)
{
    return c == '_' ? '-' : c;
}

/* Do `length` characters of `typed` spell `name`? */
static bool same_name(const char *typed, size_t length, const char *name,
                      size_t name_length)
{
    if (length != name_length)
        return false;
    for (size_t i = 0; i < length; i++)
        if (plain(typed[i]) != name[i])
            return false;
    return true;
}

/* Is the word one of the names in "a|b|c"? */
static bool in_list(const char *typed, size_t length, const char *list)
{
    for (const char *at = list; at != NULL && *at != '\0';) {
        const size_t item = strcspn(at, "|");

        if (same_name(typed, length, at, item))
            return true;
        at += item + (at[item] == '|');
    }
    return false;
}

enum option_id option_find(const char *typed, size_t length)
{
    const struct option *table = option_table();

    for (int id = 0; id < OPTIONS; id++)
        if (same_name(typed, length, table[id].name, strlen(table[id].name)) ||
            in_list(typed, length, table[id].aliases))
            return (enum option_id)id;
    return OPTIONS;
}

/* What other programs call it. */
static const struct foreign {
    const char *name;
    enum option_id id;
} foreign[] = {
    {"lambda", OPT_L2},
    {"alpha", OPT_L2},
    {"penalty", OPT_L2},
    {"reg", OPT_L2},
    {"target", OPT_LABEL},
    {"y", OPT_LABEL},
    {"max-iter", OPT_STEPS},
    {"iterations", OPT_STEPS},
    {"iter", OPT_STEPS},
    {"learning-rate", OPT_LR},
    {"optimizer", OPT_OPTIM},
    {"cv", OPT_FOLDS},
    {"k-fold", OPT_FOLDS},
    {"sep", OPT_SEPARATOR},
    {"delimiter", OPT_SEPARATOR},
    {"delim", OPT_SEPARATOR},
    {"random-state", OPT_SEED},
    {"n-jobs", OPT_THREADS},
    {"jobs", OPT_THREADS},
    {"j", OPT_THREADS},
    {"test-size", OPT_VALID},
    {"sample-weight", OPT_WEIGHT},
    {"w", OPT_CLASS_WEIGHT},
    {"na-values", OPT_MISSING},
    {"impute", OPT_MISSING},
    {"normalize", OPT_SCALE},
    {"standardize", OPT_SCALE},
    {"one-hot", OPT_CATEGORICAL},
    {"ignore", OPT_DROP},
    {"exclude", OPT_DROP},
    {"o", OPT_SAVE},
    {"output", OPT_SAVE},
    {"model-out", OPT_SAVE},
    {"i", OPT_DATA},
    {"d", OPT_DATA},
    {"f", OPT_DATA},
    {"file", OPT_DATA},
    {"train", OPT_DATA},
    {"o", OPT_PREDICTIONS},
    {"output", OPT_PREDICTIONS},
    {"m", OPT_MODEL_FILE},
    {"proba", OPT_PROBABILITY},
};

static enum err suggest(const char *typed, enum option_id id, struct why *why)
{
    const struct option *row = &option_table()[id];

    if (id == OPT_DATA || id == OPT_PREDICTIONS || id == OPT_MODEL_FILE)
        return why_set(why, ERR_UNKNOWN,
                       "no option %s%.*s; %s is named without a flag, see "
                       "--help",
                       typed[1] == '\0' ? "-" : "--", (int)NAME_MAX_BYTES,
                       typed, row->value);
    return why_set(why, ERR_UNKNOWN, "no option %s%.*s; did you mean %s%s?",
                   typed[1] == '\0' ? "-" : "--", (int)NAME_MAX_BYTES, typed,
                   row->name[1] == '\0' ? "-" : "--", row->name);
}

static enum err unknown(const struct options *options, const char *typed,
                        struct why *why)
{
    enum option_id best = OPTIONS;
    size_t limit = nearest_limit(typed);

    if (strcmp(typed, "C") == 0 && option_takes(options, OPT_GRID))
        return why_set(why, ERR_UNKNOWN,
                       "no option -C; -c sets the cost, and --grid "
                       "c=0.1,1,10 finds a good one");

    for (size_t i = 0; i < sizeof foreign / sizeof *foreign; i++)
        if (option_takes(options, foreign[i].id) &&
            nearest_distance(typed, foreign[i].name) == 0)
            return suggest(typed, foreign[i].id, why);
    for (int id = 0; id < OPTIONS; id++) {
        const size_t far = nearest_distance(typed, option_table()[id].name);

        if (option_takes(options, (enum option_id)id) && far <= limit &&
            (best == OPTIONS || far < limit)) {
            best = (enum option_id)id;
            limit = far;
        }
    }
    if (best < OPTIONS)
        return suggest(typed, best, why);
    return why_set(why, ERR_UNKNOWN, "no option %s%.*s; --help lists them",
                   typed[1] == '\0' ? "-" : "--", (int)NAME_MAX_BYTES, typed);
}

static bool parse_count(const char *text, size_t length, uint64_t *value)
{
    char copy[32];
    char *end;

    if (length == 0 || length >= sizeof copy ||
        !isdigit((unsigned char)text[0]))
        return false;
    memcpy(copy, text, length);
    copy[length] = '\0';
    errno = 0;
    *value = strtoull(copy, &end, 10);
    return errno == 0 && *end == '\0';
}

static bool parse_real(const char *text, double *value)
{
    char *end;

    errno = 0;
    *value = strtod(text, &end);
    return end != text && *end == '\0' && errno == 0;
}

static bool within(const struct option *row, double value)
{
    return value >= row->min && value <= row->max;
}

static enum err out_of_range(const struct option *row, const char *text,
                             const char *what, struct why *why)
{
    const char *dashes = row->name[1] == '\0' ? "-" : "--";

    return why_set(why, ERR_RANGE,
                   "%s%s %.64s: expected %s from %.16g to %.16g", dashes,
                   row->name, text, what, row->min, row->max);
}

static enum err parse_flag(const struct option *row, const char *text,
                           struct setting *setting, struct why *why)
{
    const bool yes = in_list(text, strlen(text), "yes|true|on|1");

    if (!yes && !in_list(text, strlen(text), "no|false|off|0"))
        return why_set(why, ERR_RANGE, "--%s %.64s: expected yes or no",
                       row->name, text);
    setting->low = yes;
    setting->text = yes ? "yes" : "no";
    return ERR_OK;
}

static const char *choices_text(const struct option *row, char list[LIST_BYTES])
{
    (void)snprintf(list, LIST_BYTES, "%s", row->choices);
    for (char *bar = strchr(list, '|'); bar != NULL; bar = strchr(bar, '|'))
        *bar = ' ';
    return list;
}

static enum err parse_choice(const struct option *row, const char *text,
                             struct why *why)
{
    char list[LIST_BYTES];

    if (in_list(text, strlen(text), row->choices))
        return ERR_OK;
    return why_set(why, ERR_RANGE, "--%s %.64s: expected one of: %s", row->name,
                   text, choices_text(row, list));
}

static enum err parse_span(const struct option *row, const char *text,
                           struct setting *setting, struct why *why)
{
    const size_t first = strcspn(text, ":");
    const char *second = text[first] == ':' ? text + first + 1 : text;
    const size_t second_length = second == text ? first : strlen(second);

    if (!parse_count(text, first, &setting->low) ||
        !parse_count(second, second_length, &setting->high) ||
        !within(row, (double)setting->low) ||
        !within(row, (double)setting->high) || setting->low > setting->high)
        return out_of_range(row, text, "a whole number, or two as LOW:HIGH,",
                            why);
    return ERR_OK;
}

static enum err parse_value(const struct option *row, const char *text,
                            struct setting *setting, struct why *why)
{
    setting->text = text;
    switch (row->kind) {
    case VALUE_FLAG:
        return parse_flag(row, text, setting, why);
    case VALUE_COUNT:
        if (!parse_count(text, strlen(text), &setting->low) ||
            !within(row, (double)setting->low))
            return out_of_range(row, text, "a whole number", why);
        return ERR_OK;
    case VALUE_REAL:
        if (!parse_real(text, &setting->real) || !within(row, setting->real))
            return out_of_range(row, text, "a number", why);
        return ERR_OK;
    case VALUE_CHOICE:
        return parse_choice(row, text, why);
    case VALUE_SPAN:
        return parse_span(row, text, setting, why);
    case VALUE_TEXT:
        if (*text == '\0')
            return why_set(why, ERR_RANGE, "--%s: the value is empty",
                           row->name);
        return ERR_OK;
    case VALUE_RUN:
        return ERR_OK;
    }
    return ERR_UNKNOWN;
}

enum err option_set(struct options *options, enum option_id id,
                    const char *text, enum origin origin, struct why *why)
{
    struct setting made = {.origin = origin};
    enum err err;

    CHECK(id < OPTIONS);
    if (options->setting[id].text != NULL &&
        origin < options->setting[id].origin)
        return ERR_OK;
    err = parse_value(&option_table()[id], text, &made, why);
    if (err == ERR_OK)
        options->setting[id] = made;
    return err;
}

/* `--resume data.svm` must not eat the data: the next word belongs to it only
 * if it is a folder, which data never are. */
static bool is_folder(const char *word)
{
    char path[PATH_MAX_BYTES];

    return snprintf(path, sizeof path, "%s/.", word) < (int)sizeof path &&
           file_exists(path);
}

/* One flag: `word` without its dashes, `next` the word after it or NULL.
 * *took says whether that one was used up as the value. */
static enum err take_flag(struct options *options, const char *word,
                          const char *next, enum origin origin, bool *took,
                          struct why *why)
{
    const size_t length = strcspn(word, "=");
    const char *value = word[length] == '=' ? word + length + 1 : NULL;
    enum option_id id = option_find(word, length);
    const bool no = id == OPTIONS && value == NULL && length > 3 &&
                    strncmp(word, "no", 2) == 0 && plain(word[2]) == '-';

    *took = false;
    if (no) {
        id = option_find(word + 3, length - 3);
        if (id < OPTIONS && option_table()[id].kind != VALUE_FLAG)
            id = OPTIONS;
        value = "no";
    }
    if (id == OPTIONS || !option_takes(options, id)) {
        char name[NAME_MAX_BYTES + 1];

        (void)snprintf(name, sizeof name, "%.*s", (int)length, word);
        return unknown(options, name, why);
    }
    if (value == NULL && option_table()[id].takes_digit && length == 1 &&
        next != NULL && (next[0] == '0' || next[0] == '1') && next[1] == '\0') {
        value = next;
        *took = true;
    }
    if (value == NULL && option_table()[id].kind == VALUE_FLAG)
        value = "yes";
    if (value == NULL && option_table()[id].kind == VALUE_RUN) {
        *took = next != NULL && next[0] != '-' && is_folder(next);
        value = *took ? next : "";
    }
    if (value == NULL) {
        if (next == NULL)
            return why_set(why, ERR_RANGE, "--%s: a value is missing: %s",
                           option_table()[id].name, option_table()[id].value);
        value = next;
        *took = true;
    }
    if (id == OPT_CONFIG && origin == ORIGIN_FILE)
        return why_set(why, ERR_RANGE,
                       "--config: a file of flags cannot name another; put its "
                       "lines here");
    return option_set(options, id, value, origin, why);
}

static enum err take_positional(struct options *options, uint32_t index,
                                const char *word, struct why *why)
{
    char list[LIST_BYTES];
    enum option_id id;
    enum err err;

    if (index >= options->shape.positional_count)
        return why_set(why, ERR_UNKNOWN,
                       "%.64s: one argument too many; --help says which there "
                       "are",
                       word);
    id = options->shape.positional[index];
    err = option_set(options, id, word, ORIGIN_FLAG, why);
    if (err == ERR_RANGE && option_table()[id].kind == VALUE_CHOICE)
        return why_set(why, err, "%.64s: expected one of: %s; see --help", word,
                       choices_text(&option_table()[id], list));
    return err;
}

/* Is it a flag?  `-` is standard input and -5 is a bad value, not a flag. */
static bool is_flag(const char *word)
{
    return word[0] == '-' && (isalpha((unsigned char)word[1]) ||
                              (word[1] == '-' && word[2] != '\0'));
}

/* LIBLINEAR's -w1 and -w-1: the label is part of the flag. */
static bool is_class_weight(const char *word)
{
    const char *label = word + 2;

    if (word[0] != '-' || word[1] != 'w')
        return false;
    label += *label == '-' || *label == '+';
    return *label != '\0' && label[strspn(label, "0123456789")] == '\0';
}

/* Gather them in the form of --class-weight. */
static enum err take_class_weight(struct options *options, const char *label,
                                  const char *weight, struct why *why)
{
    size_t used;
    int wrote;

    if (!option_takes(options, OPT_CLASS_WEIGHT))
        return unknown(options, "w", why);
    if (weight == NULL)
        return why_set(why, ERR_RANGE, "-w%.20s: a value is missing: WEIGHT",
                       label);
    if (options->class_weight == NULL)
        options->class_weight = mem_new(CLASS_WEIGHT_BYTES, 1);
    if (options->class_weight == NULL)
        return why_set(why, ERR_NOMEM, "out of memory");
    used = strlen(options->class_weight);
    wrote = snprintf(options->class_weight + used, CLASS_WEIGHT_BYTES - used,
                     "%s%s=%s", used == 0 ? "" : ",", label, weight);
    if (wrote < 0 || (size_t)wrote >= CLASS_WEIGHT_BYTES - used)
        return why_set(why, ERR_RANGE,
                       "-w%.20s: too many class weights; --class-weight takes "
                       "longer lists",
                       label);
    return option_set(options, OPT_CLASS_WEIGHT, options->class_weight,
                      ORIGIN_FLAG, why);
}

static enum err take_words(struct options *options, int argc, char *const *argv,
                           struct why *why)
{
    uint32_t positional = 0;
    bool flags = true; /* Until `--`. */
    enum err err = ERR_OK;

    for (int i = 0; i < argc && err == ERR_OK; i++) {
        const char *word = argv[i];
        bool took = false;

        if (flags && strcmp(word, "--") == 0) {
            flags = false;
        } else if (flags && is_class_weight(word)) {
            err = take_class_weight(options, word + 2,
                                    i + 1 < argc ? argv[i + 1] : NULL, why);
            i++;
        } else if (flags && is_flag(word)) {
            err = take_flag(options, word + (word[1] == '-' ? 2 : 1),
                            i + 1 < argc ? argv[i + 1] : NULL, ORIGIN_FLAG,
                            &took, why);
            i += took;
        } else {
            err = take_positional(options, positional++, word, why);
        }
    }
    return err;
}

static enum err take_environment(struct options *options, struct why *why)
{
    enum err err = ERR_OK;

    for (int id = 0; id < OPTIONS && err == ERR_OK; id++) {
        const struct option *row = &option_table()[id];
        char name[NAME_MAX_BYTES + 8];
        const char *value;
        size_t used = (size_t)snprintf(name, sizeof name, "MUSTER_");

        if (!option_takes(options, (enum option_id)id))
            continue;
        for (const char *at = row->name; *at != '\0'; at++)
            name[used++] = *at == '-' ? '_' : (char)toupper((unsigned char)*at);
        name[used] = '\0';
        value = getenv(name);
        if (value == NULL || *value == '\0')
            continue;
        err = option_set(options, (enum option_id)id, value, ORIGIN_ENVIRONMENT,
                         why);
        if (err != ERR_OK)
            why_in(why, err, "environment %s", name);
    }
    return err;
}

static enum err read_text(const char *path, char **text, struct why *why)
{
    uint8_t *data;
    size_t size;
    const enum err err = file_read(path, FILE_MAX_BYTES, &data, &size, why);

    if (err != ERR_OK)
        return err;
    if (memchr(data, '\0', size) != NULL) {
        mem_free(data);
        return why_set(why, ERR_FORMAT,
                       "%.200s: not a list of flags, one per line", path);
    }
    *text = (char *)data;
    return ERR_OK;
}

/* Cut comments and blanks off both ends, in place. */
static char *trim(char *line)
{
    size_t length;

    for (char *mark = strchr(line, '#'); mark != NULL;
         mark = strchr(mark + 1, '#'))
        if (mark == line || isspace((unsigned char)mark[-1])) {
            *mark = '\0';
            break;
        }
    while (isspace((unsigned char)*line))
        line++;
    for (length = strlen(line);
         length > 0 && isspace((unsigned char)line[length - 1]); length--)
        line[length - 1] = '\0';
    return line;
}

static enum err take_line(struct options *options, char *line, struct why *why)
{
    char *word = trim(line);
    char *value;
    bool took;

    while (*word == '-')
        word++;
    if (*word == '\0')
        return ERR_OK;
    value = word + strcspn(word, " \t=");
    if (*value == '\0')
        return take_flag(options, word, NULL, ORIGIN_FILE, &took, why);
    if (*value != '=') {
        *value++ = '\0';
        value += strspn(value, " \t");
        if (*value == '=')
            return why_set(why, ERR_FORMAT, "write %.48s=value, without blanks",
                           word);
        return take_flag(options, word, value, ORIGIN_FILE, &took, why);
    }
    return take_flag(options, word, NULL, ORIGIN_FILE, &took, why);
}

enum err options_read_file(struct options *options, const char *path,
                           struct why *why)
{
    char **slot = &options->files[options->files[0] == NULL ? 0 : 1];
    uint32_t number = 0;
    enum err err;

    CHECK(*slot == NULL);
    err = read_text(path, slot, why);
    for (char *line = *slot, *next; err == ERR_OK && line != NULL;
         line = next) {
        next = strchr(line, '\n');
        if (next != NULL)
            *next++ = '\0';
        number++;
        err = take_line(options, line, why);
        if (err != ERR_OK)
            why_in(why, err, "%.200s: line %u", path, number);
    }
    return err;
}

static enum err take_defaults(struct options *options, struct why *why)
{
    enum err err = ERR_OK;

    for (int id = 0; id < OPTIONS && err == ERR_OK; id++) {
        const struct option *row = &option_table()[id];
        const char *initial =
            option_words((enum option_id)id, (uint32_t)options->shape.command)
                .initial;

        if (!option_takes(options, (enum option_id)id))
            continue;
        if (initial == NULL && row->kind == VALUE_FLAG)
            initial = "no";
        if (initial != NULL && options->setting[id].text == NULL)
            err = option_set(options, (enum option_id)id, initial,
                             ORIGIN_DEFAULT, why);
    }
    return err;
}

/* A line that is wrong is told with the file's name; that there is no such
 * file, with the flag's. */
static enum err read_config(struct options *options, const char *path,
                            struct why *why)
{
    const enum err err = options_read_file(options, path, why);

    return err == ERR_NOTFOUND ? why_in(why, err, "--config") : err;
}

enum err options_parse(struct options *options,
                       const struct option_shape *shape, int argc,
                       char *const *argv, struct why *why)
{
    enum err err;

    *options = (struct options){.shape = *shape};
    err = take_words(options, argc, argv, why);
    if (err == ERR_OK && !option_flag(options, OPT_HELP))
        err = take_environment(options, why);
    if (err == ERR_OK && option_given(options, OPT_CONFIG))
        err = read_config(options, option_text(options, OPT_CONFIG), why);
    if (err == ERR_OK)
        err = take_defaults(options, why);
    return err;
}

void options_close(struct options *options)
{
    mem_free(options->files[0]);
    mem_free(options->files[1]);
    mem_free(options->class_weight);
    *options = (struct options){.shape = options->shape};
}

bool option_takes(const struct options *options, enum option_id id)
{
    return (option_table()[id].commands & (uint32_t)options->shape.command) !=
           0;
}

bool option_given(const struct options *options, enum option_id id)
{
    return options->setting[id].text != NULL &&
           options->setting[id].origin != ORIGIN_DEFAULT;
}

const char *option_text(const struct options *options, enum option_id id)
{
    return options->setting[id].text;
}

bool option_flag(const struct options *options, enum option_id id)
{
    CHECK(option_table()[id].kind == VALUE_FLAG);
    return options->setting[id].low != 0;
}

uint64_t option_count(const struct options *options, enum option_id id)
{
    CHECK(option_table()[id].kind == VALUE_COUNT ||
          option_table()[id].kind == VALUE_SPAN);
    return options->setting[id].low;
}

double option_real(const struct options *options, enum option_id id)
{
    CHECK(option_table()[id].kind == VALUE_REAL);
    return options->setting[id].real;
}

const char *origin_name(enum origin origin)
{
    static const char *const names[] = {"default", "file", "environment",
                                        "flag"};

    CHECK((size_t)origin < sizeof names / sizeof *names);
    return names[origin];
}
