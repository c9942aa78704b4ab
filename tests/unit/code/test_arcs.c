/*
 * Every piece is done by exactly L members, by as many tasks as without coding,
 * whatever their number and speeds; and nobody can do better.
 */
#include "code/arcs.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "base/rng.h"
#include "code/erasure.h"
#include "code/flow.h"

#define MEMBERS_MAX 24u

/* Speeds: all the same, up to threefold, up to a thousandfold. */
enum paces { PACES_SAME, PACES_NEAR, PACES_FAR, PACES };

static void set_members(struct arc_member *members, uint32_t count,
                        uint32_t pieces, enum paces paces, uint64_t seed)
{
    for (uint32_t i = 0; i < count; i++) {
        const double u = rng_unit_at(seed, i, count);

        members[i] = (struct arc_member){
            .block = count - 1 - i,
            .ready = pieces,
            .speed = paces == PACES_SAME   ? 7
                     : paces == PACES_NEAR ? 1 + 2 * u
                                           : pow(10, 3 * u - 2),
        };
    }
}

/* I1 and I2. */
static void assert_covered(const struct arc_member *members,
                           const struct arc *arcs, uint32_t count,
                           uint32_t parts, uint32_t pieces)
{
    uint32_t cover[1024] = {0};
    uint32_t tasks = 0;

    for (uint32_t i = 0; i < count; i++) {
        assert_true(arcs[i].begin < pieces);
        assert_true(arcs[i].count <= pieces);
        tasks += arcs[i].count;
        for (uint32_t k = 0; k < arcs[i].count; k++) {
            const uint32_t piece = (arcs[i].begin + k) % pieces;

            assert_true(piece < members[i].ready);
            assert_true(arc_has(arcs[i], pieces, piece));
            cover[piece]++;
        }
    }
    assert_int_equal(tasks, parts * pieces);
    for (uint32_t piece = 0; piece < pieces; piece++) {
        struct blockset set;

        assert_int_equal(cover[piece], parts);
        arcs_set(members, arcs, count, pieces, piece, &set);
        assert_int_equal(blockset_count(&set), parts);
    }
}

/* By halving: members do `parts` circles together and none more than its own.
 */
static double least_time(const struct arc_member *members, uint32_t count,
                         uint32_t parts, uint32_t pieces)
{
    double low = 0;
    double high = 1e9;

    for (int i = 0; i < 200; i++) {
        const double middle = (low + high) / 2;
        double sum = 0;

        for (uint32_t k = 0; k < count; k++)
            sum += fmin(members[k].ready, middle * members[k].speed);
        *(sum >= (double)parts * pieces ? &high : &low) = middle;
    }
    return high;
}

/* Everyone does what it could by then, but for rounding. */
static void assert_best(const struct arc_member *members,
                        const struct arc *arcs, uint32_t count, uint32_t parts,
                        uint32_t pieces)
{
    const double tau = least_time(members, count, parts, pieces);

    for (uint32_t i = 0; i < count; i++) {
        const double ideal = fmin(members[i].ready, tau * members[i].speed);

        assert_true(fabs(arcs[i].count - ideal) <= 1 + 1e-6 * pieces);
    }
    assert_true(flow_arcs(members, arcs, count) >= tau * (1 - 1e-6));
}

static const uint32_t cuts[] = {1, 2, 3, 5, 7, 8, 13, 64, 65, 420};

static void check(enum arc_rule rule, uint32_t count, uint32_t parts,
                  uint32_t pieces, enum paces paces)
{
    struct arc_member members[MEMBERS_MAX];
    struct arc arcs[MEMBERS_MAX];

    set_members(members, count, pieces, paces, pieces * 31 + parts);
    assert_int_equal(arcs_lay(rule, members, count, parts, pieces, arcs),
                     ERR_OK);
    assert_covered(members, arcs, count, parts, pieces);
    if (rule == ARC_WRAP)
        assert_best(members, arcs, count, parts, pieces);
    /* I3 */
    for (uint32_t i = 0; i < count && paces == PACES_SAME; i++)
        assert_true(fabs(arcs[i].count - (double)parts * pieces / count) < 1);
}

