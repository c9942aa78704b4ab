/*
 * The sum machine in virtual time: members that give, think, join, leave, are
 * killed, stopped and cut off from each other, cancel, lose patience and give
 * vectors of another length, all from a seed; and one fault (then two) before
 * every event of a small group's life, its forming included.
 *
 * Every vector has a number of its own, so that a total says which are in it.
 * Checked: all who are told a total of a call are told the same (SUM-2), it is
 * the sum of one vector of each who is named, none of which is in another
 * total, or was said not to be in (SUM-4), never fewer than `least`; views of
 * one number are the same everywhere (SUM-1); and if a quorum is left and can
 * talk, all who are left go on.  Mistakes that are planted must be found.
 */
#include "core/sum/sum.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/bugs.h"
#include "base/mem.h"
#include "base/rng.h"
#include "math/exact/exact.h"
#include "wire/sum_codec.h"

enum {
    PEOPLE = 7,
    CONNS = 4096,
    POST = 2048,
    CALLS = 4096,
    VIEWS = 4096,
    LOOSE = 64,
    COUNT = 70,
    BYTES = 2048,
    SEEDS = 60,
};

#define DEAD_US    SECOND_US
#define GIVE_UP_US (4 * SECOND_US)
#define NOBODY     UINT32_MAX

enum post_kind { POST_WORD, POST_UP, POST_DOWN };

struct post {
    bool used;
    enum post_kind kind;
    time_us at;
    uint64_t order;
    uint32_t conn, to;
    size_t size;
    uint8_t bytes[BYTES];
};

struct conn {
    bool open;                     /* Else both ends know, or are about to. */
    uint32_t person[2], number[2]; /* Who dialled is 0. */
    time_us plane_at[2][2];
};

struct person {
    struct sum_member core;
    bool born, dead, over, lost, waits;
    time_us timer_at, wake_at, stopped_until;
    uint32_t conns[SUM_LINKS]; /* By number; CONNS: none. */
    uint32_t lives;
    /* As its driver has them. */
    double vector[COUNT], total[2][COUNT];
    double slices[2][SUM_SEATS][COUNT];
    bool obeys; /* Was told how long a vector is to be. */
    uint64_t id;
    uint64_t in[CALLS];                    /* By call: the vector that is in. */
    uint64_t loose[LOOSE], used_in[LOOSE]; /* Vectors that may be in. */
    uint32_t loose_count;
    uint32_t ended; /* Calls, and since faults are over. */
};

struct world {
    struct rng rng;
    time_us now;
    uint64_t order, events;
    struct person people[PEOPLE];
    struct conn conns[CONNS];
    uint32_t conn_count;
    struct post post[POST];
    uint32_t posts;
    struct sum_actions actions;
    uint32_t side[PEOPLE]; /* Of a partition. */
    uint64_t last_id;
    double sum[CALLS];
    uint32_t contributed[CALLS];
    char who[CALLS][PEOPLE * 8];
    uint64_t calls;
    uint64_t views[VIEWS]; /* Hash of the members, by number. */
    bool patience, cancels, shapes, leaves;
    bool calm; /* All of that is over. */
    uint32_t least;
    time_us quiet_at;
    bool failed;
    char wrong[256];
};

static void wrong(struct world *w, const char *what, uint64_t a, uint64_t b)
{
    if (w->failed)
        return;
    w->failed = true;
    (void)snprintf(w->wrong, sizeof w->wrong, "at %lld us: %s (%llu, %llu)",
                   (long long)w->now, what, (unsigned long long)a,
                   (unsigned long long)b);
}

/* --- post ---------------------------------------------------------------- */

static struct post *post_new(struct world *w, enum post_kind kind,
                             uint32_t conn, uint32_t to, time_us at)
{
    for (uint32_t i = 0; i < POST; i++) {
        struct post *post = &w->post[i];

        if (post->used)
            continue;
        w->posts = i < w->posts ? w->posts : i + 1;
        post->used = true;
        post->kind = kind;
        post->conn = conn;
        post->to = to;
        post->at = at;
        post->order = w->order++;
        return post;
    }
    wrong(w, "too much post", 0, 0);
    return &w->post[0];
}

static time_us later(struct world *w)
{
    return w->now + 20 + (time_us)rng_below(&w->rng, 600);
}

/* What is under way from the one who closes still comes; the other way it is
 * lost. */
static void hang_up(struct world *w, uint32_t conn, uint32_t by, bool lose)
{
    struct conn *c = &w->conns[conn];

    if (!c->open)
        return;
    c->open = false;
    for (uint32_t i = 0; i < w->posts; i++) {
        struct post *post = &w->post[i];

        if (post->used && post->conn == conn && post->kind == POST_WORD &&
            (lose || by == NOBODY || post->to == by))
            post->used = false;
    }
    for (uint32_t end = 0; end < 2; end++) {
        time_us at = later(w);

        if (c->person[end] == by)
            continue;
        for (uint32_t plane = 0; plane < 2; plane++)
            if (c->plane_at[end][plane] >= at)
                at = c->plane_at[end][plane] + 1;
        (void)post_new(w, POST_DOWN, conn, c->person[end], at);
    }
}

