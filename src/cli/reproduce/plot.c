/*
 * plot.c - lines and points on linear or logarithmic axes, as SVG.
 *
 * What was measured is a line with dots, what theory or a paper says a dashed
 * one.  A logarithmic axis has ticks at 1, 2 and 5 times powers of ten.
 */
#include <math.h>
#include <stdio.h>

#include "cli/reproduce/page.h"

#define WIDTH  720.0
#define HEIGHT 400.0
#define LEFT   70.0
#define RIGHT  24.0
#define TOP    44.0
#define BOTTOM 56.0
#define LEGEND 18.0 /* A line of it. */
#define GRID   "#e5e7eb"
#define INK    "#374151"
#define TICKS  6u

struct axis {
    double low, high;
    bool log;
};

static double place(const struct axis *axis, double value)
{
    return axis->log ? log10(value) : value;
}

static void take_in(struct axis *axis, double value)
{
    if (axis->log && value <= 0)
        return;
    axis->low = fmin(axis->low, place(axis, value));
    axis->high = fmax(axis->high, place(axis, value));
}

/* A little room at the ends; a linear axis of one sign begins at 0. */
static void settle(struct axis *axis)
{
    double room;

    if (axis->low > axis->high)
        *axis = (struct axis){.high = 1, .log = axis->log};
    if (!axis->log && axis->low > 0 && axis->low < .6 * axis->high)
        axis->low = 0;
    room = .04 * (axis->high - axis->low);
    if (room <= 0)
        room = axis->log ? .2 : fmax(1e-9, fabs(axis->high)) * .1;
    if (axis->log || axis->low != 0)
        axis->low -= room;
    axis->high += room;
}

static double point_at(const json_t *point, size_t which)
{
    return json_number_value(json_array_get(point, which));
}

static void measure(const json_t *plot, struct axis axes[2])
{
    const json_t *line, *point;
    size_t i, j;

    json_array_foreach(json_object_get(plot, "lines"), i, line)
    {
        json_array_foreach(json_object_get(line, "points"), j, point)
        {
            take_in(&axes[0], point_at(point, 0));
            take_in(&axes[1], point_at(point, 1));
        }
    }
    settle(&axes[0]);
    settle(&axes[1]);
}

/* The tick after `value`, which is one, on a logarithmic axis. */
static double next_tick(double value, bool dense)
{
    const double power = pow(10, floor(log10(value) + 1e-9));
    const double digit = value / power;

    if (!dense || digit > 4.5)
        return 10 * power;
    return (digit > 1.5 ? 5 : 2) * power;
}

static void tick(struct svg *svg, const struct panel *panel, bool x, double at,
                 double value)
{
    const double bottom = panel->top + panel->height;
    char label[32];

    (void)snprintf(label, sizeof label, "%.6g", value);
    if (x) {
        svg_line(svg, panel_x(panel, at), panel->top, panel_x(panel, at),
                 bottom, GRID, 1);
        svg_text(svg, panel_x(panel, at), bottom + 16, "middle", 11, label);
    } else {
        svg_line(svg, panel->left, panel_y(panel, at),
                 panel->left + panel->width, panel_y(panel, at), GRID, 1);
        svg_text(svg, panel->left - 6, panel_y(panel, at) + 4, "end", 11,
                 label);
    }
}

static void ticks(struct svg *svg, const struct panel *panel, bool x,
                  const struct axis *axis)
{
    if (axis->log) {
        const bool dense = axis->high - axis->low < 2.5;

        for (double value = pow(10, floor(axis->low));
             log10(value) <= axis->high; value = next_tick(value, dense))
            if (log10(value) >= axis->low)
                tick(svg, panel, x, log10(value), value);
        return;
    }
    const double step = nice_step(axis->low, axis->high, TICKS);

    for (long k = lround(ceil(axis->low / step - 1e-6));
         k <= lround(floor(axis->high / step + 1e-6)); k++)
        tick(svg, panel, x, (double)k * step, (double)k * step);
}

static void draw_line(struct svg *svg, const struct panel *panel,
                      const struct axis axes[2], const json_t *line,
                      const char *colour)
{
    const json_t *points = json_object_get(line, "points"), *point;
    const bool theory = json_is_true(json_object_get(line, "theory"));
    size_t i;

    svg_add(svg,
            "<polyline fill=\"none\" stroke=\"%s\" stroke-width=\"1.8\"%s "
            "points=\"",
            colour, theory ? " stroke-dasharray=\"6 4\"" : "");
    json_array_foreach(points, i, point)
    {
        if ((axes[0].log && point_at(point, 0) <= 0) ||
            (axes[1].log && point_at(point, 1) <= 0))
            continue;
        svg_add(svg, "%.1f,%.1f ",
                panel_x(panel, place(&axes[0], point_at(point, 0))),
                panel_y(panel, place(&axes[1], point_at(point, 1))));
    }
    svg_add(svg, "\"/>\n");
    if (theory || json_array_size(points) > 40)
        return;
    json_array_foreach(points, i, point)
    {
        if ((axes[0].log && point_at(point, 0) <= 0) ||
            (axes[1].log && point_at(point, 1) <= 0))
            continue;
        svg_add(svg,
                "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"3.2\" fill=\"%s\"/>\n",
                panel_x(panel, place(&axes[0], point_at(point, 0))),
                panel_y(panel, place(&axes[1], point_at(point, 1))), colour);
    }
}

void plot_draw(const json_t *plot, struct svg *svg)
{
    const json_t *lines = json_object_get(plot, "lines"), *line;
    const int scale = (int)lab_number(plot, "scale");
    struct axis axes[2] = {{INFINITY, -INFINITY, (scale & LAB_LOG_X) != 0},
                           {INFINITY, -INFINITY, (scale & LAB_LOG_Y) != 0}};
    const double legend = LEGEND * (double)json_array_size(lines);
    struct panel panel = {.left = LEFT,
                          .top = TOP,
                          .width = WIDTH - LEFT - RIGHT,
                          .height = HEIGHT - TOP - BOTTOM};
    size_t i;

    measure(plot, axes);
    panel.x_low = axes[0].low;
    panel.x_high = axes[0].high;
    panel.y_low = axes[1].low;
    panel.y_high = axes[1].high;
    svg_begin(svg, WIDTH, HEIGHT + legend);
    ticks(svg, &panel, true, &axes[0]);
    ticks(svg, &panel, false, &axes[1]);
    svg_text(svg, LEFT, TOP - 26, "start", 14, lab_text(plot, "title"));
    svg_text(svg, LEFT, TOP - 8, "start", 12, lab_text(plot, "y"));
    svg_text(svg, LEFT + panel.width / 2, HEIGHT - 20, "middle", 12,
             lab_text(plot, "x"));
    svg_line(svg, LEFT, TOP + panel.height, LEFT + panel.width,
             TOP + panel.height, INK, 1);
    json_array_foreach(lines, i, line)
    {
        const char *colour = svg_colour((uint32_t)i);
        const double y = HEIGHT + LEGEND * (double)i;

        draw_line(svg, &panel, axes, line, colour);
        svg_add(svg,
                "<line x1=\"%g\" y1=\"%g\" x2=\"%g\" y2=\"%g\" stroke=\"%s\" "
                "stroke-width=\"3\"%s/>\n",
                LEFT, y, LEFT + 26, y, colour,
                json_is_true(json_object_get(line, "theory"))
                    ? " stroke-dasharray=\"6 4\""
                    : "");
        svg_text(svg, LEFT + 34, y + 4, "start", 12, lab_text(line, "label"));
    }
}
