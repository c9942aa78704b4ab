/*
 * svg.h - plain pictures: a text buffer, and panels with axes.
 *
 * A picture is one self-contained file: no script, no style sheet, no font but
 * the viewer's own.
 */
#ifndef CLI_SVG_H
#define CLI_SVG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

#define SVG_COLOURS 8u

struct svg {
    char *text;
    size_t used, capacity;
    bool failed; /* Out of memory; svg_write says so. */
};

/* Where data goes: a rectangle on the page and the values at its edges. */
struct panel {
    double left, top, width, height;
    double x_low, x_high, y_low, y_high;
};

/* Colours that the colour-blind can tell apart (Okabe & Ito). */
const char *svg_colour(uint32_t index);

void svg_begin(struct svg *svg, double width, double height);
__attribute__((format(printf, 2, 3))) void svg_add(struct svg *svg,
                                                   const char *format, ...);
/* Text; `anchor` is start, middle or end. */
void svg_text(struct svg *svg, double x, double y, const char *anchor, int size,
              const char *text);
void svg_line(struct svg *svg, double x1, double y1, double x2, double y2,
              const char *colour, double width);
void svg_box(struct svg *svg, double x, double y, double width, double height,
             const char *colour, double opacity);

double panel_x(const struct panel *panel, double x);
double panel_y(const struct panel *panel, double y);
/* A step of 1, 2 or 5 times a power of ten, for about `count` ticks. */
double nice_step(double low, double high, uint32_t count);
/* Grid, ticks and the names of the axes (x may be NULL: no ticks there). */
void panel_axes(struct svg *svg, const struct panel *panel, const char *title,
                const char *x_name, const char *y_name);

/* End the picture, write it, let go of it. */
MUST_CHECK enum err svg_write(struct svg *svg, const char *path,
                              struct why *why);

#endif /* CLI_SVG_H */
