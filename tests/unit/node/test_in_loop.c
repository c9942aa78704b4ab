/*
 * Which pieces a worker's loop computes itself: long sequences of pieces,
 * played with every count written down, at both sides of each bound.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "node/worker/in_loop.h"

static const struct computation piece = {
    .what = {.kind = EVALUATE_GRADIENT}, .first = 10, .end = 20};

/* As after a piece that took so long. */
static struct in_loop after(int64_t took_us)
{
    struct in_loop loop = {0};

    in_loop_note(&loop, &piece, ERR_OK, took_us);
    return loop;
}

/* The next pieces, of which nobody cancels one: those for the loop. */
static uint32_t count(struct in_loop *loop, uint32_t pieces, bool idle)
{
    uint32_t here = 0;

    for (uint32_t i = 0; i < pieces; i++)
        here += in_loop_takes(loop, &piece, idle);
    return here;
}

static void test_first_piece(void **state)
{
    struct in_loop loop = {0};

    (void)state;
    assert_int_equal(count(&loop, 100, true), 0); /* Nobody knows how long. */
}

static void test_quick_pieces(void **state)
{
    struct in_loop quick = after(900), slow = after(1100);

    (void)state;
    assert_int_equal(count(&quick, 200, false), 200);
    assert_int_equal(count(&slow, 200, false), 0);
}

/* 8 of every 64 are for the thread, in which a CANCEL is heard. */
static void test_calm(void **state)
{
    struct in_loop loop = after(3900), slow = after(4100);

    (void)state;
    assert_int_equal(count(&loop, 8, true), 0);
    assert_int_equal(count(&loop, 56, true), 56);
    assert_int_equal(count(&loop, 8, true), 0);
    assert_int_equal(count(&loop, 56, true), 56);
    assert_int_equal(count(&loop, 640, true), 560);
    assert_int_equal(count(&slow, 640, true), 0);
}

/* Wherever it comes, eight are for the thread again. */
static void test_cancel(void **state)
{
    (void)state;
    for (uint32_t before = 0; before < 130; before++) {
        struct in_loop loop = after(3000);

        (void)count(&loop, before, true);
        in_loop_cancelled(&loop);
        assert_int_equal(count(&loop, 8, true), 0);
        assert_int_equal(count(&loop, 56, true), 56);
    }
}

/* Cancelled every so often, it is never calm. */
static void test_never_calm(void **state)
{
    struct in_loop loop = after(3000);

    (void)state;
    for (uint32_t i = 0; i < 100; i++) {
        assert_int_equal(count(&loop, 8, true), 0);
        in_loop_cancelled(&loop);
    }
}

/* What else the loop has to do may come and go; pieces are counted all the
 * same. */
static void test_busy(void **state)
{
    struct in_loop loop = after(3000);

    (void)state;
    assert_int_equal(count(&loop, 32, false), 0);
    assert_int_equal(count(&loop, 32, true), 32);
    assert_int_equal(count(&loop, 8, true), 0);
}

/* Pieces that the loop computes one after the other keep it no longer. */
static void test_kept(void **state)
{
    struct in_loop loop = after(500);

    (void)state;
    in_loop_kept(&loop, 999);
    assert_true(in_loop_takes(&loop, &piece, false));
    in_loop_kept(&loop, 1);
    assert_false(in_loop_takes(&loop, &piece, false));
    in_loop_looked(&loop);
    assert_true(in_loop_takes(&loop, &piece, false));
    (void)count(&loop, CALM_LOOKS, true);
    in_loop_kept(&loop, 3999);
    assert_true(in_loop_takes(&loop, &piece, true));
    in_loop_kept(&loop, 1);
    assert_false(in_loop_takes(&loop, &piece, true));
}

/* Longer pieces take longer, and other ones another time. */
static void test_other_pieces(void **state)
{
    const struct computation twice = {.what = {.kind = EVALUATE_GRADIENT},
                                      .end = 20};
    const struct computation other = {.what = {.kind = EVALUATE_HESSVEC},
                                      .end = 10};
    struct in_loop loop = after(600);

    (void)state;
    assert_true(in_loop_takes(&loop, &piece, false));
    assert_false(in_loop_takes(&loop, &twice, false));
    assert_false(in_loop_takes(&loop, &other, false));
    in_loop_note(&loop, &other, ERR_OK, 100);
    assert_true(in_loop_takes(&loop, &other, false));
    assert_false(in_loop_takes(&loop, &piece, false));
}

/* What a Hessian that was called off at once took is no time of Hessians, nor
 * are gradients' times. */
static void test_called_off(void **state)
{
    const struct computation hessian = {.what = {.kind = EVALUATE_HESSIAN},
                                        .end = 10};
    struct in_loop loop = after(500);

    (void)state;
    in_loop_note(&loop, &hessian, ERR_CANCELLED, 20);
    assert_false(in_loop_fits(&loop, &hessian, 4000));
    assert_true(in_loop_fits(&loop, &piece, 4000));
    in_loop_note(&loop, &hessian, ERR_OK, 5000);
    assert_false(in_loop_fits(&loop, &hessian, 4000));
    in_loop_note(&loop, &hessian, ERR_OK, 3900);
    assert_true(in_loop_fits(&loop, &hessian, 4000));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_first_piece), cmocka_unit_test(test_quick_pieces),
        cmocka_unit_test(test_calm),        cmocka_unit_test(test_cancel),
        cmocka_unit_test(test_never_calm),  cmocka_unit_test(test_busy),
        cmocka_unit_test(test_kept),        cmocka_unit_test(test_other_pieces),
        cmocka_unit_test(test_called_off),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
