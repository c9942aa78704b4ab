/*
 * scale.h - the exponents of an evaluation's sums, and whether the sums stand.
 *
 * A scale is *proved* (model/linear/proved.h: the data bound every sum, and a
 * chunk that does not fit is somebody's fault) or *followed* (exact/follow.h:
 * nothing is known before, the sizes seen say what comes next).  Who trains
 * asks for exponents, evaluates, and tells the scale what came of it.
 */
#ifndef MATH_EXACT_SCALE_H
#define MATH_EXACT_SCALE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/bytes.h"
#include "base/err.h"
#include "base/pool.h"
#include "math/evaluation.h"

enum scale_verdict {
    SCALE_STANDS,     /* It is good, and so are the sums. */
    SCALE_AGAIN,      /* Evaluate once more, on another scale. */
    SCALE_HOPELESS,   /* It fits no scale: not finite, or beyond 2^1000. */
    SCALE_NO_FUNCTION /* Two answers to the same question. */
};

struct scale {
    const struct scale_ops *ops;
    struct pool *pool; /* Of who trains, for long vectors; NULL: none. */
    bool same; /* Exponents asked for last are those of the time before. */
};

/* A proved scale has `exponents` only. */
struct scale_ops {
    /* evaluation_exponents of them.  Always to the same array: what is there
     * from the last time may be left.  ERR_RANGE: the vectors are not finite,
     * or a score or the loss might not be. */
    enum err (*exponents)(struct scale *self, const struct evaluation *what,
                          int16_t *exponent);
    /* A run begins, or begins again: forget what was seen. */
    void (*begin)(struct scale *self);
    /* All chunks fit; `sums` are decoded.  STANDS: what of them is the scale's
     * own is 0 now; otherwise `sums` is as it was. */
    enum scale_verdict (*stands)(struct scale *self, enum evaluation_kind kind,
                                 double *sums);
    /* A chunk does not fit the present scale. */
    enum scale_verdict (*refused)(struct scale *self,
                                  enum evaluation_kind kind);
    /* For checkpoints, at any time: as the evaluation at hand began. */
    size_t (*bytes)(const struct scale *self);
    void (*save)(const struct scale *self, struct writer *out);
    /* ERR_FORMAT if it is none of this scale. */
    enum err (*load)(struct scale *self, struct reader *in);
};

/* Is a chunk that does not fit broken, or who says so? */
static inline bool scale_proved(const struct scale *scale)
{
    return scale->ops->refused == NULL;
}

MUST_CHECK static inline enum err scale_exponents(struct scale *scale,
                                                  const struct evaluation *what,
                                                  int16_t *exponent)
{
    scale->same = false; /* Who knows better says so. */
    return scale->ops->exponents(scale, what, exponent);
}

static inline void scale_begin(struct scale *scale)
{
    if (scale->ops->begin != NULL)
        scale->ops->begin(scale);
}

static inline enum scale_verdict
scale_stands(struct scale *scale, enum evaluation_kind kind, double *sums)
{
    return scale->ops->stands == NULL ? SCALE_STANDS
                                      : scale->ops->stands(scale, kind, sums);
}

static inline enum scale_verdict scale_refused(struct scale *scale,
                                               enum evaluation_kind kind)
{
    return scale->ops->refused == NULL ? SCALE_STANDS
                                       : scale->ops->refused(scale, kind);
}

static inline size_t scale_bytes(const struct scale *scale)
{
    return scale->ops->bytes == NULL ? 0 : scale->ops->bytes(scale);
}

static inline void scale_save(const struct scale *scale, struct writer *out)
{
    if (scale->ops->save != NULL)
        scale->ops->save(scale, out);
}

MUST_CHECK static inline enum err scale_load(struct scale *scale,
                                             struct reader *in)
{
    return scale->ops->load == NULL ? ERR_OK : scale->ops->load(scale, in);
}

#endif /* MATH_EXACT_SCALE_H */