static uint32_t end_of(const struct conn *c, uint32_t person)
{
    return c->person[0] == person ? 0 : 1;
}

static void send(struct world *w, uint32_t from, uint32_t link,
                 const struct sum_msg *msg)
{
    const uint32_t conn = w->people[from].conns[link];
    struct conn *c;
    uint32_t to;
    time_us at = later(w), *last;
    struct post *post;

    if (conn == CONNS || !w->conns[conn].open)
        return;
    c = &w->conns[conn];
    to = 1 - end_of(c, from);
    last = &c->plane_at[to][sum_is_urgent(msg->kind)];
    *last = at > *last ? at : *last + 1;
    post = post_new(w, POST_WORD, conn, c->person[to], *last);
    assert_true(sum_codec_bound(msg) <=
                BYTES + 128 + SUM_SEATS * (NAME_SIZE + SUM_PLACE + 16));
    {
        static uint8_t room[1 << 15];

        post->size = sum_codec_encode(msg, room);
        assert_true(post->size <= BYTES);
        memcpy(post->bytes, room, post->size);
    }
}

static void dial(struct world *w, uint32_t from, uint32_t link,
                 const char *place)
{
    const uint32_t to = (uint32_t)strtoul(place + 1, NULL, 10);
    const struct person *there = &w->people[to];
    const uint32_t conn = w->conn_count;
    struct conn *c = &w->conns[conn];
    const bool there_is = to < PEOPLE && there->born && !there->dead &&
                          !there->over && w->side[from] == w->side[to];

    if (++w->conn_count == CONNS) {
        wrong(w, "dialled without end", from, to);
        w->conn_count--;
    }
    *c = (struct conn){
        .open = there_is, .person = {from, to}, .number = {link, NOBODY}};
    w->people[from].conns[link] = conn;
    (void)post_new(w, there_is ? POST_UP : POST_DOWN, conn, from, later(w));
}

/* --- what members are told ----------------------------------------------- */

static bool names(const char *who, uint32_t index)
{
    char name[8];
    const char *at;

    (void)snprintf(name, sizeof name, "m%u", index);
    at = strstr(who, name);
    while (at != NULL && at[strlen(name)] != ',' && at[strlen(name)] != '\0')
        at = strstr(at + 1, name);
    return at != NULL;
}

static void note_total(struct world *w, uint32_t index, uint64_t call)
{
    const struct person *p = &w->people[index];
    const struct sum_last *last = &p->core.last;
    const double *total = p->total[call & 1];
    const double step = last->contributed * 0x1p-10;

    if (call >= CALLS || last->call != call ||
        strlen(last->who) >= sizeof w->who[0]) {
        wrong(w, "a call there is not", call, last->call);
        return;
    }
    for (uint32_t j = 1; j < last->shape.count; j++) {
        if (total[j] != total[0] + j * step) {
            wrong(w, "a total that is torn", call, j);
            return;
        }
    }
    if (last->contributed < w->least)
        wrong(w, "fewer than least", call, last->contributed);
    if (w->who[call][0] == '\0') {
        memcpy(w->who[call], last->who, strlen(last->who) + 1);
        w->sum[call] = total[0];
        w->contributed[call] = last->contributed;
        w->calls++;
    } else if (strcmp(w->who[call], last->who) != 0 ||
               w->sum[call] != total[0]) {
        wrong(w, "two totals of one call", call, index);
    }
}

static void note_result(struct world *w, uint32_t index,
                        const struct sum_action *action)
{
    struct person *p = &w->people[index];

    p->waits = false;
    p->wake_at = w->now + (time_us)rng_below(&w->rng, 6 * MS_US);
    p->ended += w->now > w->quiet_at && action->err == ERR_OK;
    if (action->err == ERR_OK) {
        note_total(w, index, action->call);
        if (w->failed)
            return;
        if (action->included == 1 && !names(w->who[action->call], index))
            wrong(w, "in, and not named", action->call, index);
        if (action->included == 1)
            p->in[action->call] = p->id;
    } else if (action->included != 0 && p->loose_count < LOOSE) {
        p->loose[p->loose_count++] = p->id;
    }
    p->obeys = action->err == ERR_SHAPE;
    if (action->err == ERR_SHAPE && !w->shapes)
        wrong(w, "shapes differ, and do not", index, 0);
    if ((action->err == ERR_CANCELLED && !w->cancels) ||
        (action->err == ERR_TIMEOUT && !w->patience))
        wrong(w, "an end without a cause", index, (uint64_t)action->err);
}

