/*
 * codec_ring.c - what the peers of a ring say to each other.
 */
#include "base/check.h"
#include "math/exact/pack.h"
#include "wire/codec_parts.h"

static void get_name(struct reader *in, char name[NAME_SIZE])
{
    get_text(in, name, NAME_SIZE);
    must(in, codec_name_valid(name));
}

static void get_place(struct reader *in, char place[PEER_PLACE])
{
    get_text(in, place, PEER_PLACE);
    for (const char *c = place; *c != '\0'; c++)
        must(in, !control_character(*c));
}

void put_terms(struct writer *out, const struct msg_terms *terms)
{
    put_digest(out, &terms->config);
    put_digest(out, &terms->papers);
    put_u64(out, terms->papers_size);
    put_u32(out, terms->chunks);
    put_u16(out, terms->port);
    put_bytes(out, terms->key, PEER_KEY);
    put_u32(out, terms->count);
    for (uint32_t i = 0; i < terms->count; i++)
        put_text(out, terms->place[i]);
}

void get_terms(struct reader *in, struct msg_terms *terms)
{
    get_digest(in, &terms->config);
    get_digest(in, &terms->papers);
    terms->papers_size = get_u64(in);
    terms->chunks = get_u32(in);
    must(in, terms->chunks > 0 && terms->chunks <= CHUNKS_MAX);
    terms->port = get_u16(in);
    get_bytes(in, terms->key, PEER_KEY);
    terms->count = get_u32(in);
    must(in, terms->count <= TERMS_PLACES);
    for (uint32_t i = 0; i < terms->count && in->ok; i++)
        get_place(in, terms->place[i]);
}

void put_meet(struct writer *out, const struct msg_meet *meet)
{
    put_u32(out, meet->version);
    put_text(out, meet->name);
    put_u64(out, meet->incarnation);
    put_digest(out, &meet->config);
    put_digest(out, &meet->given);
    put_digest(out, &meet->arithmetic);
    put_text(out, meet->place);
    put_u32(out, meet->first);
    put_u32(out, meet->end);
}

void get_meet(struct reader *in, struct msg_meet *meet)
{
    if (!get_version(in, &meet->version))
        return;
    get_name(in, meet->name);
    meet->incarnation = get_u64(in);
    get_digest(in, &meet->config);
    get_digest(in, &meet->given);
    get_digest(in, &meet->arithmetic);
    get_place(in, meet->place);
    get_range(in, &meet->first, &meet->end);
}

/* No view has no proposer. */
static void put_view(struct writer *out, const struct ring_name *view)
{
    put_u64(out, view->number);
    if (view->number == 0)
        return;
    put_text(out, view->proposer);
    put_u64(out, view->incarnation);
}

static void get_view_name(struct reader *in, struct ring_name *view)
{
    view->number = get_u64(in);
    if (view->number == 0)
        return;
    get_name(in, view->proposer);
    view->incarnation = get_u64(in);
}

static uint32_t get_count(struct reader *in, const struct codec_room *room)
{
    const uint32_t count = get_u32(in);

    must(in, room->known != NULL && count <= PEERS_MAX);
    return in->ok ? count : 0;
}

void put_roster(struct writer *out, const struct msg_roster *roster)
{
    put_view(out, &roster->view);
    put_bool(out, roster->broken);
    put_view(out, &roster->refused);
    put_u32(out, roster->count);
    for (uint32_t i = 0; i < roster->count; i++) {
        const struct ring_known *known = &roster->known[i];

        put_text(out, known->name);
        put_text(out, known->place);
        put_bool(out, known->heard);
        put_bool(out, known->member);
    }
}

void get_roster(struct reader *in, const struct codec_room *room,
                struct msg_roster *roster)
{
    get_view_name(in, &roster->view);
    roster->broken = get_bool(in);
    get_view_name(in, &roster->refused);
    roster->count = get_count(in, room);
    for (uint32_t i = 0; i < roster->count && in->ok; i++) {
        struct ring_known *known = &room->known[i];

        get_name(in, known->name);
        get_place(in, known->place);
        known->heard = get_bool(in);
        known->member = get_bool(in);
    }
    roster->known = room->known;
}

void put_propose(struct writer *out, const struct msg_propose *propose)
{
    put_u64(out, propose->number);
    put_u64(out, propose->incarnation);
    put_u64(out, propose->position);
    put_u32(out, propose->count);
    for (uint32_t i = 0; i < propose->count; i++)
        put_text(out, propose->members[i].name);
}

void get_propose(struct reader *in, const struct codec_room *room,
                 struct msg_propose *propose)
{
    propose->number = get_u64(in);
    must(in, propose->number > 0);
    propose->incarnation = get_u64(in);
    propose->position = get_u64(in);
    propose->count = get_count(in, room);
    for (uint32_t i = 0; i < propose->count && in->ok; i++) {
        room->known[i] = (struct ring_known){.place = ""};
        get_name(in, room->known[i].name);
    }
    propose->members = room->known;
}

