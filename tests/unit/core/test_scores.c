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

/* Answers to the round that was just sent. */
struct answers {
    struct msg answer[SLOTS];
    double row[SLOTS][ROWS + 1];
};

static void make_answers(struct play *play, struct answers *made)
{
    static const uint32_t whole = 0; /* A product in one piece. */
    struct msg *const answer = made->answer;
    double(*const row)[ROWS + 1] = made->row;
    const struct round_key key = play->key;

    *made = (struct answers){0};

    for (uint32_t i = 0; i < play->actions.count; i++) {
        const struct action *const action = &play->actions.list[i];

        if (action->kind != ACTION_SEND || action->msg.kind != MSG_ROUND)
            continue;
        assert_int_equal(action->msg.round.kind, EVALUATE_SCORES);
        assert_int_equal(action->msg.round.dims, DIMS);
        multiply(&action->msg.round, row[action->link]);
        answer[action->link].kind = MSG_ROW;
        answer[action->link].row = (struct msg_row){.key = key,
                                                    .count = 1,
                                                    .pieces = &whole,
                                                    .dims = ROWS / 2,
                                                    .row = row[action->link]};
    }
}

/* All answer but `silent`. */
static void answer_round(struct play *play, uint32_t silent)
{
    struct answers made;

    make_answers(play, &made);
    for (uint32_t link = 0; link < SLOTS; link++)
        if (link != silent)
            play_say(play, link, &made.answer[link]);
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

/* Block 2 is nearly part 0, so that it and block 0 say little of part 1; both
 * have answered. */
static void open_ill(struct play *play, struct answers *made)
{
    const struct coordinator_options options = options_of();
    struct code *const code = &play->coordinator.code;
    const double ill[] = {0.731, 1.3e-11};

    play_begin(play, &options);
    for (uint32_t link = 0; link < SLOTS; link++)
        play_hello(play, link, (const char *[]){"w0", "w1", "w2"}[link],
                   link + 1);
    erasure_close(&code->erasure); /* With what it knows of sets. */
    assert_int_equal(erasure_init(&code->erasure, 2, SLOTS, 1), ERR_OK);
    memcpy(code->erasure.row + 2 * 2, ill, sizeof ill);
    memcpy(code->table.value + code->table.row[2], ill, sizeof ill);
    play_step(play, (struct event){.kind = EVENT_JOURNALED});
    make_answers(play, made);
    play_say(play, 0, &made->answer[0]);
    play_say(play, 2, &made->answer[2]);
    assert_int_equal(play->coordinator.trainer.optim.step, 0);
    assert_int_equal(play->coordinator.phase, COORDINATOR_ROUND);
}

/* What two say does not do: the third is waited for, and if that one goes, the
 * round is begun anew with the living. */
static void test_waits_for_who_decodes_well(void **state)
{
    struct answers made;
    struct play play;

    (void)state;
    open_ill(&play, &made);
    play_say(&play, 1, &made.answer[1]);
    assert_int_equal(play.coordinator.trainer.optim.step, 1);
    assert_true(play.coordinator.stats.worst_residual <= CODE_RESIDUAL_MAX);
    play_close(&play);
    open_ill(&play, &made);
    play_step(&play, (struct event){.kind = EVENT_LINK_DOWN, .link = 1});
    assert_int_equal(play.coordinator.stats.redone, 1);
    assert_int_equal(play.coordinator.code.slots, 2);
    play_close(&play);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_any_two_of_three),
        cmocka_unit_test(test_residual_of_each_answer),
        cmocka_unit_test(test_waits_for_who_decodes_well),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
