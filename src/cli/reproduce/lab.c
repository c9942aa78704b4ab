/*
 * lab.c - runs of muster and what an experiment makes of them, collected as one
 * JSON object.
 */
#include "cli/reproduce/lab.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "core/run/failure.h"
#include "os/file/file.h"
#include "os/file/output.h"
#include "os/run/program.h"
#include "os/run/threads.h"

#define LINE_SIZE 2048u
#define WORDS_MAX 96u
#define NAME_ROOM 64u
#define MUSTER    "muster"

static void fail(struct lab *lab, enum err err)
{
    if (lab->err == ERR_OK)
        lab->err = err;
}

/* What is written here replaces what has its name: nobody else may have put
 * something there, and a link may lead to what is not an experiment's. */
enum err lab_vet_folder(const char *folder, struct why *why)
{
    char target[FILE_PATH_SIZE];

    if (file_read_link(folder, target, sizeof target))
        return why_set(why, ERR_SHAPE,
                       "%.300s: a link, and an experiment writes into a folder "
                       "of its own; remove it, or choose another --to",
                       folder);
    return file_exists(folder) ? file_check_folder(folder, why) : ERR_OK;
}

static enum err make_own(const char *folder, struct why *why)
{
    enum err err = lab_vet_folder(folder, why);

    if (err == ERR_OK)
        err = file_make_folder(folder, why);
    return err == ERR_OK ? file_check_folder(folder, why) : err;
}

enum err lab_open(struct lab *lab)
{
    lab->page = json_pack("{s:[], s:[], s:[], s:[]}", "tables", "plots",
                          "remarks", "commands");
    if (lab->page == NULL)
        return why_set(&lab->why, ERR_NOMEM, "%s", err_text(ERR_NOMEM));
    return make_own(lab->folder, &lab->why);
}

void lab_close(struct lab *lab)
{
    json_decref(lab->page);
    lab->page = NULL;
}

/* --- runs ---------------------------------------------------------------- */

static void cut(char *line, const char **words)
{
    uint32_t count = 0;

    for (char *word = line; *word != '\0';) {
        char *end = strchr(word, ' ');

        CHECK(count < WORDS_MAX);
        if (*word != ' ')
            words[count++] = word;
        if (end == NULL)
            break;
        *end = '\0';
        word = end + 1;
    }
    words[count++] = "--format";
    words[count++] = "json";
    words[count] = NULL;
}

struct errand {
    const char *name; /* Of the program. */
    const char *path; /* NULL: muster itself. */
    const char *line; /* Its words. */
    enum lab_end worst;
};

/* The sentence of {"error": ...}, or how it ended. */
static void tell_failure(struct lab *lab, const struct errand *job,
                         const json_t *found, const struct process_end *end)
{
    const char *said = lab_text(found, "error");

    if (*said != '\0')
        fail(lab, why_set(&lab->why, ERR_IO, "%.200s: %s %.200s: %.400s",
                          lab->experiment->name, job->name, job->line, said));
    else if (end->signal != 0)
        fail(lab,
             why_set(&lab->why, ERR_IO, "%.200s: %s %.300s: ended by signal %d",
                     lab->experiment->name, job->name, job->line, end->signal));
    else
        fail(lab, why_set(&lab->why, ERR_IO,
                          "%.200s: %s %.300s: ended with %d; see run-%u.log in "
                          "%.300s",
                          lab->experiment->name, job->name, job->line,
                          end->code, lab->runs, lab->folder));
}

static json_t *add(struct lab *lab, const char *to, json_t *made)
{
    if (json_array_append_new(json_object_get(lab->page, to), made) == 0)
        return made;
    fail(lab, why_set(&lab->why, ERR_NOMEM, "%s", err_text(ERR_NOMEM)));
    return NULL; /* It is freed. */
}

