/*
 * ranks.c - every rank reads the rows itself, and one has the folder: so rows
 * and options are compared, and the state is sent.
 */
#include "node/fixed/ranks.h"

#include <string.h>

#include "base/mem.h"

/* One rank with another file would spoil the sums of all without a word. */
static enum err compare(const struct collective *ranks,
                        const struct digest *own, struct why *why)
{
    struct digest first = *own;
    enum err err = collective_share(ranks, &first, sizeof first);

    if (err == ERR_OK && !digest_equal(own, &first))
        err = why_set(why, ERR_MISMATCH,
                      "rows or options are not those of rank 0; every rank "
                      "reads the data by itself, so the files must be the same "
                      "on all machines, and the release of muster, too");
    return collective_agree(ranks, err, why);
}

static enum err send_state(const struct collective *ranks,
                           struct alone_hooks *hooks, uint8_t **state,
                           struct why *why)
{
    uint64_t size = hooks->state != NULL ? hooks->state_size : 0;
    enum err err = collective_share(ranks, &size, sizeof size);

    if (err != ERR_OK || size == 0)
        return err;
    *state = mem_new(size, 1);
    if (*state == NULL)
        err = why_set(why, ERR_NOMEM, "not enough memory to train");
    else if (hooks->state != NULL)
        memcpy(*state, hooks->state, size);
    err = collective_agree(ranks, err, why);
    if (err == ERR_OK)
        err = collective_share(ranks, *state, size);
    if (err == ERR_OK) {
        hooks->state = *state;
        hooks->state_size = size;
    }
    return err;
}

enum err ranks_begin(const struct collective *ranks,
                     const struct digest *config, enum err err,
                     struct alone_hooks *hooks, uint8_t **state,
                     struct why *why)
{
    hooks->ranks = ranks;
    err = collective_agree(ranks, err, why);
    if (err == ERR_OK)
        err = compare(ranks, config, why);
    if (err == ERR_OK)
        err = send_state(ranks, hooks, state, why);
    if (err == ERR_CLOSED)
        (void)why_set(why, err, "another rank is gone");
    return err;
}
