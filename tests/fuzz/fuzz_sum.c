/*
 * fuzz_sum.c - a group of three members and their host, over links that break
 * and beside strangers who say anything (src/core/sum/sum.h).
 *
 * The input chooses what happens: time passes, members give, cancel, leave and
 * are born again, connections come, carry one message and go, each side hearing
 * of it when it hears of it; strangers greet, also under the name of a member,
 * give, withdraw, leave, and send bytes of the input as they are.  A vector is
 * its number, never used again, so that each can be followed.
 * Oracles: a total is of vectors that are kept, each in one total and once
 * (SUM-1, SUM-3), of as many as are wanted at least; whoever is told one of a
 * call is told the same (SUM-2); a member that is told that its vector is in
 * finds it there, and one that is told that it is not never will.
 */
#include <string.h>

#include "core/sum/sum.h"
#include "feed.h"
#include "fuzz.h"
#include "math/exact/exact.h"
#include "wire/sum_codec.h"

#define MEMBERS    3u
#define SEATS      5u
#define LINKS      8u /* Two for each member, then strangers'. */
#define STRANGERS  (2 * MEMBERS)
#define QUEUE      6u
#define MSG_BYTES  900u
#define EVENTS_MAX 400u
#define IDS        512u
#define NO_LINK    LINKS

enum { TO_HOST, TO_MEMBER };

struct letter {
    size_t size;
    uint8_t bytes[MSG_BYTES];
};

/* Messages of one connection, one way. */
struct road {
    uint32_t count;
    struct letter letters[QUEUE];
};

struct wire {
    bool host_end, member_end; /* Still there. */
    struct road roads[2][2];   /* By direction and plane. */
};

struct person {
    struct sum_member machine;
    uint32_t link;
    bool dialling, joined, over;
    bool waits;
    uint64_t id; /* Of the vector it waits with. */
    uint64_t vector[2];
    uint64_t incarnation;
};

static struct {
    struct feed feed;
    time_us now;
    struct sum_host host;
    struct sum_actions host_actions, actions;
    struct sum_action host_list[4 * SEATS + 16], list[4 * SEATS + 16];
    struct wire wires[LINKS];
    struct person people[MEMBERS];
    bool over;
    uint64_t ids;
    uint64_t kept[SEATS];
    uint64_t counted[IDS]; /* In the total of this call; 0: in none. */
    bool never[IDS];       /* Its member was told so. */
    uint64_t totals[IDS];  /* By call. */
} scene;

/* --- roads ---------------------------------------------------------------- */

static void post(struct wire *wire, int way, const struct sum_msg *msg)
{
    struct road *road = &wire->roads[way][sum_is_bulk(msg->kind)];
    struct letter *letter = &road->letters[road->count];

    if (road->count == QUEUE)
        return; /* As good as lost: it breaks sooner or later. */
    FUZZ_REQUIRE(sum_codec_bound(msg) <= MSG_BYTES);
    letter->size = sum_codec_encode(msg, letter->bytes);
    road->count++;
}

static void collect(struct road *road, struct letter *letter)
{
    *letter = road->letters[0];
    road->count--;
    memmove(road->letters, road->letters + 1,
            road->count * sizeof *road->letters);
}

static void clear(struct wire *wire)
{
    wire->host_end = wire->member_end = false;
    for (int way = 0; way < 2; way++)
        wire->roads[way][0].count = wire->roads[way][1].count = 0;
}

/* --- the host ------------------------------------------------------------- */

/* Numbers of vectors that are too short to have one are 0. */
static uint64_t id_in(const struct sum_msg *msg)
{
    uint64_t id = 0;

    if (msg->size >= sizeof id)
        memcpy(&id, msg->bytes, sizeof id);
    return id;
}

static void count(uint64_t id, uint64_t call)
{
    if (id == 0)
        return;
    FUZZ_REQUIRE(id <= scene.ids && scene.counted[id] == 0);
    FUZZ_REQUIRE(!scene.never[id]);
    scene.counted[id] = call;
}

static void add_up(void)
{
    const struct sum_host *host = &scene.host;
    const uint64_t call = host->call - 1;
    uint32_t contributed = 0;
    uint64_t total = 0;

    for (uint32_t i = 0; i < SEATS; i++) {
        if (!host->seats[i].was_in)
            continue;
        FUZZ_REQUIRE(scene.kept[i] != UINT64_MAX);
        count(scene.kept[i], call);
        total += scene.kept[i];
        scene.kept[i] = UINT64_MAX;
        contributed++;
    }
    FUZZ_REQUIRE(contributed == host->last_contributed);
    FUZZ_REQUIRE(contributed >= host->options.least);
    scene.totals[call] = total;
    fuzz_reached = true;
}

