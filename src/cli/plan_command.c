/*
 * plan_command.c - `muster plan`: which code for these delays; traces made and
 * named.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "cli/cli.h"
#include "cli/plan_step.h"
#include "learn/card/json.h"
#include "learn/code_options.h"
#include "learn/recipe/delay_load.h"
#include "os/file/output.h"
#include "plan/fit.h"
#include "plan/plan.h"

#define WORKERS_DEFAULT 8u
#define STEPS_DEFAULT   1000u
#define CURRENT_DEFAULT "uncoded"

/* --- what is asked ------------------------------------------------------- */

struct asked {
    struct delay delay;
    struct delay_files files;
    uint32_t workers, steps;
    double work_s; /* Of a step. */
    struct plan_step step;
};

static void asked_close(struct asked *asked)
{
    delay_files_close(&asked->files);
}

/* A trace given as FROM is a delay of its own. */
static enum err read_delay(const struct options *options, const char *standard,
                           struct asked *asked, struct why *why)
{
    const char *from = option_text(options, OPT_PLAN_FROM);
    const char *text = option_text(options, OPT_DELAY);
    const bool choose =
        strcmp(option_text(options, OPT_PLAN_ACTION), "choose") == 0;
    char trace[DELAY_TEXT_BYTES + 8];

    if (choose && from != NULL && text != NULL)
        return why_set(why, ERR_SHAPE,
                       "the trace %.100s and --delay: one of the two", from);
    if (choose && from != NULL) {
        (void)snprintf(trace, sizeof trace, "trace:%s", from);
        text = trace;
    }
    if (text == NULL)
        text = standard;
    if (text == NULL)
        return why_set(why, ERR_SHAPE,
                       "which delays? `muster plan choose FILE` takes a trace, "
                       "--delay a model; `muster plan --help` has examples");
    return delay_load(text, option_count(options, OPT_SEED), &asked->delay,
                      &asked->files, why);
}

/* The trace knows how many workers and steps there were, and their work. */
static const struct delay_trace *only_trace(const struct asked *asked)
{
    return asked->delay.count == 1 && asked->delay.term[0].kind == DELAY_TRACE
               ? &asked->files.trace[0]
               : NULL;
}

static double trace_work(const struct delay_trace *trace)
{
    double sum = 0;

    for (uint32_t i = 0; i < trace->rows; i++)
        sum += trace->work_s[i] / trace->rows;
    return sum;
}

/* Without --work or a trace of a network what it costs. */
static double work_of(const struct options *options, const struct asked *asked)
{
    const struct delay_trace *trace = only_trace(asked);

    if (option_given(options, OPT_WORK))
        return option_real(options, OPT_WORK);
    if (asked->step.work_s > 0)
        return asked->step.work_s;
    return trace != NULL ? trace_work(trace) : 1;
}

static enum err size_up(struct options *options, struct asked *asked,
                        struct why *why)
{
    const struct setting *span = option_setting(options, OPT_WORKERS);
    const struct delay_trace *trace = only_trace(asked);
    enum err err;

    asked->workers = span->text != NULL
                         ? (uint32_t)span->low
                         : (uint32_t)option_count(options, OPT_N);
    if (asked->workers == 0)
        asked->workers = trace != NULL ? trace->cols : WORKERS_DEFAULT;
    asked->steps = option_given(options, OPT_STEPS)
                       ? (uint32_t)option_count(options, OPT_STEPS)
                   : trace != NULL ? trace->rows
                                   : STEPS_DEFAULT;
    if (asked->steps < PLAN_BLOCKS)
        asked->steps = PLAN_BLOCKS;
    err = delay_check_names(&asked->delay, asked->workers, why);
    if (err == ERR_OK)
        err = plan_step(options, asked->workers, &asked->step, why);
    asked->work_s = work_of(options, asked) * asked->step.share;
    return err;
}

/* --- choose -------------------------------------------------------------- */

static enum exactness worst_class(const struct options *options)
{
    const char *wanted = option_text(options, OPT_EXACT);

    for (int i = EXACT_BITWISE; wanted != NULL && i <= EXACT_APPROX; i++)
        if (strcmp(wanted, exactness_name((enum exactness)i)) == 0)
            return (enum exactness)i;
    return EXACT_BITWISE;
}

