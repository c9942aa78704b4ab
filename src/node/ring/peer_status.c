/*
 * peer_status.c - a peer's state, and whom it knows.
 */
#include "node/ring/peer_status.h"

#include "node/host/answer.h"
#include "node/ring/peer_why.h"

const char *peer_phase_name(enum peer_phase phase)
{
    switch (phase) {
    case PEER_GATHERING:
        return "gathering";
    case PEER_HALTING:
    case PEER_REPORTING:
    case PEER_TAKING:
        return "viewing";
    case PEER_LACKING:
        return "lacking";
    case PEER_ROUND:
        return "round";
    case PEER_COMMITTING:
        return "committing";
    case PEER_LINGERING:
    case PEER_ENDING:
    case PEER_DONE:
        return "done";
    }
    return "unknown";
}

const char *peer_seat_state(const struct peer *peer, uint32_t seat)
{
    if ((peer->view.members >> seat & 1) != 0)
        return "active";
    return peer->seats[seat].link != PEER_NO_LINK ? "ready" : "away";
}

static json_t *seat_json(const struct peer *peer, uint32_t seat, time_us now)
{
    const struct peer_seat *at = &peer->seats[seat];
    const bool heard = seat == 0 || at->link != PEER_NO_LINK;
    const double silent_s =
        heard || at->heard_at == 0
            ? 0
            : (double)(now - at->heard_at) / (double)SECOND_US;

    return json_pack("{s:s, s:s, s:o, s:s, s:s}", "name", at->name, "state",
                     peer_seat_state(peer, seat), "behind_s",
                     json_number(silent_s), "cause", heard ? "" : "silent",
                     "place", at->place);
}

json_t *peer_status_json(const struct peer *peer, const struct mesh *mesh,
                         time_us now, size_t capacity)
{
    struct answer_list peers = answer_list_new(capacity);

    for (uint32_t seat = 0; seat < peer->seat_count; seat++)
        answer_list_add(&peers, seat_json(peer, seat, now));
    return json_pack(
        "{s:I, s:I, s:o, s:s, s:s, s:I, s:o, s:I, s:{s:I, s:I, s:I}, s:I}",
        "step", (json_int_t)peer->trainer.optim.step, "steps",
        (json_int_t)peer->options.trainer.optim.steps, "objective",
        json_number(peer->trainer.optim.objective), "phase",
        peer_phase_name(peer->phase), "code", "ring", "view",
        (json_int_t)peer->view.name.number, "workers", peers.entries, "more",
        (json_int_t)peers.more, "sent", "slices",
        (json_int_t)peer->stats.slices, "coordinates",
        (json_int_t)peer->stats.coordinates, "bytes",
        (json_int_t)mesh_slice_bytes(mesh), "died",
        (json_int_t)peer->stats.died);
}

json_t *peer_answer(const struct peer *peer, const struct mesh *mesh,
                    enum ask_what what, bool allowed, time_us now,
                    size_t capacity)
{
    switch (what) {
    case ASK_STOP:
        return answer_stop(allowed, peer->trainer.optim.step);
    case ASK_SIZE:
        return json_pack(
            "{s:s}", "error",
            "a ring draws no samples: only code flexent has a size");
    case ASK_WHY:
        return peer_why_json(peer, mesh, now, capacity);
    case ASK_STATUS:
        break;
    }
    return peer_status_json(peer, mesh, now, capacity);
}
