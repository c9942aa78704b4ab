/*
 * fit.c - muster_fit: a recipe and rows in, a model out; and
 * muster_cross_validate, which makes many and keeps what they are worth.
 */
#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "api/handle.h"
#include "api/witness.h"
#include "base/mem.h"
#include "learn/card/model_card.h"
#include "learn/family/constant.h"
#include "learn/family/held.h"
#include "learn/family/risen.h"
#include "learn/family/unfinished.h"
#include "learn/fit.h"
#include "learn/folds.h"
#include "learn/save.h"
#include "os/run/signals.h"

#define CARD_NUMBERS (UINT64_C(1) << 20)

struct fitting {
    struct muster_recipe *asked;
    struct recipe choices; /* A copy: what is worked out is put there. */
    struct setup setup;
    uint32_t seen;           /* The step that was last told. */
    uint32_t folds;          /* Of muster_cross_validate; else 0. */
    struct witness *witness; /* With workers and a log. */
};

/* --- who looks on ----------------------------------------------------------
 */

static void note(void *context, const char *sentence)
{
    const struct fitting *const f = context;
    char text[MUSTER_WHY_SIZE];

    status_keys(sentence, text);
    callback_log(f->asked, text);
}

static void tell(struct fitting *f, uint32_t step, uint64_t evaluations,
                 double objective, double gradient_norm)
{
    const struct muster_progress progress = {
        .size = sizeof progress,
        .step = step,
        .evaluations = evaluations,
        .objective = objective * f->setup.shown_factor,
        .gradient_norm = gradient_norm * f->setup.shown_factor,
    };

    if (step == f->seen)
        return;
    f->seen = step;
    if (!callback_watch(f->asked, &progress))
        flag_raise(&f->asked->stop);
}

static bool see_step(void *context, const struct optim *optim)
{
    struct fitting *const f = context;

    tell(f, optim->step, optim->evaluations, optim->objective,
         optim->gradient_norm);
    return !flag_raised(&f->asked->stop);
}

static void see_trace(void *context, const struct trace *trace)
{
    struct fitting *const f = context;

    if (trace != NULL && trace->kind == TRACE_COMMIT)
        tell(f, trace->key.step, 0, trace->value, (double)NAN);
    witness_see(f->witness, trace);
}

/* --- the run ---------------------------------------------------------------
 */

static enum err take_folds(struct fitting *f, struct why *why)
{
    char text[16];

    (void)snprintf(text, sizeof text, "%u", f->folds);
    return recipe_put(&f->choices, OPT_FOLDS, text, ORIGIN_FLAG, why);
}

/* What is refused before the rows are looked at is the recipe's fault. */
static enum err choose(struct fitting *f, const struct muster_data *data,
                       struct why *why)
{
    enum err err = recipe_copy(&f->choices, &f->asked->choices, why);

    if (err == ERR_OK && data->path != NULL)
        err = recipe_put(&f->choices, OPT_DATA, data->path, ORIGIN_FLAG, why);
    if (err == ERR_OK)
        err = fit_go_on(&f->choices, why);
    if (err == ERR_OK && f->folds > 0)
        err = take_folds(f, why);
    f->setup.terms.rows = data->path == NULL ? &data->rows : NULL;
    f->setup.terms.note = note;
    f->setup.terms.context = f;
    if (err == ERR_OK)
        err = setup_workers(&f->setup, &f->choices, why);
    if (err == ERR_OK && f->folds > 0 && f->setup.slots > 0)
        err = why_set(why, ERR_SHAPE,
                      "cross-validation runs in this process, on threads; "
                      "leave out n, workers, listen and out (`muster train -v` "
                      "takes them)");
    return err == ERR_OK || err == ERR_NOMEM || err == ERR_IO ||
                   err == ERR_NOTFOUND || err == ERR_DENIED
               ? err
               : ERR_SHAPE;
}

static const char *how_it_ended(const struct train_result *result)
{
    if (!result->finished)
        return result->timed_out ? "its time was over" : "stopped";
    switch (result->outcome.end) {
    case OPTIM_CONVERGED:
        return "converged";
    case OPTIM_STALLED:
        return "no further step improves the model";
    case OPTIM_EARLY:
        return "held-out rows gained no more";
    case OPTIM_STEPS:
        return "all steps are made";
    case OPTIM_DIVERGED:
        return "diverged";
    case OPTIM_GOING:
        break;
    }
    return "going on";
}

/* What is wrong with it: of the setup while that has its encoder. */
static void warn(const struct fitting *f, const struct train_result *result,
                 struct muster_model *model)
{
    char warning[CONSTANT_TEXT];

