/*
 * sum_host.c - who is in a call, and when it closes.
 *
 *   SUM-1  a vector is kept whole (KEEP) or not; only what is kept is added.
 *   SUM-2  a call is closed once; `who`, the shape and the driver's total stay
 *          as they are until the next one closes.
 *   SUM-3  a seat gives once in a call: `given` is set with KEEP and cleared
 *          by closing or DROP; a process that reconnects has its seat again.
 */
#include <stdio.h>
#include <string.h>

#include "base/check.h"
#include "base/mem.h"
#include "core/sum/sum.h"

#define ACTIONS_SPARE 16u

uint32_t sum_actions_max(uint32_t seats)
{
    return 4 * seats + ACTIONS_SPARE; /* All leave and all are told. */
}

struct sum_action *sum_actions_add(struct sum_actions *actions,
                                   enum sum_action_kind kind)
{
    struct sum_action *action;

    CHECK(actions->count < actions->capacity);
    action = &actions->list[actions->count++];
    *action = (struct sum_action){.kind = kind, .reason = ""};
    return action;
}

enum err sum_host_init(struct sum_host *host,
                       const struct sum_host_options *options)
{
    CHECK(options->seats > 0 && options->seats <= SUM_SEATS_MAX);
    CHECK(options->least > 0 && options->least <= options->seats);
    CHECK(options->group != 0);
    *host = (struct sum_host){
        .options = *options, .call = 1, .close_at = TIME_NEVER};
    host->seats = mem_new(options->seats, sizeof *host->seats);
    host->order = mem_new(options->seats, sizeof *host->order);
    host->who = mem_new(options->seats, NAME_SIZE);
    if (host->seats != NULL && host->order != NULL && host->who != NULL)
        return ERR_OK;
    sum_host_close(host);
    return ERR_NOMEM;
}

void sum_host_close(struct sum_host *host)
{
    mem_free(host->seats);
    mem_free(host->order);
    mem_free(host->who);
    *host = (struct sum_host){0};
}

static struct sum_msg *send(struct sum_actions *actions, uint32_t link,
                            enum sum_kind kind)
{
    struct sum_action *action = sum_actions_add(actions, SUM_ACTION_SEND);

    action->link = link;
    action->msg.kind = kind;
    return &action->msg;
}

static void say(struct sum_actions *actions, uint32_t link, enum sum_kind kind,
                const char *reason)
{
    struct sum_msg *msg = send(actions, link, kind);

    (void)snprintf(msg->reason, sizeof msg->reason, "%s", reason);
}

/* --- seats --------------------------------------------------------------- */

static uint32_t seat_of(const struct sum_host *host, uint32_t link)
{
    for (uint32_t i = 0; i < host->options.seats; i++) {
        if (host->seats[i].taken && host->seats[i].linked &&
            host->seats[i].link == link)
            return i;
    }
    return SUM_NO_SEAT;
}

/* Living members whom the open call waits for. */
static uint32_t waited_for(const struct sum_host *host)
{
    uint32_t count = 0;

    for (uint32_t i = 0; i < host->options.seats; i++) {
        const struct sum_seat *seat = &host->seats[i];

        count += seat->taken && seat->linked && !seat->given &&
                 seat->first_call <= host->call;
    }
    return count;
}

/* Somebody is gone.  What it gave stays in, or it would be half in: others
 * may have been told nothing yet, but it was given. */
static void unseat(struct sum_host *host, uint32_t index,
                   struct sum_actions *actions)
{
    struct sum_seat *seat = &host->seats[index];

    seat->linked = false;
    if (seat->early) {
        seat->early = false;
        sum_actions_add(actions, SUM_ACTION_DROP)->seat = index;
    }
    if (!seat->given && !seat->was_in)
        seat->taken = false;
}

static bool same_life(const struct sum_seat *seat, const struct sum_msg *hello)
{
    return seat->taken && seat->incarnation == hello->incarnation &&
           strcmp(seat->name, hello->name) == 0;
}

/* Its old seat if it has one, else a free one. */
static uint32_t choose_seat(const struct sum_host *host,
                            const struct sum_msg *hello)
{
    uint32_t vacant = SUM_NO_SEAT;

    for (uint32_t i = 0; i < host->options.seats; i++) {
        if (same_life(&host->seats[i], hello))
            return i;
        if (!host->seats[i].taken && vacant == SUM_NO_SEAT)
            vacant = i;
    }
    return vacant;
}

