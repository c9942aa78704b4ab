/*
 * Tensors of a small network are held against torch's order written out by
 * hand, and come back to the same place; operations are counted by hand.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>

#include "model/net/neural_model.h"

static const struct neural_shape image = {4, 3, 2};

static void make(struct neural_model *model, const char *text)
{
    const struct neural_units units = neural_units(255);
    struct why why = {0};

    assert_int_equal(
        neural_model_init(model, text, &image, NEURAL_SOFTMAX, &units, &why),
        ERR_OK);
}

static void assert_tensor(const struct neural *net, uint32_t t,
                          const char *name, uint32_t rank,
                          const uint32_t *shape)
{
    const struct neural_torch got = neural_torch(net, t);

    assert_string_equal(got.name, name);
    assert_int_equal(got.rank, rank);
    assert_memory_equal(got.shape, shape, rank * sizeof *shape);
}

static void test_names_and_shapes(void **state)
{
    struct neural_model model;

    (void)state;
    make(&model, "conv2x3x5 relu dense4 tanh dense2");
    assert_int_equal(model.neural.tensor_count, 6);
    assert_tensor(&model.neural, 0, "0.weight", 4, (uint32_t[]){5, 2, 2, 3});
    assert_tensor(&model.neural, 1, "0.bias", 1, (uint32_t[]){5});
    assert_tensor(&model.neural, 2, "3.weight", 2, (uint32_t[]){4, 15});
    assert_tensor(&model.neural, 3, "3.bias", 1, (uint32_t[]){4});
    assert_tensor(&model.neural, 4, "5.weight", 2, (uint32_t[]){2, 4});
    neural_model_close(&model);
    make(&model, "conv4x3x5 relu dense4"); /* 1 x 1 pixel is an image, too. */
    assert_tensor(&model.neural, 2, "3.weight", 2, (uint32_t[]){4, 5});
    neural_model_close(&model);
}

/* Parameters that say where they lie. */
static void assert_order(const struct neural *net, uint32_t t,
                         size_t (*ours)(size_t i))
{
    float parameters[256], numbers[256], back[256] = {0};

    assert_true(net->parameters <= 256);
    for (size_t i = 0; i < net->parameters; i++)
        parameters[i] = (float)i;
    neural_torch_out(net, t, parameters, numbers);
    neural_torch_in(net, t, numbers, back);
    for (size_t i = 0; i < net->tensors[t].count; i++)
        assert_int_equal((size_t)numbers[i], net->tensors[t].first + ours(i));
    assert_memory_equal(back + net->tensors[t].first,
                        parameters + net->tensors[t].first,
                        net->tensors[t].count * sizeof *back);
}

/* conv2x3x5 on two channels: [o][c][dy][dx] to [o][dy][dx][c]. */
static size_t conv_place(size_t i)
{
    const size_t dx = i % 3, dy = i / 3 % 2, c = i / 6 % 2, o = i / 12;

    return ((o * 2 + dy) * 3 + dx) * 2 + c;
}

/* dense4 on 3 x 1 x 5: [o][c][y] to [y][c][o]. */
static size_t dense_place(size_t i)
{
    const size_t y = i % 3, c = i / 3 % 5, o = i / 15;

    return (y * 5 + c) * 4 + o;
}

static size_t same_place(size_t i)
{
    return i;
}

static void test_order(void **state)
{
    struct neural_model model;

    (void)state;
    make(&model, "conv2x3x5 relu dense4 tanh dense2");
    assert_order(&model.neural, 0, conv_place);
    assert_order(&model.neural, 1, same_place);
    assert_order(&model.neural, 2, dense_place);
    assert_order(&model.neural, 3, same_place);
    neural_model_close(&model);
}

static void test_flops(void **state)
{
    struct neural_model model;

    (void)state;
    make(&model, "conv2x3x5 relu pool1 dense4 drop.5 dense2");
    assert_int_equal(neural_flops(&model.neural),
                     2 * (3 * 5 * 12 + 15 * 4 + 4 * 2));
    neural_model_close(&model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_names_and_shapes),
        cmocka_unit_test(test_order),
        cmocka_unit_test(test_flops),
    };

    return cmocka_run_group_tests_name("neural_model", tests, NULL, NULL);
}
