/*
 * fuzz_sum.c - a group of three members over links that break, and beside
 * strangers who say anything (src/core/sum/sum.h).
 *
 * The input chooses what happens: time passes, members give, cancel, leave, die
 * and are born again, a link carries one message, or is cut, each side hearing
 * of it when it hears of it.  If its first byte says so there is a stranger
 * with a link to each, who greets, joins, and sends bytes of the input as they
 * are.  A vector is its number, in every place.
 * Oracles, as long as nobody lies: whoever is told a total of a call is told
 * the same, of the same members, as many as are wanted at least; it is of whole
 * vectors; a member that is told that it is in is named.  With a stranger: no
 * step asks for what cannot be done.
 */
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "core/sum/sum.h"
#include "feed.h"
#include "fuzz.h"
#include "math/exact/exact.h"
#include "wire/sum_codec.h"

enum {
    MEMBERS = 3,
    STRANGER = MEMBERS,
    WIRES = 48,
    LETTERS = 32,
    LETTER = 1024,
    COUNT = 48,
    CALLS = 512,
    EVENTS_MAX = 600,
};

struct letter {
    size_t size;
    uint8_t bytes[LETTER];
};

struct road {
    struct letter letters[LETTERS];
    uint32_t first, count;
};

/* Ends: 0 who dialled, 1 who is dialled. */
struct wire {
    bool open[2], told_up;
    uint32_t person[2], number[2];
    struct road roads[2][2]; /* To that end, by urgency. */
};

struct person {
    struct sum_member machine;
    bool there, over, waits;
    uint32_t lives;
    double vector[COUNT], total[2][COUNT], slices[2][SUM_SEATS][COUNT];
    uint32_t wires[SUM_LINKS]; /* WIRES: none. */
};

static struct {
    struct feed feed;
    time_us now;
    bool lies, full; /* full: a road is, and this is the end. */
    uint64_t ids;
    struct person people[MEMBERS];
    struct wire wires[WIRES];
    double totals[CALLS];
    char who[CALLS][64];
    struct sum_actions actions;
    struct sum_action list[SUM_ACTIONS];
    struct sum_codec_room room;
} scene;

/* --- wires ---------------------------------------------------------------- */

static uint32_t end_of(const struct wire *wire, uint32_t person)
{
    return wire->person[0] == person ? 0 : 1;
}

static void post(uint32_t at, uint32_t to, const struct sum_msg *msg)
{
    static uint8_t bytes[1 << 15];
    struct wire *wire = &scene.wires[at];
    struct road *road = &wire->roads[to][sum_is_urgent(msg->kind)];
    const size_t size = sum_codec_encode(msg, bytes);
    struct letter *letter;

    FUZZ_REQUIRE(size <= LETTER);
    if (!wire->open[to])
        return; /* Nobody reads there; the sender hears of it. */
    if (road->count == LETTERS) {
        scene.full = true;
        return;
    }
    letter = &road->letters[(road->first + road->count++) % LETTERS];
    letter->size = size;
    memcpy(letter->bytes, bytes, size);
}

static uint32_t free_wire(void)
{
    for (uint32_t i = 0; i < WIRES; i++) {
        if (!scene.wires[i].open[0] && !scene.wires[i].open[1])
            return i;
    }
    return WIRES;
}

/* --- members -------------------------------------------------------------- */

static void let_go(struct person *person, uint32_t number)
{
    const uint32_t at = person->wires[number];

    if (at == WIRES)
        return;
    scene.wires[at]
        .open[end_of(&scene.wires[at], (uint32_t)(person - scene.people))] =
        false;
    person->wires[number] = WIRES;
}

