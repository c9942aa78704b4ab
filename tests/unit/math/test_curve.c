/*
 * Loops of networks that multiply nothing: every instruction set against the
 * portable one, bit by bit, for odd counts; and transposes.
 */
#include "math/net/curve.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/rng.h"
#include "math/net/gemm.h"

enum { MOST = 150, PLACES = 9, CASES = 60 };

/* What the loops write. */
struct results {
    float relu[MOST], relu_back[MOST], drop[MOST], top[MOST];
    float top_back[PLACES * MOST], added[PLACES * MOST];
    float turned[MOST * PLACES];
    uint8_t up[MOST / 8 + 1], which[MOST];
};

struct given {
    float x[PLACES * MOST], dy[MOST];
    size_t place[PLACES];
    size_t count;
    uint64_t key;
};

/* With equals, for which the first place counts. */
static void draw(struct given *g, struct rng *rng)
{
    for (size_t i = 0; i < PLACES * MOST; i++)
        g->x[i] = (float)rng_between(rng, -3, 3) / 2;
    for (size_t i = 0; i < MOST; i++)
        g->dy[i] = (float)(rng_unit(rng) - 0.5);
    for (size_t k = 0; k < PLACES; k++)
        g->place[k] = k * MOST;
    g->count = (size_t)rng_between(rng, 1, MOST);
    g->key = rng_next(rng);
}

static void run(enum isa isa, const struct given *g, struct results *r)
{
    memset(r, 0, sizeof *r);
    curve_relu(isa, g->x, g->count, r->relu, r->up);
    curve_relu_back(isa, r->up, g->dy, g->count, r->relu_back);
    curve_drop(isa, g->x, g->count, g->key, 20000, 1.5f, r->drop);
    curve_largest(isa, g->x, g->place, PLACES, g->count, r->top, r->which);
    curve_largest_back(isa, g->dy, r->which, g->place, PLACES, g->count, false,
                       r->top_back);
    memcpy(r->added, g->x, sizeof r->added);
    curve_largest_back(isa, g->dy, r->which, g->place, PLACES, g->count, true,
                       r->added);
    matrix_turn(isa, g->x, MOST, PLACES, g->count, r->turned, PLACES);
}

/* The definitions, read off. */
static void check(const struct given *g, const struct results *r)
{
    for (size_t i = 0; i < g->count; i++) {
        const float x = g->x[i];
        const uint64_t bits = rng_word(g->key, i / 4) >> 16 * (i % 4);
        size_t best = 0;

        for (size_t k = 0; k < PLACES; k++) {
            best = g->x[k * MOST + i] > g->x[best * MOST + i] ? k : best;
            assert_true(r->turned[i * PLACES + k] == g->x[k * MOST + i]);
        }
        assert_true(r->relu[i] == (x > 0 ? x : 0));
        assert_true(r->relu_back[i] == (x > 0 ? g->dy[i] : 0));
        assert_true(r->drop[i] == ((bits & 0xffff) < 20000 ? 0 : x * 1.5f));
        assert_int_equal(r->which[i], best);
        assert_true(r->top[i] == g->x[best * MOST + i]);
        for (size_t k = 0; k < PLACES; k++) {
            const float slope = k == best ? g->dy[i] : 0;

            assert_true(r->top_back[k * MOST + i] == slope);
            assert_true(r->added[k * MOST + i] == g->x[k * MOST + i] + slope);
        }
    }
}

static void every_isa_follows_the_definitions(void **state)
{
    static struct given g;
    static struct results first, now;
    struct rng rng;

    (void)state;
    rng_init(&rng, 21);
    for (uint32_t test = 0; test < CASES; test++) {
        draw(&g, &rng);
        run(ISA_PORTABLE, &g, &first);
        check(&g, &first);
        for (unsigned isa = 0; isa < ISAS; isa++) {
            if (!isa_runs((enum isa)isa))
                continue;
            run((enum isa)isa, &g, &now);
            check(&g, &now);
            assert_memory_equal(now.up, first.up, sizeof now.up);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_isa_follows_the_definitions),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
