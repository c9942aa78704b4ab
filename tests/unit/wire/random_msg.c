#include "wire/random_msg.h"

#include <math.h>
#include <string.h>

#include "base/chunkset.h"
#include "core/link/offset.h"
#include "math/computation.h"
#include "math/kernel/kernel.h"

static uint32_t random_u32(struct rng *rng)
{
    return (uint32_t)rng_next(rng);
}

/* Small values and extreme ones turn up more often than uniform draws would.
 * Each draw here is a statement of its own: C leaves the order of draws within
 * an expression or a list of initialisers to the compiler. */
static uint64_t random_u64(struct rng *rng)
{
    const uint64_t value = rng_next(rng);

    return value >> rng_below(rng, 64);
}

static double random_bits(struct rng *rng)
{
    const uint64_t bits = rng_next(rng);
    double value;

    memcpy(&value, &bits, sizeof value);
    return value;
}

/* Any float that is a number, as those that have come over a wire are. */
static double random_float(struct rng *rng)
{
    uint32_t bits = (uint32_t)rng_next(rng);
    float value;

    if ((bits & 0x7f800000) == 0x7f800000)
        bits &= 0xff800000; /* Infinite. */
    memcpy(&value, &bits, sizeof value);
    return (double)value;
}

static void random_name(struct rng *rng, char *name, size_t capacity)
{
    static const char letters[] = "ABCXYZabcxyz0189._-";
    const size_t size = 1 + (size_t)rng_below(rng, capacity - 1);

    for (size_t i = 0; i < size; i++)
        name[i] = letters[rng_below(rng, sizeof letters - 1)];
    name[size] = '\0';
}

static void random_sentence(struct rng *rng, char *text)
{
    const size_t size = (size_t)rng_below(rng, REASON_SIZE);

    for (size_t i = 0; i < size; i++)
        text[i] = (char)(' ' + (char)rng_below(rng, 90));
    text[size] = '\0';
}

static void random_range(struct rng *rng, uint32_t *first, uint32_t *end)
{
    *end = (uint32_t)rng_below(rng, CHUNKS_MAX + 1);
    *first = (uint32_t)rng_below(rng, (uint64_t)*end + 1);
}

static void random_digest(struct rng *rng, struct digest *digest)
{
    for (uint32_t i = 0; i < DIGEST_BYTES; i++)
        digest->bytes[i] = (uint8_t)rng_next(rng);
}

static void random_key(struct rng *rng, struct round_key *key)
{
    key->job = rng_next(rng);
    key->view = random_u64(rng);
    key->step = random_u32(rng);
    key->round = random_u32(rng);
    key->attempt = random_u32(rng);
    key->scale = rng_next(rng);
    key->weights = rng_next(rng);
}

/* What a clock may show. */
static int64_t random_time(struct rng *rng)
{
    return (int64_t)(random_u64(rng) >> 2) & OFFSET_CLOCK_MAX;
}

static void random_job(struct rng *rng, struct job *job)
{
    job->id = rng_next(rng);
    job->rows = random_u32(rng);
    job->chunk_rows = random_u32(rng);
    job->dims = 1 + (uint32_t)rng_below(rng, DIMS_MAX);
    job->sum_dims =
        job->dims + (uint32_t)rng_below(rng, SUM_DIMS_MAX - job->dims + 1);
    job->chunks = 1 + (uint32_t)rng_below(rng, CHUNKS_MAX);
    job->shard_max = rng_next(rng) % (SHARD_MAX + 1);
    job->keyed = rng_chance(rng, 0.5);
    job->owned = rng_chance(rng, 0.5);
    job->scattered = (uint32_t)rng_below(rng, CHUNKS_MAX + 1);
    job->products = job->chunks <= CHUNKS_MAX / 2 && rng_chance(rng, 0.5);
    if (job->chunks % 4 == 0)
        job->sampled = job->chunks / 2;
    job->coded_cols = random_u32(rng);
    job->copies = job->products ? 1 + job->coded_cols % 2 : 0;
    random_digest(rng, &job->data);
    job->beat_us = 1 + (int64_t)(random_u64(rng) >> 2);
    job->dead_us = 1 + (int64_t)(random_u64(rng) >> 2);
    job->pulse_us = random_time(rng);
    job->stints = rng_chance(rng, 0.5);
}

