/*
 * A network is written and read back to the same bits, labels, encoder and all.
 * Files with another net, other tensors, numbers that are not finite or a
 * flipped bit give one sentence each.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "model/file.h"
#include "model/files/safetensors.h"
#include "model/net/neural_model.h"

static const struct neural_shape image = {4, 3, 2};
static double labels[] = {3, -1.5, 1e300};

static struct model_file make(const char *text, enum neural_loss loss)
{
    const struct neural_units units =
        loss == NEURAL_SOFTMAX
            ? neural_units(255)
            : (struct neural_units){255, -152.25, 1e-3, -1, 255};
    struct model_file model = {0};
    struct why why = {0};

    model.net = mem_new(1, sizeof *model.net);
    assert_non_null(model.net);
    assert_int_equal(
        neural_model_init(model.net, text, &image, loss, &units, &why), ERR_OK);
    model.net->parameters =
        mem_new(model.net->neural.parameters, sizeof(float));
    assert_non_null(model.net->parameters);
    neural_draw(&model.net->neural, 7, model.net->parameters);
    model.features = 24;
    model.outputs = (uint32_t)neural_floats(&model.net->neural.out);
    model.kind = loss == NEURAL_SOFTMAX ? MODEL_SOFTMAX : MODEL_LINEAR;
    model.classes = loss == NEURAL_SOFTMAX ? model.outputs : 0;
    model.label = mem_new(model.classes, sizeof *model.label);
    assert_non_null(model.label);
    for (uint32_t k = 0; k < model.classes; k++)
        model.label[k] = labels[k];
    return model;
}

static void assert_same(const struct model_file *a, const struct model_file *b)
{
    assert_int_equal(a->kind, b->kind);
    assert_int_equal(a->features, b->features);
    assert_int_equal(a->outputs, b->outputs);
    assert_int_equal(a->classes, b->classes);
    assert_int_equal(a->intercept, b->intercept);
    assert_memory_equal(a->label, b->label, a->classes * sizeof *a->label);
    assert_string_equal(a->net->text, b->net->text);
    assert_memory_equal(&a->net->units, &b->net->units, sizeof a->net->units);
    assert_memory_equal(&a->net->neural.in, &b->net->neural.in,
                        sizeof a->net->neural.in);
    assert_int_equal(a->net->neural.loss, b->net->neural.loss);
    assert_memory_equal(a->net->parameters, b->net->parameters,
                        model_file_numbers(a) * sizeof(float));
    assert_int_equal(a->encoder.kind, b->encoder.kind);
    assert_int_equal(a->encoder.from_zero, b->encoder.from_zero);
}

static void assert_round_trip(const struct model_file *model)
{
    struct model_file again;
    struct why why = {0};
    char *bytes = NULL, *second = NULL;
    size_t size = 0, second_size = 0;

    assert_int_equal(model_file_encode(model, &bytes, &size), ERR_OK);
    assert_int_equal(model_file_decode(&again, bytes, size, &why), ERR_OK);
    assert_same(model, &again);
    assert_int_equal(model_file_encode(&again, &second, &second_size), ERR_OK);
    assert_int_equal(size, second_size);
    assert_memory_equal(bytes, second, size);
    model_file_close(&again);
    mem_free(bytes);
    mem_free(second);
}

static void test_round_trip(void **state)
{
    struct model_file model =
        make("conv2x2x3 relu pool2 drop.5 dense4 tanh dense3", NEURAL_SOFTMAX);

    (void)state;
    assert_round_trip(&model);
    model.encoder.kind = ENCODER_ROWS;
    model.encoder.from_zero = true;
    assert_round_trip(&model);
    model_file_close(&model);
    model = make("dense4 sigmoid dense1", NEURAL_SQUARED);
    assert_round_trip(&model);
    model_file_close(&model);
}

/* Words of a table may be of any bytes. */
static void test_encoder_of_any_bytes(void **state)
{
    static const char text[] = "muster encoder 2\ntable 25 bare\nlabel 25 %\n"
                               "classes 3 a\xe9 b\xc3\xa9 c\ncolumns 24\n";
    struct model_file model = make("dense3", NEURAL_SOFTMAX);
    char whole[2048], *bytes = NULL;
    size_t size = 0, used = sizeof text - 1;
    struct model_file again;
    struct why why = {0};

    (void)state;
    memcpy(whole, text, used);
    for (unsigned i = 1; i <= 24; i++)
        used += (size_t)snprintf(whole + used, sizeof whole - used,
                                 "number %u %% 0 1 refuse 0\n", i);
    used +=
        (size_t)snprintf(whole + used, sizeof whole - used, "pairs 0\nend\n");
    if (encoder_from_text(&model.encoder, whole, used, &why) != ERR_OK)
        fail_msg("%s", why.text);
    for (uint32_t k = 0; k < 3; k++)
        model.label[k] = k;
    assert_int_equal(model_file_encode(&model, &bytes, &size), ERR_OK);
    if (model_file_decode(&again, bytes, size, &why) != ERR_OK)
        fail_msg("%s", why.text);
    assert_string_equal(model_file_word(&again, 0), "a\xe9");
    assert_string_equal(model_file_word(&again, 1), "b\xc3\xa9");
    model_file_close(&again);
    model_file_close(&model);
    mem_free(bytes);
}

