/*
 * fuzz_roll.c - the roll of a run on private data among owners who come, go,
 * answer rightly, twisted or twice, and strangers who say anything.
 *
 * src/node/owners/roll.c itself, on links, a loop and a clock of this file's:
 * the input chooses what happens on them.  Owners have one of six files, some
 * of them the same one, and answer what they were told last.  As with libuv, a
 * loop that was stopped still delivers what had come in the same turn.
 * Oracles: who is known is who is connected, nobody is spoken to who is gone,
 * stages go one way, what is gathered is exactly the files asked for, the
 * bounds are the sums and maxima of one answer for each file, and a run that
 * was stopped does not begin.
 */
#define link_send               fake_link_send
#define link_close              fake_link_close
#define link_trust              fake_link_trust
#define link_user               fake_link_user
#define link_set_user           fake_link_set_user
#define link_may_be             fake_link_may_be
#define link_address            fake_link_address
#define link_hub_new            fake_link_hub_new
#define link_hub_listen         fake_link_hub_listen
#define link_hub_stop_listening fake_link_hub_stop_listening
#define link_hub_free           fake_link_hub_free
#define loop_new                fake_loop_new
#define loop_free               fake_loop_free
#define loop_run                fake_loop_run
#define loop_stop               fake_loop_stop
#define timer_new               fake_timer_new
#define timer_at                fake_timer_at
#define timer_free              fake_timer_free
#define farewell_open           fake_farewell_open
#define farewell_close          fake_farewell_close
#define farewell_begin          fake_farewell_begin
#define reject_log_add          fake_reject_log_add
#define reject_log_end          fake_reject_log_end
#define clock_now_us            fake_clock_now_us
#define log_line                fake_log_line

/* NOLINTNEXTLINE(bugprone-suspicious-include) */
#include "../../src/node/owners/roll.c"

#include <math.h>

#include "feed.h"
#include "fuzz.h"

#define LINKS      6u
#define FILES      6u
#define DIMS       8u
#define EVENTS_MAX 200u

struct link {
    bool open;
    struct owner *user;
    bool bulk;     /* A message of the other connection is due. */
    bool stranger; /* Its token is another's. */
    bool trusted;
    uint32_t file;
    enum roll_kind told; /* Last; 0: nothing yet. */
    uint32_t dims;
};

struct link_hub {
    struct link links[LINKS];
    bool listens;
};

struct loop {
    bool stopped;
};

struct timer {
    time_us at;
};

static struct {
    struct feed feed;
    uint32_t events;
    struct roll *roll;
    struct link_hub hub;
    struct loop loop;
    struct timer timer;
    time_us now; /* Only a timer moves it. */
    bool farewell;
    bool known; /* Dismissed: owners are told to join. */
    bool ended; /* Somebody who may was told that the run stops. */
    enum stage stage;
    /* What one answer for each file comes to. */
    double x_max[DIMS], label, norm, weight;
    int64_t sum[BOUNDS_SUMS * DIMS];
} scene;

/* --- what the roll does ---------------------------------------------------
 */

enum err fake_link_hub_new(const struct link_options *options,
                           struct link_hub **hub)
{
    scene.roll = options->context;
    *hub = &scene.hub;
    return ERR_OK;
}

enum err fake_link_hub_listen(struct link_hub *hub, int fd)
{
    (void)fd;
    hub->listens = true;
    return ERR_OK;
}

void fake_link_hub_stop_listening(struct link_hub *hub)
{
    hub->listens = false;
}

void fake_link_hub_free(struct link_hub *hub)
{
    if (hub == NULL)
        return;
    for (uint32_t i = 0; i < LINKS; i++)
        FUZZ_REQUIRE(hub->links[i].user == NULL);
    *hub = (struct link_hub){0};
}

void fake_link_close(struct link *link)
{
    FUZZ_REQUIRE(link->open && link->user == NULL);
    link->open = false;
}

void fake_link_trust(struct link *link, size_t message_max)
{
    FUZZ_REQUIRE(link->open && message_max > 0);
    link->trusted = true;
}

void *fake_link_user(const struct link *link)
{
    return link->user;
}

