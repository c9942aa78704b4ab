/*
 * Networks: every layer against finite differences of a plain one in doubles;
 * one hash on all instruction sets and threads; texts and shapes that are
 * refused; numbers that fit no grid.
 */
#include "model/net/neural.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/mem.h"
#include "base/rng.h"
#include "model/net/layer.h"
#include "model/net/work.h"
#include "neural_ref.h"
#include "os/run/threads.h"

#define COUNT(list) (sizeof(list) / sizeof *(list))

static const struct neural_shape small = {7, 8, 2};

static void every_layer_agrees_with_differences(void **state)
{
    static const char *const texts[] = {
        "dense3",
        "dense7 relu dense3",
        "tanh dense4 sigmoid dense3",
        "dense9 tanh drop.25 relu dense3",
        "conv3x3x4 relu dense3",
        "conv3x3x16+1 relu conv3x3x16+1 relu pool2 drop.25 dense3",
        "conv1x1x32 relu conv5x5x16/2+2 pool2/1 dense3",
        "conv3x2x5/2+1 tanh dense3",
        "conv1x1x16 tanh conv3x3x32/2 tanh dense3",
        "pool2 dense3",
        "conv2x2x3 pool3/2 dense3",
        "conv3x3x4 avg2 sigmoid dense3",
        "conv3x3x4 avg3/1 dense3",
        "relu drop.1 dense5 relu drop.5 dense3",
        "conv3x3x40 relu avg5 ",
    };

    (void)state;
    for (size_t i = 0; i < COUNT(texts); i++) {
        if (!neural_ref_agrees(texts[i], &small, NEURAL_SOFTMAX) ||
            !neural_ref_agrees(texts[i], &small, NEURAL_SQUARED))
            fail_msg("%s", texts[i]);
    }
}

/* --- one hash ------------------------------------------------------------ */

enum { IMAGE = 144, BATCH = 24, MICRO = 8, STEPS = 2, TENSORS = 16 };

static const struct neural_shape image = {12, 12, 1};
static const char *const cnn =
    "conv3x3x16 relu conv3x3x32+1 relu pool2 drop.25 dense40 relu drop.5 "
    "dense10";

/* It keeps so much of a sample that not all go forward at once. */
static const char *const wide =
    "conv1x1x256 relu conv1x1x256 relu conv3x3x8 dense10";

struct made {
    struct neural net;
    float *parameters;
    int64_t *sum;
    float x[BATCH * IMAGE];
    uint32_t label[BATCH];
    uint64_t id[BATCH];
    int16_t exponent[TENSORS];
    int64_t size[TENSORS];
};

static struct made *make(const char *text)
{
    struct made *const m = mem_new(1, sizeof *m);
    struct why why = {{0}};

    assert_non_null(m);
    assert_int_equal(neural_init(&m->net, text, &image, NEURAL_SOFTMAX, &why),
                     ERR_OK);
    assert_true(m->net.tensor_count <= TENSORS);
    m->parameters = mem_new(m->net.parameters, sizeof(float));
    m->sum = mem_new(m->net.parameters, sizeof(int64_t));
    assert_true(m->parameters != NULL && m->sum != NULL);
    neural_draw(&m->net, 1, m->parameters);
    for (uint32_t s = 0; s < BATCH; s++) {
        m->label[s] = s % 10;
        m->id[s] = 1000 + s;
        for (uint32_t i = 0; i < IMAGE; i++)
            m->x[s * IMAGE + i] = (float)rng_unit_at(2, s, i);
    }
    for (uint32_t t = 0; t < TENSORS; t++)
        m->exponent[t] = 40;
    return m;
}

static void made_free(struct made *m)
{
    neural_close(&m->net);
    mem_free(m->parameters);
    mem_free(m->sum);
    mem_free(m);
}

static enum err gradient(struct made *m, struct neural_work *work,
                         uint32_t first, uint32_t count, uint64_t step,
                         double *loss)
{
    const struct neural_rows rows = {.count = count,
                                     .micro = count,
                                     .x = m->x + first * IMAGE,
                                     .label = m->label + first,
                                     .id = m->id + first,
                                     .seed = 5,
                                     .step = step};
    struct neural_sums sums = {
        .exponent = m->exponent, .sum = m->sum, .size = m->size};

    sums.loss = loss;
    return neural_work_gradient(work, &rows, &sums);
}

