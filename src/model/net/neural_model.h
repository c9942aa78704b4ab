/*
 * neural_model.h - a network and the parameters it was given, and its tensors
 * as torch has them.
 *
 * As torch.nn.Sequential would name and lay them out, if made of the same
 * layers and, where rows are images, a Flatten before the first dense one:
 *
 *     conv3x3x32 relu pool2 dense10       0.weight [32, channels, 3, 3]
 *                                         0.bias   [32]
 *                                         4.weight [10, inputs]
 *                                         4.bias   [10]
 *
 * Images are channels x height x width there, height x width x channels here:
 * so the numbers of a tensor come in another order, and no number is another.
 */
#ifndef MODEL_NET_NEURAL_MODEL_H
#define MODEL_NET_NEURAL_MODEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "model/net/neural.h"

#define NEURAL_RANK_MAX  4u
#define NEURAL_NAME_SIZE 24u

/* What a network computes in, and what rows and answers are in. */
struct neural_units {
    /* The first layer is given (float)(value / divisor) of a row's values: 255
     * where rows are bytes, else 1. */
    double divisor;
    /* Of numbers it learns (y - mean) / spread, and an output z says mean +
     * spread z; of classes 0 and 1. */
    double mean, spread;
    /* Of images: the least and the largest value, or 0, among the rows it was
     * trained on, by which others are judged; both 0: not known. */
    double least, most;
};

static inline struct neural_units neural_units(double divisor)
{
    return (struct neural_units){.divisor = divisor, .spread = 1};
}

/* Finite, the divisor and the spread above 0, 0 between least and most? */
bool neural_units_good(const struct neural_units *units);

struct neural_model {
    char *text;
    struct neural neural;
    struct neural_units units;
    float *parameters; /* neural.parameters of them; or NULL. */
};

/* Text and shapes as neural_init; no parameters yet. */
MUST_CHECK enum err
neural_model_init(struct neural_model *model, const char *text,
                  const struct neural_shape *in, enum neural_loss loss,
                  const struct neural_units *units, struct why *why);
void neural_model_close(struct neural_model *model); /* Zeroed is safe. */

/* Is its first word a layer? */
bool neural_text_begins(const char *text);

/* What a layer makes of an image. */
struct neural_layer {
    const char *text;
    struct neural_shape to;
    size_t parameters;
    uint64_t flops;
};

struct neural_layer neural_layer(const struct neural *net, uint32_t layer);
/* Floating-point operations of one image forward, a multiplication and an
 * addition being two; training takes about NEURAL_TRAIN times as many, twice
 * of them backward. */
#define NEURAL_TRAIN 3
uint64_t neural_flops(const struct neural *net);
/* Are its inputs columns, of no image? */
bool neural_on_columns(const struct neural *net);

/* A tensor as torch has it. */
struct neural_torch {
    char name[NEURAL_NAME_SIZE];
    uint32_t rank;
    uint32_t shape[NEURAL_RANK_MAX];
};

/* Of tensor t of the network. */
struct neural_torch neural_torch(const struct neural *net, uint32_t t);
/* Its numbers, in torch's order, from or to all parameters. */
void neural_torch_out(const struct neural *net, uint32_t t,
                      const float *parameters, float *numbers);
void neural_torch_in(const struct neural *net, uint32_t t, const float *numbers,
                     float *parameters);

#endif /* MODEL_NET_NEURAL_MODEL_H */