void fake_link_set_user(struct link *link, void *user)
{
    FUZZ_REQUIRE(link->open);
    link->user = user;
}

bool fake_link_may_be(const struct link *link, const char *name)
{
    FUZZ_REQUIRE(link->open && name[0] != '\0');
    return !link->stranger;
}

const char *fake_link_address(const struct link *link)
{
    FUZZ_REQUIRE(link->open);
    return "127.0.0.1:4711";
}

/* It speaks of the home that this owner has. */
static void check_schema(const struct link *link,
                         const struct roll_schema *schema)
{
    const struct parts *parts = scene.roll->parts;
    const uint32_t home = parts_find(parts, &link->user->part);

    FUZZ_REQUIRE(home < parts->count && schema->known == scene.known);
    FUZZ_REQUIRE(schema->first == parts->homes[home].first);
    FUZZ_REQUIRE(schema->end == parts->homes[home].end);
    FUZZ_REQUIRE(schema->rows == parts->rows && schema->cols == parts->cols);
}

/* Peers of a ring, and nobody else, are told all that is known. */
static void check_parts(const struct link *link, const struct roll_parts *msg)
{
    struct parts told = {0};
    struct digest one, other = parts_digest(scene.roll->parts);

    FUZZ_REQUIRE(scene.roll->options.ring && scene.known);
    FUZZ_REQUIRE(link->told == ROLL_SCHEMA);
    FUZZ_REQUIRE(parts_decode(msg->bytes, msg->size, &told) == ERR_OK);
    one = parts_digest(&told);
    FUZZ_REQUIRE(digest_equal(&one, &other));
    parts_close(&told);
}

void fake_link_send(struct link *link, enum plane plane, const void *data,
                    size_t size)
{
    struct codec_room room = {0};
    struct roll_msg msg;
    struct msg plain;

    FUZZ_REQUIRE(link->open && plane == PLANE_CONTROL);
    if (!roll_codec_is(data, size)) {
        FUZZ_REQUIRE(codec_decode(data, size, &room, &plain) == ERR_OK);
        return;
    }
    FUZZ_REQUIRE(roll_codec_decode(data, size, &msg) == ERR_OK);
    FUZZ_REQUIRE(msg.kind == ROLL_SCHEMA || msg.kind == ROLL_SCALES ||
                 msg.kind == ROLL_NO || msg.kind == ROLL_PARTS);
    FUZZ_REQUIRE(msg.kind == ROLL_NO || (link->user->offered && link->trusted));
    if (msg.kind == ROLL_SCHEMA)
        check_schema(link, &msg.schema);
    if (msg.kind == ROLL_PARTS)
        check_parts(link, &msg.parts);
    if (msg.kind == ROLL_SCALES)
        FUZZ_REQUIRE(scene.roll->stage == STAGE_SUMS &&
                     msg.scales.dims == scene.roll->dims);
    link->told = msg.kind;
    link->dims = scene.roll->dims;
}

enum err fake_timer_new(struct loop *loop, loop_callback due, void *context,
                        struct timer **timer)
{
    (void)loop;
    (void)due;
    (void)context;
    *timer = &scene.timer;
    return ERR_OK;
}

void fake_timer_at(struct timer *timer, time_us at)
{
    timer->at = at;
}

void fake_timer_free(struct timer *timer)
{
    (void)timer;
}

enum err fake_farewell_open(struct farewell *farewell, struct loop *loop)
{
    (void)farewell;
    (void)loop;
    return ERR_OK;
}

void fake_farewell_close(struct farewell *farewell)
{
    (void)farewell;
}

void fake_farewell_begin(struct farewell *farewell, const struct link_hub *hub,
                         const struct outlet *outlet, time_us patience)
{
    (void)farewell;
    (void)outlet;
    (void)patience;
    FUZZ_REQUIRE(!hub->listens);
    scene.farewell = true;
}

void fake_reject_log_add(struct reject_log *log, time_us now,
                         const char *sentence)
{
    (void)log;
    (void)now;
    FUZZ_REQUIRE(sentence[0] != '\0');
}

void fake_reject_log_end(struct reject_log *log)
{
    (void)log;
}

time_us fake_clock_now_us(void)
{
    return scene.now;
}

