/*
 * Models are written and read back to the same bits, and read once more by
 * fscanf with the formats that LIBLINEAR's own loader uses.  Malformed texts
 * stand in a table with the sentence each must give.
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
#include "base/rng.h"
#include "model/file.h"

static double labels[] = {-1, 1};
static double weights[] = {0.5, -1.0 / 3, 1e-300, -0.0};

static void assert_text(const struct model_file *model, const char *wanted)
{
    char *text = NULL;
    size_t size = 0;

    assert_int_equal(model_file_encode(model, &text, &size), ERR_OK);
    assert_int_equal(size, strlen(wanted));
    assert_memory_equal(text, wanted, size);
    mem_free(text);
}

static void test_known_texts(void **state)
{
    double other[] = {3, 7};
    struct model_file model = {.kind = MODEL_LOGISTIC,
                               .features = 3,
                               .intercept = true,
                               .classes = 2,
                               .outputs = 1,
                               .label = labels,
                               .w = weights};

    (void)state;
    assert_text(&model, "solver_type L2R_LR\n"
                        "nr_class 2\n"
                        "label 1 -1\n"
                        "nr_feature 3\n"
                        "bias 1\n"
                        "w\n"
                        "0.5 \n"
                        "-0.33333333333333331 \n"
                        "1e-300 \n"
                        "-0 \n");
    model.kind = MODEL_SVM;
    model.features = 1;
    model.intercept = false;
    model.label = other;
    assert_text(&model, "solver_type L2R_L2LOSS_SVC\n"
                        "nr_class 2\n"
                        "label 7 3\n"
                        "nr_feature 1\n"
                        "bias -1\n"
                        "w\n"
                        "0.5 \n");
    model.kind = MODEL_HINGE;
    assert_text(&model, "solver_type L2R_L1LOSS_SVC_DUAL\n"
                        "nr_class 2\n"
                        "label 7 3\n"
                        "nr_feature 1\n"
                        "bias -1\n"
                        "w\n"
                        "0.5 \n");
    model.kind = MODEL_LINEAR;
    model.classes = 0;
    assert_text(&model, "solver_type L2R_L2LOSS_SVR\n"
                        "nr_class 2\n"
                        "nr_feature 1\n"
                        "bias -1\n"
                        "w\n"
                        "0.5 \n");
}

/* What LIBLINEAR's load_model reads, in its order and with its formats. */
static void assert_fscanf_reads(const char *text, size_t size,
                                const struct model_file *model)
{
    FILE *file = tmpfile();
    char key[81], value[81];
    int number = 0, label[2] = {0, 0};
    double bias = 0;

    assert_non_null(file);
    assert_int_equal(fwrite(text, 1, size, file), size);
    rewind(file);
    assert_int_equal(fscanf(file, "%80s", key), 1);
    assert_string_equal(key, "solver_type");
    assert_int_equal(fscanf(file, "%80s", value), 1);
    assert_int_equal(fscanf(file, "%80s %d", key, &number), 2);
    assert_string_equal(key, "nr_class");
    assert_int_equal(number, 2);
    if (model->kind != MODEL_LINEAR) {
        assert_int_equal(fscanf(file, "%80s %d %d", key, &label[0], &label[1]),
                         3);
        assert_string_equal(key, "label");
        assert_true(label[0] == model->label[1]);
        assert_true(label[1] == model->label[0]);
    }
    assert_int_equal(fscanf(file, "%80s %d", key, &number), 2);
    assert_string_equal(key, "nr_feature");
    assert_int_equal(number, model->features);
    assert_int_equal(fscanf(file, "%80s %lf", key, &bias), 2);
    assert_string_equal(key, "bias");
    assert_int_equal(bias >= 0, model->intercept);
    assert_int_equal(fscanf(file, "%80s", key), 1);
    assert_string_equal(key, "w");
    for (uint32_t j = 0; j < model_file_weights(model); j++) {
        double w = 0;

        assert_int_equal(fscanf(file, "%lf ", &w), 1);
        assert_memory_equal(&w, &model->w[j], sizeof w);
    }
    assert_int_equal(fgetc(file), EOF);
    (void)fclose(file);
}