static struct neural_work *work_of(const struct made *m, enum isa isa,
                                   struct pool *pool)
{
    struct neural_work *work = NULL;
    struct why why = {{0}};

    assert_int_equal(
        neural_work_new(&m->net, BATCH, MICRO, isa, pool, &work, &why), ERR_OK);
    assert_int_equal(neural_work_load(work, m->parameters), ERR_OK);
    return work;
}

/* Two steps of a small network; the last microbatch of each is short. */
static void train(struct made *m, enum isa isa, struct pool *pool)
{
    struct neural_work *const work = work_of(m, isa, pool);
    double loss;

    for (uint64_t step = 0; step < STEPS; step++) {
        for (uint32_t b = 0; b < BATCH - 3; b += MICRO)
            assert_int_equal(gradient(m, work, b, b + MICRO < BATCH ? MICRO : 5,
                                      step, &loss),
                             ERR_OK);
        for (size_t i = 0; i < m->net.parameters; i++) {
            m->parameters[i] -= (float)((double)m->sum[i] * 0x1p-47);
            m->sum[i] = 0;
        }
        assert_int_equal(neural_work_load(work, m->parameters), ERR_OK);
    }
    neural_work_free(work);
}

static void one_hash_on_all_sets_and_threads(void **state)
{
    struct made *const first = make(cnn);

    (void)state;
    train(first, ISA_PORTABLE, pool_serial());
    for (unsigned isa = 0; isa < ISAS; isa++) {
        for (uint32_t threads = 1; threads <= 3; threads++) {
            struct made *const now = make(cnn);
            struct pool *pool;

            if (isa_runs((enum isa)isa)) {
                assert_int_equal(threads_new(threads, &pool), ERR_OK);
                train(now, (enum isa)isa, pool);
                threads_free(pool);
                assert_memory_equal(now->parameters, first->parameters,
                                    now->net.parameters * sizeof(float));
            }
            made_free(now);
        }
    }
    made_free(first);
}

/* Several microbatches in one call, the last of them short. */
static void come_together(const char *text)
{
    enum { COUNT = BATCH - 3, TIMES = 3 };

    struct made *const one = make(text), *const all = make(text);
    struct neural_work *const work = work_of(one, isa_best(), pool_serial());
    const struct neural_rows rows = {.count = COUNT,
                                     .micro = MICRO,
                                     .x = all->x,
                                     .label = all->label,
                                     .id = all->id,
                                     .seed = 5};
    int64_t size[TIMES * TENSORS];
    double loss[TIMES], alone;
    struct neural_sums sums = {.exponent = all->exponent,
                               .sum = all->sum,
                               .blank = true,
                               .size = size,
                               .loss = loss};

    memset(all->sum, 0x55, all->net.parameters * sizeof *all->sum);
    assert_int_equal(neural_work_gradient(work, &rows, &sums), ERR_OK);
    for (uint32_t m = 0; m < TIMES; m++) {
        const uint32_t first = m * MICRO, left = COUNT - first;

        assert_int_equal(
            gradient(one, work, first, left < MICRO ? left : MICRO, 0, &alone),
            ERR_OK);
        assert_true(alone == loss[m]);
        assert_memory_equal(one->size, size + m * one->net.tensor_count,
                            one->net.tensor_count * sizeof *size);
    }
    assert_memory_equal(one->sum, all->sum,
                        one->net.parameters * sizeof *one->sum);
    neural_work_free(work);
    made_free(one);
    made_free(all);
}

static void microbatches_may_come_together(void **state)
{
    (void)state;
    come_together(cnn);
    come_together(wide);
}