void put_report(struct writer *out, const struct msg_report *report)
{
    const struct ring_stand *stand = &report->stand;

    put_u64(out, report->view);
    put_bool(out, report->doubt);
    put_u64(out, stand->position);
    put_u32(out, stand->step);
    put_bool(out, stand->started);
    put_u64(out, stand->state);
    put_u64(out, stand->weights);
    put_u64(out, stand->anchor_position);
    put_u64(out, stand->anchor);
}

void get_report(struct reader *in, struct msg_report *report)
{
    struct ring_stand *stand = &report->stand;

    report->view = get_u64(in);
    report->doubt = get_bool(in);
    stand->position = get_u64(in);
    stand->step = get_u32(in);
    stand->started = get_bool(in);
    stand->state = get_u64(in);
    stand->weights = get_u64(in);
    stand->anchor_position = get_u64(in);
    stand->anchor = get_u64(in);
}

void put_state(struct writer *out, const struct msg_state *state)
{
    put_u64(out, state->view);
    put_u64(out, state->size);
    put_u64(out, state->at);
    put_u32(out, (uint32_t)state->count);
    put_bytes(out, state->bytes, state->count);
}

void get_state(struct reader *in, struct msg_state *state)
{
    state->view = get_u64(in);
    state->size = get_u64(in);
    state->at = get_u64(in);
    state->count = get_u32(in);
    state->bytes = get_view(in, state->count);
    must(in,
         state->at <= state->size && state->count <= state->size - state->at);
}

void put_slice_head(struct writer *out, const struct msg_slice *slice)
{
    put_key(out, &slice->key);
    put_bool(out, slice->total);
    put_u8(out, slice->flags);
    put_u32(out, slice->first);
    put_u32(out, slice->end);
    put_u32(out, slice->dims);
    put_u32(out, slice->at);
    put_u32(out, slice->count);
    put_u64(out, (uint64_t)slice->loss);
    put_u64(out, (uint64_t)(slice->loss >> 64));
}

void put_slice(struct writer *out, const struct msg_slice *slice)
{
    put_slice_head(out, slice);
    if (slice->sum == NULL && slice->count > 0) {
        put_bytes(out, slice->packed.bytes, slice->packed.size);
        return;
    }
    CHECK(out->ok && out->capacity - out->size >= pack_bound(slice->count));
    out->size += pack_i64(slice->sum, slice->count, out->data + out->size);
}

static void get_slice_sums(struct reader *in, const struct codec_room *room,
                           struct msg_slice *slice)
{
    size_t used = 0;

    if (!in->ok)
        return;
    if (room->packed) {
        must(in, packed_find(in->data + in->at, in->size - in->at, slice->count,
                             &slice->packed) == ERR_OK);
        used = in->ok ? slice->packed.size : 0;
    } else {
        must(in, unpack_i64(in->data + in->at, in->size - in->at, slice->count,
                            room->sum, &used) == ERR_OK);
        slice->sum = room->sum;
    }
    if (in->ok)
        in->at += used;
}

void get_slice_head(struct reader *in, const struct codec_room *room,
                    struct msg_slice *slice)
{
    uint64_t low;
    int64_t high;

    get_key(in, &slice->key);
    slice->total = get_bool(in);
    slice->flags = get_u8(in);
    must(in, slice->flags <= SLICE_FLAGS);
    get_range(in, &slice->first, &slice->end);
    slice->dims = get_sum_dims(in, room);
    slice->at = get_u32(in);
    slice->count = get_u32(in);
    must(in,
         slice->at <= slice->dims && slice->count <= slice->dims - slice->at);
    low = get_u64(in);
    high = get_i64(in);
    slice->loss = (tally_loss)high * ((tally_loss)1 << 64) + (tally_loss)low;
}

void get_slice(struct reader *in, const struct codec_room *room,
               struct msg_slice *slice)
{
    get_slice_head(in, room, slice);
    get_slice_sums(in, room, slice);
}

/* --- PARTING -------------------------------------------------------------- */

enum { STAYS, LEAVES, STOPS, GOINGS };

void put_parting(struct writer *out, const struct msg_parting *parting)
{
    put_bool(out, parting->model);
    put_u8(out, parting->stops ? STOPS : parting->leaves ? LEAVES : STAYS);
}

void get_parting(struct reader *in, struct msg_parting *parting)
{
    uint8_t going;

    parting->model = get_bool(in);
    going = get_u8(in);
    must(in, going < GOINGS);
    parting->leaves = going != STAYS;
    parting->stops = going == STOPS;
}