static void test_not_finite_is_not_written(void **state)
{
    struct model_file model = make("dense3", NEURAL_SOFTMAX);
    char *bytes = NULL;
    size_t size = 0;

    (void)state;
    model.net->parameters[5] = INFINITY;
    assert_int_equal(model_file_encode(&model, &bytes, &size), ERR_RANGE);
    assert_null(bytes);
    model_file_close(&model);
}

/* One tensor pair of dense2 on 1 x 1 x 2, as the notes and tensors say. */
static const float four[] = {1, 2, 3, 4};
static const float odd[] = {1, NAN, 3, 4};
static const double doubles[] = {1, 2, 3, 4};
#define BIAS                                                                   \
    {                                                                          \
        "0.bias", TENSOR_F32, 1, {2}, four                                     \
    }

struct wrong {
    struct tensor_note note[8];
    struct tensor tensor[3];
    size_t tensors;
    const char *sentence;
};

#define NET(text)                                                              \
    {                                                                          \
        "net", text                                                            \
    }
#define SHAPE(text)                                                            \
    {                                                                          \
        "shape", text                                                          \
    }
#define LOSS(text)                                                             \
    {                                                                          \
        "loss", text                                                           \
    }
#define DIVISOR(text)                                                          \
    {                                                                          \
        "divisor", text                                                        \
    }
#define LABELS(text)                                                           \
    {                                                                          \
        "labels", text                                                         \
    }
#define MEAN(text)                                                             \
    {                                                                          \
        "mean", text                                                           \
    }
#define SPREAD(text)                                                           \
    {                                                                          \
        "spread", text                                                         \
    }
#define HASH(text)                                                             \
    {                                                                          \
        "hash", text                                                           \
    }
#define DIGEST(text)                                                           \
    {                                                                          \
        "digest", text                                                         \
    }
#define GOOD                                                                   \
    {                                                                          \
        NET("dense2"), SHAPE("1x1x2"), LOSS("softmax"), DIVISOR("1"),          \
            LABELS("0 1")                                                      \
    }
#define TENSORS {{"0.weight", TENSOR_F32, 2, {2, 2}, four}, BIAS}, 2

