/*
 * report.c - `muster report`: a run as one page that needs nothing else.
 *
 * The page (cli/report/report.html) is compiled in; the data takes the place of
 * its mark.  Inside a script element only `<` could end the data, so that is
 * written as JSON's \u003c; the page itself puts every text in as text.
 */
#include <stdio.h>
#include <string.h>

#include "base/check.h"
#include "cli/cli.h"
#include "cli/report/report_cost.h"
#include "cli/report/report_data.h"
#include "node/host/format.h"
#include "os/file/file.h"
#include "os/file/input.h"
#include "os/file/output.h"

#define MARK        "@DATA@"
#define PATH_SIZE   1024u
#define REPORT_FILE "report.html"
/* By which a page of ours is known, of any version. */
#define TITLE      "<title>Muster report</title>"
#define TITLE_ROOM 2048u /* It stands before this byte. */

extern const char report_html[];

static int write_data(const char *text, size_t size, void *context)
{
    size_t from = 0;

    for (size_t i = 0; i < size; i++) {
        if (text[i] != '<')
            continue;
        output_write(context, text + from, i - from);
        output_write(context, "\\u003c", 6);
        from = i + 1;
    }
    output_write(context, text + from, size - from);
    return 0;
}

static enum err write_page(const json_t *data, const char *path,
                           enum output_way way, struct why *why)
{
    const char *mark = strstr(report_html, MARK);
    struct output *out;
    const enum err err = output_open(&out, path, way, 0644, why);

    CHECK(mark != NULL);
    if (err != ERR_OK)
        return err;
    output_write(out, report_html, (size_t)(mark - report_html));
    if (json_dump_callback(data, write_data, out,
                           JSON_COMPACT | JSON_REAL_PRECISION(9)) != 0) {
        output_abort(out);
        return why_set(why, ERR_NOMEM, "%s", err_text(ERR_NOMEM));
    }
    output_write(out, mark + strlen(MARK), strlen(mark + strlen(MARK)));
    return output_commit(out, why);
}

/* To say of such a run what uncoded would have taken would be odd. */
static bool was_uncoded(const json_t *data)
{
    const char *name = json_string_value(
        json_object_get(json_object_get(data, "code"), "name"));

    return name != NULL &&
           (strcmp(name, "uncoded") == 0 || strcmp(name, "plain") == 0);
}

/* Where the replay misses the code that was used by far, what it says of
 * another one is worth nothing. */
static bool is_doubtful(const json_t *data)
{
    return json_is_true(
        json_object_get(json_object_get(data, "hindsight"), "doubtful"));
}

static void show_uncoded(const json_t *data)
{
    const json_t *hindsight = json_object_get(data, "hindsight");
    const json_t *uncoded = json_object_get(hindsight, "uncoded");

    if (uncoded == NULL || was_uncoded(data))
        return;
    if (is_doubtful(data))
        (void)printf("uncoded cannot be told: the code that was used, replayed "
                     "likewise, comes out %+.0f %% off what was measured\n",
                     100 *
                         json_number_value(json_object_get(hindsight, "off")));
    else
        (void)printf("uncoded would have taken about %.2g x as long, at least "
                     "%.2g x (replayed)\n",
                     json_number_value(json_object_get(uncoded, "ratio")),
                     json_number_value(json_object_get(uncoded, "least")));
}

static double rows_of(const json_t *noise, const char *key)
{
    return json_number_value(json_object_get(noise, key));
}

/* What is null is not known. */
static void show_noise(const json_t *noise)
{
    if (!json_is_object(noise))
        return;
    if (json_is_number(json_object_get(noise, "critical_batch")))
        (void)printf("gradient noise scale: %.3g rows at the start, %.3g at "
                     "the model: critical batch %.3g\n",
                     rows_of(noise, "start"), rows_of(noise, "model"),
                     rows_of(noise, "critical_batch"));
    else
        (void)fputs("gradient noise hides the gradient at the start or at the "
                    "model, so that the critical batch is not known\n",
                    stdout);
}

/* Runs of seconds cost parts of a cent. */
static const char *money_text(const json_t *cost, const char *key,
                              char text[32])
{
    const double money = json_number_value(json_object_get(cost, key));

    (void)snprintf(text, 32, money >= 1 || money <= 0 ? "%.2f" : "%.3g", money);
    return text;
}

static void show_cost(const json_t *data)
{
    const json_t *cost = json_object_get(data, "cost");
    char spent[32], uncoded[32], least[32];

    if (cost == NULL)
        return;
    if (json_is_null(cost)) {
        (void)printf("what it cost cannot be said: no step was recorded\n");
        return;
    }
    (void)printf("cost %s $: %.3g worker-hours at %g $\n",
                 money_text(cost, "spent", spent),
                 json_number_value(json_object_get(cost, "worker_hours")),
                 json_number_value(json_object_get(cost, "price")));
    if (json_is_number(json_object_get(cost, "uncoded")) &&
        !was_uncoded(data) && !is_doubtful(data))
        (void)printf("waiting for everyone (uncoded) would have cost about %s "
                     "$, at least %s $ (replayed)\n",
                     money_text(cost, "uncoded", uncoded),
                     money_text(cost, "uncoded_least", least));
}

