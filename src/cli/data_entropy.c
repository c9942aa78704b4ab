/*
 * data_entropy.c - `muster data entropy WHAT`: filters that colour the rows,
 * their joint entropy, and how much of it samples keep (docs/shadows.md).
 *
 * The last is the paper's concave curve: entropy against the share of rows that
 * are in the sample.
 */
#include <stdio.h>

#include "base/mem.h"
#include "cli/data.h"
#include "cli/show/svg.h"
#include "data/rows/colour.h"
#include "data/rows/strata.h"

#define POINTS      10u
#define SAMPLE_SEED 1u
#define CELL_ROWS   30u /* A tenth of a cell's rows is three, on average. */

static const double shares[POINTS] = {.005, .01, .02, .05, .1,
                                      .2,   .3,  .5,  .7,  1};

struct entropy {
    uint32_t rows; /* Looked at. */
    struct filter tried[FILTERS_TRIED];
    uint32_t tried_count;
    struct colouring colouring;
    struct colour_choice choice[FILTERS_MAX];
    uint32_t *colour; /* Of each. */
    double bits[POINTS][DRAWS];
};

static double joint_of(const struct entropy *entropy)
{
    return entropy->colouring.count == 0
               ? 0
               : entropy->choice[entropy->colouring.count - 1].joint;
}

static enum err colour_rows(struct entropy *entropy, const struct dataset *data,
                            uint32_t every)
{
    double *const values = mem_new(data->cols, sizeof *values);

    entropy->colour = mem_new(entropy->rows, sizeof *entropy->colour);
    if (values == NULL || entropy->colour == NULL) {
        mem_free(values);
        return ERR_NOMEM;
    }
    for (uint32_t i = 0; i < entropy->rows; i++)
        entropy->colour[i] =
            colour_row(&entropy->colouring, data, i * every, values);
    mem_free(values);
    return ERR_OK;
}

/* Entropy of the colours of one sample. */
static double sample_bits(struct strata *strata, const struct entropy *entropy,
                          enum draw_kind kind, uint32_t b, uint32_t *count)
{
    const uint32_t colours = colouring_colours(&entropy->colouring);

    strata_draw(strata, kind, entropy->colour, entropy->rows, b, SAMPLE_SEED);
    for (uint32_t c = 0; c < colours; c++)
        count[c] = 0;
    for (uint32_t i = 0; i < b; i++)
        count[entropy->colour[strata->row[i]]]++;
    return strata_entropy(count, colours, b);
}

static enum err draw_samples(struct entropy *entropy)
{
    const uint32_t colours = colouring_colours(&entropy->colouring);
    uint32_t *const count = mem_new(colours, sizeof *count);
    struct strata strata = {0};
    enum err err = count == NULL ? ERR_NOMEM
                                 : strata_init(&strata, entropy->rows, colours);

    for (uint32_t i = 0; err == ERR_OK && i < POINTS; i++) {
        for (uint32_t k = 0; k < DRAWS; k++)
            entropy->bits[i][k] =
                sample_bits(&strata, entropy, (enum draw_kind)k,
                            draw_size(shares[i], entropy->rows), count);
    }
    strata_close(&strata);
    mem_free(count);
    return err;
}

/* --- shown --------------------------------------------------------------- */

static json_t *samples_json(const struct entropy *entropy)
{
    json_t *const list = json_array();

    for (uint32_t i = 0; i < POINTS; i++) {
        json_t *const row =
            json_pack("{s:f, s:I}", "share", shares[i], "rows",
                      (json_int_t)draw_size(shares[i], entropy->rows));

        for (uint32_t k = 0; k < DRAWS; k++)
            (void)json_object_set_new(row, draw_name((enum draw_kind)k),
                                      json_real(entropy->bits[i][k]));
        (void)json_array_append_new(list, row);
    }
    return list;
}

static void show_json(const struct entropy *entropy)
{
    json_t *const filters = json_array();
    char text[FILTER_TEXT];

    for (uint32_t i = 0; i < entropy->colouring.count; i++) {
        const struct colour_choice *const c = &entropy->choice[i];

        (void)json_array_append_new(
            filters,
            json_pack("{s:s, s:I, s:f, s:f, s:I}", "filter",
                      filter_text(&c->filter, text), "colours",
                      (json_int_t)c->filter.bins, "bits", c->alone,
                      "joint_bits", c->joint, "cells", (json_int_t)c->cells));
    }
    say_json(json_pack(
        "{s:I, s:I, s:f, s:o, s:o}", "rows", (json_int_t)entropy->rows, "tried",
        (json_int_t)entropy->tried_count, "joint_bits", joint_of(entropy),
        "filters", filters, "samples", samples_json(entropy)));
}