/* Does the code go with batches, or a network? */
static enum err check_code(const struct asked *asked,
                           const struct candidate *candidate, struct why *why)
{
    struct choices choices = {0};

    choices_code(&choices, &candidate->spec);
    choices_add(&choices, asked->step.traits, NULL);
    return rules_check(&choices, why);
}

/* Those that do not fall out. */
static void keep_allowed(const struct asked *asked, struct plan_table *table)
{
    uint32_t kept = 1;

    for (uint32_t i = 1; i < table->count; i++)
        if (rules_allow(code_traits(&table->candidate[i].spec) |
                        asked->step.traits))
            table->candidate[kept++] = table->candidate[i];
    table->count = kept;
}

/* The candidates to try: those of --compare, or all that fit; then what runs
 * now, for the gain. */
static enum err list_candidates(const struct options *options,
                                const struct asked *asked,
                                struct plan_table *table, struct why *why)
{
    const char *text = option_text(options, OPT_COMPARE);
    const char *code = option_text(options, OPT_CODE);
    const struct preset_options defaults = {
        .stragglers = (uint32_t)option_count(options, OPT_STRAGGLERS),
        .workers = asked->workers,
        .seed = option_count(options, OPT_SEED),
    };
    enum err err =
        candidate_parse(code == NULL ? CURRENT_DEFAULT : code,
                        strlen(code == NULL ? CURRENT_DEFAULT : code),
                        &defaults, &table->candidate[0], why);

    table->count = 1;
    if (err == ERR_OK)
        err = check_code(asked, &table->candidate[0], why);
    if (err != ERR_OK)
        return why_in(why, err, "--code");
    if (text == NULL) {
        const uint32_t listed =
            candidate_list(asked->workers, worst_class(options),
                           option_count(options, OPT_SEED),
                           table->candidate + 1, CANDIDATES_MAX - 1);

        if (listed == 0)
            return why_set(why, ERR_NOMEM, "out of memory");
        table->count += listed;
        keep_allowed(asked, table);
    }
    while (text != NULL && err == ERR_OK && *text != '\0') {
        const size_t length = code_length(text);

        if (table->count == CANDIDATES_MAX)
            return why_set(why, ERR_TOOBIG, "--compare: more than %u codes",
                           CANDIDATES_MAX - 1);
        err = candidate_parse(text, length, &defaults,
                              &table->candidate[table->count], why);
        if (err == ERR_OK)
            err = check_code(asked, &table->candidate[table->count++], why);
        text += length;
        text += *text == ',';
    }
    return err == ERR_OK ? err : why_in(why, err, "--compare");
}

static json_t *candidate_json(const struct candidate *candidate,
                              const struct score *score)
{
    return json_pack(
        "{s:s, s:s, s:I, s:I, s:o, s:o, s:f, s:f, s:f, s:f, s:f, s:s}", "code",
        candidate->spec.name, "label", candidate->label, "stragglers",
        (json_int_t)candidate->spec.stragglers, "collect",
        (json_int_t)(candidate->spec.stop == STOP_COLLECT ? candidate->spec.k
                                                          : 0),
        "predicted_step_s", json_number(score->step_s), "progress_s",
        json_number(score->progress_s), "coverage", score->coverage,
        "extra_compute", score->extra_compute, "storage", score->storage,
        "answers", score->answers, "stalled", score->stalled, "exactness",
        exactness_name(score->exactness));
}

/* Of all passes with the code that is chosen, in seconds; 0: not asked. */
static double passes_s(const struct asked *asked, const struct score *score)
{
    return (double)asked->step.passes * asked->step.steps * score->progress_s;
}

static json_t *step_json(const struct asked *asked, const struct score *score)
{
    const struct plan_step *const step = &asked->step;

    return json_pack("{s:I, s:I, s:I, s:I, s:f, s:f}", "rows",
                     (json_int_t)(step->share < 1 ? step->batch : step->rows),
                     "of", (json_int_t)step->rows, "chunks",
                     (json_int_t)step->chunks, "steps_a_pass",
                     (json_int_t)step->steps, "work_s", asked->work_s,
                     "passes_s", passes_s(asked, score));
}

