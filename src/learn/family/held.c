/*
 * held.c - how much of a model's weights the penalty leaves, told from the
 * objective alone.
 *
 * Let L be the mean loss, w the optimum of L + l2 |w|^2, and L0 the least loss
 * of weights that have a penalty at 0 (the best constant, or, without an
 * intercept, the loss of no model at all).  At w the slope of L is -2 l2 w, and
 * L is convex, so L0 - L(w) >= 2 l2 |w|^2: the penalty is at most half of what
 * was gained.  It is just half where L is straight from 0 to w, that is, where
 * the rows still pull at w as they did at 0.  Where L is a parabola along the
 * way, and the penalty leaves a share s of the weights that L alone would have,
 * penalty / gain = (1 - s) / (2 - s).  Nothing is read of the rows but their
 * labels, and columns that go together are taken together.
 */
#include "learn/family/held.h"

#include <math.h>
#include <stdio.h>

#include "learn/family/constant.h"
#include "learn/family/family.h"
#include "node/fixed/evaluate.h"

/* Of the weights, and about a third of the gain: a model with more is felt to
 * have a penalty, and is a model all the same. */
#define HELD .18
/* Gains that are no more than the tolerance: so much of the loss, or so many
 * times what the optimum may still be below, which a hinge knows. */
#define NO_GAIN  1e-6
#define IN_DOUBT 10

/* L0, a mean as optim.h has it. */
static enum err loss_before(const struct setup *setup, struct pool *pool,
                            double *loss)
{
    const struct model_ops *const model = model_ops(setup->model);
    const struct problem problem = setup_problem(setup);
    struct constant constant;
    enum err err;

    if (setup->optim.l2_stride == 0)
        return evaluate_at(&problem, pool, &setup->optim, NULL, loss, NULL);
    err = constant_of(&setup->data, model, &constant);
    if (err == ERR_OK)
        *loss = constant.loss * (model->regression ? 2 : 1) /
                (double)setup->optim.rows;
    return err;
}

enum err held_judge(const struct setup *setup, struct pool *pool,
                    struct train_result *result)
{
    const double penalty =
        optim_penalty(&setup->optim, result->dims, result->weights);
    const double loss = result->outcome.objective - penalty;
    const double doubt =
        setup->optim.kinks ? IN_DOUBT * result->outcome.excess : 0;
    double before, share;
    enum err err;

    if (result->outcome.end != OPTIM_CONVERGED || !result->outcome.at_model ||
        setup->optim.l2 <= 0)
        return ERR_OK;
    err = loss_before(setup, pool, &before);
    if (err != ERR_OK)
        return err == ERR_RANGE ? ERR_OK : err;
    result->held.judged = before > 0;
    result->held.nothing = before - loss <= fmax(NO_GAIN * before, doubt);
    share = result->held.nothing ? .5 : penalty / (before - loss);
    result->held.left = share < .5 ? (1 - 2 * share) / (1 - share) : 0;
    return ERR_OK;
}

static const char *advice(const struct setup *setup)
{
    if (setup->encoder.kind != ENCODER_TABLE)
        return "columns of a larger spread, or a smaller --l2";
    return encoder_scales(&setup->encoder)
               ? "a smaller --l2"
               : "--scale standard, or a smaller --l2";
}

const char *held_sentence(const struct setup *setup,
                          const struct train_result *result,
                          char text[HELD_TEXT])
{
    if (!result->held.judged || result->held.left > HELD)
        return NULL;
    if (result->held.nothing)
        (void)snprintf(text, HELD_TEXT,
                       "nothing was learnt from the columns: they say nothing "
                       "of the label, or their spread is too small for the "
                       "penalty; %s than %.3g would tell",
                       advice(setup), setup->optim.l2);
    else
        (void)snprintf(text, HELD_TEXT,
                       "the penalty holds all weights down, to about %.2g %% "
                       "of what they would be without it: %s than %.3g",
                       100 * result->held.left, advice(setup), setup->optim.l2);
    return text;
}