/* What is drawn for a sample does not hang on where it stands. */
static void draws_follow_the_sample(void **state)
{
    struct made *const m = make(cnn);
    struct neural_work *const work = work_of(m, isa_best(), pool_serial());
    double both, one, other, later;

    (void)state;
    assert_int_equal(gradient(m, work, 3, 2, 0, &both), ERR_OK);
    assert_int_equal(gradient(m, work, 3, 1, 0, &one), ERR_OK);
    assert_int_equal(gradient(m, work, 4, 1, 0, &other), ERR_OK);
    assert_int_equal(gradient(m, work, 4, 1, 1, &later), ERR_OK);
    assert_true(both == one + other);
    assert_true(other != later);
    neural_work_free(work);
    made_free(m);
}

static void scores_of_samples_are_their_own(void **state)
{
    struct made *const m = make(wide);
    struct neural_work *const work = work_of(m, isa_best(), pool_serial());
    float all[BATCH * 10], one[10];

    (void)state;
    assert_int_equal(neural_work_scores(work, m->x, BATCH, all), ERR_OK);
    for (size_t s = 0; s < BATCH; s++) {
        assert_int_equal(neural_work_scores(work, m->x + s * IMAGE, 1, one),
                         ERR_OK);
        assert_memory_equal(all + s * 10, one, sizeof one);
    }
    neural_work_free(work);
    made_free(m);
}

static void scores_drop_nothing(void **state)
{
    struct made *const m = make("dense10 drop.5");
    struct made *const plain = make("dense10");
    struct neural_work *work = work_of(m, isa_best(), pool_serial());
    float got[2][BATCH * 10];

    (void)state;
    assert_int_equal(neural_work_scores(work, m->x, BATCH, got[0]), ERR_OK);
    neural_work_free(work);
    work = work_of(plain, isa_best(), pool_serial());
    assert_int_equal(neural_work_scores(work, m->x, BATCH, got[1]), ERR_OK);
    neural_work_free(work);
    assert_memory_equal(got[0], got[1], sizeof got[0]);
    made_free(m);
    made_free(plain);
}

/* --- sizes, and what fits no grid ---------------------------------------- */

static void sizes_bound_the_sums(void **state)
{
    struct made *const m = make(cnn);
    struct neural_work *const work = work_of(m, isa_best(), pool_serial());
    double loss;

    (void)state;
    assert_int_equal(gradient(m, work, 0, MICRO, 0, &loss), ERR_OK);
    for (uint32_t t = 0; t < m->net.tensor_count; t++) {
        const struct neural_tensor *const tensor = &m->net.tensors[t];
        int64_t top = 0;

        for (size_t i = 0; i < tensor->count; i++) {
            const int64_t v = m->sum[tensor->first + i];

            top = v > top ? v : -v > top ? -v : top;
        }
        assert_true(top > 0 && top <= m->size[t]);
        assert_true(m->size[t] <= MICRO * top * 4);
    }
    neural_work_free(work);
    made_free(m);
}

/* A size of 0 says that there is nothing, and no finer grid would help. */
static void sizes_are_rounded_up(void **state)
{
    struct made *const m = make(cnn);
    struct neural_work *const work = work_of(m, isa_best(), pool_serial());
    double loss;

    (void)state;
    for (uint32_t t = 0; t < m->net.tensor_count; t++)
        m->exponent[t] = -40;
    assert_int_equal(gradient(m, work, 0, MICRO, 0, &loss), ERR_OK);
    for (uint32_t t = 0; t < m->net.tensor_count; t++) {
        assert_int_equal(m->sum[m->net.tensors[t].first], 0);
        assert_true(m->size[t] >= 1 && m->size[t] <= MICRO);
    }
    neural_work_free(work);
    made_free(m);
}

/* Samples that have the largest size there is each, so that two threads reach
 * what sizes are added up to; every other one takes its sum back. */
