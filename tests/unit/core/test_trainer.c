/*
 * The trainer: questions and answers without anyone who computes, on proved
 * and followed scales, and what it leaves in its ledger.
 */
#include "core/run/trainer.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/mem.h"
#include "math/exact/follow.h"
#include "stage.h"

enum { DIMS = 2, WEIGHTS = 2 * DIMS + 1, CHUNKS = 4 };

static enum err any_exponents(struct scale *self, const struct evaluation *what,
                              int16_t *exponent)
{
    (void)self;
    memset(exponent, 0, (DIMS + 1) * sizeof *exponent);
    return isfinite(what->w[0]) && isfinite(what->w[1]) ? ERR_OK : ERR_RANGE;
}

static const struct scale_ops any_ops = {.exponents = any_exponents};
static struct scale any_scale = {.ops = &any_ops};

static struct trainer_options options_of(enum optim_kind kind)
{
    struct optim_options optim = optim_defaults(kind);

    optim.rate = 0.25;
    optim.rows = 1;
    optim.steps = 5;
    optim.dense_max = 0;
    optim.diagonal = false;
    return (struct trainer_options){.optim = optim,
                                    .scale = &any_scale,
                                    .dims = DIMS,
                                    .vectors = 1,
                                    .length = DIMS,
                                    .kept = true,
                                    .ledger = {.checkpoint_steps = 100,
                                               .checkpoint_us = TIME_NEVER,
                                               .late_receipts = 1}};
}

/* f = |w - (1, 2)|^2, in one round. */
static enum trainer_next answer(struct trainer *trainer)
{
    double sums[WEIGHTS] = {0};
    const double *w = trainer->what.w;
    struct total total = {.sums = sums, .rescale = 1};

    for (int j = 0; j < DIMS; j++) {
        const double away = w[j] - (j + 1);

        sums[j] = 2 * away;
        total.loss += away * away;
    }
    return trainer_feed(trainer, &total);
}

static void test_it_asks_until_it_is_done(void **state)
{
    const struct trainer_options options = options_of(OPTIM_GD);
    struct trainer trainer;

    (void)state;
    assert_int_equal(trainer_init(&trainer, &options), ERR_OK);
    for (uint32_t step = 1; step <= 5; step++) {
        assert_int_equal(trainer_ask(&trainer), TRAINER_ASKS);
        assert_true(trainer_at_boundary(&trainer));
        assert_int_equal(answer(&trainer), TRAINER_STEPPED);
        assert_int_equal(trainer.optim.step, step);
    }
    assert_int_equal(trainer_ask(&trainer), TRAINER_DONE);
    assert_true(fabs(trainer_weights(&trainer)[1] - 2) < 0.1);
    trainer_close(&trainer);
}

static void test_a_step_is_its_least_exact_round(void **state)
{
    const struct trainer_options options = options_of(OPTIM_GD);
    const struct total bad = {.exactness = EXACT_APPROX,
                              .residual = 0.5,
                              .attempts = 2,
                              .answered = 9};
    struct trainer trainer;
    struct total step;

    (void)state;
    assert_int_equal(trainer_init(&trainer, &options), ERR_OK);
    assert_int_equal(trainer_ask(&trainer), TRAINER_ASKS);
    trainer_note(&trainer, &bad);
    assert_int_equal(answer(&trainer), TRAINER_STEPPED);
    step = trainer_step_total(&trainer);
    assert_int_equal(step.exactness, EXACT_APPROX);
    assert_true(step.residual == 0.5 && step.rescale == 1);
    assert_int_equal(step.attempts, 2);
    assert_int_equal(step.answered, 0); /* Of the last round. */
    assert_int_equal(trainer_step_total(&trainer).attempts, 0);
    trainer_close(&trainer);
}

static void test_it_diverges(void **state)
{
    struct trainer_options options = options_of(OPTIM_GD);
    enum trainer_next next = TRAINER_STEPPED;
    struct trainer trainer;

    (void)state;
    options.optim.rate = 1e200;
    assert_int_equal(trainer_init(&trainer, &options), ERR_OK);
    for (int i = 0; i < 5 && next == TRAINER_STEPPED; i++) {
        next = trainer_ask(&trainer);
        if (next == TRAINER_ASKS)
            next = answer(&trainer);
    }
    assert_int_equal(next, TRAINER_DIVERGED);
    trainer_close(&trainer);
}

