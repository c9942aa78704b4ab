/*
 * A coordinator that is asked for scores, not for a gradient (optim/columns.c):
 * one round for each column, decoded from any k answers, handed over together.
 * The test plays the workers, on rows that it knows.
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

enum { SLOTS = 3, ROWS = 8 * SLOTS, DIMS = 8, COUNT = 3, CHUNK_ROWS = 4 };

static double x[ROWS][DIMS], b[COUNT][DIMS];

static double no_slopes(void *context, uint32_t soft, double *scores)
{
    (void)context;
    (void)soft;
    scores[0] = NAN;
    fail_msg("nobody asked for slopes");
    return 0;
}

static struct coordinator_options options_of(void)
{
    struct coordinator_options options = stage_options("mds", SLOTS, 1, COUNT);

    for (uint32_t i = 0; i < ROWS; i++)
        for (uint32_t j = 0; j < DIMS; j++)
            x[i][j] = rng_normal_at(1, i, j);
    for (uint32_t t = 0; t < COUNT; t++)
        for (uint32_t j = 0; j < DIMS; j++)
            b[t][j] = rng_normal_at(2, t, j);
    options.slopes = no_slopes;
    options.length = ROWS;
    options.optim = optim_defaults(OPTIM_COLUMNS);
    options.optim.steps = COUNT;
    options.optim.rows = ROWS;
    options.optim.columns = (struct optim_columns){&b[0][0], DIMS};
    return options;
}

static double dot(const double *row, const double *w)
{
    double sum = 0;

    for (int j = 0; j < DIMS; j++)
        sum += row[j] * w[j];
    return sum;
}

/* What the block of these terms gives. */
static void multiply(const struct msg_round *round, double *out)
{
    memset(out, 0, ROWS * sizeof *out);
    assert_int_equal(round->count, 1);
    for (uint32_t k = 0; k < round->term_count; k++) {
        const struct item *const item = &round->terms[k];
        const uint32_t first = item->first * CHUNK_ROWS;

        for (uint32_t i = first; i < item->end * CHUNK_ROWS; i++)
            out[i - first] += item->coefficient * dot(x[i], round->weights);
    }
}

/* All answer but `silent`. */
static void answer_round(struct play *play, uint32_t silent)
{
    struct msg answer[SLOTS] = {{0}};
    double row[SLOTS][ROWS + 1] = {{0}};
    const struct round_key key = play->key;

    for (uint32_t i = 0; i < play->actions.count; i++) {
        const struct action *const action = &play->actions.list[i];

        if (action->kind != ACTION_SEND || action->msg.kind != MSG_ROUND)
            continue;
        assert_int_equal(action->msg.round.kind, EVALUATE_SCORES);
        assert_int_equal(action->msg.round.dims, DIMS);
        multiply(&action->msg.round, row[action->link]);
        answer[action->link].kind = MSG_ROW;
        answer[action->link].row = (struct msg_row){
            .key = key, .dims = ROWS / 2, .row = row[action->link]};
    }
    for (uint32_t link = 0; link < SLOTS; link++)
        if (link != silent)
            play_say(play, link, &answer[link]);
}

static void test_any_two_of_three(void **state)
{
    const struct coordinator_options options = options_of();

    (void)state;
    for (uint32_t silent = 0; silent < SLOTS; silent++) {
        struct play play;
        const double *all;
        uint32_t count;

        play_open(&play, &options);
        for (uint32_t step = 0; step < COUNT; step++) {
            assert_int_equal(play.key.step, step);
            answer_round(&play, silent);
            assert_int_equal(play.coordinator.trainer.optim.step, step + 1);
            play_step(&play, (struct event){.kind = EVENT_JOURNALED});
        }
        assert_true(trainer_done(&play.coordinator.trainer));
        all = trainer_model(&play.coordinator.trainer, &count);
        assert_int_equal(count, COUNT * ROWS);
        for (uint32_t t = 0; t < COUNT; t++)
            for (uint32_t i = 0; i < ROWS; i++)
                assert_true(fabs(all[t * ROWS + i] - dot(x[i], b[t])) < 1e-12);
        assert_true(play.coordinator.stats.worst_residual <= 1e-12);
        play_close(&play);
    }
}

/* That one answer decoded badly does not make the next ones worse. */
static void test_residual_of_each_answer(void **state)
{
    const struct coordinator_options options = options_of();
    struct play play;
    double *const worst = &play.coordinator.stats.worst_residual;

    (void)state;
    play_open(&play, &options);
    play.coordinator.products.residual = CODE_RESIDUAL_MAX;
    answer_round(&play, 0);
    assert_true(*worst == CODE_RESIDUAL_MAX);
    *worst = 0;
    play_step(&play, (struct event){.kind = EVENT_JOURNALED});
    answer_round(&play, 0);
    assert_true(*worst < CODE_RESIDUAL_MAX);
    play_close(&play);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_any_two_of_three),
        cmocka_unit_test(test_residual_of_each_answer),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
