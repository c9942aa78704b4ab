/*
 * Sparse rows of both profiles: every variant against the reference, sum by
 * sum, in one go and by columns; chunks that do not fit leave no trace; long
 * double arithmetic says what the sums should be near.
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
#include "math/kernel/sparse.h"

enum { ROWS_MAX = 140, COLS_MAX = 90, ENTRIES_MAX = ROWS_MAX * COLS_MAX };

static const enum isa isas[] = {ISA_PORTABLE, ISA_AVX2, ISA_AVX512};
#define COUNT(array) (sizeof(array) / sizeof *(array))

struct sparse_case {
    struct sparse_rows rows;
    uint64_t begin[ROWS_MAX + 1];
    uint32_t column[ENTRIES_MAX];
    float value[ENTRIES_MAX];
    double y[ROWS_MAX], weight[ROWS_MAX];
    double w[COLS_MAX], v[COLS_MAX];
    int16_t exponent[COLS_MAX + 1];
    struct evaluation what;
};

/* Scales of the draw, by turns: plain, tiny, huge. */
static int power_of(uint64_t seed)
{
    static const int powers[] = {0, 0, -1070, 900, -40};

    return powers[seed / 5 % COUNT(powers)];
}

static void case_rows(struct sparse_case *c, struct rng *rng, bool values)
{
    uint64_t at = 0;

    for (uint32_t i = 0; i < c->rows.rows; i++) {
        const double density =
            rng_chance(rng, 0.1) ? 0.0 : rng_unit(rng) * rng_unit(rng);

        for (uint32_t j = 0; j < c->rows.cols; j++) {
            if (!rng_chance(rng, density))
                continue;
            c->column[at] = j;
            c->value[at] = rng_chance(rng, 0.1)
                               ? -0.0f
                               : (float)ldexp(rng_unit(rng) - 0.5,
                                              (int)rng_between(rng, -3, 3));
            at++;
        }
        c->begin[i + 1] = at;
        c->y[i] = rng_chance(rng, 0.03) ? 0 : rng_chance(rng, 0.5) ? 1 : -1;
        c->weight[i] = rng_chance(rng, 0.1) ? 0 : 2 * rng_unit(rng);
    }
    c->rows.value = values ? c->value : NULL;
}

static void case_make(struct sparse_case *c, uint64_t seed, bool values)
{
    const bool hessvec = seed % 3 == 1;
    struct rng rng;

    memset(c, 0, sizeof *c);
    rng_init(&rng, seed);
    c->rows = (struct sparse_rows){
        .begin = c->begin,
        .column = c->column,
        .y = c->y,
        .weight = seed % 2 == 0 ? c->weight : NULL,
        .rows = 1 + (uint32_t)rng_below(&rng, ROWS_MAX),
        .cols = 1 + (uint32_t)rng_below(&rng, COLS_MAX),
    };
    case_rows(c, &rng, values);
    for (uint32_t j = 0; j < c->rows.cols; j++) {
        c->w[j] = ldexp(rng_unit(&rng) - 0.5, power_of(seed));
        c->v[j] = rng_unit(&rng) - 0.5;
        c->exponent[j] = (int16_t)rng_between(&rng, 20, 40);
    }
    c->what = (struct evaluation){
        .kind = hessvec ? EVALUATE_HESSVEC : EVALUATE_GRADIENT,
        .w = c->w,
        .v = hessvec ? c->v : NULL,
    };
}

static enum err add(const struct sparse_case *c, enum isa isa, struct loss loss,
                    uint32_t chunk, struct tally *tally)
{
    struct sparse_round round = {0};
    struct sparse_desk desk = {0};
    enum err err = sparse_round_init(&round, c->rows.cols);

    assert_int_equal(err, ERR_OK);
    err = c->rows.value != NULL
              ? ERR_OK
              : sparse_round_prepare(&round, &c->what, c->rows.cols);
    if (err == ERR_OK)
        err = sparse_add_chunk(isa, loss, &c->rows, &c->what, &round,
                               c->exponent, chunk, &desk, tally);
    sparse_settle(&desk, tally);
    sparse_round_close(&round);
    return err;
}

