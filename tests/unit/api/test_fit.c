#define _GNU_SOURCE /* feenableexcept */
/*
 * muster_fit and what follows it, on a small table of two classes: the same
 * hash alone and with workers, as rows, as columns and as CSR; predictions that
 * survive a file; every refusal with its status and a sentence.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <fenv.h>
#include <math.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "data/read/arrow.h"
#include "muster.h"

enum { ROWS = 300, COLS = 5 };

static double table[ROWS][COLS], turned[COLS][ROWS], label[ROWS];

static double noise(uint32_t seed)
{
    uint32_t x = (seed + 1) * 2654435761u;

    x = (x ^ x >> 15) * 2246822519u;
    return (double)(x ^ x >> 13) / 2147483648.0 - 1;
}

static int fill(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < ROWS; i++) {
        double z = noise(7 * i) * 0.3;

        for (uint32_t j = 0; j < COLS; j++) {
            turned[j][i] = table[i][j] = noise(i * COLS + j + 1000);
            z += table[i][j] * (j + 1);
        }
        label[i] = z > 0 ? 4 : -2;
    }
    return 0;
}

static struct muster_recipe *recipe_of(const char *key, const char *text)
{
    struct muster_recipe *recipe = NULL;
    char why[MUSTER_WHY_SIZE];

    assert_int_equal(muster_recipe_new(&recipe, why), MUSTER_OK);
    assert_int_equal(muster_set(recipe, "threads", "1", why), MUSTER_OK);
    if (key != NULL && muster_set(recipe, key, text, why) != MUSTER_OK)
        fail_msg("%s", why);
    return recipe;
}

static struct muster_matrix matrix_of(void)
{
    struct muster_matrix matrix = MUSTER_INIT(struct muster_matrix);

    matrix.values = table;
    matrix.type = MUSTER_DOUBLE;
    matrix.rows = ROWS;
    matrix.columns = COLS;
    matrix.row_step = sizeof table[0];
    matrix.column_step = sizeof table[0][0];
    return matrix;
}

static void add_labels(struct muster_data *data)
{
    struct muster_vector labels = MUSTER_INIT(struct muster_vector);

    labels.values = label;
    labels.type = MUSTER_DOUBLE;
    labels.count = ROWS;
    assert_int_equal(muster_data_labels(data, &labels, NULL), MUSTER_OK);
}

static struct muster_data *dense(void)
{
    const struct muster_matrix matrix = matrix_of();
    struct muster_data *data = NULL;

    assert_int_equal(muster_data_dense(&matrix, &data, NULL), MUSTER_OK);
    add_labels(data);
    return data;
}

static struct muster_data *fortran(void)
{
    struct muster_matrix matrix = matrix_of();
    struct muster_data *data = NULL;

    matrix.values = turned;
    matrix.row_step = sizeof turned[0][0];
    matrix.column_step = sizeof turned[0];
    assert_int_equal(muster_data_dense(&matrix, &data, NULL), MUSTER_OK);
    add_labels(data);
    return data;
}

static struct muster_data *sparse(void)
{
    static int64_t begin[ROWS + 1];
    static int32_t column[ROWS * COLS];
    struct muster_csr csr = MUSTER_INIT(struct muster_csr);
    struct muster_data *data = NULL;

    for (int32_t i = 0; i < ROWS; i++) {
        begin[i + 1] = (i + 1) * COLS;
        for (int32_t j = 0; j < COLS; j++)
            column[i * COLS + j] = j;
    }
    csr.rows = ROWS;
    csr.columns = COLS;
    csr.begin = begin;
    csr.begin_type = MUSTER_INT64;
    csr.column = column;
    csr.column_type = MUSTER_INT32;
    csr.value = table;
    csr.value_type = MUSTER_DOUBLE;
    assert_int_equal(muster_data_csr(&csr, &data, NULL), MUSTER_OK);
    add_labels(data);
    return data;
}

static struct muster_model *fit(const char *key, const char *text,
                                struct muster_data *data)
{
    struct muster_recipe *recipe = recipe_of(key, text);
    struct muster_model *model = NULL;
    char why[MUSTER_WHY_SIZE];

    if (muster_fit(recipe, data, &model, why) != MUSTER_OK)
        fail_msg("%s", why);
    assert_string_equal(why, "");
    muster_recipe_free(recipe);
    muster_data_free(data);
    return model;
}

static struct muster_info about(const struct muster_model *model)
{
    struct muster_info info = MUSTER_INIT(struct muster_info);

    assert_int_equal(muster_about(model, &info, NULL), MUSTER_OK);
    return info;
}

static void test_one_hash(void **state)
{
    struct muster_model *one = fit(NULL, NULL, dense());
    struct muster_model *other[] = {fit(NULL, NULL, fortran()),
                                    fit(NULL, NULL, sparse()),
                                    fit("n", "3", dense())};
    const struct muster_info info = about(one);

    (void)state;
    assert_string_equal(info.kind, "logistic");
    assert_int_equal(info.features, COLS);
    assert_int_equal(info.dims, COLS + 1);
    assert_int_equal(info.classes, 2);
    assert_int_equal(info.intercept, 1);
    assert_int_equal(info.converged, 1);
    assert_string_equal(info.ended, "converged");
    assert_true(info.steps > 0 && info.objective > 0 && info.objective < 0.7);
    assert_true(muster_classes(one)[0] == -2 && muster_classes(one)[1] == 4);
    assert_null(muster_word(one, 0));
    for (int i = 0; i < 3; i++) {
        assert_string_equal(muster_hash(one), muster_hash(other[i]));
        assert_memory_equal(muster_weights(one), muster_weights(other[i]),
                            (COLS + 1) * sizeof(double));
        muster_free(other[i]);
    }
    muster_free(one);
}

/* Trained, predicting, and as a text that is read again. */
static void test_networks_are_models(void **state)
{
    struct muster_model *net = fit("net", "dense4 relu dense2", dense());
    const struct muster_info info = about(net);
    struct muster_model *read = NULL;
    char *text = NULL;
    size_t size = 0;
    uint32_t shape[3];

    (void)state;
    assert_string_equal(info.kind, "softmax");
    assert_string_equal(muster_layers(net), "dense4 relu dense2");
    assert_int_equal(info.dims, (COLS + 1) * 4 + 5 * 2);
    assert_null(muster_weights(net));
    assert_int_equal(muster_write(net, &text, &size, NULL), MUSTER_OK);
    assert_int_equal(muster_read(text, size, &read, NULL), MUSTER_OK);
    assert_string_equal(muster_hash(net), muster_hash(read));
    assert_memory_equal(muster_parameters(net), muster_parameters(read),
                        (size_t)info.dims * sizeof(float));
    muster_shape(read, shape);
    assert_memory_equal(shape, ((const uint32_t[]){1, 1, COLS}), sizeof shape);
    muster_shape(NULL, shape);
    assert_memory_equal(shape, ((const uint32_t[]){0, 0, 0}), sizeof shape);
    assert_null(muster_layers(NULL));
    assert_null(muster_parameters(NULL));
    muster_text_free(text);
    muster_free(read);
    muster_free(net);
}

