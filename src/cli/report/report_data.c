/*
 * report_data.c - a run's folder as one JSON object: journal, history, options,
 * code, and what other codes would have taken (report_hindsight.c).
 */
#include "cli/report/report_data.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "base/version.h"
#include "cli/cli.h"
#include "cli/report/report_hindsight.h"
#include "cli/report/report_starts.h"
#include "cli/show/history.h"
#include "cli/study/codes.h"
#include "core/run/store.h"
#include "node/host/format.h"
#include "node/host/ring_folder.h"
#include "os/file/file.h"
#include "os/file/folder.h"
#include "plan/hindsight.h"

#define HISTORY_MAX    (64u << 20)
#define CONFIG_MAX     65536u
#define PATH_SIZE      1024u
#define RECEIPTS_SHOWN 400u
#define MATRIX_MAX     256u
#define COMMAND_SIZE   8192u
#define NOTE_SIZE      512u

/* --- the journal --------------------------------------------------------- */

struct receipts {
    struct record *steps; /* Those that still stand. */
    size_t count, capacity;
    bool failed;
    uint32_t last; /* Step. */
    uint32_t lost; /* Steps whose receipts are. */
};

static void note_record(void *context, const struct record *record)
{
    struct receipts *all = context;
    struct record *grown;

    if (record->kind == RECORD_ROLLBACK)
        while (all->count > 0 && all->steps[all->count - 1].step > record->step)
            all->count--;
    if (record->kind == RECORD_GAP && record->exactness == RECORD_CLASS_LOST)
        all->lost += record->step - all->last;
    if (record->kind != RECORD_VIEW && record->kind != RECORD_SIZE)
        all->last = record->step;
    if (record->kind != RECORD_STEP || record->exactness > EXACT_APPROX ||
        all->failed)
        return;
    if (all->count == all->capacity) {
        grown = mem_grow(all->steps, all->count, all->count + 1, sizeof *grown,
                         &all->capacity);
        all->failed = grown == NULL;
        if (grown == NULL)
            return;
        all->steps = grown;
    }
    all->steps[all->count++] = *record;
}

static json_t *receipt_json(const struct record *record)
{
    char hex[DIGEST_TEXT];

    (void)digest_text(&record->weights, hex);
    hex[12] = '\0';
    return json_pack(
        "{s:I, s:I, s:I, s:I, s:I, s:I, s:o, s:o, s:s}", "step",
        (json_int_t)record->step, "view", (json_int_t)record->view, "class",
        (json_int_t)record->exactness, "answered", (json_int_t)record->answered,
        "slots", (json_int_t)record->slots, "chunks",
        (json_int_t)record->chunks, "residual", json_number(record->residual),
        "condition", json_number((double)record->condition), "weights", hex);
}

/* The newest first; of many, evenly. */
static void add_receipts(json_t *data, const struct receipts *all)
{
    const size_t shown =
        all->count < RECEIPTS_SHOWN ? all->count : RECEIPTS_SHOWN;
    json_t *list = json_array();

    for (size_t i = 0; i < shown; i++)
        (void)json_array_append_new(
            list, receipt_json(&all->steps[all->count - 1 -
                                           i * (all->count - 1) /
                                               (shown > 1 ? shown - 1 : 1)]));
    (void)json_object_set_new(data, "receipts", list);
    (void)json_object_set_new(data, "receipts_left_out",
                              json_integer((json_int_t)(all->count - shown)));
    (void)json_object_set_new(data, "last_step",
                              json_integer((json_int_t)all->last));
}

/* What the worst of the steps makes of all. */
static void add_statement(json_t *data, const struct receipts *all)
{
    uint32_t counts[3] = {0};
    double residual = 0;
    enum exactness worst = EXACT_BITWISE;
    char text[NOTE_SIZE];

    for (size_t i = 0; i < all->count; i++) {
        counts[all->steps[i].exactness]++;
        residual = fmax(residual, all->steps[i].residual);
    }
    if (counts[EXACT_NUMERIC] > 0)
        worst = EXACT_NUMERIC;
    if (counts[EXACT_APPROX] > 0)
        worst = EXACT_APPROX;
    if (all->last == 0)
        (void)snprintf(text, sizeof text, "no step was made");
    else if (all->lost > 0 && worst == EXACT_BITWISE)
        (void)snprintf(text, sizeof text,
                       "the receipts of %u of %u steps are lost: the journal "
                       "was damaged; the others are exact to the bit",
                       all->lost, all->last);
    else if (worst == EXACT_BITWISE)
        (void)snprintf(text, sizeof text,
                       "all %u steps are exact to the bit: the model is the "
                       "one that a single perfect machine would have given; "
                       "error 0",
                       all->last);
    else if (worst == EXACT_NUMERIC)
        (void)snprintf(text, sizeof text,
                       "%u steps are decoded in floating point, the rest is "
                       "exact to the bit; largest residual of the decoding "
                       "%.1e",
                       counts[EXACT_NUMERIC], residual);
    else
        (void)snprintf(text, sizeof text,
                       "%u of %u steps are estimates: parts of the data were "
                       "left out or averaged, and no bound is proved; they "
                       "are of class approx in the receipts, whose residual "
                       "is the error to be expected where samples stood for "
                       "a part",
                       counts[EXACT_APPROX], all->last);
    (void)json_object_set_new(data, "class",
                              json_string(exactness_name(worst)));
    (void)json_object_set_new(data, "statement", json_string(text));
}

