/*
 * card.c - the closing card: what happened, and what would have.
 *
 * "One perfect machine" is computed here and now, in this process, and its hash
 * compared.  "Waiting for everyone" is replayed: the uncoded run of the same
 * delays in virtual time, with the time a chunk takes measured on the perfect
 * machine, as if every worker had a processor of its own: it flatters waiting.
 */
#include "cli/show/card.h"

#include <stdio.h>

#include "base/mem.h"
#include "cli/run.h"
#include "cli/show/metrics_show.h"
#include "code/preset.h"
#include "sim/sim.h"

/* From the shortest step: the longer ones were disturbed. */
static time_us chunk_time(const struct setup *setup, time_us step_us)
{
    const time_us chunks =
        optim_chunks(&setup->optim, dataset_chunks(&setup->data));
    const time_us chunk_us =
        (step_us * (time_us)setup->threads + chunks / 2) / chunks;

    return chunk_us < 1 ? 1 : chunk_us;
}

/* Seconds that waiting for everyone would have taken. */
static enum err replay_uncoded(const struct setup *setup, time_us chunk_us,
                               double *total_s, struct why *why)
{
    const struct preset_options preset = {.name = "uncoded",
                                          .workers = setup->slots};
    struct sim_options sim = sim_options_default();
    struct sim_result result = {0};
    enum err err = preset_spec(&preset, &sim.code, why);

    sim.problem = NULL;
    sim.rows = optim_chunks(&setup->optim, dataset_chunks(&setup->data));
    sim.chunk_rows = 1;
    sim.optim = setup->optim;
    sim.optim.sampler = sampler_whole;
    sim.slots = setup->slots;
    sim.delay = setup->delay;
    sim.chunk_us = chunk_us;
    if (err == ERR_OK)
        err = sim_run(&sim, &result, why);
    if (err != ERR_OK)
        return err;
    *total_s = result.total_s;
    sim_result_close(&result);
    return ERR_OK;
}

static double extra_percent(const struct coordinator_stats *stats)
{
    if (stats->pieces_merged == 0)
        return 0;
    return 100.0 * (double)(stats->duplicates + stats->stale) /
           (double)stats->pieces_merged;
}

enum err card_measure(const struct run *run, const struct train_result *result,
                      struct card *card, struct why *why)
{
    const struct setup *setup = run->setup;
    const uint32_t steps = setup_optim(setup, &setup->code).steps;
    struct train_result perfect = {0};
    struct fit fit = {.setup = setup};
    enum err err = fit_alone(&fit, &perfect, why);

    *card = (struct card){
        .killed = result->stats.died + result->coordinator_deaths,
        .straggled = progress_straggled(&run->progress),
        .steps_lost = steps > result->steps ? steps - result->steps : 0,
        .worst_pause_s = result->worst_pause_s,
        .ours = result->hash,
        .perfect = perfect.hash,
        .time_s = result->elapsed_s,
        .extra_percent = extra_percent(&result->stats),
    };
    if (err == ERR_OK)
        err = replay_uncoded(setup, chunk_time(setup, fit.best_step_us),
                             &card->waiting_s, why);
    mem_free(perfect.weights);
    return err;
}

void card_print(const struct card *card)
{
    char ours[SHORT_HASH];
    char perfect[SHORT_HASH];

    (void)printf("\n  %u killed, %u straggled, %u steps lost, worst pause "
                 "%.0f ms\n",
                 card->killed, card->straggled, card->steps_lost,
                 card->worst_pause_s * 1e3);
    (void)printf(
        "  model %s = one perfect machine %s  %s\n",
        hash_short(&card->ours, ours), hash_short(&card->perfect, perfect),
        digest_equal(&card->ours, &card->perfect) ? "SAME" : "DIFFERENT");
    (void)printf("  time %.1f s, waiting for everyone %.1f s (replayed), extra "
                 "compute +%.0f %%\n",
                 card->time_s, card->waiting_s, card->extra_percent);
    (void)printf("\n  next: muster train yours.svm model.txt\n"
                 "        muster token new cluster.token\n"
                 "        muster train yours.svm -n 8 --listen 0.0.0.0:7731 "
                 "--token-file cluster.token\n"
                 "        muster join HOST:7731 --token-file cluster.token\n");
}

json_t *card_json(const struct card *card)
{
    return json_pack(
        "{s:I, s:I, s:I, s:f, s:o, s:b, s:f, s:f, s:f}", "killed",
        (json_int_t)card->killed, "straggled", (json_int_t)card->straggled,
        "steps_lost", (json_int_t)card->steps_lost, "worst_pause_s",
        card->worst_pause_s, "perfect_hash", hash_json(&card->perfect), "same",
        digest_equal(&card->ours, &card->perfect), "time_s", card->time_s,
        "waiting_for_everyone_s", card->waiting_s, "extra_compute_percent",
        card->extra_percent);
}
