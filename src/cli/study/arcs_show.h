/*
 * arcs_show.h - who computes what in a round of elastic coding, before and
 * after one leaves: figure 1 of Yang et al., "Coded elastic computing", ISIT
 * 2019, in text or as a picture.
 */
#ifndef CLI_ARCS_SHOW_H
#define CLI_ARCS_SHOW_H

#include <stdio.h>

#include "code/arcs.h"

#define ARCS_SCENES 3u /* All; one has left; one leaves in mid-round. */

/* A round of members of equal speed, piece by piece. */
struct arcs_picture {
    enum arc_rule rule;
    uint32_t parts;   /* L */
    uint32_t members; /* N */
    uint32_t pieces;
    uint32_t leaver;
    uint32_t scenes; /* 1 if nobody can be spared. */
    /* scenes x members x pieces: '.' not computed, '#' to be computed, 'o'
     * delivered before the leaver left, ' ' the leaver's. */
    char *cell;
};

/* ERR_SHAPE: fewer than 1 or more than `members` parts, more than 60 members.
 * Close frees; zeroed memory is safe to close. */
MUST_CHECK enum err arcs_picture_make(struct arcs_picture *picture,
                                      enum arc_rule rule, uint32_t parts,
                                      uint32_t members);
void arcs_picture_close(struct arcs_picture *picture);
void arcs_picture_print(const struct arcs_picture *picture, FILE *out);
MUST_CHECK enum err arcs_picture_plot(const struct arcs_picture *picture,
                                      const char *path, struct why *why);

#endif /* CLI_ARCS_SHOW_H */