static void test_round_trip(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 60; seed++) {
        double w[40];
        double label[] = {-(double)seed, 5};
        const enum model_kind kind = (enum model_kind)(seed % 4);
        struct model_file model = {.kind = kind,
                                   .features = 1 + (uint32_t)(seed % 37),
                                   .intercept = seed % 2 == 0,
                                   .classes = kind == MODEL_LINEAR ? 0 : 2,
                                   .outputs = 1,
                                   .label = label,
                                   .w = w};
        struct model_file back = {0};
        struct why why = {0};
        char *text = NULL;
        size_t size = 0;

        for (uint32_t j = 0; j < 40; j++)
            w[j] = rng_normal_at(seed, j, 0) * (j % 5 == 0 ? 1e-310 : 1e5);
        assert_int_equal(model_file_encode(&model, &text, &size), ERR_OK);
        assert_int_equal(model_file_decode(&back, text, size, &why), ERR_OK);
        assert_int_equal(back.kind, model.kind);
        assert_int_equal(back.features, model.features);
        assert_int_equal(back.intercept, model.intercept);
        if (model.kind != MODEL_LINEAR)
            assert_memory_equal(back.label, label, sizeof label);
        assert_memory_equal(back.w, w, model_file_weights(&model) * sizeof *w);
        assert_fscanf_reads(text, size, &model);
        model_file_close(&back);
        mem_free(text);
    }
}

/* As liblinear-train -s 1 -B 2 writes it: its column of 2 becomes ours of 1. */
static void test_liblinears_bias(void **state)
{
    static const char text[] = "solver_type L2R_L2LOSS_SVC_DUAL\r\n"
                               "nr_class 2\r\nlabel 0 1\r\nnr_feature 2\r\n"
                               "bias 2\r\nw\r\n1 \r\n2 \r\n3 \r\n";
    struct model_file model = {0};
    struct why why = {0};

    (void)state;
    assert_int_equal(model_file_decode(&model, text, sizeof text - 1, &why),
                     ERR_OK);
    assert_int_equal(model.kind, MODEL_SVM);
    assert_true(model.label[1] == 0 && model.label[0] == 1);
    assert_true(model.intercept && model.w[2] == 6);
    model_file_close(&model);
}

/* As liblinear-train writes three classes, and two by Crammer and Singer: a
 * vector for each, labels in the order of the vectors. */
static void test_many_classes(void **state)
{
    static const char three[] = "solver_type L2R_LR\nnr_class 3\n"
                                "label 4 2 9\nnr_feature 2\nbias 1\nw\n"
                                "1 2 3 \n4 5 6 \n7 8 9 \n";
    static const char two[] = "solver_type MCSVM_CS\nnr_class 2\nlabel 1 -1\n"
                              "nr_feature 1\nbias -1\nw\n1 2 \n";
    static const double wanted[] = {1, 4, 7, 2, 5, 8, 3, 6, 9};
    struct model_file model = {0};
    struct why why = {0};

    (void)state;
    assert_int_equal(model_file_decode(&model, three, sizeof three - 1, &why),
                     ERR_OK);
    assert_int_equal(model.classes, 3);
    assert_int_equal(model.outputs, 3);
    assert_true(model.label[0] == 4 && model.label[2] == 9);
    assert_memory_equal(model.w, wanted, sizeof wanted);
    assert_text(&model, three);
    model_file_close(&model);
    assert_int_equal(model_file_decode(&model, two, sizeof two - 1, &why),
                     ERR_OK);
    assert_int_equal(model.outputs, 2);
    assert_true(model.label[0] == 1 && model.label[1] == -1);
    model_file_close(&model);
}

/* Our own mark behind the weights, of two classes and of three. */
static void test_softmax(void **state)
{
    static const char two[] = "solver_type MCSVM_CS\nnr_class 2\nlabel -1 8\n"
                              "nr_feature 1\nbias 1\nw\n1 2 \n3 4 \n"
                              "muster softmax\n";
    static const char three[] = "solver_type MCSVM_CS\nnr_class 3\n"
                                "label 4 5 9\nnr_feature 1\nbias -1\nw\n"
                                "1 2 3 \nmuster softmax\n";
    struct model_file model = {0};
    struct why why = {0};

    (void)state;
    assert_int_equal(model_file_decode(&model, two, sizeof two - 1, &why),
                     ERR_OK);
    assert_int_equal(model.kind, MODEL_SOFTMAX);
    assert_int_equal(model.outputs, 2);
    assert_true(model.label[0] == -1 && model.label[1] == 8);
    assert_true(model.w[0] == 1 && model.w[1] == 3 && model.w[2] == 2);
    assert_text(&model, two);
    model_file_close(&model);
    assert_int_equal(model_file_decode(&model, three, sizeof three - 1, &why),
                     ERR_OK);
    assert_int_equal(model.kind, MODEL_SOFTMAX);
    assert_text(&model, three);
    model_file_close(&model);
}

