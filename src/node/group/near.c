/*
 * near.c - a member of a group on one machine: its seat, and its calls.
 */
#include "node/group/near.h"

#include <stdio.h>
#include <string.h>

#include "base/check.h"
#include "base/mem.h"
#include "node/group/near_parts.h"
#include "os/clock.h"
#include "os/run/threads.h"

#define KIND       UINT64_C(0x4d5553544e454152)
#define PAGE       4096u
#define BEAT_US    (100 * MS_US)
#define SILENCE_US (3 * SECOND_US)
#define LOOK_US    (4 * MS_US)   /* For the dead among those waited for. */
#define GRACE_US   (200 * MS_US) /* For a call to close in time. */
#define AWAKE      400u          /* 7 to 20 us: longer than a short call. */

enum { FACT_MEMBERS, FACT_LEAST, FACT_SIZE, FACT_STRIDE };

uint64_t near_look(const struct near *near, union near_value *value)
{
    return segment_read(near->segment, value->words);
}

/* --- who is there -------------------------------------------------------- */

/* Somebody who was stopped itself, and now finds the others silent, has only
 * not looked. */
uint64_t near_gone(struct near *near, uint64_t seats)
{
    const time_us now = clock_now_us();
    const bool was_away = now - near->looked_at > SILENCE_US / 2;
    uint64_t gone = 0;

    near->looked_at = now;
    for (uint32_t seat = 0; seat < TABLE_SEATS; seat++) {
        time_us heard;

        if ((seats >> seat & 1) == 0 || seat == near->seat)
            continue;
        heard = (time_us)segment_mark(near->segment, seat, MARK_BEAT);
        if (!segment_occupied(near->segment, seat) ||
            (!was_away && now - heard > SILENCE_US))
            gone |= UINT64_C(1) << seat;
    }
    return gone;
}

static void expel(struct near *near, uint64_t seats)
{
    union near_value value;
    uint64_t read;

    do {
        read = near_look(near, &value);
        if (table_expel(&value.table, &near->rules, seats, clock_now_us()) ==
            TABLE_NOTHING)
            return;
    } while (!segment_swap(near->segment, near->seat, read, value.words));
    segment_ring(near->segment);
}

static void beat(struct near *near)
{
    segment_set_mark(near->segment, near->seat, MARK_BEAT,
                     (uint64_t)clock_now_us());
}

static void on_time(void *context)
{
    struct near *near = context;

    beat(near);
    timer_at(near->timer, clock_now_us() + BEAT_US);
}

static void on_end(void *context)
{
    struct near *near = context;

    loop_stop(near->loop);
}

static void beat_main(void *context)
{
    struct near *near = context;

    on_time(near);
    loop_run(near->loop);
}

/* --- seats --------------------------------------------------------------- */

static bool claim(struct near *near, uint32_t seat)
{
    union near_value value;
    uint64_t read;

    near->seat = seat;
    do {
        read = near_look(near, &value);
        if (table_claim(&value.table, &near->rules, seat) == TABLE_FULL)
            return false;
    } while (!segment_swap(near->segment, seat, read, value.words));
    near->call = value.table.call;
    near->fresh = (value.table.fresh >> seat & 1) != 0;
    segment_ring(near->segment);
    return true;
}

/* Who had the seat is in a call that others may still be told of.  Once the
 * seat is ours nobody else can put it into another. */
static bool is_named_still(const struct near *near, uint32_t seat)
{
    union near_value value;

    (void)near_look(near, &value);
    return ((value.table.given | value.table.plans[0].set |
             value.table.plans[1].set) >>
                seat &
            1) != 0;
}

/* The name is there before the seat is: who is in a plan has one. */
static bool sit(struct near *near, const struct near_options *options)
{
    for (uint32_t seat = 0; seat < TABLE_SEATS; seat++) {
        if (!segment_sit(near->segment, seat))
            continue;
        if (!is_named_still(near, seat)) {
            near->seat = seat;
            beat(near);
            memcpy(segment_text(near->segment, seat), options->name, NAME_SIZE);
            if (claim(near, seat))
                return true;
        }
        segment_rise(near->segment, seat);
    }
    return false;
}

