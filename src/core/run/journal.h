/*
 * journal.h - the hash-chained record of a run, as bytes.
 *
 * A journal is a sequence of fixed-size records.  Each ends with
 *     chain = SHA-256(chain of the record before || this record's body)
 * so that a torn, reordered or altered record ends the valid prefix and two
 * journals of one run can be compared by their last link.
 *
 * Rules (checked by journal_scan, and by the simulator against its own books):
 *   JOUR-1  the first record is JOB; all carry its job and configuration.
 *   JOUR-2  views only grow; a STEP's view is that of the last VIEW.
 *   JOUR-3  steps go up by one, except after ROLLBACK (to an earlier step) and
 *           GAP (to a later one).
 *   JOUR-4  a PASS is of the step that the journal has come to, one of each.
 *   JOUR-5  a MERGE is of the last VIEW and of the step come to.
 *   JOUR-6  a SIZE is of a step that is yet to be made.
 */
#ifndef CORE_JOURNAL_H
#define CORE_JOURNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/hash.h"

#define JOURNAL_FILE     "journal"
#define RECORD_BYTES     256u
#define RECORD_CODE_SIZE 32u
#define RECORD_SLOTS     512u

enum record_kind {
    RECORD_JOB = 1,
    RECORD_VIEW,
    RECORD_STEP,
    RECORD_ROLLBACK,
    RECORD_GAP,   /* There are no receipts of the steps up to this one: a run in
                     one process writes none, or they were lost. */
    RECORD_PASS,  /* A pass is over: the loss of held-out rows. */
    RECORD_MERGE, /* Sides of a ring that were apart stand here together. */
    RECORD_SIZE,  /* Steps after `step` have samples of this size. */
};

#define RECORD_CLASS_LOST 255u /* `exactness` of a GAP, if nobody knows. */

/* A receipt is the STEP record: who answered, what was covered, how exactly. */
struct record {
    enum record_kind kind;
    uint64_t job;
    uint64_t view;
    uint32_t step; /* Updates made once this record holds. */
    uint32_t attempt;
    uint32_t slots;     /* n of the code. */
    uint32_t answered;  /* Slots whose answer was used. */
    uint32_t chunks;    /* Covered. */
    uint32_t exactness; /* enum exactness. */
    uint64_t scale;
    double residual;       /* Coded sums: max |a^T B - 1|.  Samples: what the
                              gradient is expected to be off by, of its own
                              length; NaN if that is not known.  Else 0: of
                              an average `chunks` and `rescale` tell. */
    float condition;       /* Coded data: the worst condition number, in the
                              1-norm, of the sets used; else 0. */
    double rescale;        /* Factor on the sum; 1 unless approximate. */
    double objective;      /* PASS: of held-out rows. */
    uint32_t best_step;    /* PASS: after which it was least. */
    double size;           /* SIZE: share of the rows that samples have. */
    struct digest weights; /* After the step: trainer_hash; JOB: of the
                              configuration. */
    char code[RECORD_CODE_SIZE];
    uint32_t stragglers, k, planned;  /* VIEW: of the code wanted, for so many
                                         slots; ... */
    double gain, gain_low, gain_high; /* ... and, if it was changed to, the
                                         share of time it is to save with
                                         its 95 % interval; else 0. */
    /* Not VIEW; code `local`: bit i % 8 of byte i / 8 is set if the part of
     * slot i (of the first RECORD_SLOTS) is missing. */
    uint8_t silent[RECORD_SLOTS / 8];
    /* Not VIEW; staleness: updates the answers used were behind, summed over
     * `answered` of them, and the most. */
    uint64_t age_sum;
    uint32_t age_max;
};

/* The worse of two residuals: one that is not known might be any. */
double record_worse(double residual, double other);

/* Encode after `chain`, which becomes the new last link. */
void record_encode(const struct record *record, struct digest *chain,
                   uint8_t out[RECORD_BYTES]);

typedef void (*record_visitor)(void *context, const struct record *record);

struct journal_summary {
    size_t valid_bytes; /* Cut the file to this before appending. */
    uint32_t records;
    struct digest chain;
    uint64_t job;
    struct digest config;
    uint64_t view;                   /* Highest ... */
    uint32_t members;                /* ... and how many were in it, ... */
    uint32_t stragglers, k, planned; /* ... with which code. */
    char code[RECORD_CODE_SIZE];
    uint32_t step;      /* Of the last STEP, ROLLBACK or GAP, ... */
    uint32_t pass_step; /* ... and of the last PASS up to there. */
    bool torn;          /* Bytes after the valid prefix were dropped. */
};

/* Walk the valid prefix.  ERR_FORMAT if a JOUR rule is broken by a record
 * whose chain is intact: then the journal was not written by this protocol. */
MUST_CHECK enum err journal_scan(const uint8_t *data, size_t size,
                                 record_visitor visit, void *context,
                                 struct journal_summary *summary);

/* The same for what follows `summary`, whose valid bytes are not in `data`. */
MUST_CHECK enum err journal_more(const uint8_t *data, size_t size,
                                 record_visitor visit, void *context,
                                 struct journal_summary *summary);

#endif /* CORE_JOURNAL_H */
