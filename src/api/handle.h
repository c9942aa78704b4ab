/*
 * handle.h - what is behind the opaque names of muster.h, and the manners that
 * all its functions share: sizes carried, one sentence, one status.
 */
#ifndef API_HANDLE_H
#define API_HANDLE_H

#include <fenv.h>
#include <stdbool.h>

#include "base/err.h"
#include "base/flag.h"
#include "base/hash.h"
#include "data/read/arrow.h"
#include "data/read/memory.h"
#include "learn/recipe/recipe.h"
#include "model/file.h"
#include "muster.h"

struct muster_recipe {
    struct recipe choices;
    struct flag stop; /* Raised by muster_stop, until stop_spent. */
    muster_watch watch;
    muster_log log;
    void *context; /* Of both. */
};

struct muster_data {
    char *path;              /* A file or generator; NULL: `rows`. */
    struct memory_rows rows; /* Label and weight point to the two below. */
    double *label, *weight;
    struct arrow_table table; /* Which `rows` may point to. */
};

struct json_t;

struct muster_model {
    struct model_file file; /* Of muster_train: its weights alone. */
    bool own;               /* Of muster_train. */
    uint64_t dims;
    uint64_t steps, evaluations;
    double objective, gradient_norm, seconds;
    bool converged;
    int signal; /* That stopped it; 0 = none. */
    char hash[DIGEST_TEXT];
    char ended[WHY_SIZE];
    char warning[WHY_SIZE];
    struct json_t *card; /* Of its training; NULL: not known. */
};

/* --- status.c --------------------------------------------------------------
 */

/* A structure of the caller's over a zeroed one of ours, `own` bytes.
 * ERR_UNKNOWN if it is larger, ERR_SHAPE if it is not there or smaller than
 * `least`. */
MUST_CHECK enum err struct_take(const void *given, size_t least, size_t own,
                                void *out, struct why *why);
/* The other way: as much of `made` as the caller has room for. */
MUST_CHECK enum err struct_give(void *given, size_t least, size_t own,
                                const void *made, struct why *why);
/* Up to and with `field`, which every caller has. */
#define STRUCT_LEAST(type, field)                                              \
    (offsetof(type, field) + sizeof((type){0}.field))

/* First in every function of muster.h with a status: rounding to nearest,
 * denormal numbers and no traps until it returns, whatever the host's thread
 * has (threads and processes made meanwhile inherit it).  Other modes would
 * change bits of models and of numbers in files. */
#define OUR_FLOATS                                                             \
    __attribute__((cleanup(floats_restore))) fenv_t host_floats = floats_own()
fenv_t floats_own(void);
void floats_restore(const fenv_t *host);

/* Keys are flags without their dashes, in sentences, too: `why`, of
 * MUSTER_WHY_SIZE, gets such a text. */
void status_keys(const char *text, char *why);
/* For a function of muster.h that ends with `err`: copies the sentence, or a
 * general one. */
enum muster_status status_end(enum err err, const struct why *sentence,
                              char *why);
/* The same where rows or files are read: what is wrong is the data's fault. */
enum muster_status status_of_data(enum err err, const struct why *sentence,
                                  char *why);

/* --- recipe.c --------------------------------------------------------------
 */

/* What the host listens with, if it does.  Does `watch` want more? */
bool callback_watch(const struct muster_recipe *recipe,
                    const struct muster_progress *progress);
void callback_log(const struct muster_recipe *recipe, const char *sentence);
/* A stop is for one training, which has ended, however.  Accepts NULL. */
void stop_spent(struct muster_recipe *recipe);

/* --- data.c ----------------------------------------------------------------
 */

/* ERR_SHAPE if muster.h has no such type. */
MUST_CHECK enum err type_cell(enum muster_type type, enum cell *cell,
                              struct why *why);

/* ERR_SHAPE if it is empty or of no type of ours. */
MUST_CHECK enum err matrix_take(const struct muster_matrix *given,
                                struct memory_rows *rows, struct why *why);

/* --- model.c ---------------------------------------------------------------
 */

/* Hash of the weights as the model file has them: of models that were read. */
void model_name(struct muster_model *model);

#endif /* API_HANDLE_H */
