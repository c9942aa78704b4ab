/*
 * golden.c - gradients of small networks that have every layer, to the bit.
 *
 * One has convolutions behind which most gradients are 0, another such behind
 * which none is (math/net/conv.h), both one that is no square, and the third
 * one by squares at every second pixel (math/net/winograd2.h).
 */
#include "model/net/golden.h"

#include "base/check.h"
#include "base/hex.h"
#include "base/mem.h"
#include "base/rng.h"
#include "math/net/gemm.h"
#include "model/net/work.h"

enum { SAMPLES = 3, MICRO = 2, PIXELS = 8 * 7, EXPONENT = 40, TENSORS = 10 };

static const struct golden_net {
    const char *text;
    enum neural_loss loss;
} nets[] = {
    {"conv3x3x16+1 relu conv3x3x16+1 relu pool2 drop.25 dense9 tanh dense3",
     NEURAL_SOFTMAX},
    {"conv2x3x16/2+1 tanh conv3x3x16+1 sigmoid avg3/2 drop.1 dense2",
     NEURAL_SQUARED},
    {"conv1x1x16 tanh conv3x3x16/2 tanh dense3", NEURAL_SOFTMAX},
};

/* Two microbatches, the second of which is short. */
static enum err add_sums(struct hasher *hasher, struct neural_work *work,
                         const struct neural *net, int64_t *sum)
{
    float x[SAMPLES * PIXELS], target[SAMPLES * 3];
    const uint32_t label[SAMPLES] = {2, 0, 1};
    const uint64_t id[SAMPLES] = {7, 0, 1000};
    int64_t size[2 * TENSORS] = {0};
    int16_t exponent[TENSORS];
    double loss[2] = {0};
    const struct neural_rows rows = {.count = SAMPLES,
                                     .micro = MICRO,
                                     .x = x,
                                     .label = label,
                                     .target = target,
                                     .id = id,
                                     .seed = 3,
                                     .step = 4};
    struct neural_sums sums = {
        .exponent = exponent, .sum = sum, .size = size, .loss = loss};
    enum err err;

    CHECK(net->tensor_count <= TENSORS);
    for (uint32_t i = 0; i < SAMPLES * PIXELS; i++)
        x[i] = (float)(rng_unit_at(1, 0, i) - 0.4);
    for (uint32_t i = 0; i < SAMPLES * 3; i++)
        target[i] = (float)rng_unit_at(1, 1, i);
    for (uint32_t t = 0; t < TENSORS; t++)
        exponent[t] = EXPONENT;
    err = neural_work_gradient(work, &rows, &sums);
    hasher_add_i64(hasher, sum, net->parameters);
    hasher_add_i64(hasher, size, 2 * (size_t)net->tensor_count);
    hasher_add_f64(hasher, loss, 2);
    return err;
}

static enum err add_net(struct hasher *hasher, enum isa isa,
                        const struct golden_net *from)
{
    const struct neural_shape in = {8, 7, 1};
    struct neural net = {0};
    struct neural_work *work = NULL;
    struct why why = {{0}};
    float *parameters = NULL;
    int64_t *sum = NULL;
    enum err err = neural_init(&net, from->text, &in, from->loss, &why);

    if (err == ERR_OK) {
        parameters = mem_new(net.parameters, sizeof *parameters);
        sum = mem_new(net.parameters, sizeof *sum);
        err = parameters == NULL || sum == NULL
                  ? ERR_NOMEM
                  : neural_work_new(&net, SAMPLES, SAMPLES, isa, pool_serial(),
                                    &work, &why);
    }
    if (err == ERR_OK) {
        neural_draw(&net, 2, parameters);
        err = neural_work_load(work, parameters);
    }
    if (err == ERR_OK)
        err = add_sums(hasher, work, &net, sum);
    neural_work_free(work);
    neural_close(&net);
    mem_free(parameters);
    mem_free(sum);
    return err;
}

static struct digest compute(const enum isa *isa)
{
    const enum isa best = isa != NULL ? *isa : isa_best();
    struct digest digest = {{0}};
    struct hasher hasher;
    struct why why;

    /* Where no network is trained, it breaks none. */
    if (gemm_machine(&why) != ERR_OK) {
        (void)hex_get(neural_golden.expected, sizeof digest.bytes,
                      digest.bytes);
        return digest;
    }
    hasher_init(&hasher);
    for (size_t i = 0; i < sizeof nets / sizeof *nets; i++) {
        if (add_net(&hasher, best, &nets[i]) != ERR_OK)
            return digest; /* None, which meets nobody's. */
    }
    return hasher_end(&hasher);
}

const struct golden_part neural_golden = {
    PROFILE_NET_NAME, compute,
    "6b11f400c07906cb09e2d8c8f36ca48f4cd0a3e7e83ee430d39be38d717dd39e"};