static void sizes_end_alike_on_all_threads(void **state)
{
    enum { SAMPLES = 1 << 14 };

    const struct neural_shape in = {1, 1, 1};
    const float parameters[] = {0, 0, 1, -1, 0, 0};
    const int16_t exponent[] = {51, 40, 40, 40};
    float *const x = mem_new(SAMPLES, sizeof *x);
    uint32_t *const label = mem_new(SAMPLES, sizeof *label);
    const struct neural_rows rows = {
        .count = SAMPLES, .micro = SAMPLES, .x = x, .label = label};
    struct neural net;
    struct why why = {{0}};

    (void)state;
    assert_true(x != NULL && label != NULL);
    assert_int_equal(
        neural_init(&net, "conv1x1x1 dense2", &in, NEURAL_SOFTMAX, &why),
        ERR_OK);
    assert_int_equal(net.parameters, sizeof parameters / sizeof *parameters);
    for (uint32_t s = 0; s < SAMPLES; s++) {
        x[s] = .999f;
        label[s] = s / 2 % 2;
    }
    for (uint32_t threads = 1; threads <= 4; threads++) {
        int64_t size[4], sum[6] = {0};
        double loss;
        struct neural_sums sums = {
            .exponent = exponent, .sum = sum, .size = size, .loss = &loss};
        struct neural_work *work;
        struct pool *pool;

        assert_int_equal(threads_new(threads, &pool), ERR_OK);
        assert_int_equal(neural_work_new(&net, SAMPLES, SAMPLES, isa_best(),
                                         pool, &work, &why),
                         ERR_OK);
        assert_int_equal(neural_work_load(work, parameters), ERR_OK);
        assert_int_equal(neural_work_gradient(work, &rows, &sums), ERR_OK);
        assert_int_equal(size[0], INT64_C(1) << 62);
        assert_int_equal(sum[0], 0);
        neural_work_free(work);
        threads_free(pool);
    }
    mem_free(x);
    mem_free(label);
    neural_close(&net);
}

static void what_does_not_fit_is_refused(void **state)
{
    struct made *const m = make(cnn);
    struct neural_work *const work = work_of(m, isa_best(), pool_serial());
    const float pixel = m->x[77], weight = m->parameters[5];
    double loss;

    (void)state;
    for (uint32_t t = 0; t < m->net.tensor_count; t++) {
        m->exponent[t] = 100;
        assert_int_equal(gradient(m, work, 0, MICRO, 0, &loss), ERR_TOOBIG);
        m->exponent[t] = 40;
    }
    m->x[77] = NAN;
    assert_int_equal(gradient(m, work, 0, MICRO, 0, &loss), ERR_RANGE);
    m->x[77] = 0x1p127f; /* The first layer overflows. */
    m->parameters[5] = 0x1p100f;
    assert_int_equal(neural_work_load(work, m->parameters), ERR_OK);
    assert_int_equal(gradient(m, work, 0, MICRO, 0, &loss), ERR_RANGE);
    m->x[77] = pixel;
    m->parameters[5] = INFINITY;
    assert_int_equal(neural_work_load(work, m->parameters), ERR_RANGE);
    m->parameters[5] = weight;
    assert_int_equal(neural_work_load(work, m->parameters), ERR_OK);
    assert_int_equal(gradient(m, work, 0, MICRO, 0, &loss), ERR_OK);
    neural_work_free(work);
    made_free(m);
}

/* --- texts and shapes ---------------------------------------------------- */

static void shapes_and_parameters_are_counted(void **state)
{
    struct neural net;
    struct why why = {{0}};
    const struct neural_shape in = {28, 28, 1};

    (void)state;
    assert_int_equal(
        neural_init(&net,
                    " conv3x3x32 relu conv3x3x64 relu\n pool2 drop.25 "
                    "dense128 relu drop.5 dense10 ",
                    &in, NEURAL_SOFTMAX, &why),
        ERR_OK);
    assert_int_equal(net.layer_count, 10);
    assert_int_equal(net.tensor_count, 8);
    assert_int_equal(net.parameters, 320 + 18496 + 1179776 + 1290);
    assert_int_equal(net.layers[4].to.height, 12);
    assert_int_equal(neural_floats(&net.layers[6].in), 9216);
    neural_close(&net);
}