static void fill_in(const struct person *person, struct sum_action *action)
{
    struct sum_msg *msg = &action->msg;
    const double *from = msg->kind == SUM_SLICE
                             ? person->vector
                             : person->total[action->call & 1];

    if (msg->kind != SUM_SLICE && msg->kind != SUM_PART)
        return;
    FUZZ_REQUIRE(action->slot < action->slots && action->slots <= SUM_SEATS);
    FUZZ_REQUIRE(action->shape.count <= COUNT);
    msg->bytes =
        (const uint8_t *)(from + sum_slice_at(action->shape.count,
                                              action->slots, action->slot));
    msg->size =
        sum_slice_size(action->shape.count, action->slots, action->slot) *
        exact_size((enum exact_type)action->shape.type);
}

static void keep(struct person *person, const struct sum_action *action)
{
    const uint64_t count = action->shape.count;
    const size_t unit = exact_size((enum exact_type)action->shape.type);
    const size_t at = unit * sum_slice_at(count, action->slots, action->slot);
    uint8_t *slice = (uint8_t *)person->slices[action->call & 1][action->slot];

    FUZZ_REQUIRE(action->slot < action->slots && count * unit <= 8 * COUNT);
    if (action->msg.kind == SUM_PART)
        memcpy((uint8_t *)person->total[action->call & 1] + at,
               action->msg.bytes, action->msg.size);
    else if (action->msg.kind == SUM_SLICE)
        memcpy(slice, action->msg.bytes, action->msg.size);
    else
        memcpy(slice, (const uint8_t *)person->vector + at,
               unit * sum_slice_size(count, action->slots, action->slot));
}

static void add(struct person *person, const struct sum_action *action)
{
    const enum exact_type type = (enum exact_type)action->shape.type;
    const void *rows[SUM_SEATS];
    double column[SUM_SEATS];
    uint32_t count = 0;
    const uint64_t width =
        sum_slice_size(action->shape.count, action->slots, action->slot);

    for (uint32_t i = 0; i < action->slots; i++) {
        if ((action->set >> i & 1) != 0)
            rows[count++] = person->slices[action->call & 1][i];
    }
    FUZZ_REQUIRE(count > 0 && action->slot < action->slots);
    if (width > 0)
        exact_sum(ISA_PORTABLE, type, rows, count, width, column,
                  (uint8_t *)person->total[action->call & 1] +
                      exact_size(type) * sum_slice_at(action->shape.count,
                                                      action->slots,
                                                      action->slot));
}

static void check_result(struct person *person, const struct sum_action *action)
{
    const struct sum_last *last = &person->machine.last;
    const double *total = person->total[action->call & 1];

    FUZZ_REQUIRE(person->waits);
    person->waits = false;
    if (action->err != ERR_OK || scene.lies)
        return;
    fuzz_reached = true;
    FUZZ_REQUIRE(action->call < CALLS && last->call == action->call);
    FUZZ_REQUIRE(last->contributed >= person->machine.view.least);
    for (uint32_t i = 1; i < last->shape.count; i++)
        FUZZ_REQUIRE(total[i] == total[0]);
    if (scene.who[action->call][0] == '\0') {
        scene.totals[action->call] = total[0];
        (void)snprintf(scene.who[action->call], sizeof scene.who[0], "%.60s",
                       last->who);
    }
    FUZZ_REQUIRE(scene.totals[action->call] == total[0]);
    FUZZ_REQUIRE(strcmp(scene.who[action->call], last->who) == 0);
    if (action->included == 1)
        FUZZ_REQUIRE(strchr(last->who, 'a' + (int)(person - scene.people)) !=
                     NULL);
}

static void dial(uint32_t from, const struct sum_action *action)
{
    const uint32_t to = (uint32_t)(action->place[0] - 'a');
    const uint32_t at = free_wire();
    struct wire *wire = &scene.wires[at];

    FUZZ_REQUIRE(action->link >= SUM_ACCEPTED);
    FUZZ_REQUIRE(scene.people[from].wires[action->link] == WIRES);
    if (at == WIRES)
        return; /* It waits for ever. */
    memset(wire, 0, sizeof *wire);
    wire->open[0] = true;
    wire->open[1] = to < MEMBERS && to != from && scene.people[to].there;
    wire->person[0] = from;
    wire->person[1] = to < MEMBERS ? to : from;
    wire->number[0] = action->link;
    wire->number[1] = SUM_NOBODY;
    scene.people[from].wires[action->link] = at;
}

