/*
 * axes.h - inside a code: one ops table for each axis.
 *
 * Only src/code/ includes this file; the rest of Muster sees code.h.  A new
 * value on an axis is a new table here, one enumerator in code.h and one line
 * in the array of its axis; no other axis and no preset has to know.
 *
 *   file                    axis        says
 *   placement_once.c        placement   which slots hold which parts
 *   placement_rep.c
 *   placement_cyclic.c      (decode: decode.c, certificate: certify.c)
 *   schedule.c              schedule    how held parts are cut into pieces,
 *                                       and which of them a slot starts with
 *   stop.c                  stop        when a step may end
 *   estimate.c              estimate    what the merged sum is multiplied by
 *   preset.c                            the names of points in this space
 */
#ifndef CODE_AXES_H
#define CODE_AXES_H

#include "code/code.h"

/* The parts are dealt in `spans` of consecutive parts that the same slots
 * hold; in tally codes span q belongs to the slots of the same numbers, which
 * are group q. */
struct placement_ops {
    const char *name;
    enum carrier carrier;
    /* Number of spans, and the first part of span q (span count gives n). */
    uint32_t (*span_count)(const struct code *code);
    uint32_t (*span_first)(const struct code *code, uint32_t span);
    bool (*holds)(const struct code *code, uint32_t slot, uint32_t piece);
    double (*coefficient)(const struct code *code, uint32_t slot,
                          uint32_t piece);
    /* All pieces the slot holds, in the order to compute them. */
    uint32_t (*held)(const struct code *code, uint32_t slot, uint32_t *ids,
                     uint32_t max);
    /* Whether the other axes suit; NULL: any. */
    enum err (*vet)(const struct code *code, struct why *why);
    /* Coefficients and their certificate, once pieces and `busy` stand; NULL:
     * none. */
    enum err (*finish)(struct code *code, struct why *why);
};

struct schedule_ops {
    const char *name;
    /* Cut the parts [first, end) into non-empty pieces, at most `max` of them,
     * and fill first, end and owner.  Returns how many. */
    uint32_t (*cut)(const struct code *code, uint32_t first, uint32_t end,
                    struct piece *pieces, uint32_t max);
    uint32_t (*work)(const struct code *code, uint32_t slot, uint32_t *ids,
                     uint32_t max);
};

struct stop_ops {
    const char *name;
    bool counts;  /* Has a parameter k. */
    bool partial; /* May end a step with pieces missing. */
    bool (*enough)(const struct code *code,
                   const struct code_progress *progress);
    bool (*feasible)(const struct code *code, const bool *slot_alive);
};

struct estimate_ops {
    const char *name;
    bool partial; /* Has a meaning when pieces are missing. */
    double (*rescale)(uint64_t rows_covered, uint64_t rows);
};

extern const struct placement_ops placement_once;
extern const struct placement_ops placement_rep;
extern const struct placement_ops placement_cyclic;

const struct placement_ops *placement_ops(enum placement placement);
const struct schedule_ops *schedule_ops(enum schedule schedule);
const struct stop_ops *stop_ops(enum stop stop);
const struct estimate_ops *estimate_ops(enum estimate estimate);
/* ERR_UNKNOWN: the sentence lists the names. */
MUST_CHECK enum err estimate_find(const char *name, enum estimate *estimate,
                                  struct why *why);

/* Part p has chunks [code_part_first(p), code_part_first(p + 1)). */
uint32_t code_part_first(const struct code *code, uint32_t part);
bool code_part_empty(const struct code *code, uint32_t part);
/* The first piece that begins at `chunk` or after it. */
uint32_t code_piece_at(const struct code *code, uint32_t chunk);
/* Append the ids [first, end) to `ids`, which has `count` of at most `max`;
 * returns the new count. */
uint32_t code_ids(uint32_t *ids, uint32_t count, uint32_t max, uint32_t first,
                  uint32_t end);

/* What once and rep have in common: slots of a group hold its pieces. */
bool group_holds(const struct code *code, uint32_t slot, uint32_t piece);
double group_coefficient(const struct code *code, uint32_t slot,
                         uint32_t piece);

/* What decoding needs besides the matrix, from the H it was made of. */
MUST_CHECK enum err decode_prepare(struct code *code, const double *h);

/* Room to decode one pattern of answers. */
struct decoder {
    const struct code *code;
    double *system; /* s x s. */
    double *mu;     /* s. */
    uint32_t *out;  /* At most s. */
    uint32_t out_count;
};

MUST_CHECK enum err decoder_init(struct decoder *decoder,
                                 const struct code *code);
void decoder_close(struct decoder *decoder);
/* The contract of code_decode. */
MUST_CHECK enum err decoder_run(struct decoder *decoder, const bool *slot_in,
                                double *weight, double *residual);

/* Draw matrices until one restores the sum well from every pattern tried, keep
 * the best and its certificate (certify.c). */
MUST_CHECK enum err certify_best(struct code *code);
/* Fill code->matrix and code->basis with draw number `draw`
 * (placement_cyclic.c).  ERR_UNDECODABLE: this draw is no code. */
MUST_CHECK enum err cyclic_draw(struct code *code, uint32_t draw);

#endif /* CODE_AXES_H */
