/*
 * fuzz_ring.c - a peer of a ring among others that say anything, at any time,
 * in any order (RING-1..8).
 *
 * The input chooses how tallies travel (whole, or in slices and segments) and
 * whether there is a ledger, and then what happens: time passes, others greet,
 * tell whom they hear, propose views, report where they stand, send their
 * state, parts and totals, rightly or with a field of it changed, part, beat,
 * boast of their time, refuse, break off, or send bytes of the input as they
 * are; what was asked of the driver is done, at once or late; the run is
 * stopped.  All goes through the codec.
 *
 * Chunk c adds c + 1 to every coordinate, so that the path of the weights is
 * known: it was made before by a peer alone, whose state at each step is what
 * the others send.  Oracles: as long as nobody lied about a number, every step
 * of this peer has the weights of that path, and every part and total that it
 * sends is right, whatever else was wrong; no word to one that has not greeted;
 * one computation at a time; members of a view are heard, and their chunks do
 * not overlap; who is shut out stays so.
 */
#include <math.h>
#include <string.h>

#include "base/mem.h"
#include "base/quick.h"
#include "core/ring/peer.h"
#include "feed.h"
#include "fuzz.h"
#include "wire/codec.h"

#define DIMS       (5 * PACK_BLOCK + 7)
#define CHUNKS     12u
#define STEPS      3u
#define OTHERS     4u
#define LINKS      8u /* That others dialled. */
#define DIALS      PEERS_MAX
#define ROADS      (LINKS + DIALS)
#define EVENTS_MAX 300u
#define STATE_MAX  65536u

static const char *const names[OTHERS] = {"a", "b", "d", "e"}; /* "c": self. */

/* The path: at the beginning of each step. */
static struct {
    bool known;
    struct round_key key[STEPS];
    double weights[STEPS + 1][DIMS];
    uint8_t state[STEPS + 1][STATE_MAX];
    size_t size[STEPS + 1];
    uint64_t position[STEPS + 1];
} path;

struct road {
    bool up;       /* Both ways. */
    bool greeted;  /* By who is there, ... */
    uint32_t who;  /* ... one of `names`. */
    uint64_t life; /* Of that one. */
};

struct scene {
    struct feed feed;
    struct peer machine;
    struct actions actions;
    struct codec_room room;
    uint8_t *bytes; /* Of a message, encoded. */
    size_t bytes_max;
    time_us now;
    struct road roads[ROADS];
    bool dialled[DIALS]; /* LINK_UP or LINK_DOWN is owed. */
    struct computation asked;
    bool computing;
    uint32_t journals;
    bool checkpoint;
    uint32_t checkpoint_step;
    bool lied; /* About a number: from then on weights may be any. */
    bool over;
};

/* --- the trainer ---------------------------------------------------------- */

static enum err exponents(struct scale *self, const struct evaluation *what,
                          int16_t *exponent)
{
    (void)self;
    (void)what;
    for (uint32_t j = 0; j < DIMS; j++)
        exponent[j] = 20;
    exponent[DIMS] = 60;
    return ERR_OK;
}

static const struct scale_ops scale_ops = {.exponents = exponents};
static struct scale scale = {.ops = &scale_ops};

static struct peer_options options_of(uint32_t pick)
{
    struct peer_options options = {
        .name = "c",
        .place = "c:1",
        .incarnation = 3,
        .trainer = {.optim = {.kind = OPTIM_MOMENTUM,
                              .rate = .001,
                              .decay = 1,
                              .momentum = .5,
                              .steps = STEPS,
                              .rows = 64},
                    .scale = &scale,
                    .dims = DIMS,
                    .vectors = 1,
                    .length = DIMS,
                    .kept = pick / 2 % 2 != 0,
                    .ledger = {.checkpoint_steps = 2,
                               .checkpoint_us = TIME_NEVER,
                               .sync = pick / 4 % 2 != 0}},
        .chunks = CHUNKS,
        .end = CHUNKS,
        .least = 1 + pick / 16 % 3,
        .small = pick % 2 != 0 ? DIMS : PACK_BLOCK,
        .segment = PACK_BLOCK,
        .state_segment = 1000,
        .beat_us = 50 * MS_US,
        .pulse_us = 150 * MS_US,
        .dead_us = SECOND_US,
        .retry_us = 10 * MS_US,
        .retry_max_us = 100 * MS_US,
    };