/* The same by halves: residuals, then columns in three spans, the last first.
 */
static enum err add_by_columns(const struct sparse_case *c, enum isa isa,
                               struct loss loss, uint32_t chunk,
                               struct tally *tally)
{
    const bool csr = c->rows.value != NULL;
    const uint32_t at[] = {0, c->rows.cols / 5, c->rows.cols / 2, c->rows.cols};
    struct sparse_columns columns = {
        .isa = isa, .exponent = c->exponent, .sum = tally->sum};
    struct sparse_round round = {0};
    double r[ROWS_MAX];
    double loss_sum = 0;
    bool fits = true;
    enum err err = sparse_round_init(&round, c->rows.cols);

    assert_int_equal(err, ERR_OK);
    err = csr ? sparse_least(c->exponent, c->rows.cols, &columns.least)
              : sparse_round_prepare(&round, &c->what, c->rows.cols);
    if (err == ERR_OK &&
        !sparse_residuals(isa, loss, &c->rows, &c->what, &round, r, &loss_sum))
        err = ERR_RANGE;
    for (size_t i = COUNT(at) - 1; err == ERR_OK && i-- > 0;) {
        columns.first = at[i];
        columns.end = at[i + 1];
        if (csr)
            sparse_columns_open(&columns);
        fits &= sparse_columns_add(&columns, &c->rows, r);
        if (csr)
            sparse_columns_settle(&columns);
    }
    if (err == ERR_OK &&
        !(fits && tally_loss_fits(tally, c->exponent, loss_sum)))
        err = ERR_RANGE;
    if (err == ERR_OK)
        tally_mark(tally, c->exponent, chunk, loss_sum);
    sparse_round_close(&round);
    return err;
}

static bool same_tally(const struct tally *a, const struct tally *b)
{
    const struct digest of_a = tally_digest(a), of_b = tally_digest(b);

    return digest_equal(&of_a, &of_b);
}

static void assert_variants(const struct sparse_case *c, struct loss loss,
                            uint64_t seed)
{
    struct tally ref, got;
    enum err wanted;

    assert_int_equal(tally_init(&ref, c->rows.cols, 2), ERR_OK);
    assert_int_equal(tally_init(&got, c->rows.cols, 2), ERR_OK);
    wanted =
        sparse_add_chunk_ref(loss, &c->rows, &c->what, c->exponent, 1, &ref);
    for (size_t i = 0; i < COUNT(isas); i++) {
        if (!isa_runs(isas[i]))
            continue;
        tally_clear(&got);
        if (add(c, isas[i], loss, 1, &got) != wanted || !same_tally(&ref, &got))
            fail_msg("seed %llu: %s, loss %d, %u rows of %u differ",
                     (unsigned long long)seed, isa_name(isas[i]),
                     (int)loss.kind, c->rows.rows, c->rows.cols);
        tally_clear(&got);
        if (add_by_columns(c, isas[i], loss, 1, &got) != wanted ||
            (wanted == ERR_OK && !same_tally(&ref, &got)))
            fail_msg("seed %llu: %s, loss %d, %u rows of %u by columns differ",
                     (unsigned long long)seed, isa_name(isas[i]),
                     (int)loss.kind, c->rows.rows, c->rows.cols);
    }
    tally_close(&ref);
    tally_close(&got);
}

static void test_variants_agree(void **state)
{
    static struct sparse_case c;

    (void)state;
    for (uint64_t seed = 0; seed < 2000; seed++) {
        case_make(&c, seed, seed % 4 < 2);
        assert_variants(&c, loss_samples[seed / 7 % LOSSES], seed);
    }
}

/* Broken weights, scales that are too fine and NaN labels: refused whole, by
 * all alike. */
