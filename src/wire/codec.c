/*
 * codec.c - one function that writes and one that reads for each message.
 *
 * Both sides are lists of fields in the same order; reading them side by side
 * is the check that they agree.  Layout of the large ones (sizes in bytes):
 *
 *     ROUND  kind 1 | key 44 | assignment 8 | coded 1 | delays 16
 *            | count 4 | items 20 each | 3 flags | kind 1 | parts 4 if a
 *            product | dims 4, 0s to the next line | weights 8 each, 0s to the
 *            next line | of a HESSVEC the direction like them | unless a
 *            product the first exponent 2 and the others less it, packed
 *     TALLY  kind 1 | key 44 | piece 4 | first 4 | end 4 | compute 8 | dims 4
 *            | loss 16 | packed sums, to the end
 *     DATA   kind 1 | chunk 4 | block 8 | bytes, to the end
 *     CHUNKS kind 1 | count 4 | digests 32 each | place, to the end
 *     HAVE   kind 1 | count 4 | held and near, a bit for each chunk
 *     FETCH  kind 1 | first 4 | end 4 | peer 4 | if it is not 0: host, as text,
 *            | port 2 | key 32
 *     SUM    kind 1 | key 44 | count 4 | answers 25 each | dims 4 | loss 16
 *            | packed sums, to the end
 *
 * The reader accepts exactly what the writer can produce: decoding and
 * encoding again gives the same bytes, which is what the fuzzer checks.  Lines
 * are of MEM_LINE bytes from the message's first: where that lies on a line of
 * memory the weights can be read in place.  Exponents hardly differ: packed
 * they take half a byte each, of 2, and constant ones next to nothing.
 * Weights and rows pass as bits; whether they are finite the core judges.
 */
#include "wire/codec.h"

#include <assert.h>
#include <math.h>
#include <string.h>

#include "base/bytes.h"
#include "base/check.h"
#include "base/chunkset.h"
#include "base/mem.h"
#include "core/offset.h"
#include "math/pack.h"

#if __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "vectors are copied as they lie: little-endian only"
#endif

#define ITEM_BYTES     20u
#define ANSWER_BYTES   25u
#define STINT_BYTES    33u
#define SILENT_BYTES   12u
#define LEAF_BIT       0x80u
#define SMALL_BYTES    512u /* More than any message without a vector. */
#define POSTED_BIT     0x40u
#define EXPONENT_LIMIT 1022 /* 2^e and 2^-e are normal numbers. */
#define PACKED_BATCH   1024u
#define DELTA_BYTES    137u /* A block of the widest differences of int16. */

static_assert(PACKED_BATCH % PACK_BLOCK == 0, "only the last block is short");

static_assert(MSG_LAST < POSTED_BIT, "kinds leave the bits above to us");
static_assert(SMALL_BYTES > REASON_SIZE + 64, "a reason is a small message");
static_assert(SMALL_BYTES > 3 * DIGEST_BYTES + NAME_SIZE + 64,
              "HELLO and WELCOME are small messages");

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
    made.exponent = mem_new(sum_dims, sizeof *made.exponent);
    made.sum = mem_new(sum_dims, sizeof *made.sum);
    made.items = mem_new(items_max, sizeof *made.items);
    made.stints = mem_new(STINTS_MAX, sizeof *made.stints);
    if (made.weights == NULL || made.direction == NULL ||
        made.exponent == NULL || made.sum == NULL || made.items == NULL ||
        made.stints == NULL) {
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
    *room = (struct codec_room){0};
}