static void test_every_piece_by_l(void **state)
{
    (void)state;
    for (uint32_t count = 1; count <= MEMBERS_MAX; count++) {
        for (uint32_t parts = 1; parts <= count; parts++) {
            for (uint32_t c = 0; c < sizeof cuts / sizeof *cuts; c++) {
                for (uint32_t paces = 0; paces < PACES; paces++) {
                    check(ARC_WRAP, count, parts, cuts[c], paces);
                    check(ARC_CYCLIC, count, parts, cuts[c], paces);
                }
            }
        }
    }
}

/* Arcs that meet between pieces, and at a half above all. */
static void test_rounded_ends(void **state)
{
    struct arc_member members[MEMBERS_MAX];
    struct arc arcs[MEMBERS_MAX];

    (void)state;
    for (uint32_t pieces = 1; pieces <= 100; pieces++) {
        for (uint32_t parts = 1; parts <= 12; parts++) {
            set_members(members, 2 * parts, pieces, PACES_SAME, 1);
            members[0].speed = 1e9; /* Does all. */
            members[1].speed = 1e-9;
            if (arcs_lay(ARC_WRAP, members, 2 * parts, parts, pieces, arcs) !=
                ERR_OK)
                fail();
            assert_covered(members, arcs, 2 * parts, parts, pieces);
            assert_int_equal(arcs[0].count, pieces);
        }
    }
}

static uint32_t count_sets(const struct arc_member *members,
                           const struct arc *arcs, uint32_t count,
                           uint32_t pieces)
{
    struct blockset sets[1024];
    uint32_t found = 0;

    for (uint32_t piece = 0; piece < pieces;
         piece = arcs_turn(arcs, count, pieces, piece)) {
        uint32_t k = 0;

        arcs_set(members, arcs, count, pieces, piece, &sets[found]);
        while (!blockset_equal(&sets[k], &sets[found]))
            k++;
        found += k == found;
    }
    return found;
}

static uint32_t gcd(uint32_t a, uint32_t b)
{
    return b == 0 ? a : gcd(b, a % b);
}

static void test_few_sets(void **state)
{
    struct arc_member members[MEMBERS_MAX];
    struct arc arcs[MEMBERS_MAX];

    (void)state;
    for (uint32_t n = 2; n <= 20; n++) {
        for (uint32_t parts = 1; parts < n; parts++) {
            set_members(members, n, 5 * n, PACES_SAME, 1);
            assert_int_equal(arcs_lay(ARC_WRAP, members, n, parts, 5 * n, arcs),
                             ERR_OK);
            assert_int_equal(count_sets(members, arcs, n, 5 * n),
                             n / gcd(n, parts));
            assert_int_equal(
                arcs_lay(ARC_CYCLIC, members, n, parts, 5 * n, arcs), ERR_OK);
            assert_int_equal(count_sets(members, arcs, n, 5 * n), n);
        }
    }
}

/* Turns are where sets change, and only there. */
static void test_turns(void **state)
{
    struct arc_member members[9];
    struct arc arcs[9];
    struct blockset before, set;
    uint32_t turn = 0;

    (void)state;
    set_members(members, 9, 64, PACES_NEAR, 3);
    assert_int_equal(arcs_lay(ARC_WRAP, members, 9, 4, 64, arcs), ERR_OK);
    for (uint32_t piece = 0; piece < 64; piece++) {
        arcs_set(members, arcs, 9, 64, piece, &set);
        if (piece == turn)
            turn = arcs_turn(arcs, 9, 64, piece);
        else
            assert_true(blockset_equal(&set, &before));
        before = set;
    }
    assert_int_equal(turn, 64);
}

