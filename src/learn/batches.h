/*
 * batches.h - minibatches and passes, from a recipe and its rows.
 */
#ifndef LEARN_BATCHES_H
#define LEARN_BATCHES_H

#include "base/sampler.h"
#include "code/code.h"
#include "data/rows/dataset.h"
#include "learn/recipe/recipe.h"

struct family;

/* Rows of a chunk of such a batch when nobody says: a 32nd of it, so that many
 * workers can share it, 8 at least and 256 at most; a multiple of 8. */
uint32_t batches_default_chunk_rows(uint32_t batch);

/* Rows of a chunk that rows are cut into if batches are drawn from each chunk's
 * own: so many that a step has about as many rows of it as above. */
uint32_t batches_local_chunk_rows(const struct recipe *recipe,
                                  const struct family *family, uint32_t rows);

struct setup;

/* Codes that sample the rows of each worker draw batches from those, too. */
MUST_CHECK enum err batches_keep_local(const struct setup *setup,
                                       struct recipe *recipe, struct why *why);
/* --patience without --valid: the part of the rows to hold out. */
MUST_CHECK enum err batches_hold_out(struct recipe *recipe, struct why *why);
/* --batch-per-worker, by the number of workers wanted, as --batch.  ERR_SHAPE,
 * ERR_RANGE with a sentence. */
MUST_CHECK enum err batches_gather(struct recipe *recipe, uint32_t workers,
                                   struct why *why);
/* The number of workers that --batch-per-worker counted with, which multiplies
 * --lr; 1 without it. */
uint32_t batches_workers(const struct recipe *recipe);
/* Steps in which such a multiplied rate grows from 0 (Goyal et al., "Accurate,
 * Large Minibatch SGD", 2017): five passes, but a fifth of all steps at
 * most. */
uint32_t batches_warmup(const struct sampler *sampler, uint32_t steps);

/* Are steps to be counted by passes, or over batches? */
bool batches_wanted(const struct recipe *recipe);

/* Does --shuffle say that a chunk of a step has rows of any? */
bool batches_scattered(const struct recipe *recipe);

/* As --batch and --shuffle say; `sampler` is sampler_whole if all rows are in
 * every step.  ERR_SHAPE, ERR_TOOBIG with a sentence. */
MUST_CHECK enum err batches_choose(const struct recipe *recipe,
                                   const struct family *family,
                                   const struct dataset *data,
                                   struct sampler *sampler, struct why *why);

/* Of a family whose chunks have a size of their own: rows that are all in every
 * step in chunks of that size, and rows that batches are drawn from chunk by
 * chunk as batches_local_chunk_rows says. */
MUST_CHECK enum err batches_cut(const struct recipe *recipe,
                                const struct family *family,
                                struct dataset *data, struct why *why);

/* Does a number of passes, said or not, say when to end? */
bool batches_counted(const struct recipe *recipe, const struct family *family,
                     const struct sampler *sampler);
/* The steps of --passes, or of as many as are usual, in place of `steps`. Where
 * nobody says: the family's passes, or more if the work of one, in flops (0: it
 * does not count), leaves room for them: as many as BATCHES_WORK pays for, some
 * ten seconds of one core, BATCHES_PASSES_MOST at most (scikit-learn's
 * max_iter), and these always with --patience, which ends sooner; and as many
 * as the family's least number of steps takes. */
#define BATCHES_WORK        3e11
#define BATCHES_PASSES_MOST 200u
MUST_CHECK enum err batches_steps(const struct recipe *recipe,
                                  const struct family *family,
                                  const struct sampler *sampler,
                                  double pass_work, uint32_t *steps,
                                  struct why *why);

#endif /* LEARN_BATCHES_H */
