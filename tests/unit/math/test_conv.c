/*
 * Convolutions: every instruction set against the definition, bit by bit, for
 * odd shapes, strides and borders, with gradients that are mostly 0 (lists) and
 * mostly not (tiles).  The definition may differ in the sign of a 0.
 */
#include "math/net/conv.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/mem.h"
#include "base/rng.h"

enum { CASES = 240, ROOM = 1 << 18, SCRATCH = 1 << 21, BEHIND = 1 << 18 };

struct bench {
    float *x, *w, *bias, *packed, *scratch;
    float *dy;
    struct rng rng;
};

/* Results of one variant. */
struct results {
    float *y, *dw, *db, *dx;
};

static float *room(size_t floats)
{
    float *const got = mem_new(floats, sizeof(float));

    assert_non_null(got);
    return got;
}

static struct results results_new(void)
{
    return (struct results){room(ROOM), room(ROOM), room(ROOM), room(ROOM)};
}

static void results_free(struct results *r)
{
    mem_free(r->y);
    mem_free(r->dw);
    mem_free(r->db);
    mem_free(r->dx);
}

static int set_up(void **state)
{
    static struct bench b;

    b.x = room(ROOM);
    b.w = room(ROOM);
    b.bias = room(ROOM);
    b.packed = room(ROOM);
    b.dy = room(ROOM);
    b.scratch = room(SCRATCH);
    rng_init(&b.rng, 12);
    *state = &b;
    return 0;
}

static int tear_down(void **state)
{
    struct bench *const b = *state;

    mem_free(b->x);
    mem_free(b->w);
    mem_free(b->bias);
    mem_free(b->packed);
    mem_free(b->dy);
    mem_free(b->scratch);
    return 0;
}

static uint32_t between(struct rng *rng, int64_t low, int64_t high)
{
    return (uint32_t)rng_between(rng, low, high);
}

/* Every third with the channels that lists are made for, of these every
 * other, and one more, as winograd.h wants them, and every fourth with its
 * kernel at every second pixel; now and then one channel under 3 x 3, a tile
 * of its own. */
static struct conv any(struct rng *rng, uint32_t test)
{
    struct conv c = {.tall = between(rng, 1, 5), .wide = between(rng, 1, 5)};

    c.stride = between(rng, 1, 3);
    if (test % 6 < 2 || test % 12 == 3) {
        c.tall = c.wide = 3;
        c.stride = test % 12 == 3 || test % 12 == 6 ? 2 : 1;
    }
    c.pad = between(rng, 0, c.tall < c.wide ? c.tall - 1 : c.wide - 1);
    c.height = c.tall + between(rng, 0, 12);
    c.width = c.wide + between(rng, 0, 33);
    c.in = between(rng, 1, 20);
    c.out = between(rng, 1, 40);
    if (test % 3 == 0 || test % 6 == 1) {
        c.in = 16 * between(rng, 1, 3);
        c.out = 16 * between(rng, 1, 3);
    }
    if (test % 12 == 8) {
        c.tall = c.wide = 3;
        c.pad = between(rng, 0, 2);
        c.height += 2;
        c.width += 2;
        c.in = 1;
    }
    return c;
}

static size_t inputs(const struct conv *c)
{
    return (size_t)c->height * c->width * c->in;
}

static size_t outputs(const struct conv *c)
{
    return (size_t)conv_height(c) * conv_width(c) * c->out;
}

static void fill(struct rng *rng, float *x, size_t count, double share)
{
    for (size_t i = 0; i < count; i++)
        x[i] = rng_chance(rng, share) ? (float)(rng_unit(rng) - 0.5) : 0;
}

/* Floats behind what a convolution may use, which must stay as they are. */
static float *behind(const struct bench *b, const struct conv *c)
{
    assert_true(conv_scratch(c) + BEHIND <= SCRATCH);
    return b->scratch + conv_scratch(c);
}

