/*
 * code.h - who holds and computes what, when a round may end, how to undo.
 *
 * A code is a choice on independent axes; the names people know are presets
 * (code/preset.h).  A built code serves n slots and K chunks:
 *
 *   part p     chunks [floor(pK/P), floor((p+1)K/P)), possibly empty; P = n
 *              unless the placement says otherwise
 *   span       consecutive parts that the same slots hold.  A code is a table
 *              of slots x spans: who holds which, in what order it is
 *              computed, and with which coefficient it is answered.
 *   piece      the unit of sending: a contiguous range of chunks inside one
 *              span.  The pieces of a code are a partition of all chunks, in
 *              chunk order.
 *   slot       a place in the code; a slot HOLDS pieces (has their data) and
 *              is given an ordered list of pieces to compute at once (`work`).
 *
 *   placement  once     slot i holds part i
 *              rep      groups of >= s+1 consecutive slots; all members hold
 *                       all parts of the group's members (any n; balanced)
 *              shift    slot i holds parts i..i+s mod n, plain sums
 *              cyclic   the same parts, real coefficients (Tandon et al.)
 *              cb       any s+1 holders for each part, loads by speed, real
 *                       coefficients (Wang et al.)
 *              partial-frc, partial-cyclic   private parts besides the coded
 *              matrix   the user's own table
 *              mds      coded data: slot i holds row i of a systematic
 *                       Gaussian matrix times the parts, and answers products
 *                       (math/blocks.h); any n-s answers give everything
 *              cec      mds with blocks for more machines than there are, and
 *                       rows given out by speed (code/arcs.h): any L machines
 *                       do, and what each does shrinks as others join
 *              sgc      pairwise balanced copies, weights that need no decoding
 *              local    slot i holds part i, real answers that are averaged
 *              stale    slot i holds part i, real answers, some to older steps
 *              shadow   n - S slots hold a part each, S hold samples of parts:
 *                       chunk K + k is a sample of chunk k
 *              homes    private data: each home's chunks lie with its slots
 *                       alone, which share them out among themselves
 *   schedule   all      every slot computes everything it holds; one piece is
 *                       a whole span
 *              steal    own part first, cut into CODE_STEAL_PIECES; the rest
 *                       of the group's pieces only on demand
 *              stream   everything it holds, own part first, each piece sent
 *                       as soon as it is done
 *   stop       all | cover | first:k | collect:k | groups:k | deadline:t |
 *              shadow
 *   estimate   exact | reference (no rescale) | ratio (rows / rows covered) |
 *              unbiased (1 / the chance of being covered)
 *
 * A code never touches a gradient, a socket or a clock: tables and plain
 * arithmetic.  Two machines that build the same spec get the same tables.
 */
#ifndef CODE_CODE_H
#define CODE_CODE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "code/arcs.h"
#include "code/erasure.h"
#include "code/place/placements.h"
#include "math/draw.h"

#define CODE_SLOTS_MAX       10000u
#define CODE_NUMERIC_MAX     1000u
#define CODE_STEAL_PIECES    8u
#define CODE_PIECES_MAX      64u /* Of a part. */
#define CODE_RESIDUAL_MAX    1e-12
#define CODE_RESIDUAL_BLOCKS 1e-9 /* ... of sets that came as they came. */
#define CODE_SEGMENTS        64u
#define CODE_GROUP_NONE      UINT32_MAX
#define CODE_MEMOS           64u

#define PLACE_ENUM(upper, lower) PLACE_##upper,
enum placement { PLACEMENTS(PLACE_ENUM) };
#undef PLACE_ENUM
enum schedule { SCHED_ALL, SCHED_STEAL, SCHED_STREAM };
enum stop {
    STOP_ALL,
    STOP_COVER,
    STOP_FIRST,
    STOP_COLLECT,
    STOP_GROUPS,
    STOP_DEADLINE,
    STOP_SHADOW, /* Parts that are missing are covered by samples. */
};
enum estimate {
    ESTIMATE_EXACT,
    ESTIMATE_REFERENCE,
    ESTIMATE_RATIO,
    ESTIMATE_UNBIASED,
    ESTIMATE_SHADOW, /* From samples of what is missing (code/shadow.h). */
    ESTIMATE_SHRINK,
};
/* How a matrix is undone: least squares, or the same weight for everyone. */
enum decoding { DECODE_OPTIMAL, DECODE_ONE_STEP };
enum carrier { CARRIER_TALLY, CARRIER_F64 };
enum exactness { EXACT_BITWISE, EXACT_NUMERIC, EXACT_APPROX };