/* Folds and grids keep scores of each training, and no step of any. */
static enum err tell_none(const char *path, struct why *why)
{
    char series[FILE_PATH_SIZE];

    file_path_in(path, SERIES_FILE, series);
    if (!file_exists(series))
        return why_set(why, ERR_NOTFOUND, "%.200s: there is no run in it",
                       path);
    return why_set(why, ERR_NOTFOUND,
                   "%.200s: a search (-v, --grid), which keeps no steps that a "
                   "page could tell of; `muster status %.200s` says how it "
                   "stands, `muster train --resume=%.200s` prints its table, "
                   "and trains only what it has not",
                   path, path, path);
}

static enum err add_journal(json_t *data, const char *path, struct why *why)
{
    struct folder folder;
    struct journal_summary summary = {0};
    struct receipts all = {0};
    char hex[DIGEST_TEXT], where[FILE_PATH_SIZE];
    enum err err;

    ring_folder_journal(path, where);
    err = folder_open(&folder, where, why);
    if (err == ERR_OK)
        err = store_walk(&folder.disk, note_record, &all, &summary);
    if (err == ERR_OK && all.failed)
        err = ERR_NOMEM;
    if (err == ERR_OK && summary.records == 0)
        err = ERR_FORMAT;
    if (err == ERR_OK) {
        add_receipts(data, &all);
        add_statement(data, &all);
        (void)json_object_set_new(
            data, "journal",
            json_pack("{s:I, s:s, s:b}", "records", (json_int_t)summary.records,
                      "chain", digest_text(&summary.chain, hex), "torn",
                      (int)summary.torn));
    }
    mem_free(all.steps);
    folder_close(&folder);
    if (err == ERR_NOTFOUND)
        return tell_none(path, why);
    return err == ERR_OK ? err
                         : why_set(why, err, "%.200s/%s: %s", path,
                                   JOURNAL_FILE, err_text(err));
}

/* --- the histories ------------------------------------------------------- */

static json_t *load_part(const char *folder, uint32_t number)
{
    char path[PATH_SIZE];
    uint8_t *bytes;
    size_t size;
    json_t *part;

    (void)snprintf(path, sizeof path, "%.900s/history.%u.json", folder, number);
    if (file_read_plain(path, HISTORY_MAX, &bytes, &size, NULL) != ERR_OK)
        return NULL;
    part = json_loadb((const char *)bytes, size, 0, NULL);
    mem_free(bytes);
    return part;
}

static double seconds(json_int_t us)
{
    return (double)us / 1e6;
}

static size_t name_at(json_t *names, const json_t *name)
{
    size_t i = 0;

    while (i < json_array_size(names) &&
           !json_equal(json_array_get(names, i), name))
        i++;
    return i;
}

static void add_names(json_t *names, const json_t *part)
{
    const json_t *own = json_object_get(part, "workers");

    for (size_t i = 0; i < json_array_size(own); i++) {
        json_t *name = json_array_get(own, i);

        if (json_is_string(name) && json_array_size(names) < HISTORY_WORKERS &&
            name_at(names, name) == json_array_size(names))
            (void)json_array_append(names, name);
    }
}

/* w2 comes before w10. */
static bool comes_before(const json_t *a, const json_t *b)
{
    const size_t one = json_string_length(a);
    const size_t two = json_string_length(b);

    return one != two ? one < two
                      : strcmp(json_string_value(a), json_string_value(b)) < 0;
}

