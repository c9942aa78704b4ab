/*
 * report_hindsight.c - what other codes would have taken in a run's place: its
 * history becomes cells of plan/hindsight.h, each code is replayed on them, and
 * a note says how far that may be believed.
 */
#include "cli/report/report_hindsight.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/check.h"
#include "base/mem.h"
#include "code/preset.h"
#include "plan/candidate.h"
#include "plan/hindsight.h"

#define NOTE_SIZE 512u
#define TEXT_SIZE 256u /* Of a code with its settings. */
#define OFF_MOST  .25  /* Of a replay that ratios are told from. */

json_int_t report_whole(const json_t *object, const char *key)
{
    return json_integer_value(json_object_get(object, key));
}

struct measured {
    struct hindsight seen;
    struct hindsight_cell *cells;
    int64_t *took_us;
    uint32_t *columns; /* The workers taken for its slots. */
    uint32_t skipped;  /* Steps of several rounds. */
};

static void measured_close(struct measured *measured)
{
    mem_free(measured->cells);
    mem_free(measured->took_us);
    mem_free(measured->columns);
}

static json_int_t cell_value(const json_t *step, size_t worker, size_t which)
{
    return json_integer_value(json_array_get(
        json_array_get(json_object_get(step, "cells"), worker), which));
}

static uint32_t steps_here(const struct report_steps *steps, size_t worker)
{
    uint32_t here = 0;

    for (size_t i = 0; i < json_array_size(steps->list); i++)
        here += cell_value(json_array_get(steps->list, i), worker, 0) !=
                HINDSIGHT_AWAY;
    return here;
}

/* As many as the code had slots, those who were there longest, in the order of
 * their names. */
static void choose_columns(struct measured *measured,
                           const struct report_steps *steps, uint32_t slots)
{
    const size_t workers = json_array_size(steps->names);

    for (size_t w = 0; w < workers; w++) {
        const uint32_t here = steps_here(steps, w);
        uint32_t longer = 0;

        for (size_t other = 0; other < workers; other++) {
            const uint32_t theirs = steps_here(steps, other);

            longer += theirs > here || (theirs == here && other < w);
        }
        if (here > 0 && longer < slots)
            measured->columns[measured->seen.workers++] = (uint32_t)w;
    }
}

static void fill_cells(struct measured *measured,
                       const struct report_steps *steps)
{
    for (size_t i = 0; i < json_array_size(steps->list); i++) {
        const json_t *step = json_array_get(steps->list, i);
        const uint32_t at = measured->seen.steps;

        if (report_whole(step, "rounds") != 1) {
            measured->skipped++;
            continue;
        }
        measured->took_us[at] =
            (int64_t)(json_number_value(json_object_get(step, "took_s")) * 1e6);
        for (uint32_t w = 0; w < measured->seen.workers; w++)
            measured->cells[(size_t)at * measured->seen.workers + w] =
                (struct hindsight_cell){
                    .answered_us = cell_value(step, measured->columns[w], 0),
                    .compute_us = cell_value(step, measured->columns[w], 1),
                    .chunks =
                        (uint32_t)cell_value(step, measured->columns[w], 2),
                };
        measured->seen.steps++;
    }
}

static enum err measured_open(struct measured *measured,
                              const struct report_steps *steps,
                              const json_t *part)
{
    const size_t count = json_array_size(steps->list);
    const size_t workers = json_array_size(steps->names);

    *measured = (struct measured){
        .cells = mem_new(count * workers, sizeof *measured->cells),
        .took_us = mem_new(count, sizeof *measured->took_us),
        .columns = mem_new(workers, sizeof *measured->columns),
    };
    if (measured->cells == NULL || measured->took_us == NULL ||
        measured->columns == NULL)
        return ERR_NOMEM;
    choose_columns(measured, steps, (uint32_t)report_whole(part, "slots"));
    fill_cells(measured, steps);
    measured->seen.cells = measured->cells;
    measured->seen.took_us = measured->took_us;
    measured->seen.chunks = (uint32_t)report_whole(part, "chunks");
    return measured->seen.workers > 0 && measured->seen.chunks > 0 &&
                   measured->seen.steps > 0
               ? ERR_OK
               : ERR_SHAPE;
}

