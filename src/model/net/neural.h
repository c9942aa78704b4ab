/*
 * neural.h - a network: layers one after the other, as a text says.
 *
 *     conv3x3x32 relu conv3x3x64 relu pool2 drop.25 dense128 relu drop.5
 * dense10
 *
 *     conv5x5x8/2+1   kernel 5 x 5, 8 channels, stride 2, 1 zero on each side
 *     dense128        128 outputs, each of all inputs
 *     relu tanh sigmoid
 *     pool2 avg3/2    largest, mean of 2 x 2; of 3 x 3 at every second pixel
 *     drop.25         in training each is 0 with probability 1/4, and the
 *                     others are 4/3 of what they were
 *
 * Each kind of layer is a struct layer_ops (layer.h), in a file of its own or
 * with its kin, and a name in NEURAL_LAYERS.  The parameters are one vector of
 * floats: of each layer its weights, then its bias; each of these is a tensor.
 *
 * Bits.  What a layer computes is defined number by number: chains of gemm.h
 * and conv.h, polynomials of math/kernel/poly.h, draws of base/rng.h.  The
 * gradient of a tensor is rounded onto an integer grid, for a dense layer once
 * for all samples of a microbatch, whose terms are one chain, for a
 * convolution once for each sample: so samples may be dealt out to threads, and
 * microbatches to machines, and the sums are the same.
 */
#ifndef MODEL_NET_NEURAL_H
#define MODEL_NET_NEURAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/hash.h"
#include "base/pool.h"

#define NEURAL_LAYERS_MAX  256u
#define NEURAL_TENSORS_MAX (2 * NEURAL_LAYERS_MAX)
#define NEURAL_TEXT_MAX    32u                 /* Characters of a layer. */
#define NEURAL_FLOATS_MAX  (UINT32_C(1) << 28) /* Of an image, of a tensor. */

/* Bits of a microbatch's gradient on the grid of its tensor (B of follow.h).
 * Fewer are fewer bytes on the way; measured on gen:digits:5000, batches of 8
 * microbatches (an MLP of 128 and 64, 4 passes; two convolutions of 16, 3):
 *
 *     bits              51     36     32     28     24     20     16
 *     MLP, loss         .5012  .5012  .4998  .5013  .4992  .4907  .5385
 *     CNN, loss         .2851         .2857  .2856  .2856  .3147
 *     bytes a weight    5.5    3.7    3.2    2.7    2.2    1.7    1.2
 *
 * 30 leave 23 to the largest number of a microbatch among 8, a float's own, and
 * 26 to the sum; a microbatch's fits 32 bits. */
#define NEURAL_BITS 30

/* The kinds, as texts begin: conv is layer_conv. */
#define NEURAL_LAYERS(X)                                                       \
    X(conv) X(dense) X(relu) X(tanh) X(sigmoid) X(pool) X(avg) X(drop)

struct neural_shape {
    uint32_t height, width, channels;
};

static inline size_t neural_floats(const struct neural_shape *shape)
{
    return (size_t)shape->height * shape->width * shape->channels;
}

enum neural_loss {
    NEURAL_SOFTMAX, /* Cross-entropy of classes. */
    NEURAL_SQUARED, /* Half the squared distance to a target. */
};

/* A tensor of the parameters. */
struct neural_tensor {
    size_t first, count;
    uint32_t layer;
};

struct layer;

struct neural {
    struct neural_shape in, out;
    enum neural_loss loss;
    struct layer *layers;
    uint32_t layer_count;
    struct neural_tensor *tensors;
    uint32_t tensor_count;
    size_t parameters;
};

/* Is every word of the text a layer?  ERR_FORMAT, with neural_init's
 * sentence. */
MUST_CHECK enum err neural_check(const char *text, struct why *why);
/* ERR_FORMAT: no such layer.  ERR_SHAPE: it does not fit what is below it;
 * the sentence names the layer and both shapes.  ERR_RANGE: too many
 * numbers, no weights.  ERR_MISMATCH: one output, and it learns classes.
 * ERR_NOMEM. */
MUST_CHECK enum err neural_init(struct neural *net, const char *text,
                                const struct neural_shape *in,
                                enum neural_loss loss, struct why *why);
/* The last layer's text, if another must follow it, since it would change the
 * scores; NULL: none must. */
const char *neural_inner_end(const struct neural *net);
void neural_close(struct neural *net); /* Zeroed memory is safe to close. */

/* Sums of a microbatch: one for each parameter, then the size of each tensor
 * and of the loss (math/exact/follow.h). */
static inline uint32_t neural_sums_dims(const struct neural *net)
{
    return (uint32_t)net->parameters + net->tensor_count + 1;
}

/* Weights as a network computes with them, is saved and named; by slices.
 * NULL: no pool. */
void neural_round(const struct neural *net, struct pool *pool, const double *w,
                  float *parameters);
/* What names weights: their hash as the floats that the network computes
 * with (hash_f32). */
struct digest neural_hash(const struct neural *net, const double *w);

/* Is any of its layers a relu, or of that kind? */
bool neural_rectifies(const struct neural *net);

/* A function of the seed: weights before a relu as He and others drew them
 * (ICCV 2015: normal, variance 2 / inputs; normal as rng_normal_at), the others
 * as Glorot and Bengio (AISTATS 2010: uniform, variance 2 / (inputs +
 * outputs)).  Biases of dense layers but the last are uniform up to
 * 1 / sqrt(inputs), all others 0. */
void neural_draw(const struct neural *net, uint64_t seed, float *parameters);

#endif /* MODEL_NET_NEURAL_H */
