/*
 * A step that comes in parts is the step that one makes alone, bit for bit,
 * whoever stepped which part; until it is fed the state is what it was; and
 * weights that change in memory change a name two steps later.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/rng.h"
#include "optim/optim.h"

enum { DIMS = 5 * SLICE_GRAIN + 77, HEAD = 5 * SLICE_GRAIN, STEPS = 6 };

static const enum optim_kind kinds[] = {OPTIM_GD,       OPTIM_AGD,
                                        OPTIM_MOMENTUM, OPTIM_NESTEROV,
                                        OPTIM_ADAM,     OPTIM_ADAMW};
enum { KINDS = sizeof kinds / sizeof *kinds };

/* Of somebody else, and the sums of a step. */
static double elsewhere[OPTIM_SHARED][DIMS];
static double squares[2 * (DIMS / SLICE_GRAIN + 1)];
static double sums[DIMS];

static struct optim_options options_of(enum optim_kind kind)
{
    struct optim_options options = optim_defaults(kind);

    options.rows = 100;
    options.steps = STEPS;
    options.rate = 0.01;
    options.l2 = 0.003;
    options.l2_stride = DIMS;
    options.l2_free = DIMS - 2; /* An intercept, and padding. */
    return options;
}

static void draw_sums(uint32_t step)
{
    for (uint32_t j = 0; j < DIMS; j++)
        sums[j] = rng_unit_at(5, step, j) - 0.5;
}

static struct optim_room room_of_others(void)
{
    struct optim_room room = {.blocks = squares};

    for (uint32_t i = 0; i < OPTIM_SHARED; i++)
        room.vector[i] = elsewhere[i];
    return room;
}

/* Part `which`, as bits, are stepped by others, the rest here; where they are
 * cut and which comes first depends on it, too. */
static void gather(struct optim *opt, unsigned which)
{
    const uint32_t cuts[4] = {0, (1 + which % 2) * SLICE_GRAIN, 4 * SLICE_GRAIN,
                              HEAD};

    optim_gather_begin(opt);
    for (uint32_t i = 0; i < 3; i++) {
        const uint32_t k = (i + which) % 3;
        struct optim_part part = {.at = cuts[k], .end = cuts[k + 1]};

        if ((which >> k & 1) != 0) {
            part.room = room_of_others();
            optim_step_part(opt, part.at, part.end, sums + part.at, &part.room,
                            &part.found);
        }
        optim_gather(opt, &part, sums + part.at);
    }
    optim_gather_end(opt);
}

static void open_two(enum optim_kind kind, struct optim *one,
                     struct optim *other)
{
    const struct optim_options options = options_of(kind);

    assert_int_equal(optim_init(one, &options, DIMS), ERR_OK);
    assert_int_equal(optim_init(other, &options, DIMS), ERR_OK);
    one->tap.names = other->tap.names = true;
    assert_int_equal(optim_shared(other), 0);
    assert_int_equal(optim_share(other), ERR_OK);
    assert_int_equal(optim_shared(other), HEAD);
}

static void same(const struct optim *one, const struct optim *other)
{
    const size_t size = (size_t)one->vectors * DIMS * sizeof *one->kept;

    assert_memory_equal(one->kept, other->kept, size);
    assert_true(one->objective == other->objective);
    assert_true(one->gradient_norm == other->gradient_norm);
    assert_true(one->known.largest == other->known.largest);
    assert_int_equal(one->known.named, other->known.named);
    assert_int_equal(one->known.name, other->known.name);
    assert_int_equal(one->step, other->step);
}

static void test_parts(void **state)
{
    (void)state;
    for (unsigned i = 0; i < KINDS; i++)
        for (unsigned which = 0; which < 8; which++) {
            struct optim alone;
            struct optim parted;

            open_two(kinds[i], &alone, &parted);
            for (uint32_t step = 0; step < STEPS; step++) {
                draw_sums(step);
                assert_true(optim_feed(&alone, sums, 3));
                if (step != 3) /* One in between is made alone. */
                    gather(&parted, which);
                assert_true(optim_feed(&parted, sums, 3));
                same(&alone, &parted);
            }
            optim_close(&alone);
            optim_close(&parted);
        }
}

/* What lies ready and is not fed has changed nothing, not even its name. */
static void test_ungathered(void **state)
{
    struct optim alone;
    struct optim parted;

    (void)state;
    open_two(OPTIM_MOMENTUM, &alone, &parted);
    for (uint32_t step = 0; step < STEPS; step++) {
        draw_sums(100 + step);
        gather(&parted, 5);
        elsewhere[0][7] = NAN;
        optim_ungather(&parted);
        draw_sums(step);
        assert_true(optim_feed(&alone, sums, 3));
        gather(&parted, 7);
        assert_true(optim_feed(&parted, sums, 3));
        same(&alone, &parted);
    }
    optim_close(&alone);
    optim_close(&parted);
}

static void test_weights_change(void **state)
{
    struct optim alone;
    struct optim parted;

    (void)state;
    open_two(OPTIM_GD, &alone, &parted);
    for (uint32_t step = 0; step < 3; step++) {
        draw_sums(step);
        assert_true(optim_feed(&alone, sums, 3));
        gather(&parted, 7);
        /* The next weights lie ready; these are only evaluated any more. */
        if (step == 1)
            parted.b[17] += 0x1p-40;
        assert_true(optim_feed(&parted, sums, 3));
        if (step < 2)
            same(&alone, &parted);
    }
    assert_memory_equal(alone.b, parted.b, DIMS * sizeof *alone.b);
    assert_int_not_equal(alone.known.name, parted.known.name);
    optim_close(&alone);
    optim_close(&parted);
}

/* Where the whole gradient counts, or a step is more than one, there are no
 * parts. */
static void test_whole(void **state)
{
    struct optim_options options = options_of(OPTIM_GD);

    (void)state;
    assert_int_equal(optim_part_vectors(&options), 1);
    options.clip = 1;
    assert_int_equal(optim_part_vectors(&options), 0);
    options.clip = 0;
    options.tol = 1e-3;
    assert_int_equal(optim_part_vectors(&options), 0);
    options = options_of(OPTIM_ADAM);
    assert_int_equal(optim_part_vectors(&options), 3);
    options = options_of(OPTIM_LBFGS);
    assert_int_equal(optim_part_vectors(&options), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_parts),
        cmocka_unit_test(test_ungathered),
        cmocka_unit_test(test_weights_change),
        cmocka_unit_test(test_whole),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
