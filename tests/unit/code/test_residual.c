/*
 * What is left of a round is given out so that every piece is completed by
 * distinct blocks, nothing that was delivered is computed again by the same
 * block, and the end is near the earliest there is (O8), which an independent
 * flow solver says.
 */
#include "code/residual.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "base/rng.h"
#include "code/flow.h"

#define MEMBERS_MAX 40u
#define PIECES_MAX  512u

struct state {
    struct arc_member members[MEMBERS_MAX];
    struct blockset done[PIECES_MAX], doing[PIECES_MAX];
    struct residual_task task;
};

static struct residual residual;

static int set_up(void **state)
{
    (void)state;
    return residual_init(&residual, MEMBERS_MAX, PIECES_MAX) != ERR_OK;
}

static int tear_down(void **state)
{
    (void)state;
    residual_close(&residual);
    return 0;
}

static void begin(struct state *state, uint32_t count, uint32_t cover,
                  uint32_t pieces)
{
    assert_true(count <= MEMBERS_MAX && pieces <= PIECES_MAX);
    memset(state, 0, sizeof *state);
    for (uint32_t i = 0; i < count; i++)
        state->members[i] =
            (struct arc_member){.block = i, .ready = pieces, .speed = 1};
    state->task = (struct residual_task){
        .pieces = pieces,
        .cover = cover,
        .done = state->done,
        .doing = state->doing,
        .members = state->members,
        .count = count,
    };
}

static void remove_member(struct state *state, uint32_t i)
{
    state->members[i] = state->members[--state->task.count];
}

/* Everything that must hold of a plan; returns how many tasks it has. */
static uint32_t check(const struct residual_task *task)
{
    struct blockset had[PIECES_MAX];
    uint32_t cover[PIECES_MAX] = {0};
    uint32_t lacking = 0;
    double finish = 0;

    for (uint32_t p = 0; p < task->pieces; p++) {
        had[p] = task->done[p];
        blockset_unite(&had[p], &task->doing[p]);
    }
    for (uint32_t i = 0; i < task->count; i++) {
        const struct arc_member *member = &task->members[i];
        const uint32_t first = residual.first[i];
        const uint32_t end = residual.first[i + 1];

        for (uint32_t k = first; k < end; k++) {
            const uint32_t piece = residual.list[k];

            assert_true(piece < member->ready);
            assert_false(blockset_has(&had[piece], member->block));
            cover[piece]++;
            /* From `next` on and around: so none comes twice. */
            assert_true(
                k == first ||
                (piece + task->pieces - member->next) % task->pieces >
                    (residual.list[k - 1] + task->pieces - member->next) %
                        task->pieces);
        }
        if (end > first)
            finish =
                fmax(finish, member->free_s + (end - first) / member->speed);
    }
    for (uint32_t p = 0; p < task->pieces; p++) {
        const uint32_t have = blockset_count(&had[p]);
        const uint32_t need = have < task->cover ? task->cover - have : 0;
        uint32_t may = 0;

        for (uint32_t i = 0; i < task->count; i++)
            may += task->members[i].ready > p &&
                   !blockset_has(&had[p], task->members[i].block);
        assert_int_equal(cover[p], need < may ? need : may);
        if (need > may && need - may > lacking)
            lacking = need - may;
    }
    assert_int_equal(residual.lacking, lacking);
    assert_true(fabs(residual.finish_s - finish) <= 1e-9 * finish);
    return residual.first[task->count];
}

/* Tasks of pieces that all `count` have done up to `each` of their arcs; those
 * of the mask leave. */
static void play_arcs(struct state *state, uint32_t parts, uint32_t each,
                      uint32_t leave)
{
    const struct residual_task *task = &state->task;
    struct arc arcs[MEMBERS_MAX];

    assert_int_equal(arcs_lay(ARC_WRAP, state->members, task->count, parts,
                              task->pieces, arcs),
                     ERR_OK);
    for (uint32_t i = 0; i < task->count; i++) {
        const uint32_t block = state->members[i].block;
        const uint32_t done = each < arcs[i].count ? each : arcs[i].count;

        for (uint32_t k = 0; k < done; k++)
            blockset_add(&state->done[(arcs[i].begin + k) % task->pieces],
                         block);
        state->members[i].next = (arcs[i].begin + done) % task->pieces;
        /* It is at the next one; one that leaves takes that with it. */
        if (done < arcs[i].count && !(leave >> i & 1)) {
            blockset_add(&state->doing[state->members[i].next], block);
            state->members[i].free_s = .5 / state->members[i].speed;
        }
    }
    for (uint32_t i = task->count; i-- > 0;) {
        if (leave >> i & 1)
            remove_member(state, i);
    }
}

static void join(struct state *state, uint32_t block)
{
    state->members[state->task.count++] = (struct arc_member){
        .block = block, .ready = state->task.pieces, .speed = 1};
}

/* Every set of leavers at every moment, P <= 7; then with all free blocks
 * joining. */