static void note_view(struct world *w, const struct person *p)
{
    const struct sum_view *view = &p->core.view;
    uint64_t hash = view->call * 31 + view->set;

    for (uint32_t i = 0; i < view->count; i++)
        hash = hash * 1000003 + view->seats[i].incarnation;
    hash |= 1;
    if (view->number >= VIEWS)
        wrong(w, "views without end", view->number, 0);
    else if (w->views[view->number] == 0)
        w->views[view->number] = hash;
    else if (w->views[view->number] != hash)
        wrong(w, "two views of one number", view->number, hash);
}

/* --- the driver's part --------------------------------------------------- */

static void keep(struct person *p, const struct sum_action *action)
{
    const struct sum_msg *msg = &action->msg;
    const uint64_t count = action->shape.count, call = action->call;
    const uint64_t at = sum_slice_at(count, action->slots, action->slot);

    assert_true(count <= COUNT);
    if (msg->kind == SUM_PART)
        memcpy(p->total[call & 1] + at, msg->bytes, msg->size);
    else if (msg->kind == SUM_SLICE)
        memcpy(p->slices[call & 1][action->slot], msg->bytes, msg->size);
    else
        memcpy(p->slices[call & 1][action->slot], p->vector + at,
               sum_slice_size(count, action->slots, action->slot) *
                   sizeof(double));
}

static void add(struct person *p, const struct sum_action *action)
{
    const void *rows[SUM_SEATS];
    double scratch[SUM_SEATS];
    uint32_t count = 0;

    for (uint32_t i = 0; i < action->slots; i++) {
        if ((action->set >> i & 1) != 0)
            rows[count++] = p->slices[action->call & 1][i];
    }
    exact_sum(ISA_PORTABLE, EXACT_F64, rows, count,
              sum_slice_size(action->shape.count, action->slots, action->slot),
              scratch,
              p->total[action->call & 1] + sum_slice_at(action->shape.count,
                                                        action->slots,
                                                        action->slot));
}

static void fill_in(const struct person *p, struct sum_action *action)
{
    const double *from =
        action->msg.kind == SUM_SLICE ? p->vector : p->total[action->call & 1];

    if (action->msg.kind != SUM_SLICE && action->msg.kind != SUM_PART)
        return;
    from += sum_slice_at(action->shape.count, action->slots, action->slot);
    action->msg.bytes = (const uint8_t *)from;
    action->msg.size =
        sum_slice_size(action->shape.count, action->slots, action->slot) *
        sizeof(double);
}

static void step(struct world *w, uint32_t index, struct sum_event event)
{
    struct person *p = &w->people[index];

    event.now = w->now;
    w->events++;
    sum_member_step(&p->core, &event, &w->actions);
    for (uint32_t i = 0; i < w->actions.count; i++) {
        struct sum_action *action = &w->actions.list[i];

        switch (action->kind) {
        case SUM_ACTION_SEND:
            fill_in(p, action);
            send(w, index, action->link, &action->msg);
            break;
        case SUM_ACTION_CLOSE:
            if (p->conns[action->link] != CONNS)
                hang_up(w, p->conns[action->link], index, false);
            p->conns[action->link] = CONNS;
            break;
        case SUM_ACTION_TIMER:
            p->timer_at = action->at;
            break;
        case SUM_ACTION_CONNECT:
            dial(w, index, action->link, action->place);
            break;
        case SUM_ACTION_KEEP:
            keep(p, action);
            break;
        case SUM_ACTION_ADD:
            add(p, action);
            break;
        case SUM_ACTION_RESULT:
            note_result(w, index, action);
            break;
        case SUM_ACTION_FINISH:
            p->over = true;
            p->lost = action->err != ERR_OK;
            for (uint32_t k = 0; k < SUM_LINKS; k++) {
                if (p->conns[k] != CONNS)
                    hang_up(w, p->conns[k], index, false);
                p->conns[k] = CONNS;
            }
            break;
        case SUM_ACTION_JOINED:
            break;
        }
    }
    if (p->core.in)
        note_view(w, p);
}

/* --- people -------------------------------------------------------------- */

static void give(struct world *w, uint32_t index)
{
    struct person *p = &w->people[index];
    struct sum_event event = {.kind = SUM_EVENT_GIVE,
                              .shape = {EXACT_F64, COUNT}};

    if (p->obeys && p->core.view.shape.type != 0)
        event.shape.count = p->core.view.shape.count;
    else if (w->shapes && !w->calm && rng_chance(&w->rng, 0.05))
        event.shape.count = 33;
    p->obeys = false;
    if (w->patience && !w->calm && rng_chance(&w->rng, 0.5))
        event.patience_us = 1 + (time_us)rng_below(&w->rng, 30 * MS_US);
    w->last_id += 1 + rng_below(&w->rng, 1 << 20);
    p->id = w->last_id;
    for (uint32_t j = 0; j < COUNT; j++)
        p->vector[j] = (double)p->id + j * 0x1p-10;
    p->waits = true;
    p->wake_at = w->cancels && !w->calm && rng_chance(&w->rng, 0.1)
                     ? w->now + (time_us)rng_below(&w->rng, 10 * MS_US)
                     : TIME_NEVER;
    step(w, index, event);
}

