/*
 * code.h - who holds and computes what, when a step may end, and how to undo.
 *
 * A code is a choice on independent axes; the names people know are presets
 * (code/preset.h).  A built code serves n slots and K chunks:
 *
 *   part p     chunks [floor(pK/n), floor((p+1)K/n)), possibly empty
 *   piece      the unit of sending: a contiguous range of chunks inside one
 *              part or one group of parts.  The pieces of a code are a
 *              partition of all chunks, in chunk order.
 *   slot       a place in the code; a slot HOLDS pieces (has their data) and
 *              is given an ordered list of pieces to compute at once (`work`).
 *
 *   placement  once     slot i holds part i
 *              rep      groups of >= s+1 consecutive slots; all members hold
 *                       all parts of the group's members (any n; balanced)
 *              cyclic   slot i holds parts i..i+s mod n, real coefficients
 *   schedule   all      every slot computes everything it holds; one piece is
 *                       a whole part (once, cyclic) or group (rep)
 *              steal    own part first, cut into STEAL_PIECES pieces; the rest
 *                       of the group's pieces only on demand
 *   stop       all | cover | first:k | collect:k
 *   estimate   exact | reference (no rescale) | ratio (rows / rows covered)
 *
 * A code never touches a gradient, a socket or a clock: tables and arithmetic.
 * Two machines that build the same spec get the same tables, but for a cyclic
 * matrix, which rests on LAPACK: one machine builds it and its coefficients
 * travel with the work.
 */
#ifndef CODE_CODE_H
#define CODE_CODE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"

#define CODE_SLOTS_MAX    10000u
#define CODE_NUMERIC_MAX  1000u
#define CODE_STEAL_PIECES 8u
#define CODE_RESIDUAL_MAX 1e-12
#define CODE_GROUP_NONE   UINT32_MAX

enum placement { PLACE_ONCE, PLACE_REP, PLACE_CYCLIC };
enum schedule { SCHED_ALL, SCHED_STEAL };
enum stop { STOP_ALL, STOP_COVER, STOP_FIRST, STOP_COLLECT };
enum estimate { ESTIMATE_EXACT, ESTIMATE_REFERENCE, ESTIMATE_RATIO };
enum carrier { CARRIER_TALLY, CARRIER_F64 };
enum exactness { EXACT_BITWISE, EXACT_NUMERIC, EXACT_APPROX };

/* What the user chose; a value, nothing to close. */
struct code_spec {
    char name[32]; /* The preset's name, for receipts. */
    enum placement placement;
    enum schedule schedule;
    enum stop stop;
    enum estimate estimate;
    uint32_t stragglers; /* s */
    uint32_t k;          /* Of first:k and collect:k; 0 otherwise. */
    bool divisible;      /* frc: s+1 must divide n. */
    uint64_t seed;       /* Of real coefficients. */
};

struct piece {
    uint32_t first, end; /* Chunks [first, end). */
    uint32_t owner;      /* The slot that computes it first. */
    uint32_t group; /* Its slots hold the piece; cyclic: CODE_GROUP_NONE. */
};

struct group {
    uint32_t slot_first, slot_end;   /* Consecutive slots. */
    uint32_t piece_first, piece_end; /* Consecutive pieces. */
};

/* How well a numeric code restores the sum, tried before the job starts. */
struct certificate {
    double worst_residual;      /* max |a^T B - 1| over the patterns tried. */
    double worst_amplification; /* max sum_i |a_i| |B_i|_1 / parts. */
    uint32_t patterns;
    bool exhaustive;
};

struct code {
    struct code_spec spec;
    uint32_t slots;  /* n */
    uint32_t chunks; /* K */
    enum carrier carrier;
    enum exactness exactness; /* The class a step of this code can reach. */
    uint32_t piece_count;
    struct piece *pieces;
    uint32_t group_count;
    struct group *groups; /* once: one slot each; cyclic: none. */
    double *matrix;       /* cyclic: slots x parts, row-major; else NULL. */
    double *basis;        /* cyclic: (s + 1) x slots, for decode; else NULL. */
    bool *busy;           /* slots: was given initial work (`work`). */
    uint32_t busy_count;
    struct certificate certificate;
};

/* What has come in so far, kept by the coordinator.  A slot without initial
 * work (K < n leaves empty parts) counts as arrived at once, whether or not
 * slot_in says so: nothing waits for it, and it cannot end a step alone. */
struct code_progress {
    const bool *piece_in; /* piece_count: covered by a merged tally. */
    const bool *slot_in;  /* slots: the slot's whole initial work arrived. */
    uint32_t pieces_in;
    uint32_t slots_in;
};

/* Build for n slots and K >= 1 chunks.  ERR_SHAPE (n < s+1, s+1 does not divide
 * n for frc: says `rep`, k out of 1..n, axes that do not go together) and
 * ERR_RANGE (certificate above CODE_RESIDUAL_MAX) come with a sentence.  Close
 * frees; zeroed memory is safe to close.  cyclic costs up to about a second. */
MUST_CHECK enum err code_build(struct code *code, const struct code_spec *spec,
                               uint32_t slots, uint32_t chunks,
                               struct why *why);
void code_close(struct code *code);

/* The slot's initial work, in order, at most `max` ids (piece_count always
 * suffices); returns how many. */
uint32_t code_work(const struct code *code, uint32_t slot, uint32_t *ids,
                   uint32_t max);
/* Does the slot hold the piece's data? */
bool code_holds(const struct code *code, uint32_t slot, uint32_t piece);
/* Coefficient of a piece in a slot's answer: 1 for tally codes, 0 for a piece
 * the slot does not hold. */
double code_coefficient(const struct code *code, uint32_t slot, uint32_t piece);
/* May the step end?  Pieces of no chunks count as covered. */
bool code_enough(const struct code *code, const struct code_progress *progress);
/* Could the step still end if only these slots ever answer? */
bool code_feasible(const struct code *code, const bool *slot_alive);

/* Numeric codes: weights a with a^T B = 1 from the slots that answered.
 * ERR_UNDECODABLE if they do not suffice; *residual = max |a^T B - 1| over the
 * parts that are not empty.  Slots out, and slots without work, weigh 0. */
MUST_CHECK enum err code_decode(const struct code *code, const bool *slot_in,
                                double *weight, double *residual);
/* Factor on the merged sum, applied once in fp64 (TALLY-5). */
double code_rescale(const struct code *code, uint64_t rows_covered,
                    uint64_t rows);

const char *exactness_name(enum exactness exactness);
const char *placement_name(enum placement placement);
const char *schedule_name(enum schedule schedule);
const char *stop_name(enum stop stop);
const char *estimate_name(enum estimate estimate);

#endif /* CODE_CODE_H */