static json_t *run_words(struct lab *lab, const struct errand *job,
                         const char *const *words)
{
    char output[NAME_ROOM], errors[NAME_ROOM], path[LAB_PATH + NAME_ROOM];
    const struct program_start start = {.program = job->path,
                                        .words = words,
                                        .folder = lab->folder,
                                        .output = output,
                                        .errors = errors};
    struct process_end end = {0};
    json_t *found;

    lab->runs++;
    (void)snprintf(output, sizeof output, "run-%u.json", lab->runs);
    (void)snprintf(errors, sizeof errors, "run-%u.log", lab->runs);
    (void)snprintf(path, sizeof path, "%s/%s", lab->folder, output);
    if (lab->note != NULL)
        lab->note(lab->context, job->name, job->line);
    fail(lab, program_run(&start, &end, &lab->why));
    if (lab->err != ERR_OK)
        return NULL;
    found = json_load_file(path, 0, NULL);
    if (found == NULL || end.signal != 0 ||
        !lab_allows(job->worst, end.code, found))
        tell_failure(lab, job, found, &end);
    (void)add(lab, "commands",
              json_pack("{s:s, s:s, s:s, s:o}", "program", job->name, "line",
                        job->line, "file", output, "result",
                        found == NULL ? json_null() : found));
    return lab->err == ERR_OK ? found : NULL;
}

/* What the same command came to before; NULL: it is new. */
static json_t *run_before(const struct lab *lab, const struct errand *job)
{
    json_t *command;
    size_t i;

    json_array_foreach(json_object_get(lab->page, "commands"), i, command)
    {
        if (strcmp(lab_text(command, "program"), job->name) == 0 &&
            strcmp(lab_text(command, "line"), job->line) == 0)
            return json_object_get(command, "result");
    }
    return NULL;
}

static json_t *run_line(struct lab *lab, const struct errand *job)
{
    const char *words[WORDS_MAX + 3];
    char copy[LINE_SIZE];
    json_t *before;

    if (lab->err != ERR_OK)
        return NULL;
    before = run_before(lab, job);
    if (before != NULL)
        return before;
    (void)snprintf(copy, sizeof copy, "%s", job->line);
    cut(copy, words);
    return run_words(lab, job, words);
}

json_t *lab_run(struct lab *lab, enum lab_end worst, const char *format, ...)
{
    char line[LINE_SIZE];
    va_list list;

    va_start(list, format);
    (void)vsnprintf(line, sizeof line, format, list);
    va_end(list);
    return run_line(
        lab, &(struct errand){.name = MUSTER, .line = line, .worst = worst});
}

json_t *lab_example(struct lab *lab, const char *name, const char *format, ...)
{
    char line[LINE_SIZE], path[LAB_PATH];
    va_list list;

    if (!program_find(name, path, sizeof path)) {
        fail(lab, why_set(&lab->why, ERR_NOTFOUND,
                          "%s: the example program %s is not beside muster; "
                          "`make` builds it, `make install` installs it",
                          lab->experiment->name, name));
        return NULL;
    }
    va_start(list, format);
    (void)vsnprintf(line, sizeof line, format, list);
    va_end(list);
    return run_line(lab,
                    &(struct errand){.name = name, .path = path, .line = line});
}

/* --- reading ------------------------------------------------------------- */

static const json_t *find(const json_t *json, const char *path)
{
    while (json != NULL && *path != '\0') {
        char name[NAME_ROOM];
        const size_t length = strcspn(path, ".");

        (void)snprintf(name, sizeof name, "%.*s", (int)length, path);
        json = json_is_array(json)
                   ? json_array_get(json, strtoul(name, NULL, 10))
                   : json_object_get(json, name);
        path += length + (path[length] == '.');
    }
    return json;
}

double lab_number(const json_t *json, const char *path)
{
    const json_t *found = find(json, path);

    return json_is_number(found) ? json_number_value(found) : (double)NAN;
}

const char *lab_text(const json_t *json, const char *path)
{
    const json_t *found = find(json, path);

    return json_is_string(found) ? json_string_value(found) : "";
}

const char *lab_shown(double value, int digits, char out[LAB_SHOWN])
{
    if (isnan(value))
        (void)snprintf(out, LAB_SHOWN, "-");
    else
        (void)snprintf(out, LAB_SHOWN, "%.*f", digits, value);
    return out;
}

/* With weights that are not finite there is nothing but a sentence. */
bool lab_diverged(const json_t *run)
{
    return strcmp(lab_text(run, "end"), "diverged") == 0 ||
           strcmp(lab_text(run, "refit.end"), "diverged") == 0 ||
           strstr(lab_text(run, "error"), FAILURE_DIVERGED) != NULL;
}

bool lab_allows(enum lab_end worst, int code, const json_t *run)
{
    const bool failed = json_object_get(run, "error") != NULL;

    return code <= (int)worst &&
           (!failed || (worst == LAB_ENDED && lab_diverged(run)));
}

const char *lab_trouble(const json_t *run)
{
    const char *error = lab_text(run, "error");

    return *error != '\0' || !lab_diverged(run) ? error : FAILURE_DIVERGED;
}