static void predict(const struct muster_model *model, enum muster_answer answer,
                    double *out, uint64_t count)
{
    struct muster_data *data = dense();
    char why[MUSTER_WHY_SIZE];

    if (muster_predict(model, data, answer, out, count, why) != MUSTER_OK)
        fail_msg("%s", why);
    muster_data_free(data);
}

static void test_predictions(void **state)
{
    static double said[ROWS], score[ROWS], chance[ROWS][2], again[ROWS];
    struct muster_model *model = fit(NULL, NULL, dense());
    struct muster_model *read = NULL, *loaded = NULL;
    uint32_t right = 0;
    char *text = NULL;
    size_t size = 0;

    (void)state;
    predict(model, MUSTER_LABELS, said, ROWS);
    predict(model, MUSTER_SCORES, score, ROWS);
    predict(model, MUSTER_PROBABILITIES, chance[0], 2 * ROWS);
    for (uint32_t i = 0; i < ROWS; i++) {
        right += said[i] == label[i];
        assert_true(said[i] == (score[i] > 0 ? 4 : -2));
        assert_true(fabs(chance[i][1] - 1 / (1 + exp(-score[i]))) < 1e-12);
        assert_true(fabs(chance[i][0] + chance[i][1] - 1) < 1e-12);
    }
    assert_true(right > 0.9 * ROWS);
    assert_int_equal(muster_write(model, &text, &size, NULL), MUSTER_OK);
    assert_int_equal(muster_read(text, size, &read, NULL), MUSTER_OK);
    predict(read, MUSTER_SCORES, again, ROWS);
    assert_memory_equal(score, again, sizeof score);
    muster_text_free(text);
    assert_int_equal(muster_save(model, "test_fit.tmp", NULL), MUSTER_OK);
    assert_int_equal(muster_load("test_fit.tmp", &loaded, NULL), MUSTER_OK);
    assert_int_equal(unlink("test_fit.tmp"), 0);
    assert_int_equal(unlink("test_fit.tmp.card.json"), 0);
    assert_int_equal(unlink("test_fit.tmp.card.txt"), 0);
    assert_string_equal(muster_hash(loaded), muster_hash(model));
    assert_int_equal(about(loaded).steps, 0);
    muster_free(loaded);
    muster_free(read);
    muster_free(model);
}

/* How many rows a file has is known once it is read. */
static void test_rows_of_a_file(void **state)
{
    static const char path[] = "gen:gmm:300,5";
    struct muster_data *data = NULL;
    struct muster_model *model;
    double *said = NULL, *truth = NULL, *chance = NULL;
    uint64_t count = 0;
    uint32_t right = 0;
    char why[MUSTER_WHY_SIZE];

    (void)state;
    assert_int_equal(muster_data_file(path, &data, why), MUSTER_OK);
    model = fit(NULL, NULL, data);
    assert_int_equal(muster_data_file(path, &data, why), MUSTER_OK);
    assert_int_equal(muster_data_rows(data), 0);
    if (muster_predict_all(model, data, MUSTER_LABELS, &said, &count, why) !=
        MUSTER_OK)
        fail_msg("%s", why);
    assert_int_equal(count, 300);
    assert_int_equal(
        muster_predict_all(model, data, MUSTER_TRUTH, &truth, &count, why),
        MUSTER_OK);
    assert_int_equal(count, 300);
    for (uint32_t i = 0; i < 300; i++)
        right += said[i] == truth[i];
    assert_true(right > 200);
    assert_int_equal(muster_predict_all(model, data, MUSTER_PROBABILITIES,
                                        &chance, &count, why),
                     MUSTER_OK);
    assert_int_equal(count, 600);
    assert_int_equal(
        muster_predict_all(model, data, MUSTER_LABELS, NULL, &count, why),
        MUSTER_BAD_OPTION);
    assert_string_equal(why, "there is nowhere to put the answers");
    muster_answers_free(said);
    muster_answers_free(truth);
    muster_answers_free(chance);
    muster_data_free(data);
    muster_free(model);
}

