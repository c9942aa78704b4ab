/*
 * fuzz_coordinator.c - a coordinator among peers that say anything, at any
 * time, in any order (P9, P11, P12).
 *
 * The input chooses a code, and whether answers are compared or relays may
 * come, and whether workers fetch data from each other or from where all can;
 * then what happens: time passes, peers greet, beat, leave, fall silent, say
 * what they have, serve and lack, answer the open round rightly or with a field
 * of it changed, alone or in a relay's sum, or send bytes of the input as they
 * are; the disk answers or fails, the judge agrees or does not, the run is
 * stopped. Oracles: the machine's own checks (INV-n) after every event, weights
 * that stay finite, no word to a peer that never greeted, and the rules of
 * peers (PEER-n, src/core/star/peers.c).
 */
#include <math.h>
#include <string.h>

#include "base/mem.h"
#include "code/preset.h"
#include "core/star/coordinator.h"
#include "feed.h"
#include "fuzz.h"
#include "wire/codec.h"

#define DIMS       8u
#define LINKS      6u
#define LEAVES     8u
#define CHUNKS     16u
#define EVENTS_MAX 400u

struct scene {
    struct feed feed;
    struct coordinator machine;
    struct actions actions;
    struct codec_room room;
    time_us now;
    bool greeted[LINKS];
    uint32_t journals; /* Answers owed by the disk. */
    bool checkpoint;
    uint32_t checkpoint_step;
    struct tally *judged;              /* A tally is owed here, ... */
    uint32_t judged_first, judged_end; /* ... of these chunks. */
    bool over;
};

static enum err exponents(struct scale *self, const struct evaluation *what,
                          int16_t *exponent)
{
    (void)self;
    for (uint32_t j = 0; j < DIMS; j++) {
        if (!isfinite(what->w[j]))
            return ERR_RANGE;
        exponent[j] = 20;
    }
    exponent[DIMS] = 60;
    return ERR_OK;
}

static const struct scale_ops scale_ops = {.exponents = exponents};
static struct scale scale = {.ops = &scale_ops};

/* Bits of the input's first byte that neither code nor kind take; the lowest
 * decides nothing. */
static void choose_data(uint32_t pick, struct coordinator_options *options)
{
    static const struct digest digests[CHUNKS];

    options->job.keyed = pick / 2 != 0;
    options->chunk_digests = options->job.keyed ? digests : NULL;
    options->peers = pick / 2 == 1 || pick / 2 == 3;
    options->place = pick / 2 == 2 ? "http://there/data" : NULL;
}

static struct coordinator_options options_of(struct feed *feed)
{
    static const char *const codes[] = {"uncoded", "frc",    "rep",    "steal",
                                        "stream",  "cyclic", "ignore", "agc"};
    const uint32_t pick = feed_u8(feed);
    const uint32_t kind = pick / 8 % 4;
    const struct preset_options preset = {.name = codes[pick % 8],
                                          .stragglers = 1,
                                          .workers = 4,
                                          .collect = 2,
                                          .seed = 1};
    struct coordinator_options options = {
        .job = {.id = 77,
                .rows = 64,
                .chunk_rows = 4,
                .dims = DIMS,
                .sum_dims = DIMS,
                .chunks = CHUNKS,
                .beat_us = 50 * MS_US,
                .dead_us = 2 * SECOND_US},
        .vectors = 1,
        .length = DIMS,
        .slots = 4,
        .links_max = LINKS,
        .optim = {.kind = feed_below(feed, 2) ? OPTIM_GD : OPTIM_AGD,
                  .rate = .001,
                  .decay = 1,
                  .steps = 6,
                  .rows = 64},
        .scale = &scale,
        .suspect_us = 300 * MS_US,
        .resend_us = SECOND_US,
        .gather_us = SECOND_US,
        .ledger.checkpoint_steps = 2,
        .ledger.checkpoint_us = TIME_NEVER,
        .ledger.sync = feed_below(feed, 2) != 0,
        .verify = kind == 1,
        .audit = kind == 2 ? .5 : 0,
        .leaves_max = kind == 3 ? LEAVES : 0,
    };

