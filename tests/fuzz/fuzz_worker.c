/*
 * fuzz_worker.c - a worker whose coordinator says anything, at any time, in any
 * order (A6: a rogue coordinator gets nothing but arithmetic out of a worker).
 *
 * The input chooses what happens: time passes, the link breaks, rounds open
 * with right or odd pieces, work is added, dropped and called off, bytes of the
 * input come as they are; computing ends, fails, or is called off.  Weights
 * come in the message, lie on a board that is written anew at any time, or in
 * an inbox that the next ROUND is read into as soon as the machine let go of
 * the last (ROOM-1); sums are computed in an outbox, packed and sent from there
 * while the link takes its time (ROOM-3); chunks come, are near or with peers,
 * and are fetched or not.  A round's weights are its number, and a sum is what
 * was found there when the computation ended, so that an answer from other
 * weights shows. Oracles: that, the machine's own checks (WORK-n), one
 * computation at a time, chunks of the job only and only such as are here,
 * nothing fetched or stored twice, and an end of every computation that was
 * begun.
 */
#include <math.h>
#include <string.h>

#include "core/worker/worker.h"
#include "feed.h"
#include "fuzz.h"
#include "math/exact/pack.h"
#include "node/host/outbox.h"
#include "wire/codec.h"

#define DIMS       8u
#define CHUNKS     16u
#define ITEMS      6u
#define EVENTS_MAX 400u
#define INBOX      UINT64_MAX /* `kept` of a round that lies there. */
#define GARBAGE    (-1.0)     /* What a half-read message leaves there. */
#define SENDING    4u

/* A ROUND on its way to the inbox, and all bulk behind it. */
struct coming {
    bool waits;    /* The inbox is computed from. */
    bool arriving; /* It is being read into it. */
    struct msg msg;
    struct item items[ITEMS];
};

/* An answer that the link has not sent yet. */
struct sending {
    struct blob *tail;
    size_t size;
    uint8_t bytes[256]; /* As they were. */
};

struct scene {
    struct feed feed;
    struct worker machine;
    struct actions actions;
    struct codec_room room;
    time_us now;
    bool connecting, linked, computing, called_off, over;
    uint64_t view;
    uint32_t step;
    bool keyed, in_place;

    struct coming coming;
    double inbox[2 * DIMS]; /* Weights, direction. */
    int16_t inbox_scale[DIMS + 1];
    double board[2 * DIMS];
    uint64_t posted; /* Number of the round on the board. */
    uint64_t reading;
    struct computation compute; /* What is computed. */
    int64_t lent[DIMS];         /* Sums outside the machine. */
    struct outbox outbox;
    struct envelope envelope;
    uint32_t boxes_max;
    int64_t *box; /* Sums are computed here; NULL: not in the outbox. */
    bool stalled; /* No box is free yet. */
    struct sending sending[SENDING];
    uint32_t sending_count;

    bool recalling;
    uint32_t fetching[CHUNKS]; /* Owed; of this peer + 1. */
    bool stored[CHUNKS];
    uint32_t serves; /* Answers owed. */
};

/* The weights of a round: any number but that of another. */
static double number_of(const struct round_key *key)
{
    return (double)(((key->view * 4096 + key->step) & 0xfffff) + 1);
}

/* --- what the machine asks for ------------------------------------------- */

static void check_answer(const struct msg *msg)
{
    if (msg->kind == MSG_TALLY) {
        FUZZ_REQUIRE(msg->tally.first < msg->tally.end);
        FUZZ_REQUIRE(msg->tally.end <= CHUNKS);
        FUZZ_REQUIRE((double)msg->tally.sum[0] == number_of(&msg->tally.key));
    }
    if (msg->kind == MSG_ROW)
        FUZZ_REQUIRE(fmod(msg->row.row[0], number_of(&msg->row.key)) == 0);
    if (msg->kind == MSG_NEED)
        FUZZ_REQUIRE(msg->need.first < msg->need.end &&
                     msg->need.end <= CHUNKS);
}