/* The dead that nobody waits for have seats, too. */
static enum err find_seat(struct near *near, const struct near_options *options,
                          struct why *why)
{
    const time_us until = clock_now_us() + options->give_up_us;

    while (!sit(near, options)) {
        union near_value value;
        uint64_t gone;

        (void)near_look(near, &value);
        near->looked_at = clock_now_us();
        near->seat = TABLE_SEATS;
        gone = near_gone(near, value.table.taken);
        for (uint32_t seat = 0; gone != 0 && seat < TABLE_SEATS; seat++) {
            if (!segment_sit(near->segment, seat))
                continue;
            near->seat = seat; /* Whose copies of the table are free. */
            expel(near, gone);
            segment_rise(near->segment, seat);
            gone = 0;
        }
        if (clock_now_us() >= until)
            return why_set(why, ERR_DENIED, "the group is full");
        (void)segment_wait(near->segment, segment_bell(near->segment), 0,
                           clock_now_us() + LOOK_US);
    }
    return ERR_OK;
}

/* --- life ---------------------------------------------------------------- */

static enum err begin(struct near *near, const struct near_options *options,
                      struct why *why)
{
    const uint64_t stride = (options->size_max + PAGE - 1) / PAGE * PAGE;
    const struct segment_shape shape = {
        .kind = KIND,
        .bytes = TABLE_SEATS * near_seat_bytes(stride),
        .facts = {[FACT_MEMBERS] = options->members_max,
                  [FACT_LEAST] = options->least,
                  [FACT_SIZE] = options->size_max,
                  [FACT_STRIDE] = stride},
    };
    union near_value value = {.words = {0}};

    table_init(&value.table);
    return segment_new(&shape, value.words, &near->segment, why);
}

static enum err read_facts(struct near *near, struct why *why)
{
    const struct segment_shape *shape = segment_shape(near->segment);

    near->rules = (struct table_rules){
        .members_max = (uint32_t)shape->facts[FACT_MEMBERS],
        .least = (uint32_t)shape->facts[FACT_LEAST],
    };
    near->size_max = shape->facts[FACT_SIZE];
    near->stride = shape->facts[FACT_STRIDE];
    if (near->stride > shape->bytes || near->size_max > near->stride ||
        shape->bytes != TABLE_SEATS * near_seat_bytes(near->stride))
        return why_set(why, ERR_FORMAT, "the group's memory is not whole");
    return ERR_OK;
}

static enum err start_beating(struct near *near)
{
    enum err err = loop_new(&near->loop);

    if (err == ERR_OK)
        err = timer_new(near->loop, on_time, near, &near->timer);
    if (err == ERR_OK)
        err = bell_new(near->loop, on_end, near, &near->bell);
    if (err == ERR_OK)
        err = thread_start(beat_main, near, &near->thread);
    return err;
}

static void near_free(struct near *near)
{
    if (near->thread != NULL)
        bell_ring(near->bell);
    thread_join(near->thread);
    timer_free(near->timer);
    bell_free(near->bell);
    loop_free(near->loop);
    segment_free(near->segment); /* And with it the seat. */
    mem_free(near);
}

enum err near_open(const struct near_options *options, const char *address,
                   struct near **near, struct why *why)
{
    struct near *made = mem_new(1, sizeof *made);
    enum err err;

    if (made == NULL)
        return ERR_NOMEM;
    made->processors = threads_available();
    err = address == NULL ? begin(made, options, why)
                          : segment_open(address, KIND, &made->segment, why);
    if (err == ERR_OK)
        err = read_facts(made, why);
    if (err == ERR_OK)
        err = find_seat(made, options, why);
    if (err == ERR_OK)
        err = start_beating(made);
    if (err == ERR_OK)
        *near = made;
    else
        near_free(made);
    return err;
}

const char *near_address(const struct near *near)
{
    return segment_name(near->segment);
}