static const struct wrong wrongs[] = {
    {GOOD, TENSORS, NULL},
    {{SHAPE("1x1x2"), LOSS("softmax"), DIVISOR("1"), LABELS("0 1")},
     TENSORS,
     "tensors, but not of a network that `muster train --net` saved: its "
     "metadata has no 'net'"},
    {{NET("dense2"), SHAPE("1x1"), LOSS("softmax"), DIVISOR("1"),
      LABELS("0 1")},
     TENSORS,
     "tensor '0.weight' is 2 x 2, and its net asks for 2 x 1"},
    {{NET("dense2"), SHAPE("one"), LOSS("softmax"), DIVISOR("1"),
      LABELS("0 1")},
     TENSORS,
     "its metadata has 'one' as 'shape'"},
    {{NET("dense2"), SHAPE("1x1x2"), LOSS("hinge"), DIVISOR("1"),
      LABELS("0 1")},
     TENSORS,
     "its metadata has 'hinge' as 'loss'"},
    {{NET("dense2"), SHAPE("1x1x2"), LOSS("softmax"), DIVISOR("0"),
      LABELS("0 1")},
     TENSORS,
     "its metadata has '0' as 'divisor'"},
    {{NET("dense2"),
      SHAPE("1x1x2"),
      LOSS("softmax"),
      DIVISOR("1"),
      LABELS("0 1"),
      {"most", "-1"}},
     TENSORS,
     "its metadata has '-1' as 'most'"},
    {{NET("dense2"),
      SHAPE("1x1x2"),
      LOSS("softmax"),
      DIVISOR("1"),
      LABELS("0 1"),
      {"least", "inf"}},
     TENSORS,
     "its metadata has 'inf' as 'least'"},
    {{NET("dense1"), SHAPE("1x1x2"), LOSS("squared"), DIVISOR("1"),
      SPREAD("1")},
     TENSORS,
     "tensors, but not of a network that `muster train --net` saved: its "
     "metadata has no 'mean'"},
    {{NET("dense1"), SHAPE("1x1x2"), LOSS("squared"), DIVISOR("1"), MEAN("2"),
      SPREAD("-1")},
     TENSORS,
     "its metadata has '-1' as 'spread'"},
    {{NET("dense2 gelu"), SHAPE("1x1x2"), LOSS("softmax"), DIVISOR("1"),
      LABELS("0 1")},
     TENSORS,
     "layer 2, \"gelu\": there is no such layer; there are conv dense relu "
     "tanh sigmoid pool avg drop"},
    {{NET("dense1048576"), SHAPE("1x1x200"), LOSS("squared"), DIVISOR("1"),
      MEAN("0"), SPREAD("1")},
     TENSORS,
     "1048576 outputs; squared networks have at most 1"},
    {{NET("dense2"), SHAPE("1x1x2"), LOSS("softmax"), DIVISOR("1")},
     TENSORS,
     "its labels are not 2 different numbers, one for each output"},
    {{NET("dense2"), SHAPE("1x1x2"), LOSS("softmax"), DIVISOR("1"),
      LABELS("0 1 2")},
     TENSORS,
     "its labels are not 2 different numbers, one for each output"},
    {{NET("dense2"), SHAPE("1x1x2"), LOSS("softmax"), DIVISOR("1"),
      LABELS("1 1")},
     TENSORS,
     "its labels are not 2 different numbers, one for each output"},
    {{NET("dense2"), SHAPE("1x1x2"), LOSS("softmax"), DIVISOR("1"),
      LABELS("1 nan")},
     TENSORS,
     "its labels are not 2 different numbers, one for each output"},
    {{NET("dense2"), SHAPE("1x1x2"), LOSS("softmax"), DIVISOR("1"),
      LABELS("0 1"), HASH("00"),
      DIGEST("b3b25d919b7eaa11fbe65b500c222bfe"
             "93dde084b704ab513d410f6867222b6b")},
     TENSORS,
     "its numbers have another hash than its metadata says: it was changed or "
     "damaged"},
    {{NET("dense2"), SHAPE("1x1x2"), LOSS("softmax"), DIVISOR("1"),
      LABELS("0 1"), HASH("00")},
     TENSORS,
     "its metadata has another digest than it says: it was changed or damaged"},
    {{NET("dense2"),
      SHAPE("1x1x2"),
      LOSS("softmax"),
      DIVISOR("1"),
      LABELS("0 1"),
      {"profile", "net-f32-9"}},
     TENSORS,
     "it was trained in profile 'net-f32-9', and this release computes in "
     "net-f32-2: take the release that saved it"},
    {{NET("dense2"),
      SHAPE("1x1x2"),
      LOSS("softmax"),
      DIVISOR("1"),
      LABELS("0 1"),
      {"encoder", "muster encoder 1\n"}},
     TENSORS,
     "the model's encoder: "},
    {GOOD, {BIAS}, 1, "1 tensors, and its net has 2"},
    {GOOD,
     {{"1.weight", TENSOR_F32, 2, {2, 2}, four}, BIAS},
     2,
     "no tensor '0.weight', which its net asks for"},
    {GOOD,
     {{"0.weight", TENSOR_F64, 2, {2, 2}, doubles}, BIAS},
     2,
     "tensor '0.weight': networks are of F32"},
    {GOOD,
     {{"0.weight", TENSOR_F32, 1, {4}, four}, BIAS},
     2,
     "tensor '0.weight' is 4, and its net asks for 2 x 2"},
    {GOOD,
     {{"0.weight", TENSOR_F32, 2, {2, 2}, odd}, BIAS},
     2,
     "tensor '0.weight' has a number that is not finite"},
};

