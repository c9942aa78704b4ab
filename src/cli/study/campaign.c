/*
 * campaign.c - many seeds, each a small job and dozens of faults.
 *
 * One seed (--seed) also prints what happens, on standard error: that is how a
 * failure is looked into.
 */
#include "cli/study/campaign.h"

#include <inttypes.h>
#include <stdio.h>

#include "os/clock.h"
#include "sim/campaign.h"

#define TWICE_EVERY 16u /* Seeds: the same seed must give the same trace. */
#define STOP_AFTER  20u /* Violations: more would say nothing new. */

static void print_line(void *context, const char *line)
{
    (void)context;
    (void)fprintf(stderr, "%s\n", line);
}

static json_t *kinds_json(const struct campaign_result *result)
{
    json_t *kinds = json_object();

    for (int kind = 0; kind < FAULT_KINDS; kind++)
        (void)json_object_set_new(
            kinds, fault_name((enum fault_kind)kind),
            json_integer((json_int_t)result->by_kind[kind]));
    return kinds;
}

static void show_json(const struct campaign_result *result, double elapsed_s)
{
    char digest[17];

    (void)snprintf(digest, sizeof digest, "%016" PRIx64, result->digest);
    say_json(json_pack(
        "{s:I, s:I, s:I, s:o, s:I, s:I, s:I, s:f, s:f, s:f, s:s}", "seeds",
        (json_int_t)result->seeds, "violations", (json_int_t)result->violations,
        "faults", (json_int_t)result->faults, "by_kind", kinds_json(result),
        "steps", (json_int_t)result->steps, "lives", (json_int_t)result->lives,
        "messages", (json_int_t)result->messages, "virtual_s",
        result->virtual_s, "elapsed_s", elapsed_s, "seeds_per_s",
        (double)result->seeds / elapsed_s, "digest", digest));
}

static void show_text(const struct campaign_result *result, double elapsed_s)
{
    (void)printf("seeds      %" PRIu64 " in %.1f s (%.0f a second, %.0f s of "
                 "virtual time)\n",
                 result->seeds, elapsed_s, (double)result->seeds / elapsed_s,
                 result->virtual_s);
    (void)printf("faults     %" PRIu64 ":", result->faults);
    for (int kind = 0; kind < FAULT_KINDS; kind++)
        (void)printf(" %s %u", fault_name((enum fault_kind)kind),
                     result->by_kind[kind]);
    (void)printf("\nmessages   %" PRIu64 " (lost %" PRIu64 ", doubled %" PRIu64
                 ", reordered %" PRIu64 ")\n",
                 result->messages, result->lost, result->doubled,
                 result->reordered);
    (void)printf("steps      %" PRIu64 ", coordinator lives %" PRIu64 "\n",
                 result->steps, result->lives);
    (void)printf("digest     %016" PRIx64 "\n", result->digest);
    (void)printf("violations %" PRIu64 "\n", result->violations);
}

int campaign_command(struct cli *cli)
{
    const struct options *options = &cli->options;
    const bool many = option_given(options, OPT_SEEDS);
    const struct setting *span = option_setting(options, OPT_SEEDS);
    const uint64_t seed = option_count(options, OPT_SEED);
    const struct campaign_options campaign = {
        .first_seed = many ? span->low : seed,
        .count = many ? span->high - span->low + 1 : 1,
        .twice_every = many ? TWICE_EVERY : 0,
        .stop_after = STOP_AFTER,
        .fanout = (uint32_t)option_count(options, OPT_FANOUT),
        .isa = isa_best(),
        .sink = print_line,
        .trace = many || cli->quiet ? NULL : print_line,
    };
    struct campaign_result result = {0};
    struct why why = {0};
    const time_us began = clock_now_us();
    const enum err err = campaign_run(&campaign, &result, &why);
    const double elapsed_s =
        (double)(clock_now_us() - began + 1) / (double)SECOND_US;

    if (err != ERR_OK)
        return say_why(cli, err, &why);
    if (cli->json)
        show_json(&result, elapsed_s);
    else
        show_text(&result, elapsed_s);
    /* Each violation came with the command that replays it. */
    return result.violations == 0 ? EXIT_DONE : EXIT_FAILED;
}
