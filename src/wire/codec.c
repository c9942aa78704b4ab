/*
 * codec.c - one function that writes and one that reads for each message.
 *
 * Both sides are lists of fields in the same order; reading them side by side
 * is the check that they agree.  Layout of the large ones (sizes in bytes):
 *
 *     ROUND  kind 1 | key 44 | assignment 8 | coded 1 | delays 24
 *            | count 4 | items 20 each | 3 flags | kind 1 | soft 1
 *            | if a product: parts 4 | count 4 | terms 20 each
 *            | dims 4 | narrow 1, 0s to the next line
 *            | weights 8 each, of a narrow one 4, 0s to the next line
 *            | of a HESSVEC the direction like them
 *            | unless a product the first exponent 2 and the others less it,
 *            packed, the last one that of the loss
 *     TALLY  kind 1 | key 44 | piece 4 | first 4 | end 4 | compute 8 | dims 4
 *            | loss 16 | packed sums, to the end
 *     DATA   kind 1 | chunk 4 | block 8 | bytes, to the end
 *     CHUNKS kind 1 | count 4 | digests 32 each | place, to the end
 *     HAVE   kind 1 | count 4 | held and near, a bit for each chunk
 *     FETCH  kind 1 | first 4 | end 4 | peer 4 | if it is not 0: host, as text,
 *            | port 2 | key 32
 *     SLICE  kind 1 | key 44 | total 1 | flags 1 | first 4 | end 4 | dims 4
 *            | at 4 | count 4 | loss 16 | packed sums, to the end
 *     STATE  kind 1 | view 8 | size 8 | at 8 | count 4 | bytes
 *     SUM    kind 1 | key 44 | count 4 | answers 25 each | dims 4 | loss 16
 *            | packed sums, to the end
 *
 * The reader accepts exactly what the writer can produce: decoding and
 * encoding again gives the same bytes, which is what the fuzzer checks.  Lines
 * are of MEM_LINE bytes from the message's first: where that lies on a line of
 * memory the weights can be read in place.  Exponents hardly differ: packed
 * they take half a byte each, of 2, and constant ones next to nothing.
 * Weights and rows pass as bits, but floats that are no numbers; whether they
 * are finite the core judges.
 */
#include "wire/codec.h"

#include <assert.h>
#include <string.h>

#include "base/check.h"
#include "base/mem.h"
#include "math/exact/pack.h"
#include "wire/codec_parts.h"

#define ITEM_BYTES   20u
#define ANSWER_BYTES 25u
#define STINT_BYTES  33u
#define SILENT_BYTES 12u
#define KNOWN_BYTES  (2u + NAME_SIZE + 2u + PEER_PLACE + 2u)
#define LEAF_BIT     0x80u
#define SMALL_BYTES  512u /* More than any message without a vector. */
#define POSTED_BIT   0x40u

static_assert(MSG_LAST < POSTED_BIT, "kinds leave the bits above to us");
static_assert(SMALL_BYTES > REASON_SIZE + 64, "a reason is a small message");
static_assert(SMALL_BYTES > 3 * DIGEST_BYTES + NAME_SIZE + 64,
              "HELLO, WELCOME and MEET are small messages");

enum err codec_room_init(struct codec_room *room, uint32_t dims,
                         uint32_t sum_dims, uint32_t items_max)
{
    struct codec_room made = {
        .dims = dims, .sum_dims = sum_dims, .items_max = items_max};

    if (dims > DIMS_MAX || dims > sum_dims || sum_dims > SUM_DIMS_MAX ||
        items_max > ITEMS_MAX)
        return ERR_TOOBIG;
    made.weights = mem_new((size_t)sum_dims + 1, sizeof *made.weights);
    made.direction = mem_new(dims, sizeof *made.direction);
    made.exponent = mem_new((size_t)sum_dims + 1, sizeof *made.exponent);
    made.sum = mem_new(sum_dims, sizeof *made.sum);
    made.items = mem_new((size_t)2 * items_max, sizeof *made.items);
    made.stints = mem_new(STINTS_MAX, sizeof *made.stints);
    made.pieces = mem_new(SEGMENTS_MAX, sizeof *made.pieces);
    if (made.weights == NULL || made.direction == NULL ||
        made.exponent == NULL || made.sum == NULL || made.items == NULL ||
        made.stints == NULL || made.pieces == NULL) {
        codec_room_close(&made);
        return ERR_NOMEM;
    }
    *room = made;
    return ERR_OK;
}