static void choice_json(const struct cli *cli, const struct asked *asked,
                        const struct plan_table *table,
                        const struct plan_choice *choice)
{
    json_t *list = json_array();

    for (uint32_t i = 0; i < table->count; i++)
        (void)json_array_append_new(
            list, candidate_json(&table->candidate[i], &table->score[i]));
    say_json(
        json_pack("{s:s, s:s, s:f, s:[f, f], s:b, s:o, s:o, s:o}", "choice",
                  table->candidate[choice->best].label, "why", choice->why,
                  "gain", choice->gain, "gain_interval", choice->gain_low,
                  choice->gain_high, "change", choice->change, "step",
                  step_json(asked, &table->score[choice->best]), "candidates",
                  list, "config", config_json(&cli->options)));
}

/* What runs now is the first, and often one of the others, too. */
static bool is_again(const struct candidate *one, const struct candidate *now)
{
    return one != now && strcmp(one->label, now->label) == 0;
}

static void step_text(const struct asked *asked, const struct score *score)
{
    const struct plan_step *const step = &asked->step;

    if (step->share < 1)
        (void)printf("A step is over %u of %u rows, %.4g s of work for each "
                     "worker; a pass is %u steps.\n",
                     step->batch, step->rows, asked->work_s, step->steps);
    if (step->passes > 0)
        (void)printf("%u %s %.4g s.\n", step->passes,
                     step->passes == 1 ? "pass takes" : "passes take",
                     passes_s(asked, score));
}

static void choice_text(const struct asked *asked,
                        const struct plan_table *table,
                        const struct plan_choice *choice)
{
    const uint32_t best =
        is_again(&table->candidate[choice->best], table->candidate)
            ? 0
            : choice->best;

    const int digits = asked->work_s < 0.1 ? 6 : 4;

    (void)printf("%-20s %9s %9s %9s %8s %8s %8s  %s\n", "code", "s/step",
                 "progress", "compute", "storage", "sums", "covered", "class");
    for (uint32_t i = 0; i < table->count; i++) {
        const struct score *score = &table->score[i];

        if (is_again(&table->candidate[i], table->candidate))
            continue;
        (void)printf("%-20s %9.*f %9.*f %+8.0f%% %8.2f %8.1f %8.3f  %s",
                     table->candidate[i].label, digits, score->step_s, digits,
                     score->progress_s, 100 * score->extra_compute,
                     score->storage, score->answers, score->coverage,
                     exactness_name(score->exactness));
        if (score->stalled > 0)
            (void)printf(", %.1f %% of steps stall", 100 * score->stalled);
        (void)printf("%s\n", i == best ? "  <" : "");
    }
    (void)printf("%s.\n", choice->why);
    step_text(asked, &table->score[choice->best]);
}

static int choose(struct cli *cli, const struct asked *asked)
{
    const struct options *options = &cli->options;
    const struct plan_options how = {
        .workers = asked->workers,
        .work_s = asked->work_s,
        .delay = &asked->delay,
        .steps = asked->steps,
        .chunks = asked->step.chunks,
        .noise = option_real(options, OPT_NOISE) / asked->step.share,
        .everywhere = asked->step.everywhere,
        .storage_max = option_given(options, OPT_COPIES)
                           ? option_real(options, OPT_COPIES)
                           : 0,
    };
    struct plan_table *table = mem_new(1, sizeof *table);
    struct plan_choice choice;
    struct why why = {0};
    enum err err = table == NULL ? ERR_NOMEM
                                 : list_candidates(options, asked, table, &why);

    if (err == ERR_OK)
        err = plan_score_all(&how, table, &why);
    if (err == ERR_OK) {
        plan_choose(table->candidate, table->score, table->count, 0, &choice);
        if (cli->json)
            choice_json(cli, asked, table, &choice);
        else
            choice_text(asked, table, &choice);
    }
    mem_free(table);
    return err == ERR_OK ? EXIT_DONE : say_why(cli, err, &why);
}