    if (pick / 64 == 1)
        memcpy(options.contact, "a:1", 4);
    options.config.bytes[0] = 7;
    options.arithmetic.bytes[0] = 8;
    return options;
}

/* What chunks [first, end) come to, in each coordinate and in the loss. */
static int64_t worth(uint32_t first, uint32_t end)
{
    int64_t sum = 0;

    for (uint32_t chunk = first; chunk < end; chunk++)
        sum += chunk + 1;
    return sum;
}

static void compute(const struct computation *asked)
{
    struct tally *tally = asked->tally;

    tally->blank = false;
    for (uint32_t j = 0; j < tally->dims; j++)
        tally->sum[j] = worth(asked->first, asked->end);
    tally->loss = worth(asked->first, asked->end);
    chunkset_add_range(&tally->chunks, asked->first, asked->end);
}

static void note_path(struct peer *alone)
{
    const uint32_t step = alone->trainer.optim.step;
    struct writer out = writer_on(path.state[step], STATE_MAX);

    trainer_save(&alone->trainer, &out);
    FUZZ_REQUIRE(out.ok);
    path.size[step] = out.size;
    path.position[step] = peer_position(alone);
    memcpy(path.weights[step], trainer_weights(&alone->trainer),
           sizeof path.weights[step]);
    if (step < STEPS)
        path.key[step] = alone->key;
}

/* A peer alone makes the path. */
static void make_path(void)
{
    struct peer_options options = options_of(0);
    struct actions actions;
    struct event event = {.kind = EVENT_START};
    struct peer alone;

    if (path.known)
        return;
    FUZZ_REQUIRE(actions_init(&actions, 8) == ERR_OK);
    FUZZ_REQUIRE(peer_init(&alone, &options) == ERR_OK);
    for (;;) {
        actions.count = 0;
        peer_step(&alone, &event, &actions);
        note_path(&alone);
        if (!alone.computing)
            break;
        for (uint32_t i = 0; i < actions.count; i++)
            if (actions.list[i].kind == ACTION_COMPUTE)
                compute(&actions.list[i].computation);
        event.kind = EVENT_COMPUTED;
    }
    FUZZ_REQUIRE(alone.trainer.optim.step == STEPS);
    peer_close(&alone);
    actions_close(&actions);
    path.known = true;
}

/* --- what the machine does ------------------------------------------------ */

static struct road *road_of(struct scene *scene, uint32_t link)
{
    FUZZ_REQUIRE(link < LINKS ||
                 (link >= PEER_DIALLED && link < PEER_DIALLED + DIALS));
    return &scene->roads[link < LINKS ? link : LINKS + link - PEER_DIALLED];
}

static uint32_t link_of(uint32_t road)
{
    return road < LINKS ? road : PEER_DIALLED + road - LINKS;
}

/* Sums and their bounds are right. */
static void check_slice(const struct scene *scene, const struct msg_slice *msg)
{
    FUZZ_REQUIRE(msg->dims == DIMS && msg->at + msg->count <= DIMS);
    FUZZ_REQUIRE(msg->first <= msg->end && msg->end <= CHUNKS);
    for (uint32_t j = 0; j < msg->count && !scene->lied; j++)
        FUZZ_REQUIRE(msg->sum[j] == worth(msg->first, msg->end));
}

static void check_send(struct scene *scene, const struct action *action)
{
    const struct road *road = road_of(scene, action->link);
    const enum msg_kind kind = action->msg.kind;

    FUZZ_REQUIRE(road->up);
    FUZZ_REQUIRE(road->greeted || kind == MSG_MEET || kind == MSG_REJECT);
    FUZZ_REQUIRE(codec_bound(&action->msg) <= scene->bytes_max);
    (void)codec_encode(&action->msg, scene->bytes);
    if (kind == MSG_SLICE)
        check_slice(scene, &action->msg.slice);
}

