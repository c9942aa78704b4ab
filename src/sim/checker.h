/*
 * checker.h - books kept by someone who does not trust the coordinator.
 *
 * They are filled from what leaves the machines (messages, trace events,
 * bytes on the disk model), never from the machines' own state.
 *
 *   CHECK-1  the final weights are the oracle's: the same hash (bitwise),
 *            within 1e-9 (numeric), finite and flagged (approx)
 *   CHECK-2  the journal obeys JOUR-1..3 and tells the truth: equal steps have
 *            equal hashes, a view is durable before a ROUND carries it, and
 *            so are all steps before it where they could not be redone
 *   CHECK-3  in a round no chunk is merged twice, nothing of another key,
 *            nothing poisoned, nothing from a link that has not joined
 *   CHECK-4  STORE-1: a checkpoint once durable is there after any crash
 *   CHECK-5  a run makes steps, to its end, once the faults have ended
 *   CHECK-6  commits go up by one; a bitwise commit covers all chunks
 *   CHECK-7  WORK-1: a worker never answers for a lower view than before
 *   CHECK-8  staleness: a row merged is of a round of this view at most B
 *            steps old, key for key, and each is merged once
 *   CHECK-9  nobody is struck for an honest answer
 *   CHECK-10 every row is in exactly one batch of a pass.  It is counted by the
 *            oracle; by CHECK-1, -3 and -6 others sum over the oracle's rows
 *   CHECK-11 a step with samples in it was fed what parts and samples that were
 *            counted give, of which each part has one, and expects the
 *            error that they give (sim/truth.h)
 *   CHECK-12 samples have the size that was asked for last, from the beginning
 *            of a pass and in every life; it is durable first (sim/truth.h)
 */
#ifndef SIM_CHECKER_H
#define SIM_CHECKER_H

#include <stdbool.h>
#include <stdint.h>

#include "base/chunkset.h"
#include "base/err.h"
#include "code/code.h"
#include "core/msg.h"
#include "core/run/journal.h"
#include "core/trace.h"
#include "sim/disk.h"
#include "sim/oracle.h"
#include "sim/sim.h"

struct checker {
    struct oracle *oracle;
    bool averages;        /* Code `local`, with gradients to redo. */
    enum exactness class; /* What the code promises. */
    double residual_max;  /* ... of a numeric step. */
    bool searches;        /* Steps are found by trials on a line. */
    bool gullible;        /* Lies may get through: bits prove nothing. */
    bool violated;
    char text[SIM_TEXT];

    uint32_t links;
    uint32_t *joined;       /* Per link: the connection that joined, or none. */
    struct chunkset merged; /* In the open round ... */
    struct chunkset sampled; /* Samples that were kept, by their chunks. */
    bool *row_in; /* ... and per link and piece of a product, else of piece 0:
                     its row was merged. */
    uint32_t staleness;         /* B; 0: only rows of the open round. */
    struct round_key *recent;   /* B + 1: rounds by step, modulo B + 1. */
    struct round_key *row_last; /* Per link: of the last row merged. */
    bool open;                  /* A round is open: */
    struct round_key key;
    uint32_t committed;     /* Steps, in this life of the coordinator. */
    uint32_t best;          /* Most steps ever committed. */
    uint64_t chunks_merged; /* Summed over commits. */
    uint64_t commits;

    uint64_t view_durable; /* Highest VIEW found durable so far ... */
    uint32_t step_durable; /* ... and the step it then was at. */
    uint32_t checkpoint;   /* Last step reported durable. */
    bool has_checkpoint;
};

#define CHECKER_NOBODY UINT32_MAX

MUST_CHECK enum err checker_init(struct checker *checker, struct oracle *oracle,
                                 enum exactness class, uint32_t staleness,
                                 uint32_t links);
void checker_close(struct checker *checker);

/* Record a broken promise; only the first counts. */
__attribute__((format(printf, 2, 3))) void
checker_violate(struct checker *checker, const char *format, ...);

/* The coordinator starts from `recovery` (step 0 if it has no checkpoint). */
void checker_recovered(struct checker *checker,
                       const struct recovery *recovery);
void checker_checkpointed(struct checker *checker, uint32_t step);
/* A trace event; `msg` is the message the machine was given in this call and
 * `conn` where from (NULL, CHECKER_NOBODY if it was given none). */
void checker_trace(struct checker *checker, const struct trace *trace,
                   const struct msg *msg, uint32_t conn, bool poisoned);
/* The connection of a link is gone. */
void checker_link_down(struct checker *checker, uint32_t link);
/* The coordinator sends a ROUND. */
void checker_round_sent(struct checker *checker, const struct round_key *key,
                        const struct disk_model *disk);
/* A worker answers; *highest is what it answered for before. */
void checker_answer(struct checker *checker, const char *name,
                    const struct round_key *key, uint64_t *highest);
/* Scan all that a running system sees of the journal. */
void checker_journal(struct checker *checker, const struct disk_model *disk,
                     bool ended);
void checker_final(struct checker *checker, const double *weights,
                   uint32_t step);

#endif /* SIM_CHECKER_H */
