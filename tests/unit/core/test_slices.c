/*
 * Long vectors by slices, with threads, against the same in one piece without:
 * sums, conversions, steps of every optimiser of first order, names, copies.
 * The bits are the same, and so is who is found to have sent too much.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <string.h>

#include "base/mem.h"
#include "base/quick.h"
#include "math/exact/tally.h"
#include "math/vec.h"
#include "optim/optim.h"
#include "os/run/threads.h"

enum { DIMS = 70001, CLAIMS = 3, THREADS = 5 };

static struct pool *pool;

static int open_pool(void **state)
{
    (void)state;
    return threads_new_spinning(THREADS, 50, &pool) == ERR_OK ? 0 : -1;
}

static int close_pool(void **state)
{
    (void)state;
    threads_free(pool);
    return 0;
}

static void *room(size_t count, size_t size)
{
    void *made = mem_new(count, size);

    assert_non_null(made);
    return made;
}

/* --- tallies -------------------------------------------------------------- */

struct sums {
    int64_t *claim[CLAIMS];
    int16_t *exponent;
    double *gradient;
    struct tally into, room;
    struct tally_claim claims[CLAIMS];
    bool in_bound;
    bool decoded;
};

static void fill_sums(struct sums *sums, uint32_t bad)
{
    *sums = (struct sums){.exponent = room(DIMS + 1, sizeof(int16_t)),
                          .gradient = room(DIMS, sizeof(double))};
    assert_int_equal(tally_init(&sums->into, DIMS, CLAIMS), ERR_OK);
    assert_int_equal(tally_init(&sums->room, DIMS, CLAIMS), ERR_OK);
    tally_blank(&sums->into);
    for (uint32_t i = 0; i < CLAIMS; i++) {
        sums->claim[i] = room(DIMS, sizeof(int64_t));
        for (uint32_t j = 0; j < DIMS; j++)
            sums->claim[i][j] =
                (int64_t)(j * UINT64_C(0x9e3779b97f4a7c15)) >> (4 + i);
        if ((bad >> i & 1) != 0)
            sums->claim[i][DIMS / 2 + i] = INT64_MIN;
        sums->claims[i] = (struct tally_claim){
            .sum = sums->claim[i], .first = i, .end = i + 1, .loss = i};
    }
    for (uint32_t j = 0; j <= DIMS; j++)
        sums->exponent[j] = (int16_t)(j % 50);
}

static void add_sums(struct sums *sums, struct pool *by, uint32_t bad)
{
    fill_sums(sums, bad);
    sums->into.pool = by;
    tally_absorb_many(&sums->into, &sums->room, sums->claims, CLAIMS, NULL);
    tally_fill(&sums->into);
    sums->in_bound =
        tally_gradient(&sums->into, sums->exponent, sums->gradient);
}

/* The same with the numbers found in the pass that adds. */
static void decode_sums(struct sums *sums, struct pool *by, uint32_t bad)
{
    struct tally_decoding decoding;

    fill_sums(sums, bad);
    decoding = (struct tally_decoding){.exponent = sums->exponent,
                                       .gradient = sums->gradient};
    sums->into.pool = by;
    tally_absorb_many(&sums->into, &sums->room, sums->claims, CLAIMS,
                      &decoding);
    sums->decoded = decoding.done;
    sums->in_bound = decoding.good;
    if (decoding.done)
        return;
    tally_fill(&sums->into);
    sums->in_bound =
        tally_gradient(&sums->into, sums->exponent, sums->gradient);
}

static void close_sums(struct sums *sums)
{
    for (uint32_t i = 0; i < CLAIMS; i++)
        mem_free(sums->claim[i]);
    mem_free(sums->exponent);
    mem_free(sums->gradient);
    tally_close(&sums->into);
    tally_close(&sums->room);
}

static void test_sums(void **state)
{
    (void)state;
    for (uint32_t bad = 0; bad < 1u << CLAIMS; bad++) {
        struct sums one, many;

        add_sums(&one, NULL, bad);
        add_sums(&many, pool, bad);
        for (uint32_t i = 0; i < CLAIMS; i++) {
            assert_int_equal(one.claims[i].good, (bad >> i & 1) == 0);
            assert_int_equal(many.claims[i].good, one.claims[i].good);
        }
        assert_memory_equal(many.into.sum, one.into.sum,
                            DIMS * sizeof *one.into.sum);
        assert_memory_equal(many.gradient, one.gradient,
                            DIMS * sizeof *one.gradient);
        assert_int_equal(many.in_bound, one.in_bound);
        close_sums(&one);
        close_sums(&many);
    }
}