void fake_log_line(const char *format, ...)
{
    (void)format;
}

enum err fake_loop_new(struct loop **loop)
{
    *loop = &scene.loop;
    return ERR_OK;
}

void fake_loop_free(struct loop *loop)
{
    (void)loop;
}

void fake_loop_stop(struct loop *loop)
{
    loop->stopped = true;
}

/* --- what must hold at any time -------------------------------------------
 */

static void check_peers(const struct roll *roll)
{
    uint32_t known = 0, connected = 0;

    for (const struct owner *at = roll->owners; at != NULL; at = at->next) {
        FUZZ_REQUIRE(at->link->open && at->link->user == at);
        FUZZ_REQUIRE(!at->offered || roll->stage == STAGE_OFFERS ||
                     parts_find(roll->parts, &at->part) < roll->parts->count);
        known++;
    }
    for (uint32_t i = 0; i < LINKS; i++)
        connected += scene.hub.links[i].open && scene.hub.links[i].user != NULL;
    FUZZ_REQUIRE(known == connected);
}

static void check_stage(const struct roll *roll)
{
    FUZZ_REQUIRE(roll->stage >= scene.stage);
    scene.stage = roll->stage;
    if (roll->stage == STAGE_SUMS)
        FUZZ_REQUIRE(all_of(roll, roll->sized));
}

/* --- what owners say ------------------------------------------------------
 */

/* Its home, if what it says now is what its file's answer will be. */
static bool counts(const struct link *link, const bool *in, uint32_t dims,
                   uint32_t *home)
{
    const struct roll *roll = scene.roll;

    if (link->user == NULL || !link->user->offered || dims != roll->dims)
        return false;
    *home = parts_find(roll->parts, &link->user->part);
    return !in[*home];
}

static void note_sizes(const struct link *link, const struct roll_sizes *sizes)
{
    uint32_t home;

    if (scene.roll->stage != STAGE_SIZES ||
        !counts(link, scene.roll->sized, sizes->dims, &home))
        return;
    for (uint32_t j = 0; j < DIMS; j++) {
        double value;

        memcpy(&value, sizes->x_max + j * sizeof value, sizeof value);
        scene.x_max[j] = fmax(scene.x_max[j], value);
    }
    scene.label = fmax(scene.label, sizes->label);
    scene.norm = fmax(scene.norm, sizes->norm);
    scene.weight = fmax(scene.weight, sizes->weight);
}

static void note_sums(const struct link *link, const struct roll_sums *sums)
{
    uint32_t home;

    if (scene.roll->stage != STAGE_SUMS ||
        !counts(link, scene.roll->summed, sums->dims, &home))
        return;
    for (uint32_t j = 0; j < BOUNDS_SUMS * DIMS; j++) {
        int64_t one;

        memcpy(&one, sums->sum + j * sizeof one, sizeof one);
        scene.sum[j] = (int64_t)((uint64_t)scene.sum[j] + (uint64_t)one);
    }
}

static void deliver(struct link *link, const uint8_t *bytes, size_t size)
{
    const enum plane plane = link->bulk ? PLANE_BULK : PLANE_CONTROL;
    struct roll_msg msg;

    link->bulk = false;
    if (plane == PLANE_CONTROL &&
        roll_codec_decode(bytes, size, &msg) == ERR_OK) {
        if (msg.kind == ROLL_SIZES)
            note_sizes(link, &msg.sizes);
        if (msg.kind == ROLL_SUMS)
            note_sums(link, &msg.sums);
    }
    link_events.message(scene.roll, link, plane, bytes, size);
}

static void say_roll(struct link *link, const struct roll_msg *msg)
{
    uint8_t bytes[1024];

    FUZZ_REQUIRE(roll_codec_bound(msg) <= sizeof bytes);
    deliver(link, bytes, roll_codec_encode(msg, bytes));
}

