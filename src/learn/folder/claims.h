/*
 * claims.h - all names that a run's files may have in its folder.
 *
 * Each owner exports the list of its own (core/run/names.h).  One that is new
 * is named in claims.c, or, above this layer, in what its caller passes on.
 */
#ifndef LEARN_FOLDER_CLAIMS_H
#define LEARN_FOLDER_CLAIMS_H

#include "base/err.h"
#include "core/run/names.h"

/* May a new run begin in `folder`?  As format_free, of all owners up to this
 * layer and those of `more`, which NULL ends; NULL: none. */
MUST_CHECK enum err claims_free(const char *folder,
                                const struct names *const *more,
                                struct why *why);

#endif /* LEARN_FOLDER_CLAIMS_H */
