/*
 * many.c - progress and Ctrl-C of folds and grids.
 */
#include "cli/many.h"

#include <stdio.h>

#include "os/clock.h"
#include "os/run/interrupt.h"

/* Quick ones are over before a line could be read.  One call a line: other
 * threads speak too. */
static void done(void *context, const struct trial *trial, uint32_t fold)
{
    const struct many *many = context;

    if (many->cli->quiet || clock_now_us() - many->began <= SECOND_US)
        return;
    (void)fprintf(stderr, "%s%sfold %u/%u: %u steps, %.1f s\n", trial->text,
                  trial->text[0] == '\0' ? "" : ", ", fold + 1, trial->folds,
                  trial->fold[fold].steps, trial->fold[fold].seconds);
}

struct trial_hooks many_begin(struct many *many, const struct cli *cli)
{
    *many = (struct many){.cli = cli, .began = clock_now_us()};
    interrupt_begin(&many->stop);
    return (struct trial_hooks){
        .context = many, .done = done, .stop = &many->stop};
}

void many_end(struct many *many)
{
    interrupt_end();
    many->seconds = (double)(clock_now_us() - many->began) / (double)SECOND_US;
}
