/*
 * The sizes of random rows in every storage, with every instruction set,
 * against the definition of survey.h read off; pairs of columns against
 * counting them one by one.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <string.h>

#include "base/mem.h"
#include "base/rng.h"
#include "math/kernel/survey.h"

enum { ROWS_MAX = 200, STRIDE_MAX = 144, SEEDS = 60 };

struct sample {
    struct dense_rows rows;
    double x[ROWS_MAX * STRIDE_MAX]; /* The values, whatever the storage. */
    float f32[ROWS_MAX * STRIDE_MAX];
    uint16_t bf16[ROWS_MAX * STRIDE_MAX];
    int8_t i8[ROWS_MAX * STRIDE_MAX];
    uint8_t bit[ROWS_MAX * STRIDE_MAX / 8];
    uint8_t u8[ROWS_MAX * STRIDE_MAX], pixel[ROWS_MAX * STRIDE_MAX];
    double y[ROWS_MAX], weight[ROWS_MAX];
};

static double draw(struct rng *rng, enum dense_storage storage)
{
    if (storage == DENSE_BIT)
        return rng_chance(rng, 0.3) ? 1 : 0;
    if (storage == DENSE_F32)
        return (double)(float)(rng_unit(rng) - 0.5);
    if (storage == DENSE_F64)
        return rng_unit(rng) - 0.5;
    if (storage == DENSE_U8)
        return (double)rng_between(rng, 0, 255);
    if (storage == DENSE_PIXEL)
        return (double)(float)((double)rng_between(rng, 0, 255) / 255);
    return (double)rng_between(rng, -99, 99);
}

static void make(struct sample *s, enum dense_storage storage, uint64_t seed)
{
    struct rng rng;

    memset(s, 0, sizeof *s);
    rng_init(&rng, seed);
    s->rows.storage = storage;
    s->rows.rows = 1 + (uint32_t)rng_below(&rng, ROWS_MAX);
    s->rows.stride = 8 * (1 + (uint32_t)rng_below(&rng, STRIDE_MAX / 8));
    s->rows.y = s->y;
    s->rows.weight = seed % 3 == 0 ? s->weight : NULL;
    s->rows.x = storage == DENSE_F32     ? (void *)s->f32
                : storage == DENSE_BF16  ? (void *)s->bf16
                : storage == DENSE_I8    ? (void *)s->i8
                : storage == DENSE_F64   ? (void *)s->x
                : storage == DENSE_U8    ? (void *)s->u8
                : storage == DENSE_PIXEL ? (void *)s->pixel
                                         : (void *)s->bit;
    for (size_t at = 0; at < (size_t)s->rows.rows * s->rows.stride; at++) {
        const double value = draw(&rng, storage);
        const float x = (float)value;
        uint32_t bits;

        memcpy(&bits, &x, sizeof bits);
        s->x[at] = value;
        s->f32[at] = x;
        s->bf16[at] = (uint16_t)(bits >> 16);
        s->i8[at] = storage == DENSE_I8 ? (int8_t)x : 0;
        s->u8[at] = storage == DENSE_U8 ? (uint8_t)x : 0;
        s->pixel[at] = storage == DENSE_PIXEL ? (uint8_t)lrintf(x * 255) : 0;
        if (x != 0)
            s->bit[at / 8] |= (uint8_t)(1u << at % 8);
    }
    for (uint32_t i = 0; i < s->rows.rows; i++) {
        s->y[i] = 4 * rng_unit(&rng) - 2;
        s->weight[i] = 3 * rng_unit(&rng);
    }
}

static double norm_ref(const double *x, uint32_t stride)
{
    double lane[8] = {0};

    for (uint32_t j = 0; j < stride; j++)
        lane[j % 8] += x[j] * x[j];
    return sqrt(((lane[0] + lane[4]) + (lane[2] + lane[6])) +
                ((lane[1] + lane[5]) + (lane[3] + lane[7])));
}