static void birth(struct world *w, uint32_t index, uint32_t sponsor)
{
    struct person *p = &w->people[index];
    struct sum_options options = {.first = sponsor == NOBODY,
                                  .group = 7,
                                  .least = w->least,
                                  .members_max = PEOPLE,
                                  .size_max = COUNT * sizeof(double),
                                  .beat_us = 100 * MS_US,
                                  .dead_us = DEAD_US,
                                  .retry_us = 5 * MS_US,
                                  .retry_max_us = 100 * MS_US,
                                  .give_up_us = GIVE_UP_US};

    (void)snprintf(options.self.name, sizeof options.self.name, "m%u", index);
    (void)snprintf(options.self.place, sizeof options.self.place, "p%u", index);
    if (sponsor != NOBODY)
        (void)snprintf(options.sponsor, sizeof options.sponsor, "p%u", sponsor);
    options.self.incarnation = ++p->lives * 100 + index;
    p->born = true;
    p->dead = p->over = p->lost = p->waits = false;
    p->timer_at = TIME_NEVER;
    p->stopped_until = 0;
    p->wake_at = w->now + MS_US;
    for (uint32_t i = 0; i < SUM_LINKS; i++)
        p->conns[i] = CONNS;
    sum_member_init(&p->core, &options);
    step(w, index, (struct sum_event){.kind = SUM_EVENT_START});
}

/* The user: gives, or cancels what he waits for. */
static void wake(struct world *w, uint32_t index)
{
    struct person *p = &w->people[index];

    p->wake_at = TIME_NEVER;
    if (p->waits)
        step(w, index, (struct sum_event){.kind = SUM_EVENT_CANCEL});
    else if (p->core.joined && !p->core.leaving)
        give(w, index);
    else
        p->wake_at = w->now + 5 * MS_US;
}

/* --- faults -------------------------------------------------------------- */

static void kill9(struct world *w, uint32_t index)
{
    struct person *p = &w->people[index];

    if (!p->born || p->dead || p->over)
        return;
    p->dead = true;
    if (p->waits && p->loose_count < LOOSE)
        p->loose[p->loose_count++] = p->id;
    p->waits = false;
    for (uint32_t k = 0; k < SUM_LINKS; k++) {
        if (p->conns[k] != CONNS)
            hang_up(w, p->conns[k], index, rng_chance(&w->rng, 0.5));
        p->conns[k] = CONNS;
    }
}

static void stop(struct world *w, uint32_t index, time_us for_us)
{
    struct person *p = &w->people[index];

    if (p->born && !p->dead)
        p->stopped_until = w->now + for_us;
}

static void heal(struct world *w)
{
    memset(w->side, 0, sizeof w->side);
}

static void cut_any(struct world *w, uint32_t index)
{
    const struct person *p = &w->people[index];
    const uint32_t from = (uint32_t)rng_below(&w->rng, SUM_LINKS);

    for (uint32_t k = 0; p->born && k < SUM_LINKS; k++) {
        const uint32_t conn = p->conns[(from + k) % SUM_LINKS];

        if (conn == CONNS || !w->conns[conn].open)
            continue;
        hang_up(w, conn, NOBODY, true);
        return;
    }
}

static uint32_t any_living(struct world *w, uint32_t but)
{
    for (uint32_t k = 0; k < 20; k++) {
        const uint32_t i = (uint32_t)rng_below(&w->rng, PEOPLE);

        if (i != but && w->people[i].born && !w->people[i].dead &&
            !w->people[i].over && w->people[i].core.joined)
            return i;
    }
    return NOBODY;
}

static void fault(struct world *w)
{
    const uint32_t index = (uint32_t)rng_below(&w->rng, PEOPLE);
    struct person *p = &w->people[index];

    if (!p->born || p->dead || p->over) {
        const uint32_t sponsor = any_living(w, index);

        if (sponsor != NOBODY)
            birth(w, index, sponsor);
        return;
    }
    switch (rng_below(&w->rng, 8)) {
    case 0:
        kill9(w, index);
        break;
    case 1:
    case 2:
        cut_any(w, index);
        break;
    case 3:
        stop(w, index, (time_us)rng_below(&w->rng, 2 * DEAD_US));
        break;
    case 4:
        for (uint32_t i = 0; i < PEOPLE; i++)
            w->side[i] = (uint32_t)rng_below(&w->rng, 4) == 0;
        break;
    case 5:
        heal(w);
        break;
    default:
        if (w->leaves && !p->waits && p->core.joined)
            step(w, index, (struct sum_event){.kind = SUM_EVENT_END});
        break;
    }
}

/* --- time ---------------------------------------------------------------- */