static int choose_command(struct cli *cli)
{
    struct asked asked = {0};
    struct why why = {0};
    enum err err = read_delay(&cli->options, NULL, &asked, &why);
    int status;

    if (err != ERR_OK)
        return say_why(cli, err, &why);
    err = size_up(&cli->options, &asked, &why);
    status = err == ERR_OK ? choose(cli, &asked) : say_why(cli, err, &why);
    asked_close(&asked);
    return status;
}

/* --- traces -------------------------------------------------------------- */

static enum err write_trace(const struct delay_trace *trace, const char *path,
                            struct why *why)
{
    char *text = delay_trace_text(trace);
    enum err err;

    if (text == NULL)
        return why_set(why, ERR_NOMEM, "%s", err_text(ERR_NOMEM));
    err = output_save(path, text, strlen(text), why);
    mem_free(text);
    return err;
}

static int generate_command(struct cli *cli)
{
    const char *path = option_text(&cli->options, OPT_PLAN_FROM);
    struct asked asked = {0};
    struct delay_trace trace = {0};
    struct why why = {0};
    enum err err;

    if (path == NULL)
        return say_error(cli, EXIT_USAGE,
                         "muster plan generate FILE: which file?");
    err = read_delay(&cli->options, delay_trace_realistic, &asked, &why);
    if (err == ERR_OK)
        err = size_up(&cli->options, &asked, &why);
    if (err == ERR_OK) {
        err = delay_trace_generate(&trace, &asked.delay, asked.steps,
                                   asked.workers, asked.work_s);
    }
    if (err == ERR_OK)
        err = write_trace(&trace, path, &why);
    if (err == ERR_OK && cli->json)
        say_json(json_pack("{s:o, s:I, s:I}", "file", name_json(path), "steps",
                           (json_int_t)trace.rows, "workers",
                           (json_int_t)trace.cols));
    delay_trace_close(&trace);
    asked_close(&asked);
    return err == ERR_OK ? EXIT_DONE : say_why(cli, err, &why);
}

static void fit_show(const struct delay_fit *fit)
{
    (void)printf("--delay %s\n", fit->text);
    (void)printf("family       %s, Kolmogorov-Smirnov distance %.4f\n",
                 law_name(fit->law.kind), fit->ks);
    (void)printf("with work    %s\n",
                 fit->loads_vary ? fit->scale ? "delays grow with the work"
                                              : "delays do not grow with it"
                 : fit->scale    ? "taken as a factor: two values"
                                 : "cannot be told: all work is the same; "
                                   "taken as seconds");
    (void)printf("over steps   %s, rank correlation %.3f\n",
                 fit->persistent ? "stays with the worker"
                 : fit->bursty   ? "comes in bursts"
                                 : "independent",
                 fit->correlation);
}

static int fit_command(struct cli *cli)
{
    const char *path = option_text(&cli->options, OPT_PLAN_FROM);
    struct delay_trace trace = {0};
    struct delay_fit fit;
    struct why why = {0};
    enum err err;

    if (path == NULL)
        return say_error(cli, EXIT_USAGE, "muster plan fit FILE: which file?");
    err = delay_trace_load(path, &trace, &why);
    if (err == ERR_OK) {
        err = fit_trace(&trace, &fit, &why);
        if (err != ERR_OK)
            (void)why_in(&why, err, "%.300s", path);
    }
    delay_trace_close(&trace);
    if (err != ERR_OK)
        return say_why(cli, err, &why);
    if (cli->json)
        say_json(json_pack("{s:s, s:s, s:f, s:b, s:b, s:b, s:b, s:f, s:f}",
                           "delay", fit.text, "family", law_name(fit.law.kind),
                           "ks", fit.ks, "scale", fit.scale, "loads_vary",
                           fit.loads_vary, "persistent", fit.persistent,
                           "bursty", fit.bursty, "correlation", fit.correlation,
                           "dead", fit.dead));
    else
        fit_show(&fit);
    return EXIT_DONE;
}

int plan_command(struct cli *cli)
{
    const char *action = option_text(&cli->options, OPT_PLAN_ACTION);

    if (strcmp(action, "generate") == 0)
        return generate_command(cli);
    if (strcmp(action, "fit") == 0)
        return fit_command(cli);
    return choose_command(cli);
}
