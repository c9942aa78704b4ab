/*
 * Rings whose peers step the model for each other (core/ring/share.h), in
 * virtual time: undisturbed, with every fault before every event, with some
 * that are elsewhere or have nothing to lend, and with memory that changes.
 */
#include "sim/ring.h"

#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/bugs.h"
#include "base/rng.h"
#include "sim/sim_case.h"

#define COLS  4200u /* Four slices of whole blocks, and some behind them. */
#define STEPS 5u

/* As narrow rings, but wide: a row for each chunk. */
static void share_case(struct sim_case *test, struct ring_options *ring,
                       uint32_t peers, uint32_t rows)
{
    struct dataset wide = {0};

    sim_case_init(test, "uncoded", peers, 0);
    dataset_close(&test->data);
    assert_int_equal(dataset_init(&wide, rows, COLS, 1), ERR_OK);
    for (uint32_t i = 0; i < rows; i++) {
        float *const row = dataset_row(&wide, i);

        wide.y[i] = i % 2 == 0 ? 1 : -1;
        for (uint32_t j = 0; j < COLS; j++)
            row[j] = (float)(rng_unit_at(9, i, j) - 0.5);
    }
    wide.classes = 2;
    chunkset_fill(&wide.present);
    test->data = wide;
    test->options.optim.rows = rows;
    test->options.optim.steps = STEPS;
    test->options.optim.rate = 0.01;
    test->options.optim.l2 = 0.01;
    test->options.beat_us = 20 * MS_US;
    test->options.dead_us = 100 * MS_US;
    test->options.jitter_us = 50;
    test->options.chunk_us = 100;
    test->options.checkpoint_steps = 2;
    *ring = (struct ring_options){.run = &test->options,
                                  .peers = peers,
                                  .peers_max = peers,
                                  .least = peers,
                                  .segment = 8192,
                                  .state_segment = 65536,
                                  .machines = 1,
                                  .kept = true};
}

static void with(struct sim_case *test, enum optim_kind kind)
{
    const struct optim_options usual = optim_defaults(kind);
    struct optim_options *const optim = &test->options.optim;

    optim->kind = kind;
    optim->momentum = usual.momentum;
    optim->beta1 = usual.beta1;
    optim->beta2 = usual.beta2;
    optim->epsilon = usual.epsilon;
}

static bool goes_well(const struct ring_options *ring,
                      struct ring_result *counted, struct sim_result *result)
{
    struct why why = {{0}};

    assert_int_equal(ring_run(ring, result, counted, &why), ERR_OK);
    return !result->violated;
}

static void passes(const struct ring_options *ring, struct ring_result *counted,
                   struct sim_result *result)
{
    if (goes_well(ring, counted, result))
        return;
    if (ring->script_count > 0)
        print_message("fault %d at event %" PRIu64 " node %u\n",
                      (int)ring->script->kind, ring->script->event,
                      ring->script->node);
    fail_msg("%s", result->violation);
}

static void test_undisturbed(void **state)
{
    static const enum optim_kind kinds[] = {OPTIM_GD, OPTIM_AGD, OPTIM_MOMENTUM,
                                            OPTIM_ADAM, OPTIM_ADAMW};

    (void)state;
    for (uint32_t peers = 2; peers <= 4; peers++)
        for (uint32_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
            struct sim_case test;
            struct ring_options ring;
            struct ring_result counted;
            struct sim_result result;

            share_case(&test, &ring, peers, peers);
            with(&test, kinds[i]);
            passes(&ring, &counted, &result);
            assert_int_equal(counted.finished, peers);
            assert_int_equal(counted.doubts, 0);
            assert_int_equal(counted.stepped, STEPS * peers * (peers - 1));
            sim_case_close(&test);
        }
}

/* Steps that end by the whole gradient, or slices that are too short. */
static void test_not_shared(void **state)
{
    struct sim_case test;
    struct ring_options ring;
    struct ring_result counted;
    struct sim_result result;

    (void)state;
    share_case(&test, &ring, 3, 3);
    test.options.optim.clip = 0.01;
    passes(&ring, &counted, &result);
    assert_int_equal(counted.finished, 3);
    assert_int_equal(counted.stepped, 0);
    test.options.optim.clip = 0;
    ring.segment = 64; /* A slice is many. */
    passes(&ring, &counted, &result);
    assert_int_equal(counted.finished, 3);
    assert_int_equal(counted.stepped, 0);
    sim_case_close(&test);
    share_case(&test, &ring, 5, 5);
    passes(&ring, &counted, &result);
    assert_int_equal(counted.finished, 5);
    assert_int_equal(counted.stepped, 0);
    sim_case_close(&test);
}