static uint32_t number_for(struct world *w, uint32_t conn, uint32_t person)
{
    struct person *p = &w->people[person];
    struct conn *c = &w->conns[conn];
    const uint32_t end = end_of(c, person);

    for (uint32_t i = 0; c->number[end] == NOBODY && i < SUM_ACCEPTED; i++) {
        if (p->conns[i] != CONNS)
            continue;
        p->conns[i] = conn;
        c->number[end] = i;
    }
    return c->number[end];
}

static void deliver(struct world *w, struct post *post)
{
    struct person *p = &w->people[post->to];
    struct conn *c = &w->conns[post->conn];
    struct sum_event event = {.kind = SUM_EVENT_MESSAGE};
    static struct sum_codec_room room;
    struct sum_msg msg;
    uint32_t number;

    if (!p->born || p->dead || p->over) {
        post->used = false;
        return;
    }
    if (p->stopped_until > w->now) {
        post->at = p->stopped_until + 1; /* It waits in the kernel. */
        return;
    }
    if (w->side[c->person[0]] != w->side[c->person[1]]) {
        post->at = w->now + 50 * MS_US; /* Lost, and sent again. */
        return;
    }
    post->used = false;
    number = c->number[end_of(c, post->to)];
    if (post->kind == POST_WORD) {
        assert_int_equal(sum_codec_decode(post->bytes, post->size, &room, &msg),
                         ERR_OK);
        if (number == NOBODY && msg.kind != SUM_HELLO)
            return;
        number = number_for(w, post->conn, post->to);
        event.msg = &msg;
    } else {
        event.kind = post->kind == POST_UP ? SUM_EVENT_UP : SUM_EVENT_DOWN;
    }
    if (number == NOBODY || p->conns[number] != post->conn)
        return;
    event.link = number;
    if (event.kind == SUM_EVENT_DOWN)
        p->conns[number] = CONNS;
    step(w, post->to, event);
}

static struct post *first_post(struct world *w)
{
    struct post *best = NULL;

    for (uint32_t i = 0; i < w->posts; i++) {
        struct post *post = &w->post[i];

        if (post->used && (best == NULL || post->at < best->at ||
                           (post->at == best->at && post->order < best->order)))
            best = post;
    }
    while (w->posts > 0 && !w->post[w->posts - 1].used)
        w->posts--;
    return best;
}

static time_us person_at(const struct person *p)
{
    const time_us at = time_sooner(p->timer_at, p->wake_at);

    if (!p->born || p->dead || p->over)
        return TIME_NEVER;
    return at > p->stopped_until ? at : p->stopped_until;
}

/* What happens next happens; false: nothing does before `until`. */
static bool one_event(struct world *w, time_us until)
{
    struct post *post = first_post(w);
    time_us next = post != NULL ? post->at : TIME_NEVER;
    uint32_t who = NOBODY;

    for (uint32_t i = 0; i < PEOPLE; i++) {
        const time_us at = person_at(&w->people[i]);

        if (at < next) {
            next = at;
            who = i;
        }
    }
    if (next >= until || w->failed) {
        w->now = until > w->now ? until : w->now;
        return false;
    }
    w->now = next > w->now ? next : w->now;
    if (who == NOBODY) {
        deliver(w, post);
    } else if (w->people[who].timer_at <= w->now) {
        w->people[who].timer_at = TIME_NEVER;
        step(w, who, (struct sum_event){.kind = SUM_EVENT_TIME});
    } else {
        wake(w, who);
    }
    return true;
}

/* --- what must have come of it ------------------------------------------- */

static bool find_rest(struct world *w, uint64_t call, uint32_t from,
                      double rest)
{
    for (; from < PEOPLE; from++) {
        struct person *p = &w->people[from];

        if (!names(w->who[call], from) || p->in[call] != 0)
            continue;
        for (uint32_t k = 0; k < p->loose_count; k++) {
            if (p->used_in[k] != 0)
                continue;
            p->used_in[k] = call;
            if (find_rest(w, call, from + 1, rest - (double)p->loose[k]))
                return true;
            p->used_in[k] = 0;
        }
        return false;
    }
    return rest == 0;
}

/* Every total is of one vector of each who is named. */
static void check_totals(struct world *w)
{
    for (uint32_t i = 0; i < PEOPLE; i++) {
        struct person *p = &w->people[i];

        if (p->waits && p->loose_count < LOOSE)
            p->loose[p->loose_count++] = p->id; /* Others know already. */
    }
    for (uint64_t call = 0; call < CALLS; call++) {
        double rest = w->sum[call];

        if (w->who[call][0] == '\0')
            continue;
        for (uint32_t i = 0; i < PEOPLE; i++) {
            if (w->people[i].in[call] != 0)
                rest -= (double)w->people[i].in[call];
        }
        if (!find_rest(w, call, 0, rest))
            wrong(w, "a total of something else", call, 0);
    }
}