static void random_hello(struct rng *rng, struct msg_hello *hello)
{
    hello->version = MSG_VERSION;
    random_name(rng, hello->name, NAME_SIZE);
    hello->incarnation = rng_next(rng);
    hello->pid = random_u32(rng);
    random_digest(rng, &hello->arithmetic);
    hello->resident = rng_chance(rng, 0.5);
    random_digest(rng, &hello->data);
    hello->job = random_u64(rng);
    hello->view_seen = random_u64(rng);
    hello->keeps = rng_chance(rng, 0.5);
    hello->alone = rng_chance(rng, 0.5);
    hello->owns = rng_chance(rng, 0.5);
    random_digest(rng, &hello->part);
}

static void random_beat(struct rng *rng, struct msg_beat *beat)
{
    beat->sequence = random_u64(rng);
    beat->sent_us = (int64_t)rng_next(rng);
    beat->view = random_u64(rng);
    beat->step = random_u32(rng);
    beat->attempt = random_u32(rng);
    beat->assignment = random_u64(rng);
    beat->queued = random_u32(rng);
    beat->chunks_done = random_u64(rng);
}

static void random_vitals(struct rng *rng, struct vitals *vitals)
{
    vitals->compute_us = random_time(rng);
    vitals->cancelled_us = random_time(rng);
    vitals->held_us = random_time(rng);
    vitals->waited_us = random_time(rng);
    vitals->chunks = random_u64(rng);
    vitals->cancels = random_u32(rng);
    vitals->cpu_us = random_time(rng);
    vitals->starved_us = random_time(rng);
    vitals->loop_us = random_time(rng);
    vitals->stopped_us = random_time(rng);
    vitals->unsent_us = random_time(rng);
    vitals->unsent_bytes = random_u64(rng);
    vitals->faults = random_u64(rng);
}

static void random_watch(struct rng *rng, struct random_room *room,
                         struct msg_watch *watch)
{
    watch->sequence = random_u64(rng);
    watch->sent_us = (int64_t)rng_next(rng);
    watch->whole = rng_chance(rng, 0.5);
    watch->count = (uint32_t)rng_below(rng, RANDOM_ITEMS + 1);
    watch->silent = room->silent;
    for (uint32_t i = 0; i < watch->count; i++) {
        room->silent[i].leaf = random_u32(rng);
        room->silent[i].silence_us = random_time(rng);
    }
}

static void random_pulse(struct rng *rng, struct random_room *room,
                         struct msg_pulse *pulse)
{
    pulse->ahead_us = random_time(rng);
    pulse->ahead_us *= rng_chance(rng, 0.5) ? -1 : 1;
    pulse->error_us = random_time(rng) - 1;
    pulse->trip_us = random_time(rng);
    pulse->full = rng_chance(rng, 0.5);
    random_vitals(rng, &pulse->vitals);
    pulse->count = (uint32_t)rng_below(rng, STINTS_MAX + 1);
    pulse->stints = room->stints;
    for (uint32_t i = 0; i < pulse->count; i++) {
        struct stint *stint = &room->stints[i];

        stint->kind = (enum stint_kind)rng_below(rng, STINT_KINDS);
        stint->step = random_u32(rng);
        stint->piece = random_u32(rng);
        stint->began = random_time(rng);
        stint->took_us = random_time(rng);
        stint->stop_us = random_time(rng);
    }
}

static uint32_t random_list(struct rng *rng, struct item *items)
{
    const uint32_t count = (uint32_t)rng_below(rng, RANDOM_ITEMS + 1);

    for (uint32_t i = 0; i < count; i++) {
        items[i].id = random_u32(rng);
        random_range(rng, &items[i].first, &items[i].end);
        items[i].coefficient = rng_unit(rng) * 4.0 - 2.0;
    }
    return count;
}