static void assert_sizes(const struct sample *s, enum isa isa)
{
    const uint32_t stride = s->rows.stride;
    static float room[SURVEY_BLOCK * STRIDE_MAX];
    double x_max[STRIDE_MAX] = {0}, u[STRIDE_MAX] = {0}, v[STRIDE_MAX] = {0};
    double m[STRIDE_MAX] = {0};
    double most = 0;
    const double norm = survey_maxima(isa, &s->rows, room, x_max);

    survey_sums(isa, &s->rows, room, u, v, m);
    for (uint32_t j = 0; j < stride; j++) {
        double x_ref = 0, u_ref = 0, v_ref = 0, m_ref = 0;

        for (uint32_t i = 0; i < s->rows.rows; i++) {
            const double weight = s->rows.weight != NULL ? s->weight[i] : 1;
            const double x = fabs(s->x[i * stride + j]);
            const double size = norm_ref(s->x + i * stride, stride);

            most = fmax(most, size);
            x_ref = fmax(x_ref, x);
            u_ref += x * (fabs(s->y[i]) * weight);
            v_ref += x * (size * weight);
            m_ref += x * weight;
        }
        assert_true(x_max[j] == x_ref);
        assert_true(u[j] == u_ref);
        assert_true(v[j] == v_ref);
        assert_true(m[j] == m_ref);
    }
    assert_true(norm == most);
}

static void test_sizes(void **state)
{
    struct sample *s = mem_new(1, sizeof *s);

    (void)state;
    assert_non_null(s);
    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        make(s, (enum dense_storage)(seed % DENSE_STORAGES), seed);
        for (int isa = ISA_PORTABLE; isa <= ISA_AVX512; isa++) {
            if (isa_runs((enum isa)isa))
                assert_sizes(s, (enum isa)isa);
        }
    }
    mem_free(s);
}

static uint64_t pairs_ref(const struct sample *s, const bool *counts,
                          uint32_t j, uint32_t k)
{
    uint64_t pairs = 0;

    for (uint32_t i = 0; i < s->rows.rows; i++)
        pairs += counts[i] && s->x[i * s->rows.stride + j] != 0 &&
                 s->x[i * s->rows.stride + k] != 0;
    return pairs;
}

static void assert_pairs(const struct sample *s, const bool *counts,
                         enum isa isa, uint64_t *words)
{
    const uint32_t stride = s->rows.stride;
    const size_t count = survey_columns(&s->rows, counts, words);
    uint64_t pairs[SURVEY_JOINT * STRIDE_MAX];

    assert_int_equal(count, (s->rows.rows + 63) / 64);
    for (uint32_t j = 0; j < stride; j++) {
        if (j % SURVEY_JOINT == 0)
            survey_pairs(isa, words, count, stride, j, pairs);
        for (uint32_t k = 0; k <= j; k++)
            assert_int_equal(pairs[j % SURVEY_JOINT * stride + k],
                             pairs_ref(s, counts, j, k));
    }
}

static void test_pairs(void **state)
{
    struct sample *s = mem_new(1, sizeof *s);
    uint64_t *words = mem_new(SURVEY_WORDS * STRIDE_MAX, sizeof *words);
    bool counts[ROWS_MAX];

    (void)state;
    assert_non_null(s);
    assert_non_null(words);
    for (uint64_t seed = 0; seed < 8; seed++) {
        make(s, DENSE_BIT, seed);
        for (uint32_t i = 0; i < ROWS_MAX; i++)
            counts[i] = seed % 2 == 0 || rng_unit_at(seed, i, 0) < 0.7;
        for (int isa = ISA_PORTABLE; isa <= ISA_AVX512; isa++) {
            if (isa_runs((enum isa)isa))
                assert_pairs(s, counts, (enum isa)isa, words);
        }
    }
    mem_free(words);
    mem_free(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sizes),
        cmocka_unit_test(test_pairs),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