static void test_refused_whole(void **state)
{
    static struct sparse_case c;
    struct tally tally;

    (void)state;
    for (uint64_t seed = 0; seed < 400; seed++) {
        const bool values = seed % 4 < 2;
        uint32_t last;

        case_make(&c, seed, values);
        last = c.rows.rows - 1;
        switch (seed % 5) {
        case 0:
            c.w[c.rows.cols - 1] = seed % 2 == 0 ? nan("") : HUGE_VAL;
            break;
        case 1:
            for (uint32_t j = 0; j < c.rows.cols; j++)
                c.exponent[j] = 1000;
            break;
        case 2:
            c.y[last] = nan("");
            break;
        case 3:
            c.y[last / 2] = 1e300;
            break;
        default:
            c.weight[last] = HUGE_VAL;
            break;
        }
        assert_variants(&c, loss_samples[seed / 7 % LOSSES], seed);
    }
    case_make(&c, 0, false);
    c.y[0] = nan("");
    assert_int_equal(tally_init(&tally, c.rows.cols, 1), ERR_OK);
    assert_int_equal(add(&c, ISA_PORTABLE, loss_plain(LOSS_SQUARED), 0, &tally),
                     ERR_RANGE);
    for (uint32_t j = 0; j < c.rows.cols; j++)
        assert_true(tally.sum[j] == 0);
    c.y[0] = 1;
    assert_int_equal(add(&c, ISA_PORTABLE, loss_plain(LOSS_SQUARED), 0, &tally),
                     ERR_OK);
    assert_int_equal(add(&c, ISA_PORTABLE, loss_plain(LOSS_SQUARED), 0, &tally),
                     ERR_OVERLAP);
    tally_close(&tally);
}

/* The squared loss in long double, from the definition of least squares. */
static void test_near_the_truth(void **state)
{
    static struct sparse_case c;

    (void)state;
    for (uint64_t seed = 0; seed < 100; seed++) {
        long double g[COLS_MAX] = {0};
        double got[COLS_MAX];
        struct tally tally;

        case_make(&c, 25 * seed, seed % 2 == 0);
        c.what.kind = EVALUATE_GRADIENT;
        c.rows.weight = NULL;
        for (uint32_t j = 0; j < c.rows.cols; j++)
            c.exponent[j] = 48;
        for (uint32_t i = 0; i < c.rows.rows; i++) {
            long double z = 0;

            for (uint64_t k = c.begin[i]; k < c.begin[i + 1]; k++)
                z += (long double)(c.rows.value ? c.value[k] : 1.0f) *
                     (long double)c.w[c.column[k]];
            for (uint64_t k = c.begin[i]; k < c.begin[i + 1]; k++)
                g[c.column[k]] +=
                    2 * (z - (long double)c.y[i]) *
                    (long double)(c.rows.value ? c.value[k] : 1.0f);
        }
        assert_int_equal(tally_init(&tally, c.rows.cols, 1), ERR_OK);
        assert_int_equal(
            add(&c, isa_best(), loss_plain(LOSS_SQUARED), 0, &tally), ERR_OK);
        tally_gradient(&tally, c.exponent, got);
        for (uint32_t j = 0; j < c.rows.cols; j++) {
            /* Index weights have 30 bits. */
            const long double tolerance = c.rows.value ? 1e-11L : 1e-5L;

            if (!(fabsl((long double)got[j] - g[j]) < tolerance))
                fail_msg("seed %llu: column %u: %g against %Lg",
                         (unsigned long long)seed, j, got[j], g[j]);
        }
        tally_close(&tally);
    }
}