/* What a search finds out of range it comes back from; others cannot. */
static void test_what_fits_no_scale(void **state)
{
    static const enum optim_kind kinds[] = {OPTIM_GD, OPTIM_LBFGS};

    (void)state;
    for (int i = 0; i < 2; i++) {
        struct trainer_options options = options_of(kinds[i]);
        enum trainer_next next = TRAINER_AGAIN;
        struct trainer trainer;
        struct follow follow;

        assert_int_equal(follow_init(&follow, DIMS, CHUNKS), ERR_OK);
        options.scale = &follow.scale;
        options.dims = WEIGHTS;
        assert_int_equal(trainer_init(&trainer, &options), ERR_OK);
        if (i == 1) { /* A first point; then comes a search. */
            assert_int_equal(trainer_ask(&trainer), TRAINER_ASKS);
            (void)answer(&trainer);
        }
        for (int k = 0; k < 10 && next == TRAINER_AGAIN; k++) {
            assert_int_equal(trainer_ask(&trainer), TRAINER_ASKS);
            next = trainer_refuse(&trainer);
        }
        assert_int_equal(next, i == 0 ? TRAINER_RANGE : TRAINER_MORE);
        trainer_close(&trainer);
        follow_close(&follow);
    }
}

static void test_refusals_are_no_fault_of_a_proved_scale(void **state)
{
    const struct trainer_options options = options_of(OPTIM_GD);
    struct trainer trainer;

    (void)state;
    assert_int_equal(trainer_init(&trainer, &options), ERR_OK);
    assert_int_equal(trainer_ask(&trainer), TRAINER_ASKS);
    assert_int_equal(trainer_refuse(&trainer), TRAINER_STANDS);
    assert_int_equal(answer(&trainer), TRAINER_STEPPED);
    trainer_close(&trainer);
}

/* INV-5: the receipt after the next round, but with the weights of its step. */
static void test_late_receipts(void **state)
{
    const struct trainer_options options = options_of(OPTIM_GD);
    struct record record = {.kind = RECORD_STEP, .step = 1};
    struct actions actions;
    struct trainer trainer;
    struct digest hash;

    (void)state;
    assert_int_equal(actions_init(&actions, 4), ERR_OK);
    assert_int_equal(trainer_init(&trainer, &options), ERR_OK);
    assert_int_equal(trainer_ask(&trainer), TRAINER_ASKS);
    assert_int_equal(answer(&trainer), TRAINER_STEPPED);
    assert_int_equal(trainer_commit(&trainer, &record, false, true, &actions),
                     RECEIPT_PUT_OFF);
    assert_int_equal(trainer_ask(&trainer), TRAINER_ASKS);
    trainer_settle(&trainer, true, &actions);
    assert_true(trainer_busy(&trainer));
    hash = trainer_hash(&trainer);
    trainer_hashed(&trainer, 1, NULL, &actions);
    assert_false(trainer_busy(&trainer));
    assert_true(digest_equal(&trainer.ledger.late[0].record.weights, &hash));
    assert_true(ledger_waits(&trainer.ledger));
    /* At once where it must be durable. */
    assert_int_equal(answer(&trainer), TRAINER_STEPPED);
    record.step = 2;
    assert_int_equal(trainer_commit(&trainer, &record, true, true, &actions),
                     RECEIPT_WAITS);
    trainer_close(&trainer);
    actions_close(&actions);
}

/* Step once and put its receipt off; a hash is asked for. */
static void step_late(struct trainer *trainer, uint32_t step,
                      struct actions *actions)
{
    struct record record = {.kind = RECORD_STEP, .step = step};

    assert_int_equal(trainer_ask(trainer), TRAINER_ASKS);
    assert_int_equal(answer(trainer), TRAINER_STEPPED);
    assert_int_equal(trainer_commit(trainer, &record, false, true, actions),
                     RECEIPT_PUT_OFF);
    trainer_settle(trainer, true, actions);
    assert_int_equal(actions->list[actions->count - 1].kind, ACTION_RECEIPT);
    assert_int_equal(actions->list[actions->count - 1].step, step);
}

/* INV-5: several wait, hashes come in any order, receipts go in that of steps,
 * each with its own weights; when there is no place the next has to wait. */