static void texts_are_refused_in_words(void **state)
{
    static const struct {
        const char *text;
        enum err err;
        const char *say;
    } wrong[] = {
        {"", ERR_FORMAT, "without a layer"},
        {"relu", ERR_RANGE, "no layer has weights"},
        {"dense3 cnv3x3x2", ERR_FORMAT,
         "layer 2, \"cnv3x3x2\": there is no such layer; there are conv dense "
         "relu tanh sigmoid pool avg drop"},
        {"conv3x3", ERR_FORMAT,
         "layer 1, \"conv3x3\": not understood; it is written like conv3x3x32"},
        {"conv3x0x3", ERR_FORMAT, "not understood"},
        {"conv3x3x8/", ERR_FORMAT, "not understood"},
        {"conv3x3x8+1x", ERR_FORMAT, "not understood"},
        {"dense", ERR_FORMAT, "written like dense128"},
        {"dense99999999999999999999", ERR_FORMAT, "not understood"},
        {"relu3 dense3", ERR_FORMAT, "not understood"},
        {"drop1.5 dense3", ERR_FORMAT, "written like drop.25"},
        {"drop.999999999 dense3", ERR_FORMAT, "not understood"},
        {"drop. dense3", ERR_FORMAT, "not understood"},
        {"pool16 dense3", ERR_FORMAT, "at most pool15"},
        {"relu conv9x9x3", ERR_SHAPE,
         "layer 2, \"conv9x9x3\": its 9 x 9 kernel is larger than its input, "
         "which is 7 x 8 x 2"},
        {"conv3x3x3+3", ERR_SHAPE, "zeros on a side"},
        {"pool4 pool2 dense3", ERR_SHAPE,
         "layer 2, \"pool2\": its 2 x 2 window is larger than its input, which "
         "is 1 x 2 x 2"},
        {"dense1", ERR_MISMATCH, "1 x 1 x 1"},
        {"dense1000000 dense1000000", ERR_RANGE, "too many numbers"},
        {"dense3 softmax", ERR_FORMAT,
         "layer 2, \"softmax\", is implied where it is needed; leave it out"},
        {"Flatten dense3", ERR_FORMAT, "\"Flatten\", is implied"},
        {"maxpool2 dense3", ERR_FORMAT, "\"maxpool2\", is written pool2"},
        {"MaxPool3/2 dense3", ERR_FORMAT, "is written pool3/2"},
        {"avgpool2 dense3", ERR_FORMAT, "\"avgpool2\", is written avg2"},
        {"ReLU dense3", ERR_FORMAT, "\"ReLU\", is written relu"},
        {"Dense3", ERR_FORMAT, "\"Dense3\", is written dense3"},
        {"linear32 dense3", ERR_FORMAT, "is written dense32"},
        {"Dense(3)", ERR_FORMAT, "\"Dense(3)\", is written dense3"},
        {"Linear(32) dense3", ERR_FORMAT, "is written dense32"},
        {"MaxPool2d(2) dense3", ERR_FORMAT, "is written pool2"},
        {"Dropout(0.5) dense3", ERR_FORMAT, "is written drop0.5"},
        {"ReLU() dense3", ERR_FORMAT, "is written relu"},
        {"fc32 dense3", ERR_FORMAT, "is written dense32"},
        {"dropout.5 dense3", ERR_FORMAT, "is written drop.5"},
        {"Dropout0.5 dense3", ERR_FORMAT, "is written drop0.5"},
        {"conv32 dense3", ERR_FORMAT, "written like conv3x3x32"},
        {"conv3x32 dense3", ERR_FORMAT, "written like conv3x3x32"},
        {"Dense(32, activation='relu'), Dense(3)", ERR_FORMAT,
         "layer 1, \"Dense(32,\": not understood; layers stand between blanks, "
         "without brackets: \"dense32 relu dense3\""},
        {"Conv2D(32,(3,3),activation='relu') dense3", ERR_FORMAT,
         "activation='rel...\": not understood; layers stand between blanks, "
         "without "
         "brackets: \"conv3x3x32 relu dense3\""},
        {"dense3 dense3dense3dense3dense3dense3dense3", ERR_FORMAT, "too long"},
    };

    (void)state;
    for (size_t i = 0; i < COUNT(wrong); i++) {
        struct neural net;
        struct why why = {{0}};

        assert_int_equal(
            neural_init(&net, wrong[i].text, &small, NEURAL_SOFTMAX, &why),
            wrong[i].err);
        if (strstr(why.text, wrong[i].say) == NULL)
            fail_msg("\"%s\" says: %s", wrong[i].text, why.text);
    }
}