static const struct {
    const char *text;
    enum err err;
    const char *sentence;
} refusals[] = {
    {"", ERR_TRUNCATED, "ends before w; the model file is incomplete"},
    {"hello world", ERR_FORMAT,
     "line 1: 'hello' is not a field of a LIBLINEAR model"},
    {"nr_class 2\nlabel 1 2\nnr_feature 1\nbias -1\nw\n1\n", ERR_FORMAT,
     "no solver_type; this is not a LIBLINEAR model"},
    {"solver_type ONECLASS_SVM\n", ERR_UNSUPPORTED,
     "line 1: solver_type 'ONECLASS_SVM' is not supported; logistic "
     "regression, "
     "SVC and SVR models are"},
    {"solver_type L2R_LR\nnr_class 1\nlabel 1\n", ERR_UNSUPPORTED,
     "nr_class 1 before the labels; expected 2 to 1024"},
    {"solver_type L2R_LR\nlabel 1 2\nnr_class 2\n", ERR_UNSUPPORTED,
     "nr_class 0 before the labels; expected 2 to 1024"},
    {"solver_type L2R_LR\nnr_class 2\nlabel 3 3\nnr_feature 1\nw\n1\n",
     ERR_FORMAT, "line 3: label 3 is there twice"},
    {"solver_type MCSVM_CS\nnr_class 3\nlabel 0 2 -0\nnr_feature 1\nw\n1 2 3\n",
     ERR_FORMAT, "line 3: label -0 is there twice"},
    {"solver_type L2R_LR\nnr_class 2\nlabel 1 2\nlabel 1 2\n", ERR_FORMAT,
     "line 4: a second label line"},
    {"solver_type L2R_LR\nnr_class 2\nlabel 1 2\nnr_class 3\nnr_feature "
     "1\nw\n1 1 1\n",
     ERR_FORMAT, "two values of nr_class"},
    {"solver_type L2R_L2LOSS_SVR\nnr_class 2\nlabel 1 2\nnr_feature 1\nw\n1\n",
     ERR_FORMAT, "a label line in a regression model"},
    {"solver_type L2R_LR\nnr_class 3\nlabel 1 2 3\nnr_feature 1\nw\n1 2\n",
     ERR_TRUNCATED, "ends before weight 1; the model file is incomplete"},
    {"solver_type L2R_LR\nnr_class 2\nnr_feature 1\nbias -1\nw\n1\n",
     ERR_FORMAT, "no label line before w"},
    {"solver_type L2R_LR\nnr_class 2\nlabel 1 -1\nnr_feature 0\nw\n",
     ERR_FORMAT, "nr_feature 0; expected 1 to 16777216"},
    {"solver_type L2R_LR\nnr_class 2\nlabel 1 -1\nnr_feature 1.5\nw\n1\n1",
     ERR_FORMAT, "nr_feature 1.5; expected 1 to 16777216"},
    {"solver_type L2R_LR\nnr_class 2\nlabel 1 -1\nnr_feature x\nw\n",
     ERR_FORMAT, "line 4: nr_feature 'x' is not a finite number"},
    {"solver_type L2R_LR\nnr_class 2\nlabel 1 -1\nnr_feature 16777216\nw\n1",
     ERR_TRUNCATED,
     "ends before weight 16777216; the model file is incomplete"},
    {"solver_type L2R_LR\nnr_class 2\nlabel 1 -1\nnr_feature 2\nbias -1\nw\n1 ",
     ERR_TRUNCATED, "ends before weight 2; the model file is incomplete"},
    {"solver_type L2R_LR\nnr_class 2\nlabel 1 -1\nnr_feature 1\nbias "
     "-1\nw\n1\n2\n",
     ERR_FORMAT, "line 8: '2' after the last of 1 weights"},
    {"solver_type L2R_LR\nnr_class 2\nlabel 1 -1\nnr_feature 1\nbias "
     "-1\nw\nnan\n",
     ERR_FORMAT, "line 7: weight 1 'nan' is not a finite number"},
    {"solver_type L2R_LR\nnr_class 2\nlabel 1\n", ERR_TRUNCATED,
     "ends before label; the model file is incomplete"},
    {"solver_type L2R_LR\nnr_class 2\nlabel 1 -1\nnr_feature 1\nbias "
     "1e300\nw\n1\n1e300\n",
     ERR_RANGE, "the bias weight overflows"},
};

/* A kind that the table of solvers lacks would be written and not read. */
static void test_every_kind_is_read_as_it_was_written(void **state)
{
    (void)state;
    for (int kind = MODEL_LINEAR; kind <= MODEL_SOFTMAX; kind++) {
        const bool many = model_ops((enum model_kind)kind)->classes;
        const bool numbers = model_ops((enum model_kind)kind)->regression;
        const struct model_file model = {.kind = (enum model_kind)kind,
                                         .features = 2,
                                         .classes = numbers ? 0 : 2,
                                         .outputs = many ? 2 : 1,
                                         .label = labels,
                                         .w = weights};
        struct model_file found = {0};
        char *text = NULL;
        size_t size = 0;

        assert_int_equal(model_file_encode(&model, &text, &size), ERR_OK);
        assert_int_equal(model_file_decode(&found, text, size, NULL), ERR_OK);
        assert_int_equal(found.kind, kind);
        assert_int_equal(found.outputs, model.outputs);
        model_file_close(&found);
        mem_free(text);
    }
}