enum err codec_room_answers(struct codec_room *room, uint32_t answers_max)
{
    CHECK(room->answers == NULL && answers_max <= ANSWERS_MAX);
    room->answers = mem_new(answers_max, sizeof *room->answers);
    room->silent = mem_new(SILENT_MAX, sizeof *room->silent);
    if (room->answers == NULL || room->silent == NULL)
        return ERR_NOMEM; /* The caller closes the room. */
    room->answers_max = answers_max;
    return ERR_OK;
}

enum err codec_room_peers(struct codec_room *room)
{
    CHECK(room->known == NULL);
    room->known = mem_new(PEERS_MAX, sizeof *room->known);
    return room->known == NULL ? ERR_NOMEM : ERR_OK;
}

void codec_room_close(struct codec_room *room)
{
    mem_free(room->weights);
    mem_free(room->direction);
    mem_free(room->exponent);
    mem_free(room->sum);
    mem_free(room->items);
    mem_free(room->answers);
    mem_free(room->silent);
    mem_free(room->stints);
    mem_free(room->known);
    mem_free(room->pieces);
    *room = (struct codec_room){0};
}

static size_t round_bound(uint32_t items, uint32_t dims, uint32_t sum_dims)
{
    return SMALL_BYTES + to_line((size_t)items * ITEM_BYTES) +
           codec_vectors_bound(dims, sum_dims);
}

static size_t row_bound(uint32_t pieces, uint32_t dims)
{
    return SMALL_BYTES + (size_t)pieces * sizeof(uint32_t) +
           ((size_t)dims + 1) * sizeof(double);
}

size_t codec_sum_max(uint32_t sum_dims, uint32_t answers_max)
{
    return SMALL_BYTES + (size_t)answers_max * ANSWER_BYTES +
           pack_bound(sum_dims);
}

size_t codec_bound(const struct msg *msg)
{
    switch (msg->kind) {
    case MSG_WELCOME:
        return SMALL_BYTES + msg->welcome.brief.size;
    case MSG_DATA:
        return SMALL_BYTES + msg->data.size;
    case MSG_ROUND:
        return round_bound(msg->round.count + msg->round.term_count,
                           msg->round.dims,
                           evaluation_dims(msg->round.kind, msg->round.dims));
    case MSG_TASK:
        return round_bound(msg->round.count, 0, 0);
    case MSG_WORK:
    case MSG_DROP:
    case MSG_ALONE:
        return round_bound(msg->work.count, 0, 0);
    case MSG_SUM:
        return codec_sum_max(msg->sum.dims, msg->sum.count);
    case MSG_TALLY:
        return SMALL_BYTES + pack_bound(msg->tally.dims);
    case MSG_ROW:
        return row_bound(msg->row.count, msg->row.dims);
    case MSG_STATUS:
        return SMALL_BYTES + msg->status.size;
    case MSG_WATCH:
        return SMALL_BYTES + (size_t)msg->watch.count * SILENT_BYTES;
    case MSG_PULSE:
        return SMALL_BYTES + (size_t)msg->pulse.count * STINT_BYTES;
    case MSG_CHUNKS:
        return SMALL_BYTES + (size_t)msg->chunks.count * DIGEST_BYTES +
               msg->chunks.place_size;
    case MSG_HAVE:
        return SMALL_BYTES + 2 * msg_have_bytes(msg->have.count);
    case MSG_ROSTER:
        return SMALL_BYTES + (size_t)msg->roster.count * KNOWN_BYTES;
    case MSG_PROPOSE:
        return SMALL_BYTES + (size_t)msg->propose.count * KNOWN_BYTES;
    case MSG_STATE:
        return SMALL_BYTES + msg->state.count;
    case MSG_TERMS:
        return SMALL_BYTES + (size_t)msg->terms.count * KNOWN_BYTES;
    case MSG_SLICE:
        return SMALL_BYTES + pack_bound(msg->slice.count);
    case MSG_MEET:
    case MSG_REPORT:
    case MSG_PARTING:
    case MSG_FETCH:
    case MSG_HELLO:
    case MSG_REJECT:
    case MSG_BEAT:
    case MSG_ECHO:
    case MSG_NEED:
    case MSG_CANCEL:
    case MSG_REFUSE:
    case MSG_LEAVE:
    case MSG_BYE:
    case MSG_ASK:
    case MSG_RELAY:
    case MSG_GONE:
    case MSG_SERVE:
    case MSG_SERVING:
        break;
    }
    return SMALL_BYTES;
}

