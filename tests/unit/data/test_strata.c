/*
 * Samples by colour (oracle O11): the literal rule against all subsets of small
 * sets, the proportional one against its definition, weighted sums on average
 * and in variance; five pictures with two features after FlexEnt's figure 1;
 * filters whose joint entropy is at most the sum of theirs.
 */
#include "data/rows/strata.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/mem.h"
#include "base/rng.h"
#include "data/rows/colour.h"

#define ROWS    400u
#define COLOURS 8u

/* --- how many of each cell ----------------------------------------------- */

static double entropy_of(const uint32_t *colour, uint32_t rows, uint32_t mask)
{
    uint32_t count[COLOURS] = {0};
    uint32_t total = 0;

    for (uint32_t i = 0; i < rows; i++) {
        count[colour[i]] += mask >> i & 1;
        total += mask >> i & 1;
    }
    return strata_entropy(count, COLOURS, total);
}

/* Of all sets of b rows. */
static double best_entropy(const uint32_t *colour, uint32_t rows, uint32_t b)
{
    double best = 0;

    for (uint32_t mask = 1; mask < 1u << rows; mask++) {
        if ((uint32_t)__builtin_popcount(mask) == b)
            best = fmax(best, entropy_of(colour, rows, mask));
    }
    return best;
}

static void test_greed_is_best(void **state)
{
    struct strata strata;

    (void)state;
    assert_int_equal(strata_init(&strata, 12, COLOURS), ERR_OK);
    for (uint32_t seed = 0; seed < 30; seed++) {
        const uint32_t rows = 2 + (uint32_t)(rng_at(seed, 1, 0) % 11);
        const uint32_t kinds = 1 + (uint32_t)(rng_at(seed, 1, 1) % COLOURS);
        uint32_t colour[12];

        for (uint32_t i = 0; i < rows; i++) /* Rare ones, too. */
            colour[i] = (uint32_t)(rng_at(seed, 2, i) % kinds *
                                   (rng_at(seed, 3, i) % 3) / 2);
        for (uint32_t b = 1; b <= rows; b++) {
            uint32_t mask = 0;

            strata_draw(&strata, DRAW_ENTROPY, colour, rows, b, seed);
            for (uint32_t i = 0; i < b; i++)
                mask |= 1u << strata.row[i];
            assert_int_equal(__builtin_popcount(mask), b);
            assert_true(fabs(entropy_of(colour, rows, mask) -
                             best_entropy(colour, rows, b)) < 1e-12);
        }
    }
    strata_close(&strata);
}

/* One at least, b in all, and nobody's weight above what is promised. */
static void test_proportion(void **state)
{
    (void)state;
    for (uint32_t seed = 0; seed < 3000; seed++) {
        const uint32_t cells = 1 + (uint32_t)(rng_at(seed, 0, 0) % COLOURS);
        uint32_t count[COLOURS];
        uint32_t take[COLOURS];
        uint32_t m = 0;
        uint32_t filled = 0;
        uint32_t sum = 0;
        uint32_t b;

        for (uint32_t c = 0; c < cells; c++) {
            const uint64_t draw = rng_at(seed, 1, c);

            count[c] = (uint32_t)(draw % (draw >> 32 & 1 ? 4 : 300));
            m += count[c];
            filled += count[c] > 0;
        }
        if (m == 0)
            continue;
        b = 1 + (uint32_t)(rng_at(seed, 0, 1) % m);
        if (!strata_share(count, cells, b, false, take)) {
            assert_true(filled > b / DRAW_WEIGHT_MOST);
            continue;
        }
        for (uint32_t c = 0; c < cells; c++) {
            assert_true(take[c] <= count[c]);
            assert_int_equal(take[c] > 0, count[c] > 0);
            if (count[c] > 0)
                assert_true((double)count[c] / take[c] <=
                            DRAW_WEIGHT_MOST * (double)m / b);
            sum += take[c];
        }
        assert_int_equal(sum, b);
    }
}

