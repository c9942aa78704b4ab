/*
 * work_parts.h - what the memory of a network in training is made of
 * (model/net only).
 *
 * Boundary b lies below layer b; boundary 0 is the input, the last one what the
 * loss sees.  Numbers of a boundary are kept for all samples where the way back
 * needs them, or a layer takes all at once; gradients only where the latter
 * does.  For the others a thread has two of each, which it fills in turn.
 */
#ifndef MODEL_NET_WORK_PARTS_H
#define MODEL_NET_WORK_PARTS_H

#include <stdbool.h>

#include "model/net/layer.h"
#include "model/net/work.h"

/* The numbers at a boundary. */
struct boundary {
    uint32_t values;   /* Whose buffer holds the values: that of a boundary. */
    uint32_t gradient; /* The same of gradients. */
    bool kept;         /* The buffer of values is of all samples, ... */
    uint32_t turn;     /* ... or one of a thread's two. */
    bool whole;        /* The same of gradients. */
    uint32_t back_turn;
    size_t floats; /* Of a sample. */
    size_t row;    /* From one sample to the next. */
    float *value;  /* NULL: at another boundary; the input is the user's. */
    float *slope;  /* The gradient, if it is of all samples. */
};

/* Whom layers tell their gradients: a thread's. */
struct layer_sink {
    struct neural_work *work;
    struct neural_sums *sums;
    int64_t *part;   /* Sums of what goes sample by sample. */
    int64_t *size;   /* [microbatch][tensor], for such layers, ... */
    double *largest; /* ... and for the others. */
    float *scratch;
    float *value[2], *slope[2];
    bool refused, broken;
};

struct neural_work {
    const struct neural *net;
    struct pool *pool;
    enum isa isa;
    uint32_t samples;
    struct boundary *at; /* layer_count + 1 of them. */
    uint8_t **kept;      /* Of each layer. */
    float **packed;
    float *shared;
    const float *parameters;
    struct layer_sink *threads;
    uint32_t lowest; /* The first layer with weights: gradients end there. */
    size_t parts;    /* Parameters up to the last that goes sample by sample. */
    size_t bytes;
    uint32_t near; /* Samples that go forward and back together: there is memory
                      for so many. */
    /* The stretch at hand. */
    const struct neural_rows *rows;
    uint32_t begun;      /* Microbatches before these. */
    uint32_t first, end; /* Its layers. */
    bool training;
};

static inline const struct layer *layer_at(const struct neural_work *w,
                                           uint32_t i)
{
    return &w->net->layers[i];
}

#endif /* MODEL_NET_WORK_PARTS_H */
