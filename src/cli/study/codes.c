/*
 * codes.c - `muster codes`: the presets and what they promise; one of them
 * built for N workers, with its matrix, certificate and errors.
 */
#include "cli/study/codes.h"
#include "cli/study/arcs_show.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "cli/cli.h"
#include "learn/code_options.h"

/* Enough workers and chunks for any preset with one straggler. */
#define SAMPLE_WORKERS 4u
#define SAMPLE_CHUNKS  16u
#define WORKERS_SHOWN  8u  /* Unless -n says otherwise. */
#define CHUNKS_A_PART  64u /* So that no part is empty and all weigh alike. */
#define NUMBERS_SHOWN  12u /* Columns of numbers; wider ones as marks. */
#define MARKS_SHOWN    120u
#define ERROR_SAMPLES  2000u
#define ERROR_FEW      20u /* Where each takes a large least-squares ... */
#define SOLVED_FAST    64u /* ... solution: of more than so many workers. */

/* --- the list ------------------------------------------------------------ */

/* The class is the built code's to say, not ours to repeat. */
static enum err sample(const struct preset *preset, struct code *code)
{
    static double identity[SAMPLE_WORKERS * SAMPLE_WORKERS];
    const struct code_matrix matrix = {SAMPLE_WORKERS, SAMPLE_WORKERS,
                                       identity};
    const struct preset_options options = {
        .name = preset->name,
        .stragglers = preset->placement == PLACE_MATRIX ? 0 : 1,
        .collect = SAMPLE_WORKERS - 1,
        .workers = SAMPLE_WORKERS,
        .matrix = preset->placement == PLACE_MATRIX ? &matrix : NULL};
    struct code_spec spec;
    const enum err err = preset_spec(&options, &spec, NULL);

    for (uint32_t i = 0; i < SAMPLE_WORKERS; i++)
        identity[i * SAMPLE_WORKERS + i] = 1;
    return err != ERR_OK
               ? err
               : code_build(code, &spec, SAMPLE_WORKERS, SAMPLE_CHUNKS, NULL);
}

static json_t *preset_json(const struct preset *preset, const struct code *code)
{
    return json_pack(
        "{s:s, s:s?, s:s, s:s, s:s, s:s, s:s, s:s, s:s}", "name", preset->name,
        "alias", preset->alias, "exactness", exactness_name(code->exactness),
        "carrier", carrier_name(code->carrier), "placement",
        placement_name(preset->placement), "schedule",
        schedule_name(preset->schedule), "stop", stop_name(preset->stop),
        "estimate", estimate_name(preset->estimate), "line", preset->line);
}

static int list_codes(const struct cli *cli)
{
    uint32_t count;
    const struct preset *list = preset_list(&count);
    json_t *rows = json_array();

    for (uint32_t i = 0; i < count; i++) {
        struct code code = {0};

        if (sample(&list[i], &code) != ERR_OK)
            continue;
        if (cli->json)
            (void)json_array_append_new(rows, preset_json(&list[i], &code));
        else
            (void)printf("%-14s %-11s %-5s %-7s  %s\n", list[i].name,
                         list[i].alias == NULL ? "" : list[i].alias,
                         carrier_name(code.carrier),
                         exactness_name(code.exactness), list[i].line);
        code_close(&code);
    }
    if (cli->json)
        say_json(json_pack("{s:O}", "codes", rows));
    else
        (void)printf("\nsteal is the default (with one worker plain, which is "
                     "uncoded); auto begins as steal\nand changes where that "
                     "pays.\n");
    json_decref(rows);
    return EXIT_DONE;
}

/* --- one code ------------------------------------------------------------ */

/* How many of the code's slots a step may end without. */
static uint32_t may_miss(const struct code *code)
{
    const struct code_spec *spec = &code->spec;

    if (spec->stop == STOP_FIRST || spec->stop == STOP_COLLECT)
        return code->slots - spec->k;
    return spec->stragglers;
}

/* Are the parts of column q samples of others? */
static bool is_sample(const struct code *code, uint32_t q)
{
    return code_spec_sampled(&code->spec) && q >= code_primaries(code);
}

struct view {
    const struct preset *preset;
    struct code code;
    struct code_inputs inputs;
    double expected; /* Error with may_miss silent ones at random; NaN: it
                        depends on the rows. */
    bool *in;        /* Who is not in --silent; NULL without it. */
    double *weight;
    bool enough;  /* Do those suffice? */
    double error; /* With those; NaN if not, or if it depends on the rows. */
};

