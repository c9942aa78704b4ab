/*
 * setup.h - from settings to a checked training problem.
 *
 * Everything that can be refused is refused here, before a folder is made, a
 * port opened or a process started: names and numbers first, then the data,
 * then whether code, workers and data go together.
 */
#ifndef CLI_SETUP_H
#define CLI_SETUP_H

#include <stdbool.h>
#include <stdint.h>

#include "base/hash.h"
#include "cli/options.h"
#include "code/code.h"
#include "data/dataset.h"
#include "model/problem.h"
#include "node/chaos.h"
#include "optim/optim.h"
#include "plan/delay.h"

struct setup {
    /* Workers and code. */
    uint32_t slots; /* n of the code; 0 = this process alone. */
    uint32_t local; /* Workers forked here. */
    uint32_t workers_max;
    struct code_spec code;
    enum exactness exactness; /* What a step of that code can reach. */
    uint32_t threads;
    enum isa isa;
    struct delay delay;
    struct chaos chaos;
    /* Problem. */
    bool loaded;
    struct dataset data;
    bool has_test;
    struct dataset test;
    enum model_kind model;
    bool intercept;
    struct optim_options optim;
    struct digest config; /* Of everything that decides the bits. */
    /* Text of values worked out, that the settings point to. */
    char rate_text[32], l2_text[32], threads_text[16], chunk_text[16];
};

/* Workers, code, delay, chaos: no file is read. */
MUST_CHECK enum err setup_workers(struct setup *setup, struct options *options,
                                  struct why *why);
/* The data and what depends on it; after setup_workers. */
MUST_CHECK enum err setup_load(struct setup *setup, struct options *options,
                               struct why *why);
void setup_close(struct setup *setup);

struct problem setup_problem(const struct setup *setup);

/* cli/config_digest.c */
struct digest config_digest(const struct setup *setup);

/* Write the model as LIBLINEAR text, whole or not at all. */
MUST_CHECK enum err save_model(const struct setup *setup, const double *w,
                               const char *path, struct why *why);

#endif /* CLI_SETUP_H */