static void test_several_late_receipts(void **state)
{
    struct trainer_options options = options_of(OPTIM_GD);
    struct actions actions;
    struct trainer trainer;
    struct digest hash[4];

    (void)state;
    options.ledger.late_receipts = 3;
    assert_int_equal(actions_init(&actions, 16), ERR_OK);
    assert_int_equal(trainer_init(&trainer, &options), ERR_OK);
    for (uint32_t step = 1; step <= 3; step++) {
        assert_false(trainer_busy(&trainer));
        step_late(&trainer, step, &actions);
        hash[step] = trainer_hash(&trainer);
    }
    assert_true(trainer_busy(&trainer));
    for (uint32_t step = 1; step <= 3; step++) {
        const struct digest late = trainer_hash_late(&trainer, step);

        assert_true(digest_equal(&late, &hash[step]));
    }
    actions.count = 0;
    trainer_hashed(&trainer, 2, &hash[2], &actions);
    assert_int_equal(actions.count, 0);
    assert_true(trainer_busy(&trainer));
    trainer_hashed(&trainer, 1, &hash[1], &actions);
    assert_int_equal(actions.count, 2);
    assert_int_equal(ledger_due(&trainer.ledger)->record.step, 3);
    assert_false(trainer_busy(&trainer));
    step_late(&trainer, 4, &actions);
    /* Something else is journaled: first the receipts, hash and all. */
    trainer_turn(&trainer);
    actions.count = 0;
    trainer_write_receipts(&trainer, &actions);
    assert_int_equal(actions.count, 2);
    assert_null(ledger_due(&trainer.ledger));
    assert_true(digest_equal(&trainer.ledger.late[0].record.weights, &hash[3]));
    /* The threads are at it still; what they bring is known. */
    assert_false(trainer_busy(&trainer)); /* Step 5 has the place of 2. */
    trainer_hashed(&trainer, 3, &hash[3], &actions);
    trainer_hashed(&trainer, 4, NULL, &actions);
    assert_int_equal(actions.count, 2);
    trainer_check(&trainer);
    trainer_close(&trainer);
    actions_close(&actions);
}

/* A checkpoint brings back optimiser and scale. */
static void test_state_comes_back(void **state)
{
    struct trainer_options options = options_of(OPTIM_AGD);
    const struct checkpoint head = {.job = 3};
    struct checkpoint saved;
    struct actions actions;
    struct trainer one;
    struct trainer two;
    struct why why = {{0}};
    uint8_t *file;
    size_t size;

    (void)state;
    assert_int_equal(actions_init(&actions, 4), ERR_OK);
    assert_int_equal(trainer_init(&one, &options), ERR_OK);
    assert_int_equal(trainer_ask(&one), TRAINER_ASKS);
    assert_int_equal(answer(&one), TRAINER_STEPPED);
    trainer_checkpoint(&one, &head, 0, &actions);
    file = stage_sealed(&actions.list[0], &size);
    assert_int_equal(checkpoint_decode(file, size, &saved), ERR_OK);
    assert_int_equal(saved.step, 1);
    options.kept = false;
    assert_int_equal(trainer_init(&two, &options), ERR_OK);
    assert_int_equal(trainer_load(&two, saved.state, 3, &why), ERR_FORMAT);
    assert_int_equal(trainer_load(&two, saved.state, saved.state_size, &why),
                     ERR_OK);
    while (trainer_ask(&one) == TRAINER_ASKS)
        (void)answer(&one);
    while (trainer_ask(&two) == TRAINER_ASKS)
        (void)answer(&two);
    assert_memory_equal(trainer_weights(&one), trainer_weights(&two),
                        DIMS * sizeof(double));
    mem_free(file);
    trainer_close(&one);
    trainer_close(&two);
    actions_close(&actions);
}

/* Recorded: whoever changes what is saved raises the format of folders
 * (node/host/format.h), and only then what is here. */
static void test_states_are_of_the_format(void **state)
{
    static const struct {
        enum optim_kind kind;
        size_t bytes;
    } saved[] = {
        {OPTIM_GD, 282},       {OPTIM_AGD, 298},   {OPTIM_MOMENTUM, 298},
        {OPTIM_ADAM, 314},     {OPTIM_LBFGS, 634}, {OPTIM_NEWTON, 346},
        {OPTIM_NESTEROV, 298}, {OPTIM_ADAMW, 314},
    };

    (void)state;
    for (size_t i = 0; i < sizeof saved / sizeof *saved; i++) {
        const struct trainer_options options = options_of(saved[i].kind);
        struct trainer trainer;

        assert_int_equal(trainer_init(&trainer, &options), ERR_OK);
        assert_int_equal(trainer_state_bytes(&trainer), saved[i].bytes);
        trainer_close(&trainer);
    }
}

/* --- held-out rows that come and go --------------------------------------- */

enum { PASS = 2, RECORDS = 16 };

/* All that runs of one folder have journaled. */
struct paper {
    uint8_t bytes[RECORDS * RECORD_BYTES];
    size_t size;
    struct actions actions;
};

static void keep(struct paper *paper, struct trainer *trainer)
{
    for (uint32_t i = 0; i < paper->actions.count; i++) {
        const struct action *action = &paper->actions.list[i];

        assert_true(paper->size + action->size <= sizeof paper->bytes);
        memcpy(paper->bytes + paper->size, action->bytes, action->size);
        paper->size += action->size;
    }
    paper->actions.count = 0;
    trainer_turn(trainer);
}

