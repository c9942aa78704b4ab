/*
 * owners.h - `muster train --owners N`: rows that stay with their
 * owners.
 *
 * In a ring every peer is an owner.  One of them, who has no --peers, calls the
 * roll, and enrols in it itself; the others enrol there or, once the ring runs,
 * with any peer, and are told what the first knows.  A run that is resumed has
 * it in its folder.
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
/* Have those who are to come, and this one, all that they need? */
MUST_CHECK enum err owners_check(const struct recipe *recipe, struct why *why);
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
/* The model is known: in a ring it must be that of the others. */
MUST_CHECK enum err owners_model(struct setup *setup, struct why *why);
/* All is checked (err) or not: how large the rows are, then let the owners
 * join, or send them home with the sentence.  Returns err, or what is wrong
 * now. */
MUST_CHECK enum err owners_settle(struct setup *setup, enum err err,
                                  struct why *why);
void owners_close(struct setup *setup);

#endif /* LEARN_OWNERS_H */
