/*
 * Products of matrices: every instruction set against the chains written out,
 * bit by bit, for odd shapes, transposes, biases and cut chains.
 */
#define _GNU_SOURCE /* MAP_ANONYMOUS */
#include "math/net/gemm.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/mem.h"
#include "base/rng.h"

enum { CASES = 360, BIG = 10, ROOM = 700 * 900 };

struct bench {
    float *a, *b, *init, *c, *expected, *scratch;
    struct rng rng;
};

static void fill(struct rng *rng, float *x, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        x[i] = (float)(rng_unit(rng) - 0.5);
        if (rng_below(rng, 50) == 0)
            x[i] *= 0x1p-140f; /* A denormal, or nearly. */
    }
}

static int set_up(void **state)
{
    static struct bench bench;
    float **const all[] = {&bench.a, &bench.b, &bench.init, &bench.c,
                           &bench.expected};

    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        *all[i] = mem_new(ROOM, sizeof(float));
        assert_non_null(*all[i]);
    }
    bench.scratch = mem_new(GEMM_SCRATCH, sizeof(float));
    assert_non_null(bench.scratch);
    rng_init(&bench.rng, 11);
    *state = &bench;
    return 0;
}

static int tear_down(void **state)
{
    struct bench *const bench = *state;

    mem_free(bench->a);
    mem_free(bench->b);
    mem_free(bench->init);
    mem_free(bench->c);
    mem_free(bench->expected);
    mem_free(bench->scratch);
    return 0;
}

static uint32_t draw(struct rng *rng, uint32_t most)
{
    return 1 + (uint32_t)rng_below(rng, most);
}

/* A shape, each matrix as it is or transposed, distances with some to spare. */
static struct gemm any(struct bench *bench, bool big)
{
    struct rng *const rng = &bench->rng;
    struct gemm g = {.m = draw(rng, big ? 400 : 70),
                     .n = draw(rng, big ? 640 : 110),
                     .k = draw(rng, big ? 850 : 60) - 1,
                     .a = bench->a,
                     .b = bench->b};
    const uint32_t spare = (uint32_t)rng_below(rng, 3);
    const bool a_turned = rng_chance(rng, 0.5), b_turned = rng_chance(rng, 0.5);

    g.a_row = a_turned ? 1 : g.k + spare;
    g.a_col = a_turned ? g.m + spare : 1;
    g.b_row = b_turned ? 1 : g.n + spare;
    g.b_col = b_turned ? g.k + spare : 1;
    g.c_row = g.n + spare;
    switch (rng_below(rng, 3)) {
    case 0:
        break;
    case 1:
        g.init = bench->init; /* A bias. */
        break;
    default:
        g.init = bench->init;
        g.init_row = g.c_row;
        break;
    }
    fill(rng, bench->a, (size_t)(g.m + spare) * (g.k + spare + 1));
    fill(rng, bench->b, (size_t)(g.n + spare) * (g.k + spare + 1));
    fill(rng, bench->init, (size_t)g.m * g.c_row);
    return g;
}

static void every_isa_has_the_chains_bits(void **state)
{
    struct bench *const bench = *state;

    for (uint32_t test = 0; test < CASES; test++) {
        struct gemm g = any(bench, test < BIG);
        const size_t size = (size_t)g.m * g.c_row * sizeof(float);

        memset(bench->expected, 0x55, size);
        g.c = bench->expected;
        gemm_ref(&g);
        g.c = bench->c;
        for (unsigned isa = 0; isa < ISAS; isa++) {
            if (!isa_runs((enum isa)isa))
                continue;
            memset(bench->c, 0x55, size);
            gemm_run((enum isa)isa, &g, bench->scratch);
            if (memcmp(bench->c, bench->expected, size) != 0)
                fail_msg("case %u: %u x %u x %u differs on %s", test, g.m, g.n,
                         g.k, isa_name((enum isa)isa));
        }
    }
}

