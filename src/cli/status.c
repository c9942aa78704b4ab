/*
 * status.c - what is asked of a run that is under way: `muster status`, `stop`
 * and `set`.
 */
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "cli/many.h"
#include "cli/report/report_data.h"
#include "code/preset.h"
#include "learn/series/logbook.h"
#include "node/host/format.h"
#include "node/host/ways.h"
#include "node/run/client.h"
#include "os/clock.h"
#include "os/file/file.h"
#include "os/run/spawn.h"

#define SEARCH_MAX (64u << 10)
#define BEGINS_US  (10 * SECOND_US) /* As long as an answer is waited for. */
#define AGAIN_US   (20 * MS_US)     /* Then twice as long each time, ... */
#define SELDOM_US  (SECOND_US / 2)  /* ... up to this. */

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

/* Peers of a ring that it knows and does not hear. */
static json_int_t count_away(const json_t *workers)
{
    json_int_t away = 0;

    for (size_t i = 0; i < json_array_size(workers); i++)
        if (strcmp(text_of(json_array_get(workers, i), "state"), "away") == 0)
            away++;
    return away;
}

/* Of samples: "size 10%, 20% after step 40". */
static void show_sizes(const json_t *answer)
{
    const json_t *size = json_object_get(answer, "size");
    const json_t *next = json_object_get(answer, "next_size");

    if (json_is_number(size))
        (void)printf(", size %g%%", 100 * json_number_value(size));
    if (json_is_number(next))
        (void)printf(
            ", %g%% after step %" JSON_INTEGER_FORMAT,
            100 * json_number_value(next),
            json_integer_value(json_object_get(answer, "next_size_step")));
}

