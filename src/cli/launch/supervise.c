/*
 * supervise.c - a coordinator here and its workers elsewhere, from the first
 * start to the last end.
 *
 * LAUNCH-1  What ends the run is the coordinator: when it is gone, all stations
 * are stopped, and its exit code is ours.
 *
 * LAUNCH-2  A signal to us is passed to the coordinator once; it saves its
 * state.  Workers leave afterwards.  A second one is passed, too, which ends it
 * at once, and the children of stations are killed.
 *
 * LAUNCH-3  Whoever kills us with -9 ends the workers, too: their children are
 * killed with us (spawn.h), and the machines there see the end of a pipe that
 * we alone hold (engine.h, stop).
 */
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "cli/launch/engine.h"
#include "node/host/ways.h"
#include "node/run/client.h"
#include "os/clock.h"
#include "os/file/file.h"
#include "os/run/interrupt.h"

#define TICK_US      (50 * MS_US) /* How late an end may be seen. */
#define PAUSE_US     SECOND_US    /* Before a second start; then doubled ... */
#define PAUSE_MAX_US (30 * SECOND_US) /* ... up to this. */
/* Starting ssh costs both sides: so many at a time, as sshd lets strangers
 * knock (MaxStartups 10). */
#define STARTS_MAX 8u
/* How long one may take until it is ready: ssh gives up connecting after 10 s,
 * but a shell or a file system there may hang for ever. */
#define START_S  30
#define START_US (START_S * SECOND_US)
/* Who has lived so long works; who dies earlier every time only ever fails. */
#define SETTLE_US (30 * SECOND_US)
/* How long workers may take to leave before their children are ended. */
#define LEAVE_US (10 * SECOND_US)
#define KILL_US  (2 * SECOND_US)

#define ASK_US SECOND_US /* How often others are asked for. */

#define WORDS_MAX 1024u
#define VALUE_MAX 128u /* Of an option that is shown as it was typed. */
#define SPARE     64u  /* Seats for who joins by itself, as --workers has. */

void launch_trouble(struct launch *launch, const struct station *station,
                    const char *format, ...)
{
    struct place *place = &launch->places[station->host];
    char text[TOLD_SIZE];
    va_list list;

    va_start(list, format);
    (void)vsnprintf(text, sizeof text, format, list);
    va_end(list);
    if (strcmp(text, place->told) == 0)
        return;
    memcpy(place->told, text, sizeof text);
    say_aloud("muster: %s: %s", station_host(launch, station)->target, text);
}

/* --- stations ---------------------------------------------------------------
 */

/* A child of a station may say anything: only whole lines are looked at, each
 * as far as there is room for it. */
static void hear(struct launch *launch, struct station *station)
{
    char data[1024];
    size_t got;

    while ((got = spawn_read(&station->child.out, data, sizeof data)) > 0)
        for (size_t i = 0; i < got; i++) {
            if (data[i] != '\n') {
                if (station->line_size < sizeof station->line - 1)
                    station->line[station->line_size++] = data[i];
                continue;
            }
            station->line[station->line_size] = '\0';
            station->line_size = 0;
            if (launch->engine->heard(launch, station, station->line) &&
                station->state == STATION_STARTS)
                station->state = STATION_READY;
        }
}

static void begin_station(struct launch *launch, struct station *station)
{
    launch->engine->begin(launch, station);
    if (station->worked && station->failures <= 1) /* Told once. */
        say_note(launch->cli, "muster: %s is started again on %s",
                 station->name, station_host(launch, station)->target);
    station->state = STATION_WORKS;
    station->worked = true;
    station->since = clock_now_us();
    launch->places[station->host].working++;
}

/* Whatever befalls it from now on is new. */
static void settle(struct launch *launch, struct station *station, time_us now)
{
    if (station->state != STATION_WORKS || now - station->since < SETTLE_US ||
        station->failures == 0)
        return;
    station->failures = 0;
    launch->places[station->host].told[0] = '\0';
}

/* A start that hangs has failed. */
static void end_late(struct launch *launch, struct station *station,
                     time_us now)
{
    if (station->state != STATION_STARTS || station->late ||
        station->child.in < 0 || now - station->since < START_US)
        return;
    station->late = true;
    launch_trouble(launch, station,
                   "it is not ready after %d s, and the try is given up; does "
                   "`ssh %s true` end?",
                   START_S, station_host(launch, station)->target);
    spawn_kill(&station->child);
}

