/*
 * in_loop.c - how long a worker's loop may be kept by computing.
 */
#include "node/worker/in_loop.h"

static int64_t calm_us(const struct in_loop *loop, bool idle)
{
    return idle && loop->calm % CALM_PIECES >= CALM_LOOKS ? CALM_US : QUICK_US;
}

bool in_loop_fits(const struct in_loop *loop, const struct computation *piece,
                  int64_t most_us)
{
    const int64_t chunks = piece->end - piece->first;

    return loop->chunk_ns > 0 && piece->what.kind == loop->kind &&
           chunks <= most_us * 1000 / loop->chunk_ns && loop->kept_us < most_us;
}

bool in_loop_takes(struct in_loop *loop, const struct computation *piece,
                   bool idle)
{
    const int64_t most = calm_us(loop, idle);

    loop->calm++;
    return in_loop_fits(loop, piece, most);
}

void in_loop_note(struct in_loop *loop, const struct computation *piece,
                  enum err err, int64_t took_us)
{
    if (err != ERR_OK)
        return;
    loop->chunk_ns = 1 + took_us * 1000 / (piece->end - piece->first);
    loop->kind = piece->what.kind;
}

void in_loop_kept(struct in_loop *loop, int64_t took_us)
{
    loop->kept_us += took_us;
}

void in_loop_looked(struct in_loop *loop)
{
    loop->kept_us = 0;
}

void in_loop_cancelled(struct in_loop *loop)
{
    loop->calm = 0;
}
