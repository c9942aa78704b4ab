/*
 * codes.c - `muster codes`: the presets and what they promise.
 */
#include <stdio.h>

#include "cli/cli.h"
#include "code/preset.h"

/* Enough workers and chunks for any preset with one straggler. */
#define SAMPLE_WORKERS 4u
#define SAMPLE_CHUNKS  16u

/* The class is the built code's to say, not ours to repeat. */
static const char *class_of(const struct preset *preset)
{
    const struct preset_options options = {.name = preset->name,
                                           .stragglers = 1,
                                           .collect = SAMPLE_WORKERS - 1,
                                           .workers = SAMPLE_WORKERS};
    struct code_spec spec;
    struct code code = {0};
    const char *name = "?";

    if (preset_spec(&options, &spec, NULL) == ERR_OK &&
        code_build(&code, &spec, SAMPLE_WORKERS, SAMPLE_CHUNKS, NULL) == ERR_OK)
        name = exactness_name(code.exactness);
    code_close(&code);
    return name;
}

static json_t *preset_json(const struct preset *preset)
{
    return json_pack(
        "{s:s, s:s?, s:s, s:s, s:s, s:s, s:s, s:s}", "name", preset->name,
        "alias", preset->alias, "exactness", class_of(preset), "placement",
        placement_name(preset->placement), "schedule",
        schedule_name(preset->schedule), "stop", stop_name(preset->stop),
        "estimate", estimate_name(preset->estimate), "line", preset->line);
}

int codes_command(struct cli *cli)
{
    uint32_t count;
    const struct preset *list = preset_list(&count);
    json_t *rows = json_array();

    for (uint32_t i = 0; i < count; i++) {
        if (cli->json)
            (void)json_array_append_new(rows, preset_json(&list[i]));
        else
            (void)printf("%-8s %-12s %-8s %s\n", list[i].name,
                         list[i].alias == NULL ? "" : list[i].alias,
                         class_of(&list[i]), list[i].line);
    }
    if (cli->json)
        say_json(json_pack("{s:O}", "codes", rows));
    json_decref(rows);
    return EXIT_DONE;
}