static void view_close(struct view *view)
{
    code_close(&view->code);
    code_inputs_close(&view->inputs);
    mem_free(view->in);
    mem_free(view->weight);
}

static enum err view_build(struct view *view, const struct options *options,
                           const char *text, struct why *why)
{
    struct preset_options preset;
    struct code_spec spec;
    const uint32_t given = (uint32_t)option_count(options, OPT_N);
    uint32_t workers = given > 0 ? given : WORKERS_SHOWN;
    uint64_t chunks;
    enum err err;

    code_inputs_remember(&view->inputs);
    err = code_options(&options->recipe, text, strlen(text), &view->inputs,
                       &preset, why);
    if (err != ERR_OK)
        return err;
    if (preset.matrix != NULL && given == 0)
        workers = preset.matrix->rows;
    if (preset.blocks > 0 && given == 0)
        workers = preset.blocks;
    preset.workers = workers;
    err = preset_spec(&preset, &spec, why);
    if (err != ERR_OK)
        return err;
    chunks = (uint64_t)CHUNKS_A_PART *
             (preset.matrix != NULL ? preset.matrix->cols : workers);
    return code_build(&view->code, &spec, workers, (uint32_t)chunks, why);
}

static enum err take_silent(struct view *view, const char *text,
                            struct why *why)
{
    const uint32_t n = view->code.slots;
    double *numbers = mem_new(n, sizeof *numbers);
    uint32_t count = 0;
    enum err err;

    view->in = mem_new(n, sizeof *view->in);
    if (numbers == NULL || view->in == NULL) {
        mem_free(numbers);
        return ERR_NOMEM;
    }
    memset(view->in, true, n * sizeof *view->in);
    err = code_numbers(text, "--silent", numbers, n, &count, why);
    for (uint32_t i = 0; i < count && err == ERR_OK; i++) {
        if (numbers[i] != floor(numbers[i]) || numbers[i] < 0 ||
            numbers[i] >= n)
            err = why_set(why, ERR_RANGE,
                          "--silent %g: workers are numbered 0 to %u",
                          numbers[i], n - 1);
        else
            view->in[(uint32_t)numbers[i]] = false;
    }
    mem_free(numbers);
    return err;
}

/* The first of those in that holds column q; UINT32_MAX: none does. */
static uint32_t first_holder(const struct code *code, uint32_t q,
                             const bool *in)
{
    const struct code_table *table = &code->table;

    for (uint32_t i = table->column[q]; i < table->column[q + 1]; i++)
        if (in[table->holder[i]])
            return table->holder[i];
    return UINT32_MAX;
}

/* A sample counts for nothing where its part is in, or nobody asks it; how much
 * one counts by which the others are shrunk, the rows say: NaN. */
static double column_weight(const struct code *code, uint32_t q, const bool *in)
{
    if (!is_sample(code, q))
        return 1;
    if (first_holder(code, q - code_primaries(code), in) != UINT32_MAX)
        return 0;
    if (code->spec.estimate == ESTIMATE_SHRINK)
        return (double)NAN;
    return code->spec.estimate == ESTIMATE_SHADOW;
}

/* Plain sums: the first holder of each span that answered counts. */
static void plain_weights(const struct code *code, const bool *in,
                          double *weight)
{
    memset(weight, 0, code->slots * sizeof *weight);
    for (uint32_t q = 0; q < code->span_count; q++) {
        const uint32_t slot = first_holder(code, q, in);
        const double counts = column_weight(code, q, in);

        if (slot != UINT32_MAX && counts != 0)
            weight[slot] = counts;
    }
}

static enum err measure(struct view *view, const struct options *options,
                        struct why *why)
{
    const char *silent = option_text(options, OPT_SILENT);
    struct code *code = &view->code;
    const bool slow = code->carrier == CARRIER_F64 && code->folds == 0 &&
                      code->slots > SOLVED_FAST;
    const uint32_t samples = slow ? ERROR_FEW : ERROR_SAMPLES;
    enum err err =
        code_expected_error(code, may_miss(code), samples, &view->expected);

    /* Private parts are waited for, or others compute them. */
    if (code->spec.placement == PLACE_PARTIAL_FRC ||
        code->spec.placement == PLACE_PARTIAL_CYCLIC)
        view->expected = 0;
    view->error = NAN;
    view->weight = mem_new(code->slots, sizeof *view->weight);
    if (err == ERR_OK && view->weight == NULL)
        err = ERR_NOMEM;
    if (err == ERR_OK && silent != NULL)
        err = take_silent(view, silent, why);
    if (err != ERR_OK || view->in == NULL)
        return err;
    err = code_error(code, view->in, view->weight, &view->error);
    if (code->carrier == CARRIER_TALLY)
        plain_weights(code, view->in, view->weight);
    view->enough = err == ERR_OK;
    return err == ERR_UNDECODABLE ? ERR_OK : err;
}