static void step(uint32_t index, struct sum_event event)
{
    struct person *person = &scene.people[index];

    if (!person->there || person->over)
        return;
    event.now = scene.now;
    sum_member_step(&person->machine, &event, &scene.actions);
    for (uint32_t i = 0; i < scene.actions.count; i++) {
        struct sum_action *action = &scene.list[i];

        if (action->kind == SUM_ACTION_SEND) {
            const uint32_t at = person->wires[action->link];

            FUZZ_REQUIRE(action->link < SUM_LINKS);
            fill_in(person, action);
            if (at != WIRES)
                post(at, 1 - end_of(&scene.wires[at], index), &action->msg);
        }
        if (action->kind == SUM_ACTION_CLOSE)
            let_go(person, action->link);
        if (action->kind == SUM_ACTION_CONNECT)
            dial(index, action);
        if (action->kind == SUM_ACTION_KEEP)
            keep(person, action);
        if (action->kind == SUM_ACTION_ADD)
            add(person, action);
        if (action->kind == SUM_ACTION_RESULT)
            check_result(person, action);
        if (action->kind == SUM_ACTION_FINISH) {
            FUZZ_REQUIRE(!person->waits);
            person->over = true;
        }
    }
    for (uint32_t k = 0; person->over && k < SUM_LINKS; k++)
        let_go(person, k);
}

static void die(uint32_t index)
{
    struct person *person = &scene.people[index];

    person->there = person->waits = false;
    for (uint32_t k = 0; k < SUM_LINKS; k++)
        let_go(person, k);
}

static void be_born(uint32_t index, bool first, uint32_t least)
{
    struct person *person = &scene.people[index];
    struct sum_options options = {.first = first,
                                  .group = 9,
                                  .least = least,
                                  .members_max = MEMBERS + 1,
                                  .size_max = sizeof person->vector,
                                  .beat_us = 100 * MS_US,
                                  .dead_us = SECOND_US,
                                  .retry_us = 10 * MS_US,
                                  .retry_max_us = 100 * MS_US,
                                  .give_up_us = 60 * SECOND_US};

    options.self.name[0] = options.self.place[0] = (char)('a' + index);
    options.self.incarnation = ++person->lives;
    options.sponsor[0] = (char)('a' + (index + MEMBERS - 1) % MEMBERS);
    for (uint32_t k = 0; k < SUM_LINKS; k++)
        person->wires[k] = WIRES;
    person->there = true;
    person->over = person->waits = false;
    sum_member_init(&person->machine, &options);
    step(index, (struct sum_event){.kind = SUM_EVENT_START});
}

static void give(uint32_t index)
{
    struct person *person = &scene.people[index];
    const uint32_t how = feed_u8(&scene.feed);
    const struct sum_event event = {
        .kind = SUM_EVENT_GIVE,
        .shape = {EXACT_F64, how % 8 == 7 ? 20 : COUNT},
        .patience_us = how / 8 % 4 == 3 ? 50 * MS_US : 0};

    if (person->waits || person->over || !person->machine.joined)
        return;
    person->waits = true;
    scene.ids++;
    for (uint32_t i = 0; i < COUNT; i++)
        person->vector[i] = (double)scene.ids;
    step(index, event);
}