static void host_sends(const struct sum_action *action)
{
    struct wire *wire = &scene.wires[action->link];
    struct sum_msg msg = action->msg;
    uint64_t vector[2] = {0};

    FUZZ_REQUIRE(action->link < LINKS);
    if (!wire->host_end)
        return; /* Its driver has no session there any more. */
    if (msg.kind == SUM_TOTAL) {
        FUZZ_REQUIRE(msg.call == scene.host.call - 1);
        vector[0] = scene.totals[msg.call];
        msg.bytes = (const uint8_t *)vector;
        msg.size = (size_t)msg.shape.count *
                   exact_size((enum exact_type)msg.shape.type);
        if (msg.size > sizeof vector)
            return; /* Of strangers. */
    }
    post(wire, TO_MEMBER, &msg);
    if (msg.kind == SUM_REJECT || msg.kind == SUM_BYE)
        wire->host_end = false;
}

static void host_obeys(const struct sum_event *event)
{
    for (uint32_t i = 0; i < scene.host_actions.count; i++) {
        const struct sum_action *action = &scene.host_list[i];

        if (action->kind == SUM_ACTION_SEND)
            host_sends(action);
        if (action->kind == SUM_ACTION_CLOSE)
            scene.wires[action->link].host_end = false;
        if (action->kind == SUM_ACTION_KEEP) {
            FUZZ_REQUIRE(action->seat < SEATS && event->msg->kind == SUM_GIVE);
            scene.kept[action->seat] = id_in(event->msg);
        }
        if (action->kind == SUM_ACTION_DROP)
            scene.kept[action->seat] = UINT64_MAX;
        if (action->kind == SUM_ACTION_TOTAL)
            add_up();
        if (action->kind == SUM_ACTION_FINISH)
            scene.over = true;
    }
}

static void host_step(struct sum_event event)
{
    event.now = scene.now;
    sum_host_step(&scene.host, &event, &scene.host_actions);
    host_obeys(&event);
}

static void host_hears(uint32_t link, const struct sum_msg *msg)
{
    if (scene.wires[link].host_end)
        host_step((struct sum_event){
            .kind = SUM_EVENT_MESSAGE, .link = link, .msg = msg});
}

/* --- members -------------------------------------------------------------- */

static void check_result(struct person *person, const struct sum_action *action)
{
    const uint64_t id = person->id;

    FUZZ_REQUIRE(person->waits);
    person->waits = false;
    if (action->err == ERR_OK) {
        FUZZ_REQUIRE(action->msg.kind == SUM_TOTAL);
        FUZZ_REQUIRE(id_in(&action->msg) == scene.totals[action->msg.call]);
    }
    if (action->included == 1)
        FUZZ_REQUIRE(action->err == ERR_OK &&
                     scene.counted[id] == action->msg.call);
    if (action->included == 0) {
        FUZZ_REQUIRE(scene.counted[id] == 0);
        scene.never[id] = true;
    }
}

static void member_obeys(struct person *person)
{
    for (uint32_t i = 0; i < scene.actions.count; i++) {
        const struct sum_action *action = &scene.list[i];

        if (action->kind == SUM_ACTION_SEND) {
            FUZZ_REQUIRE(person->link != NO_LINK);
            post(&scene.wires[person->link], TO_HOST, &action->msg);
        }
        if (action->kind == SUM_ACTION_CLOSE) {
            scene.wires[person->link].member_end = false;
            person->link = NO_LINK;
        }
        if (action->kind == SUM_ACTION_CONNECT) {
            FUZZ_REQUIRE(person->link == NO_LINK && !person->dialling);
            person->dialling = true;
        }
        if (action->kind == SUM_ACTION_JOINED) {
            FUZZ_REQUIRE(!person->joined);
            person->joined = true;
        }
        if (action->kind == SUM_ACTION_RESULT)
            check_result(person, action);
        if (action->kind == SUM_ACTION_FINISH) {
            FUZZ_REQUIRE(!person->waits);
            person->over = true;
        }
    }
}

static void member_step(struct person *person, struct sum_event event)
{
    event.now = scene.now;
    sum_member_step(&person->machine, &event, &scene.actions);
    member_obeys(person);
}

static void leave_link(struct person *person)
{
    if (person->link != NO_LINK)
        scene.wires[person->link].member_end = false;
    person->link = NO_LINK;
}

static void be_born(struct person *person)
{
    struct sum_member_options options = {.incarnation = ++person->incarnation,
                                         .retry_us = 10 * MS_US,
                                         .retry_max_us = 100 * MS_US,
                                         .give_up_us = 60 * SECOND_US};

    options.name[0] = (char)('a' + (person - scene.people));
    leave_link(person);
    person->dialling = person->joined = person->over = person->waits = false;
    sum_member_init(&person->machine, &options);
    member_step(person, (struct sum_event){.kind = SUM_EVENT_START});
}

