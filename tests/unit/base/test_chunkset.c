/*
 * Random operations on a set are mirrored on an array of bools, and every
 * question is asked of both.  Sizes straddle the 64-bit words.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>

#include "base/chunkset.h"
#include "base/rng.h"

enum { SIZE_MAX_TRIED = 200, OPERATIONS = 400 };

static uint32_t naive_next(const bool *in, uint32_t count, uint32_t from,
                           bool wanted)
{
    while (from < count && in[from] != wanted)
        from++;
    return from < count ? from : count;
}

static void assert_same(const struct chunkset *set, const bool *in)
{
    uint32_t members = 0;

    for (uint32_t i = 0; i < set->count; i++) {
        assert_int_equal(chunkset_has(set, i), in[i]);
        members += in[i];
    }
    assert_int_equal(set->members, members);
    assert_int_equal(chunkset_full(set), members == set->count);
    for (uint32_t i = 0; i <= set->count; i++) {
        assert_int_equal(chunkset_next(set, i),
                         naive_next(in, set->count, i, true));
        assert_int_equal(chunkset_next_gap(set, i),
                         naive_next(in, set->count, i, false));
    }
}

static void assert_ranges(const struct chunkset *set, const bool *in,
                          struct rng *rng)
{
    const uint32_t first = (uint32_t)rng_below(rng, set->count + 1);
    const uint32_t end =
        first + (uint32_t)rng_below(rng, set->count - first + 1);

    assert_int_equal(chunkset_has_range(set, first, end),
                     naive_next(in, set->count, first, false) >= end);
    assert_int_equal(chunkset_misses_range(set, first, end),
                     naive_next(in, set->count, first, true) >= end);
}

static void operate(struct chunkset *set, bool *in, struct rng *rng)
{
    const uint32_t chunk = (uint32_t)rng_below(rng, set->count);
    const uint32_t end = chunk + (uint32_t)rng_below(rng, 80);

    switch (rng_below(rng, 4)) {
    case 0:
        chunkset_add(set, chunk);
        in[chunk] = true;
        break;
    case 1:
        chunkset_remove(set, chunk);
        in[chunk] = false;
        break;
    case 2:
        if (end > set->count)
            break;
        chunkset_add_range(set, chunk, end);
        for (uint32_t i = chunk; i < end; i++)
            in[i] = true;
        break;
    default:
        for (uint32_t i = chunk; i < end && i < set->count; i++) {
            chunkset_remove(set, i);
            in[i] = false;
        }
    }
}

static void test_mirrors_bools(void **state)
{
    static const uint32_t sizes[] = {1, 2, 63, 64, 65, 127, 128, 129, 200};

    (void)state;
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
        struct chunkset set;
        bool in[SIZE_MAX_TRIED] = {false};
        struct rng rng;

        print_message("seed %zu\n", s);
        rng_init(&rng, s);
        assert_int_equal(chunkset_init(&set, sizes[s]), ERR_OK);
        for (int i = 0; i < OPERATIONS; i++) {
            operate(&set, in, &rng);
            assert_same(&set, in);
            assert_ranges(&set, in, &rng);
        }
        chunkset_fill(&set);
        assert_true(chunkset_full(&set));
        assert_int_equal(chunkset_next_gap(&set, 0), sizes[s]);
        chunkset_clear(&set);
        memset(in, 0, sizeof in);
        assert_same(&set, in);
        chunkset_close(&set);
    }
}

static void test_unite_and_disjoint(void **state)
{
    struct chunkset a, b, c;

    (void)state;
    assert_int_equal(chunkset_init(&a, 130), ERR_OK);
    assert_int_equal(chunkset_init(&b, 130), ERR_OK);
    assert_int_equal(chunkset_init(&c, 130), ERR_OK);
    chunkset_add_range(&a, 0, 65);
    chunkset_add_range(&b, 65, 130);
    assert_true(chunkset_disjoint(&a, &b));
    chunkset_copy(&c, &a);
    assert_false(chunkset_disjoint(&a, &c));
    chunkset_unite(&c, &b);
    assert_true(chunkset_full(&c));
    chunkset_add(&b, 64);
    assert_false(chunkset_disjoint(&a, &b));
    chunkset_unite(&a, &b); /* Overlap is counted once. */
    assert_int_equal(a.members, 130);
    chunkset_close(&a);
    chunkset_close(&b);
    chunkset_close(&c);
}

static void test_limits(void **state)
{
    struct chunkset set = {0};

    (void)state;
    chunkset_close(&set);
    assert_int_equal(chunkset_init(&set, CHUNKS_MAX + 1), ERR_TOOBIG);
    assert_null(set.words);
    assert_int_equal(chunkset_init(&set, CHUNKS_MAX), ERR_OK);
    chunkset_fill(&set);
    assert_int_equal(set.members, CHUNKS_MAX);
    chunkset_close(&set);
    assert_int_equal(chunkset_init(&set, 0), ERR_OK);
    assert_true(chunkset_full(&set));
    assert_int_equal(chunkset_next(&set, 0), 0);
    chunkset_close(&set);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_mirrors_bools),
        cmocka_unit_test(test_unite_and_disjoint),
        cmocka_unit_test(test_limits),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