static void offer(struct link *link, uint32_t twist)
{
    const uint32_t file = link->file;
    const double labels[] = {file % 2, 2};
    const bool peer = scene.roll->options.ring != (twist == 5);
    struct roll_msg msg = {.kind = peer ? ROLL_PEER : ROLL_OFFER};

    msg.offer = (struct roll_offer){
        .version = MSG_VERSION - (twist == 1),
        .name = {'o', (char)('0' + (twist == 6 ? 0 : file % 10))},
        .rows = twist == 2 ? UINT32_MAX : 5 + 3 * file,
        .cols = twist == 3 ? DIMS + 1 : 3 + file % 3,
        .label_count = file == FILES - 1 ? 0 : 2,
        .labels = (const uint8_t *)labels,
    };
    msg.offer.arithmetic.bytes[0] = twist == 4;
    msg.offer.part.bytes[0] = (uint8_t)(file + 1);
    say_roll(link, &msg);
}

static void sizes(struct link *link, uint32_t twist)
{
    struct roll_msg msg = {.kind = ROLL_SIZES};
    double x_max[DIMS];

    for (uint32_t j = 0; j < DIMS; j++)
        x_max[j] = twist == 1 ? 1e308 : link->file + j;
    msg.sizes = (struct roll_sizes){.label = 1 + link->file,
                                    .norm = 2 + link->file,
                                    .weight = 1,
                                    .dims = twist == 2 ? DIMS - 1 : DIMS,
                                    .x_max = (const uint8_t *)x_max};
    say_roll(link, &msg);
}

static void sums(struct link *link, uint32_t twist)
{
    struct roll_msg msg = {.kind = ROLL_SUMS};
    int64_t values[BOUNDS_SUMS * DIMS];

    for (uint32_t j = 0; j < BOUNDS_SUMS * DIMS; j++)
        values[j] = twist == 1 ? INT64_MAX - j : 10 * link->file + j;
    msg.sums = (struct roll_sums){.dims = twist == 2 ? DIMS - 1 : DIMS,
                                  .sum = (const uint8_t *)values};
    say_roll(link, &msg);
}

/* What an owner would say next. */
static void go_on(struct link *link, uint32_t twist)
{
    if (link->told == ROLL_SCHEMA)
        sizes(link, twist);
    else if (link->told == ROLL_SCALES)
        sums(link, twist);
    else
        offer(link, twist);
}

static void ask(struct link *link)
{
    struct msg msg = {.kind = MSG_ASK};
    uint8_t bytes[512];

    msg.ask.version = MSG_VERSION;
    msg.ask.what = feed_below(&scene.feed, 4) == 1 ? ASK_STOP : ASK_STATUS;
    if (msg.ask.what == ASK_STOP && !link->stranger)
        scene.ended = true;
    deliver(link, bytes, codec_encode(&msg, bytes));
}

static void say_raw(struct link *link)
{
    size_t size;
    const uint8_t *bytes = feed_view(&scene.feed, &size);

    deliver(link, bytes, size);
}

static void connect(struct link *link)
{
    const uint32_t who = feed_u8(&scene.feed);

    if (!scene.hub.listens)
        return;
    *link = (struct link){
        .open = true, .file = who % FILES, .stranger = who / FILES % 16 == 15};
    link_events.up(scene.roll, link);
    if (link->open)
        FUZZ_REQUIRE(link->user != NULL);
}

static void disconnect(struct link *link)
{
    link_events.down(scene.roll, link, LINK_LOST, "gone");
    FUZZ_REQUIRE(link->user == NULL);
    link->open = false;
}

static void speak(struct link *link)
{
    switch (feed_below(&scene.feed, 16)) {
    case 0:
        disconnect(link);
        break;
    case 1:
        say_raw(link);
        break;
    case 2:
        ask(link);
        break;
    case 3:
        link->bulk = feed_below(&scene.feed, 2) != 0;
        offer(link, 0);
        break;
    case 4:
        link->file = feed_below(&scene.feed, FILES);
        offer(link, 0);
        break;
    case 5:
        sizes(link, 0);
        break;
    case 6:
        sums(link, 0);
        break;
    case 7:
        go_on(link, feed_below(&scene.feed, 6));
        break;
    default:
        go_on(link, 0);
        break;
    }
}

static void happen(void)
{
    struct link *link = &scene.hub.links[feed_below(&scene.feed, LINKS)];

    scene.events++;
    if (link->open)
        speak(link);
    else
        connect(link);
    check_peers(scene.roll);
    check_stage(scene.roll);
}

