/*
 * data.h - the parts of `muster data`.
 */
#ifndef CLI_DATA_H
#define CLI_DATA_H

#include "cli/cli.h"
#include "data/rows/dataset.h"

struct encoder;

/* cli/data_get.c: `muster data get WHAT`; returns the exit code. */
int data_get(struct cli *cli, const char *what);

/* cli/data_entropy.c: `muster data entropy WHAT`, of these rows; returns the
 * exit code. */
int data_entropy(struct cli *cli, const struct dataset *data,
                 const struct encoder *encoder);

#endif /* CLI_DATA_H */