/* Members whose rows arrive do no piece they have not got. */
static void test_joiners(void **state)
{
    struct arc_member members[MEMBERS_MAX];
    struct arc arcs[MEMBERS_MAX];

    (void)state;
    for (uint64_t seed = 0; seed < 3000; seed++) {
        struct rng rng;

        rng_init(&rng, seed);
        const uint32_t joiners = (uint32_t)rng_between(&rng, 1, 4);
        const uint32_t whole = (uint32_t)rng_between(&rng, 1, 12);
        const uint32_t parts = (uint32_t)rng_between(&rng, 1, whole);
        const uint32_t pieces = (uint32_t)rng_between(&rng, 2, 200);
        const uint32_t count = whole + joiners;

        set_members(members, count, pieces, rng_below(&rng, PACES), seed);
        for (uint32_t i = 0; i < joiners; i++)
            members[rng_below(&rng, count)].ready =
                (uint32_t)rng_below(&rng, pieces);
        assert_int_equal(
            arcs_lay(ARC_WRAP, members, count, parts, pieces, arcs), ERR_OK);
        assert_covered(members, arcs, count, parts, pieces);
        if (joiners == 1)
            assert_best(members, arcs, count, parts, pieces);
        assert_int_equal(
            arcs_lay(ARC_CYCLIC, members, count, parts, pieces, arcs), ERR_OK);
        assert_covered(members, arcs, count, parts, pieces);
    }
}

static void test_too_few(void **state)
{
    struct arc_member members[4];
    struct arc arcs[4];

    (void)state;
    set_members(members, 4, 10, PACES_SAME, 1);
    assert_int_equal(arcs_lay(ARC_WRAP, members, 4, 5, 10, arcs),
                     ERR_UNDECODABLE);
    members[2].ready = 9;
    assert_int_equal(arcs_lay(ARC_WRAP, members, 4, 4, 10, arcs),
                     ERR_UNDECODABLE);
    assert_int_equal(arcs_lay(ARC_CYCLIC, members, 4, 4, 10, arcs),
                     ERR_UNDECODABLE);
    assert_int_equal(arcs_lay(ARC_WRAP, members, 4, 3, 10, arcs), ERR_OK);
}

static double worst_of(struct erasure *erasure,
                       const struct arc_member *members, const struct arc *arcs,
                       uint32_t count, uint32_t pieces)
{
    double worst = 1;

    for (uint32_t piece = 0; piece < pieces; piece++) {
        const struct erasure_set *set;
        struct blockset blocks;

        arcs_set(members, arcs, count, pieces, piece, &blocks);
        assert_int_equal(erasure_find(erasure, &blocks, &set), ERR_OK);
        worst = fmin(worst, set->rcond);
    }
    return worst;
}

/* A limit that the first order does not keep is met by another. */
static void test_settles(void **state)
{
    uint32_t better = 0;

    (void)state;
    for (uint32_t seed = 0; seed < 20; seed++) {
        struct arc_member members[15];
        struct arc arcs[15];
        struct erasure erasure;
        struct blockset blocks = {0};
        double before, worst;

        assert_int_equal(erasure_init(&erasure, 7, 15, seed), ERR_OK);
        set_members(members, 15, 60, seed % 2 ? PACES_NEAR : PACES_SAME, seed);
        assert_int_equal(arcs_lay(ARC_WRAP, members, 15, 7, 60, arcs), ERR_OK);
        before = worst_of(&erasure, members, arcs, 15, 60);
        assert_int_equal(arcs_settle(&erasure, ARC_WRAP, members, 15, 60,
                                     2 * before, arcs, &worst),
                         ERR_OK);
        assert_covered(members, arcs, 15, 7, 60);
        assert_true(worst == worst_of(&erasure, members, arcs, 15, 60));
        assert_true(worst >= before);
        better += worst >= 2 * before;
        for (uint32_t i = 0; i < 15; i++)
            blockset_add(&blocks, members[i].block);
        assert_int_equal(blockset_count(&blocks), 15);
        erasure_close(&erasure);
    }
    assert_true(better >= 15);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_piece_by_l),
        cmocka_unit_test(test_rounded_ends),
        cmocka_unit_test(test_few_sets),
        cmocka_unit_test(test_turns),
        cmocka_unit_test(test_joiners),
        cmocka_unit_test(test_too_few),
        cmocka_unit_test(test_settles),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
