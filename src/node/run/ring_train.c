/*
 * ring_train.c - what the peers of a ring are told, whose folders they go on
 * with, and the comparison of what they end with.
 */
#include "node/run/ring_train.h"

#include <stdio.h>
#include <string.h>

#include "base/check.h"
#include "base/mem.h"
#include "core/run/store.h"
#include "node/arithmetic.h"
#include "node/host/result_file.h"
#include "node/host/ring_folder.h"
#include "node/host/ways.h"
#include "node/run/ring_supervisor.h"
#include "os/file/folder.h"
#include "os/log.h"

#define LINE_SIZE    512u
#define RETRY_US     (10 * MS_US)
#define RETRY_MAX_US (500 * MS_US)

/* --- what they are told --------------------------------------------------- */

/* All peers are here, and so may be later ones. */
static bool is_local(const struct train_options *options)
{
    return options->listen == NULL && options->peers == NULL;
}

/* Bits do not depend on when a training ends, but all peers must end it alike;
 * those of one command do. */
struct digest ring_config(const struct train_options *options,
                          const struct digest *config)
{
    const struct optim_options *optim = &options->optim;
    char line[LINE_SIZE];
    struct hasher hasher;
    int size;

    if (is_local(options))
        return *config;
    size = snprintf(line, sizeof line,
                    "ring steps %u tol %a gap %a of %a accuracy %a patience %u "
                    "held out %d",
                    optim->steps, optim->tol, optim->gap, optim->optimum,
                    optim->accuracy, optim->patience, (int)optim->held_out);
    hasher_init(&hasher);
    hasher_add(&hasher, config->bytes, DIGEST_BYTES);
    hasher_add(&hasher, line, (size_t)size);
    return hasher_end(&hasher);
}

static struct peer_options describe_core(const struct ring_train *train)
{
    const struct train_options *options = train->options;
    const struct objective *objective = train->objective;
    const struct owned *const owned = options->owned;
    const struct parts *const parts = options->parts;

    CHECK((owned != NULL) == (parts != NULL));
    return (struct peer_options){
        .config = ring_config(options, &options->config),
        .given = ring_config(options, &options->given),
        .arithmetic = arithmetic_digest(),
        .trainer = {.optim = options->optim,
                    .scale = objective->scale,
                    .dims = optim_dims(&options->optim, objective->dims),
                    .vectors = objective->vectors,
                    .length = objective->length,
                    .kept = true,
                    .ledger = train->ledger},
        .chunks = objective->chunks,
        .first = owned != NULL ? owned->first : 0,
        .end = owned != NULL ? owned->end : objective->chunks,
        .homes = parts != NULL ? parts->homes : NULL,
        .home_count = parts != NULL ? parts->count : 0,
        .owner_us = parts != NULL ? options->owner_us : 0,
        .least = options->slots,
        .small = PEER_SMALL,
        .segment = train->board != NULL && is_local(options) ? PEER_LENT
                                                             : PEER_SEGMENT,
        .state_segment = PEER_STATE_SEGMENT,
        .share = PEER_SHARE,
        .beat_us = train->beat_us,
        .pulse_us = train->pulse_us,
        .stints = options->stints,
        .dead_us = train->dead_us,
        .retry_us = RETRY_US,
        .retry_max_us = RETRY_MAX_US,
    };
}

/* For machines that join without data; nothing if none may. */
static enum err describe_all(const struct ring_train *train,
                             struct papers_kept *kept)
{
    const struct train_options *options = train->options;
    const struct objective *objective = train->objective;
    const double *start = options->optim.start;
    union {
        const struct digest *digests;
        const uint8_t *bytes;
    } const keys = {train->chunk_digests};
    union {
        const double *weights;
        const uint8_t *bytes;
    } const begun = {start};
    const struct papers papers = {
        .brief = objective->brief,
        .optim = options->optim,
        .chunks = dataset_chunks(options->data),
        .digests = keys.bytes,
        .start_count = start != NULL ? objective->dims : 0,
        .start = begun.bytes,
        .kit = {options->kit, options->kit_size},
    };

    _Static_assert(sizeof(struct digest) == DIGEST_BYTES, "one after another");
    return train->chunk_digests != NULL && options->kit_size > 0
               ? papers_keep(&papers, kept)
               : ERR_OK;
}

static void describe_peer(const struct ring_train *train,
                          const struct ways *others,
                          const struct papers_kept *papers,
                          struct ring_supervisor *run)
{
    const struct train_options *options = train->options;

