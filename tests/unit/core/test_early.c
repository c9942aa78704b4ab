/*
 * Early stopping: when a loss is wanted, when it is over, which weights are the
 * model, and that a saved state decides as the one it was saved of.
 */
#include "core/run/early.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#define EVERY 10u

static struct early begin(uint32_t patience)
{
    const struct early_options options = {
        .every = EVERY, .patience = patience, .dims = 2};
    struct early early;

    assert_int_equal(early_init(&early, &options), ERR_OK);
    return early;
}

static void end_pass(struct early *early, uint32_t pass, double loss)
{
    const double weights[2] = {pass, -(double)pass};

    assert_true(early_due(early, pass * EVERY));
    early_take(early, pass * EVERY, loss, weights);
    assert_false(early_due(early, pass * EVERY)); /* Once. */
}

static void test_when_it_is_due(void **state)
{
    const struct early_options none = {.dims = 2};
    struct early early = begin(1);

    (void)state;
    assert_false(early_due(&early, 0));
    assert_false(early_due(&early, EVERY - 1));
    assert_true(early_due(&early, EVERY));
    assert_false(early_due(&early, EVERY + 1));
    early_close(&early);
    assert_int_equal(early_init(&early, &none), ERR_OK);
    assert_false(early_due(&early, EVERY));
    early_close(&early);
}

static void test_best_pass_is_the_model(void **state)
{
    static const double losses[] = {3, 2, 2.5, 1, 1, 4};
    const double last[2] = {9, 9};
    struct early early = begin(2);

    (void)state;
    assert_ptr_equal(early_model(&early, last), last);
    for (uint32_t i = 0; i < 6; i++) {
        assert_false(early_over(&early));
        end_pass(&early, i + 1, losses[i]);
    }
    assert_true(early_over(&early)); /* As low is no lower. */
    assert_int_equal(early.best_step, 4 * EVERY);
    assert_true(early_model(&early, last)[0] == 4);
    assert_true(early_model(&early, last)[1] == -4);
    early_close(&early);
}

static void test_what_is_not_finite_gains_nothing(void **state)
{
    const double last[2] = {9, 9};
    struct early early = begin(2);

    (void)state;
    end_pass(&early, 1, nan(""));
    assert_ptr_equal(early_model(&early, last), last);
    end_pass(&early, 2, 5);
    end_pass(&early, 3, HUGE_VAL);
    assert_false(early_over(&early));
    end_pass(&early, 4, nan(""));
    assert_true(early_over(&early));
    assert_int_equal(early.best_step, 2 * EVERY);
    early_close(&early);
}

static void test_without_patience_it_only_looks(void **state)
{
    const double last[2] = {9, 9};
    struct early early = begin(0);

    (void)state;
    for (uint32_t pass = 1; pass < 50; pass++)
        end_pass(&early, pass, pass);
    assert_false(early_over(&early));
    assert_ptr_equal(early_model(&early, last), last);
    early_close(&early);
}

/* What was seen last is there after a resume, unless nothing is held out any
 * more; and one that held nothing out before can begin to. */
static void test_what_was_seen_comes_back(void **state)
{
    const struct early_options none = {.dims = 2};
    struct early early = begin(0), same = begin(0), blind;
    uint8_t bytes[128];
    struct writer out = writer_on(bytes, sizeof bytes);
    struct reader in;

    (void)state;
    assert_int_equal(early_init(&blind, &none), ERR_OK);
    end_pass(&early, 1, 7);
    early_save(&early, &out);
    assert_int_equal(out.size, early_bytes(&early));
    assert_int_equal(out.size, early_bytes(&blind));
    in = reader_on(bytes, out.size);
    assert_int_equal(early_load(&same, &in), ERR_OK);
    assert_int_equal(same.step, EVERY);
    assert_true(same.loss == 7);
    in = reader_on(bytes, out.size);
    assert_int_equal(early_load(&blind, &in), ERR_OK);
    assert_int_equal(blind.step, 0);
    assert_true(blind.loss == HUGE_VAL);
    out = writer_on(bytes, sizeof bytes);
    early_save(&blind, &out);
    in = reader_on(bytes, out.size);
    assert_int_equal(early_load(&same, &in), ERR_OK);
    assert_true(early_due(&same, EVERY));
    early_close(&early);
    early_close(&same);
    early_close(&blind);
}

/* Cut anywhere, it goes on as if it had not been. */
static void test_saved_state(void **state)
{
    static const double losses[] = {3, 2, 2.5, 1, 1, 4};

    (void)state;
    for (uint32_t cut = 0; cut <= 6; cut++) {
        struct early early = begin(2), other = begin(2);
        uint8_t bytes[128];
        struct writer out = writer_on(bytes, sizeof bytes);
        struct reader in;

        for (uint32_t i = 0; i < cut; i++)
            end_pass(&early, i + 1, losses[i]);
        early_save(&early, &out);
        assert_true(out.ok);
        assert_int_equal(out.size, early_bytes(&early));
        in = reader_on(bytes, out.size);
        assert_int_equal(early_load(&other, &in), ERR_OK);
        for (uint32_t i = cut; i < 6; i++)
            end_pass(&other, i + 1, losses[i]);
        assert_true(early_over(&other));
        assert_int_equal(other.best_step, 4 * EVERY);
        assert_true(early_model(&other, NULL)[0] == 4);
        in = reader_on(bytes, out.size - 1);
        assert_int_equal(early_load(&other, &in), ERR_FORMAT);
        early_close(&early);
        early_close(&other);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_when_it_is_due),
        cmocka_unit_test(test_best_pass_is_the_model),
        cmocka_unit_test(test_what_is_not_finite_gains_nothing),
        cmocka_unit_test(test_without_patience_it_only_looks),
        cmocka_unit_test(test_what_was_seen_comes_back),
        cmocka_unit_test(test_saved_state),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
