/*
 * fuzz_relay.c - a relay between a coordinator that changes its mind and
 * children that say anything, at any time, in any order (RELAY-1..4).
 *
 * The input chooses what happens: time passes, workers and relays greet below,
 * fall silent, answer rightly, out of bound or out of shape, or send bytes of
 * the input as they are; above, rounds open and are called off, pieces are
 * given, repeated, taken back and set apart, the connection breaks.  An answer
 * to piece p is p + 1, so that every sum that goes up can be checked against
 * the answers it says it is of.
 * Oracles: no chunk twice in a sum, the value of a sum, no word to a link that
 * is down or has not greeted, the machine's own checks.
 */
#include <string.h>

#include "core/relay/relay.h"
#include "feed.h"
#include "fuzz.h"
#include "wire/codec.h"

#define DIMS       4u
#define CHUNKS     16u
#define LINKS      5u
#define ITEMS      4u
#define EVENTS_MAX 400u
#define POISON     INT64_MAX /* Out of every bound. */

struct scene {
    struct feed feed;
    struct relay machine;
    struct actions actions;
    struct codec_room room;
    time_us now;
    bool linked; /* Upwards. */
    bool greeted[LINKS];
    uint32_t numbers[8]; /* Of leaves that were named to the one above. */
    uint32_t named;
    uint32_t view, step;
    bool over;
};

/* --- what goes up --------------------------------------------------------- */

static void check_sum(const struct msg_sum *sum)
{
    bool in[CHUNKS] = {false};
    int64_t value = 0;

    FUZZ_REQUIRE(sum->count <= ANSWERS_MAX);
    fuzz_reached = true;
    if (sum->sum[0] == POISON || sum->dims != DIMS)
        return; /* Passed on as it came: the one above judges. */
    for (uint32_t i = 0; i < sum->count; i++) {
        const struct answer *answer = &sum->answers[i];

        if (!answer->counted)
            continue;
        FUZZ_REQUIRE(answer->first < answer->end && answer->end <= CHUNKS);
        for (uint32_t chunk = answer->first; chunk < answer->end; chunk++) {
            FUZZ_REQUIRE(!in[chunk]);
            in[chunk] = true;
        }
        value += answer->piece + 1;
    }
    FUZZ_REQUIRE(value == sum->sum[0]);
}

static void check_up(struct scene *scene, const struct msg *msg)
{
    FUZZ_REQUIRE(scene->linked);
    if (msg->kind == MSG_SUM)
        check_sum(&msg->sum);
    if (msg->kind == MSG_HELLO)
        scene->numbers[scene->named++ % 8] = msg->leaf;
}

/* What the driver would do with the machine's wishes. */
static void obey(struct scene *scene)
{
    for (uint32_t i = 0; i < scene->actions.count; i++) {
        const struct action *action = &scene->actions.list[i];

        if (action->kind == ACTION_SEND && action->link == RELAY_PARENT)
            check_up(scene, &action->msg);
        else if (action->kind == ACTION_SEND)
            FUZZ_REQUIRE(action->link < LINKS && scene->greeted[action->link]);
        if (action->kind == ACTION_CLOSE && action->link == RELAY_PARENT)
            scene->linked = false;
        else if (action->kind == ACTION_CLOSE)
            scene->greeted[action->link] = false;
        if (action->kind == ACTION_FINISH)
            scene->over = true;
    }
}

static void step(struct scene *scene, struct event event)
{
    event.now = scene->now;
    relay_step(&scene->machine, &event, &scene->actions);
    obey(scene);
    FUZZ_REQUIRE(relay_leaves(&scene->machine) <= 6);
}

static void from_above(struct scene *scene, const struct msg *msg)
{
    if (scene->linked)
        step(scene, (struct event){.kind = EVENT_MESSAGE,
                                   .link = RELAY_PARENT,
                                   .msg = msg});
}

static void from_below(struct scene *scene, uint32_t link,
                       const struct msg *msg)
{
    if (msg->kind == MSG_HELLO || msg->kind == MSG_RELAY)
        scene->greeted[link] = true;
    if (scene->greeted[link])
        step(scene,
             (struct event){.kind = EVENT_MESSAGE, .link = link, .msg = msg});
}

/* --- from above ------------------------------------------------------------
 */

static void welcome(struct scene *scene)
{
    struct msg msg = {.kind = MSG_WELCOME};

    msg.welcome =
        (struct job){.id = feed_below(&scene->feed, 32) == 1 ? 78 : 77,
                     .rows = 4 * CHUNKS,
                     .chunk_rows = 4,
                     .dims = DIMS,
                     .sum_dims = DIMS,
                     .chunks = CHUNKS,
                     .beat_us = 50 * MS_US,
                     .dead_us = 2 * SECOND_US};
    from_above(scene, &msg);
}