static bool quorum_lives(const struct world *w, const struct sum_view *view)
{
    uint32_t twice = 0;
    bool oldest = false;

    for (uint32_t s = 0; s < view->count; s++) {
        for (uint32_t i = 0; i < PEOPLE; i++) {
            const struct person *p = &w->people[i];

            if (!p->born || p->dead || p->over ||
                p->core.options.self.incarnation != view->seats[s].incarnation)
                continue;
            twice += 2;
            oldest = oldest || s == 0;
        }
    }
    return twice > view->count || (twice == view->count && oldest);
}

/* Is there a view that can go on, and no successor that cannot? */
static bool may_go_on(const struct world *w)
{
    const struct person *best = NULL;

    for (uint32_t i = 0; i < PEOPLE; i++) {
        const struct person *p = &w->people[i];

        if (p->born && !p->dead && !p->over &&
            (best == NULL || p->core.view.number > best->core.view.number))
            best = p;
    }
    if (best == NULL || !quorum_lives(w, &best->core.view))
        return false;
    for (uint32_t i = 0; i < PEOPLE; i++) {
        const struct sum_member *core = &w->people[i].core;

        if (w->people[i].born && core->in && core->accepted != 0 &&
            core->view.number == best->core.view.number &&
            !quorum_lives(w, &core->next))
            return false;
    }
    return true;
}

/* Faults are over: those who are left go on, if they may. */
static void go_on(struct world *w, time_us for_us, uint32_t least)
{
    bool may;
    uint32_t living = 0;

    heal(w);
    for (uint32_t i = 0; i < PEOPLE; i++)
        w->people[i].stopped_until = 0, w->people[i].ended = 0;
    w->quiet_at = w->now;
    may = may_go_on(w);
    w->calm = true;
    while (one_event(w, w->quiet_at + for_us))
        ;
    for (uint32_t i = 0; i < PEOPLE; i++)
        living += w->people[i].born && !w->people[i].dead && !w->people[i].over;
    for (uint32_t i = 0; i < PEOPLE && may && living >= w->least; i++) {
        const struct person *p = &w->people[i];

        if (p->born && !p->dead && !p->over && !p->core.leaving &&
            p->core.view.count > 0 && p->ended < least)
            wrong(w, "no calls any more", i, p->ended);
    }
}

static struct world *world_new(uint64_t seed)
{
    struct world *w = mem_new(1, sizeof *w);

    assert_non_null(w);
    rng_init(&w->rng, seed);
    w->quiet_at = TIME_NEVER;
    w->least = 1;
    w->actions.capacity = SUM_ACTIONS;
    w->actions.list = mem_new(SUM_ACTIONS, sizeof *w->actions.list);
    assert_non_null(w->actions.list);
    return w;
}

static void world_free(struct world *w)
{
    mem_free(w->actions.list);
    mem_free(w);
}

/* --- seeds --------------------------------------------------------------- */

static struct world *play(uint64_t seed)
{
    struct world *w = world_new(seed);
    const time_us end = 2 * SECOND_US;
    time_us fault_at = 20 * MS_US;

    w->patience = seed % 3 == 1;
    w->cancels = seed % 2 == 1;
    w->shapes = seed % 5 == 2;
    w->leaves = seed % 7 < 3;
    w->least = 1 + (uint32_t)rng_below(&w->rng, 3);
    birth(w, 0, NOBODY);
    for (uint32_t i = 1; i < 2 + seed % 4; i++)
        birth(w, i, (uint32_t)rng_below(&w->rng, i));
    while (fault_at < end && !w->failed) {
        while (one_event(w, fault_at))
            ;
        if (!w->failed)
            fault(w);
        fault_at += (time_us)rng_below(
            &w->rng, (uint64_t)(seed % 2 == 0 ? 20 : 200) * MS_US);
    }
    go_on(w, 4 * SECOND_US, 10);
    check_totals(w);
    return w;
}

static uint64_t number_in(const char *name, uint64_t otherwise)
{
    const char *text = getenv(name);

    return text != NULL ? strtoull(text, NULL, 10) : otherwise;
}

static void test_seeds(void **state)
{
    const uint64_t first = number_in("SUM_SEED", 0);
    const uint64_t seeds = number_in("SUM_SEEDS", first > 0 ? 1 : SEEDS);
    uint64_t calls = 0;

    (void)state;
    for (uint64_t seed = first; seed < first + seeds; seed++) {
        struct world *w = play(seed);

        if (w->failed)
            fail_msg("seed %llu (SUM_SEED=): %s", (unsigned long long)seed,
                     w->wrong);
        calls += w->calls;
        world_free(w);
    }
    assert_true(calls > 20 * (seeds - 1));
}

/* Who was the oldest was cut off for long: nobody dialled it, and it nobody. */
static void test_oldest_comes_back(void **state)
{
    struct world *w = play(3737);

    (void)state;
    if (w->failed)
        fail_msg("%s", w->wrong);
    world_free(w);
}

