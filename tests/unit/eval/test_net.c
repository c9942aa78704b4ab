/*
 * Networks through the table of evaluators: the same sums whoever computes
 * which chunks with how many threads, those of one network called by hand;
 * minibatches that are short; what is refused; a training alone.
 */
#include <float.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/mem.h"
#include "base/rng.h"
#include "eval/briefs.h"
#include "eval/objective.h"
#include "eval/registry.h"
#include "math/exact/tally.h"
#include "model/net/scores.h"
#include "model/net/work.h"
#include "node/fixed/alone.h"
#include "os/run/threads.h"

enum {
    SIDE = 6,
    COLS = SIDE * SIDE,
    CLASSES = 3,
    ROWS = 50,
    BATCH = 20,
    MICRO = 4, /* A pass: 20, 20, 10 rows; the last has chunks of 4 4 2 0 0. */
    CHUNKS = 5,
    GRID = 18,
};

static const struct neural_shape image = {SIDE, SIDE, 1};
static const char *const text =
    "conv3x3x4 relu pool2 drop.25 dense8 relu drop.5 dense3";

struct bench {
    struct dataset data;
    struct neural_model model;
    struct sampler sampler;
    double *w;
    uint32_t dims, parameters;
    int16_t *exponent;
    uint8_t room[BRIEF_MAX];
    struct brief brief;
};

/* A bright stripe somewhere: the class is where. */
static void fill(struct dataset *data)
{
    float *x = data->x;

    for (uint32_t i = 0; i < data->rows; i++) {
        const uint32_t class = i % CLASSES;

        data->y[i] = class;
        for (uint32_t j = 0; j < COLS; j++)
            x[(size_t)i * data->stride + j] =
                (float)(rng_at(1, i, j) % 64) +
                (j / SIDE / 2 == class ? 150.0F : 0.0F);
    }
    chunkset_fill(&data->present);
}

/* With the rows' weights as they are by now. */
static void make_brief(struct bench *b)
{
    const struct dataset_shape shape = dataset_shape(&b->data);

    b->brief = brief_net(b->room, &shape, &b->model, &b->sampler, 77);
}

static void open_bench(struct bench *b, const char *net, enum neural_loss loss)
{
    const struct neural_units units = neural_units(255);
    float *drawn;

    *b = (struct bench){0};
    assert_int_equal(dataset_init(&b->data, ROWS, COLS, 8), ERR_OK);
    fill(&b->data);
    assert_int_equal(
        neural_model_init(&b->model, net, &image, loss, &units, NULL), ERR_OK);
    b->sampler = sampler_of(SAMPLER_ROWS, ROWS, MICRO, BATCH, 9);
    b->parameters = (uint32_t)b->model.neural.parameters;
    b->dims = neural_sums_dims(&b->model.neural);
    b->w = mem_new(b->dims, sizeof *b->w);
    b->exponent = mem_new((size_t)b->dims + 1, sizeof *b->exponent);
    drawn = mem_new(b->parameters, sizeof *drawn);
    assert_true(b->w != NULL && b->exponent != NULL && drawn != NULL);
    neural_draw(&b->model.neural, 4, drawn);
    for (uint32_t j = 0; j < b->parameters; j++)
        b->w[j] = (double)drawn[j] * (1 + 0x1p-40); /* No float. */
    for (uint32_t j = 0; j <= b->dims; j++)
        b->exponent[j] = GRID;
    make_brief(b);
    mem_free(drawn);
}

static void close_bench(struct bench *b)
{
    dataset_close(&b->data);
    neural_model_close(&b->model);
    mem_free(b->w);
    mem_free(b->exponent);
}

static enum err run(const struct bench *b, struct evaluator *evaluator,
                    uint32_t step, uint32_t first, uint32_t end,
                    struct tally *tally)
{
    const struct computation asked = {
        .what = {.kind = EVALUATE_GRADIENT, .w = b->w},
        .first = first,
        .end = end,
        .step = step,
        .name = 5,
        .exponent = b->exponent,
        .tally = tally};

