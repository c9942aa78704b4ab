/*
 * Placement `homes`: whatever the homes and the number of owners, pieces are a
 * partition of all chunks, none reaches over the border of a home, and a slot
 * has and computes nothing of another home.
 */
#include "code/code.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "base/rng.h"
#include "code/code_fixture.h"

enum { HOMES = 6, SEEDS = 300 };

struct layout {
    struct code_homes homes;
    uint32_t chunk[HOMES + 1], slot[HOMES + 1];
};

static void draw(struct layout *layout, struct rng *rng)
{
    const uint32_t count = 1 + (uint32_t)rng_below(rng, HOMES);

    *layout = (struct layout){0};
    for (uint32_t h = 0; h < count; h++) {
        layout->chunk[h + 1] =
            layout->chunk[h] + 1 + (uint32_t)rng_below(rng, 30);
        layout->slot[h + 1] = layout->slot[h] + 1 + (uint32_t)rng_below(rng, 4);
    }
    layout->homes = (struct code_homes){
        .count = count, .chunk = layout->chunk, .slot = layout->slot};
}

static struct code build(const struct layout *layout, const char *name)
{
    const uint32_t slots = layout->slot[layout->homes.count];
    struct code_spec spec = spec_of((struct shape){name, slots, 0, 0, 0});
    struct code code = {0};
    struct why why = {0};

    spec.placement = PLACE_HOMES;
    spec.homes = &layout->homes;
    assert_int_equal(code_build(&code, &spec, slots,
                                layout->chunk[layout->homes.count], &why),
                     ERR_OK);
    return code;
}

static uint32_t home_of(const struct layout *layout, const uint32_t *border,
                        uint32_t at)
{
    uint32_t home = 0;

    while (home + 1 < layout->homes.count && border[home + 1] <= at)
        home++;
    return home;
}

static void check_slot(const struct layout *layout, const struct code *code,
                       uint32_t slot)
{
    const uint32_t home = home_of(layout, layout->slot, slot);
    uint32_t ids[PIECES_MAX];
    const uint32_t count = code_work(code, slot, ids, PIECES_MAX);

    for (uint32_t i = 0; i < count; i++)
        assert_int_equal(
            home_of(layout, layout->chunk, code->pieces[ids[i]].first), home);
    for (uint32_t id = 0; id < code->piece_count; id++)
        assert_true(
            code_holds(code, slot, id) ==
            (home_of(layout, layout->chunk, code->pieces[id].first) == home));
}

static void check(const struct layout *layout, const struct code *code)
{
    uint32_t at = 0;

    for (uint32_t id = 0; id < code->piece_count; id++) {
        const struct piece *piece = &code->pieces[id];

        assert_int_equal(piece->first, at);
        assert_true(piece->end > piece->first);
        assert_int_equal(home_of(layout, layout->chunk, piece->first),
                         home_of(layout, layout->chunk, piece->end - 1));
        at = piece->end;
    }
    assert_int_equal(at, code->chunks);
    for (uint32_t slot = 0; slot < code->slots; slot++)
        check_slot(layout, code, slot);
}

/* An exact step needs somebody of every home, and no more. */
static void check_feasible(const struct layout *layout, const struct code *code)
{
    for (uint32_t mask = 0; code->slots <= 10 && mask < 1u << code->slots;
         mask++) {
        bool all = true;

        for (uint32_t h = 0; h < layout->homes.count; h++) {
            bool some = false;

            for (uint32_t s = layout->slot[h]; s < layout->slot[h + 1]; s++)
                some = some || (mask >> s & 1) != 0;
            all = all && some;
        }
        assert_true(feasible_with(code, mask) == all);
    }
}

static void test_stays_home(void **state)
{
    struct rng rng;

    (void)state;
    rng_init(&rng, 8);
    for (int seed = 0; seed < SEEDS; seed++) {
        static const char *const names[] = {"steal", "uncoded"};
        struct layout layout;
        struct code code;

        draw(&layout, &rng);
        code = build(&layout, names[seed % 2]);
        check(&layout, &code);
        assert_int_equal(code.exactness, EXACT_BITWISE);
        if (seed % 2 == 0)
            check_feasible(&layout, &code);
        code_close(&code);
    }
}

static void test_other_homes(void **state)
{
    struct layout layout;
    struct code_spec spec = spec_of((struct shape){"steal", 3, 0, 0, 0});
    struct code code;
    struct rng rng;
    struct why why;

    (void)state;
    rng_init(&rng, 9);
    draw(&layout, &rng);
    spec.placement = PLACE_HOMES;
    spec.homes = &layout.homes;
    assert_int_equal(code_build(&code, &spec,
                                layout.slot[layout.homes.count] + 1,
                                layout.chunk[layout.homes.count], &why),
                     ERR_SHAPE);
    assert_non_null(strstr(why.text, "leave -n and --workers out"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_stays_home),
        cmocka_unit_test(test_other_homes),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