    choose_data(pick / 32, &options);
    FUZZ_REQUIRE(preset_spec(&preset, &options.code, NULL) == ERR_OK);
    return options;
}

/* --- peers ---------------------------------------------------------------
 */

static bool is_here(const struct member *member)
{
    return member->state != MEMBER_NONE;
}

static const struct peer_pair *pair_of(const struct peering *fetcher,
                                       uint32_t id)
{
    for (uint32_t i = 0; i < fetcher->source_count; i++) {
        if (fetcher->sources[i].id == id)
            return &fetcher->sources[i];
    }
    return NULL;
}

/* PEER-1, and PEER-3 of a pair. */
static void check_fetch(const struct scene *scene, const struct action *action)
{
    const struct msg_fetch *fetch = &action->msg.fetch;
    const struct member *members = scene->machine.members;
    const struct member *fetcher = &members[action->link];
    const struct member *source;

    FUZZ_REQUIRE(fetch->first < fetch->end && fetch->end <= CHUNKS);
    if (fetch->peer == 0) {
        FUZZ_REQUIRE(scene->machine.options.place != NULL ||
                     scene->machine.options.job.keyed);
        return;
    }
    FUZZ_REQUIRE(scene->machine.options.peers);
    FUZZ_REQUIRE(fetch->source < LINKS && fetch->source != action->link);
    source = &members[fetch->source];
    FUZZ_REQUIRE(action->msg.leaf == 0 && !fetcher->relay && !source->relay);
    FUZZ_REQUIRE(is_here(source) && is_here(fetcher) && !source->suspect);
    FUZZ_REQUIRE(source->peer.id == fetch->peer && fetch->port != 0);
    FUZZ_REQUIRE(source->peer.port == fetch->port && !source->peer.mute);
    FUZZ_REQUIRE(!source->peer.local || fetcher->peer.local);
    FUZZ_REQUIRE(pair_of(&fetcher->peer, fetch->peer) != NULL);
    FUZZ_REQUIRE(!pair_of(&fetcher->peer, fetch->peer)->failed);
    FUZZ_REQUIRE(chunkset_has_range(&source->held, fetch->first, fetch->end));
    FUZZ_REQUIRE(chunkset_has_range(&fetcher->held, fetch->first, fetch->end));
}

/* Who fetches from whom is the same from both sides. */
static void check_pairs(const struct scene *scene)
{
    const struct member *members = scene->machine.members;
    uint32_t fetchers[LINKS] = {0};

    for (uint32_t link = 0; link < LINKS; link++) {
        const struct peering *peer = &members[link].peer;
        uint32_t failures = 0;

        FUZZ_REQUIRE(is_here(&members[link]) || peer->id == 0);
        for (uint32_t i = 0; i < peer->source_count; i++) {
            uint32_t of = 0;

            while (of < LINKS && members[of].peer.id != peer->sources[i].id)
                of++;
            FUZZ_REQUIRE(of < LINKS && of != link);
            fetchers[of]++;
            failures += peer->sources[i].failed;
        }
        FUZZ_REQUIRE(peer->failures == failures);
    }
    for (uint32_t link = 0; link < LINKS; link++)
        FUZZ_REQUIRE(members[link].peer.fetchers == fetchers[link]);
}

/* PEER-2: what somebody lacks is not left to another peer. */
static void check_direct(const struct scene *scene, uint32_t link,
                         const struct msg_need *need)
{
    for (uint32_t i = 0; i < scene->actions.count; i++) {
        const struct action *action = &scene->actions.list[i];

        if (action->kind == ACTION_SEND && action->link == link &&
            action->msg.kind == MSG_FETCH && action->msg.leaf == 0)
            FUZZ_REQUIRE(action->msg.fetch.peer == 0 ||
                         action->msg.fetch.end <= need->first ||
                         action->msg.fetch.first >= need->end);
    }
}