static void open_round(struct scene *scene)
{
    static const double weights[DIMS] = {0};
    static const int16_t exponent[DIMS + 1] = {0};
    struct feed *feed = &scene->feed;
    struct msg msg = {.kind = MSG_ROUND};
    uint32_t how;

    scene->view += feed_below(feed, 8) == 1;
    scene->step += feed_below(feed, 2);
    msg.round = (struct msg_round){
        .key = {.job = 77,
                .view = scene->view - feed_below(feed, 8) / 7,
                .step = scene->step - feed_below(feed, 8) / 7},
        .kind = EVALUATE_GRADIENT,
        .dims = DIMS,
        .weights = weights,
        .exponent = exponent,
    };
    how = feed_u8(feed);
    msg.round.coded = how % 8 == 1;
    msg.round.repeat = how / 8 % 2 != 0;
    msg.round.patient = how / 16 % 4 == 3;
    msg.round.single = how / 64 % 4 == 3;
    from_above(scene, &msg);
}

/* Pieces of one chunk or two: piece p begins at chunk p. */
static uint32_t fill(struct feed *feed, struct item *items)
{
    const uint32_t count = 1 + feed_below(feed, ITEMS);

    for (uint32_t i = 0; i < count; i++) {
        items[i].id = feed_below(feed, CHUNKS - 1);
        items[i].first = items[i].id;
        items[i].end = items[i].id + 1 + items[i].id % 2;
        items[i].coefficient = 1;
    }
    return count;
}

static void order(struct scene *scene)
{
    static const enum msg_kind kinds[] = {MSG_TASK, MSG_TASK,   MSG_WORK,
                                          MSG_DROP, MSG_ALONE,  MSG_GONE,
                                          MSG_ECHO, MSG_CANCEL, MSG_BYE};
    struct feed *feed = &scene->feed;
    struct msg msg = {.kind = kinds[feed_below(feed, 9)]};
    struct item items[ITEMS];

    msg.leaf = msg.kind == MSG_ALONE ? 0 : scene->numbers[feed_below(feed, 8)];
    if (msg.kind == MSG_TASK) {
        msg.round.key = scene->machine.round.key;
        msg.round.count = fill(feed, items);
        msg.round.items = items;
    } else if (msg.kind == MSG_CANCEL) {
        msg.cancel.key = scene->machine.round.key;
    } else if (msg.kind == MSG_WORK || msg.kind == MSG_DROP ||
               msg.kind == MSG_ALONE) {
        msg.work.key = scene->machine.round.key;
        msg.work.count = fill(feed, items);
        msg.work.items = items;
    }
    if (msg.leaf != 0 || msg.kind == MSG_ALONE)
        from_above(scene, &msg);
}

/* --- from below ------------------------------------------------------------
 */

static void greet(struct scene *scene, uint32_t link)
{
    struct feed *feed = &scene->feed;
    struct msg msg = {.kind = feed_below(feed, 4) == 1 ? MSG_RELAY : MSG_HELLO};

    if (msg.kind == MSG_RELAY) {
        msg.relay.version = MSG_VERSION;
        msg.relay.name[0] = 'r';
    } else {
        msg.leaf = feed_below(feed, 3); /* 0: the worker on the link itself. */
        msg.hello.version = MSG_VERSION;
        msg.hello.name[0] = 'w';
    }
    from_below(scene, link, &msg);
}

static void tally(struct scene *scene, uint32_t link)
{
    struct feed *feed = &scene->feed;
    const uint32_t twist = feed_below(feed, 8);
    const uint32_t piece = feed_below(feed, CHUNKS - 1);
    const int64_t sum[DIMS] = {twist == 1 ? POISON : piece + 1};
    struct msg msg = {.kind = MSG_TALLY};

    msg.leaf = feed_below(feed, 3);
    msg.tally = (struct msg_tally){
        .key = scene->machine.round.key,
        .piece = piece,
        .first = twist == 2 ? feed_u8(feed) : piece,
        .end = piece + 1 + piece % 2,
        .dims = twist == 3 ? DIMS - 1 : DIMS,
        .sum = sum,
    };
    msg.tally.key.attempt ^= twist == 4;
    from_below(scene, link, &msg);
}