static void show_text(const struct entropy *entropy)
{
    char text[FILTER_TEXT];

    (void)printf("rows      %u looked at\nfilters   %u of %u, the one that "
                 "adds most first\n\n%-16s %8s %8s %8s %8s\n",
                 entropy->rows, entropy->colouring.count, entropy->tried_count,
                 "filter", "colours", "bits", "joint", "cells");
    for (uint32_t i = 0; i < entropy->colouring.count; i++) {
        const struct colour_choice *const c = &entropy->choice[i];

        (void)printf("%-16s %8u %8.3f %8.3f %8u\n",
                     filter_text(&c->filter, text), c->filter.bins, c->alone,
                     c->joint, c->cells);
    }
    (void)printf("\nbits of joint colour that a sample keeps\n%6s %8s", "share",
                 "rows");
    for (uint32_t k = 0; k < DRAWS; k++)
        (void)printf(" %8s", draw_name((enum draw_kind)k));
    (void)printf("\n");
    for (uint32_t i = 0; i < POINTS; i++) {
        (void)printf("%4.1f %% %8u", 100 * shares[i],
                     draw_size(shares[i], entropy->rows));
        for (uint32_t k = 0; k < DRAWS; k++)
            (void)printf(" %8.3f", entropy->bits[i][k]);
        (void)printf("\n");
    }
}

static enum err plot(const struct entropy *entropy, const char *path,
                     struct why *why)
{
    struct panel panel = {.left = 70,
                          .top = 50,
                          .width = 560,
                          .height = 320,
                          .x_high = 100,
                          .y_high = joint_of(entropy) * 1.1 + .1};
    struct svg svg;

    svg_begin(&svg, 700, 440);
    panel_axes(&svg, &panel, "Joint entropy of a sample's colours",
               "rows in the sample, %", "bits");
    for (uint32_t k = 0; k < DRAWS; k++) {
        const char *const colour = svg_colour(k);

        svg_add(&svg,
                "<polyline fill=\"none\" stroke=\"%s\" stroke-width=\"1.8\" "
                "points=\"",
                colour);
        for (uint32_t i = 0; i < POINTS; i++)
            svg_add(&svg, "%.2f,%.2f ", panel_x(&panel, 100 * shares[i]),
                    panel_y(&panel, entropy->bits[i][k]));
        svg_add(&svg, "\"/>\n");
        svg_line(&svg, 480, 300 + 18 * k, 500, 300 + 18 * k, colour, 2);
        svg_text(&svg, 508, 304 + 18 * k, "start", 12,
                 draw_name((enum draw_kind)k));
    }
    return svg_write(&svg, path, why);
}

static enum err measure(struct entropy *entropy, const struct dataset *data,
                        const char *wish, struct why *why)
{
    const uint32_t every = (data->rows + COLOUR_ROWS - 1) / COLOUR_ROWS;
    const uint32_t most = data->rows / every / CELL_ROWS;
    enum err err = colour_candidates(data, wish, entropy->tried,
                                     &entropy->tried_count, why);

    entropy->rows = (data->rows + every - 1) / every;
    if (err == ERR_OK)
        err = colour_choose(data, entropy->tried, entropy->tried_count,
                            most > 2 ? most : 2, &entropy->colouring,
                            entropy->choice);
    if (err == ERR_OK)
        err = colour_rows(entropy, data, every);
    return err == ERR_OK ? draw_samples(entropy) : err;
}

int data_entropy(struct cli *cli, const struct dataset *data,
                 const struct encoder *encoder)
{
    const char *const path = option_text(&cli->options, OPT_PLOT);
    struct entropy *const entropy = mem_new(1, sizeof *entropy);
    struct why why = {0};
    enum err err = entropy == NULL
                       ? ERR_NOMEM
                       : measure(entropy, data,
                                 option_text(&cli->options, OPT_FILTERS), &why);

    (void)encoder;
    if (err == ERR_OK && path != NULL)
        err = plot(entropy, path, &why);
    if (err == ERR_OK && cli->json)
        show_json(entropy);
    else if (err == ERR_OK)
        show_text(entropy);
    if (entropy != NULL)
        mem_free(entropy->colour);
    mem_free(entropy);
    return err == ERR_OK ? EXIT_DONE : say_why(cli, err, &why);
}
