/*
 * codes.h - `muster codes`: its picture.
 */
#ifndef CLI_CODES_H
#define CLI_CODES_H

#include "code/code.h"

/* Write the table as a heat map (SVG): blue above zero, red below. */
MUST_CHECK enum err codes_plot(const struct code *code, const char *path,
                               struct why *why);

#endif /* CLI_CODES_H */