/* How well a numeric code restores the sum, tried before the job starts. */
struct certificate {
    double worst_residual;      /* max |a^T B - 1| over the patterns tried. */
    double worst_amplification; /* max sum_i |a_i| |B_i|_1 / coded spans. */
    uint32_t patterns;
    bool exhaustive;
};

/* Certificates made so far, so that a rebuild with the same n is quick.  Zeroed
 * is empty; the oldest goes first. */
struct code_memory {
    struct code_memo {
        uint64_t key; /* Of placement, n, s, seed and all that matters. */
        uint32_t draw;
        bool quick; /* Made within a tenth of the work. */
        struct certificate certificate;
    } memo[CODE_MEMOS];
    uint32_t count; /* Ever stored. */
};

/* A matrix as read (code/matrix_file.h), rows x cols, row-major. */
struct code_matrix {
    uint32_t rows, cols;
    double *entry;
};

/* Where private data is.  Home h has chunks [chunk[h], chunk[h + 1]), none
 * empty, and slots [slot[h], slot[h + 1]), one at least. */
struct code_homes {
    uint32_t count;
    const uint32_t *chunk; /* count + 1 of each. */
    const uint32_t *slot;
};

/* What the user chose; a value, nothing to close.  What it points to lives as
 * long as any code built from it. */
struct code_spec {
    char name[32]; /* The preset's name, for receipts. */
    enum placement placement;
    enum schedule schedule;
    enum stop stop;
    enum estimate estimate;
    uint32_t stragglers; /* s */
    uint32_t k;          /* Of first, collect and groups; 0 otherwise. */
    double deadline_s;   /* Of deadline; 0 otherwise. */
    bool divisible;      /* frc: s+1 must divide n. */
    uint64_t seed;       /* Of all that is drawn: coefficients, samples. */
    uint32_t parts;      /* partial: parts a slot holds; 0 = 2(s+1). */
    uint32_t pieces;     /* Cuts of a part; 0 = the schedule's own. */
    uint32_t replicas;   /* sgc: copies of a part; 0 = s+1. */
    uint32_t staleness;  /* stale: updates an answer may be behind, B >= 1. */
    uint32_t every;      /* local: own steps between two averages. */
    uint32_t blocks;     /* cec: P, coded blocks there are, n or more. */
    uint32_t copies;     /* mds, cec: 2 = of the data by columns, too. */
    bool narrow;         /* mds, cec: blocks are kept as fp32. */
    bool result;         /* mds, cec: what is decoded is the result itself:
                            residuals tell its error, not the decoding's. */
    enum arc_rule rule;  /* cec: who computes what. */
    uint32_t shadows;    /* flexent: workers that compute samples; 0: none. */
    double size;         /* ... of this share of each part's rows, ... */
    enum draw_kind draw; /* ... drawn like this, ... */
    const char *filters; /* ... coloured by these; NULL: those that suit. */
    enum decoding decoding;
    const struct code_matrix *matrix; /* matrix: the table; cb: who holds. */
    const double *speed;            /* cb: of the slots; NULL = all the same. */
    uint32_t speeds;                /* How many; used only if there are n. */
    const struct code_homes *homes; /* homes: where they are. */
    struct code_memory *memory;     /* NULL = none. */
    bool quick; /* A certificate within a tenth of the work. */
};

struct piece {
    uint32_t first, end; /* Chunks [first, end). */
    uint32_t owner;      /* The slot that computes it first. */
    uint32_t group; /* Its slots hold the piece; no groups: CODE_GROUP_NONE. */
    uint32_t span;
};

struct group {
    uint32_t slot_first, slot_end;   /* Consecutive slots. */
    uint32_t piece_first, piece_end; /* Consecutive pieces. */
};

