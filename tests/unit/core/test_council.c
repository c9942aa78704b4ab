/*
 * Who leads, whom to propose, who computes what: for every set of links among
 * four peers, and for rings of 1 to 64.  Each member has its own order of
 * seats; ranks and keys come out the same for all of them.
 */
#include "core/ring/council.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/rng.h"

#define SEAT(i) (UINT64_C(1) << (i))

static char names[PEERS_MAX][NAME_SIZE];

/* In order: n00, n01, ... */
static int make_names(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < PEERS_MAX; i++)
        (void)snprintf(names[i], sizeof names[i], "n%02u", i);
    return 0;
}

/* --- names of views ------------------------------------------------------- */

static void test_names_are_in_order(void **state)
{
    struct ring_name all[19] = {{0}};
    uint32_t count = 1;

    (void)state;
    for (uint64_t number = 1; number <= 2; number++)
        for (uint32_t who = 0; who < 3; who++)
            for (uint64_t life = 1; life <= 3; life++) {
                all[count] =
                    (struct ring_name){.number = number, .incarnation = life};
                memcpy(all[count++].proposer, names[who], NAME_SIZE);
            }
    for (uint32_t i = 0; i < count; i++)
        for (uint32_t k = 0; k < count; k++) {
            const int order = ring_name_order(&all[i], &all[k]);

            assert_int_equal(order < 0, i < k);
            assert_int_equal(order > 0, i > k);
        }
}

/* No view is no view, whatever else is written there. */
static void test_no_name_is_lowest(void **state)
{
    const struct ring_name none = {.proposer = "z", .incarnation = 9};
    const struct ring_name nothing = {0};
    const struct ring_name first = {.number = 1};

    (void)state;
    assert_int_equal(ring_name_order(&none, &nothing), 0);
    assert_true(ring_name_order(&none, &first) < 0);
}

/* --- ranks and keys ------------------------------------------------------- */

/* As `self` sees it: itself first, the others in an order of its own. */
static uint32_t seats_of(uint32_t self, uint32_t count, struct rng *rng,
                         struct ring_heard *seats, uint32_t *who)
{
    uint32_t used = 1;

    who[0] = self;
    for (uint32_t i = 0; i < count; i++)
        if (i != self)
            who[used++] = i;
    for (uint32_t i = used - 1; i > 1; i--) {
        const uint32_t k = 1 + (uint32_t)rng_below(rng, i);
        const uint32_t swap = who[i];

        who[i] = who[k];
        who[k] = swap;
    }
    for (uint32_t i = 0; i < count; i++)
        seats[i] = (struct ring_heard){.name = names[who[i]],
                                       .hears = count == 64 ? UINT64_MAX
                                                            : SEAT(count) - 1};
    return used;
}

static void test_ranks_and_key_are_common(void **state)
{
    struct rng rng;

    (void)state;
    rng_init(&rng, 1);
    for (uint32_t count = 1; count <= PEERS_MAX; count++) {
        uint64_t key = 0;

        for (uint32_t self = 0; self < count; self++) {
            struct ring_heard seats[PEERS_MAX];
            uint32_t who[PEERS_MAX];
            struct ring_view view = {
                .name = {.number = 7, .proposer = "n00", .incarnation = 5},
                .members = count == 64 ? UINT64_MAX : SEAT(count) - 1};

            (void)seats_of(self, count, &rng, seats, who);
            ring_view_order(&view, seats, count);
            assert_int_equal(view.count, count);
            assert_int_equal(view.self, self);
            for (uint32_t rank = 0; rank < count; rank++)
                assert_int_equal(who[view.seat[rank]], rank);
            if (self == 0)
                key = view.key;
            assert_true(view.key == key);
        }
    }
}

static uint64_t key_of(uint64_t number, const char *proposer, uint64_t life,
                       uint64_t members)
{
    struct ring_heard seats[4];
    struct ring_view view = {.name = {.number = number, .incarnation = life},
                             .members = members};

    (void)snprintf(view.name.proposer, NAME_SIZE, "%s", proposer);
    for (uint32_t i = 0; i < 4; i++)
        seats[i] = (struct ring_heard){.name = names[i]};
    ring_view_order(&view, seats, 4);
    return view.key;
}

/* RING-1: number, proposer, its life and every member are in the key. */
static void test_keys_differ(void **state)
{
    const uint64_t keys[] = {key_of(1, "n00", 1, 15), key_of(2, "n00", 1, 15),
                             key_of(1, "n01", 1, 15), key_of(1, "n00", 2, 15),
                             key_of(1, "n00", 1, 7),  key_of(1, "n00", 1, 11),
                             key_of(1, "n00", 1, 1)};

    (void)state;
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        for (size_t k = 0; k < i; k++)
            assert_true(keys[i] != keys[k]);
}

/* --- leading and choosing ------------------------------------------------- */

enum { FOUR = 4, PAIRS = 6 };