static struct recovery read_paper(struct paper *paper)
{
    struct recovery recovery = {.found = true, .journal_bytes = paper->bytes};

    assert_int_equal(
        journal_scan(paper->bytes, paper->size, NULL, NULL, &recovery.journal),
        ERR_OK);
    assert_int_equal(recovery.journal.valid_bytes, paper->size);
    return recovery;
}

/* From the start to `last`, then it dies: no checkpoint.  A loss of 0: nothing
 * is held out. */
static enum receipt_fate live(struct paper *paper, uint32_t last,
                              uint32_t patience, double loss)
{
    struct trainer_options options = options_of(OPTIM_GD);
    enum receipt_fate fate = RECEIPT_WRITTEN;
    struct trainer trainer;
    struct why why = {{0}};

    options.optim.sampler = sampler_of(SAMPLER_ROWS, 8, 2, 8 / PASS, 1);
    options.optim.held_out = loss != 0;
    options.optim.patience = patience;
    assert_int_equal(trainer_init(&trainer, &options), ERR_OK);
    if (paper->size == 0) {
        const struct record job = {.kind = RECORD_JOB};

        trainer_journal(&trainer, &job, true, &paper->actions);
        keep(paper, &trainer);
    } else {
        const struct recovery recovery = read_paper(paper);

        assert_int_equal(trainer_resume(&trainer, &recovery,
                                        &recovery.journal.config, true, &why),
                         ERR_OK);
    }
    for (uint32_t step = 1; step <= last; step++) {
        struct record record = {.kind = RECORD_STEP, .step = step};

        assert_int_equal(trainer_ask(&trainer), TRAINER_ASKS);
        assert_int_equal(answer(&trainer), TRAINER_STEPPED);
        (void)trainer_commit(&trainer, &record, true, false, &paper->actions);
        keep(paper, &trainer);
        assert_true(trainer_due(&trainer) == (loss != 0 && step % PASS == 0));
        if (!trainer_due(&trainer))
            continue;
        trainer_measured(&trainer, loss / step);
        fate = trainer_commit_pass(&trainer, 0, 0, false, &paper->actions);
        keep(paper, &trainer);
    }
    trainer_close(&trainer);
    return fate;
}

/* JOUR-4: passes that the journal has gone beyond stay unsaid; the one that it
 * ends with and those after it do not. */
static void test_held_out_rows_come_and_go(void **state)
{
    struct paper paper = {.size = 0};

    (void)state;
    assert_int_equal(actions_init(&paper.actions, 4), ERR_OK);
    (void)live(&paper, 3, 0, 0);
    assert_int_equal(read_paper(&paper).journal.step, 3);
    (void)live(&paper, 3, 0, 1); /* Pass 1 again, looked at this time. */
    assert_int_equal(read_paper(&paper).journal.pass_step, 0);
    (void)live(&paper, 4, 0, 0);
    (void)live(&paper, 5, 0, 1); /* Pass 2 is where the journal ends. */
    assert_int_equal(read_paper(&paper).journal.pass_step, 4);
    (void)live(&paper, 5, 0, 2); /* Other rows: nothing was promised. */
    assert_int_equal(read_paper(&paper).journal.step, 5);
    actions_close(&paper.actions);
}

/* Where passes decide, what they said is a promise. */
static void test_passes_are_measured_to_the_same_loss(void **state)
{
    struct paper paper = {.size = 0};

    (void)state;
    assert_int_equal(actions_init(&paper.actions, 4), ERR_OK);
    (void)live(&paper, 3, 9, 1);
    assert_int_equal(live(&paper, 3, 9, 1), RECEIPT_WRITTEN);
    assert_int_equal(live(&paper, 3, 9, 1 + 1e-15), RECEIPT_CONTRADICTS);
    actions_close(&paper.actions);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_it_asks_until_it_is_done),
        cmocka_unit_test(test_a_step_is_its_least_exact_round),
        cmocka_unit_test(test_it_diverges),
        cmocka_unit_test(test_what_fits_no_scale),
        cmocka_unit_test(test_refusals_are_no_fault_of_a_proved_scale),
        cmocka_unit_test(test_late_receipts),
        cmocka_unit_test(test_several_late_receipts),
        cmocka_unit_test(test_state_comes_back),
        cmocka_unit_test(test_states_are_of_the_format),
        cmocka_unit_test(test_held_out_rows_come_and_go),
        cmocka_unit_test(test_passes_are_measured_to_the_same_loss),
    };

    return cmocka_run_group_tests_name("trainer", tests, NULL, NULL);
}
