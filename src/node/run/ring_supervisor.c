/*
 * ring_supervisor.c - the local peers of a ring: forked, watched, told to end.
 */
#include "node/run/ring_supervisor.h"

#include <stdio.h>
#include <string.h>

#include "base/check.h"
#include "base/flag.h"
#include "base/mem.h"
#include "node/host/result_file.h"
#include "node/host/ring_folder.h"
#include "node/host/ways.h"
#include "node/run/notice_child.h"
#include "os/clock.h"
#include "os/file/memory_file.h"
#include "os/log.h"
#include "os/run/process.h"

#define TICK_US    (100 * MS_US)
#define STOP_US    (10 * SECOND_US) /* For the step at hand and the disk. */
#define PARTING_US SECOND_US /* For the others, once one has the model. */
#define READ_BYTES (16u << 10)

static void watch(struct ring_supervisor *r, const struct trace *trace)
{
    if (r->options->watch != NULL)
        r->options->watch(r->options->watch_context, trace);
}

/* --- what the peers tell -------------------------------------------------- */

static void tell(struct ring_supervisor *r, const struct trace *trace)
{
    account_trace(&r->account, trace, crew_find(&r->crew, trace->name) != NULL);
    watch(r, trace);
}

static void on_trace(void *context, const struct trace *trace)
{
    const bool gone = trace->kind == TRACE_DIED || trace->kind == TRACE_LEFT;
    struct ring_seat *seat = context;
    struct ring_supervisor *r = seat->run;
    struct trace own = *trace;

    if (ring_news(&r->news, trace)) {
        /* Whether a child's end or the others' word of it comes first must not
         * show. */
        if (gone && crew_find(&r->crew, trace->name) != NULL)
            own.a = 0;
        tell(r, &own);
        if (trace->kind == TRACE_ROUND && !r->stopping)
            chaos_run_step(&r->chaos, trace->key.step, clock_now_us());
    }
    if (trace->kind == TRACE_ROUND &&
        chaos_acts(&r->options->chaos, trace->key.step))
        wait_give(seat->pass_fd);
}

/* At most one buffer, so that signals are looked at in between. */
static bool read_seat(struct ring_seat *seat)
{
    uint8_t data[READ_BYTES];
    bool ended = false;
    size_t size;

    if (seat->trace_fd < 0)
        return false;
    size = wait_read(seat->trace_fd, data, sizeof data, &ended);
    trace_reader_bytes(&seat->traces, data, size);
    if (ended)
        wait_close(&seat->trace_fd);
    return size > 0;
}

static void read_traces(struct ring_supervisor *r)
{
    for (uint32_t i = 0; i < r->count; i++)
        (void)read_seat(&r->seats[i]);
}

/* Who comes and goes without a word of the others. */
static void tell_of(struct ring_supervisor *r, const char *name,
                    enum trace_kind kind)
{
    struct trace trace = {
        .now = clock_now_us(), .kind = kind, .link = -1, .key = r->news.round};

    memcpy(trace.name, name, NAME_SIZE);
    if (ring_news(&r->news, &trace))
        tell(r, &trace);
}

/* --- seats ---------------------------------------------------------------- */

/* Where others dial it: of one that listens on all addresses they see that. */
static void name_place(const struct ring_supervisor *r, struct ring_seat *seat)
{
    const struct net_address *bound = &seat->door.bound;
    const bool any =
        strcmp(bound->host, "0.0.0.0") == 0 || strcmp(bound->host, "::") == 0;
    char text[NET_TEXT_SIZE];

    if (any && (r->options->listen != NULL || r->options->interface != NULL))
        (void)snprintf(seat->place, PEER_PLACE, ":%u", (unsigned)bound->port);
    else
        (void)snprintf(seat->place, PEER_PLACE, "%.*s", (int)PEER_PLACE - 1,
                       net_text(any ? &seat->door.local : bound, text));
}

/* Sockets before the forks: whoever dials a peer that has died waits for its
 * next life. */
static enum err open_door(struct ring_supervisor *r, struct ring_seat *seat)
{
    struct net_address wanted = r->first->bound;
    enum err err;

    if (r->count == 0) {
        seat->door = *r->first;
        seat->borrowed = true;
        return ERR_OK;
    }
    wanted.port = 0;
    err = net_listen(&wanted, r->options->token_file == NULL, &seat->door,
                     r->why);
    return err;
}

static enum err add_seat(struct ring_supervisor *r, uint32_t number)
{
    struct ring_seat *seat = &r->seats[r->count];
    enum err err;