static uint32_t random_items(struct rng *rng, struct random_room *room)
{
    return random_list(rng, room->items);
}

static uint32_t random_terms(struct rng *rng, struct random_room *room)
{
    return random_list(rng, room->terms);
}

static void random_vectors(struct rng *rng, struct random_room *room)
{
    for (uint32_t j = 0; j <= RANDOM_SUM_DIMS; j++)
        room->exponent[j] = (int16_t)rng_between(rng, -1022, 1022);
    for (uint32_t j = 0; j < RANDOM_DIMS; j++) {
        room->direction[j] = random_bits(rng);
        room->sum[j] = (int64_t)random_u64(rng);
        if (rng_chance(rng, 0.5))
            room->sum[j] = -(room->sum[j] >> 1);
    }
    for (uint32_t j = 0; j <= RANDOM_DIMS; j++)
        room->weights[j] = random_bits(rng);
}

static void random_round(struct rng *rng, struct random_room *room,
                         struct msg_round *round)
{
    random_vectors(rng, room);
    random_key(rng, &round->key);
    round->assignment = random_u64(rng);
    round->repeat = rng_chance(rng, 0.5);
    round->patient = rng_chance(rng, 0.5);
    round->single = rng_chance(rng, 0.5);
    round->coded = rng_chance(rng, 0.5);
    round->delay_s = rng_unit(rng);
    round->delay_factor = rng_unit(rng);
    round->delay_share_s = rng_unit(rng);
    round->count = random_items(rng, room);
    round->items = room->items;
    round->kind = (enum evaluation_kind)rng_below(rng, EVALUATE_LAST + 1);
    round->soft = (uint32_t)rng_below(rng, LOSS_SOFTS + 1);
    round->size = rng_unit(rng);
    if (round->size < SAMPLES_LEAST)
        round->size = 0;
    round->parts = 0;
    round->term_count = 0;
    round->terms = NULL;
    if (evaluation_is_product(round->kind)) {
        round->parts = random_u32(rng);
        round->term_count = random_terms(rng, room);
        round->terms = room->terms;
    }
    round->dims = RANDOM_DIMS;
    round->narrow = round->kind == EVALUATE_GRADIENT && rng_chance(rng, 0.5);
    for (uint32_t j = 0; round->narrow && j < RANDOM_DIMS; j++)
        room->weights[j] = random_float(rng);
    round->direction = round->kind == EVALUATE_HESSVEC ? room->direction : NULL;
    round->exponent = room->exponent;
    round->weights = room->weights;
}

static void random_work(struct rng *rng, struct random_room *room,
                        struct msg_work *work)
{
    random_key(rng, &work->key);
    work->assignment = random_u64(rng);
    work->count = random_items(rng, room);
    work->items = room->items;
}

static void random_tally(struct rng *rng, struct random_room *room,
                         struct msg_tally *tally)
{
    random_vectors(rng, room);
    random_key(rng, &tally->key);
    tally->piece = random_u32(rng);
    random_range(rng, &tally->first, &tally->end);
    tally->compute_us = (int64_t)(rng_next(rng) >> 28);
    tally->variance = (double)(tally->compute_us % 1000) / 8;
    tally->dims = RANDOM_DIMS;
    tally->sum = room->sum;
    tally->loss = (tally_loss)(int64_t)rng_next(rng) * ((tally_loss)1 << 62);
    tally->loss += (int64_t)rng_next(rng);
}

static void random_sum(struct rng *rng, struct random_room *room,
                       struct msg_sum *sum)
{
    struct msg_tally tally;

    random_tally(rng, room, &tally);
    sum->key = tally.key;
    sum->dims = tally.dims;
    sum->sum = tally.sum;
    sum->loss = tally.loss;
    sum->count = (uint32_t)rng_below(rng, RANDOM_ITEMS + 1);
    sum->answers = room->answers;
    for (uint32_t i = 0; i < sum->count; i++) {
        struct answer *answer = &room->answers[i];

        *answer = (struct answer){.leaf = random_u32(rng)};
        answer->piece = random_u32(rng);
        random_range(rng, &answer->first, &answer->end);
        answer->compute_us = (int64_t)(rng_next(rng) >> 28);
        answer->counted = rng_chance(rng, 0.5);
    }
}