    run->options = options;
    run->first = train->door;
    run->lock_fd = train->lock_fd;
    run->peer = (struct peer_node_options){
        .core = describe_core(train),
        .gather_us = train->gather_us,
        .contacts = others->addresses,
        .contact_count = others->count,
        .brief = &train->objective->brief,
        .data = options->owned == NULL ? options->data : NULL,
        .owned = options->owned,
        .parts = options->parts,
        .isa = options->isa,
        .threads = options->threads > 0 ? options->threads : 1,
        .peers = options->local_workers,
        .token = train->token,
        .board = train->board,
        .plain = options->bulk == TRAIN_BULK_PLAIN,
        .sum_dims = train->sum_dims,
        .chaos = options->chaos.count > 0 ? &options->chaos : NULL,
        .held_out = options->held_out,
        .papers = papers,
        .serve_host = train->door->bound.host,
    };
    if (options->listen == NULL && others->count == 0 && options->name == NULL)
        return;
    if (options->name != NULL)
        (void)snprintf(run->prefix, sizeof run->prefix, "%s", options->name);
    else
        ways_own_name(run->prefix); /* There may be another w0 elsewhere. */
    run->prefix[NAME_SIZE / 2] = '\0';
    (void)snprintf(run->prefix + strlen(run->prefix), 2, "-");
}

/* --- whose folders -------------------------------------------------------- */

/* The peers that came furthest go on: the others take the state of those. */
static void choose_numbers(const struct train_options *options,
                           struct ring_supervisor *run)
{
    uint32_t steps[PEERS_MAX] = {0};
    bool there[PEERS_MAX], taken[PEERS_MAX] = {false};

    for (uint32_t i = 0; i < PEERS_MAX; i++)
        there[i] =
            options->resume && ring_folder_step(options->out, i, &steps[i]);
    for (uint32_t i = 0; i < options->local_workers; i++) {
        uint32_t best = PEERS_MAX;

        for (uint32_t j = 0; j < PEERS_MAX; j++) {
            if (taken[j])
                continue;
            if (best == PEERS_MAX || (there[j] && !there[best]) ||
                (there[j] == there[best] && steps[j] > steps[best]))
                best = j;
        }
        taken[best] = true;
        run->numbers[i] = best;
    }
}

/* --- what they end with --------------------------------------------------- */

static struct digest hash_of(const struct ring_train *train,
                             const struct run_result *result)
{
    return objective_hash(train->objective, result->weights);
}

/* All who finished have the same model, bit for bit, or it is said. */
static enum err compare(const struct ring_train *train,
                        const struct ring_seat *one,
                        const struct run_result *first,
                        const struct ring_seat *other,
                        const struct run_result *second, struct why *why)
{
    char a[DIGEST_TEXT], b[DIGEST_TEXT];
    struct digest digest;

    if (first->dims == second->dims &&
        memcmp(first->weights, second->weights,
               first->dims * sizeof *first->weights) == 0)
        return ERR_OK;
    digest = hash_of(train, first);
    digest_text(&digest, a);
    digest = hash_of(train, second);
    digest_text(&digest, b);
    return why_set(why, ERR_MISMATCH,
                   "the peers ended with different models: %s has %.16s, %s "
                   "has %.16s; one of the machines is faulty, their states "
                   "are kept",
                   one->name, a, other->name, b);
}

/* Finished beats stopped, and more steps fewer. */
static bool is_better(const struct run_result *a, const struct run_result *b)
{
    if ((a->err == ERR_OK) != (b->err == ERR_OK))
        return a->err == ERR_OK;
    if ((a->err == ERR_CANCELLED) != (b->err == ERR_CANCELLED))
        return a->err == ERR_CANCELLED;
    return a->steps > b->steps;
}

/* The best result of all seats, in *best; its seat, or NULL if nobody has left
 * one. */
static const struct ring_seat *collect(const struct ring_train *train,
                                       const struct ring_supervisor *run,
                                       struct run_result *best, enum err *err,
                                       struct why *why)
{
    const struct ring_seat *whose = NULL;

    *err = ERR_OK;
    for (uint32_t i = 0; i < run->count && *err == ERR_OK; i++) {
        const struct ring_seat *seat = &run->seats[i];
        struct run_result one = {0};

        if (result_read(seat->folder, seat->spare_fd, &one, NULL) != ERR_OK)
            continue;
        if (whose != NULL && one.err == ERR_OK && best->err == ERR_OK)
            *err = compare(train, whose, best, seat, &one, why);
        if (whose == NULL || is_better(&one, best)) {
            mem_free(best->weights);
            *best = one;
            whose = seat;
        } else {
            mem_free(one.weights);
        }
    }
    return whose;
}

static void take(struct run_result *from, struct train_result *result)
{
    result->finished = from->err == ERR_OK;
    result->steps = from->steps;
    result->saved = from->saved;
    result->outcome = from->outcome;
    result->evaluations = from->evaluations;
    result->weights = from->weights;
    result->dims = from->dims;
    from->weights = NULL;
}

/* Without a last word of anybody: what the furthest saved. */
static enum err take_from_disk(const struct ring_train *train,
                               const struct ring_seat *seat,
                               struct train_result *result, struct why *why)
{
    struct peer_options core = describe_core(train);
    struct recovery recovery = {0};
    struct run_result found = {.err = ERR_CANCELLED};
    struct folder folder;
    struct peer *peer = mem_new(1, sizeof *peer);
    enum err err = folder_open(&folder, seat->folder, why);