static void stop_text(const struct code_spec *spec, char text[32])
{
    if (spec->stop == STOP_DEADLINE)
        (void)snprintf(text, 32, "deadline:%g", spec->deadline_s);
    else if (spec->k > 0)
        (void)snprintf(text, 32, "%s:%u", stop_name(spec->stop), spec->k);
    else
        (void)snprintf(text, 32, "%s", stop_name(spec->stop));
}

static void show_row(const struct code *code, uint32_t slot)
{
    const bool numbers = code->span_count <= NUMBERS_SHOWN;
    const uint32_t shown =
        code->span_count < MARKS_SHOWN ? code->span_count : MARKS_SHOWN;

    (void)printf("%7u  ", slot);
    for (uint32_t q = 0; q < shown; q++) {
        const double entry = code_entry(code, slot, q);

        if (entry != 0 && is_sample(code, q))
            (void)printf(numbers ? " %8c" : "%c", 's');
        else if (numbers && entry != 0)
            (void)printf(" %8.4g", entry);
        else if (numbers)
            (void)printf(" %8s", ".");
        else
            (void)putchar(entry > 0 ? '#' : entry < 0 ? '-' : '.');
    }
    (void)putchar('\n');
}

static void show_matrix(const struct code *code)
{
    (void)printf(
        "\nworker   %u columns, each %s%s%s\n", code->span_count,
        code->parts == code->span_count ? "a part"
                                        : "parts that the same workers hold",
        code_spec_sampled(&code->spec) ? " or a sample of one (s)" : "",
        code->span_count > NUMBERS_SHOWN ? "; # above zero, - below, . not held"
                                         : "");
    for (uint32_t slot = 0; slot < code->slots; slot++)
        show_row(code, slot);
}

static void show_weights(const struct view *view)
{
    for (uint32_t slot = 0; slot < view->code.slots; slot++) {
        const char *const silent = view->in[slot] ? "" : "  silent";

        if (isnan(view->weight[slot]))
            (void)printf("%7u  %10s%s\n", slot, "by rows", silent);
        else
            (void)printf("%7u  %10.6g%s\n", slot, view->weight[slot], silent);
    }
}

/* Samples are counted as parts, too, in the code. */
static void show_shape(const struct code *code)
{
    const bool sampled = code_spec_sampled(&code->spec);

    (void)printf("shape        %u workers, %u parts%s; the busiest computes "
                 "%.3g of the data\n",
                 code->slots, sampled ? code_primaries(code) : code->parts,
                 sampled ? " and a sample of each" : "", code_load(code));
}

static void show_errors(const struct view *view)
{
    if (isnan(view->expected))
        (void)printf("expected     error depends on the rows, with %u silent "
                     "at random\n",
                     may_miss(&view->code));
    else
        (void)printf("expected     error %.3g with %u silent at random\n",
                     view->expected, may_miss(&view->code));
}

static void show_certificate(const struct code *code)
{
    const struct certificate *seen = &code->certificate;

    if (code->carrier == CARRIER_TALLY || code_spec_elastic(&code->spec))
        return;
    (void)printf("certificate  residual %.2g, amplification %.3g at worst over "
                 "%s%u patterns of %u silent\n",
                 seen->worst_residual, seen->worst_amplification,
                 seen->exhaustive ? "all " : "", seen->patterns,
                 code->spec.stragglers);
}

static void show_settings(const struct preset *preset)
{
    const char *head = "settings";

    for (int i = 0; i < PRESET_KEYS; i++) {
        if ((preset->keys >> i & 1) == 0)
            continue;
        (void)printf("%-12s %-9s  %s\n", head,
                     preset_key_name((enum preset_key)i),
                     preset_key_help((enum preset_key)i));
        head = "";
    }
}

/* Who computes what when all are there, and when one leaves. */
static void show_arcs(const struct view *view)
{
    const struct code *code = &view->code;
    struct arcs_picture picture = {0};

    if (arcs_picture_make(&picture, code->spec.rule, code->parts,
                          code->slots) != ERR_OK)
        return; /* More workers than a screen is wide. */
    (void)putchar('\n');
    arcs_picture_print(&picture, stdout);
    arcs_picture_close(&picture);
}

