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
    return (struct trainer_options){
        .optim = optim,
        .scale = &any_scale,
        .dims = DIMS,
        .vectors = 1,
        .length = DIMS,
        .kept = true,
        .ledger = {.checkpoint_steps = 100, .checkpoint_us = TIME_NEVER}};
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
static void test_a_receipt_after_the_round(void **state)
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
    assert_int_equal(actions.count, 0);
    trainer_write_receipt(&trainer, &actions);
    assert_int_equal(actions.count, 1);
    hash = hash_f64(trainer_weights(&trainer), DIMS);
    assert_true(digest_equal(&trainer.ledger.receipt.weights, &hash));
    assert_true(ledger_waits(&trainer.ledger));
    trainer_write_receipt(&trainer, &actions); /* Once. */
    assert_int_equal(actions.count, 1);
    trainer_check(&trainer);
    /* At once where it must be durable. */
    assert_int_equal(answer(&trainer), TRAINER_STEPPED);
    record.step = 2;
    assert_int_equal(trainer_commit(&trainer, &record, true, true, &actions),
                     RECEIPT_WAITS);
    trainer_close(&trainer);
    actions_close(&actions);
}

/* --- many weights --------------------------------------------------------- */

static enum err same_exponents(struct scale *self,
                               const struct evaluation *what, int16_t *exponent)
{
    (void)self;
    (void)what;
    exponent[0] = 0; /* As all of them were made. */
    return ERR_OK;
}

static struct trainer_options options_of_many(uint32_t dims)
{
    static const struct scale_ops ops = {.exponents = same_exponents};
    static struct scale scale = {.ops = &ops};
    struct trainer_options options = options_of(OPTIM_GD);

    options.scale = &scale;
    options.dims = options.length = dims;
    return options;
}

/* One step, by a gradient that no other coordinate has; `odd` one is another by
 * the last bit. */
static void step_many(struct trainer *trainer, uint32_t odd)
{
    const uint32_t dims = trainer->options.dims;
    double *sums = mem_new(dims, sizeof *sums);
    const struct total total = {.sums = sums, .rescale = 1};

    assert_non_null(sums);
    for (uint32_t j = 0; j < dims; j++)
        sums[j] = trainer->what.w[j] + j + 1;
    if (odd < dims)
        sums[odd] = nextafter(sums[odd], HUGE_VAL);
    assert_int_equal(trainer_feed(trainer, &total), TRAINER_STEPPED);
    mem_free(sums);
}

/* What the receipt of one step has, of a run that is kept or not. */
static struct digest receipt_of(uint32_t dims, bool kept, uint32_t odd)
{
    struct trainer_options options = options_of_many(dims);
    struct trainer trainer;
    struct digest digest;

    options.kept = kept;
    assert_int_equal(trainer_init(&trainer, &options), ERR_OK);
    assert_int_equal(trainer_ask(&trainer), TRAINER_ASKS);
    step_many(&trainer, odd);
    digest = trainer_hash(&trainer);
    if (dims < RECEIPT_NAMED) {
        const struct digest hash = hash_f64(trainer_weights(&trainer), dims);

        assert_true(digest_equal(&digest, &hash));
    }
    trainer_close(&trainer);
    return digest;
}

/* A name in the place of the SHA-256: not zero, which means that a receipt was
 * lost; the same whoever makes it, as the weights are stepped or afterwards;
 * and another if one bit of one weight is. */
static void test_many_weights_have_a_name(void **state)
{
    static const uint32_t sizes[] = {RECEIPT_NAMED, 3 * RECEIPT_NAMED + 8};

    (void)state;
    (void)receipt_of(RECEIPT_NAMED - 1, true, UINT32_MAX);
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        const struct digest name = receipt_of(sizes[i], true, UINT32_MAX);
        const struct digest alone = receipt_of(sizes[i], false, UINT32_MAX);

        assert_true(digest_equal(&name, &alone));
        assert_int_equal(name.bytes[DIGEST_BYTES - 1], 1);
        for (uint32_t j = 8; j + 1 < DIGEST_BYTES; j++)
            assert_int_equal(name.bytes[j], 0);
        for (uint32_t odd = 0; odd < sizes[i]; odd += 1021) {
            const struct digest other = receipt_of(sizes[i], true, odd);

            assert_false(digest_equal(&name, &other));
        }
    }
}

/* INV-5: a step that is computed again is compared by it. */
static void test_a_name_is_a_promise(void **state)
{
    static uint8_t journal[2 * RECORD_BYTES];
    const struct trainer_options options = options_of_many(RECEIPT_NAMED);
    struct record job = {.kind = RECORD_JOB, .job = 3};
    struct record step = {.kind = RECORD_STEP, .job = 3, .step = 1};
    struct recovery recovery = {.found = true, .journal_bytes = journal};
    struct digest chain = {{0}};
    struct actions actions;

    (void)state;
    step.weights = receipt_of(RECEIPT_NAMED, true, UINT32_MAX);
    record_encode(&job, &chain, journal);
    record_encode(&step, &chain, journal + RECORD_BYTES);
    assert_int_equal(
        journal_scan(journal, sizeof journal, NULL, NULL, &recovery.journal),
        ERR_OK);
    assert_int_equal(actions_init(&actions, 4), ERR_OK);
    for (uint32_t odd = 0; odd < 2; odd++) {
        struct record again = {.kind = RECORD_STEP, .job = 3, .step = 1};
        struct trainer trainer;
        struct why why = {{0}};

        assert_int_equal(trainer_init(&trainer, &options), ERR_OK);
        assert_int_equal(
            trainer_resume(&trainer, &recovery, &job.weights, true, &why),
            ERR_OK);
        assert_int_equal(trainer_ask(&trainer), TRAINER_ASKS);
        step_many(&trainer, odd == 1 ? 5 : UINT32_MAX);
        assert_int_equal(
            trainer_commit(&trainer, &again, false, true, &actions),
            odd == 1 ? RECEIPT_CONTRADICTS : RECEIPT_WRITTEN);
        assert_int_equal(actions.count, 0);
        trainer_close(&trainer);
    }
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
        cmocka_unit_test(test_a_receipt_after_the_round),
        cmocka_unit_test(test_many_weights_have_a_name),
        cmocka_unit_test(test_a_name_is_a_promise),
        cmocka_unit_test(test_state_comes_back),
        cmocka_unit_test(test_states_are_of_the_format),
        cmocka_unit_test(test_held_out_rows_come_and_go),
        cmocka_unit_test(test_passes_are_measured_to_the_same_loss),
    };

    return cmocka_run_group_tests_name("trainer", tests, NULL, NULL);
}