    return evaluator_run(evaluator, &asked, NULL);
}

static struct evaluator *open_net(const struct bench *b, enum isa isa,
                                  struct pool *pool)
{
    const struct shelf shelf = {.data = &b->data, .isa = isa};
    struct evaluator *evaluator = NULL;

    assert_int_equal(evaluator_open(&b->brief, &shelf, pool, &evaluator),
                     ERR_OK);
    assert_int_equal(evaluator->dims, b->dims);
    assert_int_equal(evaluator->chunks, CHUNKS);
    return evaluator;
}

/* All chunks of a step, some first and some then. */
static struct digest digest_of(const struct bench *b, enum isa isa,
                               struct pool *pool, uint32_t step, uint32_t cut)
{
    struct evaluator *const evaluator = open_net(b, isa, pool);
    struct tally one, other;
    struct digest digest;

    assert_int_equal(tally_init(&one, b->dims, CHUNKS), ERR_OK);
    assert_int_equal(tally_init(&other, b->dims, CHUNKS), ERR_OK);
    tally_blank(&one);
    memset(one.sum, 0x5a, b->dims * sizeof *one.sum); /* It may be anything. */
    assert_int_equal(run(b, evaluator, step, cut, CHUNKS, &one), ERR_OK);
    assert_int_equal(run(b, evaluator, step, 0, cut, &other), ERR_OK);
    assert_int_equal(tally_merge(&one, &other), ERR_OK);
    digest = tally_digest(&one);
    tally_close(&one);
    tally_close(&other);
    evaluator_close(evaluator);
    return digest;
}

static void test_one_sum(void **state)
{
    struct bench b;

    (void)state;
    open_bench(&b, text, NEURAL_SOFTMAX);
    for (uint32_t step = 0; step < 3; step++) {
        const struct digest wanted =
            digest_of(&b, ISA_PORTABLE, pool_serial(), step, 0);

        for (uint32_t threads = 1; threads <= 3; threads++) {
            struct pool *pool = NULL;

            assert_int_equal(threads_new(threads, &pool), ERR_OK);
            for (uint32_t cut = 0; cut <= CHUNKS; cut += 2) {
                const struct digest got =
                    digest_of(&b, isa_best(), pool, step, cut);

                assert_memory_equal(&got, &wanted, sizeof got);
            }
            threads_free(pool);
        }
    }
    close_bench(&b);
}

/* What was read may have been overwritten meanwhile, and be asked for again by
 * the same name: by a coordinator's next life, at the same step. */
static void test_forgets_what_it_misread(void **state)
{
    struct bench b;
    struct evaluator *evaluator;
    struct tally tally;
    struct digest wanted, got;
    double kept;

    (void)state;
    open_bench(&b, text, NEURAL_SOFTMAX);
    wanted = digest_of(&b, isa_best(), pool_serial(), 0, 0);
    evaluator = open_net(&b, isa_best(), pool_serial());
    assert_int_equal(tally_init(&tally, b.dims, CHUNKS), ERR_OK);
    kept = b.w[b.parameters - 1];
    b.w[b.parameters - 1] = kept + 1;
    for (int forgot = 0; forgot < 2; forgot++) {
        tally_blank(&tally);
        assert_int_equal(run(&b, evaluator, 0, 0, CHUNKS, &tally), ERR_OK);
        got = tally_digest(&tally);
        assert_int_equal(digest_equal(&got, &wanted), forgot);
        evaluator_forget(evaluator);
        b.w[b.parameters - 1] = kept;
    }
    tally_close(&tally);
    evaluator_close(evaluator);
    close_bench(&b);
}

/* Weights that were floats before give the same sums, and the same name: what
 * struct objective says of `narrow`.  One beyond floats is refused either way.
 */
