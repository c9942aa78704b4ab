/*
 * format.h - a run folder: held by one run, and the number of its format.
 *
 * It counts up whenever a folder that an earlier version wrote could not be
 * gone on with: another journal, checkpoint, optimiser state or digest of the
 * options.  Whoever changes what trainer_save writes (core/run/trainer.h) adds
 * a row to the table in format.c and raises the version.  Nothing is converted;
 * who has such a folder is told which version reads it.
 */
#ifndef NODE_FORMAT_H
#define NODE_FORMAT_H

#include <stdbool.h>

#include "base/err.h"
#include "core/run/names.h"

#define FORMAT_FILE "format"
#define SERIES_FILE "series" /* Of many trainings: learn/series/logbook.h. */

#define CONFIG_FILE "config" /* What `muster train` was asked for. */
#define FACTS_FILE  "facts"  /* What the run is of: learn/folder/facts.h. */

/* But for SERIES_FILE, which is the logbook's. */
extern const struct names format_names;
extern const struct names config_names; /* The command line's. */

/* Is there a run in it, or a series, to go on with? */
bool format_holds_run(const char *folder);

/* ERR_UNSUPPORTED with a sentence if the run in `folder` is of another format;
 * ERR_DENIED, ERR_FORMAT if its number cannot be read.  ERR_OK if it holds no
 * run at all, which is for the caller to say. */
MUST_CHECK enum err format_check(const char *folder, struct why *why);
/* May files be put into a folder of that name, there or not?  ERR_SHAPE with a
 * sentence that begins with `option`: not into one of the system's, nor where a
 * path goes back from what is not there. */
MUST_CHECK enum err format_vet_place(const char *option, const char *folder,
                                     struct why *why);
/* May a new run begin in it?  As above; ERR_EXISTS, with a sentence, if
 * somebody else's files there have names of one of the owners, which NULL ends:
 * such a file a run or a search would write over or remove.  A folder that has
 * a format's number is ours, whatever became of the run; a lock without a word
 * in it is nobody's loss, nor is a key.  All owners are in
 * learn/folder/claims.h. */
MUST_CHECK enum err format_free(const char *folder,
                                const struct names *const *owners,
                                struct why *why);
/* For a new run. */
MUST_CHECK enum err format_write(const char *folder, struct why *why);
void format_remove(const char *folder);

/* Make the folder if need be and hold it against other runs, until file_unlock
 * or format_leave.  ERR_EXISTS if another process does.  Nothing else is
 * written there. */
MUST_CHECK enum err format_take(const char *out, int *lock, struct why *why);
/* It was taken for nothing: no lock is left where no run is. */
void format_leave(const char *out, int lock);
/* Take the folder, or what `held` holds (NULL, or -1 there and behind:
 * nothing), and begin.  ERR_EXISTS, unless `resume`, if there is a run in it;
 * ERR_NOTFOUND if there is none to resume. */
MUST_CHECK enum err format_lock(const char *out, bool resume, int *held,
                                int *lock, struct why *why);

#endif /* NODE_FORMAT_H */
