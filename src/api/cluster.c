/*
 * cluster.c - muster_train with workers, and muster_join: node/run/train.h and
 * node/worker/worker_node.h with a function in place of data.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "api/options.h"
#include "api/training.h"
#include "api/witness.h"
#include "base/flag.h"
#include "base/mem.h"
#include "code/preset.h"
#include "core/run/journal.h"
#include "learn/workers.h"
#include "node/arithmetic.h"
#include "node/host/ways.h"
#include "node/run/train.h"
#include "node/worker/worker_node.h"
#include "os/file/file.h"
#include "os/file/scratch.h"
#include "os/run/signals.h"

#define CONFIG_NAME  "muster own function 1"
#define CONFIG_BYTES 256u
#define GIVE_UP_US   (60 * SECOND_US)

struct cluster {
    const struct wish *wish;
    struct user_function user;
    struct train_options run;
    struct scratch scratch; /* Unless a folder was named. */
    struct flag stop;
    struct witness *witness; /* If there is a log. */
};

/* --- what is asked for --------------------------------------------------- */

static enum err choose_code(struct cluster *c, struct why *why)
{
    const struct wish *o = c->wish;
    const uint32_t slots = c->run.slots;
    struct code code = {0};
    enum err err = wish_code(o, slots, &c->run.code, why);

    if (err == ERR_OK)
        err = code_build(&code, &c->run.code, slots, o->function.chunks, why);
    if (err == ERR_OK)
        err = wish_rules(o, &c->run.code, code.exactness, why);
    code_close(&code);
    c->run.adapt = o->code != NULL && strcmp(o->code, AUTO_NAME) == 0;
    c->run.worst = EXACT_BITWISE;
    return err == ERR_OK || err == ERR_NOMEM ? err : ERR_SHAPE;
}

/* Of all that decides the bits; of a code that is not exact, too, and of how
 * many it was made for. */
static struct digest config_of(const struct cluster *c,
                               const struct digest *shape)
{
    const struct optim_options *optim = &c->run.optim;
    const bool bitwise = code_spec_bitwise(&c->run.code);
    char line[CONFIG_BYTES];
    const struct digest arithmetic = arithmetic_digest();
    struct hasher hasher;
    const int size = snprintf(line, sizeof line, "%s: %s %a %a %s %u %u",
                              CONFIG_NAME, optim_name(optim->kind), optim->rate,
                              optim->l2, bitwise ? "bitwise" : c->run.code.name,
                              bitwise ? 0 : c->run.code.stragglers,
                              bitwise ? 0 : c->run.slots);

    hasher_init(&hasher);
    hasher_add(&hasher, line, (size_t)size + 1);
    hasher_add(&hasher, arithmetic.bytes, sizeof arithmetic.bytes);
    hasher_add(&hasher, shape->bytes, sizeof shape->bytes);
    return hasher_end(&hasher);
}

static enum err choose_folder(struct cluster *c, struct why *why)
{
    char journal[FILE_PATH_SIZE];

    c->run.out = c->wish->folder;
    c->run.scratch = c->run.out == NULL;
    if (c->run.scratch) {
        c->run.out = c->scratch.path;
        return scratch_open(&c->scratch, why);
    }
    if (c->run.out[0] == '\0' || strlen(c->run.out) >= sizeof journal)
        return why_set(why, ERR_SHAPE, "out: not a path");
    file_path_in(c->run.out, JOURNAL_FILE, journal);
    c->run.resume = file_exists(journal);
    return ERR_OK;
}

/* Updates the user watches, as the coordinator tells of them. */
static void on_trace(void *context, const struct trace *trace)
{
    struct cluster *c = context;
    const struct muster_recipe *const recipe = c->wish->recipe;
    struct muster_progress progress = {.size = sizeof progress,
                                       .gradient_norm = (double)NAN};

    witness_see(c->witness, trace);
    if (flag_raised(&recipe->stop))
        flag_raise(&c->stop);
    if (trace == NULL || trace->kind != TRACE_COMMIT || flag_raised(&c->stop))
        return;
    progress.step = trace->key.step;
    progress.objective = trace->value;
    if (!callback_watch(recipe, &progress))
        flag_raise(&c->stop);
}

