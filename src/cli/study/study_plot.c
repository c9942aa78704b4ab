/*
 * study_plot.c - a comparison as one picture:
 *
 *     +-- progress against time --+  +-- step times --+
 *     |                           |  |    boxes       |
 *     +---------------------------+  +----------------+
 *     who worked when: a band per code, a line per worker, the first steps
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "cli/show/svg.h"
#include "cli/study/study.h"

#define PAGE_WIDTH   1000.0
#define PANEL_TOP    70.0
#define PANEL_HEIGHT 280.0
#define LEFT         80.0
#define CURVE_WIDTH  500.0
#define BOX_LEFT     670.0
#define BOX_WIDTH    300.0
#define BAND_TOP     (PANEL_TOP + PANEL_HEIGHT + 85)
#define BAND_GAP     12.0
#define BAND_LABEL   80.0
#define LANE_MOST    7.0
#define BAND_MOST    120.0

/* --- curves -------------------------------------------------------------- */

enum what { WHAT_METRIC, WHAT_LOSS, WHAT_STEPS };

static enum what what_of(const struct study *study)
{
    const struct study_point *first = study->points;

    if (study->point_count == 0 || isnan(first->loss))
        return WHAT_STEPS;
    return isnan(first->metric) ? WHAT_LOSS : WHAT_METRIC;
}

/* The value after point i; WHAT_STEPS adds up what the steps covered. */
static double value_at(const struct study *study, enum what what, uint32_t i,
                       double before)
{
    const struct study_point *point = &study->points[i];

    if (what == WHAT_METRIC)
        return point->metric;
    return what == WHAT_LOSS ? point->loss : before + point->covered;
}

static void widen(struct panel *panel, const struct study *study,
                  enum what what)
{
    double value = 0;

    for (uint32_t i = 0; i < study->point_count; i++) {
        value = value_at(study, what, i, value);
        panel->y_low = fmin(panel->y_low, value);
        panel->y_high = fmax(panel->y_high, value);
        panel->x_high = fmax(panel->x_high, study->points[i].t_s);
    }
}

static void draw_curve(struct svg *svg, const struct panel *panel,
                       const struct study *study, enum what what,
                       const char *colour)
{
    double value = 0;

    svg_add(svg,
            "<polyline fill=\"none\" stroke=\"%s\" stroke-width=\"1.8\" "
            "stroke-linejoin=\"round\" points=\"",
            colour);
    for (uint32_t i = 0; i < study->point_count; i++) {
        value = value_at(study, what, i, value);
        svg_add(svg, "%.2f,%.2f ", panel_x(panel, study->points[i].t_s),
                panel_y(panel, value));
    }
    svg_add(svg, "\"/>\n");
}

static void draw_curves(struct svg *svg, const struct setup *setup,
                        const struct study *studies, uint32_t count)
{
    const enum what what = what_of(&studies[0]);
    struct panel panel = {.left = LEFT,
                          .top = PANEL_TOP,
                          .width = CURVE_WIDTH,
                          .height = PANEL_HEIGHT,
                          .y_low = what == WHAT_STEPS ? 0 : HUGE_VAL,
                          .y_high = -HUGE_VAL};
    const char *name = what == WHAT_METRIC ? metric_name(setup->metric)
                       : what == WHAT_LOSS ? "objective"
                                           : "full steps done";

    for (uint32_t i = 0; i < count; i++)
        widen(&panel, &studies[i], what);
    if (!(panel.x_high > 0))
        panel.x_high = 1;
    if (!(panel.y_high > panel.y_low))
        panel.y_high = panel.y_low + 1;
    panel_axes(svg, &panel, "Progress against time", "seconds", name);
    for (uint32_t i = 0; i < count; i++)
        draw_curve(svg, &panel, &studies[i], what, svg_colour(i));
}

/* --- boxes --------------------------------------------------------------- */

