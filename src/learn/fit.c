/*
 * fit.c - a training in this process, or what one with workers is told.
 *
 * The state of a run in one process is kept in a folder that is made when it
 * is first saved: runs that are over before leave none.  It is saved now and
 * then, and when the run is asked to end; --resume goes on from there.
 */
#include "learn/fit.h"

#include <math.h>
#include <string.h>

#include "base/check.h"
#include "base/mem.h"
#include "core/run/journal.h"
#include "learn/family/family.h"
#include "learn/folder/claims.h"
#include "learn/folder/facts.h"
#include "learn/ring/kit.h"
#include "learn/workers.h"
#include "node/fixed/alone.h"
#include "node/fixed/noise.h"
#include "node/fixed/ranks.h"
#include "node/host/format.h"
#include "node/host/keep.h"
#include "node/host/ring_folder.h"
#include "os/clock.h"
#include "os/file/file.h"
#include "os/file/scratch.h"
#include "os/run/threads.h"

#define SAVE_SHARE   10  /* At most a tenth of the time goes there. */
#define SAVE_STEPS   10u /* Both have passed, or ... */
#define SAVE_US      (2 * SECOND_US)
#define SAVE_LATE_US (10 * SECOND_US) /* ... so much time, of few steps. */

/* A trained model whose objective rose more than so many times lost what it had
 * learnt, as far as can be told without rows. */
#define RISE_UNSEEN 10

/* --- in this process ----------------------------------------------------- */

struct alone {
    struct fit *fit;
    time_us step_at;  /* When the last step ended. */
    time_us saved_at; /* When that was last tried ... */
    time_us saved_us; /* ... and how long it took. */
    uint32_t alarms;  /* How often it failed. */
    time_us until;    /* --max-time; 0: none. */
    bool timed_out;
};

static bool stopped(const struct fit *fit)
{
    return fit->stop != NULL && flag_raised(fit->stop);
}

static enum err open_keep(struct fit *fit, bool resume, struct why *why)
{
    const char *folder = NULL;
    struct digest config;
    enum err err;

    if (fit->keep != NULL)
        return ERR_OK;
    err = fit->keep_in(fit->context, &folder, why);
    if (err != ERR_OK)
        return err;
    config = config_digest(fit->setup);
    err = resume ? ERR_OK : claims_free(folder, NULL, why);
    if (err != ERR_OK)
        return err;
    if (!resume)
        facts_write(fit->setup, folder);
    err = keep_open(folder, &config, resume, &fit->keep, why);
    if (err != ERR_OK)
        facts_explain(fit->setup, folder, why);
    return err;
}

static void save(struct alone *alone, const struct trainer *trainer)
{
    struct fit *fit = alone->fit;
    const time_us began = clock_now_us();
    enum err err = open_keep(fit, false, &fit->keep_why);

    if (err == ERR_OK)
        err = keep_save(
            fit->keep, trainer,
            optim_chunks(&fit->setup->optim, dataset_chunks(&fit->setup->data)),
            &fit->keep_why);
    if (err == ERR_OK && fit->kept != NULL)
        err = fit->kept(fit->context, &fit->keep_why);
    alone->saved_at = clock_now_us();
    alone->saved_us = alone->saved_at - began;
    alone->alarms += err != ERR_OK;
}

static bool save_due(const struct alone *alone, const struct trainer *trainer,
                     time_us now)
{
    const struct optim *const optim = &trainer->optim;
    const struct keep *keep = alone->fit->keep;
    const uint32_t saved = keep == NULL ? 0 : keep_step(keep);
    const time_us since = now - alone->saved_at;

    if (alone->fit->stays && (keep == NULL || trainer_done(trainer)))
        return true;
    return optim->step > saved && since >= SAVE_US &&
           since >= SAVE_SHARE * alone->saved_us &&
           (optim->step - saved >= SAVE_STEPS || since >= SAVE_LATE_US);
}