static void test_quantised_weights(void **state)
{
    const double w[] = {1.0, -0.5, 0x1p-30, 0x1.8p-30, 0.0, -0x1p-40};
    const double edge[] = {1.0 - 0x1p-53, 0.0, 0.0, 0.0, 0.0, 0.0};
    const double tiny[] = {0x1p-1074, 0.0, 0.0, 0.0, 0.0, 0.0};
    struct evaluation what = {.kind = EVALUATE_GRADIENT, .w = w};
    struct sparse_round round;

    (void)state;
    assert_int_equal(sparse_round_init(&round, 6), ERR_OK);
    assert_int_equal(sparse_round_prepare(&round, &what, 6), ERR_OK);
    /* 1.0 is not below 2^30 on a scale of 2^30. */
    assert_true(round.unit == 0x1p-29);
    assert_int_equal(round.q[0], 1 << 29);
    assert_int_equal(round.q[1], -(1 << 28));
    assert_int_equal(round.q[2], 0); /* A tie, to even. */
    assert_int_equal(round.q[3], 1);
    assert_int_equal(round.q[5], 0);
    what.w = edge;
    assert_int_equal(sparse_round_prepare(&round, &what, 6), ERR_OK);
    assert_int_equal(round.q[0], (1 << 30) - 1);
    what.w = tiny;
    assert_int_equal(sparse_round_prepare(&round, &what, 6), ERR_OK);
    assert_true(round.unit == 0x1p-1022);
    sparse_round_close(&round);
}

static void test_scores(void **state)
{
    static struct sparse_case c;
    double z[ROWS_MAX];

    (void)state;
    for (uint64_t seed = 0; seed < 20; seed++) {
        case_make(&c, seed, seed % 2 == 0);
        sparse_scores(&c.rows, c.w, z);
        for (uint32_t i = 0; i < c.rows.rows; i++) {
            double lane[4] = {0};

            for (uint64_t k = c.begin[i]; k < c.begin[i + 1]; k++)
                lane[(k - c.begin[i]) % 4] +=
                    (c.rows.value ? (double)c.value[k] : 1.0) *
                    c.w[c.column[k]];
            assert_true(z[i] == (lane[0] + lane[2]) + (lane[1] + lane[3]));
        }
    }
}

/* A case of given row lengths in `cols` columns, ascending by a stride that
 * reaches the last column. */
static void shape_make(struct sparse_case *c, const uint32_t *length,
                       uint32_t rows, uint32_t cols, bool values)
{
    uint64_t at = 0;

    memset(c, 0, sizeof *c);
    for (uint32_t i = 0; i < rows; i++) {
        const uint32_t stride =
            length[i] > 1 ? (cols - 1) / (length[i] - 1) : 1;

        for (uint32_t k = 0; k < length[i]; k++, at++) {
            c->column[at] = length[i] == 1 ? cols - 1 : k * stride;
            c->value[at] = 0.25f * (float)(int)(at % 7) - 0.5f;
        }
        c->begin[i + 1] = at;
        c->y[i] = i % 2 == 0 ? 1 : -1;
    }
    for (uint32_t j = 0; j < COLS_MAX; j++) {
        c->w[j] = 0.125 * (j % 5) - 0.2;
        c->v[j] = 0.3 - 0.0625 * (j % 11);
        c->exponent[j] = (int16_t)(20 + j % 30);
    }
    c->rows = (struct sparse_rows){
        .begin = c->begin,
        .column = c->column,
        .value = values ? c->value : NULL,
        .y = c->y,
        .rows = rows,
        .cols = cols,
    };
    c->what =
        (struct evaluation){.kind = EVALUATE_GRADIENT, .w = c->w, .v = c->v};
}

/* Rows without entries at either end, one column, rows of every length around
 * the steps that the kernels take, a row as long as all columns. */