static void test_largest_remainders(void **state)
{
    static const uint32_t count[] = {55, 25, 0, 19, 1};
    static const uint32_t expected[] = {10, 5, 0, 4, 1};
    uint32_t take[5];

    (void)state; /* 20 of 100: one to the rare cell, then 19/99 of each. */
    assert_true(strata_share(count, 5, 20, false, take));
    assert_memory_equal(take, expected, sizeof take);
}

static void test_sizes(void **state)
{
    (void)state;
    assert_int_equal(draw_size(.1, 30), 3);
    assert_int_equal(draw_size(.1, 31), 4);
    assert_int_equal(draw_size(.07, 100), 7); /* 7.000000000000001 */
    assert_int_equal(draw_size(1e-9, 100), 1);
    assert_int_equal(draw_size(1, 100), 100);
}

/* --- weighted sums ------------------------------------------------------- */

struct world {
    uint32_t colour[ROWS];
    double value[ROWS];
    double total;
};

/* Values go with colours, and spread within them. */
static struct world world_of(uint64_t seed)
{
    struct world world = {.total = 0};

    for (uint32_t i = 0; i < ROWS; i++) {
        const uint64_t draw = rng_at(seed, 0, i);

        world.colour[i] =
            (uint32_t)((draw % COLOURS) * (draw >> 32 & 1)); /* Half are 0. */
        world.value[i] = world.colour[i] + .5 * rng_normal_at(seed, 1, i);
        world.total += world.value[i];
    }
    return world;
}

static double weighted(const struct strata *strata, const struct world *world)
{
    double sum = 0;

    for (uint32_t i = 0; i < strata->count; i++)
        sum += strata->weight[i] * world->value[strata->row[i]];
    return sum;
}

static double variance_told(const struct strata *strata,
                            const struct world *world)
{
    double squares[COLOURS] = {0};
    double sums[COLOURS] = {0};
    double sum = 0;

    for (uint32_t i = 0; i < strata->count; i++) {
        const double value = world->value[strata->row[i]];

        squares[strata->cell[i]] += value * value;
        sums[strata->cell[i]] += value;
        sum += value;
    }
    for (uint32_t c = 0; c < COLOURS; c++)
        sums[c] *= sums[c];
    return strata_variance(strata,
                           &(struct strata_moments){squares, sums, sum * sum});
}

struct seen {
    double mean, variance, told;
};

static struct seen see(struct strata *strata, enum draw_kind kind,
                       const struct world *world, uint32_t b, uint32_t draws)
{
    struct seen seen = {0};

    for (uint32_t i = 0; i < draws; i++) {
        double off;

        strata_draw(strata, kind, world->colour, ROWS, b, i);
        off = weighted(strata, world) - world->total;
        seen.mean += off / draws;
        seen.variance += off * off / draws;
        seen.told += variance_told(strata, world) / draws;
    }
    return seen;
}

static void test_unbiased_and_better(void **state)
{
    static const uint32_t sizes[] = {24, 40, 120};
    struct strata strata;

    (void)state;
    assert_int_equal(strata_init(&strata, ROWS, COLOURS), ERR_OK);
    for (uint32_t k = 0; k < 3; k++) {
        const uint32_t draws = 4000;
        const struct world world = world_of(k);
        const struct seen random =
            see(&strata, DRAW_RANDOM, &world, sizes[k], draws);
        const struct seen even =
            see(&strata, DRAW_STRATA, &world, sizes[k], draws);

        assert_true(fabs(random.mean) < 4 * sqrt(random.variance / draws));
        assert_true(fabs(even.mean) < 4 * sqrt(even.variance / draws));
        assert_true(even.variance <= 1.02 * random.variance);
        assert_true(even.variance < .5 * random.variance); /* Colours tell. */
        assert_true(fabs(random.told / random.variance - 1) < .1);
        assert_true(fabs(even.told / even.variance - 1) < .1);
    }
    strata_close(&strata);
}

