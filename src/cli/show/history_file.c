/*
 * history_file.c - the history as a file of the run's folder.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/version.h"
#include "cli/run.h"
#include "os/clock.h"
#include "os/file/file.h"

#define WRITE_US (30 * SECOND_US)
#define SHARE    50 /* A write of 1 ms has 50 ms to itself. */

static const char *const files[] = {"history.#.json"};
const struct names history_names = NAMES_OF(files);

/* The first free number; a run that is resumed has one for each start. */
void history_choose(struct run *run)
{
    for (uint32_t i = 1; i <= HISTORY_PARTS; i++) {
        (void)snprintf(run->history_path, sizeof run->history_path,
                       "%s/history.%u.json", run->out, i);
        if (!file_exists(run->history_path))
            return;
    }
}

/* `text`: as it was asked for, with settings that some codes alone have. */
static json_t *code_json(const struct setup *setup, const char *text)
{
    const struct code_spec *code = &setup->code;

    return json_pack(
        "{s:s, s:s?, s:b, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:b}", "name",
        code->name, "text", text, "auto", (int)setup->adapt, "stragglers",
        (json_int_t)code->stragglers, "collect", (json_int_t)code->k,
        "replicas", (json_int_t)code->replicas, "parts",
        (json_int_t)code->parts, "pieces", (json_int_t)code->pieces, "seed",
        (json_int_t)code->seed, "staleness", (json_int_t)code->staleness,
        "compared", (int)(setup->verify || setup->audit > 0));
}

/* Jansson's own allocator made it. */
static void free_json(char *text)
{
    json_malloc_t unused;
    json_free_t release;

    json_get_alloc_funcs(&unused, &release);
    release(text);
}

void history_write(const struct run *run, json_t *result)
{
    const struct setup *setup = run->setup;
    json_t *object = history_json(&run->history);
    char *text;

    (void)json_object_set_new(object, "muster", json_string(version_text));
    (void)json_object_set_new(
        object, "chunks",
        json_integer(
            optim_chunks(&setup->optim, dataset_chunks(&setup->data))));
    (void)json_object_set_new(object, "slots", json_integer(setup->slots));
    (void)json_object_set_new(
        object, "code",
        code_json(setup, option_text(&run->cli->options, OPT_CODE)));
    (void)json_object_set_new(object, "metric",
                              json_string(metric_name(setup->metric)));
    (void)json_object_set_new(object, "judged", curve_json(&run->curve));
    (void)json_object_set_new(object, "config",
                              config_json(&run->cli->options));
    if (result != NULL)
        (void)json_object_set(object, "result", result);
    text = json_dumps(object, JSON_COMPACT | JSON_REAL_PRECISION(17));
    json_decref(object);
    /* Not worth failing for: the model is there. */
    if (text == NULL || file_write_atomic(run->history_path, text, strlen(text),
                                          0600, NULL) != ERR_OK)
        say_note(run->cli,
                 "muster: %s could not be written; `muster report` "
                 "will lack the times of this run",
                 run->history_path);
    if (text != NULL)
        free_json(text);
}

static uint32_t deaths(const struct run *run)
{
    return run->history.died + run->history.coordinators;
}

/* A death is written down at once, since no journal has it, but where many die
 * no more than a share of the time goes into it. */
static bool is_due(const struct run *run, time_us now)
{
    const time_us since = now - run->history_at;

    return since >= WRITE_US || (deaths(run) != run->history_died &&
                                 since >= run->history_cost_us * SHARE);
}

void history_look(struct run *run)
{
    uint32_t count;
    const struct train_process *processes = train_processes(&count);

    history_coordinator(&run->history,
                        screen_pid("coordinator", processes, count));
}

void history_tick(struct run *run, time_us now)
{
    history_look(run);
    if (run->history_at == 0)
        run->history_at = now;
    if (!is_due(run, now))
        return;
    history_write(run, NULL);
    run->history_died = deaths(run);
    run->history_at = clock_now_us();
    run->history_cost_us = run->history_at - now;
}
