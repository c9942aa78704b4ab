/*
 * softmax_golden.c - known bits of softmax regression.
 *
 * From gentle to steep: scores of the last rows are in the hundreds, and one
 * row does not count.  Dense gradients and products in every storage, then
 * tallies of the positive entries as sparse rows, with values and without.
 */
#include <math.h>
#include <string.h>

#include "base/check.h"
#include "base/rng.h"
#include "math/golden/golden_parts.h"
#include "math/kernel/softmax.h"

enum {
    ROWS = 37,
    STRIDE = 24,
    CLASSES = 11,
    CELLS = ROWS * STRIDE,
    DIMS = CLASSES * STRIDE,
    EXPONENT = 40, /* Of sparse tallies. */
    LOSS_EXPONENT = 60,
};
#define SEED UINT64_C(0x736f66746d6178)

struct golden {
    const enum isa *isa;
    struct hasher hasher;
    uint32_t classes;
    struct dense_rows in;
    float x[CELLS];
    uint8_t narrow[CELLS * sizeof(uint16_t)];
    double y[ROWS];
    double weight[ROWS];
    double w[DIMS];
    double v[DIMS];
};

static double draw(uint32_t what, uint32_t at)
{
    return rng_unit_at(SEED, what, at) - 0.5;
}

static void make(struct golden *p)
{
    for (uint32_t i = 0; i < ROWS; i++) {
        const double size = i < ROWS - 8 ? 2.0 : 300.0;

        p->y[i] = (double)(rng_at(SEED, 1, i) % CLASSES);
        p->weight[i] = 1.0 + draw(2, i);
        for (uint32_t j = 0; j < STRIDE - 3; j++) {
            const uint32_t at = i * STRIDE + j;

            p->x[at] = (float)(size * draw(3, at));
        }
    }
    p->y[5] = SOFTMAX_NO_CLASS;
    for (uint32_t j = 0; j < DIMS; j++) {
        p->w[j] = draw(4, j);
        p->v[j] = draw(5, j);
    }
    p->in = (struct dense_rows){.storage = DENSE_F32,
                                .x = p->x,
                                .y = p->y,
                                .rows = ROWS,
                                .stride = STRIDE};
}

/* The values cut to what `storage` holds: half a float, a small integer, or
 * whether they are positive. */
static void make_narrow(struct golden *p, enum dense_storage storage)
{
    memset(p->narrow, 0, sizeof p->narrow);
    for (uint32_t at = 0; at < CELLS; at++) {
        uint32_t bits;
        uint16_t half;

        memcpy(&bits, &p->x[at], sizeof bits);
        half = (uint16_t)(bits >> 16);
        if (storage == DENSE_BF16)
            memcpy(p->narrow + sizeof half * at, &half, sizeof half);
        else if (storage == DENSE_I8)
            p->narrow[at] = (uint8_t)(int8_t)fmod((double)p->x[at] * 50, 127);
        else if (p->x[at] > 0)
            p->narrow[at / 8] |= (uint8_t)(1u << at % 8);
    }
    p->in.storage = storage;
    p->in.x = p->narrow;
}

static void add_dense(struct golden *p)
{
    double scratch[2048] __attribute__((aligned(64)));
    const uint32_t dims = p->classes * STRIDE;
    double g[DIMS];
    double loss = 0.0;

    CHECK(softmax_scratch_bytes(STRIDE, CLASSES) <= sizeof scratch);
    if (p->isa != NULL)
        softmax_gradient(*p->isa, p->classes, &p->in, p->w, g, &loss, scratch);
    else
        softmax_gradient_ref(p->classes, &p->in, p->w, g, &loss);
    hasher_add_f64(&p->hasher, g, dims);
    hasher_add_f64(&p->hasher, &loss, 1);
    if (p->isa != NULL)
        softmax_hessvec(*p->isa, p->classes, &p->in, p->w, p->v,
                        &(struct softmax_memo){0}, g, scratch);
    else
        softmax_hessvec_ref(p->classes, &p->in, p->w, p->v, g);
    hasher_add_f64(&p->hasher, g, dims);
}

struct entries {
    uint64_t begin[ROWS + 1];
    uint32_t column[CELLS];
    float value[CELLS];
};

static struct sparse_rows take_positive(const struct golden *p, bool values,
                                        struct entries *entries)
{
    uint64_t count = 0;

