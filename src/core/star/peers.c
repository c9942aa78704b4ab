/*
 * peers.c - which worker gives chunks to which, instead of the coordinator.
 *
 *     member says SERVING --> holds chunks --> is named in FETCH to others
 *                                                      |
 *          never again for this one <-- NEED, `peer` <--' it did not give them
 *
 * Of each chunk a few who have it, or are about to, are remembered; the one who
 * was asked for least so far is named.  Who was told to fetch a chunk has it
 * next, so that copies spread from worker to worker like water down a slope and
 * the coordinator sends about one of each.
 *
 *   PEER-1  A FETCH names only a member that is here, serves, is not suspect
 *           and was given the chunk; both it and who fetches are direct.
 *   PEER-2  A chunk that a worker asks for (NEED) is sent from here: no failure
 *           of a peer is answered with a peer.
 *   PEER-3  A pair that failed once is not used again; a source that failed two
 *           fetchers, or sent one of them wrong bytes, is not named any more; a
 *           worker that four sources failed does not fetch any more.
 *
 * What workers say of each other here costs at most time: bytes are believed
 * by their digest alone.
 */
#include <string.h>

#include "base/bugs.h"
#include "base/check.h"
#include "base/mem.h"
#include "core/star/coordinator_parts.h"

#define FAULTS_MAX   2u /* Fetchers that a source may fail. */
#define FAILURES_MAX 4u /* Sources that may fail a fetcher. */

bool peers_on(const struct coordinator *c)
{
    return c->holders != NULL;
}

enum err peers_room(struct coordinator *c)
{
    const struct coordinator_options *options = &c->options;

    if (!options->peers || !options->job.keyed || options->job.products ||
        options->place != NULL || options->own_data != NULL || homes_on(c))
        return ERR_OK;
    c->holders = mem_new((size_t)job_shards(&options->job) * PEER_HOLDERS,
                         sizeof *c->holders);
    return c->holders == NULL ? ERR_NOMEM : ERR_OK;
}

void peers_close(struct coordinator *c)
{
    mem_free(c->holders);
}

void peers_invite(struct coordinator *c, uint32_t link, struct actions *actions)
{
    struct member *member = &c->members[link];

    /* A worker of that name could not be told from the key's owner. */
    if (!peers_on(c) || member->resident || member->via > 0 ||
        member->peer.alone || strcmp(member->name, "cluster") == 0)
        return;
    member->peer.invited = member->peer.id == 0;
    (void)coordinator_send(c, actions, link, MSG_SERVE);
}

/* --- who has what -------------------------------------------------------- */

/* The member that the entry speaks of; NULL: it is gone. */
static struct member *holder_member(const struct coordinator *c,
                                    const struct holder *holder)
{
    struct member *member;

    if (holder->id == 0)
        return NULL;
    member = &c->members[holder->link];
    return member_here(c, holder->link) && member->peer.id == holder->id
               ? member
               : NULL;
}

static bool serves(const struct member *member)
{
    return member->peer.id != 0 && member->peer.port != 0 && !member->peer.mute;
}

/* In place of one that is gone, or of the one that was asked most. */
static void note(struct coordinator *c, uint32_t link, uint32_t chunk)
{
    struct holder *const list = &c->holders[(size_t)chunk * PEER_HOLDERS];
    const struct peering *peer = &c->members[link].peer;
    struct holder *worst = NULL;
    uint64_t most = peer->asked;

    for (uint32_t i = 0; i < PEER_HOLDERS; i++) {
        const struct member *member = holder_member(c, &list[i]);
        const bool gone = member == NULL || !serves(member) ||
                          !chunkset_has(&member->held, chunk);

        if (!gone && list[i].link == link)
            return;
        if (gone && most < UINT64_MAX) {
            worst = &list[i];
            most = UINT64_MAX;
        } else if (!gone && member->peer.asked > most) {
            worst = &list[i];
            most = member->peer.asked;
        }
    }
    if (worst != NULL)
        *worst = (struct holder){.link = link, .id = peer->id};
}

void peers_note(struct coordinator *c, uint32_t link, uint32_t first,
                uint32_t end)
{
    if (!peers_on(c) || !serves(&c->members[link]))
        return;
    for (uint32_t chunk = first; chunk < end; chunk++) {
        if (chunkset_has(&c->members[link].held, chunk))
            note(c, link, chunk);
    }
}

void peers_serving(struct coordinator *c, uint32_t link,
                   const struct msg_serving *msg, struct actions *actions)
{
    struct member *member = &c->members[link];

    member->peer.invited = false;
    if (!peers_on(c) || member->resident || member->via > 0 ||
        member->peer.alone)
        return;
    if (member->peer.id == 0)
        member->peer.id = ++c->peer_ids;
    member->peer.port = msg->port;
    member->peer.local = msg->local;
    peers_note(c, link, 0, job_shards(&c->options.job));
    if (c->phase == COORDINATOR_GATHERING)
        view_gather(c, actions); /* It may have waited for this. */
}

/* --- pairs --------------------------------------------------------------- */

