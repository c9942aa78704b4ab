/*
 * Rows that stay with their owners, each cut by itself, against one machine
 * that has them all with the same cut: the same sums of every step, of linear
 * models and of networks, over all rows and over batches.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/mem.h"
#include "base/rng.h"
#include "eval/briefs.h"
#include "eval/registry.h"
#include "math/exact/tally.h"
#include "os/run/threads.h"

enum {
    OWNERS = 3,
    SIDE = 4,
    COLS = SIDE * SIDE,
    CLASSES = 3,
    CHUNK = 6,
    ROWS = 13 + 6 + 20,
    CHUNKS = 3 + 1 + 4, /* 6 6 1, 6, 6 6 6 2. */
    GRID = 20,
};

static const uint32_t sizes[OWNERS] = {13, 6, 20};
static const uint32_t cut[CHUNKS + 1] = {0, 6, 12, 13, 19, 25, 31, 37, ROWS};
static const struct neural_shape image = {SIDE, SIDE, 1};

/* Rows `first` .. of all, which are drawn from their number. */
static void open_rows(struct dataset *data, uint32_t first, uint32_t rows)
{
    float *x;

    assert_int_equal(dataset_init(data, rows, COLS, CHUNK), ERR_OK);
    x = data->x;
    for (uint32_t i = 0; i < rows; i++) {
        data->y[i] = (first + i) % CLASSES;
        for (uint32_t j = 0; j < COLS; j++)
            x[(size_t)i * data->stride + j] =
                (float)(rng_at(1, first + i, j) % 256);
    }
    chunkset_fill(&data->present);
}

/* All of them, cut as the owners' are. */
static void open_all(struct dataset *data)
{
    open_rows(data, 0, ROWS);
    data->cut = mem_new(CHUNKS + 1, sizeof *data->cut);
    assert_non_null(data->cut);
    memcpy(data->cut, cut, sizeof cut);
    chunkset_close(&data->present);
    assert_int_equal(chunkset_init(&data->present, CHUNKS), ERR_OK);
    chunkset_fill(&data->present);
}

/* What is asked of whom. */
struct bench {
    struct dataset all, own[OWNERS];
    struct brief brief;
    uint8_t room[BRIEF_MAX];
    uint32_t dims;
    double *w;
    int16_t *exponent;
};

static void open_bench(struct bench *b)
{
    uint32_t first = 0;

    *b = (struct bench){0};
    open_all(&b->all);
    for (uint32_t i = 0; i < OWNERS; i++) {
        open_rows(&b->own[i], first, sizes[i]);
        first += sizes[i];
    }
}

static void fill_weights(struct bench *b)
{
    b->w = mem_new(b->dims, sizeof *b->w);
    b->exponent = mem_new((size_t)b->dims + 1, sizeof *b->exponent);
    assert_true(b->w != NULL && b->exponent != NULL);
    for (uint32_t j = 0; j < b->dims; j++)
        b->w[j] = rng_normal_at(7, j, 1) * 0.05;
    for (uint32_t j = 0; j <= b->dims; j++)
        b->exponent[j] = GRID;
}

static void close_bench(struct bench *b)
{
    dataset_close(&b->all);
    for (uint32_t i = 0; i < OWNERS; i++)
        dataset_close(&b->own[i]);
    mem_free(b->w);
    mem_free(b->exponent);
}

/* Chunks first .. end-1 of a step are added to the sums. */
static void add(const struct bench *b, const struct shelf *shelf,
                struct pool *pool, uint32_t step, uint32_t first, uint32_t end,
                int64_t *sum, tally_loss *loss)
{
    struct computation asked = {.what = {.kind = EVALUATE_GRADIENT, .w = b->w},
                                .first = first,
                                .end = end,
                                .step = step,
                                .exponent = b->exponent};
    struct evaluator *evaluator;
    struct tally tally;

    assert_int_equal(evaluator_open(&b->brief, shelf, pool, &evaluator),
                     ERR_OK);
    assert_int_equal(evaluator->chunks, CHUNKS);
    assert_int_equal(tally_init(&tally, b->dims, CHUNKS), ERR_OK);
    tally_blank(&tally);
    asked.tally = &tally;
    assert_int_equal(evaluator_run(evaluator, &asked, NULL), ERR_OK);
    for (uint32_t j = 0; j < b->dims; j++)
        sum[j] += tally.sum[j];
    *loss += tally.loss;
    evaluator_close(evaluator);
    tally_close(&tally);
}

static struct shelf shelf_of(const struct bench *b, uint32_t owner)
{
    struct shelf shelf = {.data = &b->own[owner],
                          .part = true,
                          .chunks = CHUNKS,
                          .isa = isa_best()};