    if (r->count == PEERS_MAX)
        return why_set(r->why, ERR_RANGE, "a ring has %u peers at most",
                       PEERS_MAX);
    *seat = (struct ring_seat){.run = r,
                               .number = number,
                               .trace_fd = -1,
                               .pass_fd = -1,
                               .spare_fd = -1};
    if (r->options->name != NULL && r->count == 0)
        (void)snprintf(seat->name, NAME_SIZE, "%s", r->options->name);
    else
        (void)snprintf(seat->name, NAME_SIZE, "%.40sw%u", r->prefix, number);
    ring_folder_of(r->options->out, number, seat->folder);
    err = file_make_folder(seat->folder, r->why);
    if (err == ERR_OK)
        err = trace_reader_init(&seat->traces, on_trace, seat);
    if (err == ERR_OK)
        err = open_door(r, seat);
    if (err != ERR_OK)
        return err;
    name_place(r, seat);
    result_remove(seat->folder);
    seat->spare_fd = memory_file_new();
    r->doors[2 * r->count] = seat->door.fd;
    r->count++;
    return ERR_OK;
}

static void close_seat(struct ring_seat *seat)
{
    wait_close(&seat->trace_fd);
    wait_close(&seat->pass_fd);
    memory_file_free(seat->spare_fd);
    trace_reader_close(&seat->traces);
    if (!seat->borrowed)
        net_close(&seat->door);
}

static void tell_crew(struct ring_supervisor *r)
{
    r->crew.own[0] = r->waiter.fd;
    r->crew.own[1] = r->lock_fd;
    for (uint32_t i = 0; i < r->count; i++)
        r->doors[2 * i + 1] = r->seats[i].trace_fd;
}

/* --- lives ---------------------------------------------------------------- */

static bool is_alive(struct ring_supervisor *r, const struct ring_seat *seat)
{
    const struct crew_member *member = crew_find(&r->crew, seat->name);

    return member != NULL && member->process.pid > 0;
}

/* Peers that live here, then those elsewhere. */
static uint32_t find_contacts(struct ring_supervisor *r,
                              const struct ring_seat *seat,
                              struct net_address *contacts)
{
    uint32_t count = 0;

    for (uint32_t i = 0; i < r->count; i++)
        if (&r->seats[i] != seat && is_alive(r, &r->seats[i]))
            contacts[count++] = r->seats[i].door.local;
    for (uint32_t i = 0; i < r->peer.contact_count; i++)
        contacts[count++] = r->peer.contacts[i];
    return count;
}

/* Whoever asks in the run's folder is led to one that lives. */
static void point_address(struct ring_supervisor *r)
{
    for (uint32_t i = 0; i < r->count; i++) {
        if (!is_alive(r, &r->seats[i]))
            continue;
        if (r->address != i)
            (void)!ways_keep_address(r->options->out, &r->seats[i].door.local,
                                     NULL);
        r->address = i;
        return;
    }
}

/* Seats keep their berths; who comes when all are taken is sent bytes. */
static uint32_t berth_of(const struct ring_supervisor *r,
                         const struct ring_seat *seat)
{
    const struct board *board = r->peer.board;
    const uint32_t index = (uint32_t)(seat - r->seats);

    return board != NULL && index < board_shape(board)->berths ? index
                                                               : BOARD_NONE;
}

/* One life. */
static enum err start(struct ring_supervisor *r, struct ring_seat *seat)
{
    struct net_address *contacts =
        mem_new(PEERS_MAX + r->peer.contact_count, sizeof *contacts);
    struct peer_node_options options = r->peer;
    int writer = -1;
    enum err err = contacts != NULL ? ERR_OK : ERR_NOMEM;

    wait_close(&seat->pass_fd); /* What the last life did not take is void. */
    if (err == ERR_OK)
        err = wait_passes(&seat->pass_fd, r->why);
    if (err == ERR_OK)
        err = wait_pipe(&seat->trace_fd, &writer, r->why);
    if (err == ERR_OK) {
        trace_reader_begin(&seat->traces);
        memcpy(options.core.name, seat->name, NAME_SIZE);
        memcpy(options.core.place, seat->place, PEER_PLACE);
        options.contact_count = find_contacts(r, seat, contacts);
        options.contacts = contacts;
        options.far = options.contact_count > 0 &&
                      options.contact_count == r->peer.contact_count;
        options.folder = seat->folder;
        options.listen_fd = seat->door.fd;
        options.berth = berth_of(r, seat);
        options.spare_fd = seat->spare_fd;
        options.trace_fd = writer;
        options.pass_fd = seat->pass_fd;
        tell_crew(r);
        err = crew_start_peer(&r->crew, &options, r->why);
    }
    wait_close(&writer);
    mem_free(contacts);
    if (err == ERR_OK)
        tell_of(r, seat->name, TRACE_JOINED);
    point_address(r);
    return err;
}