static void greet(struct launch *launch, uint32_t index)
{
    struct place *place = &launch->places[index];
    const struct host *host = &launch->hosts.list[index];

    if (place->greeted || place->working < host->slots)
        return;
    place->greeted = true;
    say_note(launch->cli, "muster: %s: %u worker%s started", host->target,
             host->slots, host->slots == 1 ? "" : "s");
}

static void listen_to_errors(struct station *station)
{
    char data[1024];
    size_t got;

    while ((got = spawn_read(&station->child.err, data, sizeof data)) > 0) {
        const size_t room = sizeof station->said - 1;
        const size_t keep =
            station->said_size + got > room ? room - got : station->said_size;

        memmove(station->said, station->said + station->said_size - keep, keep);
        memcpy(station->said + keep, data, got);
        station->said_size = keep + got;
        station->said[station->said_size] = '\0';
    }
}

static void start_station(struct launch *launch, struct station *station)
{
    struct why why = {0};

    station->line_size = station->said_size = 0;
    station->said[0] = '\0';
    station->state = STATION_STARTS;
    station->since = clock_now_us();
    station->late = false;
    if (launch->engine->start(launch, station, &why) == ERR_OK)
        return;
    launch_trouble(launch, station, "%s", why.text);
    station->state = STATION_OVER;
}

static time_us pause_after(uint32_t failures)
{
    time_us pause = PAUSE_US;

    for (uint32_t i = 1; i < failures && pause < PAUSE_MAX_US; i++)
        pause *= 2;
    return time_sooner(pause, PAUSE_MAX_US);
}

static void end_station(struct launch *launch, struct station *station,
                        const struct process_end *end, bool again)
{
    enum fate fate;

    hear(launch, station);
    listen_to_errors(station);
    if (station->state == STATION_WORKS)
        launch->places[station->host].working--;
    fate = station->late ? FATE_AGAIN
                         : launch->engine->ended(launch, station, end);
    spawn_close(&station->child);
    station->failures++;
    if (fate != FATE_AGAIN || !again) {
        station->state = STATION_OVER;
        return;
    }
    station->state = STATION_WAITS;
    station->start_at = clock_now_us() + pause_after(station->failures);
}

/* What came from them, and who is gone; returns how many have a child. */
static uint32_t look_at_stations(struct launch *launch, bool again)
{
    uint32_t alive = 0;

    for (uint32_t i = 0; i < launch->station_count; i++) {
        struct station *station = &launch->stations[i];
        const time_us now = clock_now_us();
        struct process_end end;

        if (station->child.pid == 0)
            continue;
        hear(launch, station);
        listen_to_errors(station);
        settle(launch, station, now);
        end_late(launch, station, now);
        if (process_ended(station->child.pid, &end))
            end_station(launch, station, &end, again);
        else
            alive++;
    }
    return alive;
}

static uint32_t count_stations(const struct launch *launch,
                               enum station_state state)
{
    uint32_t count = 0;

    for (uint32_t i = 0; i < launch->station_count; i++)
        count += launch->stations[i].state == state;
    return count;
}

static void start_stations(struct launch *launch, time_us now)
{
    uint32_t starting = count_stations(launch, STATION_STARTS);

    for (uint32_t i = 0; i < launch->station_count && starting < STARTS_MAX;
         i++) {
        struct station *station = &launch->stations[i];

        if (station->state != STATION_WAITS || station->start_at > now)
            continue;
        start_station(launch, station);
        starting++;
    }
}

/* The coordinator listens: those who are ready join it. */
static void begin_stations(struct launch *launch)
{
    for (uint32_t i = 0; i < launch->station_count; i++)
        if (launch->stations[i].state == STATION_READY) {
            begin_station(launch, &launch->stations[i]);
            greet(launch, launch->stations[i].host);
        }
}

static bool all_over(const struct launch *launch)
{
    return count_stations(launch, STATION_OVER) == launch->station_count;
}

/* Is it known of each whether it is ready, at the first try? */
static bool all_known(const struct launch *launch)
{
    for (uint32_t i = 0; i < launch->station_count; i++)
        if (launch->stations[i].state == STATION_STARTS ||
            (launch->stations[i].state == STATION_WAITS &&
             launch->stations[i].failures == 0))
            return false;
    return true;
}

static void rest(const struct launch *launch)
{
    int *fds = mem_new(2 * (size_t)launch->station_count + 1, sizeof *fds);
    size_t count = 0;

    for (uint32_t i = 0; fds != NULL && i < launch->station_count; i++) {
        const struct station *station = &launch->stations[i];

        if (station->child.pid == 0)
            continue;
        fds[count++] = station->child.out;
        fds[count++] = station->child.err;
    }
    spawn_wait(fds, count, TICK_US);
    mem_free(fds);
}