static json_t *sorted_names(json_t *names)
{
    json_t *sorted = json_array();

    for (size_t i = 0; i < json_array_size(names); i++) {
        json_t *name = json_array_get(names, i);
        size_t at = json_array_size(sorted);

        while (at > 0 && comes_before(name, json_array_get(sorted, at - 1)))
            at--;
        (void)json_array_insert(sorted, at, name);
    }
    json_decref(names);
    return sorted;
}

/* All parts one after the other. */
struct history_reader {
    json_t *names, *steps, *events, *points;
    double offset_s; /* Where the part begins. */
    json_int_t lost;
    json_int_t died, coordinators; /* Deaths, of all starts. */
    struct report_starts starts;
};

/* [answered, compute, chunks] of each worker, in the order of all names. */
static json_t *cells_of(const struct history_reader *reader, const json_t *part,
                        const json_t *step)
{
    const json_t *own = json_object_get(part, "workers");
    const json_t *cells = json_object_get(step, "cells");
    json_t *list = json_array();

    for (size_t i = 0; i < json_array_size(reader->names); i++)
        (void)json_array_append_new(
            list, json_pack("[i, i, i]", HINDSIGHT_AWAY, 0, 0));
    for (size_t i = 0; i < json_array_size(own); i++) {
        const size_t at = name_at(reader->names, json_array_get(own, i));

        if (at >= json_array_size(reader->names) ||
            json_array_size(cells) < 3 * i + 3)
            continue;
        (void)json_array_set_new(
            list, at,
            json_pack("[I, I, I]",
                      json_integer_value(json_array_get(cells, 3 * i)),
                      json_integer_value(json_array_get(cells, 3 * i + 1)),
                      json_integer_value(json_array_get(cells, 3 * i + 2))));
    }
    return list;
}

static void add_steps(struct history_reader *reader, const json_t *part)
{
    const json_t *steps = json_object_get(part, "steps");
    double end_s = reader->offset_s;

    for (size_t i = 0; i < json_array_size(steps); i++) {
        const json_t *step = json_array_get(steps, i);
        const double took_s = seconds(report_whole(step, "took_us"));
        json_t *loss = json_object_get(step, "loss");

        end_s =
            reader->offset_s + seconds(report_whole(step, "at_us")) + took_s;
        (void)json_array_append_new(
            reader->steps,
            json_pack("{s:I, s:I, s:f, s:f, s:O, s:o}", "step",
                      report_whole(step, "step"), "rounds",
                      report_whole(step, "rounds"), "t_s", end_s, "took_s",
                      took_s, "loss", json_is_number(loss) ? loss : json_null(),
                      "cells", cells_of(reader, part, step)));
    }
    reader->offset_s = end_s;
}

static void add_events(struct history_reader *reader, const json_t *part)
{
    const json_t *events = json_object_get(part, "events");

    for (size_t i = 0; i < json_array_size(events); i++) {
        json_int_t at_us, step;
        const char *kind, *name;

        if (json_unpack(json_array_get(events, i), "[I, I, s, s]", &at_us,
                        &step, &kind, &name) == 0)
            (void)json_array_append_new(
                reader->events,
                json_pack("{s:f, s:I, s:s, s:s}", "t_s",
                          reader->offset_s + seconds(at_us), "step", step,
                          "kind", kind, "name", name));
    }
    reader->lost += report_whole(part, "events_lost");
}

/* A start that was killed has no result; its history has how many died, or, of
 * an older muster, names the first of them. */
static void add_deaths(struct history_reader *reader, const json_t *part)
{
    const json_t *result = json_object_get(part, "result");
    const json_t *events = json_object_get(part, "events");
    const json_t *deaths = json_object_get(part, "deaths");

    if (json_is_object(result)) {
        reader->died +=
            report_whole(json_object_get(result, "workers"), "died");
        reader->coordinators += report_whole(result, "coordinator_deaths");
        return;
    }
    if (json_is_object(deaths)) {
        reader->died += report_whole(deaths, "workers");
        reader->coordinators += report_whole(deaths, "coordinators");
        return;
    }
    for (size_t i = 0; i < json_array_size(events); i++) {
        const json_t *event = json_array_get(events, i);
        const char *kind = json_string_value(json_array_get(event, 2));

        reader->died += kind != NULL && strcmp(kind, "died") == 0;
    }
}

/* When a step ended, as far as it was kept. */
static double time_of(const json_t *steps, json_int_t step)
{
    for (size_t i = 0; i < json_array_size(steps); i++) {
        const json_t *one = json_array_get(steps, i);

        if (report_whole(one, "step") >= step)
            return json_number_value(json_object_get(one, "t_s"));
    }
    return (double)NAN;
}