static struct ring_seat *seat_of(struct ring_supervisor *r, const char *name)
{
    for (uint32_t i = 0; i < r->count; i++)
        if (strcmp(r->seats[i].name, name) == 0)
            return &r->seats[i];
    return NULL;
}

static void start_again(struct ring_supervisor *r, struct crew_member *member)
{
    struct ring_seat *seat = seat_of(r, member->process.name);
    struct why why = {0};
    struct why *const kept = r->why;

    member->restart_at = 0;
    r->why = &why;
    if (seat != NULL && start(r, seat) != ERR_OK)
        log_line("a peer could not be started: %s", why.text);
    r->why = kept;
}

static uint32_t free_number(const struct ring_supervisor *r)
{
    uint32_t number = 0;

    for (uint32_t i = 0; i < r->count; i++)
        if (r->seats[i].number >= number)
            number = r->seats[i].number + 1;
    return number;
}

/* --chaos join. */
static void join_one(void *context)
{
    struct ring_supervisor *r = context;
    struct why why = {0};
    struct why *const kept = r->why;
    enum err err;

    r->why = &why;
    err = add_seat(r, free_number(r));
    if (err == ERR_OK)
        err = start(r, &r->seats[r->count - 1]);
    if (err != ERR_OK)
        log_line("a peer could not be started: %s", why.text);
    r->why = kept;
}

/* Has it left a model? */
static bool has_model(const struct ring_seat *seat)
{
    struct run_result result = {0};
    const enum err err =
        result_read(seat->folder, seat->spare_fd, &result, NULL);

    if (err == ERR_OK)
        mem_free(result.weights);
    return err == ERR_OK && result.err == ERR_OK;
}

/* The ring is done: nobody is started any more, and who is stopped has no part
 * in the end. */
static void close_ring(struct ring_supervisor *r)
{
    if (r->closing)
        return;
    r->closing = true;
    r->close_at = clock_now_us() + PARTING_US;
    for (uint32_t i = 1; i < r->crew.count; i++) {
        struct crew_member *member = &r->crew.members[i];

        member->restart_at = 0;
        if (member->resume_at == 0 || member->process.pid == 0)
            continue;
        process_kill(member->process.pid);
        member->reported = true;
    }
}

static void peer_ended(struct ring_supervisor *r, struct crew_member *member)
{
    struct ring_seat *seat = seat_of(r, member->process.name);
    const bool died = process_failed(&member->end);

    CHECK(seat != NULL);
    while (read_seat(seat))
        continue; /* Its last words. */
    wait_close(&seat->trace_fd);
    account_worker_ended(&r->account, member->process.name, died);
    point_address(r);
    if (has_model(seat)) {
        close_ring(r);
        return;
    }
    if (r->closing && !died)
        return; /* All go home at the end, which is no news. */
    tell_of(r, member->process.name, died ? TRACE_DIED : TRACE_LEFT);
    if (died && r->options->respawn && !r->stopping && !r->closing) {
        const time_us now = clock_now_us();

        crew_put_off(member, now);
        if (member->restart_at == now)
            start_again(r, member);
    }
}

static bool anybody_left(const struct ring_supervisor *r)
{
    for (uint32_t i = 1; i < r->crew.count; i++) {
        const struct crew_member *member = &r->crew.members[i];

        if (member->process.pid > 0 || member->restart_at != 0)
            return true;
    }
    return false;
}

static void stop(struct ring_supervisor *r, int number);

static void check_children(struct ring_supervisor *r)
{
    crew_reap(&r->crew);
    if (notice_child_told(&r->notice_pid) && !r->stopping)
        stop(r, WAIT_SIGTERM);
    for (uint32_t i = 1; i < r->crew.count; i++) {
        struct crew_member *member = &r->crew.members[i];

        if (member->process.pid > 0 || member->reported)
            continue;
        member->reported = true;
        peer_ended(r, member);
    }
    r->over = r->over || !anybody_left(r);
}

/* --- the end on request --------------------------------------------------- */

/* Others elsewhere go on when these leave. */
static bool leaves_others(const struct ring_supervisor *r, int number)
{
    return number != 0 &&
           (r->options->listen != NULL || r->peer.contact_count > 0);
}

static void stop(struct ring_supervisor *r, int number)
{
    r->stopping = true;
    r->signal = number;
    r->stop_until = clock_now_us() + STOP_US;
    for (uint32_t i = 1; i < r->crew.count; i++) {
        struct crew_member *member = &r->crew.members[i];

        member->restart_at = 0;
        member->resume_at = 0;
        if (leaves_others(r, number))
            process_terminate(member->process.pid);
        else
            process_alert(member->process.pid);
        process_resume(member->process.pid);
    }
}