static int ascending(const void *a, const void *b)
{
    const double *one = a;
    const double *two = b;

    return (*one > *two) - (*one < *two);
}

struct five {
    double least, low, middle, high, most;
};

static double quantile(const double *sorted, uint32_t count, double share)
{
    const double at = share * (count - 1);
    const uint32_t index = (uint32_t)at;
    const double next = sorted[index + 1 < count ? index + 1 : index];

    return sorted[index] + (at - index) * (next - sorted[index]);
}

/* False if there is no step, or no memory. */
static bool five_of(const struct study *study, struct five *five)
{
    double *sorted = mem_new(study->point_count, sizeof *sorted);

    if (sorted == NULL || study->point_count == 0) {
        mem_free(sorted);
        return false;
    }
    for (uint32_t i = 0; i < study->point_count; i++)
        sorted[i] = study->points[i].step_s;
    qsort(sorted, study->point_count, sizeof *sorted, ascending);
    *five = (struct five){sorted[0], quantile(sorted, study->point_count, .25),
                          quantile(sorted, study->point_count, .5),
                          quantile(sorted, study->point_count, .75),
                          sorted[study->point_count - 1]};
    mem_free(sorted);
    return true;
}

static void draw_box(struct svg *svg, const struct panel *panel,
                     const struct five *five, double centre, double width,
                     const char *colour)
{
    const double low = panel_y(panel, five->low);
    const double high = panel_y(panel, five->high);

    svg_line(svg, centre, panel_y(panel, five->least), centre, low, colour,
             1.2);
    svg_line(svg, centre, high, centre, panel_y(panel, five->most), colour,
             1.2);
    svg_line(svg, centre - width / 4, panel_y(panel, five->least),
             centre + width / 4, panel_y(panel, five->least), colour, 1.2);
    svg_line(svg, centre - width / 4, panel_y(panel, five->most),
             centre + width / 4, panel_y(panel, five->most), colour, 1.2);
    svg_box(svg, centre - width / 2, high, width, fmax(low - high, 1), colour,
            .35);
    svg_line(svg, centre - width / 2, panel_y(panel, five->middle),
             centre + width / 2, panel_y(panel, five->middle), colour, 2);
}

static void draw_boxes(struct svg *svg, const struct study *studies,
                       uint32_t count)
{
    struct panel panel = {.left = BOX_LEFT,
                          .top = PANEL_TOP,
                          .width = BOX_WIDTH,
                          .height = PANEL_HEIGHT,
                          .x_high = 1,
                          .y_high = 0};
    const double each = BOX_WIDTH / count;
    struct five five;

    for (uint32_t i = 0; i < count; i++) {
        if (five_of(&studies[i], &five))
            panel.y_high = fmax(panel.y_high, five.most);
    }
    if (!(panel.y_high > 0))
        panel.y_high = 1;
    panel_axes(svg, &panel, "Step times (quartiles, least, most)", NULL,
               "seconds");
    for (uint32_t i = 0; i < count; i++) {
        if (five_of(&studies[i], &five))
            draw_box(svg, &panel, &five, BOX_LEFT + (i + .5) * each,
                     fmin(40, each * .6), svg_colour(i));
    }
}

/* --- lanes --------------------------------------------------------------- */

/* Seconds of the steps whose lanes are kept. */
static double lanes_last(const struct study *study)
{
    return study->lane_steps == 0 || study->point_count < study->lane_steps
               ? 0
               : study->points[study->lane_steps - 1].t_s;
}

/* One worker in one step: computing, then waiting or asleep, up to its answer
 * or to the moment it is called off. */
