/*
 * farewell.c - draining of links at the end of a driver, with a limit on its
 * patience.
 */
#include "node/host/farewell.h"

#include "os/clock.h"
#include "os/net/link.h"
#include "os/run/loop.h"

#define LOOK_US MS_US /* The next run of a series waits for it. */

static bool all_said(const struct farewell *farewell)
{
    return link_hub_open(farewell->hub) == 0 &&
           (farewell->outlet == NULL || outlet_queued(farewell->outlet) == 0);
}

static void look(void *context)
{
    struct farewell *farewell = context;
    const time_us now = clock_now_us();
    const bool late = now >= farewell->until;

    if ((late || all_said(farewell)) &&
        (farewell->busy == NULL || !farewell->busy(farewell->context, late)))
        loop_stop(farewell->loop);
    else
        timer_at(farewell->look, now + LOOK_US);
}

enum err farewell_open(struct farewell *farewell, struct loop *loop)
{
    *farewell = (struct farewell){.loop = loop};
    return timer_new(loop, look, farewell, &farewell->look);
}

void farewell_close(struct farewell *farewell)
{
    timer_free(farewell->look);
}

void farewell_begin(struct farewell *farewell, const struct link_hub *hub,
                    const struct outlet *outlet, time_us patience)
{
    const time_us now = clock_now_us();

    farewell->hub = hub;
    farewell->outlet = outlet;
    farewell->until = now + patience;
    timer_at(farewell->look, now);
}

void farewell_await(struct farewell *farewell, farewell_busy busy,
                    void *context)
{
    farewell->busy = busy;
    farewell->context = context;
}

bool farewell_begun(const struct farewell *farewell)
{
    return farewell->until != 0;
}