static void show_text(const json_t *answer)
{
    const json_t *workers = json_object_get(answer, "workers");
    const json_t *objective = json_object_get(answer, "objective");
    const size_t shown = json_array_size(workers);
    const json_int_t more = json_integer_value(json_object_get(answer, "more"));
    const json_int_t away = count_away(workers);
    const json_int_t all = (json_int_t)shown + more - away;
    const json_int_t died = json_integer_value(json_object_get(answer, "died"));

    show_step(answer);
    if (json_is_number(objective))
        (void)printf("   loss %.6f", json_number_value(objective));
    (void)printf("   %" JSON_INTEGER_FORMAT " worker%s", all,
                 all == 1 ? "" : "s");
    if (away > 0)
        (void)printf(" and %" JSON_INTEGER_FORMAT " away", away);
    else if (died > 0) /* In a ring mostly those that are away. */
        (void)printf(", %" JSON_INTEGER_FORMAT " died", died);
    (void)printf(", code %s", text_of(answer, "code"));
    show_sizes(answer);
    (void)printf("%s\n", strcmp(text_of(answer, "phase"), "gathering") == 0
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

/* --- a run that nobody is running ----------------------------------------- */

/* No run is going on, so the exit code is that of one which does not answer. */
static int say_standing(const struct cli *cli, const char *where,
                        const json_t *result, json_int_t step)
{
    const bool finished = json_is_true(json_object_get(result, "finished"));
    const char *const model = text_of(result, "model");

    if (cli->json)
        say_json(json_pack("{s:b, s:b, s:I, s:O?}", "running", 0, "finished",
                           (int)finished, "step", step, "hash",
                           json_object_get(result, "hash")));
    else if (finished)
        (void)say_error(cli, EXIT_FAILED,
                        "%.200s: finished at step %" JSON_INTEGER_FORMAT
                        " with hash %s%s%.200s; `muster report %.200s` shows "
                        "how it went",
                        where, step, text_of(result, "hash"),
                        model[0] == '\0' ? "" : ", saved as ", model, where);
    else
        (void)say_error(cli, EXIT_FAILED,
                        "%.200s: nobody is running it; it %s at step "
                        "%" JSON_INTEGER_FORMAT
                        ", and `muster train --resume=%.200s` goes on",
                        where, result != NULL ? "stopped" : "stands", step,
                        where);
    return EXIT_FAILED;
}

/* What a search left when it was over; NULL: nothing. */
static json_t *load_search(const char *where)
{
    char path[FILE_PATH_SIZE];
    uint8_t *bytes;
    size_t size;
    json_t *found;

    file_path_in(where, SEARCH_FILE, path);
    if (file_read_plain(path, SEARCH_MAX, &bytes, &size, NULL) != ERR_OK)
        return NULL;
    found = json_loadb((const char *)bytes, size, 0, NULL);
    mem_free(bytes);
    if (!json_is_object(found)) {
        json_decref(found);
        return NULL;
    }
    return found;
}

/* Folds and grids, which leave no journal.  False: it is none. */
static bool show_search(const struct cli *cli, const char *where)
{
    char path[FILE_PATH_SIZE];
    struct why why = {0};
    json_t *search;
    enum err err;

    file_path_in(where, SERIES_FILE, path);
    if (!file_exists(path))
        return false;
    search = load_search(where);
    err = search == NULL ? logbook_check(where, &why) : ERR_OK;
    if (err != ERR_OK) { /* --resume would not go on. */
        (void)say_why(cli, err, &why);
        return true;
    }
    if (cli->json)
        say_json(json_pack("{s:b, s:b, s:O?}", "running", 0, "finished",
                           (int)(search != NULL), "search", search));
    else if (search == NULL)
        (void)say_error(cli, EXIT_FAILED,
                        "%.200s: nobody is running it; its search is not "
                        "finished, and `muster train --resume=%.200s` goes on",
                        where, where);
    else
        (void)say_error(
            cli, EXIT_FAILED,
            "%.200s: its search is finished, %" JSON_INTEGER_FORMAT
            " trainings; %s%.200s%s%.200s%s",
            where, json_integer_value(json_object_get(search, "trainings")),
            text_of(search, "best")[0] != '\0' ? "best " : "",
            text_of(search, "best"),
            text_of(search, "best")[0] != '\0' ? ": " : "",
            text_of(search, "line"),
            json_is_true(json_object_get(search, "diverged")) ? "; it diverged"
                                                              : "");
    json_decref(search);
    return true;
}

/* Of a folder: what its files say.  False: they say nothing, or somebody does
 * run it and could only not be reached. */
static bool show_standing(const struct cli *cli, const char *where, int *status)
{
    char path[FILE_PATH_SIZE];
    json_t *data = NULL;

    if (!file_is_folder(where) || format_check(where, NULL) != ERR_OK)
        return false;
    file_path_in(where, CONFIG_FILE, path);
    if (!file_exists(path)) /* Not of `muster train`. */
        return false;
    if (ways_held(where))
        return false;
    *status = EXIT_FAILED;
    if (report_standing(where, &data, NULL) != ERR_OK)
        return show_search(cli, where);
    *status =
        say_standing(cli, where, json_object_get(data, "result"),
                     json_integer_value(json_object_get(data, "last_step")));
    json_decref(data);
    return true;
}

/* A run that reads its rows is not asked, but told.  Once they are read it is a
 * moment until somebody listens. */
static enum err ask_soon(const char *where, const char *token,
                         const struct msg_ask *question, json_t **answer,
                         struct why *why)
{
    const bool stop = question->what == ASK_STOP;
    const bool ours =
        file_is_folder(where) && file_check_folder(where, NULL) == ERR_OK;
    const bool held = ours && ways_held(where);
    const time_us until = clock_now_us() + BEGINS_US;
    time_us pause = AGAIN_US;
    char *text = NULL;
    enum err err;

    for (;;) {
        if (ours && stop && ways_stop_reading(where)) {
            *answer = json_pack("{s:b, s:b}", "stopping", 1, "reading", 1);
            return ERR_OK;
        }
        err = client_ask(where, token, question, &text, why);
        if ((err != ERR_NOTFOUND && err != ERR_CLOSED) || !ours ||
            !ways_begins(where, err == ERR_CLOSED) || clock_now_us() >= until)
            break;
        spawn_wait(NULL, 0, pause);
        pause = time_sooner(2 * pause, SELDOM_US);
    }
    if (err == ERR_OK) {
        *answer = json_loads(text, 0, NULL);
    } else if (stop && held && !ways_held(where)) {
        /* Somebody else was first, or it was done; its folder may be gone. */
        *answer = json_pack("{s:b, s:b}", "stopping", 1, "ended", 1);
        err = ERR_OK;
    } else if (err == ERR_CLOSED && ours && !ways_held(where)) {
        err = ways_silent(where, why); /* Its address is a dead one's. */
    }
    mem_free(text);
    return err;
}

/* Ask, and read the answer; NULL after saying why not. */
static json_t *ask(struct cli *cli, const char *where,
                   const struct msg_ask *question, int *status)
{
    const char *token = option_text(&cli->options, OPT_TOKEN_FILE);
    char latest[RUN_PATH_SIZE];
    struct why why = {0};
    json_t *answer = NULL;
    enum err err;

    if (where == NULL)
        where = going_run(latest);
    if (where == NULL) {
        *status = say_error(cli, EXIT_USAGE,
                            "which run? there is none at " LATEST_RUN
                            "; write `muster %s HOST:PORT`, or the run's "
                            "folder",
                            cli->command->name);
        return NULL;
    }
    if (strpbrk(where, "/:") == NULL &&
        file_find(where, NULL) == ERR_NOTFOUND) {
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
    err = ask_soon(where, token, question, &answer, &why);
    if (err != ERR_OK) {
        if (question->what == ASK_STOP || question->what == ASK_SIZE ||
            err == ERR_DENIED || err == ERR_FORMAT ||
            !show_standing(cli, where, status))
            *status = say_why(cli, err, &why);
        return NULL;
    }
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
    const struct msg_ask question = {.what = why ? ASK_WHY : ASK_STATUS};
    int status = EXIT_DONE;
    json_t *answer =
        ask(cli, option_text(&cli->options, OPT_ADDRESS), &question, &status);

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
    const struct msg_ask question = {.what = ASK_STOP};
    int status = EXIT_DONE;
    json_t *answer =
        ask(cli, option_text(&cli->options, OPT_ADDRESS), &question, &status);

    if (answer == NULL)
        return status;
    if (cli->json) {
        say_json(answer);
        return EXIT_DONE;
    }
    if (json_is_true(json_object_get(answer, "reading")))
        (void)puts("stopping; it reads its rows, and no step was made");
    else if (json_is_true(json_object_get(answer, "ended")))
        (void)puts("it has ended meanwhile");
    else
        (void)printf("stopping after step %" JSON_INTEGER_FORMAT "\n",
                     json_integer_value(json_object_get(answer, "step")));
    json_decref(answer);
    return EXIT_DONE;
}

/* "size=20%" as a share; false after saying why not. */
static bool read_setting(struct cli *cli, const char *setting, double *size,
                         int *status)
{
    struct why why = {0};

    if (strncmp(setting, "size=", 5) != 0) {
        *status = say_error(cli, EXIT_USAGE,
                            "%.64s: what can change while a run is under way "
                            "is the size of samples (--code flexent), as in "
                            "size=20%%",
                            setting);
        return false;
    }
    if (preset_size(setting + 5, size, &why) == ERR_OK)
        return true;
    *status = say_error(cli, EXIT_USAGE, "%s", why.text);
    return false;
}

int set_command(struct cli *cli)
{
    const char *where = option_text(&cli->options, OPT_ADDRESS);
    const char *setting = option_text(&cli->options, OPT_SETTING);
    struct msg_ask question = {.what = ASK_SIZE};
    int status = EXIT_DONE;
    json_t *answer;

    if (setting == NULL && where != NULL && strchr(where, '=') != NULL) {
        setting = where; /* Of the run that is going on. */
        where = NULL;
    }
    if (setting == NULL)
        return say_error(cli, EXIT_USAGE,
                         "set what? write `muster set RUN size=20%%`");
    if (!read_setting(cli, setting, &question.size, &status))
        return status;
    answer = ask(cli, where, &question, &status);
    if (answer == NULL)
        return status;
    if (cli->json) {
        say_json(answer);
        return EXIT_DONE;
    }
    (void)printf("size %g%% after step %" JSON_INTEGER_FORMAT "\n",
                 100 * question.size,
                 json_integer_value(json_object_get(answer, "step")));
    json_decref(answer);
    return EXIT_DONE;
}
