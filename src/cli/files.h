/*
 * files.h - which options name files, and what may be written over.
 */
#ifndef CLI_FILES_H
#define CLI_FILES_H

#include "cli/options/options.h"

/* Before any work: nothing that is read is written over, no two results go to
 * one file, a model takes no other file's place but with --force, and a plot, a
 * report or a trace no model's.  If a result is to go to standard output,
 * everything else that is printed goes to standard error from here on.
 * ERR_SHAPE with a sentence. */
MUST_CHECK enum err files_check(const struct options *options, struct why *why);

#endif /* CLI_FILES_H */
