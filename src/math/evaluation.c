#include "math/evaluation.h"

struct digest evaluation_digest(const struct evaluation *what, uint32_t dims)
{
    const uint8_t kind = (uint8_t)what->kind;
    struct hasher hasher;

    hasher_init(&hasher);
    hasher_add(&hasher, &kind, sizeof kind);
    hasher_add_f64(&hasher, what->w, dims);
    if (what->v != NULL)
        hasher_add_f64(&hasher, what->v, dims);
    return hasher_end(&hasher);
}
