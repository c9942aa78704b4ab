/*
 * unfinished.h - a network whose loss was still falling when its steps were
 * over, and what is said of it: to go on, or, if rows held out gained no more,
 * that it learns by heart.
 */
#ifndef LEARN_UNFINISHED_H
#define LEARN_UNFINISHED_H

#include "learn/setup.h"
#include "node/run/train.h"

/* Of a run that made all its steps: would as many again still make the loss
 * markedly less, on the rows it was trained on, and did rows held out, if they
 * were measured, gain up to its last quarter? */
bool unfinished(const struct setup *setup, const struct train_result *result);

/* Which of the two, and what to do, in `text`; NULL: neither, or a grid has
 * seen how rows held out fared with more and with fewer. */
#define UNFINISHED_TEXT 256u
const char *unfinished_sentence(const struct setup *setup,
                                const struct train_result *result,
                                char text[UNFINISHED_TEXT]);

#endif /* LEARN_UNFINISHED_H */
