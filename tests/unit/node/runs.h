/*
 * runs.h - small real runs for the tests of node: data, options, folder.
 */
#ifndef NODE_RUNS_H
#define NODE_RUNS_H

#include "node/fixed/alone.h"
#include "node/run/train.h"

struct runs {
    struct dataset data;
    struct train_options options;
    struct alone_result perfect; /* What one machine computes. */
    char out[256];               /* A folder of this test. */
};

/* `steps` of 4 workers on generated rows, code `steal` with one straggler. */
void runs_open(struct runs *runs, uint32_t steps);
/* Removes the folder and checks that no child is left. */
void runs_close(struct runs *runs);

void runs_chaos(struct runs *runs, const char *text);
void runs_code(struct runs *runs, const char *name, uint32_t stragglers);
/* Run, expect success, and compare with the perfect machine. */
void runs_expect_same(struct runs *runs, struct train_result *result);

#endif /* NODE_RUNS_H */