static void obey(struct scene *scene, const struct action *action)
{
    switch ((int)action->kind) {
    case ACTION_SEND:
        check_send(scene, action);
        break;
    case ACTION_CLOSE:
        *road_of(scene, action->link) = (struct road){0};
        if (action->link >= PEER_DIALLED)
            scene->dialled[action->link - PEER_DIALLED] = false;
        break;
    case ACTION_CONNECT:
        FUZZ_REQUIRE(action->link >= PEER_DIALLED && action->place[0] != '\0');
        FUZZ_REQUIRE(!road_of(scene, action->link)->up);
        scene->dialled[action->link - PEER_DIALLED] = true;
        break;
    case ACTION_COMPUTE:
        FUZZ_REQUIRE(!scene->computing);
        scene->computing = true;
        scene->asked = action->computation;
        break;
    case ACTION_CANCEL:
        FUZZ_REQUIRE(scene->computing);
        break;
    case ACTION_JOURNAL:
        scene->journals++;
        break;
    case ACTION_CHECKPOINT:
        FUZZ_REQUIRE(!scene->checkpoint);
        scene->checkpoint = true;
        scene->checkpoint_step = action->step;
        break;
    case ACTION_FINISH:
        scene->over = true;
        break;
    default:
        break;
    }
}

static void check_view(const struct peer *p)
{
    const struct ring_view *view = &p->view;

    FUZZ_REQUIRE(view->count == ring_count(view->members));
    FUZZ_REQUIRE(view->count == 0 || (view->members & 1) != 0);
    for (uint32_t i = 0; i < view->count; i++) {
        const uint32_t seat = view->seat[i];

        FUZZ_REQUIRE((view->members >> seat & 1) != 0);
        FUZZ_REQUIRE(seat == 0 || p->broken ||
                     p->seats[seat].link != PEER_NO_LINK);
        for (uint32_t k = 0; k < i; k++) {
            FUZZ_REQUIRE(
                strcmp(p->seats[view->seat[k]].name, p->seats[seat].name) < 0);
            FUZZ_REQUIRE(view->first[k] == view->end[k] ||
                         view->first[i] == view->end[i] ||
                         view->end[k] <= view->first[i] ||
                         view->end[i] <= view->first[k]);
        }
    }
}

static void check_seats(struct scene *scene)
{
    const struct peer *p = &scene->machine;

    FUZZ_REQUIRE(p->seat_count >= 1 && p->seat_count <= PEERS_MAX);
    for (uint32_t i = 1; i < p->seat_count; i++) {
        const struct peer_seat *seat = &p->seats[i];

        if (seat->link == PEER_NO_LINK)
            continue;
        FUZZ_REQUIRE(!seat->banned);
        FUZZ_REQUIRE(road_of(scene, seat->link)->greeted);
        for (uint32_t k = 1; k < i; k++)
            FUZZ_REQUIRE(p->seats[k].link != seat->link);
    }
}

static void check(struct scene *scene)
{
    const struct peer *p = &scene->machine;
    const uint32_t step = p->trainer.optim.step;

    FUZZ_REQUIRE(step <= STEPS);
    FUZZ_REQUIRE(scene->lied ||
                 memcmp(trainer_weights(&p->trainer), path.weights[step],
                        sizeof path.weights[step]) == 0);
    FUZZ_REQUIRE(p->computing == scene->computing);
    FUZZ_REQUIRE(p->phase != PEER_DONE || scene->over);
    if (p->phase < PEER_ENDING) {
        check_view(p);
        check_seats(scene);
    }
}

static void step(struct scene *scene, struct event event)
{
    if (scene->over)
        return;
    event.now = scene->now;
    scene->actions.count = 0;
    peer_step(&scene->machine, &event, &scene->actions);
    for (uint32_t i = 0; i < scene->actions.count; i++)
        obey(scene, &scene->actions.list[i]);
    check(scene);
}

/* --- what others say ------------------------------------------------------ */

