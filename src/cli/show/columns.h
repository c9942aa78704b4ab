/*
 * columns.h - columns whose sizes stand in the way of a model, in words.
 */
#ifndef CLI_COLUMNS_H
#define CLI_COLUMNS_H

#include "data/span.h"
#include "learn/setup.h"

/* Of a column as encoder_name counts. */
struct quote columns_name(const struct setup *setup, uint32_t place);

/* A line about what slows it, if something does. */
void columns_slow_text(const struct setup *setup);
/* Of a model at its optimum: a line if the penalty holds down the weight of a
 * column, for its spread is small and another's is not. */
void columns_held_text(const struct setup *setup);

#endif /* CLI_COLUMNS_H */