static void add_points(struct history_reader *reader, const json_t *part)
{
    const json_t *judged = json_object_get(part, "judged");

    for (size_t i = 0; i < json_array_size(judged); i++) {
        json_int_t step;
        double value, at;

        if (json_unpack(json_array_get(judged, i), "[I, F]", &step, &value) !=
            0)
            continue;
        at = time_of(reader->steps, step);
        if (isfinite(at))
            (void)json_array_append_new(reader->points,
                                        json_pack("[f, f]", at, value));
    }
}

/* --- the code ------------------------------------------------------------ */

static json_t *matrix_json(const struct code *code)
{
    if (code->slots > MATRIX_MAX || code->span_count > 2 * MATRIX_MAX ||
        code->span_count == 0)
        return NULL;
    return codes_matrix(code);
}

/* A ring has no code, and so no matrix and no note. */
static json_t *code_json(const json_t *part, bool ring)
{
    const json_t *from = json_object_get(part, "code");
    const uint32_t slots = (uint32_t)report_whole(part, "slots");
    const char *name = json_string_value(json_object_get(from, "name"));
    json_t *object = json_pack("{s:s}", "name", name == NULL ? "?" : name);
    struct code_spec spec;
    struct code code = {0};
    char note[NOTE_SIZE] = "its matrix is not in the run's folder";

    if (ring)
        return object;
    if (slots > 0 && report_spec(from, slots, &spec) == ERR_OK &&
        code_build(&code, &spec, slots, (uint32_t)report_whole(part, "chunks"),
                   NULL) == ERR_OK) {
        json_t *matrix = matrix_json(&code);

        char bears[48];

        if (spec.blocks > 0)
            (void)snprintf(bears, sizeof bears, "any %u of %u blocks", spec.k,
                           spec.blocks);
        else
            (void)snprintf(bears, sizeof bears, "%u straggler%s",
                           spec.stragglers, spec.stragglers == 1 ? "" : "s");
        (void)snprintf(note, sizeof note,
                       "%u workers, %u parts, %s, class %s, %.3g "
                       "copies of the data%s",
                       slots, code.parts, bears, exactness_name(code.exactness),
                       code_copies(&code),
                       json_is_true(json_object_get(from, "auto"))
                           ? "; where --code auto began"
                           : "");
        if (matrix != NULL)
            (void)json_object_set_new(object, "matrix", matrix);
    }
    code_close(&code);
    (void)json_object_set_new(object, "note", json_string(note));
    return object;
}

/* --- together ------------------------------------------------------------ */

/* A word as a shell reads it. */
static size_t add_word(char *text, size_t used, const char *word)
{
    const bool plain =
        word[strspn(word, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                          "0123456789-_./:,=@+%")] == '\0';
    size_t at = used;

    if (at + 4 * strlen(word) + 4 > COMMAND_SIZE)
        return used;
    text[at++] = ' ';
    if (!plain)
        text[at++] = '\'';
    for (; *word != '\0'; word++) {
        if (*word == '\'') {
            memcpy(text + at, "'\\''", 4);
            at += 4;
        } else {
            text[at++] = *word;
        }
    }
    if (!plain)
        text[at++] = '\'';
    text[at] = '\0';
    return at;
}

/* From the run's own options, one "--name=value" a line. */
static void add_command(json_t *data, const char *folder)
{
    char text[COMMAND_SIZE] = "muster train";
    char path[PATH_SIZE];
    size_t used = strlen(text);
    uint8_t *bytes;
    size_t size;

    (void)snprintf(path, sizeof path, "%.900s/config", folder);
    if (file_read_plain(path, CONFIG_MAX, &bytes, &size, NULL) == ERR_OK) {
        char *line = (char *)bytes;

        while (*line != '\0') {
            char *end = line + strcspn(line, "\n");
            const bool last = *end == '\0';

            *end = '\0';
            if (*line != '#')
                used = add_word(text, used, line);
            line = last ? end : end + 1;
        }
        mem_free(bytes);
    }
    {
        json_t *command = json_string(text);

        /* A file name need not be UTF-8, JSON must be. */
        (void)json_object_set_new(
            data, "command",
            command != NULL ? command : json_string("muster train"));
    }
}