static void show(const struct cli *cli, const json_t *data, const char *path)
{
    const json_t *hindsight = json_object_get(data, "hindsight");
    const json_t *uncoded = json_object_get(hindsight, "uncoded");
    const json_t *noise =
        json_object_get(json_object_get(data, "result"), "noise");

    if (cli->json) {
        say_json(json_pack(
            "{s:s, s:O, s:O, s:O, s:O, s:I, s:O?, s:O?, s:O?, s:O?, s:O?, "
            "s:O?}",
            "report", path, "class", json_object_get(data, "class"),
            "statement", json_object_get(data, "statement"), "steps",
            json_object_get(data, "last_step"), "command",
            json_object_get(data, "command"), "recorded_steps",
            (json_int_t)json_array_size(json_object_get(data, "steps")),
            "uncoded_ratio", json_object_get(uncoded, "ratio"),
            "uncoded_ratio_least", json_object_get(uncoded, "least"),
            "replay_off", json_object_get(hindsight, "off"), "noise", noise,
            "cost", json_object_get(data, "cost"), "died",
            json_object_get(json_object_get(data, "deaths"), "workers")));
        return;
    }
    say_name("", path, ": ");
    (void)printf("%s\n", json_string_value(json_object_get(data, "statement")));
    show_uncoded(data);
    show_cost(data);
    show_noise(noise);
}

static json_t *cost_json(const struct cli *cli, const json_t *data)
{
    json_t *cost = report_cost(data, option_real(&cli->options, OPT_PRICE));

    return cost != NULL ? cost : json_null();
}

/* Is it a page that we wrote, or nothing that could be lost? */
static bool is_ours(const char *path)
{
    char head[TITLE_ROOM + 1];
    struct input input;
    size_t got = 0;
    enum err err;

    if (file_is_link(path) || input_open(&input, path, NULL) != ERR_OK)
        return false;
    err = input_read_at(&input, 0, head, TITLE_ROOM, &got);
    input_close(&input);
    head[got] = '\0';
    return err == ERR_OK && (got == 0 || strstr(head, TITLE) != NULL);
}

/* May the page be written there?  A run's folder may be one that has other
 * files, and root can write into anybody's. */
static enum err check_place(const char *folder, const char *path,
                            struct why *why)
{
    if (file_is_foreign(folder, why)) {
        const struct why whose = *why;

        return why_set(why, ERR_DENIED,
                       "%.300s, and nothing is written into it; --to FILE.html "
                       "writes the page elsewhere",
                       whose.text);
    }
    if (file_find(path, NULL) == ERR_NOTFOUND || is_ours(path))
        return ERR_OK;
    return why_set(why, ERR_EXISTS,
                   "%.300s: no page of `muster report`, and not written over; "
                   "--to FILE.html writes the page elsewhere",
                   path);
}

int report_command(struct cli *cli)
{
    const char *folder = option_text(&cli->options, OPT_RUN);
    const char *out = option_text(&cli->options, OPT_TO);
    char path[PATH_SIZE], latest[RUN_PATH_SIZE];
    struct why why = {0};
    json_t *data;
    enum err err;

    if (folder == NULL)
        folder = latest_run(latest);
    if (folder == NULL)
        return say_error(cli, EXIT_USAGE,
                         "which run? there is none at " LATEST_RUN
                         "; write `muster report FOLDER`, the --out of a "
                         "`muster train` with workers");
    err = file_find(folder, &why);
    if (err != ERR_OK && err != ERR_NOTFOUND)
        return say_why(cli, err, &why);
    if (err == ERR_NOTFOUND)
        return say_error(cli, EXIT_FAILED,
                         "%.200s: there is no such folder; name the --out of a "
                         "`muster train` with workers",
                         folder);
    (void)snprintf(path, sizeof path, "%.900s%s", out != NULL ? out : folder,
                   out != NULL ? "" : "/" REPORT_FILE);
    err = format_check(folder, &why);
    if (err == ERR_OK && out == NULL)
        err = check_place(folder, path, &why);
    if (err == ERR_OK)
        err = report_data(folder, &data, &why);
    if (err != ERR_OK)
        return say_why(cli, err, &why);
    if (option_given(&cli->options, OPT_PRICE))
        (void)json_object_set_new(data, "cost", cost_json(cli, data));
    err = write_page(data, path, out != NULL ? OUTPUT_WHOLE : OUTPUT_OWN, &why);
    if (err == ERR_OK)
        show(cli, data, path);
    json_decref(data);
    return err == ERR_OK ? EXIT_DONE : say_why(cli, err, &why);
}
