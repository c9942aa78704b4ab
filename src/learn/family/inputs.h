/*
 * inputs.h - do rows fit a network that was trained on others?
 */
#ifndef LEARN_INPUTS_H
#define LEARN_INPUTS_H

#include "data/rows/dataset.h"
#include "model/net/neural_model.h"

/* Of a network on images: are the rows of its shape, and their values on the
 * scale of those it was trained on, which were what bytes stand for (`pixels`),
 * or other numbers?  Rows that do not say what they are as
 * images are taken for what it takes.  ERR_MISMATCH, with a sentence;
 * ERR_NOMEM.
 */
MUST_CHECK enum err inputs_check(const struct neural_model *net, bool pixels,
                                 struct dataset *data, struct why *why);

#endif /* LEARN_INPUTS_H */
