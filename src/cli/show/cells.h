/*
 * cells.h - many workers in few lines: a cell for each, eight to a group, 32 to
 * a line.
 *
 *     w0         87878878 78787988 88x89789 99998988
 *     w32        8888s887 88888888 88888888 78888888
 *     straggling w36   dead w18
 *
 * A working worker's cell is its pace in tenths of the best (with UTF-8, the
 * height of a block); anything else is a letter: s straggling, ? suspect, x
 * dead, - left.
 */
#ifndef CLI_CELLS_H
#define CLI_CELLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "learn/watch/progress.h"

#define CELLS_TEXT 1024u /* A line, with colours and UTF-8. */

/* Green, yellow, magenta, red, grey: the code for a terminal. */
const char *cells_colour(enum progress_state state);
uint32_t cells_lines(const struct progress *progress);
/* Line `line` of them, without its end.  Returns `out`. */
const char *cells_line(const struct progress *progress, uint32_t line,
                       bool utf8, bool colour, char out[CELLS_TEXT]);
/* Who is not just working, by name, within 78 columns; "" if all are. */
const char *cells_trouble(const struct progress *progress,
                          char out[CELLS_TEXT]);

#endif /* CLI_CELLS_H */