/* --- data ---------------------------------------------------------------- */

/* Data sets by their name in `muster data prepare`, another name that their
 * folder below --raw may have, and where they come from. */
static const struct {
    const char *name, *folder, *how;
} sets[] = {
    {"amazon", "amazon_access",
     "train.csv of Kaggle's Amazon Employee Access Challenge"},
    {"kc", "kc_housing", "kc_house_data.csv of the King County house sales"},
    {"covtype", "covertype", "it with `muster data get covtype`"},
    {"credit", "credit_default",
     "the UCI repository's default of credit card clients"},
    {"mnist", "mnist", "it with `muster data get mnist`"},
};

/* The folder of a data set; NULL if it is not at hand, which is said then. */
static const char *at_hand(struct lab *lab, const char *name,
                           const char *instead, char path[LAB_PATH])
{
    for (size_t i = 0; i < sizeof sets / sizeof *sets; i++) {
        const char *const below[] = {sets[i].name, sets[i].folder};

        if (strcmp(sets[i].name, name) != 0)
            continue;
        for (size_t j = 0; lab->raw != NULL && j < 2; j++) {
            (void)snprintf(path, LAB_PATH, "%.900s/%s", lab->raw, below[j]);
            if (file_is_folder(path))
                return path;
        }
        lab_remark(lab,
                   "The data set %s is not at hand, so %s stands in for it: "
                   "figures do not compare with the paper's. Get %s, put it "
                   "into FOLDER/%s and run this again with --raw FOLDER.",
                   name, instead, sets[i].how, sets[i].name);
        return NULL;
    }
    CHECK(false);
    return NULL;
}

const json_t *lab_data(struct lab *lab, const char *name, const char *instead)
{
    char path[LAB_PATH], line[LINE_SIZE];
    const char *const words[] = {"data", "prepare", name,       "--raw", path,
                                 "--to", name,      "--format", "json",  NULL};

    if (lab->err != ERR_OK || at_hand(lab, name, instead, path) == NULL)
        return NULL;
    (void)snprintf(line, sizeof line, "data prepare %s --raw %s --to %s", name,
                   path, name);
    return run_words(lab, &(struct errand){.name = MUSTER, .line = line},
                     words);
}

const char *lab_link(struct lab *lab, const char *name, const char *instead)
{
    char path[LAB_PATH], link[LAB_PATH + NAME_ROOM];

    if (lab->err != ERR_OK || at_hand(lab, name, instead, path) == NULL)
        return NULL;
    (void)snprintf(link, sizeof link, "%s/%s", lab->folder, name);
    fail(lab, file_link_atomic(path, link, &lab->why));
    return lab->err == ERR_OK ? name : NULL;
}

json_t *lab_history(struct lab *lab, const json_t *run)
{
    char path[LAB_PATH + FILE_PATH_SIZE];
    json_t *found = NULL;

    (void)snprintf(path, sizeof path, "%s/%s/history.1.json", lab->folder,
                   lab_text(run, "run"));
    if (lab->err == ERR_OK)
        found = json_load_file(path, 0, NULL);
    if (lab->err == ERR_OK && found == NULL)
        fail(lab, why_set(&lab->why, ERR_FORMAT,
                          "%.300s: cannot be read as JSON", path));
    return found;
}

void lab_file(struct lab *lab, const char *name, const char *text)
{
    char path[LAB_PATH + NAME_ROOM];

    (void)snprintf(path, sizeof path, "%s/%s", lab->folder, name);
    if (lab->err == ERR_OK)
        fail(lab,
             output_put(path, OUTPUT_OWN, 0644, text, strlen(text), &lab->why));
}

void lab_save(struct lab *lab, const char *name, struct page *made)
{
    char path[LAB_PATH + NAME_ROOM];

    (void)snprintf(path, sizeof path, "%s/%s", lab->folder, name);
    if (made->failed)
        fail(lab, why_set(&lab->why, ERR_NOMEM, "%s", err_text(ERR_NOMEM)));
    if (lab->err == ERR_OK)
        fail(lab, output_put(path, OUTPUT_OWN, 0644, made->data, made->size,
                             &lab->why));
    page_close(made);
}

double lab_draw(uint64_t *state)
{
    *state =
        *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (double)(*state >> 11) / 9007199254740992.0;
}

/* --- what came of it ----------------------------------------------------- */

