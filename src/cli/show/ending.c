/*
 * ending.c - the verdict on a run: converged, not converged or diverged, by the
 * exact objective of the saved model, and what helps.
 */
#include "cli/show/ending.h"

#include <assert.h>
#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/show/columns.h"
#include "cli/show/goal.h"
#include "core/run/failure.h"
#include "learn/family/constant.h"
#include "learn/family/family.h"
#include "learn/family/held.h"
#include "learn/family/risen.h"
#include "learn/family/unfinished.h"
#include "node/fixed/noise.h"

/* Steps near an optimum: of a model that is no better than a constant another
 * line says what helps. */
static const char *near_advice(const struct setup *setup,
                               const struct train_result *result)
{
    if (result->constant.judged && !result->constant.beaten)
        return "steps over batches have not come near an optimum";
    return (optim_schedule_needs(setup->optim.schedule) & SCHEDULE_END) != 0
               ? "steps over batches end near an optimum, nearer with more "
                 "--passes"
               : "steps over batches end near an optimum, nearer with more "
                 "--passes and a rate that falls (--schedule)";
}

/* Of the objective at the start: if as many steps again would gain more, or
 * there were too few to tell (0), it is steps that were missing, whatever the
 * code left out of them. */
#define FALLING .01

/* Steps that came out exact lost nothing to the code. */
static bool is_held_by_code(const struct setup *setup,
                            const struct train_result *result)
{
    return setup->exactness == EXACT_APPROX &&
           result->stats.exactness[EXACT_APPROX] > 0 &&
           result->outcome.gain != 0 && result->outcome.gain < FALLING;
}

#define ADVICE_SIZE 96u

static const char *advice(const struct run *run,
                          const struct train_result *result,
                          char text[ADVICE_SIZE])
{
    const struct setup *const setup = run->setup;

    const char *const more =
        option_given(&run->cli->options, OPT_PASSES) ? "passes" : "steps";

    if (is_held_by_code(setup, result))
        return "an exact code (steal) gets further";
    if (setup->optim.kind == OPTIM_SGD)
        return "sgd has no test of convergence";
    if (setup->optim.kind == OPTIM_LBFGS || setup->optim.kind == OPTIM_NEWTON)
        return "give it more --steps";
    if (setup->optim.sampler.kind != SAMPLER_WHOLE)
        return near_advice(setup, result);
    /* Estimated sums need the optimiser that was chosen for them. */
    if (setup->chose[0] == '\0' || setup->exactness == EXACT_APPROX)
        (void)snprintf(text, ADVICE_SIZE, "give it more --%s", more);
    else
        (void)snprintf(text, ADVICE_SIZE, "give it more --%s, or leave out %s",
                       more, setup->chose);
    return text;
}

/* "a" of a table, or the constant that was added to the rows. */
static void print_column(const struct setup *setup, uint32_t weight)
{
    const struct dataset *data = &setup->data;
    const uint32_t j = data->original != NULL ? data->original[weight] : weight;

    if (setup->intercept && weight + 1 == data->cols)
        (void)fputs("the constant", stdout);
    else
        (void)printf("%s", columns_name(setup, j).text);
}

static void stalled_text(const struct setup *setup,
                         const struct optim_outcome *outcome)
{
    const bool table = setup->encoder.kind == ENCODER_TABLE;

    if (outcome->hidden == outcome->beside) {
        (void)printf("NOT CONVERGED: no step makes it better, |gradient| "
                     "%.2g; %sa larger --l2 may help\n",
                     outcome->gradient_norm,
                     table ? "--scale standard or " : "");
        return;
    }
    (void)fputs("NOT CONVERGED: columns ", stdout);
    print_column(setup, outcome->beside);
    (void)fputs(" and ", stdout);
    print_column(setup, outcome->hidden);
    (void)printf(" are too nearly one for fp64 to tell how far the optimum is, "
                 "|gradient| %.2g; %sa larger --l2 helps\n",
                 outcome->gradient_norm,
                 table ? "--drop one of them, --scale standard or " : "");
}

