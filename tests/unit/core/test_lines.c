/*
 * A coordinator on coded data whose optimiser searches lines
 * (core/star/lines.h): which rounds a step takes, and that it ends where one
 * machine does.  The test plays the workers, on rows that it knows.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>
#include <math.h>

#include "base/rng.h"
#include "play.h"

enum { SLOTS = 3, PARTS = 2, ROWS = 8 * SLOTS, DIMS = 8, CHUNK_ROWS = 4 };
enum { TEXT = 512 };

static double x[ROWS][DIMS], y[ROWS];

static double dot(const double *a, const double *b, uint32_t count)
{
    double sum = 0;

    for (uint32_t j = 0; j < count; j++)
        sum += a[j] * b[j];
    return sum;
}

static double slopes(void *context, uint32_t soft, double *z)
{
    double loss = 0;

    (void)context;
    assert_int_equal(soft, 0);
    for (uint32_t i = 0; i < ROWS; i++) {
        loss += log1p(exp(-y[i] * z[i]));
        z[i] = -y[i] / (1 + exp(y[i] * z[i]));
    }
    return loss;
}

static void bends(void *context, uint32_t soft, double *z)
{
    (void)context;
    (void)soft;
    for (uint32_t i = 0; i < ROWS; i++)
        z[i] = 1 / ((1 + exp(z[i])) * (1 + exp(-z[i])));
}

static struct coordinator_options options_of(enum optim_kind kind,
                                             uint32_t steps)
{
    struct coordinator_options options = stage_options("mds", SLOTS, 1, steps);

    for (uint32_t i = 0; i < ROWS; i++) {
        y[i] = rng_normal_at(3, i, 0) > 0 ? 1 : -1;
        for (uint32_t j = 0; j < DIMS; j++)
            x[i][j] = (j + 1) * rng_normal_at(1, i, j);
    }
    options.slopes = slopes;
    options.bends = bends;
    options.optim = optim_defaults(kind);
    options.optim.steps = steps;
    options.optim.rows = ROWS;
    options.optim.l2 = 0.01;
    optim_on_scores(&options.optim);
    return options;
}

/* --- one machine --------------------------------------------------------- */

static void scores_at(const double *w, double *z)
{
    for (uint32_t i = 0; i < ROWS; i++)
        z[i] = dot(x[i], w, DIMS);
}

static double back(const struct evaluation *what, double *z, double *sum)
{
    double other[ROWS];
    double loss = 0;

    if (what->kind == EVALUATE_HESSVEC) {
        bends(NULL, 0, z);
        scores_at(what->v, other);
        for (uint32_t i = 0; i < ROWS; i++)
            z[i] *= other[i];
    } else {
        loss = slopes(NULL, 0, z);
    }
    memset(sum, 0, DIMS * sizeof *sum);
    for (uint32_t i = 0; i < ROWS; i++)
        for (uint32_t j = 0; j < DIMS; j++)
            sum[j] += z[i] * x[i][j];
    return loss;
}

static double evaluate(const struct evaluation *what, double *sum)
{
    double point[DIMS];
    double z[ROWS];
    double loss;

    for (uint32_t j = 0; j < DIMS; j++)
        point[j] = what->w[j] +
                   (what->kind == EVALUATE_LINE ? what->step * what->v[j] : 0);
    scores_at(point, z);
    loss = back(what, z, sum);
    if (what->kind == EVALUATE_LINE)
        sum[0] = dot(sum, what->v, DIMS);
    return loss;
}

static void train_alone(const struct optim_options *options, double *w)
{
    struct optim optim;
    struct ask ask;
    double sum[DIMS];

    assert_int_equal(optim_init(&optim, options, DIMS), ERR_OK);
    while ((ask = optim_next(&optim)).kind != ASK_DONE) {
        const double loss = evaluate(&ask.what, sum);

        (void)optim_feed(&optim, sum, loss);
    }
    memcpy(w, optim_weights(&optim), DIMS * sizeof *w);
    optim_close(&optim);
}

/* --- workers ------------------------------------------------------------- */

/* What the block of these terms gives. */
static void multiply(const struct msg_round *round, double *out)
{
    for (uint32_t k = 0; k < round->term_count; k++) {
        const struct item *const item = &round->terms[k];
        const uint32_t row = item->first * CHUNK_ROWS;
        const uint32_t column = item->id * DIMS / PARTS;

        for (uint32_t i = row;
             round->kind == EVALUATE_SCORES && i < item->end * CHUNK_ROWS; i++)
            out[i - row] += item->coefficient * dot(x[i], round->weights, DIMS);
        for (uint32_t i = 0; round->kind == EVALUATE_BACK && i < ROWS; i++)
            for (uint32_t j = 0; j < DIMS / PARTS; j++)
                out[j] +=
                    item->coefficient * round->weights[i] * x[i][column + j];
    }
}