/* Another life under the same name, or the same one over an older link. */
static void replace_old(struct sum_host *host, const struct sum_msg *hello,
                        struct sum_actions *actions)
{
    for (uint32_t i = 0; i < host->options.seats; i++) {
        struct sum_seat *seat = &host->seats[i];

        if (!seat->taken || !seat->linked ||
            strcmp(seat->name, hello->name) != 0)
            continue;
        sum_actions_add(actions, SUM_ACTION_CLOSE)->link = seat->link;
        if (same_life(seat, hello))
            seat->linked = false;
        else
            unseat(host, i, actions);
    }
}

static uint64_t first_call(const struct sum_host *host)
{
    if (host->given == 0 ||
        host->given + waited_for(host) < host->options.least)
        return host->call;
    return host->call + 1;
}

static void welcome(const struct sum_host *host, const struct sum_seat *seat,
                    struct sum_actions *actions)
{
    struct sum_msg *msg = send(actions, seat->link, SUM_WELCOME);

    msg->group = host->options.group;
    msg->call = seat->first_call > host->call ? seat->first_call : host->call;
    msg->beat_us = host->options.beat_us;
    msg->dead_us = host->options.host_dead_us;
    msg->size_max = host->options.size_max;
}

static void on_hello(struct sum_host *host, uint32_t link,
                     const struct sum_msg *msg, struct sum_actions *actions)
{
    const uint32_t known = seat_of(host, link);
    uint32_t index;
    struct sum_seat *seat;

    if (known != SUM_NO_SEAT) {
        welcome(host, &host->seats[known], actions); /* Said twice. */
        return;
    }
    if (msg->version != SUM_VERSION ||
        (msg->group != 0 && msg->group != host->options.group)) {
        say(actions, link, SUM_REJECT,
            msg->version != SUM_VERSION
                ? "the host is of another release of muster"
                : "the group is over: another one is hosted there now");
        return;
    }
    replace_old(host, msg, actions);
    index = choose_seat(host, msg);
    if (index == SUM_NO_SEAT) {
        say(actions, link, SUM_REJECT, "the group is full");
        return;
    }
    seat = &host->seats[index];
    if (!same_life(seat, msg)) {
        *seat = (struct sum_seat){.first_call = first_call(host),
                                  .incarnation = msg->incarnation,
                                  .taken = true};
        memcpy(seat->name, msg->name, NAME_SIZE);
    }
    seat->linked = true;
    seat->link = link;
    seat->heard_at = host->now;
    welcome(host, seat, actions);
}

/* --- giving -------------------------------------------------------------- */

static void send_total(const struct sum_host *host, const struct sum_seat *seat,
                       struct sum_actions *actions)
{
    struct sum_msg *msg = send(actions, seat->link, SUM_TOTAL);

    msg->call = host->call - 1;
    msg->shape = host->last_shape;
    msg->serial = seat->was_in ? seat->in_serial : 0;
    msg->contributed = host->last_contributed;
    msg->members = host->last_members;
    msg->who = host->who;
    msg->who_size = host->who_size;
}

static bool shape_equal(const struct sum_shape *a, const struct sum_shape *b)
{
    return a->type == b->type && a->count == b->count;
}

static const char *type_name(uint32_t type)
{
    return type == 1 ? "doubles" : type == 2 ? "floats" : "64-bit integers";
}

static void refuse(const struct sum_host *host, const struct sum_seat *seat,
                   struct sum_actions *actions)
{
    struct sum_msg *msg = send(actions, seat->link, SUM_REFUSE);

    msg->call = host->call;
    (void)snprintf(
        msg->reason, sizeof msg->reason,
        "call %llu is of %llu %s, this member gives %llu %s",
        (unsigned long long)host->call, (unsigned long long)host->shape.count,
        type_name(host->shape.type), (unsigned long long)seat->shape.count,
        type_name(seat->shape.type));
}

/* The vector of the seat is kept already. */
static void count_in(struct sum_host *host, uint32_t index,
                     struct sum_actions *actions)
{
    struct sum_seat *seat = &host->seats[index];

    if (host->given == 0)
        host->shape = seat->shape;
    if (!shape_equal(&host->shape, &seat->shape)) {
        sum_actions_add(actions, SUM_ACTION_DROP)->seat = index;
        refuse(host, seat, actions);
        return;
    }
    seat->given = true;
    host->given++;
}

