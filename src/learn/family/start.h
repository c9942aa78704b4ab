/*
 * start.h - weights that a training begins with: 0, drawn, or those of a saved
 * model (--init), by whose columns, scaling and labels rows are read then.
 */
#ifndef LEARN_START_H
#define LEARN_START_H

#include "data/source.h"
#include "learn/setup.h"

/* Read the file of --init, if there is one, to setup->init; its encoder is the
 * setup's from then on, and what the recipe does not say of net and model is
 * the file's. */
MUST_CHECK enum err start_open(struct setup *setup, struct recipe *recipe,
                               struct why *why);
/* What the saved model decides of reading the training rows. */
void start_read(const struct setup *setup, struct source_options *source);
/* The rows are there, and which model was asked for: are they those of the
 * saved one?  ERR_MISMATCH, with a sentence. */
MUST_CHECK enum err start_check(struct setup *setup,
                                const struct recipe *recipe, struct why *why);

/* setup->start of a linear model: that of the file; NULL without one. */
MUST_CHECK enum err start_linear(struct setup *setup,
                                 const struct recipe *recipe, struct why *why);
/* setup->start of setup->net: that of the file, else drawn by --seed.
 * ERR_MISMATCH, with a sentence: the file's network is another one. */
MUST_CHECK enum err start_net(struct setup *setup, const struct recipe *recipe,
                              struct why *why);
void start_close(struct setup *setup);

#endif /* LEARN_START_H */