static void random_row(struct rng *rng, struct random_room *room,
                       struct msg_row *row)
{
    random_vectors(rng, room);
    random_key(rng, &row->key);
    row->count = (uint32_t)rng_below(rng, RANDOM_ITEMS + 1);
    row->pieces = room->pieces;
    for (uint32_t i = 0; i < row->count; i++)
        room->pieces[i] = random_u32(rng);
    row->compute_us = (int64_t)(rng_next(rng) >> 28);
    row->dims = RANDOM_DIMS;
    row->row = room->weights;
}

static size_t random_bytes(struct rng *rng, struct random_room *room)
{
    const size_t size = (size_t)rng_below(rng, RANDOM_BYTES + 1);

    for (size_t i = 0; i < size; i++)
        room->bytes[i] = (uint8_t)rng_next(rng);
    return size;
}

/* Digests are any bytes, the place is letters. */
static void random_chunks(struct rng *rng, struct random_room *room,
                          struct msg_chunks *chunks)
{
    static const char place[] = "https://host/data";

    (void)random_bytes(rng, room);
    chunks->count =
        1 + (uint32_t)rng_below(rng, RANDOM_BYTES / DIGEST_BYTES - 1);
    chunks->digests = room->bytes;
    chunks->place = place;
    chunks->place_size = (size_t)rng_below(rng, sizeof place);
}

static void fill_random(struct rng *rng, uint8_t *bytes, size_t size)
{
    for (size_t i = 0; i < size; i++)
        bytes[i] = (uint8_t)rng_next(rng);
}

/* Half of them from a peer. */
static void random_fetch(struct rng *rng, struct msg_fetch *fetch)
{
    static const char digits[] = "0123456789abcdef.:";
    const size_t size = (size_t)rng_below(rng, PEER_HOST);

    random_range(rng, &fetch->first, &fetch->end);
    if (rng_chance(rng, 0.5))
        return;
    fetch->peer = 1 + (uint32_t)rng_below(rng, UINT32_MAX);
    for (size_t i = 0; i < size; i++)
        fetch->host[i] = digits[rng_below(rng, sizeof digits - 1)];
    fetch->port = (uint16_t)rng_next(rng);
    fill_random(rng, fetch->key, PEER_KEY);
}

/* --- a ring of peers ------------------------------------------------------ */

static void random_place(struct rng *rng, char place[PEER_PLACE])
{
    const size_t size = (size_t)rng_below(rng, PEER_PLACE);

    for (size_t i = 0; i < size; i++)
        place[i] = (char)(' ' + (char)rng_below(rng, 90));
    place[size] = '\0';
}

static void random_meet(struct rng *rng, struct msg_meet *meet)
{
    meet->version = MSG_VERSION;
    random_name(rng, meet->name, NAME_SIZE);
    meet->incarnation = rng_next(rng);
    random_digest(rng, &meet->config);
    random_digest(rng, &meet->given);
    random_digest(rng, &meet->arithmetic);
    random_place(rng, meet->place);
    random_range(rng, &meet->first, &meet->end);
}

static void random_join_terms(struct rng *rng, struct msg_terms *terms)
{
    random_digest(rng, &terms->config);
    random_digest(rng, &terms->papers);
    terms->papers_size = random_u64(rng);
    terms->chunks = 1 + (uint32_t)rng_below(rng, CHUNKS_MAX);
    terms->port = (uint16_t)rng_next(rng);
    for (uint32_t i = 0; i < PEER_KEY; i++)
        terms->key[i] = (uint8_t)rng_next(rng);
    terms->count = (uint32_t)rng_below(rng, TERMS_PLACES + 1);
    for (uint32_t i = 0; i < terms->count; i++)
        random_place(rng, terms->place[i]);
}