static void on_give(struct sum_host *host, uint32_t index,
                    const struct sum_msg *msg, struct sum_actions *actions)
{
    struct sum_seat *seat = &host->seats[index];
    const bool early =
        msg->call == host->call + 1 && seat->first_call > host->call;

    if (msg->call + 1 == host->call ||
        (seat->was_in && msg->serial == seat->in_serial)) {
        send_total(host, seat, actions);
        return;
    }
    if (msg->call < host->call) {
        struct sum_msg *missed = send(actions, seat->link, SUM_MISSED);

        missed->call = msg->call;
        missed->next = host->call;
        return;
    }
    if (msg->call > host->call + 1 ||
        ((seat->given || seat->early) && msg->serial <= seat->serial))
        return;                 /* Said twice, or nonsense. */
    host->given -= seat->given; /* In place of an earlier one. */
    seat->given = false;
    seat->shape = msg->shape;
    seat->serial = msg->serial;
    sum_actions_add(actions, SUM_ACTION_KEEP)->seat = index;
    seat->early = early;
    if (early)
        return;
    if (msg->patience_us > 0 && host->now + msg->patience_us < host->close_at)
        host->close_at = host->now + msg->patience_us;
    count_in(host, index, actions);
}

static void on_withdraw(struct sum_host *host, uint32_t index, uint64_t call,
                        struct sum_actions *actions)
{
    struct sum_seat *seat = &host->seats[index];

    /* Too late: GIVE came before it, and was answered, by REFUSE perhaps.  One
     * answer to each: a second would be taken for that of the next vector. */
    if (call < host->call || (!seat->given && !seat->early))
        return;
    host->given -= seat->given;
    seat->given = seat->early = false;
    sum_actions_add(actions, SUM_ACTION_DROP)->seat = index;
    send(actions, seat->link, SUM_WITHDRAWN)->call = call;
}

/* --- closing ------------------------------------------------------------- */

/* Who was in, by name: the same text for everyone. */
static void write_who(struct sum_host *host)
{
    uint32_t count = 0;

    host->who_size = 0;
    for (uint32_t i = 0; i < host->options.seats; i++) {
        uint32_t at = count;

        if (!host->seats[i].was_in)
            continue;
        for (; at > 0 && strcmp(host->seats[host->order[at - 1]].name,
                                host->seats[i].name) > 0;
             at--)
            host->order[at] = host->order[at - 1];
        host->order[at] = i;
        count++;
    }
    for (uint32_t k = 0; k < count; k++) {
        const char *name = host->seats[host->order[k]].name;
        const size_t size = strlen(name);

        if (k > 0)
            host->who[host->who_size++] = ',';
        memcpy(host->who + host->who_size, name, size);
        host->who_size += size;
    }
}

/* Seats whose last word was in the call before are free again. */
static void mark_in(struct sum_host *host)
{
    for (uint32_t i = 0; i < host->options.seats; i++) {
        struct sum_seat *seat = &host->seats[i];

        seat->was_in = seat->given;
        seat->in_serial = seat->serial;
        if (!seat->linked && !seat->given)
            seat->taken = false;
    }
}

static void tell(const struct sum_host *host, struct sum_actions *actions)
{
    for (uint32_t i = 0; i < host->options.seats; i++) {
        const struct sum_seat *seat = &host->seats[i];

        if (seat->was_in && seat->linked)
            send_total(host, seat, actions);
    }
}

/* Those who were early have given for this call. */
static void begin_call(struct sum_host *host, struct sum_actions *actions)
{
    host->given = 0;
    host->close_at = TIME_NEVER;
    for (uint32_t i = 0; i < host->options.seats; i++)
        host->seats[i].given = false;
    for (uint32_t i = 0; i < host->options.seats; i++) {
        if (!host->seats[i].early)
            continue;
        host->seats[i].early = false;
        count_in(host, i, actions);
    }
}

/* Somebody died, and without those who were to wait for the next call this one
 * would never have its `least`.  What they gave for the next one counts in this
 * one: a member knows its vector by the serial. */
static void call_in(struct sum_host *host, struct sum_actions *actions)
{
    if (host->given == 0 ||
        host->given + waited_for(host) >= host->options.least)
        return;
    for (uint32_t i = 0; i < host->options.seats; i++) {
        struct sum_seat *seat = &host->seats[i];

        if (!seat->taken || !seat->linked || seat->first_call <= host->call)
            continue;
        seat->first_call = host->call;
        if (!seat->early)
            continue;
        seat->early = false;
        count_in(host, i, actions);
    }
}

static bool may_close(const struct sum_host *host)
{
    return host->given >= host->options.least &&
           (waited_for(host) == 0 || host->now >= host->close_at);
}

static void close_call(struct sum_host *host, struct sum_actions *actions)
{
    host->last_members = host->given + waited_for(host);
    host->last_contributed = host->given;
    host->last_shape = host->shape;
    mark_in(host);
    write_who(host);
    (void)sum_actions_add(actions, SUM_ACTION_TOTAL);
    host->call++;
    tell(host, actions);
    begin_call(host, actions);
}

/* --- step ---------------------------------------------------------------- */

static void on_down(struct sum_host *host, uint32_t link,
                    struct sum_actions *actions)
{
    const uint32_t index = seat_of(host, link);