    static_assert(HELD_TEXT <= CONSTANT_TEXT && RISEN_TEXT <= CONSTANT_TEXT,
                  "one room for all of them");
    if (constant_sentence(&f->setup, result, warning) != NULL ||
        risen_sentence(&f->setup, result, warning) != NULL ||
        unfinished_sentence(&f->setup, result, warning) != NULL ||
        held_sentence(&f->setup, result, warning) != NULL)
        status_keys(warning, model->warning);
}

static void describe(const struct fitting *f, const struct train_result *result,
                     struct muster_model *model)
{
    model->dims = model_file_numbers(&model->file);
    model->steps = result->steps;
    model->evaluations = result->evaluations;
    model->objective = result->outcome.objective * f->setup.shown_factor;
    model->gradient_norm =
        result->outcome.gradient_norm * f->setup.shown_factor;
    model->seconds = result->elapsed_s;
    model->converged = result->outcome.end == OPTIM_CONVERGED;
    model->signal = result->signal != 0 ? result->signal : result->late;
    (void)digest_text(&result->hash, model->hash);
    (void)snprintf(model->ended, sizeof model->ended, "%s",
                   how_it_ended(result));
}

/* Nobody knows yet whether the model will be saved, and have a card: rows are
 * hashed and judged for it where that is little beside the training, or a few
 * milliseconds; a linear model of many rows would take a third longer. */
static bool tells_rows(const struct setup *setup)
{
    return setup->slots > 0 || setup->data.digest_known ||
           setup_net(setup) != NULL ||
           (uint64_t)setup->data.rows * setup->data.cols <= CARD_NUMBERS;
}

static enum err make_model(struct fitting *f, const struct train_result *result,
                           struct muster_model **model)
{
    struct muster_model *made = mem_new(1, sizeof *made);
    /* Before the setup's encoder is the model's. */
    const struct model_card_metrics metrics =
        model_card_measure(&f->setup, result, tells_rows(&f->setup));
    enum err err = ERR_NOMEM;

    if (made != NULL) {
        warn(f, result, made);
        err = save_take(&f->setup, result->weights, &made->file);
    }

    if (err != ERR_OK) {
        mem_free(made);
        return err;
    }
    describe(f, result, made);
    made->card = model_card_new(&f->setup, &f->choices, result, &metrics);
    if (made->card == NULL) {
        muster_free(made);
        return ERR_NOMEM;
    }
    *model = made;
    return ERR_OK;
}

static enum err look_on(struct fitting *f)
{
    const struct waiting waiting = waiting_for(
        f->setup.slots, f->setup.local, recipe_given(&f->choices, OPT_RESUME));

    return witness_new(f->asked, &waiting, &f->witness);
}

/* A process with workers takes signals until they are gone. */
static enum err run(struct fitting *f, struct fit *fit,
                    struct train_result *result, struct why *why)
{
    enum err err;

    if (f->setup.slots == 0)
        return fit_run(fit, result, why);
    err = look_on(f);
    if (err != ERR_OK)
        return err;
    setup_know(&f->setup, &f->setup.data); /* Many ask. */
    signals_keep();
    err = fit_run(fit, result, why);
    signals_restore();
    signals_give_back(result->late);
    witness_free(f->witness);
    return err;
}

static enum err train(struct fitting *f, struct muster_model **model,
                      struct why *why)
{
    struct fit fit = {
        .setup = &f->setup,
        .recipe = &f->choices,
        .stop = &f->asked->stop,
        .context = f,
        .step = see_step,
        .trace = see_trace,
        .folder = recipe_text(&f->choices, OPT_OUT),
    };
    struct train_result result = {0};
    enum err err = run(f, &fit, &result, why);

    if (err == ERR_OK)
        err = fit_settle(&f->setup, &result);
    if (err == ERR_OK && result.finished && fit_diverged(&result))
        err = why_set(why, ERR_RANGE,
                      "the training diverged: the objective is above that of "
                      "the start; a smaller lr helps");
    if (err == ERR_OK && result.finished && fit_blind(&result))
        err = why_set(why, ERR_RANGE,
                      "no pass had a finite loss on the rows held out: look "
                      "for values in them that are far too large");
    if (err == ERR_OK)
        err = make_model(f, &result, model);
    if (err == ERR_OK && !result.finished)
        err = result.timed_out
                  ? why_set(why, ERR_CANCELLED, "stopped: its time was over")
                  : ERR_CANCELLED;
    fit_close(&fit);
    train_result_close(&result);
    return err;
}

/* Of a table whose labels nobody has named: a wrong guess is costly. */
static void tell_label(const struct fitting *f)
{
    const struct schema *const schema = &f->setup.encoder.schema;
    const char *const name = schema->label_name;

    if (schema->features == 0 || schema->label >= schema->table ||
        recipe_given(&f->choices, OPT_LABEL) ||
        recipe_given(&f->choices, OPT_LABELS))
        return;
    if (name != NULL && name[0] != '\0')
        setup_note(&f->setup,
                   "%s: the labels are column \"%s\"; label names another",
                   recipe_text(&f->choices, OPT_DATA),
                   quote((struct span){name, strlen(name)}).text);
    else
        setup_note(&f->setup,
                   "%s: the labels are column %u; label names another",
                   recipe_text(&f->choices, OPT_DATA), schema->label + 1);
}