static void test_refusals(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof refusals / sizeof *refusals; i++) {
        struct model_file model = {0};
        struct why why = {0};

        assert_int_equal(model_file_decode(&model, refusals[i].text,
                                           strlen(refusals[i].text), &why),
                         refusals[i].err);
        assert_string_equal(why.text, refusals[i].sentence);
        assert_null(model.w);
    }
}

/* No cut and no changed byte may crash the reader (sanitizers watch). */
static void test_damaged_texts(void **state)
{
    static const char good[] = "solver_type L2R_LR\nnr_class 2\nlabel 1 -1\n"
                               "nr_feature 2\nbias 1\nw\n1 \n2 \n3 \n";
    struct rng rng;

    (void)state;
    rng_init(&rng, 1);
    for (int i = 0; i < 5000; i++) {
        char text[sizeof good];
        struct model_file model = {0};
        struct why why = {0};
        size_t size = sizeof good - 1;

        memcpy(text, good, sizeof good);
        text[rng_below(&rng, size)] = (char)rng_below(&rng, 256);
        if (i % 2 == 0)
            size = (size_t)rng_below(&rng, size);
        if (model_file_decode(&model, text, size, &why) != ERR_OK)
            assert_true(why.text[0] != '\0');
        model_file_close(&model);
    }
}

static void test_weights_must_be_finite(void **state)
{
    double w = HUGE_VAL;
    const struct model_file model = {
        .kind = MODEL_LINEAR, .features = 1, .outputs = 1, .w = &w};
    char *text = NULL;
    size_t size = 0;

    (void)state;
    assert_int_equal(model_file_encode(&model, &text, &size), ERR_RANGE);
    assert_null(text);
}

/* Two words and a number make three columns. */
#define ENCODER                                                                \
    "muster encoder 2\ntable 3 names\nlabel 3 y\nclasses 2 no yes\n"           \
    "columns 2\nwords 1 w refuse 2 a b\nnumber 2 x 0.5 2 refuse 0\n"           \
    "pairs 0\nend\n"
#define WEIGHTS(COUNT, TEXT)                                                   \
    "solver_type L2R_LR\nnr_class 2\nlabel 1 0\nnr_feature " COUNT             \
    "\nbias -1\nw\n" TEXT

static void test_encoder_follows(void **state)
{
    static const char with[] = WEIGHTS("3", "1 \n2 \n3 \n") ENCODER;
    static const char wrong[] = WEIGHTS("2", "1 \n2 \n") ENCODER;
    static const char zero[] =
        WEIGHTS("1", "1 \n") "muster encoder 2\nindex 0\nend\n";
    static const char newer[] = WEIGHTS("1", "1 \n") "muster encoder 9\n";
    struct model_file model = {0};
    struct why why = {0};

    (void)state;
    assert_int_equal(model_file_decode(&model, with, strlen(with), &why),
                     ERR_OK);
    assert_int_equal(model.encoder.cols, 3);
    assert_string_equal(model_file_word(&model, 0), "no");
    assert_string_equal(model_file_word(&model, 1), "yes");
    assert_null(model_file_word(&model, 2));
    assert_null(model_file_word(&model, 0.5));
    assert_text(&model, with);
    model_file_close(&model);
    assert_int_equal(model_file_decode(&model, zero, strlen(zero), &why),
                     ERR_OK);
    assert_true(model.encoder.kind == ENCODER_ROWS && model.encoder.from_zero);
    assert_text(&model, zero);
    model_file_close(&model);
    assert_int_equal(model_file_decode(&model, wrong, strlen(wrong), &why),
                     ERR_FORMAT);
    assert_string_equal(why.text, "the model's encoder: 3 columns, the model "
                                  "has 2 features");
    assert_int_equal(model_file_decode(&model, newer, strlen(newer), &why),
                     ERR_UNSUPPORTED);
    assert_string_equal(why.text, "the model's encoder: version '9'; this "
                                  "program reads version 2");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_known_texts),
        cmocka_unit_test(test_round_trip),
        cmocka_unit_test(test_liblinears_bias),
        cmocka_unit_test(test_many_classes),
        cmocka_unit_test(test_softmax),
        cmocka_unit_test(test_every_kind_is_read_as_it_was_written),
        cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_damaged_texts),
        cmocka_unit_test(test_weights_must_be_finite),
        cmocka_unit_test(test_encoder_follows),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
