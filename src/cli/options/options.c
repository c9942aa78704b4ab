/*
 * options.c - from words, environment and files to checked settings.
 */
#include "cli/options/options.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "base/mem.h"
#include "os/file/file.h"

#define NAME_MAX_BYTES 48u
#define FILE_MAX_BYTES 65536u

static char plain(char c)
{
    return c == '_' ? '-' : c;
}

int option_find(const char *typed, size_t length)
{
    int id = recipe_find(typed, length);

    while (id < OPTIONS && !option_named(option_row(id), typed, length))
        id++;
    return id;
}

static struct setting *setting_of(struct options *options, int id)
{
    CHECK(id >= 0 && id < OPTIONS);
    return id < RECIPE_OPTIONS ? &options->recipe.setting[id]
                               : &options->own[id - RECIPE_OPTIONS];
}

const struct setting *option_setting(const struct options *options, int id)
{
    CHECK(id >= 0 && id < OPTIONS);
    return id < RECIPE_OPTIONS ? &options->recipe.setting[id]
                               : &options->own[id - RECIPE_OPTIONS];
}

enum err option_set(struct options *options, int id, const char *text,
                    enum origin origin, struct why *why)
{
    return setting_put(setting_of(options, id), option_row(id), text, origin,
                       why);
}

/* Is it a flag?  `-` is standard input and -5 is a bad value, not a flag. */
static bool is_flag(const char *word)
{
    return word[0] == '-' && (isalpha((unsigned char)word[1]) ||
                              (word[1] == '-' && word[2] != '\0'));
}

/* Of a flag that has several names a sentence has the one that was typed. */
static void say_typed(const struct option *row, const char *word, size_t length,
                      struct why *why)
{
    char own[NAME_MAX_BYTES + 1], said[WHY_SIZE];
    const int size =
        snprintf(own, sizeof own, "%s%s", option_dashes(row->name), row->name);

    if (why == NULL ||
        option_named(&(struct option){.name = row->name}, word, length) ||
        strncmp(why->text, own, (size_t)size) != 0)
        return;
    (void)snprintf(said, sizeof said, "%s", why->text + size);
    (void)why_set(why, ERR_RANGE, "%s%.*s%s", length == 1 ? "-" : "--",
                  (int)length, word, said);
}

/* One flag: `word` without its dashes, `next` the word after it or NULL.
 * *took says whether that one was used up as the value. */
static enum err take_flag(struct options *options, const char *word,
                          const char *next, enum origin origin, bool *took,
                          struct why *why)
{
    const size_t length = strcspn(word, "=");
    const char *value = word[length] == '=' ? word + length + 1 : NULL;
    int id = option_find(word, length);
    enum err err;
    const bool no = id == OPTIONS && value == NULL && length > 3 &&
                    strncmp(word, "no", 2) == 0 && plain(word[2]) == '-';

    *took = false;
    if (no) {
        id = option_find(word + 3, length - 3);
        if (id < OPTIONS && option_row(id)->kind != VALUE_FLAG)
            id = OPTIONS;
        value = "no";
    }
    if (id == OPTIONS || !option_takes(options, id)) {
        char name[NAME_MAX_BYTES + 1];

        (void)snprintf(name, sizeof name, "%.*s", (int)length, word);
        return option_unknown(options, name, why);
    }
    /* LIBLINEAR's -b 1 and -b 0 are one flag each. */
    if (value == NULL && id == OPT_PROBABILITY && length == 1 && next != NULL &&
        (next[0] == '0' || next[0] == '1') && next[1] == '\0') {
        value = next;
        *took = true;
    }
    if (value == NULL && id == OPT_HELP && next != NULL &&
        strcmp(next, "all") == 0) {
        options->help_all = true;
        *took = true;
    }
    if (value == NULL && option_row(id)->kind == VALUE_FLAG)
        value = "yes";
    /* `--resume data.svm` must not eat the data: the next word belongs to it
     * only if it is a folder, which data never are. */
    if (value == NULL && option_row(id)->kind == VALUE_RUN) {
        *took = next != NULL && next[0] != '-' && file_is_folder(next);
        value = *took ? next : "";
    }
    if (value == NULL) {
        if (next == NULL || is_flag(next))
            return why_set(why, ERR_RANGE, "%s%.*s: a value is missing: %s",
                           length == 1 ? "-" : "--", (int)length, word,
                           option_row(id)->value);
        value = next;
        *took = true;
    }
    if (id == OPT_SOLVER && isalpha((unsigned char)value[0]))
        return why_set(why, ERR_RANGE,
                       "--solver %.32s: it takes LIBLINEAR's number of a type; "
                       "the optimiser is --optim, as in --optim lbfgs",
                       value);
    if (id == OPT_CONFIG && origin == ORIGIN_FILE)
        return why_set(why, ERR_RANGE,
                       "--config: a file of flags cannot name another; put its "
                       "lines here");
    err = setting_add(setting_of(options, id), option_row(id), value, origin,
                      why);
    if (err == ERR_RANGE && !no)
        say_typed(option_row(id), word, length, why);
    return err;
}

