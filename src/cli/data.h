/*
 * data.h - the parts of `muster data`.
 */
#ifndef CLI_DATA_H
#define CLI_DATA_H

#include "cli/cli.h"

/* cli/data_get.c: `muster data get WHAT`; returns the exit code. */
int data_get(struct cli *cli, const char *what);

#endif /* CLI_DATA_H */
