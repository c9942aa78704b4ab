/*
 * format.h - the number of a run folder's format.
 *
 * It counts up whenever a folder that an earlier version wrote could not be
 * gone on with: another journal, checkpoint, optimiser state or digest of the
 * options.  Nothing is converted; who has such a folder is told which version
 * reads it (the table in format.c).
 */
#ifndef NODE_FORMAT_H
#define NODE_FORMAT_H

#include "base/err.h"

#define FORMAT_FILE "format"

/* ERR_UNSUPPORTED with a sentence if the run in `folder` is of another format;
 * ERR_DENIED, ERR_FORMAT if its number cannot be read.  ERR_OK if it holds no
 * run at all, which is for the caller to say. */
MUST_CHECK enum err format_check(const char *folder, struct why *why);
/* For a new run. */
MUST_CHECK enum err format_write(const char *folder, struct why *why);
void format_remove(const char *folder);

#endif /* NODE_FORMAT_H */