/* All answer but the last; `rounds` has a letter more. */
static void answer_round(struct play *play, char *rounds)
{
    static const uint32_t whole = 0; /* A product in one piece. */
    struct msg answer[SLOTS] = {{0}};
    double row[SLOTS][ROWS] = {{0}};
    char letter = '?';

    for (uint32_t i = 0; i < play->actions.count; i++) {
        const struct action *const action = &play->actions.list[i];

        if (action->kind != ACTION_SEND || action->msg.kind != MSG_ROUND)
            continue;
        letter = action->msg.round.kind == EVALUATE_SCORES ? 'S' : 'B';
        assert_null(action->msg.round.direction);
        multiply(&action->msg.round, row[action->link]);
        answer[action->link].kind = MSG_ROW;
        answer[action->link].row = (struct msg_row){
            .key = play->key,
            .count = 1,
            .pieces = &whole,
            .dims = letter == 'S' ? ROWS / PARTS : DIMS / PARTS,
            .row = row[action->link]};
    }
    assert_true(strlen(rounds) < TEXT - 2);
    rounds[strlen(rounds)] = letter;
    for (uint32_t link = 0; link + 1 < SLOTS; link++)
        play_say(play, link, &answer[link]);
}

/* Its rounds, as letters; a bar behind each step. */
static void train_coded(const struct coordinator_options *options, double *w,
                        char *rounds)
{
    struct play play;
    const struct trainer *const trainer = &play.coordinator.trainer;

    memset(rounds, 0, TEXT);
    play_open(&play, options);
    while (!trainer_done(trainer)) {
        const uint32_t step = trainer->optim.step;

        answer_round(&play, rounds);
        if (trainer->optim.step == step)
            continue;
        rounds[strlen(rounds)] = '|';
        play_step(&play, (struct event){.kind = EVENT_JOURNALED});
    }
    memcpy(w, trainer_weights(trainer), DIMS * sizeof *w);
    assert_true(trainer->optim.evaluations > 3 * trainer->optim.step);
    assert_int_equal(play.coordinator.stats.exactness[EXACT_NUMERIC],
                     trainer->optim.step);
    assert_true(play.coordinator.stats.worst_residual <= 1e-12);
    play_close(&play);
}

static void agree(const double *w, const double *wanted)
{
    for (uint32_t j = 0; j < DIMS; j++)
        assert_true(fabs(w[j] - wanted[j]) <= 1e-9);
}

/* The weights of one machine, by these rounds. */
static void check_lbfgs(uint32_t steps, const char *rounds_wanted)
{
    const struct coordinator_options options = options_of(OPTIM_LBFGS, steps);
    double w[DIMS], wanted[DIMS];
    char rounds[TEXT];

    train_alone(&options.optim, wanted);
    train_coded(&options, w, rounds);
    assert_string_equal(rounds, rounds_wanted);
    agree(w, wanted);
}

/* However many trials a search has, a step is the direction's scores and the
 * way back. */
static void test_a_search_is_one_round(void **state)
{
    (void)state;
    check_lbfgs(4, "SBSB|SB|SB|SB|");
}

/* Sums of scores are not trusted for ever. */
static void test_scores_are_refreshed(void **state)
{
    (void)state;
    check_lbfgs(18, "SBSB|SB|SB|SB|SB|SB|SB|SB|SB|SB|SB|SB|SB|SB|"
                    "SB|SB|SSB|SB|");
}

/* A product with f'' is two rounds, too; the first step has as many as there
 * are conjugate gradients. */
static void test_newton(void **state)
{
    struct coordinator_options options = options_of(OPTIM_NEWTON, 3);
    double w[DIMS], wanted[DIMS];
    char rounds[TEXT];

    (void)state;
    options.optim.cg_max = 2;
    train_alone(&options.optim, wanted);
    train_coded(&options, w, rounds);
    assert_string_equal(rounds, "SBSBSBSB|SBSBSB|SBSBSB|");
    agree(w, wanted);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_search_is_one_round),
        cmocka_unit_test(test_scores_are_refreshed),
        cmocka_unit_test(test_newton),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