static enum err describe(struct cluster *c, const struct optim_options *optim,
                         struct why *why)
{
    const struct wish *o = c->wish;
    struct digest shape;
    enum err err = user_digest(&c->user, false, &shape);

    if (err != ERR_OK)
        return err;
    c->run = (struct train_options){
        .user = &c->user,
        .isa = isa_best(),
        .threads = o->threads > 0 ? o->threads : 1,
        .optim = *optim,
        .slots = o->wanted > 0    ? o->wanted
                 : o->workers > 0 ? o->workers
                                  : 1,
        .local_workers = o->workers,
        .listen = o->listen,
        .token_file = o->token_file,
        .watch = on_trace,
        .watch_context = c,
        .stop = &c->stop,
    };
    c->run.workers_max =
        workers_most(&o->recipe->choices, c->run.slots, c->run.local_workers);
    err = choose_code(c, why);
    if (err == ERR_OK)
        c->run.config = config_of(c, &shape);
    return err;
}

/* --- the run ------------------------------------------------------------- */

static enum err report(struct train_result *result, struct muster_model *model)
{
    model->file.w = result->weights;
    result->weights = NULL; /* The model's now. */
    model->steps = result->steps;
    model->evaluations = result->evaluations;
    model->objective = result->outcome.objective;
    model->converged = result->outcome.end == OPTIM_CONVERGED;
    model->signal = result->signal != 0 ? result->signal : result->late;
    return result->finished ? ERR_OK : ERR_CANCELLED;
}

static enum err look_on(struct cluster *c)
{
    const struct waiting waiting =
        waiting_for(c->run.slots, c->run.local_workers, c->run.resume);

    return witness_new(c->wish->recipe, &waiting, &c->witness);
}

enum err train_cluster(const struct wish *wish,
                       const struct optim_options *optim,
                       struct muster_model *model, struct why *why)
{
    struct cluster c = {.wish = wish, .user = wish_user(wish)};
    struct train_result result = {0};
    enum err err = describe(&c, optim, why);

    if (err == ERR_OK)
        err = choose_folder(&c, why);
    if (err != ERR_OK)
        return err;
    err = look_on(&c);
    if (err == ERR_OK) {
        signals_keep();
        err = train_run(&c.run, &result, why);
        signals_restore();
        signals_give_back(result.late);
    }
    witness_free(c.witness);
    if (err == ERR_OK)
        err = report(&result, model);
    train_result_close(&result);
    if (c.run.scratch)
        scratch_close(&c.scratch);
    return err;
}

static enum err join(struct muster_recipe *recipe,
                     const struct muster_function *function,
                     const char *address, const char *name, struct why *why)
{
    struct wish wish;
    struct user_function user;
    struct ways ways;
    struct join_options join = {
        .ways = &ways, .give_up_us = GIVE_UP_US, .name = name};
    enum err err = wish_read(recipe, function, &wish, why);

    if (err == ERR_OK && address == NULL)
        err = why_set(why, ERR_SHAPE, "there is no address to join");
    if (err == ERR_OK)
        err = ways_open(address, wish.token_file, false, &ways, why);
    if (err != ERR_OK)
        return err;
    user = wish_user(&wish);
    join.threads = wish.threads;
    join.user = &user;
    signals_keep();
    err = join_run(&join, why);
    signals_restore();
    ways_close(&ways);
    return err == ERR_TIMEOUT ? ERR_CLOSED : err;
}

enum muster_status muster_join(struct muster_recipe *recipe,
                               const struct muster_function *function,
                               const char *address, const char *name, char *why)
{
    OUR_FLOATS;
    struct why sentence = {{0}};
    const enum err err = join(recipe, function, address, name, &sentence);

    return status_end(err, &sentence, why);
}