/* One is elsewhere: all are sent sums.  One has no chunks, and so lends
 * nothing: it steps its slice, the others lend sums of theirs. */
static void test_mixed(void **state)
{
    struct sim_case test;
    struct ring_options ring;
    struct ring_result counted;
    struct sim_result result;

    (void)state;
    share_case(&test, &ring, 3, 3);
    ring.machines = 2;
    passes(&ring, &counted, &result);
    assert_int_equal(counted.finished, 3);
    assert_int_equal(counted.stepped, 0);
    assert_true(counted.lent > 0);
    sim_case_close(&test);
    share_case(&test, &ring, 3, 2);
    with(&test, OPTIM_MOMENTUM);
    passes(&ring, &counted, &result);
    assert_int_equal(counted.finished, 3);
    assert_int_equal(counted.stepped, STEPS * 2);
    sim_case_close(&test);
}

/* --- every protocol point ------------------------------------------------- */

static uint32_t faults_of(uint32_t peers, struct ring_fault *list)
{
    uint32_t count = 0;

    for (uint32_t i = 0; i < peers; i++) {
        list[count++] = (struct ring_fault){.kind = RING_KILL, .node = i};
        list[count++] = (struct ring_fault){.kind = RING_UNPLUG, .node = i};
        list[count++] = (struct ring_fault){.kind = RING_LEAVE, .node = i};
        list[count++] = (struct ring_fault){
            .kind = RING_STOP, .node = i, .for_us = 30 * MS_US};
        list[count++] = (struct ring_fault){
            .kind = RING_STOP, .node = i, .for_us = 300 * MS_US};
        list[count++] = (struct ring_fault){
            .kind = RING_RESET, .node = i, .other = (i + 1) % peers};
        list[count++] = (struct ring_fault){.kind = RING_CUT, .side = 1u << i};
    }
    return count;
}

/* Before every event of a run.  False: something broke, or somebody's state was
 * not what it should be. */
static bool everywhere(uint32_t peers, struct ring_fault fault)
{
    struct sim_case test;
    struct ring_options ring;
    struct ring_result counted;
    struct sim_result result;
    bool well = true;
    uint64_t to;

    share_case(&test, &ring, peers, peers);
    with(&test, OPTIM_MOMENTUM);
    passes(&ring, &counted, &result);
    to = result.events;
    fault.event = counted.first_round;
    ring.script = &fault;
    ring.script_count = 1;
    for (; fault.event < to && well; fault.event++)
        well = goes_well(&ring, &counted, &result) && counted.finished > 0 &&
               counted.doubts == 0;
    if (!well)
        print_message("fault %d of node %u of %u at event %" PRIu64 ": %s\n",
                      (int)fault.kind, fault.node, peers, fault.event - 1,
                      result.violation);
    sim_case_close(&test);
    return well;
}

static void test_every_point(void **state)
{
    (void)state;
    for (uint32_t peers = 2; peers <= 3; peers++) {
        struct ring_fault list[32];
        const uint32_t count = faults_of(peers, list);

        for (uint32_t i = 0; i < count; i++)
            assert_true(everywhere(peers, list[i]));
    }
}

/* --- disks ---------------------------------------------------------------- */

#define LONGER 24u

static void saving_case(struct sim_case *test, struct ring_options *ring)
{
    share_case(test, ring, 4, 4);
    with(test, OPTIM_MOMENTUM);
    test->options.optim.steps = LONGER;
    test->options.chunk_us = 20000; /* A checkpoint is written within a step. */
}

/* One of four at a time, and all in the end, and yet some disk is as near as if
 * all saved; peers of two machines all do. */
