/*
 * arcs_show.c - the scenes of a round of elastic coding, drawn.
 */
#include "cli/study/arcs_show.h"

#include <string.h>

#include "base/check.h"
#include "base/mem.h"
#include "cli/show/svg.h"
#include "code/residual.h"

#define WIDTH_MAX 60u /* Pieces that fit in a line. */
#define SQUARE    12.0
#define MARGIN    60.0

static char *cell_at(const struct arcs_picture *picture, uint32_t scene,
                     uint32_t member, uint32_t piece)
{
    return picture->cell +
           ((size_t)scene * picture->members + member) * picture->pieces +
           piece;
}

/* As many as both N and N-1 divide, if they fit: all arcs end on a piece. */
static uint32_t pieces_for(uint32_t members)
{
    const uint32_t both = members * (members - 1);

    return members == 1 || both > WIDTH_MAX ? WIDTH_MAX
           : 2 * both <= WIDTH_MAX          ? 2 * both
                                            : both;
}

/* Members in their order, without the leaver if `left`; returns how many. */
static uint32_t list_members(const struct arcs_picture *picture, bool left,
                             struct arc_member *members)
{
    uint32_t count = 0;

    for (uint32_t i = 0; i < picture->members; i++) {
        if (!left || i != picture->leaver)
            members[count++] = (struct arc_member){
                .block = i, .ready = picture->pieces, .speed = 1};
    }
    return count;
}

/* Before anything: the arcs of those who are there. */
static void draw_arcs(struct arcs_picture *picture, uint32_t scene,
                      struct arc *arcs)
{
    struct arc_member members[WIDTH_MAX] = {0};
    const uint32_t count = list_members(picture, scene > 0, members);
    const enum err err = arcs_lay(picture->rule, members, count, picture->parts,
                                  picture->pieces, arcs);

    CHECK(err == ERR_OK);
    for (uint32_t i = 0; i < count; i++) {
        for (uint32_t k = 0; k < arcs[i].count; k++)
            *cell_at(picture, scene, members[i].block,
                     (arcs[i].begin + k) % picture->pieces) = '#';
    }
}

/* One leaves when all have done half of their arcs, and the rest is given out.
 */
static void draw_midst(struct arcs_picture *picture, const struct arc *arcs,
                       struct residual *residual)
{
    static const struct blockset none[WIDTH_MAX];
    struct blockset done[WIDTH_MAX] = {0};
    struct arc_member members[WIDTH_MAX] = {0};
    const uint32_t count = list_members(picture, true, members);
    const struct residual_task task = {.pieces = picture->pieces,
                                       .cover = picture->parts,
                                       .done = done,
                                       .doing = none,
                                       .members = members,
                                       .count = count};

    for (uint32_t i = 0; i < picture->members; i++) {
        for (uint32_t k = 0; k < arcs[i].count / 2; k++) {
            const uint32_t piece = (arcs[i].begin + k) % picture->pieces;

            blockset_add(&done[piece], i);
            *cell_at(picture, 2, i, piece) = 'o';
        }
    }
    for (uint32_t i = 0; i < count; i++) {
        const struct arc arc = arcs[members[i].block];

        members[i].next = (arc.begin + arc.count / 2) % picture->pieces;
    }
    residual_plan(residual, &task);
    for (uint32_t i = 0; i < count; i++) {
        for (uint32_t k = residual->first[i]; k < residual->first[i + 1]; k++)
            *cell_at(picture, 2, members[i].block, residual->list[k]) = '#';
    }
}

