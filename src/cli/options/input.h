/*
 * input.h - what the options say about how files are read.
 */
#ifndef CLI_INPUT_H
#define CLI_INPUT_H

#include "cli/options/options.h"
#include "data/source.h"

/* Everything that --input, --label, --categorical and their like decide; the
 * caller adds what it is about: spec, columns, labels, pool. */
struct source_options input_options(const struct options *options);

#endif /* CLI_INPUT_H */
