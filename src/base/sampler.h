/*
 * sampler.h - which rows chunk k of step t stands for: minibatches.
 *
 *     whole   chunk k is rows kC .. (k+1)C-1 in every step
 *     rows    the rows of a pass are permuted, by a key of (seed, pass); step s
 *             of the pass has places sB .. (s+1)B-1 of that order, chunk k of
 *             it C of those: K = ceil(B/C) chunks.  The last batch of a pass is
 *             short, so that its last chunks may have fewer rows, or none
 *     local   chunk k is cut as in `whole` and draws from its own rows: they
 *             are permuted by a key of (seed, pass, k), and of the S steps of a
 *             pass step s has every place q of all chunks together with
 *             q mod S = s.  So chunks take part in proportion to their rows,
 *             and rows stay where they are.  Where each owner's rows are cut by
 *             themselves the places are those of that cut
 *
 * A pass is S = ceil(N/B) steps, and each row is in exactly one of them,
 * whoever computes it, how often and when: rows are a function of the sampler,
 * the step and the chunk, and of nothing else.  No table is kept: a place is
 * permuted by itself, in a Feistel network over the smallest power of two that
 * holds all, walked until the result is a row (Black & Rogaway, "Ciphers with
 * Arbitrary Finite Domains", 2002).
 *
 * It stands below data because the optimiser divides by a batch's true number
 * of rows, and the coordinator counts those that are missing.
 */
#ifndef BASE_SAMPLER_H
#define BASE_SAMPLER_H

#include <stdbool.h>
#include <stdint.h>

/* All that a sampler of batches is: a line here, and select_NAME in sampler.c.
 * `scattered`: a chunk of a step may have rows of any chunk of the data, and is
 * cut from the batch; else it has only rows of the data's own chunk, which
 * takes part in every step.  Then what sentences call the batches, and how they
 * are drawn, for --help. */
#define SAMPLER_LIST(X)                                                        \
    X(ROWS, rows, true, "batches",                                             \
      "from all rows, which all workers then need")                            \
    X(LOCAL, local, false, "local batches",                                    \
      "each chunk's part from the chunk's own rows, which stay where they "    \
      "are")

#define SAMPLER_KIND(NAME, name, scattered, batches, text) SAMPLER_##NAME,
enum sampler_kind { SAMPLER_WHOLE, SAMPLER_LIST(SAMPLER_KIND) SAMPLERS };
#undef SAMPLER_KIND

struct sampler {
    enum sampler_kind kind;
    uint32_t rows;       /* N, > 0. */
    uint32_t chunk_rows; /* C, > 0. */
    uint32_t batch;      /* B, 0 < B < N; SAMPLER_WHOLE: 0. */
    uint64_t seed;
    /* Data that are not cut alike, for kinds that do not scatter: */
    const uint32_t *cut; /* The first row of chunks from `first` on, and where
                            the last one ends.  Borrowed; NULL: alike. */
    uint32_t first;
    uint32_t chunks; /* Of all the data. */
};

/* All rows, of whatever data: where only the kind counts. */
extern const struct sampler sampler_whole;

/* Batches of `batch` rows; all rows, or more, are SAMPLER_WHOLE. */
struct sampler sampler_of(enum sampler_kind kind, uint32_t rows,
                          uint32_t chunk_rows, uint32_t batch, uint64_t seed);
/* Can it be one?  For those that come over the network. */
bool sampler_fits(const struct sampler *sampler);

const char *sampler_name(enum sampler_kind kind);
/* "batches", "local batches"; "" of SAMPLER_WHOLE. */
const char *sampler_batches(enum sampler_kind kind);
/* False if there is none of that name. */
bool sampler_parse(const char *name, enum sampler_kind *kind);

bool sampler_scatters(enum sampler_kind kind);
/* Of so many chunks of the data, those that one chunk of a step may have rows
 * of: all of them; 0: its own alone. */
uint32_t sampler_reach(const struct sampler *sampler, uint32_t chunks);

/* Chunks of a step, steps of a pass. */
uint32_t sampler_chunks(const struct sampler *sampler);
uint32_t sampler_steps(const struct sampler *sampler);
/* Steps of a pass that are not short: all but the last where the batch does not
 * divide the rows; of local batches all, whose numbers of rows differ by one at
 * most. */
uint32_t sampler_full_steps(const struct sampler *sampler);
/* The mean number of rows of those. */
double sampler_full_rows(const struct sampler *sampler);

/* Rows of a step, and of one chunk of it. */
uint32_t sampler_rows(const struct sampler *sampler, uint32_t step);
uint32_t sampler_chunk_rows(const struct sampler *sampler, uint32_t step,
                            uint32_t chunk);
/* The most that a chunk has in any step. */
uint32_t sampler_chunk_most(const struct sampler *sampler);

/* The numbers of those rows, in the order in which they are summed; returns how
 * many. */
uint32_t sampler_select(const struct sampler *sampler, uint32_t step,
                        uint32_t chunk, uint32_t *row);

#endif /* BASE_SAMPLER_H */