/* What a relay below has merged: it has seen to it that nothing is twice. */
static void sum(struct scene *scene, uint32_t link)
{
    struct feed *feed = &scene->feed;
    const uint32_t twist = feed_below(feed, 8);
    struct answer answers[ITEMS] = {{0}};
    int64_t values[DIMS] = {0};
    struct msg msg = {.kind = MSG_SUM};
    uint32_t piece = 0;

    msg.sum.count = 1 + feed_below(feed, ITEMS);
    for (uint32_t i = 0; i < msg.sum.count; i++, piece += 2) {
        piece += feed_below(feed, 3);

        answers[i] = (struct answer){.leaf = feed_below(feed, 3),
                                     .piece = piece,
                                     .first = piece,
                                     .end = piece + 1 + piece % 2,
                                     .counted = feed_below(feed, 4) != 1};
        values[0] += answers[i].counted ? piece + 1 : 0;
    }
    if (twist == 1)
        values[0] = POISON;
    msg.sum.key = scene->machine.round.key;
    msg.sum.key.attempt ^= twist == 2;
    msg.sum.answers = answers;
    msg.sum.dims = twist == 3 ? DIMS - 1 : DIMS;
    msg.sum.sum = values;
    from_below(scene, link, &msg);
}

static void small(struct scene *scene, uint32_t link)
{
    static const enum msg_kind kinds[] = {MSG_BEAT, MSG_LEAVE, MSG_GONE,
                                          MSG_REFUSE, MSG_NEED};
    struct msg msg = {.kind = kinds[feed_below(&scene->feed, 5)]};

    msg.leaf = feed_below(&scene->feed, 3);
    if (msg.kind == MSG_REFUSE)
        msg.refuse.key = scene->machine.round.key;
    from_below(scene, link, &msg);
}

/* Sums of unknown value cannot be checked; a job of any size is not ours. */
static bool checkable(const struct msg *msg)
{
    return msg->kind != MSG_TALLY && msg->kind != MSG_SUM &&
           msg->kind != MSG_WELCOME;
}

static void say_raw(struct scene *scene, uint32_t link)
{
    struct msg msg;
    size_t size;
    const uint8_t *bytes = feed_view(&scene->feed, &size);

    if (codec_decode(bytes, size, &scene->room, &msg) != ERR_OK ||
        !checkable(&msg))
        return;
    if (link == LINKS)
        from_above(scene, &msg);
    else
        from_below(scene, link, &msg);
}

/* ---------------------------------------------------------------------------
 */

static void link_up(struct scene *scene)
{
    if (scene->linked || scene->machine.phase != RELAY_DIALLING)
        return;
    scene->linked = true;
    step(scene, (struct event){.kind = EVENT_LINK_UP, .link = RELAY_PARENT});
    welcome(scene);
}

static void link_down(struct scene *scene, uint32_t link)
{
    if (link < LINKS && scene->greeted[link]) {
        scene->greeted[link] = false;
        step(scene, (struct event){.kind = EVENT_LINK_DOWN, .link = link});
    } else if (link == LINKS && scene->linked) {
        scene->linked = false;
        step(scene,
             (struct event){.kind = EVENT_LINK_DOWN, .link = RELAY_PARENT});
    }
}

static void happen(struct scene *scene)
{
    const uint32_t what = feed_below(&scene->feed, 14);
    const uint32_t link = feed_below(&scene->feed, LINKS);

    switch (what) {
    case 0:
        scene->now += (time_us)feed_u8(&scene->feed) * MS_US;
        step(scene, (struct event){.kind = EVENT_TIME, .link = RELAY_PARENT});
        break;
    case 1:
        greet(scene, link);
        break;
    case 2:
        say_raw(scene, feed_below(&scene->feed, LINKS + 1));
        break;
    case 3:
        small(scene, link);
        break;
    case 4:
        link_down(scene, feed_below(&scene->feed, LINKS + 1));
        break;
    case 5:
        link_up(scene);
        break;
    case 6:
        open_round(scene);
        break;
    case 7:
    case 8:
        order(scene);
        break;
    case 9:
    case 10:
        sum(scene, link);
        break;
    default:
        tally(scene, link);
        break;
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const struct relay_options options = {.name = "r0",
                                          .links_max = LINKS,
                                          .leaves_max = 6,
                                          .retry_us = 10 * MS_US,
                                          .retry_max_us = 100 * MS_US,
                                          .give_up_us = 10 * SECOND_US};
    struct scene scene = {
        .feed = {.data = data, .size = size}, .view = 1, .step = 1};

    FUZZ_REQUIRE(actions_init(&scene.actions, 8) == ERR_OK);
    FUZZ_REQUIRE(codec_room_init(&scene.room, DIMS, DIMS, 64) == ERR_OK);
    FUZZ_REQUIRE(relay_init(&scene.machine, &options) == ERR_OK);
    step(&scene, (struct event){.kind = EVENT_START, .link = RELAY_PARENT});
    link_up(&scene);
    for (uint32_t i = 0;
         i < EVENTS_MAX && feed_more(&scene.feed) && !scene.over; i++)
        happen(&scene);
    relay_close(&scene.machine);
    codec_room_close(&scene.room);
    actions_close(&scene.actions);
    return 0;
}