/* Slots x spans, the entries that are there. */
struct code_table {
    uint32_t count;
    uint32_t *row;    /* slots + 1: entries of slot i are row[i]..row[i+1]. */
    uint32_t *span;   /* Of each entry; a row is in the order of work. */
    double *value;    /* Its coefficient. */
    uint32_t *column; /* spans + 1: likewise for `holder`. */
    uint32_t *holder; /* Slots that hold a span, ascending. */
    uint32_t *entry;  /* The entry behind each holder. */
};

struct decoder;

struct code {
    struct code_spec spec;
    uint32_t slots;    /* n */
    uint32_t chunks;   /* K; flexent: and as many samples of them, which ... */
    uint32_t samples;  /* ... begin here, as do their pieces; else K. */
    uint32_t parts;    /* P */
    uint32_t segments; /* Codes of data: pieces that a product is cut into. */
    enum carrier carrier;
    enum exactness exactness; /* The class a step of this code can reach. */
    uint32_t span_count;
    uint32_t plain_spans; /* The first so many are answered by tallies. */
    uint32_t *span_piece; /* spans + 1: the first piece of each. */
    struct code_table table;
    uint32_t piece_count;
    uint32_t plain_count; /* The first so many pieces are ... by tallies. */
    struct piece *pieces;
    uint32_t group_count;
    struct group *groups; /* Of placements in groups. */
    uint32_t copies;      /* The most holders a span has. */
    uint32_t *arc;        /* What `prepare` of a placement draws or works out:
                             cb: slots + 1, where each slot's parts begin. */
    /* Coded answers f_i are kept as `folds` vectors sum_i basis[k][i] f_i;
     * 0 = each is kept by itself. */
    uint32_t folds;
    double *basis; /* folds x slots. */
    bool *busy;    /* slots: was given initial work (coded work, if coded). */
    uint32_t busy_count;
    struct certificate certificate;
    struct decoder *decoder; /* Room to decode in; coded only. */
    struct erasure erasure;  /* Codes of data: parts from blocks. */
};

/* What has come in so far, kept by the coordinator.  A slot without initial
 * work (K < n leaves empty parts) counts as arrived at once, whether or not
 * slot_in says so: nothing waits for it, and it cannot end a step alone. */
struct code_progress {
    const bool *piece_in; /* piece_count: covered by a merged tally. */
    const bool *slot_in;  /* slots: the slot's whole initial work (its coded
                             answer, if coded) arrived. */
    uint32_t pieces_in;
    uint32_t slots_in;
    bool late; /* The deadline has passed. */
};

/* Build for n slots (cec: spec.blocks, whatever n) and K >= 1 chunks. ERR_SHAPE
 * (n < s+1, s+1 does not divide n for frc: says `rep`, k out of 1..n, axes that
 * do not go together, a matrix of another shape) comes with a sentence.  A
 * numeric code whose certificate is above CODE_RESIDUAL_MAX is built, but its
 * class is approx.  Close frees; zeroed memory is safe to close.  Numeric codes
 * cost up to some seconds. */
MUST_CHECK enum err code_build(struct code *code, const struct code_spec *spec,
                               uint32_t slots, uint32_t chunks,
                               struct why *why);
void code_close(struct code *code);

/* The slot's initial work, in order, at most `max` ids (piece_count always
 * suffices); returns how many. */
uint32_t code_work(const struct code *code, uint32_t slot, uint32_t *ids,
                   uint32_t max);
/* All pieces the slot holds, in the order of its row; likewise. */
uint32_t code_held(const struct code *code, uint32_t slot, uint32_t *ids,
                   uint32_t max);
/* Does the slot hold the piece's data? */
bool code_holds(const struct code *code, uint32_t slot, uint32_t piece);
/* Is the piece answered by a tally of its own? */
bool code_plain(const struct code *code, uint32_t piece);
/* Coefficient of a piece in a slot's answer: 1 for plain pieces, 0 for a piece
 * the slot does not hold. */
