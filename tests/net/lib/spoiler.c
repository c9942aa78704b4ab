/*
 * spoiler.c FOLDER NAME - a worker like `muster join`, but what its peers get
 * from it is wrong by one bit.  Its own answers are right.
 */
#include <stdio.h>

#include "base/time.h"
#include "node/host/ways.h"
#include "node/worker/worker_node.h"

int main(int argc, char **argv)
{
    struct ways ways;
    struct join_options join = {.ways = &ways,
                                .threads = 1,
                                .give_up_us = 20 * SECOND_US,
                                .supply = {.spoils = true}};
    struct why why = {0};

    if (argc != 3)
        return 2;
    join.name = argv[2];
    if (ways_open(argv[1], NULL, false, &ways, &why) == ERR_OK &&
        join_run(&join, &why) == ERR_OK)
        return 0;
    (void)fprintf(stderr, "%s\n", why.text);
    return 1;
}