/* --- the outbox ---------------------------------------------------------- */

/* Unless they end up in a row. */
static void lend_box(struct scene *scene)
{
    scene->box = NULL;
    scene->stalled = false;
    if (!scene->in_place || scene->machine.coded)
        return;
    FUZZ_REQUIRE(outbox_open(&scene->outbox, scene->boxes_max, &scene->box));
    scene->stalled = scene->box == NULL;
}

/* The link has sent it: nobody wrote to it meanwhile. */
static void sent(struct scene *scene)
{
    struct sending *sending = &scene->sending[0];

    if (scene->sending_count == 0)
        return;
    FUZZ_REQUIRE(memcmp(sending->tail->bytes, sending->bytes, sending->size) ==
                 0);
    blob_drop(sending->tail);
    scene->sending_count--;
    memmove(sending, sending + 1, scene->sending_count * sizeof *sending);
    if (scene->stalled)
        lend_box(scene);
}

/* What goes out of a box is what was computed in it. */
static void send_from_box(struct scene *scene, const struct msg *msg)
{
    struct sending *sending = &scene->sending[scene->sending_count];
    const struct envelope *envelope = &scene->envelope;
    int64_t sum[DIMS];
    size_t used;

    if (!outbox_owns(&scene->outbox, msg))
        return;
    FUZZ_REQUIRE(scene->sending_count < SENDING);
    FUZZ_REQUIRE(outbox_fill(&scene->outbox, &scene->envelope, msg));
    FUZZ_REQUIRE(unpack_i64(envelope->tail->bytes, envelope->tail_size, DIMS,
                            sum, &used) == ERR_OK);
    FUZZ_REQUIRE(used == envelope->tail_size && used <= sizeof sending->bytes);
    FUZZ_REQUIRE((double)sum[0] == number_of(&msg->tally.key));
    sending->tail = blob_hold(envelope->tail);
    sending->size = used;
    memcpy(sending->bytes, envelope->tail->bytes, used);
    scene->sending_count++;
}

/* ------------------------------------------------------------------------- */

static void begin_compute(struct scene *scene, const struct action *action)
{
    const struct computation *asked = &action->computation;

    FUZZ_REQUIRE(!scene->computing);
    FUZZ_REQUIRE(asked->first < asked->end && asked->end <= CHUNKS);
    FUZZ_REQUIRE(
        chunkset_has_range(&scene->machine.held, asked->first, asked->end));
    scene->computing = true;
    scene->called_off = false;
    scene->reading = action->kept;
    scene->compute = *asked;
    lend_box(scene);
}

static void begin_fetch(struct scene *scene, const struct action *action)
{
    FUZZ_REQUIRE(action->first < action->end && action->end <= CHUNKS);
    for (uint32_t chunk = action->first; chunk < action->end; chunk++) {
        FUZZ_REQUIRE(scene->fetching[chunk] == 0 && !scene->stored[chunk]);
        scene->fetching[chunk] = action->msg.fetch.peer + 1;
    }
}

static void store(struct scene *scene, const struct msg_data *data)
{
    FUZZ_REQUIRE(data->chunk < CHUNKS && !scene->stored[data->chunk]);
    scene->stored[data->chunk] = true;
}

static void obey_data(struct scene *scene, const struct action *action)
{
    if (action->kind == ACTION_STORE)
        store(scene, &action->msg.data);
    if (action->kind == ACTION_FETCH)
        begin_fetch(scene, action);
    if (action->kind == ACTION_RECALL) {
        FUZZ_REQUIRE(!scene->recalling && !scene->machine.options.resident);
        scene->recalling = true;
    }
    if (action->kind == ACTION_SERVE) {
        FUZZ_REQUIRE(scene->keyed && !scene->machine.options.resident);
        scene->serves++;
    }
}

/* What was half read is lost (ROOM-2: but not what is computed from). */
static void hang_up(struct scene *scene)
{
    scene->linked = false;
    scene->coming.waits = false;
    scene->coming.arriving = false;
    outbox_abandon(&scene->outbox);
    while (scene->sending_count > SENDING - OUTBOXES) /* Old links end. */
        sent(scene);
}