double code_coefficient(const struct code *code, uint32_t slot, uint32_t piece);
/* The entry of the table at (slot, span), 0 if there is none. */
double code_entry(const struct code *code, uint32_t slot, uint32_t span);
/* May the step end?  Pieces of no chunks count as covered. */
bool code_enough(const struct code *code, const struct code_progress *progress);
/* Could a step end if only these slots ever answer? */
bool code_feasible(const struct code *code, const bool *slot_alive);
/* The same, where others may take over plain pieces. */
bool code_decodable(const struct code *code, const bool *slot_alive);

/* Coded answers: weights a with a^T B = 1 from the slots that answered (as near
 * as can be, for a matrix).  ERR_UNDECODABLE if they do not suffice; *residual
 * = max |a^T B - 1| over the coded spans that are not empty.  Slots out, and
 * slots without work, weigh 0.  Allocates nothing. */
MUST_CHECK enum err code_decode(const struct code *code, const bool *slot_in,
                                double *weight, double *residual);
/* The same weights for the folds of that last code_decode. */
const double *code_folds(const struct code *code);
/* Chunks of the plain pieces that are in and of the coded spans that some slot
 * of `slot_in` holds. */
uint32_t code_covered(const struct code *code, const bool *piece_in,
                      const bool *slot_in);
/* Factor on the merged sum, applied once in fp64 (TALLY-5). */
double code_rescale(const struct code *code, uint64_t rows_covered,
                    uint64_t rows);
/* The mean over chunks of (c-1)^2, c the factor with which a chunk is in the
 * update when these slots have answered all they compute; `weight` is room for
 * n.  NaN: a sample stands for a part, and how well depends on the rows.
 * ERR_UNDECODABLE: they do not suffice. */
MUST_CHECK enum err code_error(const struct code *code, const bool *slot_in,
                               double *weight, double *error);
/* The mean of that over `samples` draws of `silent` slots; NaN if one is.
 * Allocates. */
MUST_CHECK enum err code_expected_error(const struct code *code,
                                        uint32_t silent, uint32_t samples,
                                        double *mean);
/* Chunks the busiest slot computes if nobody is slow, over K.  Coded data: a
 * product with a chunk of the block counts half; cec: all slots are filled. */
double code_load(const struct code *code);
/* Chunks that somebody computes of a piece: of samples their share. */
double code_piece_work(const struct code *code, uint32_t piece);
/* Copies of the data that all slots hold together. */
double code_copies(const struct code *code);
/* Are its answers tallies? */
bool code_spec_tally(const struct code_spec *spec);
/* Does it code data, not gradients: are its rounds products? */
bool code_spec_products(const struct code_spec *spec);
/* ... and may machines come and go in the middle of a round? */
bool code_spec_elastic(const struct code_spec *spec);
/* Do its times follow from delays and work alone, without the core?  Not where
 * work moves within a round, nor where samples are computed beside the rows. */
bool code_spec_replays(const struct code_spec *spec);
/* The residual above which a numeric step of it is none. */
double code_spec_residual_max(const struct code_spec *spec);
/* Of n workers, how many it can do with. */
uint32_t code_spec_enough(const struct code_spec *spec, uint32_t n);
/* Is its sum an estimate even when nothing is missing? */
bool code_spec_estimates(const struct code_spec *spec);
/* The class of its steps, as long as a certificate does not say worse. */
enum exactness code_spec_class(const struct code_spec *spec);
/* Are chunks from the middle on samples of those before? */
bool code_spec_sampled(const struct code_spec *spec);
/* Parts of which others are samples; 0: there are none. */
uint32_t code_primaries(const struct code *code);
/* Pieces of data, which come first; sampled: as many samples follow, in the
 * same order. */
uint32_t code_data_pieces(const struct code *code);
/* Do sums of this spec keep their bits whoever answers? */
bool code_spec_bitwise(const struct code_spec *spec);

const char *exactness_name(enum exactness exactness);
const char *placement_name(enum placement placement);
const char *schedule_name(enum schedule schedule);
const char *stop_name(enum stop stop);
const char *estimate_name(enum estimate estimate);
const char *carrier_name(enum carrier carrier);

/* Where to begin with sending the weights of a step.  The last to be sent a
 * large model starts later than the first; were that always the same slot, a
 * code that does not wait for everyone would never see its data. */
uint32_t code_first_slot(const struct code *code, uint32_t step);

#endif /* CODE_CODE_H */