/* A code of its name alone, with what all of them may have. */
static struct preset_options plain_options(const json_t *code)
{
    return (struct preset_options){
        .name = json_string_value(json_object_get(code, "name")),
        .collect = (uint32_t)report_whole(code, "collect"),
        .parts = (uint32_t)report_whole(code, "parts"),
        .replicas = (uint32_t)report_whole(code, "replicas"),
        .staleness = (uint32_t)report_whole(code, "staleness"),
    };
}

enum err report_spec(const json_t *code, uint32_t workers,
                     struct code_spec *spec)
{
    const char *asked = json_string_value(json_object_get(code, "text"));
    struct preset_options options = {0};
    const struct preset *preset;
    char text[TEXT_SIZE];
    enum err err = ERR_OK;

    if (asked == NULL || json_is_true(json_object_get(code, "auto")))
        options = plain_options(code);
    else if (snprintf(text, sizeof text, "%s", asked) < (int)sizeof text)
        err = preset_parse(text, &options, NULL);
    if (err != ERR_OK)
        return err;
    /* What a file says is not in the folder. */
    if (options.name == NULL || options.speed_text != NULL ||
        preset_takes_file(options.name))
        return ERR_UNKNOWN;
    options.workers = workers;
    preset = preset_find(options.name);
    /* Of elastic codes it is p - l, which n need not exceed. */
    if (preset != NULL && (preset->keys & 1u << KEY_L) == 0)
        options.stragglers = (uint32_t)report_whole(code, "stragglers");
    options.seed = (uint64_t)report_whole(code, "seed");
    options.pieces = (uint32_t)report_whole(code, "pieces");
    err = preset_spec(&options, spec, NULL);
    spec->filters = NULL; /* They are in `text`, and place nothing. */
    return err;
}

/* One code's bar; false if it does not fit. */
static bool add_code(json_t *codes, const struct hindsight *seen,
                     const char *label, const struct code_spec *spec,
                     struct hindsight_result *made)
{
    if (hindsight_replay(seen, spec, made, NULL) != ERR_OK)
        return false;
    (void)json_array_append_new(
        codes, json_pack("{s:s, s:f, s:I}", "label", label, "total_s",
                         made->total_s, "stalled", (json_int_t)made->stalled));
    return true;
}

static void add_candidates(json_t *codes, const struct hindsight *seen,
                           const char *own)
{
    static const char *const names[] = {"frc:s=1", "frc:s=2", "steal:s=1",
                                        "stream:s=1"};
    const struct preset_options defaults = {.workers = seen->workers};
    struct hindsight_result unused;

    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        struct candidate candidate;

        if (candidate_parse(names[i], strlen(names[i]), &defaults, &candidate,
                            NULL) == ERR_OK &&
            strcmp(candidate.label, own) != 0)
            (void)add_code(codes, seen, candidate.label, &candidate.spec,
                           &unused);
    }
}

/* By what share the code that was used is missed; 0: it was not replayed. */
static double replay_off(const struct hindsight_result *own)
{
    return own->total_s > 0 ? own->total_s / own->measured_s - 1 : 0;
}

static bool is_doubtful(const struct hindsight_result *own)
{
    return fabs(replay_off(own)) > OFF_MOST;
}