/* Three models are one; its file is read, and says the largest score. */
static void test_one_against_rest(void **state)
{
    static double part[3][ROWS], said[ROWS], score[ROWS][3];
    struct muster_model *models[3], *one = NULL, *read = NULL;
    char why[MUSTER_WHY_SIZE], *text = NULL;
    size_t size = 0;

    (void)state;
    for (uint32_t k = 0; k < 3; k++) {
        for (uint32_t i = 0; i < ROWS; i++)
            label[i] = table[i][k] > 0.2;
        models[k] = fit("model", "svm", dense());
        predict(models[k], MUSTER_SCORES, part[k], ROWS);
    }
    if (muster_one_against_rest((const struct muster_model *const *)models, 3,
                                &one, why) != MUSTER_OK)
        fail_msg("%s", why);
    assert_int_equal(muster_write(one, &text, &size, why), MUSTER_OK);
    assert_int_equal(muster_read(text, size, &read, why), MUSTER_OK);
    assert_string_equal(muster_hash(one), muster_hash(read));
    predict(read, MUSTER_SCORES, score[0], 3 * ROWS);
    predict(read, MUSTER_LABELS, said, ROWS);
    for (uint32_t i = 0; i < ROWS; i++)
        for (uint32_t k = 0; k < 3; k++) {
            assert_true(score[i][k] == part[k][i]);
            assert_true(score[i][k] <= score[i][(uint32_t)said[i]]);
        }
    assert_int_equal(
        muster_one_against_rest((const struct muster_model *const *)models, 2,
                                &one, why),
        MUSTER_BAD_OPTION);
    muster_free(models[1]);
    models[1] = NULL;
    assert_int_equal(
        muster_one_against_rest((const struct muster_model *const *)models, 3,
                                &one, why),
        MUSTER_BAD_OPTION);
    muster_text_free(text);
    muster_free(read);
    muster_free(one);
    muster_free(models[0]);
    muster_free(models[2]);
}

/* Names are given once, and go with the text. */
static void test_names(void **state)
{
    static const char *const words[] = {"no", "yes"};
    static const char *const down[] = {"yes", "no"};
    static const double numbers[] = {5, 7};
    const char *columns[COLS];
    char name[COLS][8];
    struct muster_model *model = fit(NULL, NULL, dense());
    struct muster_model *read = NULL;
    char *text = NULL;
    size_t size = 0;

    (void)state;
    for (uint32_t j = 0; j < COLS; j++) {
        (void)snprintf(name[j], sizeof name[j], "c %u", j);
        columns[j] = name[j];
    }
    assert_null(muster_column(model, 0));
    assert_int_equal(muster_set_classes(model, numbers, NULL, 3, NULL),
                     MUSTER_BAD_OPTION);
    assert_int_equal(muster_set_classes(model, numbers, NULL, 2, NULL),
                     MUSTER_OK);
    assert_true(muster_classes(model)[1] == 7);
    assert_int_equal(muster_set_classes(model, NULL, down, 2, NULL),
                     MUSTER_BAD_OPTION);
    assert_int_equal(muster_set_classes(model, NULL, words, 2, NULL),
                     MUSTER_OK);
    assert_int_equal(muster_set_classes(model, NULL, words, 2, NULL),
                     MUSTER_BAD_OPTION);
    assert_int_equal(muster_set_columns(model, columns, 1, NULL, NULL),
                     MUSTER_BAD_OPTION);
    assert_int_equal(muster_set_columns(model, columns, COLS, "why", NULL),
                     MUSTER_OK);
    assert_int_equal(muster_set_columns(model, columns, COLS, "why", NULL),
                     MUSTER_BAD_OPTION);
    assert_int_equal(muster_write(model, &text, &size, NULL), MUSTER_OK);
    assert_int_equal(muster_read(text, size, &read, NULL), MUSTER_OK);
    assert_string_equal(muster_word(read, 1), "yes");
    assert_string_equal(muster_column(read, COLS - 1), columns[COLS - 1]);
    assert_null(muster_column(read, COLS));
    muster_text_free(text);
    muster_free(read);
    muster_free(model);
}

/* Rows of weight 0 are as if they were not there. */
static void test_weights(void **state)
{
    static double weight[ROWS];
    struct muster_matrix matrix = matrix_of();
    struct muster_vector weights = MUSTER_INIT(struct muster_vector);
    struct muster_vector labels = MUSTER_INIT(struct muster_vector);
    struct muster_data *all = dense(), *half = NULL;
    struct muster_model *one, *two;

    (void)state;
    for (uint32_t i = 0; i < ROWS / 2; i++)
        weight[i] = 1;
    weights.values = weight, weights.type = MUSTER_DOUBLE, weights.count = ROWS;
    assert_int_equal(muster_data_weights(all, &weights, NULL), MUSTER_OK);
    matrix.rows = ROWS / 2;
    labels.values = label, labels.type = MUSTER_DOUBLE, labels.count = ROWS / 2;
    assert_int_equal(muster_data_dense(&matrix, &half, NULL), MUSTER_OK);
    assert_int_equal(muster_data_labels(half, &labels, NULL), MUSTER_OK);
    one = fit("l2", "0.01", all);
    two = fit("l2", "0.01", half);
    for (uint32_t j = 0; j <= COLS; j++)
        assert_true(fabs(muster_weights(one)[j] - muster_weights(two)[j]) <
                    1e-4);
    muster_free(one);
    muster_free(two);
}

