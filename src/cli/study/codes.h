/*
 * codes.h - `muster codes`: its table, for others too, and its picture.
 */
#ifndef CLI_CODES_H
#define CLI_CODES_H

#include <jansson.h>

#include "code/code.h"

/* Write the table as a heat map (SVG): blue above zero, red below. */
MUST_CHECK enum err codes_plot(const struct code *code, const char *path,
                               struct why *why);

/* A row for each slot, an entry for each span. */
json_t *codes_matrix(const struct code *code);

#endif /* CLI_CODES_H */