static void test_exact_when_all_are_in(void **state)
{
    const struct world world = world_of(9);
    struct strata strata;

    (void)state;
    assert_int_equal(strata_init(&strata, ROWS, COLOURS), ERR_OK);
    for (uint32_t k = 0; k < DRAWS; k++) {
        strata_draw(&strata, (enum draw_kind)k, world.colour, ROWS, ROWS, 1);
        assert_true(fabs(weighted(&strata, &world) - world.total) < 1e-9);
        assert_true(variance_told(&strata, &world) == 0);
    }
    strata_close(&strata);
}

/* A larger sample of the same key has all of the smaller one's rows. */
static void test_nested(void **state)
{
    const struct world world = world_of(3);
    bool small[ROWS] = {false};
    struct strata strata;
    uint32_t found = 0;

    (void)state;
    assert_int_equal(strata_init(&strata, ROWS, COLOURS), ERR_OK);
    strata_draw(&strata, DRAW_STRATA, world.colour, ROWS, 40, 7);
    for (uint32_t i = 0; i < strata.count; i++)
        small[strata.row[i]] = true;
    strata_draw(&strata, DRAW_STRATA, world.colour, ROWS, 80, 7);
    for (uint32_t i = 0; i < strata.count; i++)
        found += small[strata.row[i]];
    assert_int_equal(found, 40);
    strata_close(&strata);
}

static void test_too_many_cells(void **state)
{
    static const uint32_t colour[] = {0, 1, 2, 3, 4, 5, 6, 7};
    struct strata strata;

    (void)state;
    assert_int_equal(strata_init(&strata, 8, COLOURS), ERR_OK);
    strata_draw(&strata, DRAW_STRATA, colour, 8, 4, 1);
    assert_int_equal(strata.cells, 1); /* As a random sample. */
    assert_true(strata.weight[0] == 2);
    strata_close(&strata);
}

/* --- colours ------------------------------------------------------------- */

/* Five faces: eyes (column 0) and mouths (column 1), of two and three kinds,
 * after the paper's figure 1. */
static void faces(struct dataset *data)
{
    static const float eyes[] = {0, 0, 1, 1, 1};
    static const float mouths[] = {0, 1, 1, 2, 2};

    assert_int_equal(dataset_init(data, 5, 2, 8), ERR_OK);
    for (uint32_t i = 0; i < 5; i++) {
        float *const x = dataset_row(data, i);

        x[0] = eyes[i];
        x[1] = mouths[i];
        data->y[i] = 0;
    }
    chunkset_fill(&data->present);
}

static double bits(double p)
{
    return -p * log2(p);
}

static void test_five_faces(void **state)
{
    static const struct filter filter[] = {
        {.kind = FILTER_COLUMN, .arg = 0, .bins = 2, .cut = {.5}},
        {.kind = FILTER_COLUMN, .arg = 1, .bins = 3, .cut = {.5, 1.5}}};
    struct colour_choice choice[FILTERS_MAX];
    struct colouring colouring;
    struct dataset data = {0};
    struct strata strata;
    uint32_t colour[5];
    double values[2];

    (void)state;
    faces(&data);
    assert_int_equal(colour_choose(&data, filter, 2, 5, &colouring, choice),
                     ERR_OK);
    assert_int_equal(colouring.count, 2);
    /* Mouths say more: 1, 2, 2 of 5; then eyes, 2, 3 of 5; the last two faces
     * are alike in both: 1, 1, 1, 2 of 5. */
    assert_int_equal(choice[0].filter.arg, 1);
    assert_true(fabs(choice[0].alone - (bits(.2) + 2 * bits(.4))) < 1e-12);
    assert_true(fabs(choice[1].alone - (bits(.4) + bits(.6))) < 1e-12);
    assert_true(fabs(choice[1].joint - (3 * bits(.2) + bits(.4))) < 1e-12);
    assert_int_equal(choice[1].cells, 4);
    /* Four of five keep all four colours: fewer than either's rates add to. */
    for (uint32_t i = 0; i < 5; i++)
        colour[i] = colour_row(&colouring, &data, i, values);
    assert_int_equal(strata_init(&strata, 5, colouring_colours(&colouring)),
                     ERR_OK);
    strata_draw(&strata, DRAW_ENTROPY, colour, 5, 4, 0);
    for (uint32_t i = 0; i < 4; i++)
        for (uint32_t j = 0; j < i; j++)
            assert_int_not_equal(colour[strata.row[i]], colour[strata.row[j]]);
    strata_close(&strata);
    dataset_close(&data);
}

