/*
 * lesson.h - one training of a fold: its rows, its run, its judgement.
 */
#ifndef LEARN_LESSON_H
#define LEARN_LESSON_H

#include "learn/folds.h"
#include "model/linear/bounds.h"
#include "node/fixed/alone.h"

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
    double *taught;             /* Weights of the rows in the training. */
    struct bounds bounds;       /* Of the rows with them. */
    struct alone_result result; /* Of the training. */
    time_us elsewhere_us; /* Another one was judged in the time of this, ... */
    time_us taught_us;    /* ... which is not in what this has taken. */
};

/* Train and judge; what it came to, its errors, too, is in the trial's fold. */
void lesson_run(struct lesson *lesson);

/* The same in two halves, of which the second may wait until another lesson is
 * taught: but not if it keeps rows of its own for that. */
void lesson_teach(struct lesson *lesson);
void lesson_judge(struct lesson *lesson);
bool lesson_waits(const struct lesson *lesson);

/* Of a series.  Was it over before?  Then it is in the trial's fold. */
bool lesson_recall(struct lesson *lesson);
/* It is over: so that it can be recalled. */
MUST_CHECK enum err lesson_note(const struct lesson *lesson, struct why *why);

#endif /* LEARN_LESSON_H */