void near_leave(struct near *near)
{
    if (near == NULL)
        return;
    expel(near, UINT64_C(1) << near->seat);
    near_free(near);
}

/* --- calls --------------------------------------------------------------- */

struct gift {
    struct table_gift gift;
    void *values;
    size_t size;
    time_us deadline_at;
};

/* Into the table, once the vector is where everybody can read it. */
static enum table_answer give(struct near *near, struct gift *g)
{
    const uint64_t bit = UINT64_C(1) << near->seat;
    union near_value value;
    uint64_t read = near_look(near, &value);

    if (near->fresh)
        near->call = value.table.call;
    g->gift.call = near->call;
    /* Even if it is late: the others' sum comes to lie where it is. */
    near_put_all(near, near_vector(near, near->seat, near->call), g->values,
                 g->size, 1 + table_count(value.table.taken & ~bit));
    for (;;) {
        const enum table_answer answer =
            table_give(&value.table, &near->rules, &g->gift);

        if (answer != TABLE_GIVEN)
            return answer;
        if (segment_swap(near->segment, near->seat, read, value.words))
            break;
        read = near_look(near, &value);
    }
    near->fresh = false;
    if (value.table.call != g->gift.call)
        segment_ring(near->segment); /* It was the last one. */
    return TABLE_GIVEN;
}

/* True: nobody will ever have it. */
static bool withdraw(struct near *near, uint64_t call)
{
    union near_value value;
    uint64_t read;

    do {
        read = near_look(near, &value);
        if (table_withdraw(&value.table, near->seat, call) == TABLE_NOTHING)
            return false;
    } while (!segment_swap(near->segment, near->seat, read, value.words));
    return true;
}

static void settle(struct near *near)
{
    union near_value value;
    uint64_t read;

    do {
        read = near_look(near, &value);
        if (table_settle(&value.table, &near->rules, clock_now_us()) ==
            TABLE_NOTHING)
            return;
    } while (!segment_swap(near->segment, near->seat, read, value.words));
    segment_ring(near->segment);
}

/* Until the call is closed, or the vector withdrawn. */
static enum err wait_closed(struct near *near, const struct gift *g)
{
    const uint64_t call = g->gift.call;
    union near_value value;

    near->looked_at = clock_now_us();
    (void)near_look(near, &value);
    near->awake =
        table_count(value.table.taken) <= near->processors ? AWAKE : 0;
    for (;;) {
        const uint32_t bell = segment_bell(near->segment);
        time_us until;

        (void)near_look(near, &value);
        if (value.table.call != call)
            return ERR_OK;
        if (flag_raised(&near->cancel) && withdraw(near, call))
            return ERR_CANCELLED;
        until = time_sooner(clock_now_us() + LOOK_US, value.table.close_at);
        if (segment_wait(near->segment, bell, near->awake, until))
            continue;
        expel(near, near_gone(near, table_waits_for(&value.table)));
        settle(near);
        if (clock_now_us() >= g->deadline_at && withdraw(near, call))
            return ERR_TIMEOUT;
    }
}

static void write_who(struct near *near, uint64_t set, struct group_info *info)
{
    const char *names[TABLE_SEATS] = {NULL};
    uint32_t count = 0;
    size_t size = 0;

    for (uint32_t seat = 0; seat < TABLE_SEATS; seat++) {
        const char *name = segment_text(near->segment, seat);
        uint32_t at = count;

        if ((set >> seat & 1) == 0)
            continue;
        for (; at > 0 && strcmp(names[at - 1], name) > 0; at--)
            names[at] = names[at - 1];
        names[at] = name;
        count++;
    }
    for (uint32_t i = 0; i < count; i++) {
        const size_t length = strnlen(names[i], NAME_SIZE - 1);

        if (i > 0)
            near->who[size++] = ',';
        memcpy(near->who + size, names[i], length);
        size += length;
    }
    near->who[size] = '\0';
    info->who = near->who;
}

/* The call is closed, with this vector or without. */
static enum err take_sum(struct near *near, const struct gift *g,
                         struct group_info *info, struct why *why)
{
    const uint64_t call = g->gift.call;
    union near_value value;
    const struct table_plan *plan;

