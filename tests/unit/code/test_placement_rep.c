/*
 * Groups, loads and survival of rep for every n up to 40 and every s; every
 * straggler mask for n up to 12.  The sum of what came in is compared with the
 * sum of everything, in integers, so that equal means equal bits (O1, O2).
 */
#include "code/code.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "base/rng.h"
#include "code/code_fixture.h"

#define CHUNKS 96u

/* As equal as whole numbers allow, and never fewer than s + 1. */
static void test_groups(void **state)
{
    (void)state;
    for (uint32_t n = 1; n <= 40; n++) {
        for (uint32_t s = 0; s < n; s++) {
            struct code code =
                code_of((struct shape){"rep", n, s, 0, 3 * n + 1});
            const uint32_t g = n / (s + 1);

            assert_int_equal(code.group_count, g);
            for (uint32_t q = 0; q < g; q++) {
                const struct group *group = &code.groups[q];
                const uint32_t size = group->slot_end - group->slot_first;

                assert_true(size >= s + 1);
                assert_true(size == n / g || size == n / g + 1);
                if (n % (s + 1) == 0) /* frc: consecutive, exactly s + 1. */
                    assert_int_equal(group->slot_first, q * (s + 1));
            }
            code_close(&code);
        }
    }
}

/* Loads in parts differ by at most one between slots. */
static void test_loads(void **state)
{
    (void)state;
    for (uint32_t n = 1; n <= 40; n++) {
        for (uint32_t s = 0; s < n; s++) {
            struct code code = code_of((struct shape){"rep", n, s, 0, n});
            uint32_t least = UINT32_MAX;
            uint32_t most = 0;

            for (uint32_t slot = 0; slot < n; slot++) {
                uint32_t id;
                uint32_t load;

                assert_int_equal(code_work(&code, slot, &id, 1), 1);
                load = code.pieces[id].end - code.pieces[id].first;
                least = load < least ? load : least;
                most = load > most ? load : most;
            }
            assert_true(least >= s + 1);
            assert_true(most - least <= 1);
            code_close(&code);
        }
    }
}

/* For all |F| = s at any n it is enough to look at each group: none is inside
 * F because none is that small.  Runs of s neighbours come closest. */
static void test_any_s_may_be_silent(void **state)
{
    static const char *const names[] = {"rep", "steal"};

    (void)state;
    for (uint32_t n = 1; n <= 40; n++) {
        for (uint32_t s = 0; s < n; s++) {
            struct code code =
                code_of((struct shape){names[n % 2], n, s, 0, n});

            for (uint32_t from = 0; from < n; from++) {
                bool alive[SLOTS_MAX];

                for (uint32_t slot = 0; slot < n; slot++)
                    alive[slot] = (slot + n - from) % n >= s;
                assert_true(code_feasible(&code, alive));
            }
            code_close(&code);
        }
    }
}

static int64_t chunk_gradient(uint32_t chunk)
{
    return (int64_t)(rng_at(1, 2, chunk) >> 8) - ((int64_t)1 << 55);
}

static int64_t piece_sum(const struct code *code, uint32_t id)
{
    int64_t sum = 0;

    for (uint32_t c = code->pieces[id].first; c < code->pieces[id].end; c++)
        sum += chunk_gradient(c);
    return sum;
}

/* Slots of the mask arrive in an order drawn from it; a piece counts once. */
static int64_t merged(const struct code *code, uint32_t mask)
{
    bool seen[PIECES_MAX] = {false};
    int64_t sum = 0;

    for (uint32_t k = 0; k < code->slots; k++) {
        const uint32_t slot = (k * 5 + mask) % code->slots;
        uint32_t ids[PIECES_MAX];
        uint32_t count = 0;

        if (mask >> slot & 1u)
            count = code_work(code, slot, ids, PIECES_MAX);
        for (uint32_t i = 0; i < count; i++) {
            if (!seen[ids[i]])
                sum += piece_sum(code, ids[i]);
            seen[ids[i]] = true;
        }
    }
    return sum;
}

static void check_masks(uint32_t n, uint32_t s)
{
    struct code code = code_of((struct shape){"rep", n, s, 0, CHUNKS});
    int64_t total = 0;

    for (uint32_t c = 0; c < CHUNKS; c++)
        total += chunk_gradient(c);
    for (uint32_t mask = 0; mask < 1u << n; mask++) {
        const bool enough = enough_with(&code, mask);
        const uint32_t silent = n - (uint32_t)__builtin_popcount(mask);

        if (silent <= s)
            assert_true(enough);
        assert_int_equal(enough, feasible_with(&code, mask));
        if (n % 5 != 0) /* The order of merged() visits every slot. */
            assert_int_equal(enough, merged(&code, mask) == total);
    }
    code_close(&code);
}

static void test_every_mask(void **state)
{
    (void)state;
    for (uint32_t n = 1; n <= 12; n++) {
        for (uint32_t s = 0; s < n; s++)
            check_masks(n, s);
    }
}

/* The share of the data lost is the share of silent groups. */
static void test_killed_group(void **state)
{
    struct code code = code_of((struct shape){"rep", 6, 1, 0, CHUNKS});

    (void)state;
    assert_true(enough_with(&code, 0x15));  /* Slots 0, 2, 4. */
    assert_false(enough_with(&code, 0x3c)); /* 0 and 1 are silent. */
    assert_false(feasible_with(&code, 0x3c));
    assert_int_equal(code.pieces[0].end - code.pieces[0].first, CHUNKS / 3);
    code_close(&code);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_groups),
        cmocka_unit_test(test_loads),
        cmocka_unit_test(test_any_s_may_be_silent),
        cmocka_unit_test(test_every_mask),
        cmocka_unit_test(test_killed_group),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