static void member_acts(void)
{
    const uint32_t index = feed_below(&scene.feed, MEMBERS);
    const uint32_t what = feed_below(&scene.feed, 16);

    if (what < 12 && scene.people[index].there)
        give(index);
    else if (what == 12)
        step(index, (struct sum_event){.kind = SUM_EVENT_CANCEL});
    else if (what == 13 && !scene.people[index].waits)
        step(index, (struct sum_event){.kind = SUM_EVENT_END});
    else if (what == 14)
        die(index);
    else if (!scene.people[index].there || scene.people[index].over)
        be_born(index, false, 1);
}

/* --- between them --------------------------------------------------------- */

static void hear(uint32_t at, uint32_t end, const struct sum_msg *msg)
{
    struct wire *wire = &scene.wires[at];
    struct person *person = &scene.people[wire->person[end]];

    if (wire->number[end] == SUM_NOBODY && msg->kind != SUM_HELLO)
        return;
    for (uint32_t i = 0; wire->number[end] == SUM_NOBODY && i < SUM_ACCEPTED;
         i++) {
        if (person->wires[i] != WIRES)
            continue;
        person->wires[i] = at;
        wire->number[end] = i;
    }
    step(wire->person[end], (struct sum_event){.kind = SUM_EVENT_MESSAGE,
                                               .link = wire->number[end],
                                               .msg = msg});
}

/* What a wire has for an end: that it is up, a message, that it is gone. */
static void carry(uint32_t at, uint32_t end, uint32_t urgent)
{
    struct wire *wire = &scene.wires[at];
    struct road *road = &wire->roads[end][urgent];
    struct letter letter;
    struct sum_msg msg;

    if (!wire->open[end] || (wire->person[0] == STRANGER && end == 0))
        return;
    if (end == 0 && !wire->told_up && wire->open[1]) {
        wire->told_up = true;
        step(wire->person[0],
             (struct sum_event){.kind = SUM_EVENT_UP, .link = wire->number[0]});
    } else if (road->count > 0) {
        letter = road->letters[road->first];
        road->first = (road->first + 1) % LETTERS;
        road->count--;
        FUZZ_REQUIRE(sum_codec_decode(letter.bytes, letter.size, &scene.room,
                                      &msg) == ERR_OK);
        hear(at, end, &msg);
    } else if (!wire->open[1 - end] && wire->roads[end][!urgent].count == 0) {
        const uint32_t number = wire->number[end];

        wire->open[end] = false;
        if (number == SUM_NOBODY)
            return;
        scene.people[wire->person[end]].wires[number] = WIRES;
        step(wire->person[end],
             (struct sum_event){.kind = SUM_EVENT_DOWN, .link = number});
    }
}

/* Bulk is not read before there was a HELLO. */
static bool has_word(const struct wire *wire, uint32_t end, uint32_t urgent)
{
    const struct person *person = &scene.people[wire->person[end]];
    const uint32_t number = wire->number[end];

    return wire->roads[end][urgent].count > 0 &&
           (urgent ||
            (number != SUM_NOBODY && person->machine.links[number].met));
}

/* Whatever lies on the next wires that have something to do. */
static void carry_some(uint32_t how)
{
    for (uint32_t k = 0; k < 4 * WIRES; k++) {
        const uint32_t at = (how + k) % (4 * WIRES);
        const struct wire *wire = &scene.wires[at / 4];
        const uint32_t end = at / 2 % 2;

        if (wire->open[end] && wire->person[end] != STRANGER &&
            (has_word(wire, end, at % 2) || !wire->open[1 - end] ||
             (end == 0 && !wire->told_up))) {
            carry(at / 4, end, at % 2);
            return;
        }
    }
}

static void cut(uint32_t how)
{
    struct wire *wire = &scene.wires[how % WIRES];
    const uint32_t end = how / WIRES % 2;

    if (!wire->open[end] || wire->person[end] == STRANGER ||
        wire->number[end] == SUM_NOBODY)
        return;
    wire->open[1 - end] = false;
    wire->roads[end][0].count = wire->roads[end][1].count = 0;
    carry(how % WIRES, end, 0);
}

