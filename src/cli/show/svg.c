/*
 * svg.c - panels, axes and lines as SVG, without a library: pictures are small
 * and must look the same everywhere.
 */
#include "cli/show/svg.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "os/file/output.h"

#define GRID  "#e5e7eb"
#define INK   "#374151"
#define TICKS 5u

const char *svg_colour(uint32_t index)
{
    static const char *const colours[SVG_COLOURS] = {
        "#0072b2", "#d55e00", "#009e73", "#cc79a7",
        "#e69f00", "#56b4e9", "#6b4c9a", "#333333"};

    return colours[index % SVG_COLOURS];
}

void svg_add(struct svg *svg, const char *format, ...)
{
    va_list list;
    va_list again;
    int need;

    va_start(list, format);
    va_copy(again, list);
    need = vsnprintf(NULL, 0, format, list);
    va_end(list);
    if (need > 0 && svg->used + (size_t)need + 1 > svg->capacity) {
        char *grown = mem_grow(svg->text, svg->used,
                               svg->used + (size_t)need + 1, 1, &svg->capacity);

        svg->failed |= grown == NULL;
        if (grown != NULL)
            svg->text = grown;
    }
    if (need > 0 && !svg->failed)
        svg->used += (size_t)vsnprintf(
            svg->text + svg->used, svg->capacity - svg->used, format, again);
    va_end(again);
}

void svg_begin(struct svg *svg, double width, double height)
{
    *svg = (struct svg){0};
    svg_add(svg,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %g %g\" "
            "width=\"%g\" height=\"%g\" font-family=\"system-ui, sans-serif\">"
            "\n<rect width=\"%g\" height=\"%g\" fill=\"#ffffff\"/>\n",
            width, height, width, height, width, height);
}

void svg_text(struct svg *svg, double x, double y, const char *anchor, int size,
              const char *text)
{
    svg_add(svg,
            "<text x=\"%.1f\" y=\"%.1f\" font-size=\"%d\" text-anchor=\"%s\" "
            "fill=\"" INK "\">",
            x, y, size, anchor);
    for (; *text != '\0'; text++) {
        if (*text == '<')
            svg_add(svg, "&lt;");
        else if (*text == '&')
            svg_add(svg, "&amp;");
        else
            svg_add(svg, "%c", *text);
    }
    svg_add(svg, "</text>\n");
}

void svg_line(struct svg *svg, double x1, double y1, double x2, double y2,
              const char *colour, double width)
{
    svg_add(svg,
            "<line x1=\"%.2f\" y1=\"%.2f\" x2=\"%.2f\" y2=\"%.2f\" "
            "stroke=\"%s\" stroke-width=\"%g\"/>\n",
            x1, y1, x2, y2, colour, width);
}

void svg_box(struct svg *svg, double x, double y, double width, double height,
             const char *colour, double opacity)
{
    svg_add(svg,
            "<rect x=\"%.2f\" y=\"%.2f\" width=\"%.2f\" height=\"%.2f\" "
            "fill=\"%s\" fill-opacity=\"%g\"/>\n",
            x, y, width, height, colour, opacity);
}

/* --- panels -------------------------------------------------------------- */

double panel_x(const struct panel *panel, double x)
{
    return panel->left +
           panel->width * (x - panel->x_low) / (panel->x_high - panel->x_low);
}

double panel_y(const struct panel *panel, double y)
{
    return panel->top +
           panel->height * (panel->y_high - y) / (panel->y_high - panel->y_low);
}

double nice_step(double low, double high, uint32_t count)
{
    const double raw = (high - low) / count;
    const double power = pow(10, floor(log10(raw)));
    const double digit = raw / power;

    return power * (digit < 1.5 ? 1 : digit < 3.5 ? 2 : digit < 7.5 ? 5 : 10);
}

/* Whole multiples of a step from low to high: first and last. */
static void tick_range(double low, double high, double step, int *first,
                       int *last)
{
    *first = (int)ceil(low / step - 1e-6);
    *last = (int)floor(high / step + 1e-6);
}

static void x_ticks(struct svg *svg, const struct panel *panel)
{
    const double step = nice_step(panel->x_low, panel->x_high, TICKS + 1);
    const double bottom = panel->top + panel->height;
    int first;
    int last;

    tick_range(panel->x_low, panel->x_high, step, &first, &last);
    for (int i = first; i <= last; i++) {
        const double x = panel_x(panel, i * step);
        char label[32];

        (void)snprintf(label, sizeof label, "%g", i * step);
        svg_line(svg, x, panel->top, x, bottom, GRID, 1);
        svg_text(svg, x, bottom + 15, "middle", 11, label);
    }
}

static void y_ticks(struct svg *svg, const struct panel *panel)
{
    const double step = nice_step(panel->y_low, panel->y_high, TICKS);
    int first;
    int last;

    tick_range(panel->y_low, panel->y_high, step, &first, &last);
    for (int i = first; i <= last; i++) {
        const double y = panel_y(panel, i * step);
        char label[32];

        (void)snprintf(label, sizeof label, "%.6g", i * step);
        svg_line(svg, panel->left, y, panel->left + panel->width, y, GRID, 1);
        svg_text(svg, panel->left - 6, y + 4, "end", 11, label);
    }
}

void panel_axes(struct svg *svg, const struct panel *panel, const char *title,
                const char *x_name, const char *y_name)
{
    const double bottom = panel->top + panel->height;

    if (x_name != NULL) {
        x_ticks(svg, panel);
        svg_text(svg, panel->left + panel->width / 2, bottom + 32, "middle", 12,
                 x_name);
    }
    if (y_name != NULL) {
        y_ticks(svg, panel);
        svg_add(svg,
                "<text transform=\"translate(%.1f %.1f) rotate(-90)\" "
                "font-size=\"12\" text-anchor=\"middle\" fill=\"" INK
                "\">%s</text>\n",
                panel->left - 48, panel->top + panel->height / 2, y_name);
    }
    svg_line(svg, panel->left, bottom, panel->left + panel->width, bottom, INK,
             1);
    if (title != NULL)
        svg_text(svg, panel->left, panel->top - 10, "start", 13, title);
}

enum err svg_write(struct svg *svg, const char *path, struct why *why)
{
    enum err err;

    svg_add(svg, "</svg>\n");
    err = svg->failed ? why_set(why, ERR_NOMEM, "%s", err_text(ERR_NOMEM))
                      : output_save(path, svg->text, svg->used, why);
    mem_free(svg->text);
    *svg = (struct svg){0};
    return err;
}
