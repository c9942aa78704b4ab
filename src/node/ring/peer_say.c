/*
 * peer_say.c - the sentences of a ring's peer.
 */
#include "node/ring/peer_say.h"

#include "os/log.h"
#include "os/net/net.h"

static void log_trust(const struct trace *trace)
{
    if (trace->kind == TRACE_BANNED)
        log_line("step %u: %s is shut out: it sent what cannot be",
                 trace->key.step, trace->name);
    else if (trace->kind == TRACE_POISON)
        log_line("step %u: %s had another model than the others; it was wrong",
                 trace->key.step, trace->name);
}

/* A step that waits for somebody should say for whom. */
static void log_owner(const struct trace *trace)
{
    const unsigned long long first = trace->a;
    const unsigned long long last = trace->a + trace->b - 1;

    if (trace->kind == TRACE_AWAY)
        log_line("step %u: the owner of rows %llu to %llu (%s) is away; the "
                 "step waits for it, %.0f s at most",
                 trace->key.step, first, last,
                 trace->name[0] != '\0' ? trace->name : "not seen yet",
                 trace->value);
    else if (trace->kind == TRACE_HOME)
        log_line("step %u: the owner of rows %llu to %llu (%s) is back",
                 trace->key.step, first, last, trace->name);
}

void peer_say_trace(const struct trace *trace)
{
    log_trust(trace);
    log_owner(trace);
}

/* It goes on without them, as whoever comes first has to: so a mistake in an
 * address would show in nothing but its being alone. */
void peer_say_unreached(const struct peer *peer,
                        const struct peer_node_options *options)
{
    char text[NET_TEXT_SIZE];

    if (!options->far || peer->reached || peer->seat_count > options->peers)
        return;
    log_line("--peers %s%s: nobody of this ring has answered so far",
             net_text(&options->contacts[0], text),
             options->contact_count > 1 ? " and the others" : "");
}