/* Does anybody work for the coordinator who is none of ours: a local worker,
 * or one who joined by hand? */
static bool others_work(const struct launch *launch)
{
    const struct msg_ask ask = {.what = ASK_STATUS};
    struct why why;
    char *text = NULL;
    json_t *answer;
    bool others;

    if (client_ask(launch->run->out, launch->token_file, &ask, &text, &why) !=
        ERR_OK)
        return true; /* It is busy, or about to end. */
    answer = json_loads(text, 0, NULL);
    others = json_array_size(json_object_get(answer, "workers")) > 0;
    json_decref(answer);
    mem_free(text);
    return others;
}

/* --- the coordinator ----------------------------------------------------- */

/* Does a shell read it as it is? */
static bool is_plain(const char *text)
{
    return *text != '\0' && text[strspn(text, "abcdefghijklmnopqrstuvwxyz"
                                              "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                              "0123456789.,:_+-=/@%")] == '\0';
}

/* What is typed to go on: alone, the coordinator would wait for workers whom
 * nobody starts.  Options that are long or would have to be quoted are left to
 * the user's memory. */
static void tell_how_begun(const struct launch *launch)
{
    const struct engine *engine = launch->engine;
    const struct options *options = &launch->cli->options;
    char text[512];
    size_t size =
        (size_t)snprintf(text, sizeof text, "muster launch %s", engine->name);

    for (uint32_t k = 0; k < ENGINE_OPTIONS; k++) {
        const int id = engine->options[k];
        const char *value = "";
        bool flag;

        if (id == 0 || !option_given(options, id))
            continue;
        flag = option_row(id)->kind == VALUE_FLAG;
        if (!flag)
            value = option_text(options, id);
        if (!flag && (!is_plain(value) || strlen(value) > VALUE_MAX))
            value = "...";
        if (size + strlen(value) + 32 < sizeof text)
            size +=
                (size_t)snprintf(text + size, sizeof text - size, " --%s%s%s",
                                 option_row(id)->name, flag ? "" : " ", value);
    }
    (void)snprintf(text + size, sizeof text - size, " --");
    (void)setenv(LAUNCHED_BY, text, 1);
}

/* What the user's words leave open is said before them. */
static enum err start_coordinator(struct launch *launch, const char *listen,
                                  struct why *why)
{
    const struct options *job = &launch->job.options;
    const char *words[WORDS_MAX];
    const char *wanted = option_text(&launch->cli->options, OPT_WORKERS);
    const uint32_t seats = launch->station_count + SPARE;
    char workers[32];
    uint32_t count = 0;
    const struct spawn spawn = {
        .words = words,
        /* Lines of ours come between its own, which a picture that is drawn
         * again and again would write over. */
        .variable = "TERM=dumb",
    };

    /* It waits for those who are ready; others may come at any time. */
    (void)snprintf(workers, sizeof workers, "%u:%u",
                   count_stations(launch, STATION_READY),
                   seats < RECIPE_WORKERS_MAX ? seats : RECIPE_WORKERS_MAX);
    words[count++] = "train";
    if (!option_given(job, OPT_RESUME) && !option_given(job, OPT_OUT)) {
        words[count++] = "--out";
        words[count++] = launch->run->out;
    }
    if (!launch->key_typed) {
        words[count++] = "--token-file";
        words[count++] = launch->token_file;
    }
    if (listen != NULL) {
        words[count++] = "--listen";
        words[count++] = listen;
    }
    if (option_given(job, OPT_N)) { /* Of the life before, elsewhere. */
        words[count++] = "-n";
        words[count++] = "0";
    }
    if (!launch->workers_typed) {
        words[count++] = "--workers";
        words[count++] = wanted != NULL ? wanted : workers;
    }
    for (uint32_t i = 0; i < launch->word_count; i++) {
        if (count + 1 >= WORDS_MAX)
            return why_set(why, ERR_RANGE, "more than %u words after --",
                           WORDS_MAX - 16);
        words[count++] = launch->words[i];
    }
    words[count] = NULL;
    tell_how_begun(launch);
    return spawn_start(&spawn, &launch->coordinator, why);
}

static bool coordinator_ended(struct launch *launch, int *code)
{
    struct process_end end;

    if (!process_ended(launch->coordinator.pid, &end))
        return false;
    *code = end.signal != 0 ? EXIT_SIGNAL + end.signal : end.code;
    launch->coordinator.pid = 0;
    return true;
}

/* Its own port, as soon as it has one. */
static bool listens(struct launch *launch)
{
    launch->port = ways_last_port(launch->run->out);
    return launch->port != 0;
}

/* --- the whole ----------------------------------------------------------- */

/* Until it is known whom there is; false: nobody, or a signal came. */
static bool gather(struct launch *launch)
{
    const bool again = option_flag(&launch->cli->options, OPT_RESTART);

    while (!flag_raised(&launch->stop) && !all_over(launch)) {
        if (all_known(launch) && count_stations(launch, STATION_READY) > 0)
            return true;
        start_stations(launch, clock_now_us());
        rest(launch);
        (void)look_at_stations(launch, again);
    }
    say_aloud(flag_raised(&launch->stop)
                  ? "muster: stopped while workers were started; nothing was "
                    "begun"
                  : "muster: no worker could be started, so nothing was begun");
    return false;
}

/* The coordinator alone would wait for ever. */
static void give_up(struct launch *launch)
{
    say_aloud("muster: no worker is left, and none will be started again; the "
              "run is stopped, its state saved (--restart starts dead workers "
              "again)");
    spawn_signal(&launch->coordinator, SIGTERM);
}

/* Until the coordinator ends; its exit code. */
static int watch(struct launch *launch)
{
    const bool again = option_flag(&launch->cli->options, OPT_RESTART);
    bool passed = false, pressed = false, given_up = false;
    time_us asked_at = 0;
    int code;

    while (!coordinator_ended(launch, &code)) {
        if (!passed && flag_raised(&launch->stop)) {
            passed = true;
            spawn_signal(&launch->coordinator, interrupt_signal());
        }
        if (!pressed && flag_raised(&launch->hurry)) {
            pressed = true;
            spawn_signal(&launch->coordinator, interrupt_signal());
        }
        if (!passed && !given_up && (launch->port != 0 || listens(launch))) {
            start_stations(launch, clock_now_us());
            begin_stations(launch);
        }
        rest(launch);
        (void)look_at_stations(launch, again && !passed);
        if (passed || given_up || !all_over(launch) ||
            clock_now_us() - asked_at < ASK_US)
            continue;
        asked_at = clock_now_us();
        given_up = !others_work(launch);
        if (given_up)
            give_up(launch);
    }
    return code;
}

static void ask_stations(const struct launch *launch)
{
    for (uint32_t i = 0; i < launch->station_count; i++)
        spawn_signal(&launch->stations[i].child, SIGTERM);
}

static void kill_stations(const struct launch *launch)
{
    for (uint32_t i = 0; i < launch->station_count; i++)
        spawn_kill(&launch->stations[i].child);
}

/* All leave; whoever does not is ended, which its machine notices. */
static void stop_stations(struct launch *launch)
{
    const time_us began = clock_now_us();
    bool asked = false;

    for (uint32_t i = 0; i < launch->station_count; i++)
        if (launch->stations[i].child.pid != 0)
            launch->engine->stop(launch, &launch->stations[i]);
    while (look_at_stations(launch, false) > 0) {
        const time_us waited = clock_now_us() - began;

        if (waited > LEAVE_US && !asked)
            ask_stations(launch);
        if (waited > LEAVE_US + KILL_US || flag_raised(&launch->hurry))
            kill_stations(launch);
        asked = waited > LEAVE_US;
        rest(launch);
    }
}

/* The folder is free.  A port that somebody may still dial is kept, where
 * nobody says otherwise. */
static const char *choose_listen(struct launch *launch, char text[32])
{
    const uint16_t before = ways_last_port(launch->run->out);

    ways_forget_address(launch->run->out); /* Of a life that is over. */
    if (option_given(&launch->job.options, OPT_LISTEN) ||
        option_given(&launch->job.options, OPT_INTERFACE))
        return NULL;
    (void)snprintf(text, 32, "0.0.0.0:%u", (unsigned)before);
    return text;
}

int supervise(struct launch *launch)
{
    struct why why = {0};
    char text[32];
    int code;
    enum err err;

    interrupt_begin_twice(&launch->stop, &launch->hurry);
    if (!gather(launch)) {
        code = flag_raised(&launch->stop) ? EXIT_SIGNAL + interrupt_signal()
                                          : EXIT_FAILED;
    } else {
        err = launch_check_free(launch, &why); /* Still. */
        if (err == ERR_OK)
            err = start_coordinator(launch, choose_listen(launch, text), &why);
        code = err == ERR_OK ? watch(launch) : say_why(launch->cli, err, &why);
    }
    stop_stations(launch);
    interrupt_end();
    return code;
}