static void hindsight_note(const struct measured *measured,
                           const struct hindsight_result *own, bool replayed,
                           const struct hindsight_result *uncoded, char *text)
{
    int size = snprintf(
        text, NOTE_SIZE,
        "Replayed from the times of %u recorded steps: what each worker took "
        "beside computing, and its own time per chunk. ",
        measured->seen.steps);

    if (replayed && size > 0 && size < (int)NOTE_SIZE)
        size +=
            snprintf(text + size, NOTE_SIZE - (size_t)size,
                     "Ratios are against the code that was used, replayed "
                     "likewise, which comes out %+.0f %% off what was "
                     "measured%s. ",
                     100 * replay_off(own),
                     is_doubtful(own) ? ": they are not to be relied on" : "");
    if (uncoded->drawn > 0 && size > 0 && size < (int)NOTE_SIZE)
        (void)snprintf(text + size, NOTE_SIZE - (size_t)size,
                       "%u answers were called off; how long they would have "
                       "taken is drawn from the others (Kaplan and Meier).",
                       uncoded->drawn);
}

/* The same if all that was called off had been about to end. */
static double least_s(const struct hindsight *seen,
                      const struct code_spec *spec,
                      const struct hindsight_result *drawn)
{
    struct hindsight least = *seen;
    struct hindsight_result made;

    least.least = true;
    return hindsight_replay(&least, spec, &made, NULL) == ERR_OK
               ? made.total_s
               : drawn->total_s;
}

static json_t *replay_all(const struct measured *measured, const json_t *part)
{
    const struct hindsight *seen = &measured->seen;
    const json_t *code = json_object_get(part, "code");
    const struct preset_options plain = {.name = "uncoded",
                                         .workers = seen->workers};
    struct hindsight_result own = {0}, uncoded = {0};
    struct candidate used = {0};
    char note[NOTE_SIZE], label[CANDIDATE_BYTES + 16];
    json_t *codes = json_array();
    bool replayed = false;
    double base_s;

    if (report_spec(code, seen->workers, &used.spec) == ERR_OK) {
        candidate_of(&used.spec, &used);
        (void)snprintf(label, sizeof label, "%s (used%s)", used.label,
                       json_is_true(json_object_get(code, "auto")) ? " first"
                                                                   : "");
        replayed =
            add_code(codes, seen, label, &used.spec, &own) && own.total_s > 0;
    }
    CHECK(preset_spec(&plain, &used.spec, NULL) == ERR_OK);
    if (!add_code(codes, seen, "uncoded", &used.spec, &uncoded) ||
        uncoded.measured_s <= 0) {
        json_decref(codes);
        return NULL;
    }
    add_candidates(codes, seen, used.label);
    hindsight_note(measured, &own, replayed, &uncoded, note);
    base_s = replayed ? own.total_s : uncoded.measured_s;
    return json_pack("{s:f, s:f, s:f, s:b, s:o, s:s, s:{s:s, s:f, s:f}}",
                     "measured_s", uncoded.measured_s, "base_s", base_s, "off",
                     replay_off(&own), "doubtful", (int)is_doubtful(&own),
                     "codes", codes, "note", note, "uncoded", "label",
                     "uncoded", "ratio", uncoded.total_s / base_s, "least",
                     least_s(seen, &used.spec, &uncoded) / base_s);
}

/* Why the times of the steps do not say what a worker took; NULL if they do. */
static const char *blind_spot(const json_t *code)
{
    if (report_whole(code, "staleness") > 0)
        return "What other codes would have taken cannot be said: with "
               "staleness an answer may belong to an older step than the "
               "one it came in.";
    if (json_is_true(json_object_get(code, "compared")))
        return "What other codes would have taken cannot be said: pieces were "
               "computed twice, to be compared.";
    return NULL;
}

json_t *report_hindsight(const struct report_steps *steps, const json_t *part)
{
    const char *blind = blind_spot(json_object_get(part, "code"));
    struct measured measured;
    json_t *object = NULL;

    if (blind != NULL)
        return json_pack("{s:s}", "note", blind);
    if (measured_open(&measured, steps, part) == ERR_OK)
        object = replay_all(&measured, part);
    measured_close(&measured);
    return object != NULL
               ? object
               : json_pack("{s:s}", "note",
                           "What other codes would have taken cannot be "
                           "said: no step of one round was recorded.");
}