/* Save if it is time to, or the end; false: it is. */
static bool look_after(struct alone *alone, const struct trainer *trainer,
                       bool last, time_us now)
{
    const bool asked = stopped(alone->fit);
    const bool late = alone->until > 0 && now >= alone->until;
    const bool ends = asked || late || last;

    if (trainer_done(trainer) && !alone->fit->stays)
        return true;
    if (alone->fit->keep_in != NULL && (ends || save_due(alone, trainer, now)))
        save(alone, trainer);
    alone->timed_out = (alone->timed_out || late) && !asked;
    return !ends;
}

static bool see(void *context, const struct trainer *trainer, bool last)
{
    struct alone *alone = context;
    struct fit *fit = alone->fit;
    const time_us now = clock_now_us();

    if (now - alone->step_at < fit->best_step_us)
        fit->best_step_us = now - alone->step_at;
    alone->step_at = now;
    if (fit->step != NULL && !fit->step(fit->context, &trainer->optim))
        return false;
    return look_after(alone, trainer, last, now);
}

static void fill(const struct alone *alone, const struct alone_result *single,
                 time_us took_us, struct train_result *result)
{
    const struct keep *keep = alone->fit->keep;

    *result = (struct train_result){
        .finished = !single->stopped,
        .timed_out = single->stopped && alone->timed_out,
        .saved = keep == NULL ? 0 : keep_step(keep),
        .hash = single->hash,
        .steps = single->steps,
        .evaluations = single->evaluations,
        .elapsed_s = (double)took_us / (double)SECOND_US,
        .outcome = single->outcome,
        .weights = single->weights,
        .dims = single->dims,
    };
    result->stats.exactness[EXACT_BITWISE] = single->steps;
    result->stats.alarms = alone->alarms;
}

/* With --resume: the state to go on from. */
static enum err resume(struct fit *fit, struct alone_hooks *hooks,
                       struct why *why)
{
    enum err err;

    if (fit->recipe == NULL || fit->keep_in == NULL ||
        !recipe_given(fit->recipe, OPT_RESUME))
        return ERR_OK;
    err = open_keep(fit, true, why);
    if (err == ERR_OK && fit->resumed != NULL)
        fit->resumed(fit->context);
    if (err == ERR_OK)
        (void)keep_state(fit->keep, &hooks->state, &hooks->state_size);
    return err;
}

/* Of several ranks, rank 0 looks at the clock. */
static bool is_first(const struct fit *fit)
{
    return fit->ranks == NULL || collective_rank(fit->ranks) == 0;
}

static time_us limit_us(const struct recipe *recipe)
{
    return recipe == NULL ? 0
                          : (time_us)(recipe_real(recipe, OPT_MAX_TIME) *
                                      (double)SECOND_US);
}

static struct objective_options objective_of(const struct setup *setup)
{
    return (struct objective_options){.data = &setup->data,
                                      .model = setup->model,
                                      .net = setup_net(setup),
                                      .isa = setup->isa,
                                      .optim = &setup->optim};
}

enum err fit_alone(struct fit *fit, struct train_result *result,
                   struct why *why)
{
    const struct setup *setup = fit->setup;
    const time_us began = clock_now_us();
    const time_us limit = is_first(fit) ? limit_us(fit->recipe) : 0;
    struct alone alone = {.fit = fit,
                          .step_at = began,
                          .saved_at = began,
                          .until = limit > 0 ? began + limit : 0};
    const struct objective_options what = objective_of(setup);
    struct alone_hooks hooks = {.hooks = {.watch = see,
                                          .context = &alone,
                                          .held_out = setup_held_out(setup),
                                          .cancel = fit->stop}};
    struct alone_result single = {0};
    uint8_t *state = NULL; /* Of several ranks. */
    struct pool *pool = NULL;
    enum err err = setup_threads(setup, &pool, why);

    *result = (struct train_result){0};
    fit->best_step_us = TIME_NEVER;
    if (err == ERR_OK)
        err = resume(fit, &hooks, why);
    if (fit->ranks != NULL) {
        const struct digest config = config_digest(setup);

        err = ranks_begin(fit->ranks, &config, err, &hooks, &state, why);
    }
    if (err == ERR_OK)
        err = alone_train(&what, pool, &hooks, &single, why);
    mem_free(state);
    threads_free(pool);
    if (err == ERR_OK)
        fill(&alone, &single, clock_now_us() - began, result);
    return err;
}