    for (uint32_t i = 0; i < owner; i++) {
        shelf.first += dataset_chunks(&b->own[i]);
        shelf.first_row += sizes[i];
    }
    return shelf;
}

static void assert_step(const struct bench *b, struct pool *pool, uint32_t step)
{
    const struct shelf shelf = {.data = &b->all, .isa = isa_best()};
    int64_t *const one = mem_new(b->dims, sizeof *one);
    int64_t *const owned = mem_new(b->dims, sizeof *owned);
    tally_loss loss = 0, owned_loss = 0;

    assert_true(one != NULL && owned != NULL);
    add(b, &shelf, pool, step, 0, CHUNKS, one, &loss);
    for (uint32_t i = 0; i < OWNERS; i++) {
        const struct shelf own = shelf_of(b, i);

        /* The last chunk by itself. */
        add(b, &own, pool, step, own.first,
            own.first + dataset_chunks(own.data) - 1, owned, &owned_loss);
        add(b, &own, pool, step, own.first + dataset_chunks(own.data) - 1,
            own.first + dataset_chunks(own.data), owned, &owned_loss);
    }
    assert_memory_equal(one, owned, b->dims * sizeof *one);
    assert_true(loss == owned_loss);
    mem_free(one);
    mem_free(owned);
}

/* All batches of two passes, and all rows. */
static void assert_same(const struct bench *b, const struct sampler *sampler)
{
    for (uint32_t threads = 1; threads <= 2; threads++) {
        struct pool *pool;

        assert_int_equal(threads_new(threads, &pool), ERR_OK);
        for (uint32_t step = 0; step < 2 * sampler_steps(sampler); step++)
            assert_step(b, pool, step);
        threads_free(pool);
    }
}

/* The sampler as the coordinator has it: it knows nothing of the cut that
 * evaluators are told. */
static struct sampler sampler_with(uint32_t batch)
{
    return sampler_of(SAMPLER_LOCAL, ROWS, CHUNK, batch, 9);
}

static const uint32_t batches[] = {1, 5, 16, ROWS};

static void test_linear(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof batches / sizeof *batches; i++) {
        const struct sampler sampler = sampler_with(batches[i]);
        struct problem problem;
        struct subject subject;
        struct bench b;

        open_bench(&b);
        problem = (struct problem){.data = &b.all,
                                   .model = model_ops(MODEL_LINEAR),
                                   .isa = isa_best(),
                                   .outputs = 1};
        subject = subject_of(&problem);
        b.brief = brief_linear(b.room, &subject, &sampler);
        b.dims = problem_dims(&problem);
        fill_weights(&b);
        assert_same(&b, &sampler);
        close_bench(&b);
    }
}

static void test_network(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof batches / sizeof *batches; i++) {
        const struct sampler sampler = sampler_with(batches[i]);
        const struct neural_units units = neural_units(255);
        struct neural_model model;
        struct dataset_shape shape;
        struct bench b;

        open_bench(&b);
        shape = dataset_shape(&b.all);
        assert_int_equal(
            neural_model_init(&model, "conv3x3x4 relu drop.25 dense3", &image,
                              NEURAL_SOFTMAX, &units, NULL),
            ERR_OK);
        b.brief = brief_net(b.room, &shape, &model, &sampler, 77);
        b.dims = neural_sums_dims(&model.neural);
        fill_weights(&b);
        assert_same(&b, &sampler);
        neural_model_close(&model);
        close_bench(&b);
    }
}

/* Batches of all rows cannot be drawn from some of them; nor can more rows be
 * here than there are. */
static void test_refused(void **state)
{
    const struct sampler rows = sampler_of(SAMPLER_ROWS, ROWS, CHUNK, 5, 9);
    const struct sampler local = sampler_with(5);
    struct evaluator *evaluator;
    struct problem problem;
    struct subject subject;
    struct shelf shelf;
    struct bench b;

    (void)state;
    open_bench(&b);
    problem = (struct problem){.data = &b.all,
                               .model = model_ops(MODEL_LINEAR),
                               .isa = isa_best(),
                               .outputs = 1};
    subject = subject_of(&problem);
    shelf = shelf_of(&b, 2);
    b.brief = brief_linear(b.room, &subject, &rows);
    assert_int_equal(
        evaluator_open(&b.brief, &shelf, pool_serial(), &evaluator), ERR_SHAPE);
    b.brief = brief_linear(b.room, &subject, &local);
    shelf.first_row++;
    assert_int_equal(
        evaluator_open(&b.brief, &shelf, pool_serial(), &evaluator), ERR_SHAPE);
    close_bench(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_linear),
        cmocka_unit_test(test_network),
        cmocka_unit_test(test_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