/* By the codec, as all of it comes.  False: no such message. */
static bool deliver(struct scene *scene, uint32_t link, const uint8_t *bytes,
                    size_t size)
{
    struct road *road = road_of(scene, link);
    struct msg msg;

    if (scene->over || !road->up ||
        codec_decode(bytes, size, &scene->room, &msg) != ERR_OK ||
        msg.leaf != 0)
        return false;
    if (msg.kind == MSG_MEET)
        road->greeted = true;
    if (link < LINKS && !road->greeted)
        return false; /* The mesh lets nothing else in. */
    step(scene,
         (struct event){.kind = EVENT_MESSAGE, .link = link, .msg = &msg});
    return true;
}

static void say(struct scene *scene, uint32_t road, const struct msg *msg)
{
    const size_t size = codec_bound(msg);
    uint8_t *const bytes = mem_new(size, 1); /* To its end: ASan looks. */
    size_t used;

    FUZZ_REQUIRE(bytes != NULL);
    used = codec_encode(msg, bytes);
    (void)deliver(scene, link_of(road), bytes, used);
    mem_free(bytes);
}

/* One field in eight is not as it should be. */
static uint32_t twist_of(struct scene *scene)
{
    const uint32_t pick = feed_u8(&scene->feed);

    return pick < 128 ? 0 : pick % 16;
}

static void meet(struct scene *scene, uint32_t road, uint32_t who)
{
    struct peer_options like = options_of(0);
    const uint32_t twist = twist_of(scene);
    struct msg msg = {.kind = MSG_MEET};

    msg.meet = (struct msg_meet){.version = MSG_VERSION - (twist == 1),
                                 .incarnation = 100 + (twist == 2),
                                 .config = like.config,
                                 .given = like.given,
                                 .arithmetic = like.arithmetic,
                                 .end = CHUNKS};
    memcpy(msg.meet.name, names[who], 2);
    memcpy(msg.meet.place, names[who], 2);
    if (twist == 3)
        msg.meet.config.bytes[1]++;
    if (twist == 4)
        msg.meet.arithmetic.bytes[1]++;
    if (twist == 5)
        msg.meet.end = CHUNKS + 1;
    if (twist == 6)
        msg.meet.name[0] = 'c';
    if (twist == 7) { /* Private rows. */
        msg.meet.first = feed_below(&scene->feed, CHUNKS + 1);
        msg.meet.end = msg.meet.first +
                       feed_below(&scene->feed, CHUNKS + 1 - msg.meet.first);
    }
    scene->roads[road].who = who;
    say(scene, road, &msg);
}

/* The number of a view, as it is or out of the way. */
static uint64_t number_of(struct scene *scene, uint64_t number, uint32_t twist)
{
    if (twist == 1)
        return UINT64_MAX;
    return twist == 2 ? feed_u64(&scene->feed) : number;
}

static void roster(struct scene *scene, uint32_t road)
{
    const struct peer *p = &scene->machine;
    const uint32_t twist = twist_of(scene);
    const uint32_t mask = feed_u8(&scene->feed);
    struct ring_known known[PEERS_MAX] = {{.name = "c", .place = "c:1"}};
    struct msg msg = {.kind = MSG_ROSTER};

    known[0].heard = mask % 16 != 15;
    known[0].member = mask / 16 % 2 != 0;
    for (uint32_t i = 0; i < OTHERS; i++) {
        memcpy(known[1 + i].name, names[i], 2);
        known[1 + i].place[0] = names[i][0];
        known[1 + i].heard = (mask >> i & 1) == 0;
        known[1 + i].member = (mask >> (4 + i) & 1) != 0;
    }
    msg.roster = (struct msg_roster){.view = p->view.name,
                                     .broken = twist == 3,
                                     .count = 1 + OTHERS,
                                     .known = known};
    msg.roster.view.number = number_of(scene, p->view.name.number, twist);
    if (twist == 4)
        msg.roster.view.number++;
    if (msg.roster.view.number != 0 && (twist == 4 || p->view.count == 0))
        memcpy(msg.roster.view.proposer, names[scene->roads[road].who], 2);
    if (twist == 5) { /* Names without end. */
        for (uint32_t i = 1; i < PEERS_MAX; i++)
            known[i] = (struct ring_known){
                .name = {'x', (char)('a' + i / 8), (char)('a' + i % 8)},
                .heard = true};
        msg.roster.count = PEERS_MAX;
    }
    say(scene, road, &msg);
}