enum err arcs_picture_make(struct arcs_picture *picture, enum arc_rule rule,
                           uint32_t parts, uint32_t members)
{
    struct residual residual = {0};
    struct arc all[WIDTH_MAX], some[WIDTH_MAX];
    enum err err;

    *picture = (struct arcs_picture){0};
    if (parts < 1 || parts > members || members > WIDTH_MAX)
        return ERR_SHAPE;
    *picture =
        (struct arcs_picture){.rule = rule,
                              .parts = parts,
                              .members = members,
                              .pieces = pieces_for(members),
                              .leaver = members / 2,
                              .scenes = parts < members ? ARCS_SCENES : 1};
    picture->cell = mem_new((size_t)ARCS_SCENES * members * picture->pieces, 1);
    err = residual_init(&residual, members, picture->pieces);
    if (err == ERR_OK && picture->cell == NULL) {
        residual_close(&residual);
        err = ERR_NOMEM;
    }
    if (err != ERR_OK)
        return err;
    memset(picture->cell, '.', (size_t)ARCS_SCENES * members * picture->pieces);
    draw_arcs(picture, 0, all);
    if (picture->scenes > 1) {
        draw_arcs(picture, 1, some);
        memset(cell_at(picture, 1, picture->leaver, 0), ' ', picture->pieces);
        draw_midst(picture, all, &residual);
    }
    residual_close(&residual);
    return ERR_OK;
}

void arcs_picture_close(struct arcs_picture *picture)
{
    mem_free(picture->cell);
    *picture = (struct arcs_picture){0};
}

/* What is over a scene. */
static void title_of(const struct arcs_picture *picture, uint32_t scene,
                     char text[96])
{
    const uint32_t n = picture->members - (scene > 0);

    if (scene < 2)
        (void)snprintf(text, 96, "%u workers, each %u/%u of its block", n,
                       picture->parts, n);
    else
        (void)snprintf(text, 96,
                       "worker %u leaves at half of a round: o delivered, # "
                       "given out",
                       picture->leaver);
}

static void print_scene(const struct arcs_picture *picture, uint32_t scene,
                        FILE *out)
{
    char title[96];

    title_of(picture, scene, title);
    (void)fprintf(out, "\n%s\n", title);
    for (uint32_t i = 0; i < picture->members; i++) {
        if (scene == 1 && i == picture->leaver)
            (void)fprintf(out, "%7u\n", i);
        else
            (void)fprintf(out, "%7u  %.*s\n", i, (int)picture->pieces,
                          cell_at(picture, scene, i, 0));
    }
}

void arcs_picture_print(const struct arcs_picture *picture, FILE *out)
{
    (void)fprintf(out,
                  "\nwho computes what: a row a worker, a column one of %u "
                  "pieces of its block; any %u workers give a piece\n",
                  picture->pieces, picture->parts);
    for (uint32_t scene = 0; scene < picture->scenes; scene++)
        print_scene(picture, scene, out);
}

static void plot_scene(const struct arcs_picture *picture, uint32_t scene,
                       struct svg *svg, double top)
{
    char title[96];

    title_of(picture, scene, title);
    svg_text(svg, MARGIN, top - 8, "start", 13, title);
    for (uint32_t i = 0; i < picture->members; i++) {
        const double y = top + i * SQUARE;

        (void)snprintf(title, sizeof title, "%u", i);
        svg_text(svg, MARGIN - 8, y + SQUARE - 2, "end", 11, title);
        for (uint32_t p = 0; p < picture->pieces; p++) {
            const char cell = *cell_at(picture, scene, i, p);

            if (cell == '#' || cell == 'o')
                svg_box(svg, MARGIN + p * SQUARE, y, SQUARE - 1, SQUARE - 1,
                        svg_colour(i), cell == '#' ? .9 : .35);
        }
    }
}

enum err arcs_picture_plot(const struct arcs_picture *picture, const char *path,
                           struct why *why)
{
    const double height = (picture->members + 3) * SQUARE;
    struct svg svg = {0};

    svg_begin(&svg, MARGIN + (picture->pieces + 2) * SQUARE,
              picture->scenes * height + 2 * SQUARE);
    for (uint32_t scene = 0; scene < picture->scenes; scene++)
        plot_scene(picture, scene, &svg, scene * height + 3 * SQUARE);
    return svg_write(&svg, path, why);
}