static void test_odd_shapes(void **state)
{
    static const uint32_t none[] = {0, 0, 0};
    static const uint32_t ends[] = {0, 3, 0, 0, 5, 0};
    static const uint32_t single[] = {1, 0, 1, 1};
    static const uint32_t full[] = {COLS_MAX, 0, 1, COLS_MAX};
    static struct sparse_case c;
    uint32_t growing[ROWS_MAX];

    (void)state;
    for (uint32_t i = 0; i < ROWS_MAX; i++)
        growing[i] = i % 67;
    for (int n = 0; n < 4; n++) {
        const bool values = n % 2 == 0;
        const enum evaluation_kind kind =
            n / 2 == 0 ? EVALUATE_GRADIENT : EVALUATE_HESSVEC;

        for (size_t l = 0; l < LOSSES; l++) {
            shape_make(&c, none, COUNT(none), 7, values);
            c.what.kind = kind;
            assert_variants(&c, loss_samples[l], 0);
            shape_make(&c, ends, COUNT(ends), 9, values);
            c.what.kind = kind;
            assert_variants(&c, loss_samples[l], 1);
            shape_make(&c, single, COUNT(single), 1, values);
            c.what.kind = kind;
            assert_variants(&c, loss_samples[l], 2);
            shape_make(&c, full, COUNT(full), COLS_MAX, values);
            c.what.kind = kind;
            assert_variants(&c, loss_samples[l], 3);
            shape_make(&c, growing, ROWS_MAX, COLS_MAX, values);
            c.what.kind = kind;
            assert_variants(&c, loss_samples[l], 4);
        }
    }
}

/* The last of very many columns, and one row of very many entries. */
static void test_very_wide(void **state)
{
    enum { WIDE = 1 << 20 };
    const uint64_t begin[] = {0, WIDE, WIDE + 2};
    const double y[] = {1, -1};
    uint32_t *const column = mem_new(WIDE + 2, sizeof *column);
    float *const value = mem_new(WIDE + 2, sizeof *value);
    double *const w = mem_new(WIDE, sizeof *w);
    int16_t *const exponent = mem_new(WIDE + 1, sizeof *exponent);

    (void)state;
    assert_true(column != NULL && value != NULL && w != NULL &&
                exponent != NULL);
    for (uint32_t j = 0; j < WIDE; j++) {
        column[j] = j;
        value[j] = (float)(j % 3) - 1;
        w[j] = 0x1p-20 * (j % 9);
        exponent[j] = (int16_t)(30 + j % 20);
    }
    column[WIDE + 1] = WIDE - 1;
    value[WIDE] = value[WIDE + 1] = 1;
    for (int values = 0; values < 2; values++) {
        const struct sparse_rows rows = {
            .begin = begin,
            .column = column,
            .value = values ? value : NULL,
            .y = y,
            .rows = 2,
            .cols = WIDE,
        };
        const struct evaluation what = {.kind = EVALUATE_GRADIENT, .w = w};
        struct tally ref, got;

        assert_int_equal(tally_init(&ref, WIDE, 1), ERR_OK);
        assert_int_equal(tally_init(&got, WIDE, 1), ERR_OK);
        assert_int_equal(sparse_add_chunk_ref(loss_plain(LOSS_LOGISTIC), &rows,
                                              &what, exponent, 0, &ref),
                         ERR_OK);
        for (size_t i = 0; i < COUNT(isas); i++) {
            struct sparse_round round = {0};
            struct sparse_desk desk = {0};

            if (!isa_runs(isas[i]))
                continue;
            tally_clear(&got);
            assert_int_equal(sparse_round_init(&round, WIDE), ERR_OK);
            assert_int_equal(sparse_round_prepare(&round, &what, WIDE), ERR_OK);
            assert_int_equal(
                sparse_add_chunk(isas[i], loss_plain(LOSS_LOGISTIC), &rows,
                                 &what, &round, exponent, 0, &desk, &got),
                ERR_OK);
            sparse_settle(&desk, &got);
            sparse_round_close(&round);
            assert_true(same_tally(&ref, &got));
        }
        tally_close(&ref);
        tally_close(&got);
    }
    mem_free(column);
    mem_free(value);
    mem_free(w);
    mem_free(exponent);
}

/* Chunks on one desk are what they are on desks of their own: in any order,
 * with a refused one between them, and on sums that were there before. */
