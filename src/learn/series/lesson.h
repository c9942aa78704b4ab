/*
 * lesson.h - one training of a fold: its rows, its run, its judgement.
 */
#ifndef LEARN_LESSON_H
#define LEARN_LESSON_H

#include "learn/folds.h"

struct lesson {
    const struct setup *setup;
    const struct folds *folds;
    struct trial *trial;
    uint32_t index; /* Of the trial. */
    uint32_t fold;
    const struct flag *stop;
    struct series *series; /* Workers do it; NULL: this thread. */
    bool last;             /* ... and it is the last that they do. */
    /* Not the caller's business. */
    const struct dataset *data; /* All rows, as this training has them: ... */
    struct dataset own;         /* ... here, if it has an encoder of its own. */
    struct setup part;          /* What is taught. */
    /* Weights of the rows: in the training, in the judgement. */
    double *taught, *tested;
};

/* Train and judge; what it came to, its errors, too, is in the trial's fold. */
void lesson_run(struct lesson *lesson);

/* Of a series.  Was it over before?  Then it is in the trial's fold. */
bool lesson_recall(struct lesson *lesson);
/* It is over: so that it can be recalled. */
MUST_CHECK enum err lesson_note(const struct lesson *lesson, struct why *why);

#endif /* LEARN_LESSON_H */