static void obey(struct scene *scene)
{
    for (uint32_t i = 0; i < scene->actions.count; i++) {
        const struct action *action = &scene->actions.list[i];

        obey_data(scene, action);
        if (action->kind == ACTION_SEND) {
            FUZZ_REQUIRE(scene->linked);
            check_answer(&action->msg);
            send_from_box(scene, &action->msg);
        }
        if (action->kind == ACTION_CONNECT) {
            FUZZ_REQUIRE(!scene->linked);
            scene->connecting = true;
        }
        if (action->kind == ACTION_CLOSE)
            hang_up(scene);
        if (action->kind == ACTION_COMPUTE)
            begin_compute(scene, action);
        if (action->kind == ACTION_CANCEL) {
            FUZZ_REQUIRE(scene->computing);
            scene->called_off = true;
            scene->stalled = false;
        }
        if (action->kind == ACTION_FINISH)
            scene->over = true;
    }
}

static void step(struct scene *scene, struct event event)
{
    event.now = scene->now;
    worker_step(&scene->machine, &event, &scene->actions);
    obey(scene);
}

static void hear(struct scene *scene, const struct msg *msg)
{
    if (scene->linked)
        step(scene, (struct event){.kind = EVENT_MESSAGE, .msg = msg});
}

static void welcome(struct scene *scene)
{
    struct msg msg = {.kind = MSG_WELCOME};

    msg.welcome = (struct job){.id = 77,
                               .rows = 4 * CHUNKS,
                               .chunk_rows = 4,
                               .dims = DIMS,
                               .sum_dims = DIMS,
                               .chunks = CHUNKS,
                               .keyed = scene->keyed,
                               .beat_us = 50 * MS_US,
                               .dead_us = 2 * SECOND_US};
    hear(scene, &msg);
}

static struct round_key key_of(struct scene *scene)
{
    struct feed *feed = &scene->feed;

    scene->view += feed_below(feed, 8) == 1;
    scene->step += feed_below(feed, 2);
    return (struct round_key){.job = feed_below(feed, 16) == 1 ? 78 : 77,
                              .view = scene->view - feed_below(feed, 8) / 7,
                              .step = scene->step - feed_below(feed, 8) / 7};
}

/* Pieces of the job, as a coordinator would send them. */
static uint32_t fill(struct feed *feed, bool coded, struct item *items)
{
    const uint32_t count = feed_below(feed, ITEMS + 1);

    for (uint32_t i = 0; i < count; i++) {
        items[i].id = feed_u8(feed);
        items[i].first = feed_below(feed, CHUNKS);
        items[i].end =
            items[i].first + 1 + feed_below(feed, CHUNKS - items[i].first);
        items[i].coefficient = coded ? feed_below(feed, 3) : 1;
    }
    return count;
}

/* --- the inbox ----------------------------------------------------------- */

static bool inbox_used(const struct scene *scene)
{
    return worker_stays(&scene->machine) && scene->reading == INBOX;
}

/* Its first bytes are here: may the rest be read? */
static void make_room(struct scene *scene)
{
    struct coming *coming = &scene->coming;

    coming->waits = false;
    step(scene,
         (struct event){.kind = EVENT_COMING, .key = &coming->msg.round.key});
    if (!scene->linked)
        return;
    coming->waits = inbox_used(scene);
    coming->arriving = !coming->waits;
    if (!coming->arriving)
        return;
    scene->inbox[0] = GARBAGE;
    scene->inbox_scale[0] = 9;
}

/* ... and here is the rest. */
static void arrive(struct scene *scene)
{
    struct coming *coming = &scene->coming;
    struct msg_round *round = &coming->msg.round;

    if (!coming->arriving)
        return;
    coming->arriving = false;
    scene->inbox[0] = number_of(&round->key);
    scene->inbox_scale[0] = 0;
    round->weights = scene->inbox;
    round->direction =
        round->kind == EVALUATE_HESSVEC ? scene->inbox + DIMS : NULL;
    round->exponent = scene->inbox_scale;
    round->kept = INBOX;
    round->kept_scale = true;
    round->items = coming->items;
    hear(scene, &coming->msg);
}