/* --- the stranger --------------------------------------------------------- */

static void stranger_acts(void)
{
    const uint32_t to = feed_below(&scene.feed, MEMBERS);
    struct sum_msg msg = {.kind = SUM_HELLO, .version = SUM_VERSION};
    uint32_t at = 0;
    size_t size;
    const uint8_t *bytes;

    while (at < WIRES &&
           !(scene.wires[at].person[0] == STRANGER &&
             scene.wires[at].person[1] == to && scene.wires[at].open[1]))
        at++;
    if (at == WIRES) {
        at = free_wire();
        if (at == WIRES || !scene.people[to].there)
            return;
        memset(&scene.wires[at], 0, sizeof scene.wires[at]);
        scene.wires[at].open[0] = scene.wires[at].open[1] = true;
        scene.wires[at].person[0] = STRANGER;
        scene.wires[at].person[1] = to;
        scene.wires[at].number[0] = scene.wires[at].number[1] = SUM_NOBODY;
        msg.who.name[0] = msg.who.place[0] =
            (char)('a' + feed_below(&scene.feed, MEMBERS + 1));
        msg.who.incarnation = 1 + feed_below(&scene.feed, 2);
        hear(at, 1, &msg);
        return;
    }
    scene.wires[at].roads[0][0].count = scene.wires[at].roads[0][1].count = 0;
    msg.kind = (enum sum_kind)(SUM_JOIN + feed_below(&scene.feed, 9));
    msg.number =
        scene.people[to].machine.view.number + feed_below(&scene.feed, 4) / 3;
    msg.call = scene.people[to].machine.committed + 1;
    msg.ballot = feed_below(&scene.feed, 4) * 256 + 3;
    if (feed_below(&scene.feed, 2) == 0 &&
        (msg.kind == SUM_JOIN || msg.kind == SUM_REQUEST ||
         msg.kind == SUM_COLLECT || msg.kind == SUM_ACCEPT)) {
        hear(at, 1, &msg);
        return;
    }
    bytes = feed_view(&scene.feed, &size);
    if (sum_codec_decode(bytes, size, &scene.room, &msg) == ERR_OK &&
        (msg.view == NULL || msg.view->size_max <= 8 * COUNT))
        hear(at, 1, &msg);
}

static void happen(void)
{
    const uint32_t what = feed_below(&scene.feed, 32);

    if (what == 0) {
        scene.now += (time_us)feed_u8(&scene.feed) * 10 * MS_US;
        for (uint32_t i = 0; i < MEMBERS; i++)
            step(i, (struct sum_event){.kind = SUM_EVENT_TIME});
    } else if (what == 1) {
        cut(feed_u8(&scene.feed));
    } else if (what < 4 && scene.lies) {
        stranger_acts();
    } else if (what < 10) {
        member_acts();
    } else {
        const uint32_t how = feed_u8(&scene.feed);

        scene.now += 50;
        for (uint32_t k = 0; k <= how % 8; k++)
            carry_some(how);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    memset(&scene.wires, 0, sizeof scene.wires);
    memset(scene.who, 0, sizeof scene.who);
    scene.feed = (struct feed){.data = data, .size = size};
    scene.now = 0;
    scene.ids = 0;
    scene.full = false;
    scene.lies = feed_below(&scene.feed, 4) == 3;
    scene.actions =
        (struct sum_actions){.list = scene.list, .capacity = SUM_ACTIONS};
    for (uint32_t i = 0; i < MEMBERS; i++) {
        scene.people[i].lives = 0;
        scene.people[i].there = false;
    }
    be_born(0, true, 1 + feed_below(&scene.feed, MEMBERS));
    for (uint32_t i = 1; i < MEMBERS; i++)
        be_born(i, false, 1);
    for (uint32_t i = 0;
         i < EVENTS_MAX && feed_more(&scene.feed) && !scene.full; i++)
        happen();
    return 0;
}