    memcpy(core.name, seat->name, NAME_SIZE);
    if (peer == NULL)
        err = ERR_NOMEM;
    if (err == ERR_OK)
        err = store_recover(&folder.disk, &recovery, why);
    folder_close(&folder);
    if (err == ERR_OK)
        err = peer_init(peer, &core);
    if (err == ERR_OK && recovery.found)
        err = peer_resume(peer, &recovery, why);
    if (err == ERR_OK) {
        const double *const model = trainer_model(&peer->trainer, &found.dims);

        found.steps = found.saved = peer->trainer.optim.step;
        found.outcome = trainer_outcome(&peer->trainer);
        found.evaluations = peer->trainer.optim.evaluations;
        found.weights = mem_new(found.dims, sizeof *found.weights);
        if (found.weights != NULL)
            memcpy(found.weights, model, found.dims * sizeof *found.weights);
        else
            err = ERR_NOMEM;
    }
    recovery_close(&recovery);
    if (peer != NULL)
        peer_close(peer);
    mem_free(peer);
    if (err == ERR_OK)
        take(&found, result);
    return err;
}

static const struct ring_seat *furthest(const struct ring_train *train,
                                        const struct ring_supervisor *run)
{
    const struct ring_seat *best = &run->seats[0];
    uint32_t most = 0;

    for (uint32_t i = 0; i < run->count; i++) {
        uint32_t step;

        if (!ring_folder_step(train->options->out, run->seats[i].number,
                              &step) ||
            step <= most)
            continue;
        most = step;
        best = &run->seats[i];
    }
    return best;
}

/* Those of other machines may go on. */
static enum err all_gone(const struct ring_train *train, struct why *why)
{
    const struct train_options *options = train->options;
    const char *others = "";

    if (options->scratch)
        return why_set(why, ERR_CLOSED,
                       "all peers are gone; nothing is saved without --out");
    if (options->peers != NULL)
        others = ", which looks for those of other machines again";
    else if (options->listen != NULL)
        others = "; where those of other machines go on, with --peers "
                 "HOST:PORT of one of them";
    return why_set(why, ERR_CLOSED,
                   "all peers of this machine are gone; the state is saved, go "
                   "on with: muster train --resume=%.300s%s",
                   options->out, others);
}

static enum err report(const struct ring_train *train,
                       const struct ring_supervisor *run,
                       struct train_result *result, struct why *why)
{
    struct run_result best = {0};
    enum err err;
    const struct ring_seat *seat = collect(train, run, &best, &err, why);

    if (err == ERR_OK && seat != NULL && best.err != ERR_OK &&
        best.err != ERR_CANCELLED)
        err = why_set(why, best.err, "%s", best.reason);
    if (err == ERR_OK && seat == NULL && !run->stopping)
        err = all_gone(train, why);
    if (err == ERR_OK && seat != NULL) {
        take(&best, result);
    } else if (err == ERR_OK) {
        seat = furthest(train, run);
        err = take_from_disk(train, seat, result, why);
    }
    mem_free(best.weights);
    if (err != ERR_OK)
        return err;
    account_report(&run->account, seat->folder, NULL, result);
    result->hash = objective_hash(train->objective, result->weights);
    result->signal = result->finished ? 0 : run->signal;
    result->timed_out = !result->finished && run->timed_out;
    result->port = train->door->bound.port;
    return ERR_OK;
}

/* Somebody may be between two machines. */
static void warn_plain(const struct ring_train *train)
{
    if (train->options->bulk == TRAIN_BULK_PLAIN &&
        !net_is_loopback(&train->door->bound))
        log_line("--bulk plain: peers that both say so send sums and states "
                 "to each other as they are; whoever is between their "
                 "machines can read and change them, and so the model");
}

static enum err check(const struct train_options *options, struct why *why)
{
    if (options->local_workers == 0)
        return why_set(why, ERR_SHAPE,
                       "a ring is of peers that are all alike, so that one of "
                       "them must be here: add -n N");
    if (options->local_workers > PEERS_MAX || options->slots > PEERS_MAX)
        return why_set(why, ERR_RANGE, "a ring has %u peers at most",
                       PEERS_MAX);
    return ERR_OK;
}

enum err ring_train_run(const struct ring_train *train,
                        struct train_result *result, struct why *why)
{
    const struct train_options *options = train->options;
    struct ring_supervisor *run = mem_new(1, sizeof *run);
    struct ways others = {.count = 0};
    struct papers_kept papers = {.chunks = 0};
    enum err err = run != NULL ? check(options, why) : ERR_NOMEM;

    if (err == ERR_OK && options->peers != NULL)
        err = ways_parse(options->peers, &others, why);
    if (err == ERR_OK)
        err = ring_folder_mark(options->out, why);
    if (err == ERR_OK)
        err = describe_all(train, &papers);
    if (err == ERR_OK) {
        warn_plain(train);
        describe_peer(train, &others, &papers, run);
        choose_numbers(options, run);
        *train->running = &run->crew;
        err = ring_supervisor_run(run, why);
        *train->running = NULL;
    }
    if (err == ERR_OK)
        err = report(train, run, result, why);
    if (run != NULL && (err != ERR_OK || result->finished))
        result->late = run->came;
    if (run != NULL)
        ring_supervisor_close(run);
    mem_free(run);
    papers_drop(&papers);
    return err;
}