/* Weights that are refused leave those that were there as they were. */
static void test_refused_weights(void **state)
{
    static double weight[ROWS];
    struct muster_vector weights = MUSTER_INIT(struct muster_vector);
    struct muster_data *kept = dense(), *same = dense();
    struct muster_model *one, *two;
    char why[MUSTER_WHY_SIZE];

    (void)state;
    for (uint32_t i = 0; i < ROWS; i++)
        weight[i] = 1 + i % 3;
    weights.values = weight, weights.type = MUSTER_DOUBLE, weights.count = ROWS;
    assert_int_equal(muster_data_weights(kept, &weights, NULL), MUSTER_OK);
    assert_int_equal(muster_data_weights(same, &weights, NULL), MUSTER_OK);
    for (uint32_t i = 0; i < ROWS; i++)
        weight[i] = i == 7 ? -1 : 100.0 * i;
    assert_int_equal(muster_data_weights(kept, &weights, why),
                     MUSTER_BAD_OPTION);
    assert_string_equal(why, "weights: that of row 7 is below 0");
    one = fit("l2", "0.01", kept);
    two = fit("l2", "0.01", same);
    assert_string_equal(about(one).hash, about(two).hash);
    muster_free(one);
    muster_free(two);
}

/* Passes over all rows, by whoever computed them. */
static void test_evaluations(void **state)
{
    struct muster_model *alone = fit("optim", "lbfgs", dense());
    struct muster_model *sgd = fit("optim", "sgd", dense());
    struct muster_model *workers = fit("n", "2", dense());

    (void)state;
    assert_true(about(alone).evaluations > about(alone).steps);
    assert_int_equal(about(sgd).evaluations, about(sgd).steps);
    assert_true(about(workers).evaluations >= about(workers).steps);
    muster_free(alone);
    muster_free(sgd);
    muster_free(workers);
}

struct watched {
    uint64_t steps;
    char said[MUSTER_WHY_SIZE];
    uint64_t stop_at;
};

static int watch(void *context, const struct muster_progress *progress)
{
    struct watched *const watched = context;

    assert_int_equal(progress->size, sizeof *progress);
    assert_int_equal(progress->step, watched->steps + 1);
    watched->steps = progress->step;
    return watched->steps == watched->stop_at;
}

static void take(void *context, const char *sentence)
{
    (void)snprintf(((struct watched *)context)->said, MUSTER_WHY_SIZE, "%s",
                   sentence);
}

static void test_listener(void **state)
{
    struct watched watched = {.stop_at = 2};
    struct muster_recipe *recipe = recipe_of("optim", "gd");
    struct muster_data *data = dense();
    struct muster_model *model = NULL;
    char why[MUSTER_WHY_SIZE];

    (void)state;
    muster_listen(recipe, watch, take, &watched);
    assert_int_equal(muster_fit(recipe, data, &model, why), MUSTER_STOPPED);
    assert_non_null(model);
    assert_int_equal(about(model).steps, 2);
    assert_string_equal(about(model).ended, "stopped");
    muster_free(model);
    watched = (struct watched){0}; /* The recipe can be used again. */
    assert_int_equal(muster_fit(recipe, data, &model, why), MUSTER_OK);
    assert_int_equal(watched.steps, 100);
    muster_free(model);
    muster_stop(recipe); /* Before it begins. */
    muster_listen(recipe, NULL, NULL, NULL);
    assert_int_equal(muster_fit(recipe, data, &model, why), MUSTER_STOPPED);
    muster_free(model);
    muster_recipe_free(recipe);
    muster_data_free(data);
}

static int stop_at_the_end(void *context, const struct muster_progress *p)
{
    if (p->step == 100)
        muster_stop(context);
    return 0;
}

static void runs_wholly(struct muster_recipe *recipe, struct muster_data *data)
{
    struct muster_model *model = NULL;

    assert_int_equal(muster_fit(recipe, data, &model, NULL), MUSTER_OK);
    assert_int_equal(about(model).steps, 100);
    muster_free(model);
}

/* Just before a training it is not lost; once one has ended, however, it does
 * not end the next. */
static void test_a_stop_is_for_one_training(void **state)
{
    struct muster_recipe *recipe = recipe_of("optim", "gd");
    struct muster_data *data = dense();
    struct muster_function none = MUSTER_INIT(struct muster_function);
    struct muster_score score = MUSTER_INIT(struct muster_score);
    struct muster_model *model = NULL;

    (void)state;
    muster_stop(recipe);
    assert_int_equal(muster_fit(recipe, data, &model, NULL), MUSTER_STOPPED);
    muster_free(model);
    runs_wholly(recipe, data);
    muster_listen(recipe, stop_at_the_end, NULL, recipe);
    runs_wholly(recipe, data); /* The stop is too late. */
    muster_listen(recipe, NULL, NULL, NULL);
    runs_wholly(recipe, data);
    muster_stop(recipe);
    assert_int_equal(muster_fit(recipe, NULL, &model, NULL), MUSTER_BAD_OPTION);
    runs_wholly(recipe, data);
    muster_stop(recipe);
    assert_int_equal(muster_cross_validate(recipe, data, 1, &score, NULL),
                     MUSTER_BAD_OPTION);
    runs_wholly(recipe, data);
    muster_stop(recipe);
    assert_int_equal(muster_train(recipe, &none, &model, NULL),
                     MUSTER_BAD_OPTION);
    runs_wholly(recipe, data);
    muster_recipe_free(recipe);
    muster_data_free(data);
}