void fit_close(struct fit *fit)
{
    keep_close(fit->keep);
    fit->keep = NULL;
}

/* --- with workers -------------------------------------------------------- */

static enum train_bulk bulk_of(const char *text)
{
    if (text != NULL && strcmp(text, "shm") == 0)
        return TRAIN_BULK_SHM;
    if (text != NULL && strcmp(text, "tcp") == 0)
        return TRAIN_BULK_TCP;
    if (text != NULL && strcmp(text, "plain") == 0)
        return TRAIN_BULK_PLAIN;
    return TRAIN_BULK_AUTO;
}

static bool ships_alone(const char *ship)
{
    return ship != NULL && strcmp(ship, "coordinator") == 0;
}

/* Of --max-time, of which waiting for owners has taken its part. */
static time_us time_left(const struct fit *fit)
{
    const time_us given = limit_us(fit->recipe);
    const time_us left = given - fit->setup->waited_us;

    return given == 0 || left > 0 ? left : 1;
}

static struct train_options options_of(const struct fit *fit)
{
    const struct setup *setup = fit->setup;
    const struct recipe *recipe = fit->recipe;

    CHECK(setup->slots > 0);
    return (struct train_options){
        .data = &setup->data,
        .bounds = setup->bounds,
        .parts = setup->hollow ? &setup->parts : NULL,
        .owned = setup->hollow && workers_ring(recipe) ? &setup->owned : NULL,
        .owner_us =
            (time_us)(recipe_real(recipe, OPT_OWNER_WAIT) * (double)SECOND_US),
        .door = setup->door,
        .model = setup->model,
        .net = setup_net(setup),
        .isa = setup->isa,
        .threads = setup->threads,
        .optim = setup_optim(setup, &setup->code),
        .held_out = setup_held_out(setup),
        .code = setup->code,
        .adapt = setup->adapt,
        .worst = setup->worst,
        .residual_max = setup->residual_max,
        .slots = setup->slots,
        .local_workers = setup->local,
        .workers_max = setup->workers_max,
        .ring = workers_ring(recipe),
        .peers = recipe_text(recipe, OPT_PEERS),
        .name = recipe_text(recipe, OPT_NAME),
        .fanout = (uint32_t)recipe_count(recipe, OPT_FANOUT),
        .listen = recipe_text(recipe, OPT_LISTEN),
        .interface = recipe_text(recipe, OPT_INTERFACE),
        .token_file = recipe_text(recipe, OPT_TOKEN_FILE),
        .out = fit->folder,
        .lock = setup->lock,
        .resume = recipe_given(recipe, OPT_RESUME),
        .gathered = fit->gathered,
        .more = fit->more,
        .passing = fit->passing,
        .meanwhile = fit->meanwhile,
        .respawn = recipe_flag(recipe, OPT_RESPAWN),
        .sync = recipe_flag(recipe, OPT_SYNC),
        .bulk = bulk_of(recipe_text(recipe, OPT_BULK)),
        .verify = setup->verify,
        .audit = setup->audit,
        .config = config_digest(setup),
        .given = config_given(setup),
        .delay = setup->delay,
        .chaos = setup->chaos,
        .stints = fit->stints,
        .shared = recipe_text(recipe, OPT_DATA_SHARED),
        .ca = recipe_text(recipe, OPT_CA),
        .ship_alone = ships_alone(recipe_text(recipe, OPT_SHIP)),
        .notice = {.kind = recipe_text(recipe, OPT_PREEMPT_NOTICE),
                   .address = recipe_text(recipe, OPT_PREEMPT_ADDRESS)},
        .max_time_us = time_left(fit),
        .stop = fit->stop,
        .watch = fit->trace,
        .watch_context = fit->context,
    };
}

static enum err fit_workers(const struct fit *fit, struct train_result *result,
                            struct why *why)
{
    struct train_options options = options_of(fit);
    struct scratch scratch;
    uint8_t *kit = NULL;
    enum err err = ERR_OK;