static bool are_linked(uint32_t graph, uint32_t a, uint32_t b)
{
    uint32_t bit = 0;

    for (uint32_t i = 0; i < FOUR; i++)
        for (uint32_t k = i + 1; k < FOUR; k++, bit++)
            if ((i == a && k == b) || (i == b && k == a))
                return (graph >> bit & 1) != 0;
    return a == b;
}

/* Seat s of `self` is peer (self + s) % FOUR. */
static uint64_t see(uint32_t graph, uint32_t self, struct ring_heard *seats)
{
    for (uint32_t s = 0; s < FOUR; s++) {
        const uint32_t peer = (self + s) % FOUR;

        seats[s] = (struct ring_heard){.name = names[peer]};
        for (uint32_t t = 0; t < FOUR; t++)
            if (are_linked(graph, peer, (self + t) % FOUR))
                seats[s].hears |= SEAT(t);
    }
    return seats[0].hears;
}

static bool is_clique(const struct ring_heard *seats, uint64_t set)
{
    for (uint32_t i = 0; i < FOUR; i++)
        if ((set >> i & 1) != 0 && (seats[i].hears & set) != set)
            return false;
    return true;
}

/* Nobody has begun: of those that hear each other the lowest leads, and
 * proposes a clique that nobody else fits into. */
static void test_every_graph_of_four(void **state)
{
    (void)state;
    for (uint32_t graph = 0; graph < 1u << PAIRS; graph++) {
        uint32_t leaders = 0;

        for (uint32_t self = 0; self < FOUR; self++) {
            struct ring_heard seats[PEERS_MAX];
            const uint64_t heard = see(graph, self, seats);
            const uint64_t chosen = council_choose(seats, FOUR, heard);
            bool lowest = true;

            for (uint32_t other = 0; other < self; other++)
                lowest &= !are_linked(graph, self, other);
            assert_int_equal(council_leads(seats, FOUR, heard), lowest);
            leaders += lowest;
            assert_true((chosen & SEAT(0)) != 0 && is_clique(seats, chosen));
            for (uint32_t s = 1; s < FOUR; s++)
                assert_true((chosen >> s & 1) != 0 ||
                            !is_clique(seats, chosen | SEAT(s)));
        }
        assert_true(leaders >= 1); /* Somebody goes on. */
    }
}

/* Who runs already is not kept waiting, and not led, by one that only comes. */
static void test_newcomer_leads_nobody(void **state)
{
    struct ring_heard seats[PEERS_MAX];
    const uint64_t heard = see(63, 0, seats); /* n00 is new, the lowest. */

    (void)state;
    for (uint32_t s = 1; s < FOUR; s++) {
        seats[s].view = (struct ring_name){.number = 3, .proposer = "n01"};
        seats[s].members = 14;
        seats[s].started = true;
    }
    assert_false(council_leads(seats, FOUR, heard));
    (void)see(63, 1, seats); /* As n01 sees it; n00 has seat 3. */
    for (uint32_t s = 0; s < 3; s++) {
        seats[s].view = (struct ring_name){.number = 3, .proposer = "n01"};
        seats[s].members = 7;
        seats[s].started = true;
    }
    assert_true(council_leads(seats, FOUR, heard));
    assert_int_equal(council_choose(seats, FOUR, heard), 15);
    /* ... and one that not all of them hear is not taken in. */
    seats[2].hears &= ~SEAT(3);
    assert_int_equal(council_choose(seats, FOUR, heard), 7);
}

/* Two views of two, healed: the leader of the lower proposer's takes all; the
 * other one, whose view has nobody lower, keeps to its own until asked. */
static void test_sides_meet(void **state)
{
    struct ring_heard seats[PEERS_MAX];

    (void)state;
    for (uint32_t self = 0; self < FOUR; self += 2) {
        const uint64_t heard = see(63, self, seats);

        for (uint32_t s = 0; s < FOUR; s++) {
            const uint32_t peer = (self + s) % FOUR;

            seats[s].view = (struct ring_name){.number = 5};
            memcpy(seats[s].view.proposer, names[peer < 2 ? 0 : 2], NAME_SIZE);
            seats[s].members = s < 2 ? 3 : 12;
            seats[s].started = true;
        }
        assert_true(council_leads(seats, FOUR, heard));
        assert_int_equal(council_choose(seats, FOUR, heard),
                         self == 0 ? 15 : 3);
    }
}

static void test_sixty_four_hear_each_other(void **state)
{
    struct rng rng;

    (void)state;
    rng_init(&rng, 2);
    for (uint32_t count = 1; count <= PEERS_MAX; count += 7) {
        for (uint32_t self = 0; self < count; self++) {
            struct ring_heard seats[PEERS_MAX];
            uint32_t who[PEERS_MAX];
            const uint64_t all = count == 64 ? UINT64_MAX : SEAT(count) - 1;

            (void)seats_of(self, count, &rng, seats, who);
            assert_int_equal(council_leads(seats, count, all), self == 0);
            assert_true(council_choose(seats, count, all) == all);
            assert_int_equal(ring_count(all), count);
        }
    }
}

