/*
 * status.c - `muster status` and `muster stop`.
 */
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "cli/cli.h"
#include "node/run/client.h"
#include "os/file/file.h"

static const char *text_of(const json_t *object, const char *key)
{
    const char *text = json_string_value(json_object_get(object, key));

    return text == NULL ? "" : text;
}

static void show_worker(const json_t *worker)
{
    const json_t *behind = json_object_get(worker, "behind_s");

    (void)printf("  %-16s %-8s", text_of(worker, "name"),
                 text_of(worker, "state"));
    if (json_is_number(behind))
        (void)printf(" %8.3f s", json_number_value(behind));
    if (text_of(worker, "cause")[0] != '\0')
        (void)printf("  %s", text_of(worker, "cause"));
    if (text_of(worker, "relay")[0] != '\0')
        (void)printf("  via %s", text_of(worker, "relay"));
    (void)putchar('\n');
}

/* "step 7 of 100", as far as it is known. */
static void show_step(const json_t *answer)
{
    const json_t *steps = json_object_get(answer, "steps");

    (void)printf("step %" JSON_INTEGER_FORMAT,
                 json_integer_value(json_object_get(answer, "step")));
    if (json_is_integer(steps))
        (void)printf(" of %" JSON_INTEGER_FORMAT, json_integer_value(steps));
}

/* Before there is a job: who has come with private data. */
static bool show_waiting(const json_t *answer)
{
    const json_t *wanted = json_object_get(answer, "wanted");

    if (!json_is_integer(wanted))
        return false;
    (void)printf("waiting for owners: %" JSON_INTEGER_FORMAT
                 " of %" JSON_INTEGER_FORMAT " private files are here\n",
                 json_integer_value(json_object_get(answer, "files")),
                 json_integer_value(wanted));
    return true;
}

/* Coded data: too few are here, or a set of them that decodes too badly. */
static void show_needed(const json_t *answer)
{
    const json_int_t needed =
        json_integer_value(json_object_get(answer, "needed"));

    if (needed > 0)
        (void)printf("the step waits for more to join: it needs "
                     "%" JSON_INTEGER_FORMAT " workers\n",
                     needed);
}

static void show_text(const json_t *answer)
{
    const json_t *workers = json_object_get(answer, "workers");
    const json_t *objective = json_object_get(answer, "objective");
    const size_t shown = json_array_size(workers);
    const json_int_t more = json_integer_value(json_object_get(answer, "more"));
    const json_int_t all = (json_int_t)shown + more;

    show_step(answer);
    if (json_is_number(objective))
        (void)printf("   loss %.6f", json_number_value(objective));
    (void)printf("   %" JSON_INTEGER_FORMAT " worker%s, code %s%s\n", all,
                 all == 1 ? "" : "s", text_of(answer, "code"),
                 strcmp(text_of(answer, "phase"), "gathering") == 0
                     ? "; waiting for workers"
                     : "");
    show_needed(answer);
    if (shown > 0)
        (void)printf("  %-16s %-8s %10s  %s\n", "worker", "state", "behind",
                     "cause");
    for (size_t i = 0; i < shown; i++)
        show_worker(json_array_get(workers, i));
    if (more > 0)
        (void)printf("  and %" JSON_INTEGER_FORMAT " more\n", more);
}

