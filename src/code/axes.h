/*
 * axes.h - inside a code: one ops table for each axis.
 *
 * Only src/code/ includes this file; the rest of Muster sees code.h.  How
 * a new placement is added docs/codes.md says; a new value on another axis is
 * one enumerator in code.h and one line in the array of its axis.  No other
 * axis and no preset has to know.
 *
 *   file                    axis        says
 *   placement_*.c           placement   which slots hold which parts, and with
 *                                       which coefficients they answer
 *   schedule.c              schedule    how held parts are cut into pieces,
 *                                       and which of them a slot starts with
 *   stop.c                  stop        when a round may end
 *   estimate.c              estimate    what the merged sum is multiplied by
 *   preset.c                            the names of points in this space
 *   table.c decode.c least.c certify.c  what the placements share
 */
#ifndef CODE_AXES_H
#define CODE_AXES_H

#include "code/code.h"
#include "code/rules.h"
#include "code/shortest.h"

/* The parts are dealt in `spans` of consecutive parts that the same slots
 * hold; in grouped codes span q belongs to the slots of the same numbers,
 * which are group q. */
struct placement_ops {
    const char *name;
    enum carrier carrier;
    bool grouped;
    bool cut;     /* Not grouped, and work may yet be sent in pieces. */
    bool summed;  /* Coded, and no equations to solve: any number of slots. */
    bool sampled; /* Chunks from the middle on are samples of those before. */
    trait_set traits; /* What rules.c has to know of it. */
    /* P; NULL: n. */
    uint32_t (*parts)(const struct code *code);
    /* The first chunk of a part, P included; NULL: all parts are alike. */
    uint32_t (*part_first)(const struct code *code, uint32_t part);
    /* Grouped: the slots of a group, if all have as many; NULL: they do not. */
    uint32_t (*group_size)(const struct code *code);
    /* NULL: a span is a part. */
    uint32_t (*span_count)(const struct code *code);
    uint32_t (*span_first)(const struct code *code, uint32_t span);
    /* Spans answered by tallies, which come first; NULL: all of them in a
     * tally code, none in a coded one. */
    uint32_t (*plain_spans)(const struct code *code);
    /* What `row` needs to have worked out; NULL: nothing. */
    enum err (*prepare)(struct code *code);
    /* The spans of a slot in the order of work: writes at most `max`, returns
     * how many there are. */
    uint32_t (*row)(const struct code *code, uint32_t slot, uint32_t *spans,
                    uint32_t max);
    /* Whether the other axes suit; NULL: any.  `muster plan` tries a preset
     * only if it passes for a few workers and chunks with s = 1 and s = 2
     * (plan/candidate.c); else it leaves it out without a word, as one that
     * needs more than numbers. */
    enum err (*vet)(const struct code *code, struct why *why);
    /* Coded: vectors to keep the answers in; NULL: as they are. */
    uint32_t (*folds)(const struct code *code);
    /* Coded: set the coefficients and the basis, number `draw` of many.
     * ERR_UNDECODABLE: this one is no code. */
    enum err (*draw)(struct code *code, uint32_t draw);
    /* Operations of a draw; NULL: as many as a random matrix takes. */
    uint64_t (*draw_cost)(const struct code *code);
    /* Weights of the slots; NULL: from the basis. */
    enum err (*decode)(const struct code *code, const bool *slot_in,
                       double *weight);
    /* Is one draw as good as another? */
    bool fixed;
    bool uncertified; /* Sets are judged as they come, not before. */
    /* After certifying; NULL: nothing. */
    enum err (*finish)(struct code *code, struct why *why);
};

struct schedule_ops {
    const char *name;
    /* Pieces of a part unless the spec says otherwise; 0: a span is one. */
    uint32_t pieces;
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
    const char *alias; /* NULL if none. */
    bool partial;      /* Has a meaning when pieces are missing. */
    double (*rescale)(const struct code *code, uint64_t rows_covered,
                      uint64_t rows);
    enum err (*vet)(const struct code *code, struct why *why); /* NULL: any. */
};

#define PLACE_EXTERN(upper, lower)                                             \
    extern const struct placement_ops placement_##lower;
PLACEMENTS(PLACE_EXTERN)
#undef PLACE_EXTERN

const struct placement_ops *placement_ops(enum placement placement);
const struct schedule_ops *schedule_ops(enum schedule schedule);
const struct stop_ops *stop_ops(enum stop stop);
const struct estimate_ops *estimate_ops(enum estimate estimate);
/* ERR_UNKNOWN: the sentence lists the names. */
MUST_CHECK enum err estimate_find(const char *name, enum estimate *estimate,
                                  struct why *why);
/* `collect:5`, `deadline:0.2`: sets stop, k and deadline_s of the spec.
 * ERR_UNKNOWN, ERR_RANGE. */
MUST_CHECK enum err stop_parse(const char *text, struct code_spec *spec,
                               struct why *why);

/* Part p has chunks [code_part_first(p), code_part_first(p + 1)). */
uint32_t code_part_first(const struct code *code, uint32_t part);
/* Span q has parts [code_span_first(q), code_span_first(q + 1)). */
uint32_t code_span_first(const struct code *code, uint32_t span);
bool code_span_empty(const struct code *code, uint32_t span);
/* The first piece that begins at `chunk` or after it. */
uint32_t code_piece_at(const struct code *code, uint32_t chunk);
/* Append the ids [first, end) to `ids`, which has `count` of at most `max`;
 * returns the new count. */
uint32_t code_ids(uint32_t *ids, uint32_t count, uint32_t max, uint32_t first,
                  uint32_t end);

/* table.c */
/* Who holds what, from placement->row; all coefficients 1. */
MUST_CHECK enum err table_build(struct code *code);
void table_close(struct code_table *table);
/* The entry at (slot, span), or UINT32_MAX. */
uint32_t table_find(const struct code_table *table, uint32_t slot,
                    uint32_t span);
/* Does one of these slots hold the span? */
bool table_covers(const struct code_table *table, uint32_t span,
                  const bool *slots);

/* What cyclic, cb, partial-cyclic and mds refuse. */
MUST_CHECK enum err coded_vet(const struct code *code, struct why *why);
uint32_t coded_folds(const struct code *code);

/* Room to decode one pattern of answers. */
struct decoder {
    struct shortest room; /* Of the system for mu. */
    double *fold;         /* folds: 1, then mu. */
    uint32_t *out;        /* At most s. */
    uint32_t out_count;
    struct least *least; /* matrix. */
};

MUST_CHECK enum err decoder_new(struct code *code);
void decoder_free(struct decoder *decoder);
/* Make the rows after the first of code->basis orthonormal, and the first
 * orthogonal to them. */
void basis_orthonormalise(struct code *code);
/* Coded data: how parts come from the slots that answered. */
MUST_CHECK enum err blocks_pick(const struct code *code, const bool *slot_in,
                                const struct erasure_set **set);
/* max |a^T B - 1| over the coded spans that are not empty. */
double decode_residual(const struct code *code, const double *weight);

/* least.c: the weights nearest to a^T B = 1. */
struct least;
MUST_CHECK enum err least_new(const struct code *code, struct least **least);
void least_free(struct least *least);
MUST_CHECK enum err least_run(struct least *least, const struct code *code,
                              const bool *slot_in, double *weight);

/* Draw coefficients until some restore the sum well from every pattern tried,
 * keep the best and their certificate (certify.c). */
MUST_CHECK enum err certify_best(struct code *code);

#endif /* CODE_AXES_H */