/* --- the driver ----------------------------------------------------------
 */

static void check_ship(const struct scene *scene, const struct action *action)
{
    FUZZ_REQUIRE(action->link < LINKS && scene->greeted[action->link]);
    FUZZ_REQUIRE(action->first < action->end && action->end <= CHUNKS);
}

/* What the driver would do with the machine's wishes. */
static void obey(struct scene *scene)
{
    for (uint32_t i = 0; i < scene->actions.count; i++) {
        const struct action *action = &scene->actions.list[i];

        if (action->kind == ACTION_SEND)
            FUZZ_REQUIRE(action->link < LINKS && scene->greeted[action->link]);
        if (action->kind == ACTION_SEND && action->msg.kind == MSG_FETCH)
            check_fetch(scene, action);
        if (action->kind == ACTION_SHIP)
            check_ship(scene, action);
        if (action->kind == ACTION_CLOSE)
            scene->greeted[action->link] = false;
        if (action->kind == ACTION_JOURNAL)
            scene->journals++;
        if (action->kind == ACTION_CHECKPOINT) {
            FUZZ_REQUIRE(!scene->checkpoint);
            scene->checkpoint = true;
            scene->checkpoint_step = action->step;
        }
        if (action->kind == ACTION_JUDGE) {
            FUZZ_REQUIRE(scene->judged == NULL);
            scene->judged = action->computation.tally;
            scene->judged_first = action->computation.first;
            scene->judged_end = action->computation.end;
        }
        if (action->kind == ACTION_FINISH)
            scene->over = true;
    }
}

static void step(struct scene *scene, struct event event)
{
    const double *w;

    event.now = scene->now;
    coordinator_step(&scene->machine, &event, &scene->actions);
    obey(scene);
    check_pairs(scene);
    w = trainer_weights(&scene->machine.trainer);
    for (uint32_t j = 0; j < DIMS && !scene->over; j++)
        FUZZ_REQUIRE(isfinite(w[j]));
}

static void hear(struct scene *scene, uint32_t link, const struct msg *msg)
{
    if (msg->kind == MSG_HELLO || msg->kind == MSG_RELAY)
        scene->greeted[link] = true;
    if (scene->greeted[link])
        step(scene,
             (struct event){.kind = EVENT_MESSAGE, .link = link, .msg = msg});
}

static void greet(struct scene *scene, uint32_t link)
{
    struct msg msg = {.kind = MSG_HELLO};

    msg.hello.version = MSG_VERSION;
    msg.hello.name[0] = (char)('a' + feed_below(&scene->feed, LINKS));
    msg.hello.incarnation = feed_u8(&scene->feed);
    msg.hello.resident = feed_below(&scene->feed, 4) != 0;
    if (scene->machine.options.job.keyed) {
        msg.hello.resident = !msg.hello.resident;
        msg.hello.keeps = feed_below(&scene->feed, 2) != 0;
    }
    hear(scene, link, &msg);
}

static void tally(struct scene *scene, uint32_t link)
{
    const struct coordinator *c = &scene->machine;
    struct feed *feed = &scene->feed;
    const uint32_t twist = feed_below(feed, 8);
    int64_t sum[DIMS] = {0};
    struct msg msg = {.kind = MSG_TALLY};
    uint32_t piece;

    if (!c->code_built || c->code.piece_count == 0)
        return;
    piece = feed_below(feed, c->code.piece_count);
    sum[feed_below(feed, DIMS)] =
        twist == 1 ? (int64_t)feed_u64(feed) : (int64_t)feed_u8(feed);
    msg.tally = (struct msg_tally){
        .key = c->key,
        .piece = piece + (twist == 2 ? feed_u8(feed) : 0),
        .first = c->code.pieces[piece].first + (twist == 3),
        .end = c->code.pieces[piece].end + (twist == 4),
        .compute_us = twist == 5 ? -1 : 10,
        .dims = twist == 6 ? DIMS - 1 : DIMS,
        .sum = sum,
        .loss = feed_u8(feed),
    };
    if (twist == 7)
        msg.tally.key.attempt ^= feed_u8(feed);
    hear(scene, link, &msg);
}