/* A chain that is cut and continued from c is the same chain. */
static void a_chain_may_be_cut(void **state)
{
    struct bench *const bench = *state;

    for (uint32_t test = 0; test < 50; test++) {
        struct gemm g = any(bench, false);
        const size_t size = (size_t)g.m * g.c_row * sizeof(float);
        const uint32_t cut = (uint32_t)rng_below(&bench->rng, g.k + 1);
        struct gemm first, rest;

        memset(bench->c, 0, size);
        memset(bench->expected, 0, size);
        g.c = bench->expected;
        gemm_run(isa_best(), &g, bench->scratch);
        first = rest = g;
        first.c = rest.c = bench->c;
        first.k = cut;
        rest.k -= cut;
        rest.a += cut * g.a_col;
        rest.b += cut * g.b_row;
        rest.init = bench->c;
        rest.init_row = g.c_row;
        gemm_run(isa_best(), &first, bench->scratch);
        gemm_run(isa_best(), &rest, bench->scratch);
        assert_memory_equal(bench->c, bench->expected, size);
    }
}

/* b ends where memory does. */
static void no_vector_reaches_over_the_end_of_b(void **state)
{
    struct bench *const bench = *state;
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    uint8_t *const pages = mmap(NULL, 2 * page, PROT_READ | PROT_WRITE,
                                MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    assert_true(pages != MAP_FAILED);
    assert_int_equal(mprotect(pages + page, page, PROT_NONE), 0);
    for (uint32_t test = 0; test < 40 * ISAS; test++) {
        struct gemm g = {.m = 5, .n = 1 + test / ISAS, .a_col = 1, .b_col = 1};
        float *b;

        if (!isa_runs((enum isa)(test % ISAS)))
            continue;
        g.k = 1 + test % 19;
        g.a_row = g.k;
        g.b_row = g.c_row = g.n;
        fill(&bench->rng, bench->a, (size_t)g.m * g.k);
        g.a = bench->a;
        b = (float *)(void *)(pages + page) - g.n * g.k;
        fill(&bench->rng, b, (size_t)g.n * g.k);
        g.b = b;
        g.c = bench->expected;
        gemm_ref(&g);
        g.c = bench->c;
        gemm_run((enum isa)(test % ISAS), &g, bench->scratch);
        assert_memory_equal(bench->c, bench->expected,
                            (size_t)g.m * g.n * sizeof(float));
    }
    assert_int_equal(munmap(pages, 2 * page), 0);
}

/* (1 + 2^-12)^2 - (1 + 2^-11) is 2^-24; a product that is rounded first
 * has lost it. */
static void terms_are_rounded_once(void **state)
{
    struct bench *const bench = *state;
    const float a[2] = {-1.0f, 1.0f + 0x1p-12f};
    const float b[2] = {1.0f + 0x1p-11f, 1.0f + 0x1p-12f};

    for (unsigned isa = 0; isa < ISAS; isa++) {
        float c = 7;
        const struct gemm g = {.m = 1,
                               .n = 1,
                               .k = 2,
                               .a = a,
                               .a_col = 1,
                               .b = b,
                               .b_row = 1,
                               .c = &c};

        if (!isa_runs((enum isa)isa))
            continue;
        gemm_run((enum isa)isa, &g, bench->scratch);
        assert_true(c == 0x1p-24f);
    }
}

static void this_machine_is_taken_or_refused_in_words(void **state)
{
    struct why why = {0};

    (void)state;
    if (gemm_machine(&why) == ERR_OK)
        assert_int_equal(why.text[0], '\0');
    else
        assert_non_null(strstr(why.text, "FMA"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_isa_has_the_chains_bits),
        cmocka_unit_test(a_chain_may_be_cut),
        cmocka_unit_test(no_vector_reaches_over_the_end_of_b),
        cmocka_unit_test(terms_are_rounded_once),
        cmocka_unit_test(this_machine_is_taken_or_refused_in_words),
    };

    return cmocka_run_group_tests(tests, set_up, tear_down);
}