/* SIGSTOP to all workers that this thread has forked. */
static uint32_t freeze_workers(void)
{
    char path[64], name[32];
    FILE *const children = fopen("/proc/thread-self/children", "r");
    uint32_t count = 0;
    int pid;

    assert_non_null(children);
    while (fscanf(children, "%d", &pid) == 1) {
        FILE *comm;

        (void)snprintf(path, sizeof path, "/proc/%d/comm", pid);
        comm = fopen(path, "r");
        if (comm != NULL && fgets(name, sizeof name, comm) != NULL &&
            strncmp(name, "muster:w", 8) == 0)
            count += kill(pid, SIGSTOP) == 0;
        if (comm != NULL)
            (void)fclose(comm);
    }
    (void)fclose(children);
    return count;
}

struct frozen {
    struct muster_recipe *recipe;
    uint32_t count;
    bool died, waits;
};

static int freeze(void *context, const struct muster_progress *progress)
{
    struct frozen *const frozen = context;

    (void)progress;
    if (frozen->count == 0)
        frozen->count = freeze_workers();
    return 0;
}

static void stop_once_it_waits(void *context, const char *sentence)
{
    struct frozen *const frozen = context;

    frozen->died |= strstr(sentence, ": w1 died") != NULL;
    if (strstr(sentence, "nobody is left to compute; waiting for") == NULL)
        return;
    frozen->waits = true;
    muster_stop(frozen->recipe);
}

/* Nobody computes and nobody says why: it is told, and a stop is heard. */
static void test_workers_that_are_all_stopped(void **state)
{
    struct muster_recipe *recipe = recipe_of("n", "2");
    struct frozen frozen = {.recipe = recipe};
    struct muster_data *data = dense();
    struct muster_model *model = NULL;
    char why[MUSTER_WHY_SIZE];

    (void)state;
    assert_int_equal(muster_set(recipe, "optim", "gd", why), MUSTER_OK);
    assert_int_equal(muster_set(recipe, "steps", "100000000", why), MUSTER_OK);
    muster_listen(recipe, freeze, stop_once_it_waits, &frozen);
    assert_int_equal(muster_fit(recipe, data, &model, why), MUSTER_STOPPED);
    assert_int_equal(frozen.count, 2);
    assert_true(frozen.died && frozen.waits);
    assert_true(about(model).steps > 0);
    muster_free(model);
    muster_recipe_free(recipe);
    muster_data_free(data);
}

static int forks(const char *key, const char *text)
{
    struct muster_recipe *recipe = recipe_of(key, text);
    const int said = muster_forks(recipe);

    muster_recipe_free(recipe);
    return said;
}

/* Programs with threads ask before they train. */
static void test_which_recipes_fork(void **state)
{
    (void)state;
    assert_int_equal(forks(NULL, NULL), 0);
    assert_int_equal(forks("n", "0"), 0);
    assert_int_equal(forks("sync", "no"), 0);
    assert_int_equal(forks("optim", "gd"), 0);
    assert_int_equal(forks("n", "2"), 1);
    assert_int_equal(forks("np", "2"), 1);
    assert_int_equal(forks("workers", "2"), 1);
    assert_int_equal(forks("listen", "127.0.0.1:0"), 1);
    assert_int_equal(forks("out", "folder"), 1);
    assert_int_equal(forks("sync", "yes"), 1);
    assert_int_equal(forks("max-time", "60"), 1);
    assert_int_equal(forks("preempt-notice", "aws"), 1);
    assert_int_equal(muster_forks(NULL), 0);
}

static void refuse_key(const char *key, const char *text, const char *sentence)
{
    struct muster_recipe *recipe = recipe_of(NULL, NULL);
    char why[MUSTER_WHY_SIZE];

    assert_int_equal(muster_set(recipe, key, text, why), MUSTER_BAD_OPTION);
    assert_string_equal(why, sentence);
    muster_recipe_free(recipe);
}

/* The sentence of the command line, without its dashes. */
static void refuse_part(const char *key, const char *text, const char *part)
{
    struct muster_recipe *recipe = recipe_of(NULL, NULL);
    char why[MUSTER_WHY_SIZE];

    assert_int_equal(muster_set(recipe, key, text, why), MUSTER_BAD_OPTION);
    if (strstr(why, part) == NULL)
        fail_msg("\"%s\" is not in \"%s\"", part, why);
    assert_null(strstr(why, "--"));
    muster_recipe_free(recipe);
}

/* Whether its file is there is the run's to find. */
static void take_key(const char *key, const char *text)
{
    struct muster_recipe *recipe = recipe_of(NULL, NULL);
    char why[MUSTER_WHY_SIZE];

    assert_int_equal(muster_set(recipe, key, text, why), MUSTER_OK);
    muster_recipe_free(recipe);
}

static void refuse_fit(const char *key, const char *text,
                       struct muster_data *data, enum muster_status status,
                       const char *part)
{
    struct muster_recipe *recipe = recipe_of(key, text);
    struct muster_model *model = NULL;
    char why[MUSTER_WHY_SIZE];

    assert_int_equal(muster_fit(recipe, data, &model, why), status);
    assert_null(model);
    if (strstr(why, part) == NULL)
        fail_msg("\"%s\" is not in \"%s\"", part, why);
    assert_null(strstr(why, "--"));
    muster_recipe_free(recipe);
    muster_data_free(data);
}

