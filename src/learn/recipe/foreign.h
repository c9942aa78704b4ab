/*
 * foreign.h - values as scikit-learn, PyTorch, Keras and others call them, and
 * what to write here instead.
 */
#ifndef LEARN_FOREIGN_H
#define LEARN_FOREIGN_H

#include "learn/recipe/option.h"

/* What to write, or why there is no such thing, of a value that the row does
 * not take; NULL: it is nobody's word that we know. */
const char *foreign_value(const struct option *row, const char *text);

#endif /* LEARN_FOREIGN_H */