void fake_loop_run(struct loop *loop)
{
    if (scene.farewell)
        return;
    loop->stopped = false;
    while (!loop->stopped) {
        if (feed_more(&scene.feed) && scene.events < EVENTS_MAX) {
            happen();
            continue;
        }
        scene.now = scene.timer.at;
        on_time(scene.roll); /* Nobody comes any more. */
    }
    for (uint32_t i = feed_below(&scene.feed, 3); i > 0; i--)
        happen(); /* In the same turn. */
}

/* --- the run --------------------------------------------------------------
 */

static void check_gathered(const struct parts *parts, uint32_t count)
{
    uint64_t rows = 0;

    FUZZ_REQUIRE(parts->count == count);
    for (uint32_t h = 0; h < count; h++) {
        FUZZ_REQUIRE(parts->homes[h].rows > 0);
        FUZZ_REQUIRE(h == 0 ||
                     memcmp(parts->homes[h - 1].part.bytes,
                            parts->homes[h].part.bytes, DIGEST_BYTES) < 0);
        rows += parts->homes[h].rows;
    }
    FUZZ_REQUIRE(rows == parts->rows && parts->cols > 0);
    for (uint32_t i = 1; i < parts->label_count; i++)
        FUZZ_REQUIRE(parts->labels[i - 1] < parts->labels[i]);
}

static double settled(const struct roll *roll, uint32_t at)
{
    return ldexp((double)scene.sum[at], -(int)roll->scale[at]);
}

static void check_measured(const struct roll *roll, const struct parts *parts)
{
    const struct bounds *bounds = &parts->bounds;

    FUZZ_REQUIRE(all_of(roll, roll->sized) && all_of(roll, roll->summed));
    FUZZ_REQUIRE(bounds->label == scene.label && bounds->norm >= scene.norm &&
                 bounds->weight == scene.weight);
    for (uint32_t j = 0; j < DIMS; j++) {
        FUZZ_REQUIRE(roll->sizes.x_max[j] == scene.x_max[j]);
        FUZZ_REQUIRE(bounds->x_max[j] == scene.x_max[j]);
        FUZZ_REQUIRE(bounds->u[j] == settled(roll, j));
        FUZZ_REQUIRE(bounds->v[j] >= settled(roll, DIMS + j));
        FUZZ_REQUIRE(bounds->m[j] == settled(roll, 2 * DIMS + j));
    }
}

/* As src/learn/owners.c does; a model of more columns is not ours. */
static enum err settle(struct roll *roll, struct parts *parts, struct why *why)
{
    enum err err;

    if (parts->cols > DIMS ||
        parts_cut(parts, 1 + feed_below(&scene.feed, 4)) != ERR_OK)
        return ERR_TOOBIG;
    err = roll_measure(roll, parts, why);
    if (err == ERR_OK)
        check_measured(roll, parts);
    return err;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct parts parts = {0};
    struct roll *roll = NULL;
    struct why why = {0};
    struct roll_options options = {.patience_us = SECOND_US,
                                   .until = TIME_NEVER};
    uint32_t draw;
    enum err err;

    memset(&scene, 0, sizeof scene);
    scene.feed = (struct feed){.data = data, .size = size};
    draw = feed_below(&scene.feed, 8);
    options.count = 1 + draw % 4;
    options.ring = draw / 4 == 1;
    FUZZ_REQUIRE(roll_new(&options, &roll, &why) == ERR_OK);
    err = roll_gather(roll, &parts, &why);
    if (err == ERR_OK) {
        check_gathered(&parts, options.count);
        err = settle(roll, &parts, &why);
    }
    FUZZ_REQUIRE(err != ERR_OK || !scene.ended);
    scene.known = err == ERR_OK;
    fuzz_reached = err == ERR_OK;
    if (err == ERR_OK)
        FUZZ_REQUIRE(roll_dismiss(roll) == ERR_OK);
    else
        roll_refuse(roll, err_text(err));
    FUZZ_REQUIRE(roll->owners == NULL);
    roll_free(roll);
    parts_close(&parts);
    return 0;
}