static void test_refusals(void **state)
{
    struct muster_matrix matrix = matrix_of();
    struct muster_data *data = NULL;
    struct muster_model *model = NULL;
    char why[MUSTER_WHY_SIZE];

    (void)state;
    refuse_key("modle", "x", "no choice is called modle; did you mean model?");
    refuse_key("data", "x.csv",
               "data is no key of a recipe: rows are given to muster_fit, "
               "muster_predict and muster_cross_validate");
    refuse_key("n", "many", "n many: expected a whole number from 0 to 10000");
    refuse_key("l2", "", "l2: the value is empty; expected A");
    refuse_fit("bias", "3", dense(), MUSTER_BAD_OPTION, "B 3: only 1 (a ");
    refuse_fit("code", "frc", dense(), MUSTER_BAD_OPTION,
               "code needs workers; add n N, the number of them");
    refuse_part("code", "stel", "code: no code named stel; there are");
    refuse_part("code", "cec:l=0:p=0", "code: l=0: expected a whole number");
    refuse_part("code", "frc:x=3", "code frc has no setting `x`");
    refuse_part("code", "steal:stop=never", "no stop rule named never");
    refuse_part("code", "cec:rule=none", "rule=none: expected wrap or cyclic");
    refuse_part("chaos", "rubbish", "chaos \"rubbish\": write kill:w3@20");
    refuse_part("delay", "rubbish", "delay rubbish: no such kind");
    refuse_part("net", "rubbish", "net: layer 1, \"rubbish\": there is no");
    refuse_part("net", "dense5 rellu", "net: layer 2, \"rellu\"");
    refuse_part("audit", "often", "audit often: write a share");
    take_key("code", "auto");
    take_key("code", "local:h=once");
    take_key("code", "matrix:nowhere.csv");
    take_key("delay", "trace:nowhere+exp:1");
    take_key("net", "nowhere.txt");
    take_key("net", "dense5 relu dense2");
    refuse_fit("stragglers", "2", dense(), MUSTER_BAD_OPTION,
               "stragglers needs workers");
    table[17][2] = (double)NAN;
    refuse_fit(NULL, NULL, dense(), MUSTER_BAD_DATA, "row 17, column 2: nan");
    table[17][2] = 0;
    assert_int_equal(muster_data_dense(&matrix, &data, why), MUSTER_OK);
    refuse_fit(NULL, NULL, data, MUSTER_BAD_DATA, "no labels");
    matrix.size = 4096;
    assert_int_equal(muster_data_dense(&matrix, &data, why),
                     MUSTER_BAD_VERSION);
    matrix.size = 0;
    assert_int_equal(muster_data_dense(&matrix, &data, why), MUSTER_BAD_OPTION);
    assert_int_equal(muster_fit(NULL, NULL, &model, why), MUSTER_BAD_OPTION);
    assert_int_equal(muster_load("no such file", &model, why), MUSTER_FAILED);
    assert_int_equal(muster_read("nonsense", 8, &model, why), MUSTER_BAD_DATA);
    assert_string_equal(muster_status_text(MUSTER_BAD_DATA),
                        "rows, labels or a file that cannot be used");
}

/* Names are the world's: what is in them is shown, not done. */
static void test_sentences_have_no_control_characters(void **state)
{
    struct muster_model *model = NULL;
    char why[MUSTER_WHY_SIZE];

    (void)state;
    assert_int_equal(muster_load("no\nsuch\x1b[31mfile\x7f", &model, why),
                     MUSTER_FAILED);
    assert_non_null(strstr(why, "no\\x0asuch\\x1b[31mfile\\x7f"));
}

/* More rows than there may be are the data's fault, and sizes do not wrap. */
static void test_sizes_beyond_the_limits_are_bad_data(void **state)
{
    struct muster_matrix matrix = matrix_of();
    struct muster_recipe *recipe = recipe_of(NULL, NULL);
    struct muster_model *model = NULL;
    struct muster_data *data = NULL;
    char why[MUSTER_WHY_SIZE];

    (void)state;
    matrix.columns = (UINT64_C(1) << 32) + 1;
    assert_int_equal(muster_data_dense(&matrix, &data, why), MUSTER_OK);
    add_labels(data);
    assert_int_equal(muster_fit(recipe, data, &model, why), MUSTER_BAD_DATA);
    assert_non_null(strstr(why, "4294967297 columns"));
    assert_null(model);
    muster_data_free(data);
    muster_recipe_free(recipe);
}

static void test_entries_need_columns(void **state)
{
    int32_t begin[] = {0, 0, 1, 0};
    struct muster_csr csr = MUSTER_INIT(struct muster_csr);
    struct muster_data *data = NULL;
    char why[MUSTER_WHY_SIZE];

    (void)state;
    csr.rows = 3;
    csr.columns = 2;
    csr.begin = begin;
    csr.begin_type = csr.column_type = MUSTER_INT32;
    assert_int_equal(muster_data_csr(&csr, &data, why), MUSTER_BAD_OPTION);
    assert_string_equal(why, "there are entries, but no columns of theirs");
    assert_null(data);
    begin[2] = 0;
    assert_int_equal(muster_data_csr(&csr, &data, why), MUSTER_OK);
    muster_data_free(data);
}

