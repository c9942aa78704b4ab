/*
 * campaign.h - `muster simulate --faults`.
 */
#ifndef CLI_CAMPAIGN_H
#define CLI_CAMPAIGN_H

#include "cli/cli.h"

/* Exit code 1 if a promise was broken. */
int campaign_command(struct cli *cli);

#endif /* CLI_CAMPAIGN_H */