static void row(struct scene *scene, uint32_t link)
{
    struct feed *feed = &scene->feed;
    double values[DIMS + 1] = {1, 2, 3};
    const uint32_t pieces[] = {feed_u8(feed), feed_u8(feed)};
    struct msg msg = {.kind = MSG_ROW};
    uint64_t bits = feed_u64(feed);

    memcpy(&values[feed_below(feed, DIMS + 1)], &bits, sizeof bits);
    msg.row = (struct msg_row){.key = scene->machine.key,
                               .count = feed_below(feed, 3),
                               .pieces = pieces,
                               .dims = DIMS,
                               .row = values};
    hear(scene, link, &msg);
}

/* --- data ----------------------------------------------------------------
 */

static void need(struct scene *scene, uint32_t link)
{
    struct feed *feed = &scene->feed;
    struct msg msg = {.kind = MSG_NEED};

    msg.need.first = feed_below(feed, CHUNKS);
    msg.need.end = msg.need.first + feed_below(feed, 17 - msg.need.first);
    msg.need.peer = feed_below(feed, 16);
    msg.need.wrong = msg.need.peer != 0 && feed_below(feed, 2) != 0;
    hear(scene, link, &msg);
    if (scene->greeted[link])
        check_direct(scene, link, &msg.need);
}

static void have(struct scene *scene, uint32_t link)
{
    struct feed *feed = &scene->feed;
    uint8_t held[CHUNKS / 8], near[CHUNKS / 8];
    struct msg msg = {.kind = MSG_HAVE};

    msg.have.count = feed_below(feed, 16) == 15 ? CHUNKS - 1 : CHUNKS;
    for (uint32_t i = 0; i < CHUNKS / 8; i++) {
        held[i] = (uint8_t)feed_u8(feed);
        near[i] = (uint8_t)feed_u8(feed);
    }
    msg.have.held = held;
    msg.have.near = near;
    hear(scene, link, &msg);
}

static void serving(struct scene *scene, uint32_t link)
{
    const uint32_t how = feed_below(&scene->feed, 8);
    struct msg msg = {.kind = MSG_SERVING};

    msg.serving.port = how == 7 ? 0 : (uint16_t)(1000 + link);
    msg.serving.local = how >= 5;
    hear(scene, link, &msg);
}

static void of_data(struct scene *scene, uint32_t link)
{
    switch (feed_below(&scene->feed, 3)) {
    case 0:
        have(scene, link);
        break;
    case 1:
        need(scene, link);
        break;
    default:
        serving(scene, link);
        break;
    }
}

/* --- relays ----------------------------------------------------------------
 */

static void relay(struct scene *scene, uint32_t link)
{
    struct msg msg = {.kind = MSG_RELAY};

    msg.relay.version = MSG_VERSION;
    msg.relay.name[0] = 'r';
    hear(scene, link, &msg);
}

/* A worker behind the relay comes, goes, or beats. */
static void leaf(struct scene *scene, uint32_t link)
{
    static const enum msg_kind kinds[] = {MSG_HELLO, MSG_HELLO, MSG_GONE,
                                          MSG_BEAT, MSG_LEAVE};
    struct feed *feed = &scene->feed;
    struct msg msg = {.kind = kinds[feed_below(feed, 5)]};

    msg.leaf = 1 + feed_below(feed, LEAVES + 2);
    if (msg.kind == MSG_HELLO) {
        msg.hello.version = MSG_VERSION;
        msg.hello.name[0] = (char)('a' + feed_below(feed, LEAVES));
        msg.hello.incarnation = feed_u8(feed);
        msg.hello.resident = true;
    }
    if (scene->greeted[link])
        hear(scene, link, &msg);
}