static void put_body(struct writer *out, const struct msg *msg)
{
    switch (msg->kind) {
    case MSG_HELLO:
        put_hello(out, &msg->hello);
        break;
    case MSG_WELCOME:
        put_job(out, &msg->welcome);
        break;
    case MSG_REJECT:
        put_sentence(out, msg->reject.reason);
        break;
    case MSG_BEAT:
        put_beat(out, &msg->beat);
        break;
    case MSG_ECHO:
        put_u64(out, msg->echo.sequence);
        put_i64(out, msg->echo.sent_us);
        put_i64(out, msg->echo.heard_us);
        put_i64(out, msg->echo.error_us);
        break;
    case MSG_DATA:
        put_data(out, &msg->data);
        break;
    case MSG_NEED:
        put_need(out, &msg->need);
        break;
    case MSG_ROUND:
        put_round_head(out, &msg->round);
        put_pad(out);
        put_round_vectors(out, &msg->round);
        break;
    case MSG_TASK:
        put_task(out, &msg->round);
        break;
    case MSG_WORK:
    case MSG_DROP:
    case MSG_ALONE:
        put_work(out, &msg->work);
        break;
    case MSG_SUM:
        put_sum(out, &msg->sum);
        break;
    case MSG_RELAY:
        put_relay(out, &msg->relay);
        break;
    case MSG_CANCEL:
        put_key(out, &msg->cancel.key);
        break;
    case MSG_TALLY:
        put_tally(out, &msg->tally);
        break;
    case MSG_ROW:
        put_row(out, &msg->row);
        break;
    case MSG_REFUSE:
        put_key(out, &msg->refuse.key);
        put_u32(out, msg->refuse.piece);
        break;
    case MSG_LEAVE:
    case MSG_GONE:
        break;
    case MSG_BYE:
        put_bool(out, msg->bye.finished);
        put_bool(out, msg->bye.more);
        put_sentence(out, msg->bye.reason);
        break;
    case MSG_ASK:
        put_u32(out, msg->ask.version);
        put_u8(out, (uint8_t)msg->ask.what);
        if (msg->ask.what == ASK_SIZE)
            put_f64(out, msg->ask.size);
        break;
    case MSG_STATUS:
        put_bytes(out, msg->status.text, msg->status.size);
        break;
    case MSG_PULSE:
        put_pulse(out, &msg->pulse);
        break;
    case MSG_WATCH:
        put_watch(out, &msg->watch);
        break;
    case MSG_CHUNKS:
        put_chunks(out, &msg->chunks);
        break;
    case MSG_HAVE:
        put_have(out, &msg->have);
        break;
    case MSG_FETCH:
        put_fetch(out, &msg->fetch);
        break;
    case MSG_SERVE:
        put_bytes(out, msg->serve.key, PEER_KEY);
        break;
    case MSG_SERVING:
        put_u16(out, msg->serving.port);
        break;
    case MSG_MEET:
        put_meet(out, &msg->meet);
        break;
    case MSG_ROSTER:
        put_roster(out, &msg->roster);
        break;
    case MSG_PROPOSE:
        put_propose(out, &msg->propose);
        break;
    case MSG_REPORT:
        put_report(out, &msg->report);
        break;
    case MSG_STATE:
        put_state(out, &msg->state);
        break;
    case MSG_SLICE:
        put_slice(out, &msg->slice);
        break;
    case MSG_PARTING:
        put_parting(out, &msg->parting);
        break;
    case MSG_TERMS:
        put_terms(out, &msg->terms);
        break;
    }
}

static void put_kind(struct writer *out, const struct msg *msg)
{
    put_u8(out, (uint8_t)(msg->kind | (msg->leaf != 0 ? LEAF_BIT : 0)));
    if (msg->leaf != 0)
        put_u32(out, msg->leaf);
}

size_t codec_encode(const struct msg *msg, uint8_t *out)
{
    struct writer writer = writer_on(out, codec_bound(msg));

    put_kind(&writer, msg);
    put_body(&writer, msg);
    CHECK(writer.ok);
    return writer.size;
}