static void propose(struct scene *scene, uint32_t road)
{
    const struct peer *p = &scene->machine;
    const uint32_t twist = twist_of(scene);
    const uint32_t mask = feed_u8(&scene->feed);
    const uint32_t who = scene->roads[road].who;
    struct ring_known members[2 + OTHERS] = {{.name = "c"}};
    struct msg msg = {.kind = MSG_PROPOSE};
    uint32_t count = 1;

    for (uint32_t i = 0; i < OTHERS; i++)
        if (i == who ? twist != 3 : (mask >> i & 1) != 0)
            memcpy(members[count++].name, names[i], 2);
    msg.propose =
        (struct msg_propose){.number = number_of(scene, p->highest + 1, twist),
                             .incarnation = 100,
                             .position = peer_position(p) + mask / 16 % 4,
                             .count = count - (twist == 4),
                             .members = members + (twist == 4)};
    if (msg.propose.number != 0)
        say(scene, road, &msg);
}

static uint32_t step_of(struct scene *scene)
{
    const uint32_t pick = feed_u8(&scene->feed);

    return pick < 192 ? scene->machine.trainer.optim.step : pick % (STEPS + 1);
}

static struct ring_stand stand_at(uint32_t at)
{
    return (struct ring_stand){
        .position = path.position[at],
        .step = at,
        .started = true,
        .state = quick_long(NULL, path.state[at], path.size[at], 0),
        .weights = at < STEPS ? path.key[at].weights : 0};
}

static void report(struct scene *scene, uint32_t road)
{
    const uint32_t twist = twist_of(scene);
    struct msg msg = {.kind = MSG_REPORT};

    msg.report = (struct msg_report){.view = scene->machine.view.key,
                                     .doubt = twist == 1,
                                     .stand = stand_at(step_of(scene))};
    if (twist == 2)
        msg.report.view = feed_u64(&scene->feed);
    if (twist == 3)
        msg.report.stand.state++;
    if (twist == 4)
        msg.report.stand.weights++;
    if (twist == 5)
        msg.report.stand.position = feed_u64(&scene->feed);
    say(scene, road, &msg);
}

/* Whole, or a part of it, where the last one ended. */
static void state(struct scene *scene, uint32_t road)
{
    const struct peer *p = &scene->machine;
    const uint32_t twist = twist_of(scene);
    const uint32_t at = step_of(scene);
    const size_t size = path.size[at];
    size_t from = p->state_got < size ? p->state_got : 0;
    size_t count = size - from;
    struct msg msg = {.kind = MSG_STATE};
    uint8_t *bytes = mem_new(size, 1);

    FUZZ_REQUIRE(bytes != NULL);
    memcpy(bytes, path.state[at], size);
    if (twist == 1)
        from = feed_u8(&scene->feed) % size, count = size - from;
    if (twist == 2)
        count /= 2;
    if (twist == 3)
        bytes[feed_u64(&scene->feed) % size] ^= 1;
    msg.state = (struct msg_state){.view = p->view.key,
                                   .size = size,
                                   .at = from,
                                   .bytes = bytes + from,
                                   .count = count};
    if (twist == 4)
        msg.state.size = UINT64_MAX;
    if (twist == 5)
        msg.state.size = msg.state.at = count = 0, msg.state.count = 0;
    say(scene, road, &msg);
    mem_free(bytes);
}

/* --- slices --------------------------------------------------------------- */

static uint32_t rank_of(const struct peer *p, uint32_t link)
{
    for (uint32_t i = 0; i < p->view.count; i++)
        if (p->view.seat[i] != 0 && p->seats[p->view.seat[i]].link == link)
            return i;
    return PEERS_MAX;
}

static uint32_t feed_u16(struct feed *feed)
{
    const uint32_t high = feed_u8(feed);

    return high << 8 | feed_u8(feed);
}

/* Fields that make no number wrong: whoever sends it so is shut out, doubted or
 * not heard, and what is fed stays right. */