/* Ask, and read the answer; NULL after saying why not. */
static json_t *ask(struct cli *cli, enum ask_what what, int *status)
{
    const char *where = option_text(&cli->options, OPT_ADDRESS);
    const char *token = option_text(&cli->options, OPT_TOKEN_FILE);
    char latest[RUN_PATH_SIZE];
    struct why why = {0};
    char *text = NULL;
    json_t *answer;
    enum err err;

    if (where == NULL)
        where = latest_run(latest);
    if (where == NULL) {
        *status = say_error(cli, EXIT_USAGE,
                            "which run? there is none at " LATEST_RUN
                            "; write `muster %s HOST:PORT`, or the run's "
                            "folder",
                            cli->command->name);
        return NULL;
    }
    if (strpbrk(where, "/:") == NULL && !file_exists(where)) {
        *status = say_error(cli, EXIT_FAILED,
                            "%.200s: no such folder, and no HOST:PORT; name "
                            "the run's folder or its coordinator's address",
                            where);
        return NULL;
    }
    if (strchr(where, '/') != NULL && file_find(where, NULL) == ERR_NOTFOUND) {
        *status =
            say_error(cli, EXIT_FAILED, "%.200s: there is no such run", where);
        return NULL;
    }
    err = client_ask(where, token, what, &text, &why);
    if (err != ERR_OK) {
        *status = say_why(cli, err, &why);
        return NULL;
    }
    answer = json_loads(text, 0, NULL);
    mem_free(text);
    if (answer == NULL)
        *status = say_error(cli, EXIT_FAILED,
                            "%.200s: the answer is not JSON; is that a "
                            "coordinator of this version?",
                            where);
    else if (json_object_get(answer, "error") != NULL) {
        *status = say_error(cli, EXIT_FAILED, "%.200s: %.200s", where,
                            text_of(answer, "error"));
        json_decref(answer);
        answer = NULL;
    }
    return answer;
}

static void show_slow(const json_t *worker)
{
    const json_t *factor = json_object_get(worker, "factor");
    const char *relay = text_of(worker, "relay");

    (void)printf("  %-16s", text_of(worker, "name"));
    if (relay[0] != '\0')
        (void)printf(" via %-8s", relay);
    if (json_is_number(factor))
        (void)printf(" %7.1f x", json_number_value(factor));
    else
        (void)printf(" %9s", "-");
    (void)printf("  %-8s %s\n", text_of(worker, "cause"),
                 text_of(worker, "why"));
}

/* Those who keep up are counted, not listed. */
static void show_why(const json_t *answer)
{
    const json_t *workers = json_object_get(answer, "workers");
    const size_t count = json_array_size(workers);
    const json_int_t more = json_integer_value(json_object_get(answer, "more"));
    size_t behind = 0;
    bool known = false;

    show_step(answer);
    (void)putchar('\n');
    show_needed(answer);
    for (size_t i = 0; i < count; i++) {
        const json_t *worker = json_array_get(workers, i);

        known |= json_is_number(json_object_get(worker, "factor"));
        if (text_of(worker, "why")[0] == '\0')
            continue;
        show_slow(worker);
        behind++;
    }
    (void)printf("%s%" JSON_INTEGER_FORMAT " of %" JSON_INTEGER_FORMAT
                 " workers are not behind%s\n",
                 behind > 0 ? "the other " : "",
                 (json_int_t)(count - behind) + more, (json_int_t)count + more,
                 known || behind > 0
                     ? ""
                     : ", as far as is known: nothing was measured yet");
}

int status_command(struct cli *cli)
{
    const bool why = option_flag(&cli->options, OPT_WHY_SLOW);
    int status = EXIT_DONE;
    json_t *answer = ask(cli, why ? ASK_WHY : ASK_STATUS, &status);

    if (answer == NULL)
        return status;
    if (cli->json) {
        say_json(answer);
        return EXIT_DONE;
    }
    if (!show_waiting(answer)) {
        if (why)
            show_why(answer);
        else
            show_text(answer);
    }
    json_decref(answer);
    return EXIT_DONE;
}

int stop_command(struct cli *cli)
{
    int status = EXIT_DONE;
    json_t *answer = ask(cli, ASK_STOP, &status);

    if (answer == NULL)
        return status;
    if (cli->json) {
        say_json(answer);
        return EXIT_DONE;
    }
    (void)printf("stopping after step %" JSON_INTEGER_FORMAT "\n",
                 json_integer_value(json_object_get(answer, "step")));
    json_decref(answer);
    return EXIT_DONE;
}