static void run(struct bench *b, enum isa isa, const struct conv *c,
                const struct results *r)
{
    float *const mark = behind(b, c);

    const struct conv_backward back = {.x = b->x,
                                       .weights = b->w,
                                       .packed = b->packed,
                                       .dy = b->dy,
                                       .dw = r->dw,
                                       .db = r->db,
                                       .dx = r->dx};

    assert_true(conv_packed(c) <= ROOM);
    for (size_t i = 0; i < BEHIND; i++)
        mark[i] = 7;
    conv_pack(isa, c, b->w, b->packed);
    conv_forward(isa, c, b->x, b->packed, b->bias, r->y, b->scratch);
    conv_backward(isa, c, &back, b->scratch);
    for (size_t i = 0; i < BEHIND; i++)
        assert_true(mark[i] == 7);
}

/* Bits, but for the sign of a 0. */
static bool alike(const float *a, const float *b, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (!(a[i] == b[i]))
            return false;
    }
    return true;
}

static void every_isa_has_the_definitions_bits(void **state)
{
    struct bench *const b = *state;
    struct results ref = results_new(), first = results_new(),
                   now = results_new();

    for (uint32_t test = 0; test < CASES; test++) {
        const struct conv c = any(&b->rng, test);
        const struct conv_backward back = {.x = b->x,
                                           .weights = b->w,
                                           .dy = b->dy,
                                           .dw = ref.dw,
                                           .db = ref.db,
                                           .dx = ref.dx};
        const size_t weights = c.out * conv_patch(&c);

        fill(&b->rng, b->x, inputs(&c), 0.8);
        fill(&b->rng, b->w, weights, 1);
        fill(&b->rng, b->bias, c.out, 1);
        fill(&b->rng, b->dy, outputs(&c), test % 2 == 0 ? 0.15 : 0.9);
        conv_forward_ref(&c, b->x, b->w, b->bias, ref.y);
        conv_backward_ref(&c, &back);
        for (unsigned isa = 0; isa < ISAS; isa++) {
            const struct results *const r = isa == ISA_PORTABLE ? &first : &now;

            if (!isa_runs((enum isa)isa))
                continue;
            run(b, (enum isa)isa, &c, r);
            if (!alike(r->y, ref.y, outputs(&c)) ||
                !alike(r->dw, ref.dw, weights) ||
                !alike(r->db, ref.db, c.out) ||
                !alike(r->dx, ref.dx, inputs(&c)))
                fail_msg("case %u differs on %s: %u x %u x %u, kernel %u x %u "
                         "x %u, stride %u, pad %u",
                         test, isa_name((enum isa)isa), c.height, c.width, c.in,
                         c.tall, c.wide, c.out, c.stride, c.pad);
            assert_memory_equal(r->y, first.y, outputs(&c) * sizeof(float));
            assert_memory_equal(r->dw, first.dw, weights * sizeof(float));
            assert_memory_equal(r->db, first.db, c.out * sizeof(float));
            assert_memory_equal(r->dx, first.dx, inputs(&c) * sizeof(float));
        }
    }
    results_free(&ref);
    results_free(&first);
    results_free(&now);
}

/* An image that is large beside the room for squares, and has no border. */
static void large_images_stay_in_their_room(void **state)
{
    static const struct conv c = {.height = 127,
                                  .width = 127,
                                  .in = 16,
                                  .tall = 3,
                                  .wide = 3,
                                  .out = 16,
                                  .stride = 2};
    struct bench *const b = *state;
    struct results r = results_new();

    assert_true(inputs(&c) <= ROOM);
    fill(&b->rng, b->x, inputs(&c), 0.8);
    fill(&b->rng, b->w, c.out * conv_patch(&c), 1);
    fill(&b->rng, b->bias, c.out, 1);
    fill(&b->rng, b->dy, outputs(&c), 0.9);
    for (unsigned isa = 0; isa < ISAS; isa++) {
        if (isa_runs((enum isa)isa))
            run(b, (enum isa)isa, &c, &r);
    }
    results_free(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_isa_has_the_definitions_bits),
        cmocka_unit_test(large_images_stay_in_their_room),
    };

    return cmocka_run_group_tests(tests, set_up, tear_down);
}
