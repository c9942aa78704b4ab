/*
 * model_load.h - a model file by its name.
 */
#ifndef CLI_MODEL_LOAD_H
#define CLI_MODEL_LOAD_H

#include "base/err.h"
#include "model/file.h"

/* Any failure with a sentence that names the file. */
MUST_CHECK enum err model_load(const char *path, struct model_file *model,
                               struct why *why);

#endif /* CLI_MODEL_LOAD_H */