/* Bulk messages come one after the other. */
static bool bulk_waits(const struct scene *scene)
{
    return scene->coming.waits || scene->coming.arriving;
}

static void send_by_inbox(struct scene *scene, const struct msg *msg)
{
    if (!scene->linked)
        return;
    scene->coming.msg = *msg;
    memcpy(scene->coming.items, msg->round.items, sizeof scene->coming.items);
    make_room(scene);
    if (feed_below(&scene->feed, 4) != 1)
        arrive(scene);
}

/* --- rounds -------------------------------------------------------------- */

/* Weights on the board are those of the last round there. */
static void post(struct scene *scene, struct msg_round *round)
{
    scene->board[0] = number_of(&round->key);
    scene->posted++;
    round->weights = scene->board;
    round->direction =
        round->kind == EVALUATE_HESSVEC ? scene->board + DIMS : NULL;
    round->kept = round->coded ? 0 : scene->posted;
}

static void open_round(struct scene *scene)
{
    static const int16_t exponent[DIMS + 1] = {0};
    double weights[2 * DIMS] = {0};
    struct feed *feed = &scene->feed;
    struct item items[ITEMS] = {{0}};
    struct msg msg = {.kind = MSG_ROUND};
    const uint32_t how = feed_u8(feed);
    const bool coded = how % 3 == 1;
    const bool twice = how / 3 % 4 == 3;

    if (bulk_waits(scene))
        return;
    msg.round = (struct msg_round){
        .key = twice ? scene->machine.key : key_of(scene),
        .assignment = feed_u8(feed),
        .coded = coded,
        .delay_s = feed_below(feed, 3) == 1 ? .05 : 0,
        .count = fill(feed, coded, items),
        .items = items,
        .kind = how / 12 % 4 == 3 ? EVALUATE_HESSVEC : EVALUATE_GRADIENT,
        .dims = DIMS,
        .exponent = exponent,
    };
    weights[0] = number_of(&msg.round.key);
    msg.round.weights = weights;
    if (msg.round.kind == EVALUATE_HESSVEC)
        msg.round.direction = weights + DIMS;
    if (scene->in_place && how / 48 % 4 >= 2) {
        send_by_inbox(scene, &msg);
        return;
    }
    if (scene->in_place && how / 48 % 4 == 1)
        post(scene, &msg.round);
    hear(scene, &msg);
}

static void add_or_drop(struct scene *scene)
{
    struct feed *feed = &scene->feed;
    struct item items[ITEMS];
    struct msg msg = {.kind = feed_below(feed, 2) ? MSG_WORK : MSG_DROP};

    if (bulk_waits(scene))
        return;
    msg.work = (struct msg_work){.key = scene->machine.key,
                                 .assignment = feed_u8(feed),
                                 .count = fill(feed, false, items),
                                 .items = items};
    hear(scene, &msg);
}

static void call_off(struct scene *scene)
{
    struct msg msg = {.kind = MSG_CANCEL};

    msg.cancel.key = scene->machine.key;
    msg.cancel.key.step += feed_below(&scene->feed, 2);
    hear(scene, &msg);
}

static void ship(struct scene *scene)
{
    struct msg msg = {.kind = MSG_DATA};

    if (bulk_waits(scene))
        return;
    msg.data.chunk = feed_below(&scene->feed, CHUNKS + 2);
    msg.data.bytes = feed_view(&scene->feed, &msg.data.size);
    hear(scene, &msg);
}

/* --- data ---------------------------------------------------------------- */

