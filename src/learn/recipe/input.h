/*
 * input.h - what the options say about how files are read.
 */
#ifndef LEARN_INPUT_H
#define LEARN_INPUT_H

#include "data/source.h"
#include "learn/recipe/recipe.h"

/* Everything that --input, --label, --categorical and their like decide; the
 * caller adds what it is about: spec, columns, labels, pool. */
struct source_options input_options(const struct recipe *recipe);

#endif /* LEARN_INPUT_H */
