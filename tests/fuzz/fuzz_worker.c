/*
 * fuzz_worker.c - a worker whose coordinator says anything, at any time, in any
 * order (A6: a rogue coordinator gets nothing but arithmetic out of a worker).
 *
 * The input chooses what happens: time passes, the link breaks, rounds open
 * with right or odd pieces, work is added, dropped and called off, bytes of the
 * input come as they are; computing ends, fails, or is called off.  Oracles:
 * the machine's own checks (WORK-n), one computation at a time, chunks of the
 * job only, and an end of every computation that was begun.
 */
#include <string.h>

#include "core/worker.h"
#include "feed.h"
#include "fuzz.h"
#include "wire/codec.h"

#define DIMS       8u
#define CHUNKS     16u
#define ITEMS      6u
#define EVENTS_MAX 400u

struct scene {
    struct feed feed;
    struct worker machine;
    struct actions actions;
    struct codec_room room;
    time_us now;
    bool connecting, linked, computing, called_off, over;
    uint64_t view;
    uint32_t step;
};

static void obey(struct scene *scene)
{
    for (uint32_t i = 0; i < scene->actions.count; i++) {
        const struct action *action = &scene->actions.list[i];

        if (action->kind == ACTION_SEND)
            FUZZ_REQUIRE(scene->linked);
        if (action->kind == ACTION_CONNECT) {
            FUZZ_REQUIRE(!scene->linked);
            scene->connecting = true;
        }
        if (action->kind == ACTION_CLOSE)
            scene->linked = false;
        if (action->kind == ACTION_COMPUTE) {
            FUZZ_REQUIRE(!scene->computing);
            FUZZ_REQUIRE(action->first < action->end && action->end <= CHUNKS);
            scene->computing = true;
            scene->called_off = false;
        }
        if (action->kind == ACTION_CANCEL) {
            FUZZ_REQUIRE(scene->computing);
            scene->called_off = true;
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
                               .cols = DIMS,
                               .chunk_rows = 4,
                               .dims = DIMS,
                               .outputs = 1,
                               .sum_dims = DIMS,
                               .chunks = CHUNKS,
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

static void open_round(struct scene *scene)
{
    static const double weights[DIMS] = {0};
    static const int16_t exponent[DIMS] = {0};
    struct feed *feed = &scene->feed;
    struct item items[ITEMS];
    struct msg msg = {.kind = MSG_ROUND};
    const bool coded = feed_below(feed, 3) == 1;

    msg.round = (struct msg_round){
        .key = key_of(scene),
        .assignment = feed_u8(feed),
        .coded = coded,
        .delay_s = feed_below(feed, 3) == 1 ? .05 : 0,
        .count = fill(feed, coded, items),
        .items = items,
        .kind = EVALUATE_GRADIENT,
        .dims = DIMS,
        .weights = weights,
        .exponent = exponent,
    };
    hear(scene, &msg);
}

static void add_or_drop(struct scene *scene)
{
    struct feed *feed = &scene->feed;
    struct item items[ITEMS];
    struct msg msg = {.kind = feed_below(feed, 2) ? MSG_WORK : MSG_DROP};

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

    msg.data.chunk = feed_below(&scene->feed, CHUNKS + 2);
    msg.data.bytes = feed_view(&scene->feed, &msg.data.size);
    hear(scene, &msg);
}

static void say_raw(struct scene *scene)
{
    struct msg msg;
    size_t size;
    const uint8_t *bytes = feed_view(&scene->feed, &size);

    /* The driver makes room for one job; another is refused before. */
    if (codec_decode(bytes, size, &scene->room, &msg) == ERR_OK &&
        msg.kind != MSG_WELCOME)
        hear(scene, &msg);
}

static void link_changes(struct scene *scene)
{
    if (scene->linked || scene->connecting) {
        const bool up = scene->connecting && feed_below(&scene->feed, 4) != 0;

        scene->connecting = false;
        scene->linked = up;
        step(scene,
             (struct event){.kind = up ? EVENT_LINK_UP : EVENT_LINK_DOWN});
    }
}

static void computed(struct scene *scene)
{
    const bool bad = feed_below(&scene->feed, 8) == 1;
    const enum err err = scene->called_off ? ERR_CANCELLED
                         : bad             ? ERR_RANGE
                                           : ERR_OK;

    if (!scene->computing)
        return;
    scene->computing = false;
    step(scene,
         (struct event){.kind = EVENT_COMPUTED, .err = err, .compute_us = 100});
}

static void happen(struct scene *scene)
{
    switch (feed_below(&scene->feed, 12)) {
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
        open_round(scene);
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
    const struct worker_options options = {
        .name = "w0",
        .incarnation = 5,
        .resident = feed_below(&scene.feed, 2) != 0,
        .retry_us = 10 * MS_US,
        .retry_max_us = 100 * MS_US,
        .give_up_us = TIME_NEVER,
    };

    FUZZ_REQUIRE(actions_init(&scene.actions, 8) == ERR_OK);
    FUZZ_REQUIRE(codec_room_init(&scene.room, DIMS, DIMS, 64) == ERR_OK);
    worker_init(&scene.machine, &options);
    step(&scene, (struct event){.kind = EVENT_START});
    for (uint32_t i = 0;
         i < EVENTS_MAX && feed_more(&scene.feed) && !scene.over; i++)
        happen(&scene);
    worker_close(&scene.machine);
    codec_room_close(&scene.room);
    actions_close(&scene.actions);
    return 0;
}