static void assert_decoded(const struct sums *got, const struct sums *want,
                           bool done)
{
    assert_int_equal(got->decoded, done);
    assert_memory_equal(got->gradient, want->gradient,
                        DIMS * sizeof *want->gradient);
    assert_int_equal(got->in_bound, want->in_bound);
    assert_true(got->into.loss == want->into.loss);
    assert_int_equal(got->into.chunks.members, want->into.chunks.members);
    for (uint32_t i = 0; i < CLAIMS; i++)
        assert_int_equal(got->claims[i].good, want->claims[i].good);
}

/* Decoded at once if all are good; else the good ones are kept as sums, to
 * which others can be added. */
static void test_decoded_sums(void **state)
{
    (void)state;
    for (uint32_t bad = 0; bad < 1u << CLAIMS; bad++) {
        struct sums want, one, many;

        add_sums(&want, NULL, bad);
        decode_sums(&one, NULL, bad);
        decode_sums(&many, pool, bad);
        assert_decoded(&one, &want, bad == 0);
        assert_decoded(&many, &want, bad == 0);
        close_sums(&want);
        close_sums(&one);
        close_sums(&many);
    }
}

/* Parts in bound may come to more than all can: the numbers tell. */
static void test_decoded_too_much(void **state)
{
    struct sums sums;

    (void)state;
    fill_sums(&sums, 0);
    for (uint32_t i = 0; i < CLAIMS; i++)
        sums.claim[i][DIMS - 2] = (INT64_C(1) << TALLY_BITS) - 1;
    sums.into.pool = pool;
    {
        struct tally_decoding decoding = {.exponent = sums.exponent,
                                          .gradient = sums.gradient};

        tally_absorb_many(&sums.into, &sums.room, sums.claims, CLAIMS,
                          &decoding);
        assert_true(decoding.done);
        assert_false(decoding.good);
    }
    close_sums(&sums);
}

/* One alone: what is too much is refused whole. */
static void test_one_claim(void **state)
{
    struct sums sums;

    (void)state;
    fill_sums(&sums, 2);
    sums.into.pool = pool;
    chunkset_add(&sums.room.chunks, 1);
    assert_false(tally_absorb(&sums.into, &sums.room, sums.claim[1]));
    assert_true(sums.into.blank);
    assert_true(tally_absorb(&sums.into, &sums.room, sums.claim[0]));
    assert_memory_equal(sums.into.sum, sums.claim[0],
                        DIMS * sizeof *sums.into.sum);
    close_sums(&sums);
}

/* --- steps ---------------------------------------------------------------- */

struct walk {
    struct optim_options options;
    struct pool *pool;
    bool breaks;  /* The last step's sums are infinite somewhere. */
    double *copy; /* Of new weights; NULL: nothing is tapped. */
};

/* What is known of the weights is what reading them would tell. */
static void assert_tapped(const struct walk *walk, const struct optim *opt)
{
    const struct known known = optim_next(opt).what.known;
    const struct evaluation plain = {.kind = EVALUATE_GRADIENT, .w = opt->b};
    struct evaluation what = plain;

    if (opt->diverged)
        return;
    assert_true(known.largest == vec_largest(opt->b, DIMS));
    what.known = known;
    assert_true(evaluation_name(&what, DIMS, walk->pool) ==
                evaluation_name(&plain, DIMS, NULL));
    assert_int_equal(known.named, opt->tap.end);
    assert_true(optim_taps(opt) || opt->tap.end == 0);
    assert_memory_equal(walk->copy, opt->b, opt->tap.end * sizeof *opt->b);
}

static void step_on(const struct walk *walk, struct optim *opt)
{
    double *g = room(DIMS, sizeof *g);

    assert_int_equal(optim_init(opt, &walk->options, DIMS), ERR_OK);
    opt->pool = walk->pool;
    opt->tap =
        (struct optim_tap){.names = walk->copy != NULL, .copy = walk->copy};
    for (uint32_t i = 0; i < 3; i++) {
        for (uint32_t j = 0; j < DIMS; j++)
            g[j] = sin(j + 1.0) * (i + 1) + opt->b[j];
        if (walk->breaks && i == 2)
            g[DIMS - 5] = HUGE_VAL;
        assert_true(optim_feed(opt, g, 3));
        if (opt->tap.names)
            assert_tapped(walk, opt);
    }
    mem_free(g);
}

static void check_steps(const struct walk *with)
{
    struct walk without = *with;
    struct optim one, many;

    without.pool = NULL;
    without.copy = NULL;
    step_on(&without, &one);
    step_on(with, &many);
    assert_int_equal(one.diverged, with->breaks);
    assert_int_equal(many.diverged, one.diverged);
    assert_memory_equal(many.kept, one.kept,
                        (size_t)one.vectors * DIMS * sizeof *one.kept);
    assert_memory_equal(&many.objective, &one.objective, sizeof(double));
    assert_memory_equal(&many.gradient_norm, &one.gradient_norm,
                        sizeof(double));
    optim_close(&one);
    optim_close(&many);
}