static void give(struct person *person)
{
    struct feed *feed = &scene.feed;
    const uint32_t how = feed_u8(feed);
    struct sum_event event = {.kind = SUM_EVENT_GIVE,
                              .shape = {EXACT_F64, how % 8 == 7 ? 2 : 1},
                              .patience_us = how / 8 % 2 ? 100 * MS_US : 0};

    if (person->waits || scene.ids + 1 >= IDS)
        return;
    person->waits = true;
    person->id = ++scene.ids;
    person->vector[0] = person->id;
    event.bytes = (const uint8_t *)person->vector;
    event.size = event.shape.count * sizeof *person->vector;
    member_step(person, event);
}

static void dialled(struct person *person)
{
    const uint32_t mine = 2 * (uint32_t)(person - scene.people);

    if (!person->dialling)
        return;
    person->dialling = false;
    for (uint32_t link = mine; link < mine + 2; link++) {
        struct wire *wire = &scene.wires[link];

        if (wire->host_end || wire->member_end ||
            feed_below(&scene.feed, 8) == 7)
            continue;
        clear(wire);
        wire->host_end = wire->member_end = true;
        person->link = link;
        member_step(person, (struct sum_event){.kind = SUM_EVENT_UP});
        return;
    }
    member_step(person, (struct sum_event){.kind = SUM_EVENT_DOWN});
}

static void member_acts(void)
{
    struct person *person = &scene.people[feed_below(&scene.feed, MEMBERS)];
    const uint32_t what = feed_below(&scene.feed, 8);

    /* What a member does next, mostly. */
    if (what < 5 && person->dialling && !person->over) {
        dialled(person);
        return;
    }
    switch (what) {
    case 0:
    case 1:
    case 2:
    case 3:
        give(person);
        break;
    case 4:
    case 5:
        member_step(person, (struct sum_event){.kind = SUM_EVENT_TIME});
        break;
    case 6:
        member_step(person, (struct sum_event){.kind = SUM_EVENT_CANCEL});
        break;
    default:
        if (feed_below(&scene.feed, 2) != 0)
            be_born(person);
        else if (!person->over)
            member_step(person, (struct sum_event){.kind = SUM_EVENT_END});
        break;
    }
}

/* --- between them --------------------------------------------------------- */

/* The roads with something to carry that somebody still waits for. */
static uint32_t busy_roads(uint32_t *list)
{
    uint32_t count = 0;

    for (uint32_t i = 0; i < 4 * STRANGERS; i++) {
        const struct wire *wire = &scene.wires[i / 4];
        const int way = i / 2 % 2 ? TO_MEMBER : TO_HOST;

        if ((way == TO_HOST ? wire->host_end : wire->member_end) &&
            wire->roads[way][i % 2].count > 0)
            list[count++] = i;
    }
    return count;
}

static void carry(void)
{
    uint32_t list[4 * STRANGERS];
    const uint32_t busy = busy_roads(list);
    struct letter letter;
    struct sum_msg msg;
    uint32_t at;

    if (busy == 0)
        return;
    at = list[feed_below(&scene.feed, busy)];
    collect(
        &scene.wires[at / 4].roads[at / 2 % 2 ? TO_MEMBER : TO_HOST][at % 2],
        &letter);
    FUZZ_REQUIRE(sum_codec_decode(letter.bytes, letter.size, &msg) == ERR_OK);
    if (at / 2 % 2 == 0)
        host_hears(at / 4, &msg);
    else if (!scene.people[at / 8].over)
        member_step(&scene.people[at / 8],
                    (struct sum_event){.kind = SUM_EVENT_MESSAGE, .msg = &msg});
}

/* One side hears that the connection is gone. */
static void cut(void)
{
    const uint32_t pick = feed_u8(&scene.feed);
    const uint32_t link = pick % LINKS;
    struct wire *wire = &scene.wires[link];
    struct person *person = &scene.people[link / 2 % MEMBERS];

    if (pick / LINKS % 2 == 0 && wire->host_end) {
        wire->host_end = false;
        host_step((struct sum_event){.kind = SUM_EVENT_DOWN, .link = link});
    } else if (link < STRANGERS && wire->member_end) {
        leave_link(person);
        if (!person->over)
            member_step(person, (struct sum_event){.kind = SUM_EVENT_DOWN});
    }
}

/* --- strangers ------------------------------------------------------------ */

static void stranger_greets(uint32_t link)
{
    struct sum_msg msg = {.kind = SUM_HELLO, .version = SUM_VERSION};
    const uint32_t who = feed_u8(&scene.feed);

    msg.version += who / 64 == 3;
    msg.name[0] = (char)('a' + who % 5);
    msg.incarnation = 1000 + who / 5 % 3; /* No member's. */
    msg.group = who / 16 % 4 == 3 ? 10 : 0;
    scene.wires[link].host_end = true;
    host_hears(link, &msg);
}