static void test_wrong(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof wrongs / sizeof *wrongs; i++) {
        const struct wrong *const wrong = &wrongs[i];
        struct model_file model = {0};
        struct why why = {0};
        size_t notes = 0, size = 0;
        char *bytes = NULL;

        while (notes < 8 && wrong->note[notes].key != NULL)
            notes++;
        assert_int_equal(safetensors_write(wrong->note, notes, wrong->tensor,
                                           wrong->tensors, &bytes, &size),
                         ERR_OK);
        assert_int_equal(model_file_decode(&model, bytes, size, &why) == ERR_OK,
                         wrong->sentence == NULL);
        if (wrong->sentence != NULL &&
            strncmp(why.text, wrong->sentence, strlen(wrong->sentence)) != 0)
            fail_msg("case %zu: said \"%s\"", i, why.text);
        model_file_close(&model);
        mem_free(bytes);
    }
}

static void test_every_bit_counts(void **state)
{
    struct model_file model = make("dense3", NEURAL_SOFTMAX), again = {0};
    char *bytes = NULL;
    size_t size = 0, data;

    (void)state;
    assert_int_equal(model_file_encode(&model, &bytes, &size), ERR_OK);
    data = size - model_file_numbers(&model) * sizeof(float);
    for (size_t at = data; at < size; at++) {
        bytes[at] ^= 1;
        assert_int_not_equal(model_file_decode(&again, bytes, size, NULL),
                             ERR_OK);
        bytes[at] ^= 1;
    }
    assert_int_equal(model_file_decode(&again, bytes, size, NULL), ERR_OK);
    model_file_close(&again);
    model_file_close(&model);
    mem_free(bytes);
}

/* Whatever decides predictions, edited into something else that is right by
 * itself. */
static void test_edited(void **state)
{
    static const char *const edits[][2] = {
        {"tanh", "relu"},     {"4x3x2", "3x4x2"},   {"\"255\"", "\"254\""},
        {"3 -1.5", "4 -1.5"}, {"drop.5", "drop.4"}, {"encoder", "encodes"},
    };
    struct model_file model =
        make("conv2x2x3 relu drop.5 dense4 tanh dense3", NEURAL_SOFTMAX);
    struct model_file again;
    struct why why = {0};
    char *bytes = NULL;
    size_t size = 0;

    (void)state;
    model.encoder.kind = ENCODER_ROWS;
    assert_int_equal(model_file_encode(&model, &bytes, &size), ERR_OK);
    for (size_t i = 0; i < sizeof edits / sizeof *edits; i++) {
        const size_t length = strlen(edits[i][0]);
        char *const at = strstr(bytes + 8, edits[i][0]);

        assert_non_null(at);
        memcpy(at, edits[i][1], length);
        assert_int_not_equal(model_file_decode(&again, bytes, size, &why),
                             ERR_OK);
        assert_string_equal(why.text,
                            "its metadata has another digest than it says: it "
                            "was changed or damaged");
        memcpy(at, edits[i][0], length);
    }
    assert_int_equal(model_file_decode(&again, bytes, size, &why), ERR_OK);
    model_file_close(&again);
    model_file_close(&model);
    mem_free(bytes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_round_trip),
        cmocka_unit_test(test_encoder_of_any_bytes),
        cmocka_unit_test(test_not_finite_is_not_written),
        cmocka_unit_test(test_wrong),
        cmocka_unit_test(test_every_bit_counts),
        cmocka_unit_test(test_edited),
    };

    return cmocka_run_group_tests_name("network_file", tests, NULL, NULL);
}
