/*
 * inputs.h - do rows fit a network that was trained on others?
 */
#ifndef LEARN_INPUTS_H
#define LEARN_INPUTS_H

#include "data/rows/dataset.h"
#include "model/net/neural_model.h"

/* The images that a network takes; zeros: it takes rows that are none. */
struct image inputs_image(const struct neural_model *net);

/* Of a network on images: are the rows of its shape, and their values on the
 * scale of those it was trained on, of which a byte is its model's encoder's
 * `byte`?  Rows that do not say what they are as
 * images are taken for what it takes.  ERR_MISMATCH, with a sentence;
 * ERR_NOMEM.
 */
MUST_CHECK enum err inputs_check(const struct neural_model *net, uint32_t byte,
                                 struct dataset *data, struct why *why);

#endif /* LEARN_INPUTS_H */