    if (options.ring && options.owned == NULL &&
        (options.listen != NULL || options.peers != NULL))
        err = kit_make(fit->setup, &kit, &options.kit_size);
    options.kit = kit;
    if (err == ERR_OK && fit->folder != NULL) {
        const bool begins = !options.resume && !fit->passing;

        if (begins)
            err = claims_free(fit->folder, NULL, why);
        if (err == ERR_OK && begins)
            facts_write(fit->setup, fit->folder);
        if (err == ERR_OK)
            err = train_run(&options, result, why);
        if (err != ERR_OK)
            facts_explain(fit->setup, fit->folder, why);
    } else if (err == ERR_OK) {
        err = scratch_open(&scratch, why);
        options.out = scratch.path;
        options.scratch = true;
        if (err == ERR_OK) {
            err = train_run(&options, result, why);
            scratch_close(&scratch);
        }
    }
    mem_free(kit);
    return err;
}

enum err fit_go_on(struct recipe *recipe, struct why *why)
{
    const char *const out = recipe_text(recipe, OPT_OUT);
    char journal[FILE_PATH_SIZE];

    if (out == NULL)
        return ERR_OK;
    file_path_in(out, JOURNAL_FILE, journal);
    return file_exists(journal) || ring_folder_is(out)
               ? recipe_put(recipe, OPT_RESUME, out, ORIGIN_FLAG, why)
               : ERR_OK;
}

enum err fit_run(struct fit *fit, struct train_result *result, struct why *why)
{
    struct absent own = {0};
    struct absent *const absent = fit->absent != NULL ? fit->absent : &own;
    enum err err;

    *result = (struct train_result){0};
    if (fit->setup->slots == 0)
        return fit_alone(fit, result, why);
    err = fit_workers(fit, result, why);
    if (err != ERR_OK)
        return err;
    absent_see(absent, fit->setup, result);
    if (!fit->passing) /* Of many, whoever asked for them tells. */
        absent_tell(absent, fit->setup);
    return ERR_OK;
}

/* --- the verdict --------------------------------------------------------- */

/* Of minibatches: how large they may be before more rows help no more.  All
 * rows have told the gradient at the model. */
static enum err measure_noise(const struct setup *setup, struct pool *pool,
                              struct train_result *result)
{
    const struct objective_options what = objective_of(setup);
    const double norm = result->outcome.gradient_norm;
    struct noise start = {0}, model = {0};
    enum err err;

    if (setup->optim.sampler.kind == SAMPLER_WHOLE || fit_diverged(result) ||
        !result->outcome.at_model)
        return ERR_OK;
    err = noise_measure(&what, pool, NULL, &start);
    result->noise.start = start.scale;
    if (err == ERR_OK)
        err = noise_measure(&what, pool, result->weights, &model);
    if (err == ERR_OK && norm > 0) {
        model.square = norm * norm;
        model.scale = model.variance / model.square;
    }
    result->noise.model = model.scale;
    result->noise.critical =
        noise_critical(start.scale, model.scale, noise_share(&start, &model));
    return err == ERR_RANGE ? ERR_OK : err;
}

enum err fit_settle(const struct setup *setup, struct train_result *result)
{
    struct pool *pool;
    enum err err;

    if (setup->data.y == NULL) { /* The rows are with their owners. */
        if (setup->init != NULL) /* Nobody has the labels to tell. */
            result->outcome.blank =
                RISE_UNSEEN * result->outcome.objective_first;
        optim_judge(&setup->optim, &result->outcome);
        return ERR_OK;
    }
    err = threads_new(setup->threads, &pool);
    if (err != ERR_OK)
        return err;
    err = setup_family(setup)->settle(setup, pool, result);
    if (err == ERR_OK)
        err = measure_noise(setup, pool, result);
    threads_free(pool);
    return err;
}

bool fit_diverged(const struct train_result *result)
{
    return result->outcome.end == OPTIM_DIVERGED;
}

bool fit_blind(const struct train_result *result)
{
    return result->outcome.end == OPTIM_EARLY &&
           !isfinite(result->outcome.held_out);
}