    if (index != SUM_NO_SEAT)
        unseat(host, index, actions);
}

static void on_message(struct sum_host *host, uint32_t link,
                       const struct sum_msg *msg, struct sum_actions *actions)
{
    const uint32_t index = seat_of(host, link);

    if (msg->kind == SUM_HELLO) {
        on_hello(host, link, msg, actions);
        return;
    }
    if (index == SUM_NO_SEAT)
        return; /* It was given up; it will dial again. */
    host->seats[index].heard_at = host->now;
    switch (msg->kind) {
    case SUM_BEAT:
        (void)send(actions, link, SUM_ECHO);
        break;
    case SUM_GIVE:
        on_give(host, index, msg, actions);
        break;
    case SUM_WITHDRAW:
        on_withdraw(host, index, msg->call, actions);
        break;
    case SUM_LEAVE:
        say(actions, link, SUM_BYE, "left");
        unseat(host, index, actions);
        break;
    case SUM_HELLO:
    case SUM_WELCOME:
    case SUM_REJECT:
    case SUM_ECHO:
    case SUM_TOTAL:
    case SUM_MISSED:
    case SUM_REFUSE:
    case SUM_WITHDRAWN:
    case SUM_BYE:
        break; /* Not for a host. */
    }
}

static void watch(struct sum_host *host, struct sum_actions *actions)
{
    for (uint32_t i = 0; i < host->options.seats; i++) {
        struct sum_seat *seat = &host->seats[i];

        if (!seat->taken || !seat->linked ||
            host->now - seat->heard_at < host->options.dead_us)
            continue;
        sum_actions_add(actions, SUM_ACTION_CLOSE)->link = seat->link;
        unseat(host, i, actions);
    }
}

/* It was the host itself that was away (stopped, or adding): what the others
 * said meanwhile is still to be read. */
static void forgive(struct sum_host *host, time_us now)
{
    if (now - host->now < host->options.dead_us / 2)
        return;
    for (uint32_t i = 0; i < host->options.seats; i++)
        host->seats[i].heard_at = now;
}

static void end_group(struct sum_host *host, struct sum_actions *actions)
{
    host->over = true;
    for (uint32_t i = 0; i < host->options.seats; i++) {
        if (host->seats[i].taken && host->seats[i].linked)
            say(actions, host->seats[i].link, SUM_BYE,
                "the host has ended the group");
    }
    (void)sum_actions_add(actions, SUM_ACTION_FINISH);
}

static void host_check(const struct sum_host *host)
{
    uint32_t given = 0;

    for (uint32_t i = 0; i < host->options.seats; i++) {
        given += host->seats[i].given;
        CHECK(host->seats[i].taken || !host->seats[i].given);
        CHECK(!(host->seats[i].given && host->seats[i].early));
    }
    CHECK(given == host->given);
}

/* Somebody is told the last total in this step: `who` must stay as it is. */
static bool tells_total(const struct sum_actions *actions)
{
    for (uint32_t i = 0; i < actions->count; i++) {
        if (actions->list[i].kind == SUM_ACTION_SEND &&
            actions->list[i].msg.kind == SUM_TOTAL)
            return true;
    }
    return false;
}

/* One call at most is closed in a step; who was early may have completed the
 * next one, which is then seen to at once. */
static time_us look(struct sum_host *host, struct sum_actions *actions)
{
    time_us next = host->now + host->options.beat_us;

    call_in(host, actions);
    if (may_close(host) && !tells_total(actions))
        close_call(host, actions);
    if (may_close(host))
        next = host->now;
    else if (host->given >= host->options.least && host->close_at < next)
        next = host->close_at;
    return next;
}

void sum_host_step(struct sum_host *host, const struct sum_event *event,
                   struct sum_actions *actions)
{
    time_us next;

    actions->count = 0;
    if (host->over)
        return;
    CHECK(event->now >= host->now);
    forgive(host, event->now);
    host->now = event->now;
    switch (event->kind) {
    case SUM_EVENT_DOWN:
        on_down(host, event->link, actions);
        break;
    case SUM_EVENT_MESSAGE:
        on_message(host, event->link, event->msg, actions);
        break;
    case SUM_EVENT_TIME:
        watch(host, actions);
        break;
    case SUM_EVENT_END:
        end_group(host, actions);
        return;
    case SUM_EVENT_START:
    case SUM_EVENT_UP:
    case SUM_EVENT_GIVE:
    case SUM_EVENT_CANCEL:
        break; /* Of a member; START sets the first timer. */
    }
    next = look(host, actions);
    sum_actions_add(actions, SUM_ACTION_TIMER)->at = next;
    host_check(host);
}