/* All that comes before a training. */
static enum muster_status begin(struct fitting *f,
                                const struct muster_data *data, char *why)
{
    struct why sentence = {{0}};
    enum err err = choose(f, data, &sentence);

    if (err != ERR_OK)
        return status_end(err, &sentence, why);
    err = setup_load(&f->setup, &f->choices, &sentence);
    if (err == ERR_OK && data->path != NULL)
        tell_label(f);
    return status_of_data(err, &sentence, why);
}

static void end(struct fitting *f)
{
    stop_spent(f->asked);
    setup_close(&f->setup);
    recipe_close(&f->choices);
}

enum muster_status muster_fit(struct muster_recipe *recipe,
                              const struct muster_data *data,
                              struct muster_model **model, char *why)
{
    OUR_FLOATS;
    struct why sentence = {{0}};
    struct fitting f = {.asked = recipe};
    enum muster_status status;

    if (recipe == NULL || data == NULL || model == NULL) {
        stop_spent(recipe);
        return status_end(why_set(&sentence, ERR_SHAPE,
                                  "there is no recipe, there are no rows, or "
                                  "there is nowhere to put the model"),
                          &sentence, why);
    }
    *model = NULL;
    status = begin(&f, data, why);
    if (status == MUSTER_OK)
        status = status_end(train(&f, model, &sentence), &sentence, why);
    end(&f);
    return status;
}

/* --- cross-validation ------------------------------------------------------
 */

static enum err give_score(const struct metrics *metrics, double objective,
                           uint64_t steps, struct muster_score *score,
                           struct why *why)
{
    const struct muster_score made = {
        .accuracy = metrics->accuracy,
        .auc = metrics->auc,
        .f1 = metrics->f1,
        .precision = metrics->precision,
        .recall = metrics->recall,
        .logloss = metrics->logloss,
        .mse = metrics->mse,
        .objective = objective,
        .steps = steps,
    };

    return struct_give(score, STRUCT_LEAST(struct muster_score, steps),
                       sizeof made, &made, why);
}

/* The first is over all rows. */
static enum err give_scores(const struct trial *trial,
                            struct muster_score *score, struct why *why)
{
    enum err err =
        give_score(&trial->metrics, (double)NAN, trial->steps, score, why);
    const size_t size = score->size;

    for (uint32_t i = 0; err == ERR_OK && i < trial->folds; i++) {
        const struct fold *const fold = &trial->fold[i];
        void *const next = (char *)score + (i + 1) * size;

        err =
            give_score(&fold->metrics, fold->objective, fold->steps, next, why);
    }
    return err;
}

/* Before all the work, not after it.  More folds than rows are refused
 * elsewhere, and so many scores need not be there. */
static enum err check_scores(const struct fitting *f,
                             const struct muster_score *score, struct why *why)
{
    struct muster_score taken = {0};
    enum err err = ERR_OK;

    for (size_t i = 0;
         err == ERR_OK && i <= f->folds && f->folds <= f->setup.data.rows; i++)
        err = struct_take((const char *)score + i * score->size,
                          STRUCT_LEAST(struct muster_score, steps),
                          sizeof taken, &taken, why);
    return err;
}

static enum err validate(struct fitting *f, struct muster_score *score,
                         struct why *why)
{
    const struct trial_hooks hooks = {.stop = &f->asked->stop};
    struct folds folds = {0};
    struct trial trial = {0};
    enum err err = check_scores(f, score, why);

    if (err == ERR_OK)
        err =
            folds_validate(&f->setup, &f->choices, &hooks, &folds, &trial, why);
    if (err == ERR_OK)
        err = give_scores(&trial, score, why);
    trial_close(&trial);
    folds_close(&folds);
    return err;
}

enum muster_status muster_cross_validate(struct muster_recipe *recipe,
                                         const struct muster_data *data,
                                         uint32_t folds,
                                         struct muster_score *score, char *why)
{
    OUR_FLOATS;
    struct why sentence = {{0}};
    struct fitting f = {.asked = recipe, .folds = folds};
    enum muster_status status;

    if (recipe == NULL || data == NULL || score == NULL || folds < 2) {
        stop_spent(recipe);
        return status_end(why_set(&sentence, ERR_SHAPE,
                                  "there is no recipe, there are no rows, "
                                  "fewer than two folds, or there is nowhere "
                                  "to put the scores"),
                          &sentence, why);
    }
    status = begin(&f, data, why);
    if (status == MUSTER_OK)
        status = status_end(validate(&f, score, &sentence), &sentence, why);
    end(&f);
    return status;
}