static void draw_lane(struct svg *svg, const struct panel *panel,
                      const struct replay_slot *lane, double from_s,
                      double took_s, double y, double height,
                      const char *colour)
{
    const bool answered = lane->answered_us >= 0;
    const double begun = from_s + (double)lane->began_us / 1e6;
    const double computed =
        from_s + fmin((double)lane->computed_us / 1e6, took_s);
    const double end =
        answered ? from_s + (double)lane->answered_us / 1e6 : from_s + took_s;
    const double x = panel_x(panel, begun);

    if (computed > begun)
        svg_box(svg, x, y, panel_x(panel, computed) - x, height, colour, .9);
    if (end > computed)
        svg_box(svg, panel_x(panel, computed), y,
                panel_x(panel, end) - panel_x(panel, computed), height,
                answered ? colour : "#9ca3af", answered ? .4 : .35);
}

static void draw_band(struct svg *svg, const struct panel *panel,
                      const struct study *study, const char *colour)
{
    const double each = panel->height / study->workers;
    double from_s = 0;

    svg_text(svg, panel->left - 8, panel->top + panel->height / 2 + 4, "end",
             11, study->candidate.label);
    for (uint32_t step = 0; step < study->lane_steps &&
                            step < study->point_count && from_s < panel->x_high;
         step++) {
        const double took_s = study->points[step].step_s;

        for (uint32_t slot = 0; slot < study->workers; slot++)
            draw_lane(
                svg, panel, &study->lanes[(size_t)step * study->workers + slot],
                from_s, took_s, panel->top + slot * each, each * .85, colour);
        from_s += took_s;
        svg_line(svg, panel_x(panel, from_s), panel->top - 2,
                 panel_x(panel, from_s), panel->top + panel->height + 2,
                 "#111827", .8);
    }
}

static double band_height(const struct study *study)
{
    return fmin(BAND_MOST, LANE_MOST * study->workers);
}

static void draw_bands(struct svg *svg, const struct study *studies,
                       uint32_t count)
{
    struct panel panel = {.left = LEFT + BAND_LABEL,
                          .top = BAND_TOP,
                          .width = PAGE_WIDTH - LEFT - BAND_LABEL - 30,
                          .height = band_height(studies),
                          .y_high = 1};

    for (uint32_t i = 0; i < count; i++)
        panel.x_high = fmax(panel.x_high, lanes_last(&studies[i]));
    if (!(panel.x_high > 0))
        panel.x_high = 1;
    svg_text(svg, LEFT, BAND_TOP - 14, "start", 13,
             "The first steps, a line per worker: computing (dark), delayed "
             "(light), called off (grey); black: step ends");
    for (uint32_t i = 0; i < count; i++) {
        if (i + 1 == count)
            panel_axes(svg, &panel, NULL, "seconds", NULL);
        draw_band(svg, &panel, &studies[i], svg_colour(i));
        panel.top += panel.height + BAND_GAP;
    }
}

/* --- page ---------------------------------------------------------------- */

static void draw_legend(struct svg *svg, const struct study *studies,
                        uint32_t count)
{
    double x = LEFT;
    double y = 26;

    for (uint32_t i = 0; i < count; i++) {
        char text[160];
        double wide;

        (void)snprintf(text, sizeof text, "%s  %.4g s/step",
                       studies[i].candidate.label, studies[i].mean_step_s);
        wide = 32 + 7 * (double)strlen(text);
        if (x + wide > PAGE_WIDTH) {
            x = LEFT;
            y += 16;
        }
        svg_box(svg, x, y - 9, 12, 10, svg_colour(i), 1);
        svg_text(svg, x + 17, y, "start", 12, text);
        x += wide;
    }
}

enum err study_write_plot(const struct setup *setup,
                          const struct study *studies, uint32_t count,
                          const char *path, struct why *why)
{
    const double bands = (band_height(studies) + BAND_GAP) * count;
    struct svg svg;

    svg_begin(&svg, PAGE_WIDTH, BAND_TOP + bands + 40);
    draw_legend(&svg, studies, count);
    draw_curves(&svg, setup, studies, count);
    draw_boxes(&svg, studies, count);
    draw_bands(&svg, studies, count);
    return svg_write(&svg, path, why);
}