static void twist_slice(struct scene *scene, struct msg_slice *msg,
                        uint32_t twist)
{
    static int64_t huge[DIMS];

    for (uint32_t j = 0; j < DIMS && twist == 1; j++)
        huge[j] = INT64_MAX;
    switch (twist) {
    case 1:
        msg->sum = huge;
        break;
    case 2:
        msg->at = feed_u16(&scene->feed) % (DIMS - msg->count + 1);
        break;
    case 3:
        msg->count = feed_u16(&scene->feed) % (msg->count + 1);
        break;
    case 4:
        msg->dims = 1 + feed_u16(&scene->feed) % DIMS;
        msg->at %= msg->dims;
        if (msg->count > msg->dims - msg->at)
            msg->count = msg->dims - msg->at;
        break;
    case 5:
        msg->first = msg->end;
        break;
    case 6:
        msg->key.view++;
        break;
    case 7:
        msg->key.weights++;
        break;
    case 8:
        msg->key.scale++;
        break;
    case 9:
        msg->total = !msg->total;
        break;
    case 10:
        msg->flags = SLICE_STOP;
        break;
    case 11:
        msg->loss = (tally_loss)1 << 120;
        break;
    case 12:
        msg->key.attempt++;
        break;
    case 13:
        msg->flags = SLICE_TOOBIG;
        break;
    default:
        break;
    }
}

/* A part of own slice, or a total of the other's. */
static void slice(struct scene *scene, uint32_t road, bool total,
                  uint32_t number, uint32_t at, uint32_t twist)
{
    const struct peer *p = &scene->machine;
    const uint32_t rank = rank_of(p, link_of(road));
    struct slice_shape shape = {.dims = DIMS,
                                .ranks = p->view.count,
                                .self = p->view.self,
                                .small = p->options.small,
                                .segment = p->options.segment};
    int64_t sums[DIMS];
    struct slice_range range;
    struct msg msg = {.kind = MSG_SLICE};

    if (rank == PEERS_MAX || at >= STEPS)
        return;
    if (total)
        shape.self = rank;
    if (number >= exchange_segments(&shape))
        return;
    range = exchange_segment(&shape, number);
    msg.slice = (struct msg_slice){.key = path.key[at],
                                   .total = total,
                                   .first = total ? 0 : p->view.first[rank],
                                   .end = total ? CHUNKS : p->view.end[rank],
                                   .dims = DIMS,
                                   .at = range.at,
                                   .count = range.end - range.at,
                                   .sum = sums};
    msg.slice.key.view = p->view.key;
    msg.slice.loss = total ? 0 : worth(msg.slice.first, msg.slice.end);
    for (uint32_t j = 0; j < DIMS; j++)
        sums[j] = worth(msg.slice.first, msg.slice.end);
    if (!total && msg.slice.first == msg.slice.end)
        msg.slice.at = msg.slice.count = 0;
    twist_slice(scene, &msg.slice, twist);
    say(scene, road, &msg);
}

static void some_slice(struct scene *scene, uint32_t road)
{
    const uint32_t pick = feed_u8(&scene->feed);
    const uint32_t at =
        scene->machine.trainer.optim.step + (pick % 8 == 7 ? 1 : 0);
    const uint32_t twist = twist_of(scene);

    slice(scene, road, pick / 8 % 2 != 0, pick / 16 % 6, at, twist);
}

/* All that is right to say for the round at hand. */
static void help(struct scene *scene, uint32_t road)
{
    const uint32_t at = scene->machine.trainer.optim.step;

    for (uint32_t i = 0; i < 2 * (DIMS / PACK_BLOCK + 1); i++)
        slice(scene, road, i % 2 != 0, i / 2, at, 0);
}

/* Does it report, and then help? */
static void agree(struct scene *scene, uint32_t road)
{
    struct msg msg = {.kind = MSG_REPORT};
    const uint32_t at = scene->machine.trainer.optim.step;

    msg.report = (struct msg_report){.view = scene->machine.view.key,
                                     .stand = stand_at(at)};
    say(scene, road, &msg);
    help(scene, road);
}

/* --- the rest ------------------------------------------------------------- */

/* Whatever others say of their time, numbers come of it. */
static void check_pace(const struct scene *scene)
{
    const struct peer *p = &scene->machine;

    for (uint32_t i = 0; i < p->seat_count; i++) {
        const struct slow_times times = slow_times(&p->seats[i].slow);

        FUZZ_REQUIRE(isfinite(times.owed) && times.owed >= 0);
        for (int k = SLOW_COMPUTE; k < SLOW_CAUSES; k++)
            FUZZ_REQUIRE(isfinite(times.part[k]) && times.part[k] >= 0);
    }
}