static void not_converged(const struct run *run,
                          const struct train_result *result)
{
    const struct setup *const setup = run->setup;
    const struct optim_outcome *outcome = &result->outcome;
    char text[UNFINISHED_TEXT], helps[ADVICE_SIZE];

    if (!setup_family(setup)->converges) {
        (void)printf("%s %u%s\n",
                     outcome->end == OPTIM_STEPS ? "all steps are made,"
                                                 : "its time was over at step",
                     result->steps,
                     setup->has_valid || setup->has_test
                         ? ""
                         : "; rows held out (--valid, --test) tell whether "
                           "more would help");
        if (result->constant.beaten &&
            unfinished_sentence(setup, result, text) != NULL)
            (void)printf("           %s\n", text);
        if (neural_on_columns(&setup->net.neural))
            columns_slow_text(setup);
        return;
    }
    if (outcome->end == OPTIM_STEPS)
        (void)printf("NOT CONVERGED: all %u steps are made, |gradient| %.2g; "
                     "%s\n",
                     result->steps, outcome->gradient_norm,
                     advice(run, result, helps));
    else if (outcome->end == OPTIM_STALLED)
        stalled_text(setup, outcome);
    else
        (void)printf("NOT CONVERGED: its time was over at step %u, |gradient| "
                     "%.2g\n",
                     result->steps, outcome->gradient_norm);
    columns_slow_text(setup);
}

/* Somebody stopped it, so that it is not judged: it may go on. */
static void stopped_text(const struct train_result *result)
{
    if (result->steps == 0)
        (void)fputs("stopped before its first step\n", stdout);
    else
        (void)printf("stopped at step %u, |gradient| %.2g\n", result->steps,
                     result->outcome.gradient_norm);
}

/* optim/soften.h */
static bool is_proved(const struct setup *setup)
{
    const enum optim_kind kind = setup->optim.kind;

    return setup->optim.kinks && (kind == OPTIM_LBFGS || kind == OPTIM_NEWTON);
}

/* If log losses without a penalty sum to less than log 2, each of them does,
 * and its row is on the right side: longer weights would make all smaller. */
static bool has_no_least(const struct setup *setup,
                         const struct optim_outcome *outcome)
{
    return setup_family(setup)->converges && setup->optim.l2 == 0 &&
           setup->data.weight == NULL && model_ops(setup->model)->probable &&
           outcome->at_model &&
           outcome->objective * (double)setup->data.rows < log(2);
}

static void noise_text(const struct train_result *result)
{
    if (result->noise.start == 0)
        return;
    if (isfinite(result->noise.critical))
        (void)printf("noise      scale %.3g rows at the start, %.3g at the "
                     "model: critical batch %.3g\n",
                     result->noise.start, result->noise.model,
                     result->noise.critical);
    else
        (void)fputs("noise      hides the gradient at the start or at the "
                    "model, so that the critical batch is not known\n",
                    stdout);
}

static void noise_json(const struct train_result *result, json_t *object)
{
    if (result->noise.start == 0)
        return;
    (void)json_object_set_new(
        object, "noise",
        json_pack("{s:o, s:o, s:o}", "start", json_number(result->noise.start),
                  "model", json_number(result->noise.model), "critical_batch",
                  json_number(result->noise.critical)));
}

static uint32_t pass_of(const struct setup *setup, uint32_t step)
{
    const uint32_t each = sampler_steps(&setup->optim.sampler);

    return step / each + (step % each != 0);
}

static void early_text(const struct setup *setup,
                       const struct train_result *result)
{
    (void)printf("stopped early, after pass %u: %u without a lower loss on "
                 "held-out rows\n",
                 pass_of(setup, result->steps), setup->optim.patience);
}

/* By rows that were held out. */
static void best_text(const struct setup *setup,
                      const struct train_result *result)
{
    const struct optim_outcome *outcome = &result->outcome;
    const bool best = outcome->best_step > 0;

    if (isfinite(outcome->held_out))
        (void)printf("held out   loss %.6g after pass %u%s\n",
                     outcome->held_out, pass_of(setup, outcome->held_out_step),
                     best ? ", the best: its weights are the model" : "");
}

