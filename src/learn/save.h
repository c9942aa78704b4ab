/*
 * save.h - models and their files.
 */
#ifndef LEARN_SAVE_H
#define LEARN_SAVE_H

#include <stdbool.h>
#include <stddef.h>

#include "model/file.h"
#include "os/file/file.h"

struct setup;

/* The model of these weights, which lie as the training rows' columns do; the
 * setup's encoder goes with it.  ERR_NOMEM. */
MUST_CHECK enum err save_take(struct setup *setup, const double *w,
                              struct model_file *model);
/* What its file holds, from mem_new.  ERR_NOMEM; ERR_RANGE: a weight is not
 * finite. */
MUST_CHECK enum err save_encode(const struct setup *setup, const double *w,
                                char **text, size_t *size);
/* Does the file hold the model of these weights, byte for byte? */
bool saved_model_is(const struct setup *setup, const double *w,
                    const char *path);
/* Write the model as LIBLINEAR text, whole or not at all; and the sum of what
 * was written, as sha256sum says it. */
MUST_CHECK enum err save_model(const struct setup *setup, const double *w,
                               const char *path, struct digest *sum,
                               struct why *why);
/* Where that failed: into a new file of mode 0600 under TMPDIR or /tmp, whose
 * name it says; false if there is no room either. */
bool save_aside(const struct setup *setup, const double *w,
                char path[FILE_PATH_SIZE]);
/* The ending that promises another form than LIBLINEAR's text, data's most
 * often: a model of that name would be taken for it; else NULL. */
const char *save_other_form(const char *path);
/* ERR_SHAPE if the name promises what the model, a network or a linear one, is
 * not saved as; the hint comes before what converts. */
MUST_CHECK enum err save_check_name(const char *path, bool network,
                                    const char *hint, struct why *why);
/* Is it a file that begins as networks do?  NULL is none. */
bool model_is_network(const char *path);
/* Read one.  Any failure with a sentence that names the file. */
MUST_CHECK enum err model_load(const char *path, struct model_file *model,
                               struct why *why);
/* A file that can be read as one, to its end? */
bool save_is_model(const char *path);
/* A file with something in it that cannot be read as a model, to its end: a
 * model takes the place of a model, or of nothing. */
bool save_destroys(const char *path);

#endif /* LEARN_SAVE_H */