static void describe(struct scene *scene)
{
    static const uint8_t digests[(CHUNKS + 1) * DIGEST_BYTES];
    struct msg msg = {.kind = MSG_CHUNKS};

    msg.chunks.count = CHUNKS + (feed_below(&scene->feed, 8) == 1);
    msg.chunks.digests = digests;
    if (!bulk_waits(scene))
        hear(scene, &msg);
}

static void recalled(struct scene *scene)
{
    struct chunkset near;
    const uint32_t first = feed_below(&scene->feed, CHUNKS);
    const uint32_t end = first + feed_below(&scene->feed, CHUNKS + 1 - first);

    if (!scene->recalling)
        return;
    scene->recalling = false;
    FUZZ_REQUIRE(chunkset_init(&near, CHUNKS) == ERR_OK);
    chunkset_add_range(&near, first, end);
    step(scene, (struct event){.kind = EVENT_RECALLED, .near = &near});
    chunkset_close(&near);
}

static void let_fetch(struct scene *scene)
{
    struct feed *feed = &scene->feed;
    struct msg msg = {.kind = MSG_FETCH};

    msg.fetch.first = feed_below(feed, CHUNKS + 1);
    msg.fetch.end = msg.fetch.first + feed_below(feed, 8);
    msg.fetch.peer = feed_below(feed, 4);
    msg.fetch.port = 7;
    if (!bulk_waits(scene))
        hear(scene, &msg);
}

/* Some chunks of one fetch, all of one fate. */
static void fetched(struct scene *scene)
{
    static const enum err fates[] = {ERR_OK, ERR_OK, ERR_NOTFOUND,
                                     ERR_MISMATCH};
    uint32_t first = feed_below(&scene->feed, CHUNKS);
    const uint32_t most = 1 + feed_below(&scene->feed, 4);
    const enum err err = fates[feed_below(&scene->feed, 4)];
    uint32_t end, peer;

    while (first < CHUNKS && scene->fetching[first] == 0)
        first++;
    if (first == CHUNKS)
        return;
    peer = scene->fetching[first];
    for (end = first;
         end < CHUNKS && end - first < most && scene->fetching[end] == peer;
         end++) {
        scene->fetching[end] = 0;
        scene->stored[end] = scene->stored[end] || err == ERR_OK;
    }
    step(scene, (struct event){.kind = EVENT_FETCHED,
                               .chunk = first,
                               .end = end,
                               .peer = peer - 1,
                               .err = err});
}

static void serve(struct scene *scene)
{
    const struct msg msg = {.kind = MSG_SERVE};
    const bool answer = feed_below(&scene->feed, 2) != 0;

    if (!answer) {
        hear(scene, &msg);
    } else if (scene->serves > 0) {
        scene->serves--;
        step(scene, (struct event){.kind = EVENT_SERVING, .port = 9});
    }
}

static void of_data(struct scene *scene)
{
    switch (feed_below(&scene->feed, 5)) {
    case 0:
        describe(scene);
        break;
    case 1:
        recalled(scene);
        break;
    case 2:
        let_fetch(scene);
        break;
    case 3:
        fetched(scene);
        break;
    default:
        serve(scene);
        break;
    }
}

/* ------------------------------------------------------------------------- */

static void say_raw(struct scene *scene)
{
    struct msg msg;
    size_t size;
    const uint8_t *bytes = feed_view(&scene->feed, &size);

    /* The driver makes room for one job; another is refused before. */
    if (codec_decode(bytes, size, &scene->room, &msg) != ERR_OK ||
        msg.kind == MSG_WELCOME || (msg_is_bulk(msg.kind) && bulk_waits(scene)))
        return;
    if (msg.kind == MSG_ROUND) {
        scene->room.weights[0] = number_of(&msg.round.key);
        scene->room.exponent[0] = 0;
    }
    hear(scene, &msg);
}

static void link_changes(struct scene *scene)
{
    if (scene->linked || scene->connecting) {
        const bool up = scene->connecting && feed_below(&scene->feed, 4) != 0;

        scene->connecting = false;
        hang_up(scene);
        scene->linked = up;
        step(scene,
             (struct event){.kind = up ? EVENT_LINK_UP : EVENT_LINK_DOWN});
    }
}