static void test_floats_are_the_same_weights(void **state)
{
    struct bench b;
    struct digest wanted, name, got;

    (void)state;
    open_bench(&b, text, NEURAL_SOFTMAX);
    b.w[0] = -0.0;
    b.w[1] = 0x1.8p-149;
    wanted = digest_of(&b, isa_best(), pool_serial(), 0, 2);
    name = neural_hash(&b.model.neural, b.w);
    for (int rounded = 0; rounded < 2; rounded++) {
        struct evaluator *evaluator;
        struct tally tally;
        const double kept = b.w[7];

        got = digest_of(&b, isa_best(), pool_serial(), 0, 2);
        assert_memory_equal(&got, &wanted, sizeof got);
        got = neural_hash(&b.model.neural, b.w);
        assert_memory_equal(&got, &name, sizeof got);
        b.w[7] = rounded != 0 ? HUGE_VAL : 1e39;
        evaluator = open_net(&b, isa_best(), pool_serial());
        assert_int_equal(tally_init(&tally, b.dims, CHUNKS), ERR_OK);
        assert_int_equal(run(&b, evaluator, 0, 0, CHUNKS, &tally), ERR_RANGE);
        tally_close(&tally);
        evaluator_close(evaluator);
        b.w[7] = kept;
        for (uint32_t j = 0; j < b.parameters; j++)
            b.w[j] = (double)(float)b.w[j];
    }
    close_bench(&b);
}

/* The same by hand, a microbatch after the other, with this very text as the
 * definition: weights rounded once, rows divided by 255, draws by (seed, step,
 * row). */
static void test_by_hand(void **state)
{
    struct bench b;
    struct evaluator *evaluator;
    struct neural_work *work = NULL;
    struct tally tally;
    int64_t *sum;
    float *parameters;
    double loss = 0;

    (void)state;
    open_bench(&b, text, NEURAL_SOFTMAX);
    evaluator = open_net(&b, isa_best(), pool_serial());
    assert_int_equal(tally_init(&tally, b.dims, CHUNKS), ERR_OK);
    assert_int_equal(run(&b, evaluator, 2, 0, CHUNKS, &tally), ERR_OK);
    assert_int_equal(neural_work_new(&b.model.neural, MICRO, MICRO, isa_best(),
                                     pool_serial(), &work, NULL),
                     ERR_OK);
    sum = mem_new(b.dims, sizeof *sum);
    parameters = mem_new(b.parameters, sizeof *parameters);
    assert_true(sum != NULL && parameters != NULL);
    for (uint32_t j = 0; j < b.parameters; j++)
        parameters[j] = (float)b.w[j];
    assert_int_equal(neural_work_load(work, parameters), ERR_OK);
    for (uint32_t k = 0; k < 3; k++) {
        float x[MICRO * COLS];
        uint32_t row[MICRO], label[MICRO];
        uint64_t id[MICRO];
        int64_t size[8];
        double mine;
        const uint32_t count = sampler_select(&b.sampler, 2, k, row);
        const struct neural_rows rows = {.count = count,
                                         .micro = count,
                                         .x = x,
                                         .label = label,
                                         .id = id,
                                         .seed = 77,
                                         .step = 2};
        struct neural_sums sums = {
            .exponent = b.exponent, .sum = sum, .size = size, .loss = &mine};

        assert_int_equal(count, k < 2 ? MICRO : 2);
        for (uint32_t i = 0; i < count; i++) {
            const float *from = dataset_row(&b.data, row[i]);

            id[i] = row[i];
            label[i] = row[i] % CLASSES;
            for (uint32_t j = 0; j < COLS; j++)
                x[i * COLS + j] = (float)((double)from[j] / 255);
        }
        assert_int_equal(neural_work_gradient(work, &rows, &sums), ERR_OK);
        loss += mine;
        for (uint32_t t = 0; t < b.model.neural.tensor_count; t++)
            sum[b.parameters + t] += size[t];
        sum[b.dims - 1] += (int64_t)ceil(ldexp(mine, GRID));
    }
    assert_memory_equal(tally.sum, sum, b.dims * sizeof *sum);
    assert_true(fabs(tally_loss_value(&tally, b.exponent) - loss) < 1e-4);
    assert_true(chunkset_full(&tally.chunks));
    neural_work_free(work);
    mem_free(sum);
    mem_free(parameters);
    tally_close(&tally);
    evaluator_close(evaluator);
    close_bench(&b);
}