static void test_no_handle_is_no_crash(void **state)
{
    (void)state;
    muster_listen(NULL, NULL, NULL, NULL);
    muster_stop(NULL);
    assert_int_equal(muster_data_rows(NULL), 0);
    assert_string_equal(muster_hash(NULL), "");
    assert_null(muster_weights(NULL));
    assert_null(muster_classes(NULL));
    assert_null(muster_word(NULL, 0));
    assert_null(muster_column(NULL, 0));
}

static void end_stream(struct ArrowArrayStream *stream)
{
    stream->release = NULL;
}

/* Its owner gave it away: nobody else can release it. */
static void test_stream_is_released_without_room(void **state)
{
    struct ArrowArrayStream stream = {.release = end_stream};
    char why[MUSTER_WHY_SIZE];

    (void)state;
    assert_int_equal(muster_data_arrow(&stream, NULL, why), MUSTER_BAD_OPTION);
    assert_string_equal(why, "there is nowhere to put the rows");
    assert_null(stream.release);
    assert_int_equal(muster_data_arrow(NULL, NULL, why), MUSTER_BAD_OPTION);
}

/* --- what the host does with floating point -------------------------------
 */

struct modes {
    int round, traps;
    unsigned sse; /* Flush to zero (0x8000), denormals are zero (0x40). */
};

static const struct modes hostile[] = {
    {.round = FE_UPWARD},
    {.round = FE_TOWARDZERO},
    {.round = FE_TONEAREST, .traps = FE_INVALID | FE_INEXACT},
#ifdef __SSE__
    {.round = FE_TONEAREST, .sse = 0x8040},
#endif
};

static unsigned sse_modes(void)
{
#ifdef __SSE__
    return __builtin_ia32_stmxcsr() & 0x8040u;
#else
    return 0;
#endif
}

static void set_modes(const struct modes *modes)
{
    assert_int_equal(fesetenv(FE_DFL_ENV), 0);
    assert_int_equal(fesetround(modes->round), 0);
#ifdef __SSE__
    __builtin_ia32_ldmxcsr(__builtin_ia32_stmxcsr() | modes->sse);
#endif
    assert_int_not_equal(feenableexcept(modes->traps), -1);
}

static void assert_same_under(const struct modes *modes, const char *key,
                              const char *text, const char *hash)
{
    static double scores[ROWS], again[ROWS];
    const struct modes plain = {.round = FE_TONEAREST};
    struct muster_model *model;
    struct muster_data *data;
    struct modes after;

    set_modes(modes);
    model = fit(key, text, dense());
    data = dense();
    assert_int_equal(
        muster_predict(model, data, MUSTER_SCORES, scores, ROWS, NULL),
        MUSTER_OK);
    after = (struct modes){fegetround(), fegetexcept(), sse_modes()};
    set_modes(&plain);
    assert_int_equal(after.round, modes->round);
    assert_int_equal(after.traps, modes->traps);
    assert_int_equal(after.sse, modes->sse);
    assert_string_equal(muster_hash(model), hash);
    assert_int_equal(
        muster_predict(model, data, MUSTER_SCORES, again, ROWS, NULL),
        MUSTER_OK);
    assert_memory_equal(scores, again, sizeof scores);
    muster_free(model);
    muster_data_free(data);
}

/* The host's rounding, traps and denormal numbers change no bit and end no
 * training, and are as before afterwards. */
static void test_modes_of_the_host_change_no_bit(void **state)
{
    struct muster_model *model = fit(NULL, NULL, dense());

    (void)state;
    for (size_t i = 0; i < sizeof hostile / sizeof *hostile; i++) {
        assert_same_under(&hostile[i], NULL, NULL, muster_hash(model));
        assert_same_under(&hostile[i], "threads", "2", muster_hash(model));
        assert_same_under(&hostile[i], "n", "2", muster_hash(model));
    }
    muster_free(model);
}

/* Scales are numbers, and written as text. */
static struct muster_model *together(void)
{
    struct muster_model *one = fit("scale", "standard", dense());
    const struct muster_model *const three[] = {one, one, one};
    struct muster_model *made = NULL;

    assert_int_equal(muster_one_against_rest(three, 3, &made, NULL), MUSTER_OK);
    muster_free(one);
    return made;
}

static void test_modes_of_the_host_leave_scales(void **state)
{
    const struct modes plain = {.round = FE_TONEAREST};
    struct muster_model *model = together(), *again;
    char *text = NULL, *other = NULL;
    size_t size = 0;

    (void)state;
    assert_int_equal(muster_write(model, &text, &size, NULL), MUSTER_OK);
    for (size_t i = 0; i < sizeof hostile / sizeof *hostile; i++) {
        set_modes(&hostile[i]);
        again = together();
        set_modes(&plain);
        assert_int_equal(muster_write(again, &other, &size, NULL), MUSTER_OK);
        assert_string_equal(other, text);
        muster_text_free(other);
        muster_free(again);
    }
    muster_text_free(text);
    muster_free(model);
}

/* --- what the host's functions do with it ---------------------------------
 */

static int watch_and_leave(void *context, const struct muster_progress *now)
{
    (void)now;
    set_modes(context);
    return 0;
}

static int gradient_and_leave(void *context, const double *w, uint32_t chunk,
                              double *sum, double *loss)
{
    for (uint32_t j = 0; j < 2; j++) {
        const double off = w[j] - 0.1 * (double)(chunk + j);

        sum[j] += off;
        *loss += off * off / 2;
    }
    set_modes(context);
    return 0;
}