/* What others write for a whole network; NULL: nothing is known of it. */
static void networks_of_others_are_translated(void **state)
{
    static const struct {
        const char *theirs, *ours;
    } nets[] = {
        {"Dense(32, activation='relu'), Dense(3)", "dense32 relu dense3"},
        {"Dense(units=32, activation=\"tanh\"), Dense(3, "
         "activation='softmax')",
         "dense32 tanh dense3"},
        {"[Dense(32), Activation('relu'), Dense(3)]", "dense32 relu dense3"},
        {"keras.layers.Dense(32, 'relu')", "dense32 relu"},
        {"Linear(4,32), ReLU(), Linear(32,3)", "dense32 relu dense3"},
        {"nn.Sequential(nn.Linear(4, 32), nn.ReLU(), nn.Linear(32, 3))",
         "dense32 relu dense3"},
        {"nn.Linear(in_features=4, out_features=32)", "dense32"},
        {"nn.Linear(4, 32, bias=True)->nn.Tanh()", "dense32 tanh"},
        {"nn.Conv2d(1,32,3)", "conv3x3x32"},
        {"nn.Conv2d(1, 32, kernel_size=3, stride=2, padding=1)",
         "conv3x3x32/2+1"},
        {"nn.Conv2d(1, 32, (3, 5), 1, 0)", "conv3x5x32"},
        {"nn.Conv2d(1, 32, 3, padding='same')", "conv3x3x32+1"},
        {"nn.Conv2d(1, 32, 3, padding=(1, 2))", NULL},
        {"Conv2D(32,(3,3),activation='relu')", "conv3x3x32 relu"},
        {"Conv2D(32, 3, padding='same'), MaxPooling2D((2, 2)), Flatten(), "
         "Dropout(.25), Dense(10)",
         "conv3x3x32+1 pool2 drop.25 dense10"},
        {"Conv2D(32, (3, 3), padding='same', strides=2)", NULL},
        {"MaxPool2d(3, 2), AvgPool2d(2), MaxPooling2D()", "pool3/2 avg2 pool2"},
        {"dense32,relu,dense3", "dense32 relu dense3"},
        {"dense32-relu-dense3", "dense32 relu dense3"},
        {"dense32->relu->dense3", "dense32 relu dense3"},
        {"conv3x3x8+1,drop.5,pool3/2", "conv3x3x8+1 drop.5 pool3/2"},
        {"Dense(32), BatchNormalization(), Dense(3)", NULL},
        {"Dense(-3)", NULL},
        {"Dense()", NULL},
        {"Dense(32", NULL},
        {"Dense(3, 4]", NULL},
        {"Conv2d(1)", NULL},
        {"32,16", NULL},
        {"()[]", NULL},
        {"", NULL},
    };
    char ours[64];

    (void)state;
    for (size_t i = 0; i < COUNT(nets); i++) {
        const bool known = layer_translate(nets[i].theirs, ours, sizeof ours);

        if (known != (nets[i].ours != NULL) ||
            (known && strcmp(ours, nets[i].ours) != 0))
            fail_msg("%s: %s", nets[i].theirs, known ? ours : "nothing");
    }
    assert_false(layer_translate("dense32,relu", ours, sizeof "dense32 rel"));
}

/* Products of sizes that wrap to something small. */
static void sizes_that_wrap_are_refused(void **state)
{
    static const struct {
        struct neural_shape in;
        const char *text, *say;
    } wrong[] = {
        {{1, 1, 1 << 22},
         "conv8192x8192x65536/8192+8191 dense3",
         "too many numbers"}, /* 2^64 weights. */
        {{1 << 14, 1 << 14, 1},
         "conv64x64x1048576+63 conv64x64x2",
         "too many numbers"},
        {{UINT32_MAX, UINT32_MAX, UINT32_MAX}, "dense3", "an input of"},
        {{1U << 31, 1U << 31, 4}, "dense3", "an input of"}, /* 2^64 floats. */
    };

    (void)state;
    for (size_t i = 0; i < COUNT(wrong); i++) {
        struct neural net;
        struct why why = {{0}};

        assert_int_equal(neural_init(&net, wrong[i].text, &wrong[i].in,
                                     NEURAL_SOFTMAX, &why),
                         ERR_RANGE);
        if (strstr(why.text, wrong[i].say) == NULL)
            fail_msg("\"%s\" says: %s", wrong[i].text, why.text);
    }
}

