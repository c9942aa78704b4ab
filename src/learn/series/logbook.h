/*
 * logbook.h - the trainings of a series that are over, on disk.
 *
 *     series           what is trained, then a line for each training
 *     scores-T-F       what fold F of trial T said of the rows it was judged by
 *
 * A line is written when its scores are durable, and is durable itself before
 * the next training ends: whatever is killed, no training that is over is made
 * again, and its figures are computed from the same scores.  Each line
 * has a check of its own; a torn one, or one whose scores are damaged, is a
 * training that is not over.
 */
#ifndef LEARN_SERIES_LOGBOOK_H
#define LEARN_SERIES_LOGBOOK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/hash.h"
#include "core/run/names.h"
#include "optim/optim.h"

/* What one training came to. */
struct entry {
    uint32_t trial, fold;
    uint32_t steps;
    bool diverged;
    enum optim_end end;
    double objective, seconds;
    struct digest hash;   /* Of the model. */
    struct digest scores; /* Of the scores; filled in by logbook_add. */
    struct why why;       /* It diverged, or learnt nothing: what is said. */
};

struct logbook;

/* Its files in the folder. */
extern const struct names logbook_names;

/* In a folder that this process holds.  `plan` names all that is trained: a
 * logbook of another plan is ERR_MISMATCH, a damaged one ERR_FORMAT. */
MUST_CHECK enum err logbook_open(const char *folder, const struct digest *plan,
                                 struct logbook **book, struct why *why);
void logbook_close(struct logbook *book); /* Accepts NULL. */

/* Would a run find a logbook there that it could go on with, of whatever plan?
 * Nothing is written.  ERR_FORMAT, ERR_DENIED, ERR_NOTFOUND, ERR_IO. */
MUST_CHECK enum err logbook_check(const char *folder, struct why *why);

/* How many trainings are over. */
uint32_t logbook_count(const struct logbook *book);
/* NULL: it is not over. */
const struct entry *logbook_find(const struct logbook *book, uint32_t trial,
                                 uint32_t fold);
/* The `count` scores of an entry.  ERR_NOTFOUND: they are lost, and so is the
 * entry.  ERR_NOMEM. */
MUST_CHECK enum err logbook_scores(struct logbook *book, uint32_t trial,
                                   uint32_t fold, double *scores, size_t count);
/* Durably. */
MUST_CHECK enum err logbook_add(struct logbook *book, const struct entry *entry,
                                const double *scores, size_t count,
                                struct why *why);

#endif /* LEARN_SERIES_LOGBOOK_H */