static void hash_under(const struct modes *modes, bool own, const char *workers,
                       char *hash)
{
    const struct modes plain = {.round = FE_TONEAREST};
    struct modes left = *modes;
    struct muster_recipe *recipe =
        recipe_of(workers == NULL ? NULL : "n", workers);
    struct muster_function function = MUSTER_INIT(struct muster_function);
    struct muster_data *data = dense();
    struct muster_model *model = NULL;

    function.dims = 2;
    function.chunks = 7;
    function.rows = 7;
    function.gradient = gradient_and_leave;
    function.context = &left;
    muster_listen(recipe, watch_and_leave, NULL, &left);
    assert_int_equal(own ? muster_train(recipe, &function, &model, NULL)
                         : muster_fit(recipe, data, &model, NULL),
                     MUSTER_OK);
    assert_int_equal(fegetround(), FE_TONEAREST);
    set_modes(&plain);
    (void)snprintf(hash, MUSTER_HASH_SIZE, "%s", muster_hash(model));
    muster_free(model);
    muster_data_free(data);
    muster_recipe_free(recipe);
}

/* A watch or a gradient that leaves other modes behind changes no bit. */
static void test_modes_of_callbacks_change_no_bit(void **state)
{
    static const char *const workers[] = {NULL, "2"};
    const struct modes plain = {.round = FE_TONEAREST};
    char hash[MUSTER_HASH_SIZE], again[MUSTER_HASH_SIZE];

    (void)state;
    for (int own = 0; own < 2; own++) {
        hash_under(&plain, own, NULL, hash);
        for (size_t i = 0; i < 2 * sizeof hostile / sizeof *hostile; i++) {
            hash_under(&hostile[i / 2], own, workers[i % 2], again);
            assert_string_equal(again, hash);
        }
    }
}

static void test_folds(void **state)
{
    struct muster_score score[6];
    struct muster_recipe *recipe = recipe_of(NULL, NULL);
    struct muster_data *data = dense();
    double mean = 0;
    char why[MUSTER_WHY_SIZE];

    (void)state;
    for (int i = 0; i < 6; i++)
        score[i].size = sizeof score[i];
    if (muster_cross_validate(recipe, data, 5, score, why) != MUSTER_OK)
        fail_msg("%s", why);
    for (int i = 1; i < 6; i++) {
        assert_true(score[i].steps > 0 && score[i].objective > 0);
        mean += score[i].accuracy / 5;
    }
    assert_true(mean > 0.9 && fabs(mean - score[0].accuracy) < 1e-9);
    assert_true(isnan(score[0].mse) && score[0].auc > 0.9);
    score[0].steps = score[5].size = 0;
    assert_int_equal(muster_cross_validate(recipe, data, 5, score, why),
                     MUSTER_BAD_OPTION);
    assert_int_equal(score[0].steps, 0); /* Refused before the work. */
    score[5].size = sizeof score[5];
    assert_int_equal(muster_cross_validate(recipe, data, 1, score, why),
                     MUSTER_BAD_OPTION);
    assert_int_equal(muster_cross_validate(recipe, data, ROWS + 1, score, why),
                     MUSTER_BAD_OPTION);
    assert_int_equal(muster_set(recipe, "n", "2", why), MUSTER_OK);
    assert_int_equal(muster_cross_validate(recipe, data, 2, score, why),
                     MUSTER_BAD_OPTION);
    muster_recipe_free(recipe);
    muster_data_free(data);
}

static void test_files(void **state)
{
    struct muster_recipe *recipe = recipe_of("model", "linear");
    struct muster_data *data = NULL;
    struct muster_model *model = NULL;

    (void)state;
    assert_int_equal(muster_data_file("gen:linear:500,6", &data, NULL),
                     MUSTER_OK);
    assert_int_equal(muster_fit(recipe, data, &model, NULL), MUSTER_OK);
    assert_string_equal(about(model).kind, "linear");
    assert_int_equal(about(model).classes, 0);
    muster_free(model);
    muster_data_free(data);
    muster_recipe_free(recipe);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(test_one_hash, fill),
        cmocka_unit_test_setup(test_predictions, fill),
        cmocka_unit_test(test_networks_are_models),
        cmocka_unit_test(test_rows_of_a_file),
        cmocka_unit_test_setup(test_one_against_rest, fill),
        cmocka_unit_test_setup(test_weights, fill),
        cmocka_unit_test_setup(test_names, fill),
        cmocka_unit_test_setup(test_refused_weights, fill),
        cmocka_unit_test_setup(test_evaluations, fill),
        cmocka_unit_test_setup(test_listener, fill),
        cmocka_unit_test_setup(test_a_stop_is_for_one_training, fill),
        cmocka_unit_test_setup(test_workers_that_are_all_stopped, fill),
        cmocka_unit_test(test_which_recipes_fork),
        cmocka_unit_test_setup(test_refusals, fill),
        cmocka_unit_test(test_sentences_have_no_control_characters),
        cmocka_unit_test_setup(test_sizes_beyond_the_limits_are_bad_data, fill),
        cmocka_unit_test(test_entries_need_columns),
        cmocka_unit_test(test_no_handle_is_no_crash),
        cmocka_unit_test(test_stream_is_released_without_room),
        cmocka_unit_test_setup(test_modes_of_the_host_change_no_bit, fill),
        cmocka_unit_test_setup(test_modes_of_the_host_leave_scales, fill),
        cmocka_unit_test_setup(test_modes_of_callbacks_change_no_bit, fill),
        cmocka_unit_test_setup(test_folds, fill),
        cmocka_unit_test_setup(test_files, fill),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