static json_t *cells(const char *text)
{
    json_t *all = json_array();

    for (;;) {
        const size_t length = strcspn(text, "|");

        (void)json_array_append_new(all, json_stringn(text, length));
        if (text[length] == '\0')
            return all;
        text += length + 1;
    }
}

json_t *lab_table(struct lab *lab, const char *title, const char *columns)
{
    return add(lab, "tables",
               json_pack("{s:s, s:o, s:[]}", "title", title, "columns",
                         cells(columns), "rows"));
}

void lab_row(json_t *table, const char *format, ...)
{
    char line[LINE_SIZE];
    va_list list;

    va_start(list, format);
    (void)vsnprintf(line, sizeof line, format, list);
    va_end(list);
    (void)json_array_append_new(json_object_get(table, "rows"), cells(line));
}

json_t *lab_plot(struct lab *lab, const char *file, const char *title,
                 const char *x, const char *y, enum lab_scale scale)
{
    return add(lab, "plots",
               json_pack("{s:s, s:s, s:s, s:s, s:i, s:[]}", "file", file,
                         "title", title, "x", x, "y", y, "scale", (int)scale,
                         "lines"));
}

json_t *lab_line(json_t *plot, const char *label, bool theory)
{
    json_t *line = json_pack("{s:s, s:b, s:[]}", "label", label, "theory",
                             theory, "points");

    return json_array_append_new(json_object_get(plot, "lines"), line) == 0
               ? line
               : NULL;
}

void lab_point(json_t *line, double x, double y)
{
    if (isfinite(x) && isfinite(y))
        (void)json_array_append_new(json_object_get(line, "points"),
                                    json_pack("[f, f]", x, y));
}

struct lab_drawn lab_chart(struct lab *lab, const struct lab_chart *of)
{
    struct lab_drawn drawn = {.table = lab_table(lab, of->table, of->columns)};
    json_t *plot = lab_plot(lab, of->file, of->title, of->x, of->y, of->scale);

    for (size_t i = 0; i < LAB_LINES && of->measured[i] != NULL; i++)
        drawn.lines[i] = lab_line(plot, of->measured[i], false);
    if (of->theory != NULL)
        drawn.theory = lab_line(plot, of->theory, true);
    return drawn;
}

void lab_remark(struct lab *lab, const char *format, ...)
{
    char line[LINE_SIZE];
    va_list list;

    va_start(list, format);
    (void)vsnprintf(line, sizeof line, format, list);
    va_end(list);
    (void)add(lab, "remarks", json_string(line));
}

void lab_processors(struct lab *lab, uint32_t most)
{
    const uint32_t count = threads_available();

    if (count < most)
        lab_remark(lab,
                   "This machine has %u processor%s, and every process of a "
                   "run one thread: of more than %u several share %s.",
                   count, count == 1 ? "" : "s", count,
                   count == 1 ? "it" : "one");
    else
        lab_remark(lab,
                   "This machine has %u processors, and every process of a run "
                   "one thread: up to %u have a processor each.",
                   count, most);
}

void lab_tell_kinds(struct lab *lab)
{
    const json_t *command;
    uint32_t real = 0, simulated = 0;
    size_t i;

    json_array_foreach(json_object_get(lab->page, "commands"), i, command)
    {
        const char *line = lab_text(command, "line");
        const bool own = strcmp(lab_text(command, "program"), MUSTER) == 0;

        simulated += own && strncmp(line, "simulate ", 9) == 0;
        real += !own || strncmp(line, "train ", 6) == 0 ||
                strncmp(line, "product ", 8) == 0;
    }
    if (real == 0)
        lab_remark(lab, "Every run is simulated, in virtual time; none is of "
                        "real processes.");
    else if (simulated == 0)
        lab_remark(lab, "Every run is of real processes; none is simulated.");
    else
        lab_remark(lab,
                   "%u of the runs %s of real processes (muster train, muster "
                   "product), %u %s simulated, in virtual time (muster "
                   "simulate).",
                   real, real == 1 ? "is" : "are", simulated,
                   simulated == 1 ? "is" : "are");
}

void lab_tell_diverged(struct lab *lab)
{
    const json_t *command;
    uint32_t count = 0;
    size_t i;

    json_array_foreach(json_object_get(lab->page, "commands"), i, command)
    {
        count += lab_diverged(json_object_get(command, "result"));
    }
    if (count > 0)
        lab_remark(lab,
                   "%u of the %u runs diverged; the list of runs at the end of "
                   "the page says which.",
                   count, lab->runs);
}
