/*
 * The constants of each model's residual bound, curvature and loss are tried on
 * a grid of scores and labels against the kernel's own.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <string.h>

#include "model/linear/problem.h"

/* dloss/dz and the loss by the kernel: one row, one column, x = 1. */
static double residual(struct loss loss, double z, double y, double *value)
{
    static const float x[8] = {1};
    const double w[8] = {z};
    const struct dense_rows rows = {.x = x, .y = &y, .rows = 1, .stride = 8};
    double g[8];

    kernel_gradient_ref(loss, &rows, w, g, value);
    return g[0];
}

static void assert_bounds(const struct model_ops *model, double z, double y)
{
    double loss, beyond;
    const double r = residual(model->loss, z, y, &loss);
    const double next = residual(model->loss, z + 0.01, y, &beyond);
    const double root = fabs(y) + fabs(z);
    const double bound =
        model->bound_label * fabs(y) + model->bound_score * fabs(z);

    assert_true(fabs(r) <= bound * (1 + 1e-14));
    if (!model->kinks)
        assert_true(next - r <= model->curvature * 0.01 * 1.0001);
    assert_true(next - r >= -1e-12); /* Convex. */
    assert_true(loss <= (model->squared ? root * root : 2 * fabs(z) + 32) *
                            (1 + 1e-14));
}

static void test_bounds_hold_on_a_grid(void **state)
{
    (void)state;
    for (int kind = 0; kind < 4; kind++) {
        const struct model_ops *model = model_ops((enum model_kind)kind);

        for (int i = -600; i <= 600; i++) {
            assert_bounds(model, 0.037 * i, -1);
            assert_bounds(model, 0.037 * i, 1);
            if (model->regression)
                assert_bounds(model, 0.037 * i, 40);
        }
    }
}

static void test_names(void **state)
{
    static const char *const names[] = {"linear", "logistic", "svm", "hinge",
                                        "softmax"};

    (void)state;
    for (int i = 0; i < 5; i++) {
        enum model_kind kind;

        assert_int_equal(model_parse(names[i], &kind), ERR_OK);
        assert_string_equal(model_ops(kind)->name, names[i]);
    }
    {
        enum model_kind kind = MODEL_SVM;

        assert_int_equal(model_parse("mlp", &kind), ERR_UNKNOWN);
        assert_int_equal(kind, MODEL_SVM);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_bounds_hold_on_a_grid),
        cmocka_unit_test(test_names),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
