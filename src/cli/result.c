/*
 * result.c - what a training run ends with, for people and for programs.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "cli/missing.h"
#include "cli/mpi_ranks.h"
#include "cli/run.h"
#include "cli/show/ages.h"
#include "cli/show/card.h"
#include "cli/show/ending.h"
#include "cli/show/metrics_show.h"
#include "cli/trust.h"
#include "learn/card/json.h"

static json_t *seconds_json(int64_t us)
{
    return json_real((double)us / (double)SECOND_US);
}

/* What the worker said itself. */
static void add_vitals(json_t *object, const struct train_worker *worker)
{
    const struct vitals *vitals = &worker->vitals;
    const struct {
        const char *name;
        int64_t us;
    } times[] = {
        {"busy_s", vitals->compute_us},
        {"wait_s", vitals->waited_us},
        {"delayed_s", vitals->held_us},
        {"cancelled_s", vitals->cancelled_us},
        {"cpu_s", vitals->cpu_us},
        {"starved_s", vitals->starved_us},
        {"stopped_s", vitals->stopped_us},
        {"unsent_s", vitals->unsent_us},
        {"round_trip_s", worker->trip_us},
    };

    for (size_t i = 0; i < sizeof times / sizeof *times; i++)
        (void)json_object_set_new(object, times[i].name,
                                  worker->spoke ? seconds_json(times[i].us)
                                                : json_null());
}

static json_t *times_json(const struct train_result *result)
{
    json_t *list = json_array();

    for (uint32_t i = 0; i < result->worker_count; i++) {
        const struct train_worker *worker = &result->workers[i];
        json_t *object = json_pack(
            "{s:s, s:I, s:I, s:I, s:I, s:o}", "name", worker->name, "answers",
            (json_int_t)worker->answers, "chunks", (json_int_t)worker->chunks,
            "extra", (json_int_t)worker->extra, "wasted",
            (json_int_t)worker->wasted, "compute_s",
            seconds_json(worker->compute_us));

        if (worker->relay[0] != '\0')
            (void)json_object_set_new(object, "relay",
                                      json_string(worker->relay));
        add_vitals(object, worker);
        (void)json_array_append_new(list, object);
    }
    return list;
}

/* Chunks: sent from here, read by workers where they are, given by peers (and
 * those that were to be but were not: these were sent). */
static json_t *data_json(const struct coordinator_stats *stats)
{
    const uint64_t failed =
        stats->peer_failed < stats->peered ? stats->peer_failed : stats->peered;

    return json_pack(
        "{s:I, s:I, s:I, s:I, s:I, s:I}", "shipped", (json_int_t)stats->shipped,
        "strip_passes", (json_int_t)stats->strip_passes, "fetched",
        (json_int_t)stats->fetched, "peers",
        (json_int_t)(stats->peered - failed), "peers_failed",
        (json_int_t)failed, "peers_wrong", (json_int_t)stats->peer_wrong);
}

static struct ages ages_of(const struct coordinator_stats *stats)
{
    return (struct ages){stats->aged, stats->age_sum, stats->age_max};
}

/* In one process it is there only as long as there is something to go on with.
 */
static bool has_folder(const struct run *run, const struct train_result *result)
{
    return run->out[0] != '\0' &&
           (run->setup->slots > 0 || run_stays(run) || !result->finished);
}

/* How vectors travelled. */
static const char *road_of(const struct run *run,
                           const struct train_result *result)
{
    const char *asked = option_text(&run->cli->options, OPT_BULK);

    if (result->shared)
        return "shm";
    return asked != NULL && strcmp(asked, "plain") == 0 ? "plain" : "tcp";
}

