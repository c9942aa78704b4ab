/*
 * peer_why.c - a peer's seats as node/host/suspects.h looks at them.
 */
#include "node/ring/peer_why.h"

#include "base/mem.h"
#include "node/host/suspects.h"
#include "node/ring/peer_status.h"

#define SILENT_BEATS 6 /* Fewer are lost on a busy machine. */

static time_us silence(const struct peer *peer, uint32_t seat, time_us now)
{
    return seat == 0 ? 0 : now - peer->seats[seat].heard_at;
}

static struct suspect look_at(const struct peer *peer, const struct mesh *mesh,
                              uint32_t seat, time_us now)
{
    const struct peer_seat *const at = &peer->seats[seat];
    const time_us silent_us = silence(peer, seat, now);
    const time_us least_us = SILENT_BEATS * peer->options.beat_us;
    const bool silent = silent_us >= least_us;
    bool lost = false;
    const time_us owes_us =
        seat == 0 || silent ? 0 : peer_owes_us(peer, seat, now, &lost);
    const bool owes = owes_us >= peer->options.dead_us / 2;

    return (struct suspect){
        .name = at->name,
        .state = silent || owes ? "suspect" : peer_seat_state(peer, seat),
        .behind_s = (double)(silent ? silent_us
                             : owes ? owes_us
                                    : 0) /
                    (double)SECOND_US,
        .slow = &at->slow,
        .silent = silent,
        .silent_us = silent_us,
        .deaf_us = silent && at->link != PEER_NO_LINK
                       ? mesh_deaf_us(mesh, at->link)
                       : 0,
        .gone = seat > 0 && at->link == PEER_NO_LINK,
        .owes_us = owes ? owes_us : 0,
        .lost = lost};
}

/* Nobody waits for one that is away, unless it has rows that nobody else has.
 */
static bool is_of_interest(const struct peer *peer, uint32_t seat)
{
    const struct peer_seat *const at = &peer->seats[seat];

    return seat == 0 || at->link != PEER_NO_LINK ||
           (peer->phase == PEER_LACKING && at->incarnation != 0 && !at->done);
}

json_t *peer_why_json(const struct peer *peer, const struct mesh *mesh,
                      time_us now, size_t capacity)
{
    struct suspect *all = mem_new(PEERS_MAX, sizeof *all);
    json_t *answer = NULL;
    json_t *peers;
    json_int_t more;
    uint32_t count = 0;

    if (all == NULL)
        return NULL;
    for (uint32_t seat = 0; seat < peer->seat_count; seat++)
        if (is_of_interest(peer, seat))
            all[count++] = look_at(peer, mesh, seat, now);
    if (suspects_judge(all, count) == ERR_OK) {
        peers = suspects_json(all, count, capacity, &more);
        answer = json_pack("{s:I, s:I, s:s, s:o, s:I}", "step",
                           (json_int_t)peer->trainer.optim.step, "steps",
                           (json_int_t)peer->options.trainer.optim.steps,
                           "phase", peer_phase_name(peer->phase), "workers",
                           peers, "more", more);
    }
    mem_free(all);
    return answer;
}