static void diverged_text(const struct run *run,
                          const struct train_result *result)
{
    const struct setup *const setup = run->setup;
    char text[FAILURE_TEXT];
    const bool choice =
        setup_family(setup)->converges && setup->chose[0] != '\0';

    (void)printf("DIVERGED: the objective was %.6g at the start; %s%s%s\n",
                 result->outcome.objective_first * setup->shown_factor,
                 setup_family(setup)->converges
                     ? "a smaller --lr helps"
                     : failure_advice(&setup->optim, text),
                 choice ? ", or leave out " : "", choice ? setup->chose : "");
}

/* What only metrics tell; who was stopped is not judged. */
static const char *class_sentence(const struct run *run,
                                  const struct train_result *result,
                                  char text[CONSTANT_TEXT])
{
    return run_is_done(result) && !fit_diverged(result)
               ? constant_class_sentence(run->setup, &run->metrics.train, text)
               : NULL;
}

static void constant_text(const struct run *run,
                          const struct train_result *result)
{
    char text[CONSTANT_TEXT];

    if (constant_sentence(run->setup, result, text) != NULL ||
        class_sentence(run, result, text) != NULL)
        (void)printf("           %s\n", text);
}

/* All weights, or those of some columns. */
static void held_text(const struct setup *setup,
                      const struct train_result *result)
{
    char text[HELD_TEXT];

    if (held_sentence(setup, result, text) != NULL)
        (void)printf("           %s\n", text);
    else
        columns_held_text(setup);
}

static void risen_text(const struct setup *setup,
                       const struct train_result *result)
{
    char text[RISEN_TEXT];

    if (risen_sentence(setup, result, text) != NULL)
        (void)printf("           %s\n", text);
}

void ending_text(const struct run *run, const struct train_result *result)
{
    const struct setup *const setup = run->setup;
    const struct optim_outcome *outcome = &result->outcome;
    char goal[GOAL_TEXT];

    if (isfinite(outcome->objective) && outcome->at_model)
        (void)printf("objective  %.10g%s%s\n",
                     outcome->objective * setup->shown_factor,
                     goal_is_own(setup) ? ", " : "",
                     goal_is_own(setup)
                         ? goal_text(setup, &run->cli->options.recipe, goal)
                         : "");
    else if (isfinite(outcome->objective) && result->steps > 0)
        (void)printf(
            "objective  %.10g at step %u; the model is that of step "
            "%u\n",
            outcome->objective * setup->shown_factor, result->steps - 1,
            outcome->best_step > 0 ? outcome->best_step : result->steps);
    (void)fputs("ended      ", stdout);
    if (!result->finished && (!result->timed_out || result->steps == 0))
        stopped_text(result);
    else if (fit_diverged(result))
        diverged_text(run, result);
    else if (outcome->end == OPTIM_CONVERGED && is_proved(setup))
        (void)printf("converged: proved to be at most %.2g above the least "
                     "objective\n",
                     outcome->excess * setup->shown_factor);
    else if (outcome->end == OPTIM_CONVERGED)
        (void)printf("converged: |gradient| %.2g\n", outcome->gradient_norm);
    else if (fit_blind(result))
        (void)printf("FAILED: no pass of %u had a finite loss on the rows held "
                     "out; look for values in them that are far too large\n",
                     pass_of(setup, result->steps));
    else if (outcome->end == OPTIM_EARLY)
        early_text(setup, result);
    else
        not_converged(run, result);
    if (outcome->end == OPTIM_CONVERGED && setup_family(setup)->converges)
        held_text(setup, result);
    constant_text(run, result);
    risen_text(setup, result);
    best_text(setup, result);
    noise_text(result);
    if (!fit_diverged(result) && has_no_least(setup, outcome))
        (void)fputs("           every row is on its side, so without a penalty "
                    "there is no least objective: weights grow with every "
                    "step; --l2 above 0 has one\n",
                    stdout);
}