json_t *result_json(const struct run *run, const struct train_result *result,
                    const char *saved)
{
    const struct setup *setup = run->setup;
    const struct coordinator_stats *stats = &result->stats;
    json_t *object =
        json_pack("{s:b, s:o, s:I, s:f}", "finished", result->finished, "hash",
                  hash_json(&result->hash), "steps", (json_int_t)result->steps,
                  "elapsed_s", result->elapsed_s);

    ending_json(run, result, object);
    (void)json_object_set_new(object, "metrics",
                              metrics_object(setup->has_test
                                                 ? &run->metrics.test
                                                 : &run->metrics.valid));
    if (setup->has_test)
        (void)json_object_set_new(object, "test_metrics",
                                  metrics_object(&run->metrics.test));
    if (setup->has_valid)
        (void)json_object_set_new(object, "valid_metrics",
                                  metrics_object(&run->metrics.valid));
    (void)json_object_set_new(object, "train_metrics",
                              metrics_object(&run->metrics.train));
    (void)json_object_set_new(object, "exactness", exactness_json(stats));
    if (strcmp(setup->code.name, "local") == 0)
        (void)json_object_set_new(object, "missing",
                                  missing_json(setup, result));
    if (setup->code.staleness > 0) {
        const struct ages ages = ages_of(stats);

        (void)json_object_set_new(object, "age", ages_json(&ages));
    }
    (void)json_object_set_new(object, "worst_residual",
                              json_number(stats->worst_residual));
    (void)json_object_set_new(
        object, "workers",
        workers_json(stats, option_given(&run->cli->options, OPT_RESUME)));
    (void)json_object_set_new(object, "data", data_json(stats));
    (void)json_object_set_new(
        object, "coordinator_deaths",
        json_integer((json_int_t)result->coordinator_deaths));
    (void)json_object_set_new(object, "worst_pause_s",
                              json_number(result->worst_pause_s));
    (void)json_object_set_new(object, "code",
                              json_string(setup_code_name(setup)));
    if (setup->slots > 0) {
        (void)json_object_set_new(object, "bulk",
                                  json_string(road_of(run, result)));
        (void)json_object_set_new(object, "trust", trust_json(stats));
        (void)json_object_set_new(object, "disk_alarms",
                                  json_integer((json_int_t)stats->alarms));
    }
    if (ranks_all(run->cli) != NULL)
        (void)json_object_set_new(
            object, "ranks",
            json_integer(collective_size(ranks_all(run->cli))));
    if (setup->adapt)
        (void)json_object_set_new(object, "code_changes",
                                  json_integer((json_int_t)stats->switches));
    (void)json_object_set_new(object, "model",
                              saved == NULL ? json_null() : name_json(saved));
    (void)json_object_set_new(object, "run",
                              has_folder(run, result) ? name_json(run->out)
                                                      : json_null());
    if (setup->slots > 0)
        (void)json_object_set_new(object, "worker_times", times_json(result));
    if (option_given(&run->cli->options, OPT_TRACE) && setup->slots > 0)
        (void)json_object_set_new(
            object, "trace",
            trace_file_json(&run->trace,
                            option_text(&run->cli->options, OPT_TRACE)));
    (void)json_object_set_new(object, "config",
                              config_json(&run->cli->options));
    return object;
}

static void print_classes(const struct coordinator_stats *stats)
{
    const char *before = ": ";

    for (int i = EXACT_BITWISE; i <= EXACT_APPROX; i++) {
        if (stats->exactness[i] == 0)
            continue;
        (void)printf("%s%u %s", before, stats->exactness[i],
                     exactness_name((enum exactness)i));
        before = ", ";
    }
    (void)fputc('\n', stdout);
}

static void result_text(const struct run *run,
                        const struct train_result *result, const char *saved)
{
    const struct setup *setup = run->setup;
    const struct coordinator_stats *stats = &result->stats;
    char hex[DIGEST_TEXT];
    char line[256];

    (void)printf("model      %s\n", digest_text(&result->hash, hex));
    ending_text(run, result);
    (void)printf(option_given(&run->cli->options, OPT_RESUME)
                     ? "steps      %u in all, %.3f s since --resume"
                     : "steps      %u in %.3f s",
                 result->steps, result->elapsed_s);
    print_classes(stats);
    metrics_list(&run->metrics.train, &setup->encoder.classes, setup->metric,
                 METRICS_SHOWN, line, sizeof line);
    (void)printf("train      %s\n",
                 setup->hollow
                     ? "not known here: the rows are with their owners"
                     : line);
    if (setup->has_valid) {
        metrics_list(&run->metrics.valid, &setup->encoder.classes,
                     setup->metric, METRICS_SHOWN, line, sizeof line);
        (void)printf("valid      %s\n", line);
    }
    if (setup->has_test) {
        metrics_list(&run->metrics.test, &setup->encoder.classes, setup->metric,
                     METRICS_SHOWN, line, sizeof line);
        (void)printf("test       %s\n", line);
    }
    if (setup->slots > 0)
        (void)printf("workers    %u joined, %u left, %u died%s; code %s\n",
                     stats->joined, stats->left, stats->died,
                     option_given(&run->cli->options, OPT_RESUME)
                         ? " since --resume"
                         : "",
                     setup_code_name(setup));
    if (setup->code.staleness > 0) {
        const struct ages ages = ages_of(stats);

        (void)printf("staleness  answers %.3g updates old on average, %u at "
                     "most; up to %u allowed\n",
                     ages_mean(&ages), ages.max, setup->code.staleness);
    }
    if (stats->alarms > 0)
        (void)printf("disk       %u checkpoints or receipts could not be "
                     "written; training went on without them\n",
                     stats->alarms);
    trust_text(stats);
    missing_text(setup, result);
    if (saved != NULL)
        say_name("saved      ", saved, "\n");
    if (has_folder(run, result))
        say_name("run        ", run->out, "\n");
}

void result_show(const struct run *run, const struct train_result *result,
                 const char *saved, const struct card *card)
{
    if (run->cli->json) {
        json_t *object = result_json(run, result, saved);

        if (card != NULL)
            (void)json_object_set_new(object, "card", card_json(card));
        say_json(object);
    } else if (card != NULL) {
        card_print(card);
    } else {
        result_text(run, result, saved);
    }
}