/* Mean 0; He's and Glorot's variances. */
static void first_weights_are_as_wide_as_they_should_be(void **state)
{
    const struct neural_shape in = {1, 1, 300};
    struct why why = {{0}};
    struct neural net;
    double most = 0, least = 0;
    float *w;

    (void)state;
    assert_int_equal(
        neural_init(&net, "dense200 relu dense50", &in, NEURAL_SOFTMAX, &why),
        ERR_OK);
    w = mem_new(net.parameters, sizeof *w);
    assert_non_null(w);
    neural_draw(&net, 1, w);
    for (uint32_t t = 0; t < 4; t += 2) {
        const struct neural_tensor *const tensor = &net.tensors[t];
        const double expected = t == 0 ? 2.0 / 300 : 2.0 / (200 + 50);
        double sum = 0, squares = 0;

        for (size_t i = 0; i < tensor->count; i++) {
            const double v = (double)w[tensor->first + i];

            sum += v;
            squares += v * v;
        }
        assert_true(fabs(sum / (double)tensor->count) < 0.003);
        assert_true(fabs(squares / (double)tensor->count / expected - 1) <
                    0.05);
    }
    /* Biases: 200 that fill their interval, and of scores 0. */
    for (size_t i = 0; i < net.tensors[1].count; i++) {
        most = fmax(most, (double)w[net.tensors[1].first + i]);
        least = fmin(least, (double)w[net.tensors[1].first + i]);
    }
    assert_true(most > 0.9 / sqrt(300) && most <= 1 / sqrt(300));
    assert_true(least < -0.9 / sqrt(300) && least >= -1 / sqrt(300));
    for (size_t i = 0; i < net.tensors[3].count; i++)
        assert_true(w[net.tensors[3].first + i] == 0);
    mem_free(w);
    neural_close(&net);
}

/* Also where its kernel has as many taps as the image has numbers. */
static void a_convolution_begins_without_biases(void **state)
{
    const struct neural_shape in = {3, 3, 2};
    struct why why = {{0}};
    struct neural net;
    float *w;

    (void)state;
    assert_int_equal(neural_init(&net, "conv3x3x4+1 relu dense5 relu dense2",
                                 &in, NEURAL_SOFTMAX, &why),
                     ERR_OK);
    w = mem_new(net.parameters, sizeof *w);
    assert_non_null(w);
    neural_draw(&net, 1, w);
    for (size_t i = 0; i < net.tensors[1].count; i++)
        assert_true(w[net.tensors[1].first + i] == 0);
    for (size_t i = 0; i < net.tensors[3].count; i++)
        assert_true(w[net.tensors[3].first + i] != 0);
    mem_free(w);
    neural_close(&net);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_layer_agrees_with_differences),
        cmocka_unit_test(one_hash_on_all_sets_and_threads),
        cmocka_unit_test(microbatches_may_come_together),
        cmocka_unit_test(draws_follow_the_sample),
        cmocka_unit_test(scores_of_samples_are_their_own),
        cmocka_unit_test(scores_drop_nothing),
        cmocka_unit_test(sizes_bound_the_sums),
        cmocka_unit_test(sizes_are_rounded_up),
        cmocka_unit_test(sizes_end_alike_on_all_threads),
        cmocka_unit_test(what_does_not_fit_is_refused),
        cmocka_unit_test(shapes_and_parameters_are_counted),
        cmocka_unit_test(texts_are_refused_in_words),
        cmocka_unit_test(networks_of_others_are_translated),
        cmocka_unit_test(sizes_that_wrap_are_refused),
        cmocka_unit_test(first_weights_are_as_wide_as_they_should_be),
        cmocka_unit_test(a_convolution_begins_without_biases),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