static void stranger_gives(uint32_t link)
{
    struct feed *feed = &scene.feed;
    const uint64_t vector[2] = {scene.ids + 1};
    struct sum_msg msg = {.kind = SUM_GIVE, .shape = {EXACT_F64, 1}};

    if (scene.ids + 1 >= IDS)
        return;
    scene.ids++;
    msg.call = scene.host.call + feed_below(feed, 4) - 1;
    msg.serial = feed_below(feed, 8);
    msg.shape.count = 1 + (feed_below(feed, 8) == 7);
    msg.patience_us = feed_below(feed, 4) == 1 ? 50 * MS_US : 0;
    msg.bytes = (const uint8_t *)vector;
    msg.size = msg.shape.count * sizeof *vector;
    host_hears(link, &msg);
}

static void stranger_says(uint32_t link)
{
    static const enum sum_kind kinds[] = {SUM_BEAT, SUM_WITHDRAW, SUM_LEAVE,
                                          SUM_TOTAL};
    struct sum_msg msg = {.kind = kinds[feed_below(&scene.feed, 4)]};

    msg.call = scene.host.call + feed_below(&scene.feed, 3) - 1;
    host_hears(link, &msg);
}

static void stranger_raw(uint32_t link)
{
    struct sum_msg msg;
    size_t size;
    const uint8_t *bytes = feed_view(&scene.feed, &size);
    uint64_t vector[2] = {0};

    if (sum_codec_decode(bytes, size, &msg) != ERR_OK)
        return;
    if (msg.kind == SUM_HELLO)
        msg.incarnation |= 1024; /* No member's. */
    if (msg.kind == SUM_GIVE) {  /* Vectors have numbers here, or none. */
        if (msg.size > sizeof vector)
            return;
        msg.bytes = (const uint8_t *)vector;
    }
    host_hears(link, &msg);
}

static void stranger_acts(void)
{
    const uint32_t link = STRANGERS + feed_below(&scene.feed, 2);

    switch (feed_below(&scene.feed, 6)) {
    case 0:
        stranger_greets(link);
        break;
    case 1:
    case 2:
        stranger_gives(link);
        break;
    case 3:
        stranger_raw(link);
        break;
    default:
        stranger_says(link);
        break;
    }
    scene.wires[link].roads[TO_MEMBER][0].count = 0;
    scene.wires[link].roads[TO_MEMBER][1].count = 0;
}

/* -------------------------------------------------------------------------- */

static void happen(void)
{
    switch (feed_below(&scene.feed, 16)) {
    case 0:
        scene.now += (time_us)feed_u8(&scene.feed) * 10 * MS_US;
        host_step((struct sum_event){.kind = SUM_EVENT_TIME});
        break;
    case 1:
        cut();
        break;
    case 2:
    case 3:
        stranger_acts();
        break;
    case 4:
        if (feed_below(&scene.feed, 32) == 31)
            host_step((struct sum_event){.kind = SUM_EVENT_END});
        break;
    case 5:
    case 6:
    case 7:
    case 8:
        member_acts();
        break;
    default:
        carry();
        break;
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct sum_host_options options = {.group = 9,
                                       .seats = SEATS,
                                       .size_max = 16,
                                       .beat_us = 50 * MS_US,
                                       .dead_us = SECOND_US,
                                       .host_dead_us = 2 * SECOND_US};

    for (uint32_t link = 0; link < LINKS; link++)
        clear(&scene.wires[link]);
    memset(scene.people, 0, sizeof scene.people);
    memset(scene.counted, 0, sizeof scene.counted);
    memset(scene.never, 0, sizeof scene.never);
    memset(scene.totals, 0, sizeof scene.totals);
    memset(scene.kept, 0xff, sizeof scene.kept);
    scene.feed = (struct feed){.data = data, .size = size};
    scene.now = 0;
    scene.ids = 0;
    scene.over = false;
    scene.host_actions = (struct sum_actions){
        .list = scene.host_list, .capacity = sum_actions_max(SEATS)};
    scene.actions = (struct sum_actions){.list = scene.list,
                                         .capacity = sum_actions_max(SEATS)};
    options.least = 1 + feed_below(&scene.feed, MEMBERS);
    FUZZ_REQUIRE(sum_host_init(&scene.host, &options) == ERR_OK);
    for (uint32_t i = 0; i < MEMBERS; i++) {
        scene.people[i].link = NO_LINK;
        be_born(&scene.people[i]);
    }
    for (uint32_t i = 0;
         i < EVENTS_MAX && feed_more(&scene.feed) && !scene.over; i++)
        happen();
    sum_host_close(&scene.host);
    return 0;
}