static void sum(struct scene *scene, uint32_t link)
{
    const struct coordinator *c = &scene->machine;
    struct feed *feed = &scene->feed;
    const uint32_t twist = feed_below(feed, 8);
    struct answer answers[4] = {{0}};
    int64_t values[DIMS] = {feed_u8(feed)};
    struct msg msg = {.kind = MSG_SUM};

    if (!c->code_built || c->code.piece_count == 0)
        return;
    msg.sum = (struct msg_sum){.key = c->key,
                               .count = 1 + feed_below(feed, 4),
                               .answers = answers,
                               .dims = twist == 1 ? DIMS - 1 : DIMS,
                               .sum = values};
    for (uint32_t i = 0; i < msg.sum.count; i++) {
        const uint32_t piece = feed_below(feed, c->code.piece_count);

        answers[i] = (struct answer){
            .leaf = 1 + feed_below(feed, LEAVES + 2),
            .piece = piece + (twist == 2 ? feed_u8(feed) : 0),
            .first = c->code.pieces[piece].first + (twist == 3),
            .end = c->code.pieces[piece].end + (twist == 4),
            .counted = feed_below(feed, 8) != 7,
        };
    }
    if (twist == 5)
        values[feed_below(feed, DIMS)] = (int64_t)feed_u64(feed);
    if (twist == 6)
        msg.sum.key.attempt ^= feed_u8(feed);
    hear(scene, link, &msg);
}

static void watch(struct scene *scene, uint32_t link)
{
    struct feed *feed = &scene->feed;
    struct silent silent[LEAVES];
    struct msg msg = {.kind = MSG_WATCH};

    msg.watch.sequence = feed_u8(feed);
    msg.watch.whole = feed_below(feed, 2) != 0;
    msg.watch.count = feed_below(feed, LEAVES + 1);
    msg.watch.silent = silent;
    for (uint32_t i = 0; i < msg.watch.count; i++)
        silent[i] = (struct silent){.leaf = feed_below(feed, LEAVES + 3),
                                    .silence_us = feed_u8(feed) * 10 * MS_US};
    hear(scene, link, &msg);
}

static void by_relay(struct scene *scene, uint32_t link)
{
    switch (feed_below(&scene->feed, 5)) {
    case 4:
        watch(scene, link);
        break;
    case 0:
        relay(scene, link);
        break;
    case 1:
        sum(scene, link);
        break;
    default:
        leaf(scene, link);
        break;
    }
}

/* --- the judge -------------------------------------------------------------
 */

static void judge(struct scene *scene)
{
    const bool fails = feed_below(&scene->feed, 16) == 1;

    if (scene->judged == NULL)
        return;
    chunkset_add_range(&scene->judged->chunks, scene->judged_first,
                       scene->judged_end);
    scene->judged->sum[0] = feed_u8(&scene->feed);
    scene->judged = NULL;
    step(scene, (struct event){.kind = EVENT_JUDGED,
                               .err = fails ? ERR_RANGE : ERR_OK});
}

static void say_raw(struct scene *scene, uint32_t link)
{
    struct msg msg;
    size_t size;
    const uint8_t *bytes = feed_view(&scene->feed, &size);

    if (codec_decode(bytes, size, &scene->room, &msg) == ERR_OK)
        hear(scene, link, &msg);
}

static void beat(struct scene *scene, uint32_t link)
{
    struct msg msg = {.kind = MSG_BEAT};

    msg.beat.sequence = feed_u8(&scene->feed);
    msg.beat.assignment = feed_u8(&scene->feed);
    msg.beat.queued = feed_u8(&scene->feed);
    hear(scene, link, &msg);
}

static void small(struct scene *scene, uint32_t link)
{
    struct feed *feed = &scene->feed;
    struct msg msg = {.kind = MSG_LEAVE};

    switch (feed_below(feed, 3)) {
    case 0:
        msg.kind = MSG_REFUSE;
        msg.refuse.key = scene->machine.key;
        msg.refuse.piece = feed_u8(feed);
        break;
    case 1:
        msg.kind = MSG_NEED;
        msg.need.first = feed_below(feed, 16);
        msg.need.end = msg.need.first + feed_below(feed, 17 - msg.need.first);
        break;
    default:
        break;
    }
    hear(scene, link, &msg);
}

