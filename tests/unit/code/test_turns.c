/*
 * Turns: every piece is done by L, everybody does its share, in step with the
 * others.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/rng.h"
#include "code/erasure.h"
#include "code/turns.h"

enum { MEMBERS_MAX = 20, PIECES = 64 };

static const bool none_over[PIECES];

static void make_members(struct arc_member *members, uint32_t count,
                         struct rng *rng)
{
    for (uint32_t i = 0; i < count; i++)
        members[i] = (struct arc_member){
            .block = i, .speed = rng == NULL ? 3 : .2 + rng_unit(rng)};
}

/* Its share of L by speed, 1 at most: all others end at the same time. */
static double share_of(const struct arc_member *members, uint32_t count,
                       uint32_t parts, uint32_t member)
{
    double low = 0, high = 1e6;

    for (uint32_t i = 0; i < 200; i++) {
        const double middle = (low + high) / 2;
        double sum = 0;

        for (uint32_t k = 0; k < count; k++)
            sum += fmin(1, members[k].speed * middle);
        if (sum < parts)
            low = middle;
        else
            high = middle;
    }
    return fmin(1, members[member].speed * high);
}

/* After any number of pieces nobody is far from its share of them: `off`
 * pieces.  So all are near the same piece at any time. */
static void check(const struct erasure *erasure,
                  const struct arc_member *members, uint32_t count, double off)
{
    struct blockset sets[PIECES];
    double done[MEMBERS_MAX] = {0};

    assert_int_equal(turns_deal(erasure, members, count, none_over, PIECES,
                                ERASURE_RCOND, sets),
                     ERR_OK);
    for (uint32_t piece = 0; piece < PIECES; piece++) {
        assert_int_equal(blockset_count(&sets[piece]), erasure->parts);
        for (uint32_t i = 0; i < count; i++) {
            const double share = share_of(members, count, erasure->parts, i);

            done[i] += blockset_has(&sets[piece], members[i].block);
            assert_true(fabs(done[i] - share * (piece + 1)) <= off);
        }
    }
}

static void test_shares(void **state)
{
    struct rng rng;

    (void)state;
    rng_init(&rng, 1);
    for (uint32_t parts = 1; parts <= 10; parts++) {
        struct erasure erasure = {0};

        assert_int_equal(erasure_init(&erasure, parts, MEMBERS_MAX, 1), ERR_OK);
        for (uint32_t count = parts; count <= MEMBERS_MAX; count++) {
            struct arc_member members[MEMBERS_MAX];

            make_members(members, count, NULL);
            check(&erasure, members, count, 1);
            make_members(members, count, &rng);
            check(&erasure, members, count, 2);
        }
        erasure_close(&erasure);
    }
}

/* As in turns.h: in the order of their slots, N / gcd(N, L) sets. */
static void test_equals_go_around(void **state)
{
    struct erasure erasure = {0};
    struct arc_member members[5];
    struct blockset sets[PIECES];
    bool over[PIECES] = {[1] = true};

    (void)state;
    assert_int_equal(erasure_init(&erasure, 3, 5, 1), ERR_OK);
    make_members(members, 5, NULL);
    assert_int_equal(
        turns_deal(&erasure, members, 5, none_over, PIECES, 1e-9, sets),
        ERR_OK);
    for (uint32_t piece = 0; piece < PIECES; piece++) {
        for (uint32_t k = 0; k < 3; k++)
            assert_true(blockset_has(&sets[piece], (3 * piece + k) % 5));
    }
    assert_int_equal(turns_deal(&erasure, members, 5, over, PIECES, 1e-9, sets),
                     ERR_OK);
    assert_int_equal(blockset_count(&sets[1]), 0); /* Nobody's turn. */
    assert_true(blockset_has(&sets[2], 3) && blockset_has(&sets[2], 4));
    assert_int_equal(turns_deal(&erasure, members, 2, over, PIECES, 1e-9, sets),
                     ERR_UNDECODABLE);
    erasure_close(&erasure);
}

/* Where a set decodes badly others are taken, if there are any, and everybody
 * still does its share. */
static void test_bad_sets(void **state)
{
    struct arc_member members[MEMBERS_MAX];
    struct blockset sets[PIECES];
    const struct erasure_set *set;
    struct erasure erasure = {0};
    uint32_t worse = 0, bad = 0;

    (void)state;
    assert_int_equal(erasure_init(&erasure, 7, 15, 1), ERR_OK);
    make_members(members, 15, NULL);
    for (int tries = 0; tries < 2; tries++) {
        assert_int_equal(turns_deal(&erasure, members, 15, none_over, PIECES,
                                    tries == 0 ? 0 : .005, sets),
                         ERR_OK);
        for (uint32_t piece = 0; piece < PIECES; piece++) {
            assert_int_equal(erasure_find(&erasure, &sets[piece], &set),
                             ERR_OK);
            *(tries == 0 ? &worse : &bad) += set->rcond < .005;
        }
    }
    assert_true(worse > 0);
    assert_int_equal(bad, 0);
    check(&erasure, members, 15, 1);
    erasure_close(&erasure);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_shares),
        cmocka_unit_test(test_equals_go_around),
        cmocka_unit_test(test_bad_sets),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