    (void)near_look(near, &value);
    plan = table_plan(&value.table, call);
    if (plan == NULL || !table_holds(&value.table, call)) {
        near->call = value.table.call;
        return why_set(why, ERR_STALE,
                       "the others are further by more than a call");
    }
    if (plan->type != g->gift.type || plan->count != g->gift.count) {
        near->call = call + 1;
        return why_set(why, ERR_SHAPE,
                       "the others' vectors were of another size or type");
    }
    if (near_add(near, plan, g->values) != ERR_OK) {
        memcpy(g->values, near_vector(near, near->seat, call), g->size);
        near->call = call + 1;
        return why_set(why, ERR_STALE,
                       "the others were further by more than a call before "
                       "this process had read the sum");
    }
    near->call = call + 1;
    info->call = call;
    info->contributed = table_count(plan->set);
    info->members = (uint32_t)plan->members;
    write_who(near, plan->set, info);
    return ERR_OK;
}

static const char *type_name(uint64_t type)
{
    return type == EXACT_F64   ? "doubles"
           : type == EXACT_F32 ? "floats"
                               : "64-bit integers";
}

static enum err say_shape(const struct near *near, const struct gift *g,
                          struct why *why)
{
    union near_value value;

    (void)near_look(near, &value);
    return why_set(
        why, ERR_SHAPE, "call %llu is of %llu %s, this member gives %llu %s",
        (unsigned long long)g->gift.call, (unsigned long long)value.table.count,
        type_name(value.table.type), (unsigned long long)g->gift.count,
        type_name(g->gift.type));
}

static enum err call_once(struct near *near, struct gift *g,
                          struct group_info *info, struct why *why)
{
    enum table_answer answer;
    enum err err;

    do /* Who has just come is not late for a call that it did not know of. */
        answer = give(near, g);
    while (near->fresh && (answer == TABLE_LATE || answer == TABLE_MISSED));
    switch (answer) {
    case TABLE_GIVEN:
        err = wait_closed(near, g);
        info->included = err == ERR_OK;
        return err == ERR_OK ? take_sum(near, g, info, why) : err;
    case TABLE_LATE:
        return take_sum(near, g, info, why);
    case TABLE_SHAPE:
        return say_shape(near, g, why);
    case TABLE_MISSED:
        return take_sum(near, g, info, why);
    case TABLE_CHANGED:
    case TABLE_NOTHING:
    case TABLE_FULL:
        break;
    }
    CHECK(!"an answer to something else");
    return ERR_STALE;
}

enum err near_sum(struct near *near, enum exact_type type, void *values,
                  uint64_t count, time_us patience_us, struct group_info *info,
                  struct why *why)
{
    const time_us now = clock_now_us();
    struct gift g = {
        .gift = {.seat = near->seat,
                 .type = type,
                 .count = count,
                 .now = now,
                 .patience_us = patience_us},
        .values = values,
        .size = count * exact_size(type),
        .deadline_at =
            patience_us > 0 ? now + patience_us + GRACE_US : TIME_NEVER,
    };
    enum err err = ERR_OK;

    *info = (struct group_info){.who = ""};
    if (g.size > near->size_max)
        return why_set(why, ERR_SHAPE,
                       "a vector of %llu numbers is larger than the group "
                       "allows (%llu bytes)",
                       (unsigned long long)count,
                       (unsigned long long)near->size_max);
    if (!flag_raise_first(&near->busy))
        return why_set(why, ERR_EXISTS,
                       "another thread is in a call of this group");
    flag_lower(&near->cancel);
    for (uint32_t side = 0; side < 2 && err == ERR_OK; side++)
        err = near_reserve(near, side, g.size);
    if (err == ERR_OK)
        err = call_once(near, &g, info, why);
    flag_lower(&near->busy);
    return err;
}

void near_cancel(struct near *near)
{
    flag_raise(&near->cancel);
    segment_ring(near->segment);
}