static struct msg_pulse some_pulse(uint32_t pick)
{
    const int64_t most = OFFSET_CLOCK_MAX;

    return (struct msg_pulse){
        .ahead_us = pick % 2 != 0 ? -most : most,
        .error_us = pick / 2 % 2 != 0 ? OFFSET_UNKNOWN : most,
        .trip_us = most,
        .full = pick / 4 % 4 != 3,
        .vitals = {.compute_us = pick / 2 % 2 != 0 ? most : pick,
                   .cpu_us = pick / 4 % 2 != 0 ? most : 0,
                   .starved_us = pick / 8 % 2 != 0 ? most : 0,
                   .stopped_us = pick / 16 % 2 != 0 ? most : 0,
                   .held_us = pick / 32 % 2 != 0 ? most : 0,
                   .loop_us = pick % 2 != 0 ? most : 0,
                   .unsent_bytes = UINT64_MAX,
                   .faults = pick,
                   .chunks = pick / 16 % 2 != 0 ? UINT64_MAX : pick}};
}

static void small(struct scene *scene, uint32_t road)
{
    static const enum msg_kind kinds[] = {MSG_BEAT, MSG_PULSE, MSG_PARTING,
                                          MSG_REJECT};
    const uint32_t pick = feed_u8(&scene->feed);
    struct msg msg = {.kind = kinds[pick % 4]};

    if (msg.kind == MSG_PARTING)
        msg.parting = (struct msg_parting){.model = pick / 4 % 2 != 0,
                                           .leaves = pick / 8 % 4 == 3};
    if (msg.kind == MSG_PULSE)
        msg.pulse = some_pulse(pick / 4);
    say(scene, road, &msg);
    check_pace(scene);
}

static void say_raw(struct scene *scene, uint32_t road)
{
    size_t size;
    const uint8_t *bytes = feed_view(&scene->feed, &size);
    uint8_t *copy = mem_new(size + 1, 1);

    FUZZ_REQUIRE(copy != NULL);
    memcpy(copy, bytes, size);
    if (size > 0 &&
        (copy[0] == MSG_SLICE || copy[0] == MSG_STATE || copy[0] == MSG_REPORT))
        scene->lied = true;
    (void)deliver(scene, link_of(road), copy, size);
    mem_free(copy);
}

static void computed(struct scene *scene)
{
    const bool cancelled = scene->machine.cancelled;
    const uint32_t pick = feed_u8(&scene->feed);

    if (!scene->computing)
        return;
    scene->computing = false;
    compute(&scene->asked);
    step(scene, (struct event){.kind = EVENT_COMPUTED,
                               .err = cancelled && pick % 2 != 0 ? ERR_CANCELLED
                                                                 : ERR_OK});
}

static void disk(struct scene *scene)
{
    const uint32_t pick = feed_u8(&scene->feed);
    const enum err err = pick > 250 ? ERR_IO : ERR_OK;

    if (scene->journals > 0) {
        scene->journals--;
        step(scene, (struct event){.kind = EVENT_JOURNALED, .err = err});
    } else if (scene->checkpoint) {
        scene->checkpoint = false;
        step(scene, (struct event){.kind = EVENT_CHECKPOINTED,
                                   .step = scene->checkpoint_step,
                                   .err = err});
    }
}

static void come(struct scene *scene, uint32_t road)
{
    const uint32_t pick = feed_u8(&scene->feed);

    if (!scene->roads[road].up)
        scene->roads[road] = (struct road){.up = true};
    meet(scene, road, pick % OTHERS);
}

/* What was dialled answers, or does not. */
static void answer(struct scene *scene)
{
    const uint32_t pick = feed_u8(&scene->feed);

    for (uint32_t i = 0; i < DIALS; i++) {
        const uint32_t link = PEER_DIALLED + i;

        if (!scene->dialled[i])
            continue;
        scene->dialled[i] = false;
        if (pick % 4 == 3) {
            step(scene, (struct event){.kind = EVENT_LINK_DOWN, .link = link});
            return;
        }
        scene->roads[LINKS + i].up = true;
        step(scene, (struct event){.kind = EVENT_LINK_UP, .link = link});
        if (scene->roads[LINKS + i].up)
            meet(scene, LINKS + i, pick / 4 % OTHERS);
        return;
    }
}