static void test_saved_in_turn(void **state)
{
    struct sim_case test;
    struct ring_options ring;
    struct ring_result turns, all;
    struct sim_result result;

    (void)state;
    saving_case(&test, &ring);
    passes(&ring, &turns, &result);
    ring.machines = 2;
    passes(&ring, &all, &result);
    assert_int_equal(turns.finished, 4);
    assert_int_equal(all.finished, 4);
    assert_in_range(turns.saves, LONGER / 2, LONGER / 2 + 4);
    assert_in_range(all.saves, 4 * (LONGER / 2 - 1), 4 * (LONGER / 2));
    assert_int_equal(turns.unsaved_max, all.unsaved_max);
    sim_case_close(&test);
}

/* Nobody is left, wherever they are: from their disks they go on, and no
 * further back than if each had saved; whose turn it was may be dead. */
static void test_all_killed(void **state)
{
    struct sim_case test;
    struct ring_options ring;
    struct ring_result counted;
    struct sim_result result;
    struct ring_fault script[5];
    uint64_t to;

    (void)state;
    saving_case(&test, &ring);
    passes(&ring, &counted, &result);
    to = result.events;
    for (uint64_t event = counted.first_round; event < to; event += 17) {
        script[0] = (struct ring_fault){
            .kind = RING_KILL, .event = event / 2, .node = event % 4};
        for (uint32_t i = 0; i < 4; i++)
            script[1 + i] = (struct ring_fault){
                .kind = RING_KILL, .event = event, .node = i};
        ring.script = event % 2 == 0 ? script : script + 1;
        ring.script_count = event % 2 == 0 ? 5 : 4;
        passes(&ring, &counted, &result);
        assert_true(counted.finished > 0);
        assert_true(counted.unsaved_max <= 3);
    }
    sim_case_close(&test);
}

/* --- memory that changes -------------------------------------------------- */

/* The momentum of who steps coordinate 0 for others, before it has or after: if
 * before it lends sums instead, all step them, and it is known whose was wrong;
 * else that momentum is not needed any more. */
static bool memory_changes(uint32_t *noticed)
{
    bool well = true;

    *noticed = 0;
    for (uint64_t after = 0; after < 90 && well; after += 3) {
        struct ring_fault script[1] = {{.kind = RING_FLIP, .node = 0}};
        struct sim_case test;
        struct ring_options ring;
        struct ring_result counted;
        struct sim_result result;

        share_case(&test, &ring, 3, 3);
        with(&test, OPTIM_MOMENTUM);
        test.options.optim.steps = 12;
        passes(&ring, &counted, &result);
        script[0].event = counted.first_round + after + 1;
        ring.script = script;
        ring.script_count = 1;
        well = goes_well(&ring, &counted, &result) && counted.finished == 3 &&
               (counted.doubts == 0 ||
                (counted.doubts == 3 && counted.named >= 1));
        *noticed += counted.doubts > 0;
        if (!well)
            print_message("after %u: %u doubts, %u named: %s\n",
                          (unsigned)after, (unsigned)counted.doubts,
                          counted.named, result.violation);
        sim_case_close(&test);
    }
    return well;
}

static void test_memory_changes(void **state)
{
    uint32_t noticed;

    (void)state;
    assert_true(memory_changes(&noticed));
    assert_in_range(noticed, 10, 29);
}

#ifdef MUSTER_PLANTED_BUGS
/* Who is stopped for so long that the others go on finds steps written over. */
static bool stopped(void)
{
    for (uint32_t i = 0; i < 3; i++)
        if (!everywhere(3, (struct ring_fault){.kind = RING_STOP,
                                               .node = i,
                                               .for_us = 300 * MS_US}))
            return false;
    return true;
}

static void test_planted(void **state)
{
    uint32_t noticed;

    (void)state;
    planted_bug = BUG_RING_UNSEALED;
    assert_false(stopped());
    planted_bug = BUG_RING_IN_PLACE;
    assert_false(stopped());
    planted_bug = BUG_RING_UNSURE;
    assert_false(memory_changes(&noticed));
    planted_bug = BUG_NONE;
}
#else
static void test_planted(void **state)
{
    (void)state;
    skip();
}
#endif

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_undisturbed),
        cmocka_unit_test(test_not_shared),
        cmocka_unit_test(test_mixed),
        cmocka_unit_test(test_every_point),
        cmocka_unit_test(test_saved_in_turn),
        cmocka_unit_test(test_all_killed),
        cmocka_unit_test(test_memory_changes),
        cmocka_unit_test(test_planted),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