static void random_rows(struct dataset *data, uint64_t seed, uint32_t rows)
{
    assert_int_equal(dataset_init(data, rows, 16, 64), ERR_OK);
    data->image = (struct image){4, 4, 1};
    for (uint32_t i = 0; i < rows; i++) {
        float *const x = dataset_row(data, i);

        data->y[i] = (double)(rng_at(seed, 5, i) % 3);
        for (uint32_t j = 0; j < 16; j++)
            x[j] =
                (float)(rng_normal_at(seed, i, j) + data->y[i] * (j % 4 == 0));
    }
    data->classes = 3;
    chunkset_fill(&data->present);
}

/* H(f) <= H(f, g) <= H(f) + H(g), and no more cells than are allowed. */
static void test_joint_entropy(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 5; seed++) {
        struct filter filter[FILTERS_TRIED];
        struct colour_choice choice[FILTERS_MAX];
        struct colouring colouring;
        struct dataset data = {0};
        uint32_t count;

        random_rows(&data, seed, 500);
        assert_int_equal(colour_candidates(&data, NULL, filter, &count, NULL),
                         ERR_OK);
        assert_true(count >= 8); /* Label, images and projections. */
        assert_int_equal(
            colour_choose(&data, filter, count, 60, &colouring, choice),
            ERR_OK);
        assert_true(colouring.count >= 2 && colouring_fits(&colouring));
        for (uint32_t i = 1; i < colouring.count; i++) {
            assert_true(choice[i].joint > choice[i - 1].joint);
            assert_true(choice[i].joint <=
                        choice[i - 1].joint + choice[i].alone + 1e-12);
            assert_true(choice[i].cells <= 60);
        }
        dataset_close(&data);
    }
}

static void test_wishes(void **state)
{
    struct filter filter[FILTERS_TRIED];
    struct dataset data = {0};
    struct why why = {0};
    char text[FILTER_TEXT];
    uint32_t count;

    (void)state;
    random_rows(&data, 1, 50);
    assert_int_equal(colour_candidates(&data, "label+block:1,0+column:3",
                                       filter, &count, &why),
                     ERR_OK);
    assert_int_equal(count, 3);
    assert_string_equal(filter_text(&filter[1], text), "block:1,0");
    assert_string_equal(filter_text(&filter[2], text), "column:3");
    assert_int_equal(filter[2].arg, 2); /* Users count from 1. */
    assert_int_equal(filter[0].bins, 3);
    assert_int_equal(
        colour_candidates(&data, "label+column:16", filter, &count, &why),
        ERR_OK);
    assert_int_equal(
        colour_candidates(&data, "label+column:17", filter, &count, &why),
        ERR_RANGE);
    assert_int_equal(
        colour_candidates(&data, "label+column:0", filter, &count, &why),
        ERR_RANGE);
    assert_int_equal(colour_candidates(&data, "smile", filter, &count, &why),
                     ERR_RANGE);
    dataset_close(&data);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_greed_is_best),
        cmocka_unit_test(test_proportion),
        cmocka_unit_test(test_largest_remainders),
        cmocka_unit_test(test_sizes),
        cmocka_unit_test(test_unbiased_and_better),
        cmocka_unit_test(test_exact_when_all_are_in),
        cmocka_unit_test(test_nested),
        cmocka_unit_test(test_too_many_cells),
        cmocka_unit_test(test_five_faces),
        cmocka_unit_test(test_joint_entropy),
        cmocka_unit_test(test_wishes),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