/* --- weights -------------------------------------------------------------- */

static void weigh(struct bench *b, double odd, double even)
{
    assert_int_equal(dataset_add_weights(&b->data), ERR_OK);
    for (uint32_t i = 0; i < ROWS; i++)
        b->data.weight[i] = i % 2 == 1 ? odd : even;
    make_brief(b);
}

static void sum_all(struct bench *b, struct pool *pool, struct tally *tally)
{
    struct evaluator *const evaluator = open_net(b, isa_best(), pool);

    assert_int_equal(tally_init(tally, b->dims, CHUNKS), ERR_OK);
    assert_int_equal(run(b, evaluator, 1, 0, CHUNKS, tally), ERR_OK);
    evaluator_close(evaluator);
}

static struct digest sum_digest(struct bench *b, struct pool *pool)
{
    struct tally tally;
    struct digest digest;

    sum_all(b, pool, &tally);
    digest = tally_digest(&tally);
    tally_close(&tally);
    return digest;
}

/* Weights of 1 are none; of 2, on a grid half as fine, the same integers; and
 * they are as good on several threads. */
static void test_weights_of_powers(void **state)
{
    struct pool *pool = NULL;
    struct digest plain, ones, twos;
    struct tally one, two;
    struct bench b;

    (void)state;
    assert_int_equal(threads_new(3, &pool), ERR_OK);
    open_bench(&b, text, NEURAL_SOFTMAX);
    plain = sum_digest(&b, pool_serial());
    weigh(&b, 1, 1);
    ones = sum_digest(&b, pool);
    assert_memory_equal(&ones, &plain, sizeof ones);
    sum_all(&b, pool, &one);
    weigh(&b, 2, 2);
    twos = sum_digest(&b, pool);
    assert_memory_not_equal(&twos, &plain, sizeof twos);
    for (uint32_t j = 0; j <= b.dims; j++)
        b.exponent[j]--;
    sum_all(&b, pool, &two);
    assert_memory_equal(one.sum, two.sum, b.dims * sizeof *one.sum);
    tally_close(&one);
    tally_close(&two);
    close_bench(&b);
    threads_free(pool);
}

/* The gradient is linear in the weights, but for roundings: of each sample's
 * share to the grid, of chains of floats. */
static void test_weights_of_two_kinds(void **state)
{
    struct tally odd, even, both;
    struct bench b;
    int64_t largest = 0;

    (void)state;
    open_bench(&b, text, NEURAL_SOFTMAX);
    weigh(&b, 1, 0);
    sum_all(&b, pool_serial(), &odd);
    weigh(&b, 0, 1);
    sum_all(&b, pool_serial(), &even);
    weigh(&b, 3, 0.5);
    sum_all(&b, pool_serial(), &both);
    for (uint32_t j = 0; j < b.parameters; j++) {
        const double wanted =
            3 * (double)odd.sum[j] + 0.5 * (double)even.sum[j];

        assert_true(fabs((double)both.sum[j] - wanted) <= 4 * BATCH);
        largest = both.sum[j] > largest ? both.sum[j] : largest;
    }
    assert_true(largest > 1000 * BATCH); /* So that the above says something. */
    assert_true(fabs(tally_loss_value(&both, b.exponent) -
                     3 * tally_loss_value(&odd, b.exponent) -
                     0.5 * tally_loss_value(&even, b.exponent)) < 1e-4);
    tally_close(&odd);
    tally_close(&even);
    tally_close(&both);
    close_bench(&b);
}