static void test_desk_is_shared(void **state)
{
    static struct sparse_case a, b, bad;
    struct sparse_desk desk = {0};
    struct tally apart, shared;

    (void)state;
    for (uint64_t seed = 0; seed < 60; seed += 3) {
        case_make(&a, 25 * seed, true);
        b = a;
        b.rows.begin = b.begin;
        b.rows.rows = (a.rows.rows + 1) / 2;
        bad = a;
        bad.y[a.rows.rows - 1] = nan("");
        bad.rows.y = bad.y;
        assert_int_equal(tally_init(&apart, a.rows.cols, 3), ERR_OK);
        assert_int_equal(tally_init(&shared, a.rows.cols, 3), ERR_OK);
        for (uint32_t j = 0; j < a.rows.cols; j++)
            apart.sum[j] = shared.sum[j] = (int64_t)(j * seed) - 700;
        assert_int_equal(
            add(&a, isa_best(), loss_plain(LOSS_SQUARED), 0, &apart), ERR_OK);
        assert_int_equal(
            add(&b, isa_best(), loss_plain(LOSS_SQUARED), 2, &apart), ERR_OK);
        for (uint32_t chunk = 3; chunk-- > 0;) {
            const struct sparse_case *const c = chunk == 0   ? &a
                                                : chunk == 1 ? &bad
                                                             : &b;

            assert_int_equal(
                sparse_add_chunk(isa_best(), loss_plain(LOSS_SQUARED), &c->rows,
                                 &c->what, NULL, a.exponent, chunk, &desk,
                                 &shared),
                chunk == 1 ? ERR_RANGE : ERR_OK);
        }
        sparse_settle(&desk, &shared);
        sparse_settle(&desk, &shared);
        assert_true(same_tally(&apart, &shared));
        tally_close(&apart);
        tally_close(&shared);
    }
}

/* 63 between the exponents is the most, and 2^57 the first that is too much. */
static void test_csr_limits(void **state)
{
    static const uint32_t length[] = {2};
    static struct sparse_case c;
    struct tally tally;

    (void)state;
    shape_make(&c, length, 1, 2, true);
    c.value[0] = c.value[1] = 1;
    c.w[0] = c.w[1] = 0;
    c.y[0] = 0.5; /* The residual of least squares is then -1. */
    c.exponent[0] = -7;
    c.exponent[1] = 56;
    assert_variants(&c, loss_plain(LOSS_SQUARED), 0);
    assert_int_equal(tally_init(&tally, 2, 1), ERR_OK);
    assert_int_equal(add(&c, isa_best(), loss_plain(LOSS_SQUARED), 0, &tally),
                     ERR_OK);
    assert_true(tally.sum[0] == 0);
    assert_true(tally.sum[1] == -(INT64_C(1) << 56));
    tally_clear(&tally);
    c.exponent[0] = -8;
    assert_variants(&c, loss_plain(LOSS_SQUARED), 1);
    assert_int_equal(add(&c, isa_best(), loss_plain(LOSS_SQUARED), 0, &tally),
                     ERR_RANGE);
    c.exponent[0] = 0;
    c.exponent[1] = 57;
    assert_variants(&c, loss_plain(LOSS_SQUARED), 2);
    assert_int_equal(add(&c, isa_best(), loss_plain(LOSS_SQUARED), 0, &tally),
                     ERR_RANGE);
    assert_true(tally.sum[0] == 0 && tally.sum[1] == 0);
    tally_close(&tally);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_variants_agree),
        cmocka_unit_test(test_refused_whole),
        cmocka_unit_test(test_near_the_truth),
        cmocka_unit_test(test_quantised_weights),
        cmocka_unit_test(test_scores),
        cmocka_unit_test(test_odd_shapes),
        cmocka_unit_test(test_very_wide),
        cmocka_unit_test(test_desk_is_shared),
        cmocka_unit_test(test_csr_limits),
    };

    return cmocka_run_group_tests_name("math/kernel/sparse", tests, NULL, NULL);
}