/* Did the first of three wait with a deadline once the others had stopped? */
static bool wait_without_quorum(uint64_t seed)
{
    const time_us bound = DEAD_US + 300 * MS_US;
    struct world *w = world_new(seed);
    const struct sum_member *core = &w->people[0].core;
    bool waited = false;
    time_us end;

    w->patience = true;
    w->least = 2;
    for (uint32_t i = 0; i < 3; i++)
        birth(w, i, i == 0 ? NOBODY : 0);
    while (core->view.count < 3 || core->frozen)
        assert_true(one_event(w, SECOND_US));
    stop(w, 1, 60 * SECOND_US);
    stop(w, 2, 60 * SECOND_US);
    end = w->now + GIVE_UP_US - SECOND_US / 4;
    while (one_event(w, end)) {
        if (!core->pending || core->impatient_at == TIME_NEVER)
            continue;
        waited = waited || (core->frozen && w->now > core->impatient_at);
        assert_true(w->now < core->impatient_at + bound);
    }
    assert_false(w->failed);
    world_free(w);
    return waited;
}

/* Two of three are stopped: the third has no quorum and can replace no view,
 * yet a call with a deadline comes to an end soon after it. */
static void test_deadline_without_quorum(void **state)
{
    uint32_t waited = 0;

    (void)state;
    for (uint64_t seed = 1; seed <= 8; seed++)
        waited += wait_without_quorum(seed);
    assert_true(waited > 0);
}

/* --- numbers that nobody comes to ---------------------------------------- */

static void hear(struct sum_member *member, struct sum_actions *actions,
                 const struct sum_msg *msg)
{
    sum_member_step(member,
                    &(struct sum_event){.kind = SUM_EVENT_MESSAGE,
                                        .now = member->now + 1,
                                        .msg = msg},
                    actions);
}

/* A member of two, the other of whom says what it likes on link 0. */
static void meet(struct sum_member *member, struct sum_actions *actions)
{
    const struct sum_options options = {
        .self = {.name = "honest", .place = "here", .incarnation = 1},
        .first = true,
        .group = 7,
        .least = 1,
        .members_max = 4,
        .size_max = 1024,
        .beat_us = SECOND_US,
        .dead_us = DEAD_US,
        .retry_us = MS_US,
        .retry_max_us = SECOND_US,
        .give_up_us = GIVE_UP_US};
    struct sum_msg hello = {
        .kind = SUM_HELLO,
        .version = SUM_VERSION,
        .who = {.name = "rogue", .place = "there", .incarnation = 2}};
    struct sum_msg join = {.kind = SUM_JOIN, .number = 1};

    sum_member_init(member, &options);
    sum_member_step(member,
                    &(struct sum_event){.kind = SUM_EVENT_START, .now = 1},
                    actions);
    hear(member, actions, &hello);
    hear(member, actions, &join);
    assert_int_equal(member->view.count, 2);
    assert_int_equal(member->view.number, 2);
}

static void test_absurd_numbers(void **state)
{
    static struct sum_member member;
    static struct sum_action list[SUM_ACTIONS];
    struct sum_actions actions = {.list = list, .capacity = SUM_ACTIONS};
    struct sum_view view;
    struct sum_msg said[6];

    (void)state;
    meet(&member, &actions);
    view = member.view;
    for (uint32_t i = 0; i < 6; i++)
        said[i] = (struct sum_msg){.number = 2};
    said[0].kind = said[1].kind = SUM_VIEW;
    said[0].view = said[1].view = &view;
    said[2].kind = SUM_COLLECT;
    said[2].ballot = UINT64_MAX;
    said[3].kind = SUM_PROPOSE;
    said[3].ballot = UINT64_MAX - 255;
    said[4].kind = SUM_STATE;
    said[4].state.committed = UINT64_MAX;
    said[5].kind = SUM_ACCEPT;
    said[5].ballot = UINT64_MAX;
    for (uint32_t i = 0; i < 6; i++) {
        meet(&member, &actions);
        view = member.view;
        view.number = i == 0 ? UINT64_MAX : 3;
        view.call = i == 1 ? UINT64_MAX : member.view.call;
        said[3].view = &view;
        hear(&member, &actions, &said[i]);
        assert_false(member.links[0].used);
        assert_true(member.view.number <= 3 && member.view.call <= 2);
        assert_true(member.promised < 4096 && member.ballot_seen < 4096);
    }
    /* What may have been missed is taken. */
    meet(&member, &actions);
    view = member.view;
    view.number += 1000;
    view.call += 100000;
    hear(&member, &actions, &said[0]);
    assert_int_equal(member.view.number, 1002);
}

static void test_same_seed_same_run(void **state)
{
    struct world *a = play(5), *b = play(5);

    (void)state;
    assert_int_equal(a->events, b->events);
    assert_int_equal(a->calls, b->calls);
    world_free(a);
    world_free(b);
}

/* --- a fault before every event ------------------------------------------ */

enum blow { KILL, STOP, CUT, ALONE, BLOWS };

