/*
 * layer.h - what a kind of layer must do (model/net only).
 *
 * A kind works *sample by sample* (any thread takes any sample, and goes
 * through all such layers that follow each other before it takes the next), or
 * on all of them at once, the *whole*, in items that no two threads share.
 */
#ifndef MODEL_NET_LAYER_H
#define MODEL_NET_LAYER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "math/isa.h"
#include "math/net/conv.h"
#include "model/net/neural.h"

struct layer {
    const struct layer_ops *ops;
    char text[NEURAL_TEXT_MAX];
    struct neural_shape in, to;
    uint32_t tall, wide, out; /* As far as the kind has them. */
    uint32_t stride, pad;
    uint32_t drop;          /* Probability of a 0, in 65,536ths. */
    size_t weights, biases; /* How many parameters. */
    uint32_t inputs;        /* Products that a number is the sum of, ... */
    size_t outputs;         /* ... and sums that an input goes into. */
    uint32_t tensor;        /* That of the weights; the bias's is the next. */
    bool in_place;          /* y is x. */
};

/* Whom a layer tells its gradient. */
struct layer_sink;

/* One call.  `x`, `y`, `dx`, `dy` are the sample's, or the first sample's and
 * `x_row`, `y_row` floats apart. */
struct layer_call {
    enum isa isa;
    uint32_t count;      /* Samples, ... */
    uint32_t micro;      /* ... of a microbatch, ... */
    uint32_t microbatch; /* ... and which one layer_add is told of. */
    uint32_t item;       /* Of layers that take all samples. */
    bool training;
    uint64_t key; /* Of this layer, step and sample: for what is drawn. */
    const float *x;
    float *y;
    const float *dy;
    float *dx; /* NULL: nobody wants it. */
    size_t x_row, y_row;
    const float *weights, *bias, *packed;
    uint8_t *kept;  /* By forward for backward: ops->kept bytes a sample. */
    float *shared;  /* Made by `begin` for all items. */
    float *scratch; /* The thread's. */
    struct layer_sink *sink;
};

struct layer_ops {
    const char *name;  /* The text begins with it; what follows is parsed. */
    const char *forms; /* For who wrote something else. */
    bool whole;        /* Takes all samples at once. */
    bool in_place;     /* May write y over x. */
    bool reads_input;  /* Backward needs x ... */
    bool reads_output; /* ... or y: so these are kept for all samples. */
    bool rectifies;    /* About half its inputs become 0, for which weights
                          before it make up (neural_draw). */
    bool draws_biases; /* Unless it is the last with weights (neural_draw). */
    bool inner;        /* Another must follow: the last one's numbers are
                          scores, which it would change. */
    bool flattens;     /* torch has a Flatten before it, if it is the first
                          such layer and gets images. */
    bool (*parse)(const char *rest, struct layer *layer);
    /* `to` and numbers of parameters from `in`; NULL, or what is wrong. */
    const char *(*shape)(struct layer *layer);
    void (*forward)(const struct layer *layer, const struct layer_call *call);
    void (*backward)(const struct layer *layer, const struct layer_call *call);
    /* May be NULL: none. */
    size_t (*kept)(const struct layer *layer);
    /* Floats of a thread. */
    size_t (*scratch)(const struct layer *layer, uint32_t samples);
    size_t (*packed)(const struct layer *layer); /* Floats. */
    void (*pack)(enum isa isa, const struct layer *layer, const float *weights,
                 float *packed);
    /* Of layers that take all samples: */
    size_t (*shared)(const struct layer *layer, uint32_t samples); /* Floats. */
    void (*begin)(const struct layer *layer, const struct layer_call *call);
    uint32_t (*items)(const struct layer *layer, uint32_t samples,
                      bool forward);
    /* Of layers with weights: dimensions as torch has them, and where number i
     * of that order lies among ours (neural_model.h). */
    uint32_t (*torch_shape)(const struct layer *layer, uint32_t *shape);
    size_t (*torch_place)(const struct layer *layer, size_t i);
};

/* By its name; NULL: none.  *rest is what follows it. */
const struct layer_ops *layer_find(const char *text, const char **rest);
/* Name number i; NULL behind the last. */
const char *layer_name(uint32_t i);

/* Is it written as one of ours, whatever comes in? */
bool layer_is_one(const char *text);

#define LAYER_HINT_SIZE 128

/* What to write for a word of other programs: "is written pool2".  false: it is
 * no such word. */
bool layer_guess(const char *word, char hint[LAYER_HINT_SIZE]);

/* A whole text of Keras or PyTorch in layers of ours, blanks between them, if
 * all of it is understood and there is room. */
bool layer_translate(const char *net, char *ours, size_t room);

/* A number at *text, which moves behind it; false if there is none, or it is 0
 * or beyond 2^20. */
bool layer_number(const char **text, uint32_t *number);
/* The same behind `mark`, if that is there; `otherwise` if it is not. */
bool layer_option(const char **text, char mark, uint32_t otherwise,
                  uint32_t *number);

/* The product, or SIZE_MAX where it is larger: counts are compared with what is
 * possible only after they were multiplied. */
static inline size_t layer_times(size_t a, size_t b)
{
    size_t product;

    return __builtin_mul_overflow(a, b, &product) ? SIZE_MAX : product;
}

/* Numbers [first, first + count) of a tensor's gradient; `bias`: of the bias.
 * Layers that go sample by sample say all numbers of a tensor at once. */
void layer_add(const struct layer *layer, const struct layer_call *call,
               bool bias, size_t first, size_t count, const float *values);

/* Sums of numbers [first, first + count) of the weights will be added to soon,
 * by a layer that takes all samples. */
void layer_fetch(const struct layer *layer, const struct layer_call *call,
                 size_t first, size_t count);

#define LAYER_OPS(name) extern const struct layer_ops layer_##name;
NEURAL_LAYERS(LAYER_OPS)
#undef LAYER_OPS

#endif /* MODEL_NET_LAYER_H */