/* A row of weight 0 is absent, whatever is in it; one of a weight that is no
 * float, or that makes a gradient none, is refused. */
static void test_weights_of_nothing(void **state)
{
    static double scores[ROWS * CLASSES];
    struct digest one, other;
    struct evaluator *evaluator;
    struct tally tally;
    struct bench b;

    (void)state;
    open_bench(&b, text, NEURAL_SOFTMAX);
    weigh(&b, 1, 0);
    one = sum_digest(&b, pool_serial());
    for (uint32_t i = 0; i < ROWS; i += 2)
        b.data.y[i] = 0;
    other = sum_digest(&b, pool_serial());
    assert_memory_equal(&one, &other, sizeof one);
    for (uint32_t i = 0; i < ROWS; i += 2) {
        b.data.y[i] = 1e99; /* Of no class, ... */
        ((float *)b.data.x)[(size_t)i * b.data.stride] = FLT_MAX;
    }
    other = sum_digest(&b, pool_serial());
    assert_memory_equal(&one, &other, sizeof one);
    /* ... and of no loss. */
    assert_true(fabs(neural_model_loss(&b.model, &b.data, scores) -
                     (double)ROWS * log(CLASSES) / 2) < 1e-9);
    b.model.parameters = mem_new(b.parameters, sizeof(float));
    assert_non_null(b.model.parameters);
    for (uint32_t j = 0; j < b.parameters; j++)
        b.model.parameters[j] = 2;
    assert_int_equal(neural_model_scores(&b.model, &b.data, isa_best(),
                                         pool_serial(), scores, NULL),
                     ERR_OK);
    weigh(&b, 1, 1);
    assert_int_equal(neural_model_scores(&b.model, &b.data, isa_best(),
                                         pool_serial(), scores, NULL),
                     ERR_RANGE);
    weigh(&b, 1e300, 1);
    evaluator = open_net(&b, isa_best(), pool_serial());
    assert_int_equal(tally_init(&tally, b.dims, CHUNKS), ERR_OK);
    assert_int_equal(run(&b, evaluator, 0, 0, CHUNKS, &tally), ERR_RANGE);
    tally_close(&tally);
    evaluator_close(evaluator);
    close_bench(&b);
}

static void test_refused(void **state)
{
    struct bench b;
    struct evaluator *evaluator;
    struct tally tally;

    (void)state;
    open_bench(&b, text, NEURAL_SOFTMAX);
    evaluator = open_net(&b, isa_best(), pool_serial());
    assert_int_equal(tally_init(&tally, b.dims, CHUNKS), ERR_OK);
    for (uint32_t j = b.parameters; j < b.dims; j++) { /* Sizes. */
        b.exponent[j] = 60;
        assert_int_equal(run(&b, evaluator, 0, 0, 1, &tally), ERR_TOOBIG);
        b.exponent[j] = GRID;
        tally_clear(&tally);
    }
    b.data.y[7] = CLASSES; /* Of no class, in the first step or another. */
    for (uint32_t step = 0; step < 3; step++) {
        enum err err = run(&b, evaluator, step, 0, CHUNKS, &tally);

        tally_clear(&tally);
        if (err == ERR_RANGE)
            break;
        assert_int_equal(err, ERR_OK);
        assert_int_not_equal(step, 2);
    }
    b.data.y[7] = 1;
    evaluator_close(evaluator);
    evaluator = open_net(&b, isa_best(), pool_serial());
    b.w[3] = 1e300; /* No float. */
    assert_int_equal(run(&b, evaluator, 0, 0, CHUNKS, &tally), ERR_RANGE);
    tally_close(&tally);
    evaluator_close(evaluator);
    close_bench(&b);
}