static void disk(struct scene *scene)
{
    const enum err err = feed_below(&scene->feed, 16) == 1 ? ERR_IO : ERR_OK;

    if (scene->journals > 0) {
        scene->journals--;
        step(scene, (struct event){.kind = EVENT_JOURNALED, .err = err});
    } else if (scene->checkpoint) {
        scene->checkpoint = false;
        step(scene, (struct event){.kind = EVENT_CHECKPOINTED,
                                   .err = err,
                                   .step = scene->checkpoint_step});
    }
}

/* Asked again for what is still on its way. */
static void backlog(struct scene *scene, uint32_t link)
{
    struct msg msg = {.kind = MSG_NEED};

    msg.need.end = 1 + feed_below(&scene->feed, CHUNKS);
    if (scene->greeted[link])
        step(scene, (struct event){.kind = EVENT_MESSAGE,
                                   .link = link,
                                   .backlog = 1000,
                                   .msg = &msg});
}

/* One that greeted, if there is one: from others hardly anything is heard. */
static uint32_t choose_link(struct scene *scene, bool any)
{
    const uint32_t pick = feed_u8(&scene->feed);
    uint32_t greeted[LINKS];
    uint32_t count = 0;

    for (uint32_t link = 0; link < LINKS; link++) {
        if (scene->greeted[link])
            greeted[count++] = link;
    }
    return any || count == 0 ? pick % LINKS : greeted[pick % count];
}

static void happen(struct scene *scene)
{
    const uint32_t what = feed_below(&scene->feed, 20);
    const uint32_t link = choose_link(scene, what == 1 || what == 12);

    switch (what) {
    case 0:
        scene->now += (time_us)feed_u8(&scene->feed) * 10 * MS_US;
        step(scene, (struct event){.kind = EVENT_TIME});
        break;
    case 1:
        greet(scene, link);
        break;
    case 2:
        say_raw(scene, link);
        break;
    case 3:
        beat(scene, link);
        break;
    case 4:
        small(scene, link);
        break;
    case 5:
        scene->greeted[link] = false;
        step(scene, (struct event){.kind = EVENT_LINK_DOWN, .link = link});
        break;
    case 6:
        row(scene, link);
        break;
    case 7:
    case 8:
        disk(scene);
        break;
    case 12:
        by_relay(scene, link);
        break;
    case 13:
        judge(scene);
        break;
    case 14:
    case 15:
        of_data(scene, link);
        break;
    case 16:
    case 17: /* A little time. */
        scene->now += (time_us)feed_below(&scene->feed, 4) * MS_US;
        step(scene, (struct event){.kind = EVENT_TIME});
        break;
    case 18:
        if (feed_below(&scene->feed, 8) == 1)
            step(scene, (struct event){.kind = EVENT_STOP});
        else
            backlog(scene, link);
        break;
    default:
        tally(scene, link);
        break;
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct scene scene = {.feed = {.data = data, .size = size}};
    const struct coordinator_options options = options_of(&scene.feed);

    FUZZ_REQUIRE(actions_init(&scene.actions, 8) == ERR_OK);
    FUZZ_REQUIRE(codec_room_init(&scene.room, DIMS, DIMS, 64) == ERR_OK);
    FUZZ_REQUIRE(codec_room_answers(&scene.room, LEAVES) == ERR_OK);
    scene.room.packed = true;
    FUZZ_REQUIRE(coordinator_init(&scene.machine, &options, NULL, NULL) ==
                 ERR_OK);
    step(&scene, (struct event){.kind = EVENT_START});
    for (uint32_t i = 0;
         i < EVENTS_MAX && feed_more(&scene.feed) && !scene.over; i++)
        happen(&scene);
    fuzz_reached = scene.machine.trainer.optim.step > 0;
    coordinator_close(&scene.machine);
    codec_room_close(&scene.room);
    actions_close(&scene.actions);
    return 0;
}