static uint32_t random_known(struct rng *rng, struct random_room *room,
                             bool places)
{
    const uint32_t count = (uint32_t)rng_below(rng, RANDOM_KNOWN + 1);

    for (uint32_t i = 0; i < count; i++) {
        struct ring_known *known = &room->known[i];

        memset(known, 0, sizeof *known);
        random_name(rng, known->name, NAME_SIZE);
        if (!places)
            continue;
        random_place(rng, known->place);
        known->heard = rng_chance(rng, 0.5);
        known->member = rng_chance(rng, 0.5);
    }
    return count;
}

static void random_view(struct rng *rng, struct ring_name *view)
{
    if (rng_chance(rng, 0.3))
        return;
    view->number = 1 + random_u64(rng) / 2;
    random_name(rng, view->proposer, NAME_SIZE);
    view->incarnation = rng_next(rng);
}

static void random_roster(struct rng *rng, struct random_room *room,
                          struct msg_roster *roster)
{
    random_view(rng, &roster->view);
    roster->broken = rng_chance(rng, 0.5);
    random_view(rng, &roster->refused);
    roster->count = random_known(rng, room, true);
    roster->known = room->known;
}

static void random_propose(struct rng *rng, struct random_room *room,
                           struct msg_propose *propose)
{
    propose->number = 1 + random_u64(rng) / 2;
    propose->incarnation = rng_next(rng);
    propose->position = random_u64(rng);
    propose->count = random_known(rng, room, false);
    propose->members = room->known;
}

static void random_report(struct rng *rng, struct msg_report *report)
{
    report->view = rng_next(rng);
    report->doubt = rng_chance(rng, 0.5);
    report->stand.position = random_u64(rng);
    report->stand.step = random_u32(rng);
    report->stand.started = rng_chance(rng, 0.5);
    report->stand.state = rng_next(rng);
    report->stand.weights = rng_next(rng);
    report->stand.anchor_position = random_u64(rng);
    report->stand.anchor = rng_next(rng);
}

static void random_slice(struct rng *rng, struct random_room *room,
                         struct msg_slice *slice)
{
    random_vectors(rng, room);
    random_key(rng, &slice->key);
    slice->total = rng_chance(rng, 0.5);
    slice->flags = (uint8_t)rng_below(rng, SLICE_FLAGS + 1);
    random_range(rng, &slice->first, &slice->end);
    slice->dims = RANDOM_DIMS;
    slice->at = (uint32_t)rng_below(rng, RANDOM_DIMS + 1);
    slice->count = (uint32_t)rng_below(rng, RANDOM_DIMS - slice->at + 1);
    slice->loss = (tally_loss)(int64_t)rng_next(rng) * ((tally_loss)1 << 62);
    slice->loss += (int64_t)rng_next(rng);
    slice->sum = room->sum;
}