/* What rows must be: as many inputs and targets, weighed as was said. */
static void test_other_rows(void **state)
{
    struct evaluator *evaluator = NULL;
    struct shelf shelf = {.isa = isa_best()};
    struct bench b;

    (void)state;
    open_bench(&b, text, NEURAL_SQUARED); /* Three outputs for a number. */
    shelf.data = &b.data;
    assert_int_equal(
        evaluator_open(&b.brief, &shelf, pool_serial(), &evaluator), ERR_SHAPE);
    close_bench(&b);
    open_bench(&b, text, NEURAL_SOFTMAX);
    assert_int_equal(dataset_add_weights(&b.data), ERR_OK);
    assert_int_equal(
        evaluator_open(&b.brief, &shelf, pool_serial(), &evaluator), ERR_SHAPE);
    shelf.data = NULL;
    assert_int_equal(
        evaluator_open(&b.brief, &shelf, pool_serial(), &evaluator), ERR_SHAPE);
    close_bench(&b);
}

/* --- a training ----------------------------------------------------------- */

static struct alone_result train(struct bench *b, struct pool *pool,
                                 enum isa isa)
{
    struct optim_options optim = optim_defaults(OPTIM_ADAM);
    const struct objective_options what = {
        .data = &b->data, .net = &b->model, .isa = isa, .optim = &optim};
    struct alone_result result = {0};
    struct why why = {{0}};

    optim.rate = 0.01;
    optim.rows = ROWS;
    optim.steps = 3 * 40;
    optim.sampler = b->sampler;
    optim.start = b->w;
    if (alone_train(&what, pool, NULL, &result, &why) != ERR_OK)
        fail_msg("%s", why.text);
    assert_int_equal(result.dims, b->parameters);
    return result;
}

static uint32_t right(struct bench *b, const double *w)
{
    double z[ROWS * CLASSES];
    uint32_t count = 0;

    b->model.parameters = mem_new(b->parameters, sizeof(float));
    assert_non_null(b->model.parameters);
    for (uint32_t j = 0; j < b->parameters; j++)
        b->model.parameters[j] = (float)w[j];
    assert_int_equal(neural_model_scores(&b->model, &b->data, isa_best(),
                                         pool_serial(), z, NULL),
                     ERR_OK);
    for (uint32_t i = 0; i < ROWS; i++) {
        const double *at = z + (size_t)i * CLASSES;
        const uint32_t best = at[1] > at[0] ? 1 : 0;

        count += (at[2] > at[best] ? 2 : best) == i % CLASSES;
    }
    return count;
}

static void test_training(void **state)
{
    struct pool *pool = NULL;
    struct alone_result one, other;
    struct bench b;

    (void)state;
    open_bench(&b, "conv3x3x4 relu pool2 dense8 relu drop.25 dense3",
               NEURAL_SOFTMAX);
    assert_int_equal(threads_new(3, &pool), ERR_OK);
    one = train(&b, pool_serial(), ISA_PORTABLE);
    other = train(&b, pool, isa_best());
    assert_memory_equal(&one.hash, &other.hash, sizeof one.hash);
    assert_memory_equal(one.weights, other.weights,
                        one.dims * sizeof *one.weights);
    assert_true(right(&b, b.w) < ROWS * 2 / 3);
    mem_free(b.model.parameters);
    assert_true(right(&b, one.weights) >= ROWS - 1);
    mem_free(one.weights);
    mem_free(other.weights);
    threads_free(pool);
    close_bench(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_one_sum),
        cmocka_unit_test(test_forgets_what_it_misread),
        cmocka_unit_test(test_floats_are_the_same_weights),
        cmocka_unit_test(test_by_hand),
        cmocka_unit_test(test_refused),
        cmocka_unit_test(test_other_rows),
        cmocka_unit_test(test_training),
        cmocka_unit_test(test_weights_of_powers),
        cmocka_unit_test(test_weights_of_two_kinds),
        cmocka_unit_test(test_weights_of_nothing),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
