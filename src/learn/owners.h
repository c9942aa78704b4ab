/*
 * owners.h - `muster train --owners N`: rows that stay with their
 * owners.
 *
 * Instead of reading a file, setup_load waits until N owners have offered one
 * (node/owners/roll.h), goes on with what they say of their rows, and lets them
 * join once everything else is checked.  A run that is resumed knows them
 * already.
 */
#ifndef LEARN_OWNERS_H
#define LEARN_OWNERS_H

#include "learn/recipe/recipe.h"
#include "learn/setup.h"

bool owners_wanted(const struct recipe *recipe);
/* How many files, 1 to HOMES_MAX. */
uint32_t owners_files(const struct recipe *recipe);
/* What does not go with them is refused.  After the code is chosen, which
 * becomes one of homes. */
MUST_CHECK enum err owners_choose(struct setup *setup, struct recipe *recipe,
                                  struct why *why);
/* What batches there are, each owner's rows are drawn from by themselves. */
MUST_CHECK enum err owners_shuffle(struct recipe *recipe, struct why *why);
/* Before the data set there is: who has rows.  setup->data is hollow. */
MUST_CHECK enum err owners_gather(struct setup *setup,
                                  const struct recipe *recipe, struct why *why);
/* The model is known. */
void owners_model(struct setup *setup);
/* All is checked (err) or not: how large the rows are, then let the owners
 * join, or send them home with the sentence.  Returns err, or what is wrong
 * now. */
MUST_CHECK enum err owners_settle(struct setup *setup, enum err err,
                                  struct why *why);
void owners_close(struct setup *setup);

#endif /* LEARN_OWNERS_H */