/* The sums are what the weights are now. */
static const int64_t *add_up(struct scene *scene, bool lend)
{
    struct tally *tally = scene->compute.tally;
    const int64_t found = (int64_t)scene->compute.what.w[0]
                          << (uint32_t)scene->compute.exponent[0];

    if (scene->box != NULL) {
        memset(scene->box, 0, DIMS * sizeof *scene->box);
        scene->box[0] = found;
        return scene->box;
    }
    if (lend && !scene->machine.coded) {
        scene->lent[0] = found;
        return scene->lent;
    }
    tally_fill(tally);
    tally->sum[0] = found;
    return NULL;
}

static void computed(struct scene *scene)
{
    const uint32_t how = feed_u8(&scene->feed);
    struct event event = {.kind = EVENT_COMPUTED, .compute_us = 100};

    if (!scene->computing || scene->stalled)
        return;
    scene->computing = false;
    if (scene->called_off)
        event.err = ERR_CANCELLED;
    else if (how % 8 == 1)
        event.err = ERR_RANGE;
    else
        event.sum = add_up(scene, how / 8 % 2 != 0);
    if (scene->reading != 0 && scene->reading != INBOX &&
        scene->reading != scene->posted)
        event.err = ERR_STALE;
    step(scene, event);
}

static void happen(struct scene *scene)
{
    switch (feed_below(&scene->feed, 16)) {
    case 0:
        scene->now += (time_us)feed_u8(&scene->feed) * 10 * MS_US;
        step(scene, (struct event){.kind = EVENT_TIME});
        break;
    case 1:
    case 2:
        link_changes(scene);
        break;
    case 3:
        welcome(scene);
        break;
    case 4:
        say_raw(scene);
        break;
    case 5:
        ship(scene);
        break;
    case 6:
        add_or_drop(scene);
        break;
    case 7:
        call_off(scene);
        break;
    case 8:
        if (feed_below(&scene->feed, 16) == 1)
            step(scene, (struct event){.kind = EVENT_LEAVE});
        break;
    case 9:
    case 12:
        open_round(scene);
        break;
    case 13:
        of_data(scene);
        break;
    case 14:
        if (feed_below(&scene->feed, 2) != 0)
            sent(scene);
        else
            arrive(scene);
        break;
    default:
        computed(scene);
        break;
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct scene scene = {
        .feed = {.data = data, .size = size}, .view = 1, .step = 1};
    const uint32_t pick = feed_u8(&scene.feed);
    const struct worker_options options = {
        .name = "w0",
        .incarnation = 5,
        .resident = pick % 2 != 0,
        .keeps = pick / 8 % 2 != 0,
        .retry_us = 10 * MS_US,
        .retry_max_us = 100 * MS_US,
        .give_up_us = TIME_NEVER,
    };

    scene.keyed = pick / 2 % 2 != 0;
    scene.in_place = pick / 4 % 2 != 0;
    scene.boxes_max = 1 + pick / 16 % 2;
    outbox_init(&scene.outbox, DIMS);
    FUZZ_REQUIRE(actions_init(&scene.actions, 8) == ERR_OK);
    FUZZ_REQUIRE(codec_room_init(&scene.room, DIMS, DIMS, 64) == ERR_OK);
    worker_init(&scene.machine, &options);
    step(&scene, (struct event){.kind = EVENT_START});
    for (uint32_t i = 0;
         i < EVENTS_MAX && feed_more(&scene.feed) && !scene.over; i++) {
        happen(&scene);
        if (scene.coming.waits && !inbox_used(&scene))
            make_room(&scene);
    }
    fuzz_reached = scene.machine.chunks_done > 0;
    worker_close(&scene.machine);
    while (scene.sending_count > 0)
        sent(&scene);
    outbox_close(&scene.outbox);
    envelope_close(&scene.envelope);
    codec_room_close(&scene.room);
    actions_close(&scene.actions);
    return 0;
}