static void strike(struct world *w, enum blow blow, uint32_t victim)
{
    switch (blow) {
    case KILL:
        kill9(w, victim);
        break;
    case STOP:
        stop(w, victim, DEAD_US + DEAD_US / 2);
        break;
    case CUT:
        cut_any(w, victim);
        break;
    case ALONE:
        w->side[victim] = 1;
        break;
    case BLOWS:
        break;
    }
}

static uint64_t form(struct world *w, uint32_t members)
{
    birth(w, 0, NOBODY);
    for (uint32_t i = 1; i < members; i++)
        birth(w, i, i - 1);
    while (w->calls < 3 || w->people[0].core.view.count < members) {
        if (!one_event(w, SECOND_US))
            break;
    }
    return w->events;
}

static void strike_at(uint32_t members, uint64_t at, enum blow blow,
                      uint32_t victim, uint64_t second, uint32_t other)
{
    struct world *w = world_new(members * 1000 + at);
    bool alive = true;

    w->least = 1;
    birth(w, 0, NOBODY);
    for (uint32_t i = 1; i < members; i++)
        birth(w, i, i - 1);
    while (w->events < at && alive)
        alive = one_event(w, SECOND_US);
    strike(w, blow, victim);
    for (uint64_t until = w->events + second;
         second > 0 && alive && w->events < until;)
        alive = one_event(w, 2 * SECOND_US);
    if (second > 0)
        kill9(w, other);
    while (one_event(w, w->now + (blow == ALONE ? 2 * DEAD_US : 100 * MS_US)) &&
           w->now < 4 * SECOND_US)
        ;
    go_on(w, 3 * SECOND_US, 5);
    check_totals(w);
    if (w->failed)
        fail_msg("%u members, blow %d of %u before event %llu, then %llu: %s",
                 members, blow, victim, (unsigned long long)at,
                 (unsigned long long)second, w->wrong);
    world_free(w);
}

/* SUM_STRIDE=1: before every one. */
static void test_one_fault(void **state)
{
    const uint64_t stride = number_in("SUM_STRIDE", 40);

    (void)state;
    for (uint32_t members = 2; members <= 5; members++) {
        struct world *w = world_new(1);
        const uint64_t events = form(w, members);
        uint64_t turn = 0;

        world_free(w);
        for (uint64_t at = 1; at < events; at++) {
            for (uint32_t victim = 0; victim < members; victim++) {
                for (int blow = KILL; blow < BLOWS; blow++) {
                    if (turn++ % (stride * members) == 0)
                        strike_at(members, at, (enum blow)blow, victim, 0, 0);
                }
            }
        }
    }
}

/* One is killed, and in the view change that follows another. */
static void test_two_faults(void **state)
{
    const uint64_t stride = number_in("SUM_STRIDE", 40);
    uint64_t turn = 0;

    (void)state;
    for (uint32_t members = 3; members <= 5; members++) {
        struct world *w = world_new(1);
        const uint64_t events = form(w, members);

        world_free(w);
        for (uint64_t second = 1; second < 120; second++) {
            for (uint32_t victim = 0; victim < members; victim++) {
                const uint32_t other =
                    (victim + 1 + (uint32_t)second % (members - 1)) % members;

                if (turn++ % stride == 0)
                    strike_at(members, events - 1 - turn % 50, KILL, victim,
                              second, other);
            }
        }
    }
}

#ifdef MUSTER_PLANTED_BUGS
static void test_planted(void **state)
{
    static const enum planted_bug bugs[] = {
        BUG_SUM_HALF,      BUG_SUM_ALONE,    BUG_SUM_STALE,  BUG_SUM_THAW,
        BUG_SUM_EARLY,     BUG_SUM_MINORITY, BUG_SUM_FORGET, BUG_SUM_OPTIMIST,
        BUG_SUM_PESSIMIST, BUG_SUM_DEAF,
    };

    (void)state;
    for (size_t i = 0; i < sizeof bugs / sizeof *bugs; i++) {
        bool caught = false;
        uint64_t seed = 0;

        planted_bug = bugs[i];
        for (; seed < 2000 && !caught; seed++) {
            struct world *w = play(seed);

            caught = w->failed;
            if (caught)
                print_message("bug %zu: seed %llu: %s\n", i,
                              (unsigned long long)seed, w->wrong);
            world_free(w);
        }
        planted_bug = BUG_NONE;
        if (!caught)
            fail_msg("planted bug %zu was not caught", i);
    }
}
#endif

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_seeds),
        cmocka_unit_test(test_same_seed_same_run),
        cmocka_unit_test(test_oldest_comes_back),
        cmocka_unit_test(test_deadline_without_quorum),
        cmocka_unit_test(test_absurd_numbers),
        cmocka_unit_test(test_one_fault),
        cmocka_unit_test(test_two_faults),
#ifdef MUSTER_PLANTED_BUGS
        cmocka_unit_test(test_planted),
#endif
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