/* Free weights in one place, as an intercept is, or in many: of softmax. */
static void check_kind(enum optim_kind kind, uint32_t free, uint32_t stride,
                       bool tapped)
{
    struct walk walk = {.options = optim_defaults(kind), .pool = pool};

    if (tapped) {
        walk.copy = room(DIMS, sizeof *walk.copy);
    }
    walk.options.rate = .1;
    walk.options.rows = 10;
    walk.options.steps = 5;
    walk.options.l2 = .01;
    walk.options.l2_free = free;
    walk.options.l2_stride = stride;
    check_steps(&walk);
    walk.options.tol = 1e-300;
    check_steps(&walk);
    walk.options.clip = .5;
    check_steps(&walk);
    walk.options.clip = 0;
    walk.options.tol = 0;
    walk.breaks = true;
    check_steps(&walk);
    walk.breaks = false;
    walk.pool = NULL;
    check_steps(&walk);
    mem_free(walk.copy);
}

static void test_steps(void **state)
{
    static const enum optim_kind kinds[] = {OPTIM_GD,       OPTIM_AGD,
                                            OPTIM_MOMENTUM, OPTIM_NESTEROV,
                                            OPTIM_ADAM,     OPTIM_ADAMW};

    (void)state;
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        check_kind(kinds[i], 0, 0, false);
        check_kind(kinds[i], DIMS - 3, DIMS, true);
        check_kind(kinds[i], 0, DIMS, true);
        check_kind(kinds[i], 7000, 10000, true);
    }
}

/* --- the rest ------------------------------------------------------------- */

static void test_largest(void **state)
{
    double *a = room(DIMS, sizeof *a);

    (void)state;
    for (uint32_t j = 0; j < DIMS; j++)
        a[j] = sin(j);
    a[DIMS - 1] = -7;
    assert_true(vec_largest_of(pool, a, DIMS) == 7);
    a[3] = 8;
    assert_true(vec_largest_of(pool, a, DIMS) == 8);
    assert_true(vec_largest_of(NULL, a, DIMS) == 8);
    a[DIMS / 2] = nan("");
    assert_true(isinf(vec_largest_of(pool, a, DIMS)));
    assert_true(vec_largest_of(pool, a, 0) == 0);
    mem_free(a);
}

/* A name does not depend on threads, but on each bit and its place. */
static void test_names(void **state)
{
    const size_t size = DIMS * sizeof(uint64_t) - 3;
    uint64_t *words = room(DIMS, sizeof *words);
    uint64_t zeros;

    (void)state;
    zeros = quick_long(NULL, words, size, 1);
    assert_true(quick_long(pool, words, size, 1) == zeros);
    assert_true(quick_long(pool, words, size, 2) != zeros);
    assert_true(quick_long(pool, words, size - 1, 1) != zeros);
    assert_true(quick_long(pool, words, QUICK_WHOLE, 1) ==
                quick_u64(words, QUICK_WHOLE, 1));
    for (uint32_t j = 0; j < DIMS; j += 9973) {
        uint64_t here;

        words[j] = 1;
        here = quick_long(pool, words, size, 1);
        assert_true(here != zeros);
        words[j] = 0;
        words[(j + SLICE_GRAIN) % DIMS] = 1;
        assert_true(quick_long(pool, words, size, 1) != here);
        words[(j + SLICE_GRAIN) % DIMS] = 0;
    }
    words[5] = 7;
    zeros = quick_long(NULL, words, size, 1);
    for (size_t from = 0; from <= size; from += 8 * SLICE_GRAIN * 7)
        assert_true(quick_rest(pool, words, size, 1, from,
                               quick_part(words, 0, from, 1)) == zeros);
    mem_free(words);
}

static void test_copies(void **state)
{
    uint8_t *from = room(DIMS, 8);
    uint8_t *to = room(DIMS, 8);

    (void)state;
    for (size_t i = 0; i < (size_t)DIMS * 8; i++)
        from[i] = (uint8_t)(i * 31 + 1);
    pool_copy(pool, to, from, (size_t)DIMS * 8 - 5);
    assert_memory_equal(to, from, (size_t)DIMS * 8 - 5);
    assert_int_equal(to[(size_t)DIMS * 8 - 5], 0);
    pool_copy(pool, to, from, 0);
    mem_free(from);
    mem_free(to);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sums),
        cmocka_unit_test(test_decoded_sums),
        cmocka_unit_test(test_decoded_too_much),
        cmocka_unit_test(test_one_claim),
        cmocka_unit_test(test_steps),
        cmocka_unit_test(test_largest),
        cmocka_unit_test(test_names),
        cmocka_unit_test(test_copies),
    };

    return cmocka_run_group_tests(tests, open_pool, close_pool);
}