/* `here`: the vectors of a ROUND are views. */
static void get_body(struct reader *in, struct codec_room *room, bool here,
                     struct msg *msg)
{
    switch (msg->kind) {
    case MSG_HELLO:
        get_hello(in, &msg->hello);
        return;
    case MSG_WELCOME:
        get_job(in, &msg->welcome);
        return;
    case MSG_REJECT:
        get_sentence(in, msg->reject.reason);
        return;
    case MSG_BEAT:
        get_beat(in, &msg->beat);
        return;
    case MSG_ECHO:
        msg->echo.sequence = get_u64(in);
        msg->echo.sent_us = get_i64(in);
        msg->echo.heard_us = get_i64(in);
        msg->echo.error_us = get_i64(in);
        return;
    case MSG_DATA:
        get_data(in, &msg->data);
        return;
    case MSG_NEED:
        get_need(in, &msg->need);
        return;
    case MSG_ROUND:
        get_round_head(in, room, &msg->round);
        (here ? find_round_vectors : get_round_vectors)(in, room, &msg->round);
        return;
    case MSG_TASK:
        get_task(in, room, &msg->round);
        return;
    case MSG_WORK:
    case MSG_DROP:
    case MSG_ALONE:
        get_work(in, room, &msg->work);
        return;
    case MSG_SUM:
        get_sum(in, room, &msg->sum);
        return;
    case MSG_RELAY:
        get_relay(in, &msg->relay);
        return;
    case MSG_CANCEL:
        get_key(in, &msg->cancel.key);
        return;
    case MSG_TALLY:
        get_tally(in, room, &msg->tally);
        return;
    case MSG_ROW:
        get_row(in, room, &msg->row);
        return;
    case MSG_REFUSE:
        get_key(in, &msg->refuse.key);
        msg->refuse.piece = get_u32(in);
        return;
    case MSG_LEAVE:
    case MSG_GONE:
        return;
    case MSG_BYE:
        msg->bye.finished = get_bool(in);
        msg->bye.more = get_bool(in);
        get_sentence(in, msg->bye.reason);
        return;
    case MSG_ASK:
        get_ask(in, &msg->ask);
        return;
    case MSG_STATUS:
        get_status(in, &msg->status);
        return;
    case MSG_PULSE:
        get_pulse(in, room, &msg->pulse);
        return;
    case MSG_WATCH:
        get_watch(in, room, &msg->watch);
        return;
    case MSG_CHUNKS:
        get_chunks(in, &msg->chunks);
        return;
    case MSG_HAVE:
        get_have(in, &msg->have);
        return;
    case MSG_FETCH:
        get_fetch(in, &msg->fetch);
        return;
    case MSG_SERVE:
        get_bytes(in, msg->serve.key, PEER_KEY);
        return;
    case MSG_SERVING:
        msg->serving.port = get_u16(in);
        return;
    case MSG_MEET:
        get_meet(in, &msg->meet);
        return;
    case MSG_ROSTER:
        get_roster(in, room, &msg->roster);
        return;
    case MSG_PROPOSE:
        get_propose(in, room, &msg->propose);
        return;
    case MSG_REPORT:
        get_report(in, &msg->report);
        return;
    case MSG_STATE:
        get_state(in, &msg->state);
        return;
    case MSG_SLICE:
        get_slice(in, room, &msg->slice);
        return;
    case MSG_PARTING:
        get_parting(in, &msg->parting);
        return;
    case MSG_TERMS:
        get_terms(in, &msg->terms);
        return;
    }
    in->ok = false; /* No such kind. */
}

static enum err decode(const uint8_t *data, size_t size,
                       struct codec_room *room, bool here, struct msg *msg)
{
    struct reader in = reader_on(data, size);
    struct msg made;
    uint8_t kind;

    memset(&made, 0, sizeof made);
    kind = get_u8(&in);
    made.kind = (enum msg_kind)(kind & ~LEAF_BIT);
    if ((kind & LEAF_BIT) != 0) {
        made.leaf = get_u32(&in);
        must(&in, made.leaf != 0);
    }
    if (in.ok)
        get_body(&in, room, here, &made);
    if (!reader_done(&in))
        return ERR_FORMAT;
    *msg = made;
    return ERR_OK;
}

enum err codec_decode(const uint8_t *data, size_t size, struct codec_room *room,
                      struct msg *msg)
{
    return decode(data, size, room, false, msg);
}

