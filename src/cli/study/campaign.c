/*
 * campaign.c - many seeds, each a small job and dozens of faults.
 *
 * One seed (--seed) also prints what happens, on standard error: that is how a
 * failure is looked into.
 */
#include "cli/study/campaign.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "code/preset.h"
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

/* Its name, whatever it was called.  Seeds draw a code's settings, and by
 * themselves the codes that go with few problems, and changes of the code. */
static enum err find_code(const char *text, const char **name, struct why *why)
{
    const struct preset *const preset = preset_find(text);

    if (strcmp(text, AUTO_NAME) == 0)
        return why_set(why, ERR_UNSUPPORTED,
                       "--faults changes the code of every third seed of steal "
                       "by itself; there is no --code " AUTO_NAME);
    if (preset == NULL)
        return preset_unknown(text, why);
    if (preset->placement == PLACE_CEC || preset->placement == PLACE_SHADOW)
        return why_set(why, ERR_UNSUPPORTED,
                       "--faults draws code %s by itself, for problems that it "
                       "fits; there is no --code for it",
                       preset->name);
    if (strchr(text, ':') != NULL)
        return why_set(why, ERR_UNSUPPORTED,
                       "--faults draws the settings of a code: --code %s",
                       preset->name);
    *name = preset->name;
    return ERR_OK;
}

int campaign_command(struct cli *cli)
{
    const struct options *options = &cli->options;
    const char *const asked =
        option_given(options, OPT_CODE) ? option_text(options, OPT_CODE) : NULL;
    const bool many = option_given(options, OPT_SEEDS);
    const struct setting *span = option_setting(options, OPT_SEEDS);
    const uint64_t seed = option_count(options, OPT_SEED);
    struct campaign_options campaign = {
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
    enum err err =
        asked != NULL ? find_code(asked, &campaign.code, &why) : ERR_OK;
    double elapsed_s;

    if (err == ERR_OK)
        err = campaign_run(&campaign, &result, &why);
    elapsed_s = (double)(clock_now_us() - began + 1) / (double)SECOND_US;
    if (err != ERR_OK)
        return say_why(cli, err, &why);
    if (cli->json)
        show_json(&result, elapsed_s);
    else
        show_text(&result, elapsed_s);
    /* Each violation came with the command that replays it. */
    return result.violations == 0 ? EXIT_DONE : EXIT_FAILED;
}