static struct peer_pair *pair_of(struct peering *fetcher, uint32_t id)
{
    for (uint32_t i = 0; i < fetcher->source_count; i++) {
        if (fetcher->sources[i].id == id)
            return &fetcher->sources[i];
    }
    return NULL;
}

/* May `link` be sent to that source for the chunk? */
static bool suits(const struct coordinator *c, uint32_t link,
                  const struct holder *holder, uint32_t chunk)
{
    struct peering *fetcher = &c->members[link].peer;
    const struct member *source = holder_member(c, holder);
    const struct peer_pair *pair;

    if (source == NULL || holder->link == link || !serves(source) ||
        source->suspect || !chunkset_has(&source->held, chunk) ||
        (source->peer.local && !fetcher->local))
        return false;
    pair = pair_of(fetcher, source->peer.id);
    if (pair != NULL)
        return !pair->failed || BUG(BUG_PEER_AGAIN);
    return fetcher->source_count < PEER_SOURCES &&
           source->peer.fetchers < PEER_FETCHERS;
}

/* The link of whoever is best asked for the chunk. */
static uint32_t best_source(const struct coordinator *c, uint32_t link,
                            uint32_t chunk)
{
    const struct holder *list = &c->holders[(size_t)chunk * PEER_HOLDERS];
    uint32_t best = LINK_NONE;

    for (uint32_t i = 0; i < PEER_HOLDERS; i++) {
        if (suits(c, link, &list[i], chunk) &&
            (best == LINK_NONE ||
             c->members[list[i].link].peer.asked < c->members[best].peer.asked))
            best = list[i].link;
    }
    return best;
}

static bool fetches(const struct coordinator *c, uint32_t link)
{
    const struct member *member = &c->members[link];

    return peers_on(c) && member->peer.id != 0 && member->via == 0 &&
           member->peer.failures < FAILURES_MAX;
}

uint32_t peers_source(struct coordinator *c, uint32_t link, uint32_t first,
                      uint32_t *end)
{
    struct peering *fetcher = &c->members[link].peer;
    uint32_t source;
    uint32_t stop = first + 1;

    if (!fetches(c, link))
        return LINK_NONE;
    source = best_source(c, link, first);
    while (stop < *end && best_source(c, link, stop) == source)
        stop++;
    *end = stop;
    if (source == LINK_NONE)
        return LINK_NONE;
    if (pair_of(fetcher, c->members[source].peer.id) == NULL) {
        CHECK(fetcher->source_count < PEER_SOURCES);
        fetcher->sources[fetcher->source_count++] =
            (struct peer_pair){.id = c->members[source].peer.id};
        c->members[source].peer.fetchers++;
    }
    c->members[source].peer.asked += stop - first;
    return source;
}

/* --- failures ------------------------------------------------------------ */

static uint32_t link_of(const struct coordinator *c, uint32_t id)
{
    for (uint32_t i = 0; i < c->alive; i++) {
        if (c->members[c->present[i]].peer.id == id)
            return c->present[i];
    }
    return LINK_NONE;
}

static void tell(struct coordinator *c, uint32_t source, uint32_t link,
                 const struct msg_need *msg, struct actions *actions)
{
    struct trace *trace = coordinator_trace(c, actions, TRACE_PEER, source);

    trace->a = msg->first;
    trace->b = msg->wrong;
    memcpy(trace->fetcher, c->members[link].name, NAME_SIZE);
}

void peers_failed(struct coordinator *c, uint32_t link,
                  const struct msg_need *msg, struct actions *actions)
{
    struct peering *fetcher = &c->members[link].peer;
    struct peer_pair *pair = pair_of(fetcher, msg->peer);
    uint32_t source;
    struct peering *peer;

    if (pair == NULL)
        return; /* It was never sent there, or that one is gone. */
    c->stats.peer_failed += msg->end - msg->first;
    if (pair->failed)
        return;
    pair->failed = true;
    fetcher->failures++;
    c->stats.peer_wrong += msg->wrong;
    source = link_of(c, msg->peer);
    if (source == LINK_NONE)
        return;
    peer = &c->members[source].peer;
    peer->faults++;
    peer->mute = peer->mute || msg->wrong || peer->faults >= FAULTS_MAX;
    tell(c, source, link, msg, actions);
}

/* Its pairs end with it; that it failed somebody is explained. */
static void forget_source(struct peering *fetcher, uint32_t id)
{
    struct peer_pair *pair = pair_of(fetcher, id);

    if (pair == NULL)
        return;
    fetcher->failures -= pair->failed;
    *pair = fetcher->sources[--fetcher->source_count];
}

void peers_gone(struct coordinator *c, uint32_t link)
{
    struct peering *gone = &c->members[link].peer;

    if (!peers_on(c) || gone->id == 0)
        return;
    for (uint32_t i = 0; i < c->alive; i++) {
        struct peering *other = &c->members[c->present[i]].peer;

        forget_source(other, gone->id);
        if (pair_of(gone, other->id) != NULL)
            other->fetchers--;
    }
    *gone = (struct peering){0};
}