static void test_exhaustive(void **unused)
{
    static const uint32_t cuts[] = {1, 3, 4, 7, 10};
    static struct state state;
    uint32_t plans = 0;

    (void)unused;
    for (uint32_t shape = 0; shape < 7 * 7 * 7 * 5; shape++) {
        const uint32_t blocks = shape % 7 + 1;
        const uint32_t n = shape / 7 % 7 + 1;
        const uint32_t parts = shape / 49 % 7 + 1;
        const uint32_t pieces = cuts[shape / 343];

        if (n > blocks || parts > n)
            continue;
        for (uint32_t leave = 0; leave < 1u << n; leave++) {
            for (uint32_t each = 0; each <= pieces; each++) {
                const uint32_t stay = n - (uint32_t)__builtin_popcount(leave);

                begin(&state, n, parts, pieces);
                play_arcs(&state, parts, each, leave);
                assert_int_equal(state.task.count, stay);
                residual_plan(&residual, &state.task);
                (void)check(&state.task);
                assert_true(stay < parts || residual.lacking == 0);
                assert_true(stay >= parts || each > 0 ||
                            residual.lacking == parts - stay);
                for (uint32_t block = n; block < blocks; block++)
                    join(&state, block);
                residual_plan(&residual, &state.task);
                (void)check(&state.task);
                plans += 2;
            }
        }
    }
    assert_true(plans > 20000);
}

/* Without an event: L G tasks from nothing. */
static void test_whole_round(void **unused)
{
    static struct state state;

    (void)unused;
    for (uint32_t n = 1; n <= 20; n++) {
        for (uint32_t parts = 1; parts <= n; parts++) {
            begin(&state, n, parts, 64);
            residual_plan(&residual, &state.task);
            assert_int_equal(check(&state.task), parts * 64);
            assert_int_equal(residual.finish_s, (parts * 64 + n - 1) / n);
        }
    }
}

static void random_members(struct rng *rng, struct state *state)
{
    for (uint32_t i = 0; i < state->task.count; i++) {
        struct arc_member *member = &state->members[i];

        member->speed = pow(4, rng_unit(rng));
        member->free_s = rng_chance(rng, .3) ? 3 * rng_unit(rng) : 0;
        member->next = (uint32_t)rng_below(rng, state->task.pieces);
        if (rng_chance(rng, .1))
            member->ready = (uint32_t)rng_below(rng, state->task.pieces + 1);
    }
}

/* Any state at all: answers in any pieces, also of blocks that are gone. */
static void test_any_state(void **unused)
{
    static struct state state;

    (void)unused;
    for (uint64_t seed = 0; seed < 2000; seed++) {
        struct rng rng;

        rng_init(&rng, seed);
        begin(&state, (uint32_t)rng_between(&rng, 1, 30),
              (uint32_t)rng_between(&rng, 1, 12),
              (uint32_t)rng_between(&rng, 1, 100));
        random_members(&rng, &state);
        for (uint32_t p = 0; p < state.task.pieces; p++) {
            while (rng_chance(&rng, .6))
                blockset_add(rng_chance(&rng, .8) ? &state.done[p]
                                                  : &state.doing[p],
                             (uint32_t)rng_below(&rng, 35));
        }
        residual_plan(&residual, &state.task);
        (void)check(&state.task);
    }
}

/* How far plans end after what flows say. */
struct over {
    double worst;      /* Of whole pieces. */
    double worst_long; /* Of pieces cut at will, where a member has 20 to do. */
    double sum;
    uint32_t count;
};

static void compare(const struct state *state, struct over *over)
{
    const double flow = flow_finish(&state->task, false);
    double whole;

    residual_plan(&residual, &state->task);
    (void)check(&state->task);
    assert_int_equal(residual.lacking == 0, isfinite(flow));
    if (!isfinite(flow) || residual.finish_s == 0)
        return;
    whole = flow_finish(&state->task, true);
    assert_true(residual.bound_s <= flow * (1 + 1e-3));
    assert_true(residual.finish_s >= whole * (1 - 1e-3));
    over->worst = fmax(over->worst, residual.finish_s / whole);
    if (flow >= 20) /* The slowest do a piece in 1. */
        over->worst_long = fmax(over->worst_long, residual.finish_s / flow);
    over->sum += residual.finish_s / flow;
    over->count++;
}

static void assert_near(const struct over *over)
{
    print_message("over flow: mean %.3f; worst %.3f, long ones %.3f (%u)\n",
                  over->sum / over->count, over->worst, over->worst_long,
                  over->count);
    assert_true(over->worst <= 1.1);
    assert_true(over->worst_long <= 1.1);
    assert_true(over->sum / over->count <= 1.03);
}