/* Do they say the same, but for figures? */
static bool is_alike(const char *one, const char *other)
{
    while (*one == *other && *one != '\0' &&
           strchr("(0123456789", *one) == NULL)
        one++, other++;
    return *one == *other || (isdigit((unsigned char)*one) != 0 &&
                              isdigit((unsigned char)*other) != 0);
}

/* The table has figures of rows held out, and the sentence its own. */
void ending_folds(const struct setup *setup, const struct trial *trial)
{
    const char *nothing = NULL;
    uint32_t slow = 0, idle = 0, first = 0;

    for (uint32_t i = 0; i < trial->folds; i++) {
        const struct fold *const fold = &trial->fold[i];

        slow += fold->end == OPTIM_STEPS || fold->end == OPTIM_STALLED;
        if (nothing == NULL && fold->nothing[0] != '\0') {
            nothing = fold->nothing;
            first = i;
        }
        idle += nothing != NULL && is_alike(fold->nothing, nothing);
    }
    if (slow > 0 && setup_family(setup)->converges)
        columns_slow_text(setup);
    if (nothing != NULL && trial->folds == 1)
        (void)printf("           on the rows it was taught: %s\n", nothing);
    else if (nothing != NULL)
        (void)printf("           in %u of %u folds (figures are those of fold "
                     "%u on the rows it was taught): %s\n",
                     idle, trial->folds, first + 1, nothing);
}

/* What muster_info says of it, too, but for what only metrics tell. */
static void warning_json(const struct run *run,
                         const struct train_result *result, json_t *object)
{
    const struct setup *const setup = run->setup;
    char text[CONSTANT_TEXT];

    static_assert(HELD_TEXT <= CONSTANT_TEXT, "one room for all of them");
    static_assert(RISEN_TEXT <= CONSTANT_TEXT, "one room for all of them");
    static_assert(UNFINISHED_TEXT <= CONSTANT_TEXT, "one room for all of them");
    if (constant_sentence(setup, result, text) != NULL ||
        risen_sentence(setup, result, text) != NULL ||
        unfinished_sentence(setup, result, text) != NULL ||
        held_sentence(setup, result, text) != NULL ||
        class_sentence(run, result, text) != NULL)
        (void)json_object_set_new(object, "warning", json_string(text));
}

void ending_json(const struct run *run, const struct train_result *result,
                 json_t *object)
{
    const struct setup *const setup = run->setup;
    const struct optim_outcome *outcome = &result->outcome;

    (void)json_object_set_new(
        object, "objective",
        json_number(outcome->objective * setup->shown_factor));
    (void)json_object_set_new(object, "objective_at_model",
                              json_boolean(outcome->at_model));
    (void)json_object_set_new(object, "converged",
                              json_boolean(outcome->end == OPTIM_CONVERGED));
    (void)json_object_set_new(object, "end",
                              json_string(optim_end_name(outcome->end)));
    (void)json_object_set_new(object, "gradient_norm",
                              json_number(outcome->gradient_norm));
    (void)json_object_set_new(
        object, "excess", json_number(outcome->excess * setup->shown_factor));
    if (isfinite(outcome->held_out)) {
        (void)json_object_set_new(object, "held_out_loss",
                                  json_number(outcome->held_out));
        (void)json_object_set_new(
            object, "held_out_step",
            json_integer((json_int_t)outcome->held_out_step));
        if (outcome->best_step > 0)
            (void)json_object_set_new(
                object, "best_step",
                json_integer((json_int_t)outcome->best_step));
    }
    if (!setup_family(setup)->converges)
        (void)json_object_set_new(object, "unfinished",
                                  json_boolean(unfinished(setup, result)));
    if (result->constant.judged)
        (void)json_object_set_new(object, "beats_constant",
                                  json_boolean(result->constant.beaten));
    if (result->held.judged)
        (void)json_object_set_new(object, "weights_left",
                                  json_number(result->held.left));
    warning_json(run, result, object);
    noise_json(result, object);
}