    for (uint32_t at = 0; at < CELLS; at++) {
        if (at % STRIDE == 0)
            entries->begin[at / STRIDE] = count;
        if (p->x[at] <= 0)
            continue;
        entries->column[count] = at % STRIDE;
        entries->value[count++] = p->x[at];
    }
    entries->begin[ROWS] = count;
    return (struct sparse_rows){
        .begin = entries->begin,
        .column = entries->column,
        .value = values ? entries->value : NULL,
        .y = p->y,
        .weight = p->weight,
        .rows = ROWS,
        .cols = STRIDE,
    };
}

static void add_sparse(struct golden *p, bool values, enum evaluation_kind kind)
{
    double scratch[2 * (CLASSES + 8)] __attribute__((aligned(64)));
    const struct evaluation what = {.kind = kind, .w = p->w, .v = p->v};
    struct entries entries;
    const struct sparse_rows in = take_positive(p, values, &entries);
    int64_t sum[DIMS] = {0};
    int16_t exponent[DIMS + 1];
    uint64_t words[1] = {0};
    struct tally tally = {.dims = p->classes * STRIDE,
                          .chunks = {.count = 1, .words = words},
                          .sum = sum};
    struct digest digest;
    enum err err;

    for (uint32_t j = 0; j < DIMS; j++)
        exponent[j] = (int16_t)(EXPONENT - j % 3);
    exponent[tally.dims] = LOSS_EXPONENT;
    CHECK(softmax_sparse_scratch_bytes(CLASSES) <= sizeof scratch);
    if (p->isa != NULL)
        err = softmax_add_sparse(p->classes, STRIDE, &in, &what, exponent, 0,
                                 &tally, scratch);
    else
        err = softmax_add_sparse_ref(p->classes, STRIDE, &in, &what, exponent,
                                     0, &tally);
    /* Broken arithmetic may not fit: then the empty tally is hashed. */
    if (err != ERR_OK)
        tally_clear(&tally);
    digest = tally_digest(&tally);
    hasher_add(&p->hasher, digest.bytes, sizeof digest.bytes);
}

static struct digest digest_of(struct golden *p, enum dense_storage storage,
                               const void *x)
{
    const struct hasher all = p->hasher;
    struct digest digest;

    p->in.storage = storage;
    p->in.x = x;
    hasher_init(&p->hasher);
    add_dense(p);
    digest = hasher_end(&p->hasher);
    p->hasher = all;
    return digest;
}

/* Bytes join only if their sums are not those of floats with the same values,
 * and so spoil the digest, which is of the forms that it began with. */
static void check_bytes(struct golden *p, enum dense_storage storage)
{
    float x[CELLS];
    struct digest narrow;
    struct digest wide;

    for (uint32_t at = 0; at < CELLS; at++) {
        p->narrow[at] = (uint8_t)(at * 37 + at / 256);
        x[at] = storage == DENSE_U8 ? (float)p->narrow[at]
                                    : dense_pixel(p->narrow[at]);
    }
    narrow = digest_of(p, storage, p->narrow);
    wide = digest_of(p, DENSE_F32, x);
    if (!digest_equal(&narrow, &wide))
        hasher_add(&p->hasher, narrow.bytes, sizeof narrow.bytes);
}

struct digest golden_softmax(const enum isa *isa)
{
    static const uint32_t classes[] = {CLASSES, 2, 5};
    struct golden p = {.isa = isa};

    make(&p);
    hasher_init(&p.hasher);
    for (uint32_t k = 0; k < sizeof classes / sizeof *classes; k++) {
        p.classes = classes[k];
        for (uint32_t i = 0; i < ROWS; i++)
            p.y[i] = fmin(p.y[i], p.classes - 1.0);
        p.in.weight = k == 1 ? p.weight : NULL;
        add_dense(&p);
        for (int n = 0; n < 4; n++)
            add_sparse(&p, n % 2 == 0,
                       n < 2 ? EVALUATE_GRADIENT : EVALUATE_HESSVEC);
    }
    for (int storage = DENSE_BF16; storage <= DENSE_BIT; storage++) {
        make_narrow(&p, (enum dense_storage)storage);
        add_dense(&p);
    }
    check_bytes(&p, DENSE_U8);
    check_bytes(&p, DENSE_PIXEL);
    return hasher_end(&p.hasher);
}