/* Events of a round: some leave and some join when a share of it is done. */
static void test_near_flow(void **unused)
{
    static struct state state;
    struct over over = {0};

    (void)unused;
    for (uint64_t seed = 0; seed < 300; seed++) {
        struct rng rng;

        rng_init(&rng, seed);
        const uint32_t n = (uint32_t)rng_between(&rng, 4, 20);
        const uint32_t parts = (uint32_t)rng_between(&rng, 2, n - 1);
        const uint32_t pieces = (uint32_t)rng_between(&rng, 64, 160);
        const uint32_t left = (uint32_t)rng_between(&rng, 0, n - parts);

        begin(&state, n, parts, pieces);
        for (uint32_t i = 0; i < n; i++)
            state.members[i].speed = seed % 2 ? 1 : pow(3, rng_unit(&rng));
        play_arcs(&state, parts,
                  (uint32_t)rng_below(&rng, pieces * parts / n * 3 / 4 + 1),
                  (1u << left) - 1);
        if (rng_chance(&rng, .5))
            join(&state, n);
        if (rng_chance(&rng, .3))
            join(&state, n + 1);
        compare(&state, &over);
    }
    assert_near(&over);
}

/* Sets that no round would leave: what the choice of one class costs others
 * matters most here. */
static void test_near_flow_anyhow(void **unused)
{
    static struct state state;
    struct over over = {0};

    (void)unused;
    for (uint64_t seed = 0; seed < 300; seed++) {
        struct rng rng;

        rng_init(&rng, seed);
        const uint32_t n = (uint32_t)rng_between(&rng, 3, 16);
        const uint32_t cover = (uint32_t)rng_between(&rng, 2, n);
        const double share = rng_unit(&rng);
        const double lean = rng_unit(&rng);

        begin(&state, n, cover, (uint32_t)rng_between(&rng, 64, 128));
        random_members(&rng, &state);
        for (uint32_t p = 0; p < state.task.pieces; p++) {
            for (uint32_t k = 0; k < cover; k++) {
                if (rng_chance(&rng, share))
                    blockset_add(&state.done[p],
                                 rng_chance(&rng, lean)
                                     ? (uint32_t)rng_below(&rng, n)
                                     : (uint32_t)rng_below(&rng, n / 2 + 1));
            }
        }
        compare(&state, &over);
    }
    assert_near(&over);
}

/* Every member up to time `at` of the round; the leaver goes with what it is
 * at.  Returns when the last of what is being done ends. */
static double play_until(struct state *state, const struct arc *arcs, double at,
                         uint32_t leaver)
{
    const struct residual_task *task = &state->task;
    double rest = 0;

    for (uint32_t i = 0; i < task->count; i++) {
        struct arc_member *member = &state->members[i];
        const double did = fmin(at * member->speed, arcs[i].count);
        const uint32_t done = (uint32_t)did;

        for (uint32_t k = 0; k < done; k++)
            blockset_add(&state->done[(arcs[i].begin + k) % task->pieces],
                         member->block);
        member->next = (arcs[i].begin + done) % task->pieces;
        if (done == arcs[i].count || i == leaver)
            continue;
        blockset_add(&state->doing[member->next], member->block);
        member->free_s = (done + 1 - did) / member->speed;
        rest = fmax(rest, member->free_s);
    }
    if (leaver < task->count)
        remove_member(state, leaver);
    return rest;
}

/* How long a round is in which one leaves, or one joins, over one in which
 * nothing happens. */
static double disturbed(uint32_t n, uint32_t parts, bool joins, struct rng *rng,
                        bool even)
{
    static struct state state;
    struct arc arcs[MEMBERS_MAX];
    double whole, at, rest;

    begin(&state, n, parts, 64);
    for (uint32_t i = 0; i < n; i++)
        state.members[i].speed = even ? 1 : 1 + rng_unit(rng);
    assert_int_equal(arcs_lay(ARC_WRAP, state.members, n, parts, 64, arcs),
                     ERR_OK);
    whole = flow_arcs(state.members, arcs, n);
    at = rng_unit(rng) * whole;
    rest = play_until(&state, arcs, at,
                      joins ? UINT32_MAX : (uint32_t)rng_below(rng, n));
    if (joins)
        join(&state, n);
    residual_plan(&residual, &state.task);
    (void)check(&state.task);
    return (at + fmax(rest, residual.finish_s)) / whole;
}

/* The table of handbook 5.6: one leaves or joins at a time drawn uniformly. */
static void test_leave_and_join(void **unused)
{
    static const uint32_t shapes[][2] = {{10, 5}, {20, 10}, {20, 15}, {8, 6}};

    (void)unused;
    for (uint32_t k = 0; k < sizeof shapes / sizeof *shapes; k++) {
        double leave = 0;
        double joined = 0;
        struct rng rng;

        rng_init(&rng, k);
        for (uint32_t i = 0; i < 400; i++) {
            leave += disturbed(shapes[k][0], shapes[k][1], false, &rng, i % 2);
            joined += disturbed(shapes[k][0], shapes[k][1], true, &rng, i % 2);
        }
        print_message("N %2u L %2u: leave %.3f, join %.3f\n", shapes[k][0],
                      shapes[k][1], leave / 400, joined / 400);
        assert_true(leave / 400 <= 1.10);
        assert_true(joined / 400 <= 1.01);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_exhaustive),
        cmocka_unit_test(test_whole_round),
        cmocka_unit_test(test_any_state),
        cmocka_unit_test(test_near_flow),
        cmocka_unit_test(test_near_flow_anyhow),
        cmocka_unit_test(test_leave_and_join),
    };

    return cmocka_run_group_tests(tests, set_up, tear_down);
}