/* A second SIGTERM is no impatience, as in supervisor.c. */
static void on_signal(struct ring_supervisor *r, int number)
{
    r->came = number;
    if (!r->stopping) {
        stop(r, number);
        return;
    }
    r->signal = number;
    r->over = r->over || number != WAIT_SIGTERM;
}

static bool told_to_stop(const struct ring_supervisor *r)
{
    return r->options->stop != NULL && flag_raised(r->options->stop);
}

static void restart_due(struct ring_supervisor *r, time_us now)
{
    for (uint32_t i = 1; i < r->crew.count && !r->stopping; i++) {
        struct crew_member *member = &r->crew.members[i];

        if (member->restart_at != 0 && now >= member->restart_at)
            start_again(r, member);
    }
}

static void check_time(struct ring_supervisor *r, time_us now)
{
    if (!r->stopping && (now >= r->max_time_at || told_to_stop(r))) {
        r->timed_out = !told_to_stop(r);
        stop(r, 0);
    }
    if (r->stopping && now >= r->stop_until)
        r->over = true;
    if (r->closing && now >= r->close_at) { /* Somebody came too late. */
        r->close_at = TIME_NEVER;
        if (!r->stopping)
            stop(r, 0);
    }
    if (!r->stopping && !r->closing) {
        chaos_run_time(&r->chaos, now);
        restart_due(r, now);
    }
    if (now >= r->tick_at) {
        watch(r, NULL);
        r->tick_at = now + TICK_US;
    }
}

static time_us next_time(const struct ring_supervisor *r)
{
    time_us next = time_sooner(r->tick_at, chaos_run_next(&r->chaos));

    next = time_sooner(next, r->max_time_at);
    for (uint32_t i = 1; i < r->crew.count; i++)
        if (r->crew.members[i].restart_at != 0)
            next = time_sooner(next, r->crew.members[i].restart_at);
    if (r->closing)
        next = time_sooner(next, r->close_at);
    return r->stopping ? time_sooner(next, r->stop_until) : next;
}

static void serve(struct ring_supervisor *r)
{
    int fds[PEERS_MAX];

    while (!r->over) {
        struct wake wake;

        for (uint32_t i = 0; i < r->count; i++)
            fds[i] = r->seats[i].trace_fd;
        wake = waiter_wait_any(&r->waiter, fds, r->count, next_time(r));
        if (wake.signal != 0)
            on_signal(r, wake.signal);
        if (wake.readable)
            read_traces(r);
        if (wake.child)
            check_children(r);
        check_time(r, clock_now_us());
    }
}

static enum err start_all(struct ring_supervisor *r)
{
    enum err err = ERR_OK;

    for (uint32_t i = 0; i < r->options->local_workers && err == ERR_OK; i++)
        err = add_seat(r, r->numbers[i]);
    for (uint32_t i = 0; i < r->count && err == ERR_OK; i++)
        err = start(r, &r->seats[i]);
    if (err == ERR_OK)
        err = notice_child_start(&r->options->notice, r->crew.own, CREW_OWN_MAX,
                                 &r->notice_pid, r->why);
    return err;
}

enum err ring_supervisor_run(struct ring_supervisor *run, struct why *why)
{
    struct ring_supervisor *r = run;
    const time_us now = clock_now_us();
    const struct crew_relays doors = {.count = 2 * PEERS_MAX,
                                      .doors = r->doors};
    enum err err;

    r->waiter.fd = -1;
    r->why = why;
    r->max_time_at = r->options->max_time_us > 0 ? now + r->options->max_time_us
                                                 : TIME_NEVER;
    r->tick_at = now + TICK_US;
    for (uint32_t i = 0; i < 2 * PEERS_MAX; i++)
        r->doors[i] = -1;
    r->seats = mem_new(PEERS_MAX, sizeof *r->seats);
    err = r->seats != NULL ? crew_init(&r->crew, &doors) : ERR_NOMEM;
    if (err == ERR_OK)
        err = waiter_open(&r->waiter, why);
    if (err == ERR_OK) {
        chaos_run_init(&r->chaos, &r->options->chaos, &r->crew, join_one, r);
        err = start_all(r);
    }
    if (err == ERR_OK)
        serve(r);
    notice_child_end(&r->notice_pid);
    crew_close(&r->crew);
    if (r->waiter.fd >= 0 && r->came == 0)
        r->came = waiter_close(&r->waiter);
    else if (r->waiter.fd >= 0)
        (void)waiter_close(&r->waiter);
    return err;
}

void ring_supervisor_close(struct ring_supervisor *run)
{
    for (uint32_t i = 0; run->seats != NULL && i < run->count; i++)
        close_seat(&run->seats[i]);
    mem_free(run->seats);
    account_close(&run->account);
}