static void break_off(struct scene *scene, uint32_t road)
{
    if (!scene->roads[road].up)
        return;
    scene->roads[road] = (struct road){0};
    step(scene, (struct event){.kind = EVENT_LINK_DOWN, .link = link_of(road)});
}

/* One that greeted, if there is one. */
static uint32_t choose_road(struct scene *scene)
{
    const uint32_t pick = feed_u8(&scene->feed);
    uint32_t greeted[ROADS];
    uint32_t count = 0;

    for (uint32_t i = 0; i < ROADS; i++)
        if (scene->roads[i].greeted)
            greeted[count++] = i;
    return count == 0 ? pick % LINKS : greeted[pick % count];
}

static void happen(struct scene *scene)
{
    const uint32_t what = feed_below(&scene->feed, 20);
    const uint32_t road = choose_road(scene);

    switch (what) {
    case 0:
        scene->now += (time_us)feed_u8(&scene->feed) * 5 * MS_US;
        step(scene, (struct event){.kind = EVENT_TIME});
        break;
    case 1:
        come(scene, feed_below(&scene->feed, LINKS));
        break;
    case 2:
        say_raw(scene, road);
        break;
    case 3:
        small(scene, road);
        break;
    case 4:
        break_off(scene, road);
        break;
    case 5:
        answer(scene);
        break;
    case 6:
    case 7:
        roster(scene, road);
        break;
    case 8:
        propose(scene, road);
        break;
    case 9:
    case 10:
        report(scene, road);
        break;
    case 11:
        state(scene, road);
        break;
    case 12:
    case 13:
        some_slice(scene, road);
        break;
    case 14:
        help(scene, road);
        break;
    case 15:
        agree(scene, road);
        break;
    case 16:
    case 17:
        computed(scene);
        break;
    case 18:
        disk(scene);
        break;
    default:
        if (feed_below(&scene->feed, 16) == 1)
            step(scene, (struct event){.kind = EVENT_STOP});
        else if (feed_below(&scene->feed, 16) == 2)
            step(scene, (struct event){.kind = EVENT_LEAVE});
        break;
    }
}

static struct scene *open_scene(const uint8_t *data, size_t size)
{
    struct scene *scene = mem_new(1, sizeof *scene);
    struct peer_options options;

    FUZZ_REQUIRE(scene != NULL);
    make_path();
    scene->feed = (struct feed){.data = data, .size = size};
    options = options_of(feed_u8(&scene->feed));
    scene->bytes_max = 1 << 20;
    scene->bytes = mem_new(scene->bytes_max, 1);
    FUZZ_REQUIRE(scene->bytes != NULL);
    FUZZ_REQUIRE(actions_init(&scene->actions, 8) == ERR_OK);
    FUZZ_REQUIRE(codec_room_init(&scene->room, DIMS, DIMS, 0) == ERR_OK);
    FUZZ_REQUIRE(codec_room_peers(&scene->room) == ERR_OK);
    scene->room.packed = true;
    FUZZ_REQUIRE(peer_init(&scene->machine, &options) == ERR_OK);
    step(scene, (struct event){.kind = EVENT_START});
    return scene;
}

static void close_scene(struct scene *scene)
{
    peer_close(&scene->machine);
    codec_room_close(&scene->room);
    actions_close(&scene->actions);
    mem_free(scene->bytes);
    mem_free(scene);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct scene *scene = open_scene(data, size);

    for (uint32_t i = 0;
         i < EVENTS_MAX && feed_more(&scene->feed) && !scene->over; i++) {
        const uint32_t before = scene->machine.trainer.optim.step;

        happen(scene);
        if (scene->machine.trainer.optim.step > before)
            fuzz_reached |= scene->machine.view.count > 1; /* Together. */
    }
    close_scene(scene);
    return 0;
}