/* Floats become doubles where they begin, over all that follows them: that has
 * been read. */
static void widen_here(uint8_t *data, struct msg_round *round)
{
    const ptrdiff_t at = (const uint8_t *)round->weights - data;

    widen_floats(data + at, round->dims, (double *)(void *)(data + at));
}

enum err codec_decode_here(uint8_t *data, size_t size, struct codec_room *room,
                           struct msg *msg)
{
    enum err err;

    CHECK((uintptr_t)data % MEM_LINE == 0);
    err = decode(data, size, room, true, msg);
    if (err == ERR_OK && msg->kind == MSG_ROUND && msg->round.narrow)
        widen_here(data, &msg->round);
    return err;
}

/* --- messages whose vectors lie elsewhere -------------------------------- */

bool codec_posts(const struct msg *msg)
{
    return msg->kind == MSG_ROUND || msg->kind == MSG_TALLY ||
           msg->kind == MSG_SLICE;
}

bool codec_is_posted(const uint8_t *data, size_t size)
{
    return size > 0 && (data[0] & (LEAF_BIT | POSTED_BIT)) == POSTED_BIT;
}

size_t codec_posted_bound(const struct msg *msg)
{
    return msg->kind == MSG_ROUND
               ? round_bound(msg->round.count + msg->round.term_count, 0, 0)
               : SMALL_BYTES;
}

size_t codec_encode_posted(const struct msg *msg, const struct posted *where,
                           uint8_t *out)
{
    struct writer writer = writer_on(out, codec_posted_bound(msg));

    CHECK(codec_posts(msg) && msg->leaf == 0);
    put_u8(&writer, (uint8_t)(msg->kind | POSTED_BIT));
    put_u32(&writer, where->place);
    put_u64(&writer, where->sequence);
    if (msg->kind == MSG_ROUND)
        put_round_head(&writer, &msg->round);
    else if (msg->kind == MSG_TALLY)
        put_tally_head(&writer, &msg->tally);
    else
        put_slice_head(&writer, &msg->slice);
    CHECK(writer.ok);
    return writer.size;
}

enum err codec_decode_posted(const uint8_t *data, size_t size,
                             struct codec_room *room, struct msg *msg,
                             struct posted *where)
{
    struct reader in = reader_on(data, size);
    struct posted place;
    struct msg made;

    memset(&made, 0, sizeof made);
    made.kind = (enum msg_kind)(get_u8(&in) & ~POSTED_BIT);
    place.place = get_u32(&in);
    place.sequence = get_u64(&in);
    must(&in, codec_is_posted(data, size) && codec_posts(&made));
    if (in.ok && made.kind == MSG_ROUND)
        get_round_head(&in, room, &made.round);
    else if (in.ok && made.kind == MSG_TALLY)
        get_tally_head(&in, room, &made.tally);
    else if (in.ok)
        get_slice_head(&in, room, &made.slice);
    if (!reader_done(&in))
        return ERR_FORMAT;
    *msg = made;
    *where = place;
    return ERR_OK;
}

size_t codec_encode_head(const struct msg *msg, uint8_t *out)
{
    struct writer writer = writer_on(out, codec_posted_bound(msg));

    CHECK(msg->kind == MSG_ROUND || msg->kind == MSG_TALLY);
    put_kind(&writer, msg);
    if (msg->kind == MSG_ROUND) {
        put_round_head(&writer, &msg->round);
        put_pad(&writer);
    } else {
        put_tally_head(&writer, &msg->tally);
    }
    CHECK(writer.ok);
    return writer.size;
}

size_t codec_message_max(uint32_t dims, uint32_t sum_dims, uint32_t items_max,
                         size_t chunk_bytes)
{
    const size_t sizes[] = {
        SMALL_BYTES + STATUS_SIZE,
        SMALL_BYTES + PLACE_SIZE + (size_t)items_max * DIGEST_BYTES,
        SMALL_BYTES + chunk_bytes,
        SMALL_BYTES + pack_bound(sum_dims),
        row_bound(SEGMENTS_MAX, sum_dims),
        round_bound(items_max, dims, sum_dims),
        round_bound(2 * items_max, sum_dims, 0), /* A product. */
    };
    size_t most = 0;

    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++)
        most = sizes[i] > most ? sizes[i] : most;
    return most;
}