static void show_text(const struct view *view)
{
    const struct code *code = &view->code;
    char stop[32];

    stop_text(&code->spec, stop);
    (void)printf("%s: %s\n", code->spec.name, view->preset->line);
    (void)printf("axes         placement %s, schedule %s, stop %s, estimate "
                 "%s\n",
                 placement_name(code->spec.placement),
                 schedule_name(code->spec.schedule), stop,
                 estimate_name(code->spec.estimate));
    (void)printf("class        %s, carrier %s\n",
                 exactness_name(code->exactness), carrier_name(code->carrier));
    show_shape(code);
    show_certificate(code);
    show_settings(view->preset);
    if (code_spec_elastic(&code->spec)) {
        show_matrix(code);
        show_arcs(view);
        return;
    }
    show_errors(view);
    show_matrix(code);
    if (view->in == NULL)
        return;
    if (!view->enough) {
        (void)printf("\nThe answers of the others do not suffice.\n");
        return;
    }
    if (isnan(view->error))
        (void)printf("\nHow far a step is off with these silent depends on the "
                     "rows; the answers weigh\n");
    else
        (void)printf("\nWith these silent a step is off by %.3g; the answers "
                     "weigh\n",
                     view->error);
    show_weights(view);
}

json_t *codes_matrix(const struct code *code)
{
    json_t *rows = json_array();

    for (uint32_t slot = 0; slot < code->slots; slot++) {
        json_t *row = json_array();

        for (uint32_t q = 0; q < code->span_count; q++)
            (void)json_array_append_new(row,
                                        json_real(code_entry(code, slot, q)));
        (void)json_array_append_new(rows, row);
    }
    return rows;
}

static json_t *certificate_json(const struct code *code)
{
    const struct certificate *seen = &code->certificate;

    if (code->carrier == CARRIER_TALLY)
        return json_null();
    return json_pack("{s:o, s:o, s:I, s:b}", "worst_residual",
                     json_number(seen->worst_residual), "worst_amplification",
                     json_number(seen->worst_amplification), "patterns",
                     (json_int_t)seen->patterns, "exhaustive",
                     seen->exhaustive);
}

static json_t *silent_json(const struct view *view)
{
    json_t *silent = json_array();
    json_t *weights = json_array();

    for (uint32_t slot = 0; slot < view->code.slots; slot++) {
        if (!view->in[slot])
            (void)json_array_append_new(silent, json_integer(slot));
        (void)json_array_append_new(weights, json_number(view->weight[slot]));
    }
    return json_pack("{s:o, s:o, s:o}", "silent", silent, "error",
                     json_number(view->error), "weights", weights);
}

static void show_json(const struct view *view)
{
    const struct code *code = &view->code;
    char stop[32];
    json_t *object;

    stop_text(&code->spec, stop);
    object = json_pack(
        "{s:s, s:I, s:I, s:s, s:s, s:s, s:s, s:s, s:s, s:f, s:o, s:o, s:o}",
        "name", code->spec.name, "workers", (json_int_t)code->slots, "parts",
        (json_int_t)code->parts, "exactness", exactness_name(code->exactness),
        "carrier", carrier_name(code->carrier), "placement",
        placement_name(code->spec.placement), "schedule",
        schedule_name(code->spec.schedule), "stop", stop, "estimate",
        estimate_name(code->spec.estimate), "load", code_load(code),
        "expected_error", json_number(view->expected), "matrix",
        codes_matrix(code), "certificate", certificate_json(code));
    if (view->in != NULL)
        (void)json_object_set_new(object, "decode", silent_json(view));
    say_json(object);
}

/* --- the command --------------------------------------------------------- */

static int show_code(struct cli *cli, const char *name)
{
    const char *plot = option_text(&cli->options, OPT_PLOT);
    struct view view = {0};
    struct why why = {0};
    int status = EXIT_DONE;
    enum err err = view_build(&view, &cli->options, name, &why);

    if (err == ERR_OK)
        err = measure(&view, &cli->options, &why);
    if (err == ERR_OK && plot != NULL)
        err = codes_plot(&view.code, plot, &why);
    if (err == ERR_OK)
        view.preset = preset_find(view.code.spec.name);
    if (err != ERR_OK)
        status = say_why(cli, err, &why);
    else if (cli->json)
        show_json(&view);
    else
        show_text(&view);
    view_close(&view);
    return status;
}

int codes_command(struct cli *cli)
{
    const char *name = option_text(&cli->options, OPT_CODE_NAME);

    if (option_flag(&cli->options, OPT_RULES))
        return page_rules(cli);
    return name == NULL ? list_codes(cli) : show_code(cli, name);
}