/* --- chunks --------------------------------------------------------------- */

static void test_even_shares(void **state)
{
    (void)state;
    for (uint32_t count = 1; count <= PEERS_MAX; count++)
        for (uint32_t chunks = 1; chunks < 300; chunks += 1 + chunks / 20) {
            uint32_t first[PEERS_MAX] = {0};
            uint32_t end[PEERS_MAX];

            for (uint32_t i = 0; i < count; i++)
                end[i] = chunks;
            assert_int_equal(ring_split(first, end, count, chunks), chunks);
            assert_int_equal(first[0], 0);
            assert_int_equal(end[count - 1], chunks);
            for (uint32_t i = 0; i < count; i++) {
                assert_true(i == 0 || first[i] == end[i - 1]);
                assert_in_range(end[i] - first[i], chunks / count,
                                (chunks + count - 1) / count);
            }
        }
}

/* Each has what it can compute, no chunk twice; and what is said to be missing
 * first is the first that nobody was given. */
static void check_shares(const uint32_t *had_first, const uint32_t *had_end,
                         const uint32_t *first, const uint32_t *end,
                         uint32_t count, uint32_t chunks, uint32_t gap)
{
    for (uint32_t chunk = 0; chunk < chunks; chunk++) {
        uint32_t times = 0;

        for (uint32_t i = 0; i < count; i++) {
            if (chunk < first[i] || chunk >= end[i])
                continue;
            assert_true(had_first[i] <= chunk && chunk < had_end[i]);
            times++;
        }
        assert_true(times <= 1);
        assert_true(chunk > gap || (times == 1) == (chunk < gap));
    }
}

/* The first chunk that nobody can compute. */
static uint32_t first_lacking(const uint32_t *first, const uint32_t *end,
                              uint32_t count, uint32_t chunks)
{
    for (uint32_t chunk = 0; chunk < chunks; chunk++) {
        uint32_t i = 0;

        while (i < count && (chunk < first[i] || chunk >= end[i]))
            i++;
        if (i == count)
            return chunk;
    }
    return chunks;
}

static void test_private_shares(void **state)
{
    struct rng rng;

    (void)state;
    rng_init(&rng, 3);
    for (uint32_t run = 0; run < 5000; run++) {
        const uint32_t count = 1 + (uint32_t)rng_below(&rng, 8);
        const uint32_t chunks = 1 + (uint32_t)rng_below(&rng, 40);
        uint32_t had_first[8];
        uint32_t had_end[8];
        uint32_t first[8];
        uint32_t end[8];
        uint32_t gap;

        for (uint32_t i = 0; i < count; i++) {
            had_first[i] = (uint32_t)rng_below(&rng, chunks + 1);
            had_end[i] = had_first[i] +
                         (uint32_t)rng_below(&rng, chunks - had_first[i] + 1);
        }
        memcpy(first, had_first, sizeof first);
        memcpy(end, had_end, sizeof end);
        gap = ring_split(first, end, count, chunks);
        check_shares(had_first, had_end, first, end, count, chunks, gap);
        assert_int_equal(gap, first_lacking(had_first, had_end, count, chunks));
    }
}

/* Owners of rows that do not overlap, in any order of names: all of them is
 * all; without one of them its first chunk is the gap. */
static void test_owners(void **state)
{
    (void)state;
    for (uint32_t missing = 0; missing <= 4; missing++) {
        uint32_t first[4] = {6, 0, 9, 3};
        uint32_t end[4] = {9, 3, 12, 6};
        const uint32_t gap = missing == 4 ? 12 : first[missing];

        if (missing < 4)
            end[missing] = first[missing];
        assert_int_equal(ring_split(first, end, 4, 12), gap);
    }
}

/* Peers of one machine have the same rows, and share them. */
static void test_same_rows(void **state)
{
    uint32_t first[5] = {6, 0, 6, 0, 6};
    uint32_t end[5] = {12, 6, 12, 6, 12};

    (void)state;
    assert_int_equal(ring_split(first, end, 5, 12), 12);
    for (uint32_t i = 0; i < 5; i++)
        assert_int_equal(end[i] - first[i], i % 2 == 0 ? 2 : 3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_names_are_in_order),
        cmocka_unit_test(test_no_name_is_lowest),
        cmocka_unit_test(test_ranks_and_key_are_common),
        cmocka_unit_test(test_keys_differ),
        cmocka_unit_test(test_every_graph_of_four),
        cmocka_unit_test(test_newcomer_leads_nobody),
        cmocka_unit_test(test_sides_meet),
        cmocka_unit_test(test_sixty_four_hear_each_other),
        cmocka_unit_test(test_even_shares),
        cmocka_unit_test(test_private_shares),
        cmocka_unit_test(test_owners),
        cmocka_unit_test(test_same_rows),
    };

    return cmocka_run_group_tests(tests, make_names, NULL);
}