void random_msg(struct rng *rng, enum msg_kind kind, struct random_room *room,
                struct msg *msg)
{
    memset(msg, 0, sizeof *msg);
    msg->kind = kind;
    if (rng_chance(rng, 0.3))
        msg->leaf = 1 + (random_u32(rng) >> 1);
    switch (kind) {
    case MSG_HELLO:
        random_hello(rng, &msg->hello);
        break;
    case MSG_WELCOME:
        random_job(rng, &msg->welcome);
        msg->welcome.brief.size = random_bytes(rng, room);
        msg->welcome.brief.bytes = room->bytes;
        break;
    case MSG_REJECT:
        random_sentence(rng, msg->reject.reason);
        break;
    case MSG_BEAT:
        random_beat(rng, &msg->beat);
        break;
    case MSG_ECHO:
        msg->echo.sequence = random_u64(rng);
        msg->echo.sent_us = (int64_t)rng_next(rng);
        msg->echo.heard_us = (int64_t)rng_next(rng);
        msg->echo.error_us = (int64_t)rng_next(rng);
        break;
    case MSG_DATA:
        msg->data.chunk = (uint32_t)rng_below(rng, CHUNKS_MAX);
        msg->data.block = random_u64(rng);
        msg->data.size = random_bytes(rng, room);
        msg->data.bytes = room->bytes;
        break;
    case MSG_NEED:
        random_range(rng, &msg->need.first, &msg->need.end);
        msg->need.peer = random_u32(rng);
        msg->need.wrong = rng_chance(rng, 0.5);
        break;
    case MSG_ROUND:
    case MSG_TASK:
        random_round(rng, room, &msg->round);
        break;
    case MSG_SUM:
        random_sum(rng, room, &msg->sum);
        break;
    case MSG_RELAY:
        msg->relay.version = MSG_VERSION;
        random_name(rng, msg->relay.name, NAME_SIZE);
        break;
    case MSG_WORK:
    case MSG_DROP:
    case MSG_ALONE:
        random_work(rng, room, &msg->work);
        break;
    case MSG_CANCEL:
        random_key(rng, &msg->cancel.key);
        break;
    case MSG_TALLY:
        random_tally(rng, room, &msg->tally);
        break;
    case MSG_ROW:
        random_row(rng, room, &msg->row);
        break;
    case MSG_REFUSE:
        random_key(rng, &msg->refuse.key);
        msg->refuse.piece = random_u32(rng);
        break;
    case MSG_LEAVE:
    case MSG_GONE:
        break;
    case MSG_BYE:
        msg->bye.finished = rng_chance(rng, 0.5);
        msg->bye.more = rng_chance(rng, 0.5);
        random_sentence(rng, msg->bye.reason);
        break;
    case MSG_ASK:
        msg->ask.version = random_u32(rng);
        msg->ask.what = (enum ask_what)(ASK_STATUS + rng_below(rng, 4));
        if (msg->ask.what == ASK_SIZE)
            msg->ask.size = fmax(1 - rng_unit(rng), SAMPLES_LEAST);
        break;
    case MSG_STATUS:
        msg->status.size = random_bytes(rng, room);
        msg->status.text = (const char *)room->bytes;
        break;
    case MSG_PULSE:
        random_pulse(rng, room, &msg->pulse);
        break;
    case MSG_WATCH:
        random_watch(rng, room, &msg->watch);
        break;
    case MSG_CHUNKS:
        random_chunks(rng, room, &msg->chunks);
        break;
    case MSG_HAVE:
        (void)random_bytes(rng, room);
        msg->have.count = 1 + (uint32_t)rng_below(rng, 4 * RANDOM_BYTES);
        msg->have.held = room->bytes;
        msg->have.near = room->bytes + RANDOM_BYTES / 2;
        break;
    case MSG_FETCH:
        random_fetch(rng, &msg->fetch);
        break;
    case MSG_SERVE:
        fill_random(rng, msg->serve.key, PEER_KEY);
        break;
    case MSG_SERVING:
        msg->serving.port = (uint16_t)rng_next(rng);
        break;
    case MSG_TERMS:
        random_join_terms(rng, &msg->terms);
        break;
    case MSG_MEET:
        random_meet(rng, &msg->meet);
        break;
    case MSG_ROSTER:
        random_roster(rng, room, &msg->roster);
        break;
    case MSG_PROPOSE:
        random_propose(rng, room, &msg->propose);
        break;
    case MSG_REPORT:
        random_report(rng, &msg->report);
        break;
    case MSG_STATE:
        msg->state.view = rng_next(rng);
        msg->state.count = random_bytes(rng, room);
        msg->state.bytes = room->bytes;
        msg->state.at = rng_next(rng) >> 2;
        msg->state.size =
            msg->state.at + msg->state.count + (rng_next(rng) >> 2);
        break;
    case MSG_SLICE:
        random_slice(rng, room, &msg->slice);
        break;
    case MSG_PARTING:
        msg->parting.model = rng_chance(rng, 0.5);
        msg->parting.leaves = rng_chance(rng, 0.5);
        msg->parting.stops = msg->parting.leaves && rng_chance(rng, 0.5);
        break;
    }
}