static enum err take_positional(struct options *options, uint32_t index,
                                const char *word, struct why *why)
{
    char list[CHOICES_SIZE];
    int id;
    enum err err;

    if (index >= options->shape.positional_count && options->shape.rest)
        return why_set(why, ERR_UNKNOWN,
                       "%.64s: the job stands behind two dashes: `-- %.64s "
                       "...`",
                       word, word);
    if (index >= options->shape.positional_count)
        return why_set(why, ERR_UNKNOWN,
                       "%.64s: one argument too many; --help says which there "
                       "are",
                       word);
    id = options->shape.positional[index];
    err = option_set(options, id, word, ORIGIN_FLAG, why);
    if (err == ERR_RANGE && option_row(id)->kind == VALUE_CHOICE)
        return why_set(why, err, "%.64s: expected one of: %s; see --help", word,
                       option_choices(option_row(id), list));
    return err;
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
        return option_unknown(options, "w", why);
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

/* What is wrong so far: the first of it, and how many. */
struct troubles {
    enum err err;
    struct why first;
    uint32_t count;
    bool lost; /* Whose the words behind it are, nobody knows. */
};

void options_note(struct options *options, const struct why *why)
{
    if (options->others == NULL)
        options->others = mem_new(TROUBLES_MAX - 1, sizeof *options->others);
    if (options->others != NULL && options->other_count < TROUBLES_MAX - 1)
        options->others[options->other_count++] = *why;
}

/* Keep what is wrong with one word; ERR_OK: the next ones can be looked at. */
static enum err note(struct options *options, enum err err,
                     const struct why *why, struct troubles *troubles)
{
    if (err != ERR_UNKNOWN && err != ERR_RANGE)
        return err;
    if (troubles->count++ == 0) {
        troubles->err = err;
        troubles->first = *why;
        return ERR_OK;
    }
    options_note(options, why);
    return ERR_OK;
}

/* Do two dashes stand behind, which say where the job begins? */
static bool has_dashes(int argc, char *const *argv)
{
    for (int i = 0; i < argc; i++)
        if (strcmp(argv[i], "--") == 0)
            return true;
    return false;
}

static enum err take_words(struct options *options, int argc, char *const *argv,
                           struct troubles *troubles, struct why *why)
{
    uint32_t positional = 0;
    bool flags = true; /* Until `--`. */
    enum err err = ERR_OK;

    for (int i = 0; i < argc && err == ERR_OK; i++) {
        const char *word = argv[i];
        bool took = false;

        if (flags && strcmp(word, "--") == 0 && options->shape.rest) {
            options->rest = argv + i + 1;
            options->rest_count = (uint32_t)(argc - i - 1);
            break;
        } else if (flags && strcmp(word, "--") == 0) {
            flags = false;
        } else if (flags && is_class_weight(word)) {
            err = take_class_weight(options, word + 2,
                                    i + 1 < argc ? argv[i + 1] : NULL, why);
            i++;
        } else if (flags && is_flag(word)) {
            err = take_flag(options, word + (word[1] == '-' ? 2 : 1),
                            i + 1 < argc ? argv[i + 1] : NULL, ORIGIN_FLAG,
                            &took, why);
            if (err == ERR_UNKNOWN && strchr(word, '=') == NULL) {
                took = i + 1 < argc && !is_flag(argv[i + 1]);
                troubles->lost = true;
            }
            i += took;
        } else if (positional < options->shape.positional_count) {
            err = take_positional(options, positional++, word, why);
        } else if (!troubles->lost) {
            err = take_positional(options, positional, word, why);
            troubles->lost = true;
        }
        if (err != ERR_OK)
            err = note(options, err, why, troubles);
        if (troubles->lost && options->shape.rest &&
            !has_dashes(argc - i - 1, argv + i + 1))
            break; /* A job without its dashes: what follows is its own. */
    }
    return err;
}

static enum err take_environment(struct options *options,
                                 struct troubles *troubles, struct why *why)
{
    enum err err = ERR_OK;

    for (int id = 0; id < OPTIONS && err == ERR_OK; id++) {
        const struct option *row = option_row(id);
        char name[NAME_MAX_BYTES + 8];
        const char *value;
        size_t used = (size_t)snprintf(name, sizeof name, "MUSTER_");

        if (!option_takes(options, id))
            continue;
        for (const char *at = row->name; *at != '\0'; at++)
            name[used++] = *at == '-' ? '_' : (char)toupper((unsigned char)*at);
        name[used] = '\0';
        value = getenv(name);
        if (value == NULL || *value == '\0')
            continue;
        err = option_set(options, id, value, ORIGIN_ENVIRONMENT, why);
        if (err != ERR_OK)
            err = note(options, why_in(why, err, "environment %s", name), why,
                       troubles);
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
    char *text = NULL;
    uint32_t number = 0;
    enum err err = read_text(path, &text, why);

    for (char *line = text, *next; err == ERR_OK && line != NULL; line = next) {
        next = strchr(line, '\n');
        if (next != NULL)
            *next++ = '\0';
        number++;
        err = take_line(options, line, why);
        if (err != ERR_OK)
            why_in(why, err, "%.200s: line %u", path, number);
    }
    mem_free(text);
    return err;
}

static enum err take_defaults(struct options *options, struct why *why)
{
    enum err err = ERR_OK;

    for (int id = 0; id < OPTIONS && err == ERR_OK; id++) {
        const struct option *row = option_row(id);
        const char *initial =
            option_words(id, (uint32_t)options->shape.command).initial;

        if (!option_takes(options, id))
            continue;
        if (initial == NULL && row->kind == VALUE_FLAG)
            initial = "no";
        if (initial != NULL && option_text(options, id) == NULL)
            err = option_set(options, id, initial, ORIGIN_DEFAULT, why);
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
    struct troubles troubles = {0};
    enum err err;

    *options = (struct options){.shape = *shape};
    err = take_words(options, argc, argv, &troubles, why);
    if (err == ERR_OK && !option_flag(options, OPT_HELP))
        err = take_environment(options, &troubles, why);
    if (err == ERR_OK && troubles.count > 0) {
        *why = troubles.first;
        err = troubles.err;
    }
    if (err == ERR_OK && option_given(options, OPT_CONFIG))
        err = read_config(options, option_text(options, OPT_CONFIG), why);
    if (err == ERR_OK)
        err = take_defaults(options, why);
    return err;
}

void options_close(struct options *options)
{
    recipe_close(&options->recipe);
    for (int id = RECIPE_OPTIONS; id < OPTIONS; id++)
        setting_close(setting_of(options, id));
    mem_free(options->class_weight);
    mem_free(options->others);
    *options = (struct options){.shape = options->shape};
}

bool option_takes(const struct options *options, int id)
{
    return (option_use(id)->commands & (uint32_t)options->shape.command) != 0;
}

bool option_given(const struct options *options, int id)
{
    return setting_given(option_setting(options, id));
}

const char *option_text(const struct options *options, int id)
{
    return option_setting(options, id)->text;
}

bool option_flag(const struct options *options, int id)
{
    CHECK(option_row(id)->kind == VALUE_FLAG);
    return option_setting(options, id)->low != 0;
}

uint64_t option_count(const struct options *options, int id)
{
    CHECK(option_row(id)->kind == VALUE_COUNT ||
          option_row(id)->kind == VALUE_SPAN);
    return option_setting(options, id)->low;
}

double option_real(const struct options *options, int id)
{
    CHECK(option_row(id)->kind == VALUE_REAL);
    return option_setting(options, id)->real;
}

void options_choose(const struct options *options, struct choices *choices)
{
    recipe_choose(&options->recipe, choices);
    for (int id = RECIPE_OPTIONS; id < OPTIONS; id++)
        setting_choose(option_setting(options, id), option_row(id), choices);
}