static void read_parts(struct history_reader *reader, const char *folder,
                       json_t **last)
{
    for (uint32_t i = 1; i <= HISTORY_PARTS; i++) {
        json_t *part = load_part(folder, i);

        if (part == NULL)
            break;
        add_names(reader->names, part);
        json_decref(part);
    }
    reader->names = sorted_names(reader->names);
    for (uint32_t i = 1; i <= HISTORY_PARTS; i++) {
        json_t *part = load_part(folder, i);

        if (part == NULL)
            return;
        add_events(reader, part);
        add_deaths(reader, part);
        add_steps(reader, part);
        add_points(reader, part);
        report_starts_add(&reader->starts, part);
        json_decref(*last);
        *last = part;
    }
}

/* The page needs only when each one answered. */
static void drop_cells(json_t *steps)
{
    for (size_t i = 0; i < json_array_size(steps); i++) {
        json_t *step = json_array_get(steps, i);
        const json_t *cells = json_object_get(step, "cells");
        json_t *answered = json_array();

        for (size_t w = 0; w < json_array_size(cells); w++)
            (void)json_array_append(
                answered, json_array_get(json_array_get(cells, w), 0));
        (void)json_object_set_new(step, "answered", answered);
        (void)json_object_del(step, "cells");
    }
}

static const char *base_name(const char *folder)
{
    const char *slash = strrchr(folder, '/');

    return slash != NULL && slash[1] != '\0' ? slash + 1 : folder;
}

static void add_history(json_t *data, const char *folder)
{
    struct history_reader reader = {.names = json_array(),
                                    .steps = json_array(),
                                    .events = json_array(),
                                    .points = json_array()};
    const bool ring = ring_folder_is(folder);
    struct report_steps seen;
    json_t *last = json_object();
    json_t *result;
    json_t *metric;

    report_starts_init(&reader.starts);
    read_parts(&reader, folder, &last);
    report_starts_end(&reader.starts, report_whole(data, "last_step"), data);
    seen = (struct report_steps){reader.names, reader.steps};
    (void)json_object_set_new(data, "ring", json_boolean(ring));
    (void)json_object_set_new(
        data, "hindsight",
        ring ? json_pack("{s:s}", "note",
                         "Codes are a coordinator's: peers of a ring share the "
                         "chunks of a step evenly.")
             : report_hindsight(&seen, last));
    drop_cells(reader.steps);
    (void)json_object_set_new(data, "workers", reader.names);
    (void)json_object_set_new(data, "steps", reader.steps);
    (void)json_object_set_new(data, "events", reader.events);
    (void)json_object_set_new(data, "events_lost", json_integer(reader.lost));
    (void)json_object_set_new(data, "deaths",
                              json_pack("{s:I, s:I}", "workers", reader.died,
                                        "coordinators", reader.coordinators));
    (void)json_object_set_new(data, "metric_points", reader.points);
    metric = json_object_get(last, "metric");
    (void)json_object_set(data, "metric_name",
                          json_is_string(metric) ? metric : json_null());
    (void)json_object_set_new(data, "code", code_json(last, ring));
    result = json_object_get(last, "result");
    (void)json_object_set(data, "result",
                          json_is_object(result) ? result : json_null());
    (void)json_object_set(data, "hash", json_object_get(result, "hash"));
    (void)json_object_set_new(
        data, "missing",
        json_string("The folder has no history file: the run was made by an "
                    "older release, or `muster train` was killed in its first "
                    "half minute."));
    json_decref(last);
}

enum err report_standing(const char *folder, json_t **data, struct why *why)
{
    json_t *made = json_object();
    const enum err err = add_journal(made, folder, why);

    if (err != ERR_OK) {
        json_decref(made);
        return err;
    }
    for (uint32_t i = 1; i <= HISTORY_PARTS; i++) {
        json_t *part = load_part(folder, i);

        if (part == NULL)
            break;
        if (json_is_object(json_object_get(part, "result")))
            (void)json_object_set(made, "result",
                                  json_object_get(part, "result"));
        json_decref(part);
    }
    /* A start that was killed went on from there. */
    if (report_whole(json_object_get(made, "result"), "steps") <
        report_whole(made, "last_step"))
        (void)json_object_del(made, "result");
    *data = made;
    return ERR_OK;
}

enum err report_data(const char *folder, json_t **data, struct why *why)
{
    json_t *made = json_object();
    json_t *name = json_string(base_name(folder));
    const enum err err = add_journal(made, folder, why);

    (void)json_object_set_new(made, "name",
                              name != NULL ? name : json_string("?"));
    if (err != ERR_OK) {
        json_decref(made);
        return err;
    }
    (void)json_object_set_new(made, "version", json_string(version_text));
    add_command(made, folder);
    add_history(made, folder);
    *data = made;
    return ERR_OK;
}
