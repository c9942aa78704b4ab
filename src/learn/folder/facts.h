/*
 * facts.h - what a run was of, in a few lines of its folder: rows, columns, the
 * data's digest, model and optimiser.  The journal has one digest of all that
 * decides the bits (config_digest.c), which tells that something differs and
 * not what.
 */
#ifndef LEARN_FOLDER_FACTS_H
#define LEARN_FOLDER_FACTS_H

#include "learn/setup.h"
#include "node/host/format.h"

/* For a new run; a folder that has one, or cannot be written, is left alone: it
 * only helps to explain. */
void facts_write(const struct setup *setup, const char *folder);

/* Where `why` says that the run in `folder` has another config, say what
 * differs, if that is known. */
void facts_explain(const struct setup *setup, const char *folder,
                   struct why *why);

#endif /* LEARN_FOLDER_FACTS_H */