bool codec_name_valid(const char *name)
{
    const size_t size = strlen(name);

    if (size == 0 || size >= NAME_SIZE)
        return false;
    for (size_t i = 0; i < size; i++) {
        const char c = name[i];

        if (!((c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') ||
              (c >= '0' && c <= '9') || c == '.' || c == '_' || c == '-'))
            return false;
    }
    return true;
}

static void must(struct reader *in, bool holds)
{
    if (!holds)
        in->ok = false;
}

static bool control_character(char c)
{
    return ((unsigned char)c < 0x20) || c == 0x7f;
}

static void put_bool(struct writer *out, bool value)
{
    put_u8(out, value ? 1 : 0);
}

static bool get_bool(struct reader *in)
{
    const uint8_t value = get_u8(in);

    must(in, value <= 1);
    return value == 1;
}

static void put_digest(struct writer *out, const struct digest *digest)
{
    put_bytes(out, digest->bytes, DIGEST_BYTES);
}

static void get_digest(struct reader *in, struct digest *digest)
{
    get_bytes(in, digest->bytes, DIGEST_BYTES);
}

/* A sentence for people: what could move a terminal's cursor is replaced. */
static void put_sentence(struct writer *out, const char *text)
{
    char clean[REASON_SIZE];
    size_t size = strnlen(text, REASON_SIZE - 1);

    for (size_t i = 0; i < size; i++)
        clean[i] = control_character(text[i]) ? '?' : text[i];
    clean[size] = '\0';
    put_text(out, clean);
}

static void get_sentence(struct reader *in, char text[REASON_SIZE])
{
    get_text(in, text, REASON_SIZE);
    for (const char *c = text; *c != '\0'; c++)
        must(in, !control_character(*c));
}

static void put_key(struct writer *out, const struct round_key *key)
{
    put_u64(out, key->job);
    put_u64(out, key->view);
    put_u32(out, key->step);
    put_u32(out, key->round);
    put_u32(out, key->attempt);
    put_u64(out, key->scale);
    put_u64(out, key->weights);
}

static void get_key(struct reader *in, struct round_key *key)
{
    key->job = get_u64(in);
    key->view = get_u64(in);
    key->step = get_u32(in);
    key->round = get_u32(in);
    key->attempt = get_u32(in);
    key->scale = get_u64(in);
    key->weights = get_u64(in);
}

/* Chunks [first, end). */
static void get_range(struct reader *in, uint32_t *first, uint32_t *end)
{
    *first = get_u32(in);
    *end = get_u32(in);
    must(in, *first <= *end && *end <= CHUNKS_MAX);
}

static int64_t get_duration(struct reader *in)
{
    const int64_t value = get_i64(in);

    must(in, value >= 0);
    return value;
}

static void put_hello(struct writer *out, const struct msg_hello *hello)
{
    put_u32(out, hello->version);
    put_text(out, hello->name);
    put_u64(out, hello->incarnation);
    put_u32(out, hello->pid);
    put_digest(out, &hello->arithmetic);
    put_bool(out, hello->resident);
    put_digest(out, &hello->data);
    put_u64(out, hello->job);
    put_u64(out, hello->view_seen);
    put_bool(out, hello->keeps);
    put_bool(out, hello->owns);
    put_digest(out, &hello->part);
}

/* The first field of whatever greets.  Of another release's no more is read. */
static bool get_version(struct reader *in, uint32_t *version)
{
    *version = get_u32(in);
    if (*version != MSG_VERSION)
        skip_rest(in);
    return *version == MSG_VERSION;
}

static void get_hello(struct reader *in, struct msg_hello *hello)
{
    if (!get_version(in, &hello->version))
        return;
    get_text(in, hello->name, sizeof hello->name);
    must(in, codec_name_valid(hello->name));
    hello->incarnation = get_u64(in);
    hello->pid = get_u32(in);
    get_digest(in, &hello->arithmetic);
    hello->resident = get_bool(in);
    get_digest(in, &hello->data);
    hello->job = get_u64(in);
    hello->view_seen = get_u64(in);
    hello->keeps = get_bool(in);
    hello->owns = get_bool(in);
    get_digest(in, &hello->part);
}

static void put_local(struct writer *out, const struct local *local)
{
    put_u8(out, (uint8_t)local->kind);
    put_u8(out, (uint8_t)local->schedule);
    put_f64(out, local->rate);
    put_f64(out, local->decay);
    put_f64(out, local->l2);
    put_u32(out, local->l2_free_first);
    put_u32(out, local->l2_free_end);
    put_u32(out, local->every);
    put_u32(out, local->steps);
    put_u64(out, local->seed);
}

/* Whether it can be followed is for the one who is to follow it. */
static void get_local(struct reader *in, struct local *local)
{
    local->kind = (enum optim_kind)get_u8(in);
    local->schedule = (enum optim_schedule)get_u8(in);
    local->rate = get_f64(in);
    local->decay = get_f64(in);
    local->l2 = get_f64(in);
    local->l2_free_first = get_u32(in);
    local->l2_free_end = get_u32(in);
    local->every = get_u32(in);
    local->steps = get_u32(in);
    local->seed = get_u64(in);
}

static void put_job(struct writer *out, const struct job *job)
{
    put_u64(out, job->id);
    put_u32(out, job->rows);
    put_u32(out, job->cols);
    put_u32(out, job->chunk_rows);
    put_u32(out, job->dims);
    put_u32(out, job->outputs);
    put_u32(out, job->sum_dims);
    put_u32(out, job->chunks);
    put_u32(out, job->model);
    put_digest(out, &job->data);
    put_i64(out, job->beat_us);
    put_i64(out, job->dead_us);
    put_i64(out, job->pulse_us);
    put_bool(out, job->stints);
    put_u32(out, job->storage);
    put_u64(out, job->entries);
    put_bool(out, job->weighted);
    put_bool(out, job->keyed);
    put_bool(out, job->owned);
    put_bool(out, job->products);
    put_local(out, &job->local);
}

static void get_job(struct reader *in, struct job *job)
{
    job->id = get_u64(in);
    job->rows = get_u32(in);
    job->cols = get_u32(in);
    job->chunk_rows = get_u32(in);
    job->dims = get_u32(in);
    job->outputs = get_u32(in);
    job->sum_dims = get_u32(in);
    job->chunks = get_u32(in);
    job->model = get_u32(in);
    get_digest(in, &job->data);
    job->beat_us = get_i64(in);
    job->dead_us = get_i64(in);
    job->pulse_us = get_i64(in);
    job->stints = get_bool(in);
    job->storage = get_u32(in);
    job->entries = get_u64(in);
    job->weighted = get_bool(in);
    job->keyed = get_bool(in);
    job->owned = get_bool(in);
    job->products = get_bool(in);
    get_local(in, &job->local);
    must(in, job->dims > 0 && job->dims <= DIMS_MAX);
    must(in, job->outputs > 0 && job->dims % job->outputs == 0);
    must(in, job->sum_dims >= job->dims && job->sum_dims <= SUM_DIMS_MAX);
    must(in, job->chunks > 0 && job_strips(job) <= CHUNKS_MAX);
    must(in, job->beat_us >= 0 && job->dead_us > 0);
    must(in, job->pulse_us >= 0 && job->pulse_us <= OFFSET_CLOCK_MAX);
}

static void put_beat(struct writer *out, const struct msg_beat *beat)
{
    put_u64(out, beat->sequence);
    put_i64(out, beat->sent_us);
    put_u64(out, beat->view);
    put_u32(out, beat->step);
    put_u32(out, beat->attempt);
    put_u64(out, beat->assignment);
    put_u32(out, beat->queued);
    put_u64(out, beat->chunks_done);
}

static void get_beat(struct reader *in, struct msg_beat *beat)
{
    beat->sequence = get_u64(in);
    beat->sent_us = get_i64(in);
    beat->view = get_u64(in);
    beat->step = get_u32(in);
    beat->attempt = get_u32(in);
    beat->assignment = get_u64(in);
    beat->queued = get_u32(in);
    beat->chunks_done = get_u64(in);
}

static void put_data(struct writer *out, const struct msg_data *data)
{
    put_u32(out, data->chunk);
    put_u64(out, data->block);
    put_bytes(out, data->bytes, data->size);
}

static void get_data(struct reader *in, struct msg_data *data)
{
    data->chunk = get_u32(in);
    data->block = get_u64(in);
    must(in, data->chunk < CHUNKS_MAX);
    data->size = in->size - in->at;
    data->bytes = get_view(in, data->size);
}

static void put_chunks(struct writer *out, const struct msg_chunks *chunks)
{
    put_u32(out, chunks->count);
    put_bytes(out, chunks->digests, (size_t)chunks->count * DIGEST_BYTES);
    put_bytes(out, chunks->place, chunks->place_size);
}

static void get_chunks(struct reader *in, struct msg_chunks *chunks)
{
    chunks->count = get_u32(in);
    must(in, chunks->count > 0 && chunks->count <= CHUNKS_MAX);
    if (!in->ok)
        return;
    chunks->digests = get_view(in, (size_t)chunks->count * DIGEST_BYTES);
    chunks->place_size = in->size - in->at;
    must(in, chunks->place_size < PLACE_SIZE);
    chunks->place = (const char *)get_view(in, chunks->place_size);
    for (size_t i = 0; in->ok && i < chunks->place_size; i++)
        must(in, !control_character(chunks->place[i]));
}

static void put_have(struct writer *out, const struct msg_have *have)
{
    put_u32(out, have->count);
    put_bytes(out, have->held, msg_have_bytes(have->count));
    put_bytes(out, have->near, msg_have_bytes(have->count));
}

static void get_have(struct reader *in, struct msg_have *have)
{
    have->count = get_u32(in);
    must(in, have->count > 0 && have->count <= CHUNKS_MAX);
    if (!in->ok)
        return;
    have->held = get_view(in, msg_have_bytes(have->count));
    have->near = get_view(in, msg_have_bytes(have->count));
}

static void put_fetch(struct writer *out, const struct msg_fetch *fetch)
{
    put_u32(out, fetch->first);
    put_u32(out, fetch->end);
    put_u32(out, fetch->peer);
    if (fetch->peer == 0)
        return;
    put_text(out, fetch->host);
    put_u16(out, fetch->port);
    put_bytes(out, fetch->key, PEER_KEY);
}

/* An address in numbers: what could be a name is not looked up. */
static bool host_valid(const char *host)
{
    return strspn(host, "0123456789abcdef.:") == strlen(host);
}

static void get_fetch(struct reader *in, struct msg_fetch *fetch)
{
    get_range(in, &fetch->first, &fetch->end);
    fetch->peer = get_u32(in);
    if (fetch->peer == 0)
        return;
    get_text(in, fetch->host, sizeof fetch->host);
    must(in, host_valid(fetch->host));
    fetch->port = get_u16(in);
    get_bytes(in, fetch->key, PEER_KEY);
}

static void put_need(struct writer *out, const struct msg_need *need)
{
    put_u32(out, need->first);
    put_u32(out, need->end);
    put_u32(out, need->peer);
    put_bool(out, need->wrong);
}

static void get_need(struct reader *in, struct msg_need *need)
{
    get_range(in, &need->first, &need->end);
    need->peer = get_u32(in);
    need->wrong = get_bool(in);
}

static void put_items(struct writer *out, const struct item *items,
                      uint32_t count)
{
    put_u32(out, count);
    for (uint32_t i = 0; i < count; i++) {
        put_u32(out, items[i].id);
        put_u32(out, items[i].first);
        put_u32(out, items[i].end);
        put_f64(out, items[i].coefficient);
    }
}

static void get_items(struct reader *in, const struct codec_room *room,
                      uint32_t *count, const struct item **items)
{
    const uint32_t declared = get_u32(in);

    must(in, declared <= room->items_max);
    for (uint32_t i = 0; in->ok && i < declared; i++) {
        struct item *item = &room->items[i];

        item->id = get_u32(in);
        get_range(in, &item->first, &item->end);
        item->coefficient = get_f64(in);
        must(in, isfinite(item->coefficient));
    }
    *count = declared;
    *items = room->items;
}

/* The length of a vector must be the job's, which nobody declares. */
/* Of an answer: as long as some evaluation of the job.  Whether it is the one
 * that was asked for is the coordinator's to judge. */
static uint32_t get_sum_dims(struct reader *in, const struct codec_room *room)
{
    const uint32_t dims = get_u32(in);

    must(in, dims > 0 && dims <= room->sum_dims);
    return dims;
}

/* Vectors are nearly all of the bytes: they are copied as they lie. */
static void put_vector(struct writer *out, const double *values, size_t count)
{
    put_bytes(out, values, count * sizeof *values);
}

static void get_vector(struct reader *in, double *values, size_t count)
{
    get_bytes(in, values, count * sizeof *values);
}

static double get_delay(struct reader *in)
{
    const double value = get_f64(in);

    must(in, isfinite(value) && value >= 0.0);
    return value;
}

/* What is one worker's own; all there is of a TASK. */
static void put_task(struct writer *out, const struct msg_round *round)
{
    put_key(out, &round->key);
    put_u64(out, round->assignment);
    put_bool(out, round->coded);
    put_f64(out, round->delay_s);
    put_f64(out, round->delay_factor);
    put_items(out, round->items, round->count);
}

/* The same for all, but their vectors ... */
static void put_round_head(struct writer *out, const struct msg_round *round)
{
    put_task(out, round);
    put_bool(out, round->repeat);
    put_bool(out, round->patient);
    put_bool(out, round->single);
    put_u8(out, (uint8_t)round->kind);
    if (evaluation_is_product(round->kind))
        put_u32(out, round->parts);
    put_u32(out, round->dims);
}

static size_t to_line(size_t bytes)
{
    return (bytes + MEM_LINE - 1) / MEM_LINE * MEM_LINE;
}

static void put_pad(struct writer *out)
{
    static const uint8_t zeros[MEM_LINE];

    put_bytes(out, zeros, to_line(out->size) - out->size);
}

static void get_pad(struct reader *in)
{
    const size_t size = to_line(in->at) - in->at;
    const uint8_t *pad = get_view(in, size);

    for (size_t i = 0; in->ok && i < size; i++)
        must(in, pad[i] == 0);
}

static size_t exponents_bound(uint32_t count)
{
    return sizeof(int16_t) + ((size_t)count / PACK_BLOCK + 1) * DELTA_BYTES;
}

static void put_exponents(struct writer *out, const int16_t *exponent,
                          uint32_t count)
{
    int64_t delta[PACKED_BATCH];
    uint8_t packed[sizeof delta + PACKED_BATCH];

    CHECK(sizeof packed >= pack_bound(PACKED_BATCH));
    if (count == 0)
        return;
    put_u16(out, (uint16_t)exponent[0]);
    for (uint32_t at = 0; at < count; at += PACKED_BATCH) {
        const uint32_t left = count - at;
        const uint32_t n = left < PACKED_BATCH ? left : PACKED_BATCH;

        for (uint32_t j = 0; j < n; j++)
            delta[j] = exponent[at + j] - exponent[0];
        put_bytes(out, packed, pack_i64(delta, n, packed));
    }
}

/* ... and these. */
static void put_round_weights(struct writer *out, const struct msg_round *round)
{
    put_vector(out, round->weights, round->dims);
    put_pad(out);
    if (round->kind != EVALUATE_HESSVEC)
        return;
    put_vector(out, round->direction, round->dims);
    put_pad(out);
}

static void put_round_vectors(struct writer *out, const struct msg_round *round)
{
    put_round_weights(out, round);
    put_exponents(out, round->exponent,
                  evaluation_dims(round->kind, round->dims));
}

static bool exponents_valid(const int16_t *exponent, uint32_t count)
{
    int16_t least = 0;
    int16_t most = 0;

    for (uint32_t j = 0; j < count; j++) {
        least = exponent[j] < least ? exponent[j] : least;
        most = exponent[j] > most ? exponent[j] : most;
    }
    return least >= -EXPONENT_LIMIT && most <= EXPONENT_LIMIT;
}

/* Exponents as they lie on a board. */
static void get_exponents(struct reader *in, int16_t *exponent, uint32_t dims)
{
    get_bytes(in, exponent, (size_t)dims * sizeof *exponent);
    must(in, in->ok && exponents_valid(exponent, dims));
}

static bool add_deltas(const int64_t *delta, uint32_t count, int64_t first,
                       int16_t *exponent)
{
    int64_t least = 0;
    int64_t most = 0;

    for (uint32_t j = 0; j < count; j++) {
        least = delta[j] < least ? delta[j] : least;
        most = delta[j] > most ? delta[j] : most;
        exponent[j] = (int16_t)(uint16_t)((uint64_t)first + (uint64_t)delta[j]);
    }
    return least >= -EXPONENT_LIMIT - first && most <= EXPONENT_LIMIT - first;
}

static void get_packed_exponents(struct reader *in, int16_t *exponent,
                                 uint32_t count)
{
    const int16_t first = count > 0 ? (int16_t)get_u16(in) : 0;
    int64_t delta[PACKED_BATCH];

    must(in, first >= -EXPONENT_LIMIT && first <= EXPONENT_LIMIT);
    for (uint32_t at = 0; in->ok && at < count; at += PACKED_BATCH) {
        const uint32_t left = count - at;
        const uint32_t n = left < PACKED_BATCH ? left : PACKED_BATCH;
        size_t used;

        if (unpack_i64(in->data + in->at, in->size - in->at, n, delta, &used) !=
            ERR_OK) {
            in->ok = false;
            return;
        }
        in->at += used;
        must(in, (at > 0 || delta[0] == 0) &&
                     add_deltas(delta, n, first, exponent + at));
    }
}

/* One whose sums have room here. */
static enum evaluation_kind get_evaluation(struct reader *in,
                                           const struct codec_room *room)
{
    const uint8_t kind = get_u8(in);

    must(in, kind <= EVALUATE_BACK);
    if (!in->ok)
        return EVALUATE_GRADIENT;
    must(in, evaluation_dims((enum evaluation_kind)kind, room->dims) <=
                 room->sum_dims);
    return (enum evaluation_kind)kind;
}

static void get_task(struct reader *in, const struct codec_room *room,
                     struct msg_round *round)
{
    get_key(in, &round->key);
    round->assignment = get_u64(in);
    round->coded = get_bool(in);
    round->delay_s = get_delay(in);
    round->delay_factor = get_delay(in);
    get_items(in, room, &round->count, &round->items);
}

static void get_round_head(struct reader *in, const struct codec_room *room,
                           struct msg_round *round)
{
    bool product;

    get_task(in, room, round);
    round->repeat = get_bool(in);
    round->patient = get_bool(in);
    round->single = get_bool(in);
    round->kind = get_evaluation(in, room);
    product = evaluation_is_product(round->kind);
    round->parts = product ? get_u32(in) : 0;
    round->dims = get_u32(in);
    /* A product multiplies what may be as long as an answer. */
    must(in, round->dims > 0 && (product ? round->dims <= room->sum_dims
                                         : round->dims == room->dims));
}

/* A vector of weights: a view of the message. */
static const uint8_t *get_weights(struct reader *in, uint32_t dims)
{
    const uint8_t *view = get_view(in, dims * sizeof(double));

    get_pad(in);
    return view;
}

static void get_round_exponents(struct reader *in, struct codec_room *room,
                                struct msg_round *round)
{
    const uint32_t sum_dims = evaluation_dims(round->kind, round->dims);

    room->scaled = 0;
    get_packed_exponents(in, room->exponent, sum_dims);
    room->scaled = in->ok ? sum_dims : 0;
    room->scale = round->key.scale;
    round->exponent = room->exponent;
}

static void get_round_vectors(struct reader *in, struct codec_room *room,
                              struct msg_round *round)
{
    const size_t bytes = round->dims * sizeof *room->weights;
    const uint8_t *weights = NULL;
    const uint8_t *direction = NULL;

    get_pad(in);
    if (in->ok)
        weights = get_weights(in, round->dims);
    if (in->ok && round->kind == EVALUATE_HESSVEC)
        direction = get_weights(in, round->dims);
    if (!in->ok)
        return;
    memcpy(room->weights, weights, bytes);
    round->weights = room->weights;
    if (direction != NULL) {
        memcpy(room->direction, direction, bytes);
        round->direction = room->direction;
    }
    get_round_exponents(in, room, round);
}

/* The same where they are; exponents that the room has are not read again. */
static void find_round_vectors(struct reader *in, struct codec_room *room,
                               struct msg_round *round)
{
    get_pad(in);
    if (in->ok)
        round->weights =
            (const double *)(const void *)get_weights(in, round->dims);
    if (in->ok && round->kind == EVALUATE_HESSVEC)
        round->direction =
            (const double *)(const void *)get_weights(in, round->dims);
    if (!in->ok)
        return;
    if (room->scaled != evaluation_dims(round->kind, round->dims) ||
        room->scale != round->key.scale) {
        get_round_exponents(in, room, round);
        return;
    }
    round->exponent = room->exponent;
    skip_rest(in);
}

static void put_work(struct writer *out, const struct msg_work *work)
{
    put_key(out, &work->key);
    put_u64(out, work->assignment);
    put_items(out, work->items, work->count);
}

static void get_work(struct reader *in, const struct codec_room *room,
                     struct msg_work *work)
{
    get_key(in, &work->key);
    work->assignment = get_u64(in);
    get_items(in, room, &work->count, &work->items);
}

static void put_loss(struct writer *out, tally_loss loss)
{
    put_u64(out, (uint64_t)loss);
    put_u64(out, (uint64_t)(loss >> 64));
}

static tally_loss get_loss(struct reader *in)
{
    const uint64_t low = get_u64(in);
    const int64_t high = get_i64(in);

    return (tally_loss)high * ((tally_loss)1 << 64) + (tally_loss)low;
}

/* Before the sums themselves. */
static void put_sums_head(struct writer *out, uint32_t dims, tally_loss loss)
{
    put_u32(out, dims);
    put_loss(out, loss);
}

static void get_sums_head(struct reader *in, const struct codec_room *room,
                          uint32_t *dims, tally_loss *loss)
{
    *dims = get_sum_dims(in, room);
    *loss = get_loss(in);
}

static void put_sums(struct writer *out, const int64_t *sum, uint32_t dims)
{
    CHECK(out->ok && out->capacity - out->size >= pack_bound(dims));
    out->size += pack_i64(sum, dims, out->data + out->size);
}

/* They land in room->sum. */
static void get_sums(struct reader *in, const struct codec_room *room,
                     uint32_t dims)
{
    size_t used;

    if (!in->ok)
        return;
    must(in, unpack_i64(in->data + in->at, in->size - in->at, dims, room->sum,
                        &used) == ERR_OK);
    if (in->ok)
        in->at += used;
}

static void get_packed(struct reader *in, uint32_t dims, struct packed *packed)
{
    if (!in->ok)
        return;
    must(in, packed_find(in->data + in->at, in->size - in->at, dims, packed) ==
                 ERR_OK);
    if (in->ok)
        in->at += packed->size;
}

static void put_tally_head(struct writer *out, const struct msg_tally *tally)
{
    put_key(out, &tally->key);
    put_u32(out, tally->piece);
    put_u32(out, tally->first);
    put_u32(out, tally->end);
    put_i64(out, tally->compute_us);
    put_sums_head(out, tally->dims, tally->loss);
}

static void put_tally(struct writer *out, const struct msg_tally *tally)
{
    put_tally_head(out, tally);
    if (tally->sum != NULL)
        put_sums(out, tally->sum, tally->dims);
    else
        put_bytes(out, tally->packed.bytes, tally->packed.size);
}

static void get_tally_head(struct reader *in, const struct codec_room *room,
                           struct msg_tally *tally)
{
    get_key(in, &tally->key);
    tally->piece = get_u32(in);
    get_range(in, &tally->first, &tally->end);
    tally->compute_us = get_duration(in);
    get_sums_head(in, room, &tally->dims, &tally->loss);
}

static void get_tally(struct reader *in, const struct codec_room *room,
                      struct msg_tally *tally)
{
    get_tally_head(in, room, tally);
    if (room->packed) {
        get_packed(in, tally->dims, &tally->packed);
        return;
    }
    get_sums(in, room, tally->dims);
    tally->sum = room->sum;
}

static void put_sum(struct writer *out, const struct msg_sum *sum)
{
    put_key(out, &sum->key);
    put_u32(out, sum->count);
    for (uint32_t i = 0; i < sum->count; i++) {
        const struct answer *answer = &sum->answers[i];

        put_u32(out, answer->leaf);
        put_u32(out, answer->piece);
        put_u32(out, answer->first);
        put_u32(out, answer->end);
        put_i64(out, answer->compute_us);
        put_bool(out, answer->counted);
    }
    put_sums_head(out, sum->dims, sum->loss);
    put_sums(out, sum->sum, sum->dims);
}

static void get_sum(struct reader *in, const struct codec_room *room,
                    struct msg_sum *sum)
{
    get_key(in, &sum->key);
    sum->count = get_u32(in);
    must(in, sum->count <= room->answers_max);
    for (uint32_t i = 0; in->ok && i < sum->count; i++) {
        struct answer *answer = &room->answers[i];

        answer->leaf = get_u32(in);
        answer->piece = get_u32(in);
        get_range(in, &answer->first, &answer->end);
        answer->compute_us = get_duration(in);
        answer->counted = get_bool(in);
    }
    get_sums_head(in, room, &sum->dims, &sum->loss);
    get_sums(in, room, sum->dims);
    sum->answers = room->answers;
    sum->sum = room->sum;
}

static void put_relay(struct writer *out, const struct msg_relay *relay)
{
    put_u32(out, relay->version);
    put_text(out, relay->name);
}

static void get_relay(struct reader *in, struct msg_relay *relay)
{
    if (!get_version(in, &relay->version))
        return;
    get_text(in, relay->name, sizeof relay->name);
    must(in, codec_name_valid(relay->name));
}

static void put_row(struct writer *out, const struct msg_row *row)
{
    put_key(out, &row->key);
    put_i64(out, row->compute_us);
    put_u32(out, row->dims);
    put_vector(out, row->row, (size_t)row->dims + 1);
}

static void get_row(struct reader *in, const struct codec_room *room,
                    struct msg_row *row)
{
    get_key(in, &row->key);
    row->compute_us = get_duration(in);
    row->dims = get_sum_dims(in, room);
    if (!in->ok)
        return;
    get_vector(in, room->weights, (size_t)row->dims + 1);
    row->row = room->weights;
}

static void get_ask(struct reader *in, struct msg_ask *ask)
{
    uint8_t what;

    ask->version = get_u32(in);
    what = get_u8(in);
    must(in, what >= ASK_STATUS && what <= ASK_WHY);
    ask->what = in->ok ? (enum ask_what)what : ASK_STATUS;
}

static void get_status(struct reader *in, struct msg_status *status)
{
    status->size = in->size - in->at;
    must(in, status->size <= STATUS_SIZE);
    status->text = (const char *)get_view(in, status->size);
}

/* Times that a clock may show: what is added to them does not overflow. */
static int64_t get_time(struct reader *in)
{
    const int64_t t = get_i64(in);

    must(in, t >= 0 && t <= OFFSET_CLOCK_MAX);
    return t;
}

static void put_vitals(struct writer *out, const struct vitals *vitals)
{
    put_i64(out, vitals->compute_us);
    put_i64(out, vitals->cancelled_us);
    put_i64(out, vitals->held_us);
    put_i64(out, vitals->waited_us);
    put_u64(out, vitals->chunks);
    put_u32(out, vitals->cancels);
    put_i64(out, vitals->cpu_us);
    put_i64(out, vitals->starved_us);
    put_i64(out, vitals->loop_us);
    put_i64(out, vitals->stopped_us);
    put_i64(out, vitals->unsent_us);
    put_u64(out, vitals->unsent_bytes);
    put_u64(out, vitals->faults);
}

static void get_vitals(struct reader *in, struct vitals *vitals)
{
    vitals->compute_us = get_time(in);
    vitals->cancelled_us = get_time(in);
    vitals->held_us = get_time(in);
    vitals->waited_us = get_time(in);
    vitals->chunks = get_u64(in);
    vitals->cancels = get_u32(in);
    vitals->cpu_us = get_time(in);
    vitals->starved_us = get_time(in);
    vitals->loop_us = get_time(in);
    vitals->stopped_us = get_time(in);
    vitals->unsent_us = get_time(in);
    vitals->unsent_bytes = get_u64(in);
    vitals->faults = get_u64(in);
}

static void put_pulse(struct writer *out, const struct msg_pulse *pulse)
{
    put_i64(out, pulse->ahead_us);
    put_i64(out, pulse->error_us);
    put_i64(out, pulse->trip_us);
    put_bool(out, pulse->full);
    put_vitals(out, &pulse->vitals);
    put_u32(out, pulse->count);
    for (uint32_t i = 0; i < pulse->count; i++) {
        const struct stint *stint = &pulse->stints[i];

        put_u8(out, (uint8_t)stint->kind);
        put_u32(out, stint->step);
        put_u32(out, stint->piece);
        put_i64(out, stint->began);
        put_i64(out, stint->took_us);
        put_i64(out, stint->stop_us);
    }
}

static void get_stint(struct reader *in, struct stint *stint)
{
    const uint8_t kind = get_u8(in);

    must(in, kind < STINT_KINDS);
    stint->kind = (enum stint_kind)(kind < STINT_KINDS ? kind : 0);
    stint->step = get_u32(in);
    stint->piece = get_u32(in);
    stint->began = get_time(in);
    stint->took_us = get_time(in);
    stint->stop_us = get_time(in);
}

static void get_pulse(struct reader *in, const struct codec_room *room,
                      struct msg_pulse *pulse)
{
    pulse->ahead_us = get_i64(in);
    must(in, pulse->ahead_us >= -OFFSET_CLOCK_MAX &&
                 pulse->ahead_us <= OFFSET_CLOCK_MAX);
    pulse->error_us = get_i64(in);
    must(in, pulse->error_us >= OFFSET_UNKNOWN &&
                 pulse->error_us <= OFFSET_CLOCK_MAX);
    pulse->trip_us = get_time(in);
    pulse->full = get_bool(in);
    get_vitals(in, &pulse->vitals);
    pulse->count = get_u32(in);
    must(in, pulse->count <= STINTS_MAX &&
                 (pulse->count == 0 || room->stints != NULL));
    for (uint32_t i = 0; in->ok && i < pulse->count; i++)
        get_stint(in, &room->stints[i]);
    pulse->stints = room->stints;
}

static void put_watch(struct writer *out, const struct msg_watch *watch)
{
    put_u64(out, watch->sequence);
    put_i64(out, watch->sent_us);
    put_bool(out, watch->whole);
    put_u32(out, watch->count);
    for (uint32_t i = 0; i < watch->count; i++) {
        put_u32(out, watch->silent[i].leaf);
        put_i64(out, watch->silent[i].silence_us);
    }
}

static void get_watch(struct reader *in, const struct codec_room *room,
                      struct msg_watch *watch)
{
    watch->sequence = get_u64(in);
    watch->sent_us = get_i64(in);
    watch->whole = get_bool(in);
    watch->count = get_u32(in);
    must(in, watch->count <= SILENT_MAX &&
                 (watch->count == 0 || room->silent != NULL));
    for (uint32_t i = 0; in->ok && i < watch->count; i++) {
        room->silent[i].leaf = get_u32(in);
        room->silent[i].silence_us = get_time(in);
    }
    watch->silent = room->silent;
}

static size_t round_bound(uint32_t items, uint32_t dims, uint32_t sum_dims)
{
    return SMALL_BYTES + to_line((size_t)items * ITEM_BYTES) +
           codec_vectors_bound(dims, sum_dims);
}

size_t codec_sum_max(uint32_t sum_dims, uint32_t answers_max)
{
    return SMALL_BYTES + (size_t)answers_max * ANSWER_BYTES +
           pack_bound(sum_dims);
}

size_t codec_bound(const struct msg *msg)
{
    switch (msg->kind) {
    case MSG_DATA:
        return SMALL_BYTES + msg->data.size;
    case MSG_ROUND:
        return round_bound(msg->round.count, msg->round.dims,
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
        return SMALL_BYTES + ((size_t)msg->row.dims + 1) * 8;
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
    case MSG_FETCH:
    case MSG_HELLO:
    case MSG_WELCOME:
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
        put_sentence(out, msg->bye.reason);
        break;
    case MSG_ASK:
        put_u32(out, msg->ask.version);
        put_u8(out, (uint8_t)msg->ask.what);
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

enum err codec_decode_here(const uint8_t *data, size_t size,
                           struct codec_room *room, struct msg *msg)
{
    CHECK((uintptr_t)data % MEM_LINE == 0);
    return decode(data, size, room, true, msg);
}

/* --- messages whose vectors lie elsewhere -------------------------------- */

bool codec_posts(const struct msg *msg)
{
    return msg->kind == MSG_ROUND || msg->kind == MSG_TALLY;
}

bool codec_is_posted(const uint8_t *data, size_t size)
{
    return size > 0 && (data[0] & (LEAF_BIT | POSTED_BIT)) == POSTED_BIT;
}

size_t codec_posted_bound(const struct msg *msg)
{
    return msg->kind == MSG_ROUND ? round_bound(msg->round.count, 0, 0)
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
    else
        put_tally_head(&writer, &msg->tally);
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
    else if (in.ok)
        get_tally_head(&in, room, &made.tally);
    if (!reader_done(&in))
        return ERR_FORMAT;
    *msg = made;
    *where = place;
    return ERR_OK;
}

size_t codec_encode_head(const struct msg *msg, uint8_t *out)
{
    struct writer writer = writer_on(out, codec_posted_bound(msg));

    CHECK(codec_posts(msg));
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

size_t codec_vectors_bound(uint32_t dims, uint32_t sum_dims)
{
    return 2 * to_line((size_t)dims * sizeof(double)) +
           exponents_bound(sum_dims);
}

size_t codec_encode_weights(const struct msg_round *round, uint8_t *out,
                            size_t capacity)
{
    struct writer writer = writer_on(out, capacity);

    put_round_weights(&writer, round);
    CHECK(writer.ok);
    return writer.size;
}

size_t codec_exponents_bound(const struct msg_round *round)
{
    return exponents_bound(evaluation_dims(round->kind, round->dims));
}

size_t codec_encode_exponents(const struct msg_round *round, uint8_t *out)
{
    struct writer writer = writer_on(out, codec_exponents_bound(round));

    put_exponents(&writer, round->exponent,
                  evaluation_dims(round->kind, round->dims));
    CHECK(writer.ok);
    return writer.size;
}

bool codec_peek_round(const uint8_t *data, size_t size, struct round_key *key)
{
    struct reader in = reader_on(data, size);

    if (get_u8(&in) != MSG_ROUND)
        return false;
    get_key(&in, key);
    return in.ok;
}

void codec_room_forget(struct codec_room *room)
{
    room->scaled = 0;
}

static size_t laid_vector(uint32_t dims)
{
    return to_line((size_t)dims * sizeof(double));
}

size_t codec_laid_bound(uint32_t dims, uint32_t sum_dims)
{
    return 2 * laid_vector(dims) + to_line((size_t)sum_dims * sizeof(int16_t));
}

void codec_lay_vectors(const struct msg_round *round, uint8_t *out)
{
    memcpy(out, round->weights, round->dims * sizeof *round->weights);
    out += laid_vector(round->dims);
    if (round->kind == EVALUATE_HESSVEC)
        memcpy(out, round->direction, round->dims * sizeof *round->direction);
    out += laid_vector(round->dims);
    memcpy(out, round->exponent,
           evaluation_dims(round->kind, round->dims) * sizeof *round->exponent);
}

enum err codec_find_vectors(const uint8_t *data, size_t size,
                            struct codec_room *room, struct msg_round *round)
{
    const uint32_t sum_dims = evaluation_dims(round->kind, round->dims);
    const size_t vector = laid_vector(round->dims);
    struct reader in;

    CHECK(round->dims <= room->sum_dims);
    if (size < codec_laid_bound(round->dims, sum_dims))
        return ERR_FORMAT;
    if (room->scaled != sum_dims || room->scale != round->key.scale) {
        in = reader_on(data + 2 * vector, size - 2 * vector);
        room->scaled = 0;
        get_exponents(&in, room->exponent, sum_dims);
        if (!in.ok)
            return ERR_FORMAT;
        room->scaled = sum_dims;
        room->scale = round->key.scale;
    }
    round->exponent = room->exponent;
    round->weights = (const double *)(const void *)data;
    round->direction = NULL;
    if (round->kind == EVALUATE_HESSVEC)
        round->direction = (const double *)(const void *)(data + vector);
    return ERR_OK;
}

void codec_copy_vectors(const struct codec_room *room, struct msg_round *round)
{
    memcpy(room->weights, round->weights, round->dims * sizeof *room->weights);
    round->weights = room->weights;
    if (round->direction == NULL)
        return;
    memcpy(room->direction, round->direction,
           round->dims * sizeof *room->direction);
    round->direction = room->direction;
}

size_t codec_message_max(uint32_t dims, uint32_t sum_dims, uint32_t items_max,
                         size_t chunk_bytes)
{
    const size_t sizes[] = {
        SMALL_BYTES + STATUS_SIZE,
        SMALL_BYTES + PLACE_SIZE + (size_t)items_max * DIGEST_BYTES,
        SMALL_BYTES + chunk_bytes,
        SMALL_BYTES + pack_bound(sum_dims),
        SMALL_BYTES + ((size_t)sum_dims + 1) * 8,
        round_bound(items_max, dims, sum_dims),
        round_bound(items_max, sum_dims, 0), /* A product. */
    };
    size_t most = 0;

    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++)
        most = sizes[i] > most ? sizes[i] : most;
    return most;
}
