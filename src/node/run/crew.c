/*
 * crew.c - the process table of a run: who was forked as what, with which name,
 * incarnation and listening socket, and how each ended.
 */
#include "node/run/crew.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "base/mem.h"
#include "node/host/result_file.h"
#include "os/clock.h"
#include "os/log.h"
#include "os/run/confine.h"
#include "os/run/threads.h"

#define CREW_FIRST     16u
#define TITLE_SIZE     16u
#define BACKOFF_US     (100 * MS_US)
#define BACKOFF_MAX_US (2 * SECOND_US)
#define FAILURE_US     SECOND_US /* A shorter life was none. */
#define FAILURES_TOLD  5u

enum err crew_init(struct crew *crew, const struct crew_relays *relays)
{
    *crew = (struct crew){.relays = *relays};
    crew->capacity = CREW_FIRST;
    crew->members = mem_new(CREW_FIRST, sizeof *crew->members);
    crew->drop = mem_new(CREW_OWN_MAX + 1 + relays->count, sizeof *crew->drop);
    if (crew->members == NULL || crew->drop == NULL)
        return ERR_NOMEM;
    crew->count = 1;
    crew->listen_fd = -1;
    for (uint32_t i = 0; i < CREW_OWN_MAX; i++)
        crew->own[i] = -1;
    (void)snprintf(crew->members[0].process.name, NAME_SIZE, "%s",
                   CREW_COORDINATOR);
    return ERR_OK;
}

void crew_close(struct crew *crew)
{
    for (uint32_t i = 0; i < crew->count; i++)
        process_kill(crew->members[i].process.pid);
    for (uint32_t i = 0; i < crew->count; i++) {
        if (crew->members[i].process.pid > 0)
            process_reap(crew->members[i].process.pid);
    }
    mem_free(crew->members);
    mem_free(crew->view);
    mem_free(crew->drop);
    *crew = (struct crew){0};
}

struct crew_member *crew_find(struct crew *crew, const char *name)
{
    for (uint32_t i = 0; i < crew->count; i++) {
        if (strcmp(crew->members[i].process.name, name) == 0)
            return &crew->members[i];
    }
    return NULL;
}

static struct crew_member *crew_add(struct crew *crew)
{
    struct crew_member *grown;

    if (crew->count == crew->capacity) {
        grown = mem_grow(crew->members, crew->count, crew->count + 1,
                         sizeof *grown, &crew->capacity);
        if (grown == NULL)
            return NULL;
        crew->members = grown;
    }
    return &crew->members[crew->count++];
}

/* All listening sockets but the child's own. */
static void fill_drop(struct crew *crew, int keep)
{
    int *drop = crew->drop;

    memcpy(drop, crew->own, sizeof crew->own);
    drop[CREW_OWN_MAX] = crew->listen_fd == keep ? -1 : crew->listen_fd;
    for (uint32_t i = 0; i < crew->relays.count; i++)
        drop[CREW_OWN_MAX + 1 + i] =
            crew->relays.doors[i] == keep ? -1 : crew->relays.doors[i];
}

static enum err start(struct crew *crew, struct crew_member *member,
                      struct process_start *how, int keep, struct why *why)
{
    CHECK(member->process.pid == 0);
    fill_drop(crew, keep);
    how->drop = crew->drop;
    how->drop_count = CREW_OWN_MAX + 1 + crew->relays.count;
    member->end = (struct process_end){0};
    member->reported = false;
    member->resume_at = 0;
    member->restart_at = 0;
    member->began_at = clock_now_us();
    return process_fork(how, &member->process.pid, why);
}

/* A life that could not begin leaves its reason as the result. */
static int leave_reason(const char *folder, int spare_fd, enum err err,
                        struct why *why)
{
    struct run_result result = {.err = err};
    bool on_disk;

    (void)snprintf(result.reason, sizeof result.reason, "%.255s",
                   why->text[0] != '\0' ? why->text : err_text(err));
    if (result_write(folder, spare_fd, &result, &on_disk, why) != ERR_OK)
        log_line("%s", result.reason);
    return 1;
}

static int coordinator_main(void *context)
{
    const struct coordinator_node_options *options = context;
    struct why why = {0};
    enum err err;

    log_name(CREW_COORDINATOR);
    err = coordinator_node_run(options, &why);
    return err == ERR_OK
               ? 0
               : leave_reason(options->folder, options->spare_fd, err, &why);
}

enum err crew_start_coordinator(struct crew *crew,
                                const struct coordinator_node_options *options,
                                struct why *why)
{
    struct coordinator_node_options copy = *options;
    struct process_start how = {
        .title = "muster:coord",
        .main = coordinator_main,
        .context = &copy,
    };

    return start(crew, &crew->members[0], &how, copy.listen_fd, why);
}

/* As many workers as processors, of one thread each: every worker has a
 * processor of its own.  Left alone the kernel wakes two of them on the one
 * processor that is idle while the coordinator, which is about to sleep, has
 * the other, and moves none for half a millisecond, as long as a short step
 * takes.  A user's function may start threads of its own. */
static void take_processor(const struct worker_node_options *options)
{
    const uint32_t workers =
        options->board != NULL ? board_shape(options->board)->workers : 0;

    if (options->user == NULL && options->threads == 1 &&
        options->berth < workers && workers == threads_available())
        (void)process_pin(options->berth);
}

static int worker_main(void *context)
{
    const struct worker_node_options *options = context;
    struct why why = {0};
    enum err err;

    log_name(options->name);
    take_processor(options);
    if (options->user == NULL) /* Whose function may do as it likes. */
        (void)confine_process();
    err = worker_node_run(options, &why);
    if (err == ERR_OK)
        return 0;
    if (err == ERR_CANCELLED)
        return CREW_STOP_CODE;
    log_line("%s", why.text[0] != '\0' ? why.text : err_text(err));
    return 1;
}

/* Its relay, and the coordinator should that fail. */
static void choose_ways(const struct crew *crew, const char *name,
                        struct worker_node_options *options)
{
    const struct crew_relays *relays = &crew->relays;
    const unsigned long number = strtoul(name + 1, NULL, 10);

    if (relays->count == 0)
        return;
    options->addresses =
        relays->ways + 2 * (number / relays->fanout % relays->lowest);
    options->address_count = 2;
}

/* The relay above one, or the coordinator if it is of the uppermost level. */
static void choose_parent(const struct crew_relays *relays, uint32_t index,
                          struct relay_node_options *options)
{
    uint32_t first = 0, level = relays->lowest;

    while (index >= first + level) {
        first += level;
        level = crew_level(level, relays->fanout);
    }
    if (first + level == relays->count)
        return;
    options->addresses = relays->ways + 2 * ((size_t)first + level +
                                             (index - first) / relays->fanout);
    options->address_count = 2;
}

static int relay_main(void *context)
{
    const struct relay_node_options *options = context;
    struct why why = {0};
    enum err err;

    log_name(options->name);
    err = relay_node_run(options, &why);
    if (err == ERR_OK)
        return 0;
    log_line("%s", why.text[0] != '\0' ? why.text : err_text(err));
    return 1;
}

enum err crew_start_relay(struct crew *crew, uint32_t index,
                          const struct relay_node_options *base,
                          struct why *why)
{
    struct relay_node_options options = *base;
    struct crew_member *member;
    char title[TITLE_SIZE];
    struct process_start how = {
        .title = title, .main = relay_main, .context = &options};

    (void)snprintf(options.name, NAME_SIZE, "r%u", index);
    member = crew_find(crew, options.name);
    if (member == NULL)
        member = crew_add(crew);
    if (member == NULL)
        return ERR_NOMEM;
    memcpy(member->process.name, options.name, NAME_SIZE);
    member->relay = true;
    member->lives++;
    options.listen_fd = crew->relays.doors[index];
    choose_parent(&crew->relays, index, &options);
    (void)snprintf(title, sizeof title, "muster:%.8s", options.name);
    return start(crew, member, &how, options.listen_fd, why);
}

enum err crew_start_worker(struct crew *crew, const char *name,
                           const struct worker_node_options *base,
                           struct why *why)
{
    struct worker_node_options options = *base;
    struct crew_member *member = name != NULL ? crew_find(crew, name) : NULL;
    char title[TITLE_SIZE];
    struct process_start how = {
        .title = title, .main = worker_main, .context = &options};

    if (name != NULL)
        CHECK(member != NULL);
    else
        member = crew_add(crew);
    if (member == NULL)
        return ERR_NOMEM;
    if (name == NULL)
        (void)snprintf(member->process.name, NAME_SIZE, "w%u",
                       crew->workers_made++);
    choose_ways(crew, member->process.name, &options);
    memcpy(options.name, member->process.name, NAME_SIZE);
    options.berth = (uint32_t)(member - crew->members) - 1;
    if (options.board != NULL &&
        options.berth >= board_shape(options.board)->berths)
        options.board = NULL; /* A late joiner: there is no berth left. */
    (void)snprintf(title, sizeof title, "muster:%.8s", options.name);
    return start(crew, member, &how, -1, why);
}

static int peer_main(void *context)
{
    const struct peer_node_options *options = context;
    struct why why = {0};
    enum err err;

    log_name(options->core.name);
    err = peer_node_run(options, &why);
    if (err == ERR_OK)
        return 0;
    return leave_reason(options->folder, options->spare_fd, err, &why);
}

enum err crew_start_peer(struct crew *crew,
                         const struct peer_node_options *options,
                         struct why *why)
{
    struct peer_node_options copy = *options;
    struct crew_member *member = crew_find(crew, copy.core.name);
    char title[TITLE_SIZE];
    struct process_start how = {
        .title = title, .main = peer_main, .context = &copy};

    if (member == NULL)
        member = crew_add(crew);
    if (member == NULL)
        return ERR_NOMEM;
    memcpy(member->process.name, copy.core.name, NAME_SIZE);
    (void)snprintf(title, sizeof title, "muster:%.8s", copy.core.name);
    return start(crew, member, &how, copy.listen_fd, why);
}

time_us crew_backoff(uint32_t deaths)
{
    time_us wait = deaths > 1 ? BACKOFF_US : 0;

    for (uint32_t i = 2; i < deaths && wait < BACKOFF_MAX_US; i++)
        wait *= 2;
    return wait < BACKOFF_MAX_US ? wait : BACKOFF_MAX_US;
}

void crew_put_off(struct crew_member *member, time_us now)
{
    if (now - member->began_at >= FAILURE_US)
        member->failures = 0;
    member->failures++;
    if (member->failures == FAILURES_TOLD)
        log_line("%s has failed %u times in a row as soon as it was started; "
                 "it is started again from time to time",
                 member->process.name, member->failures);
    member->restart_at = now + crew_backoff(member->failures);
}

void crew_reap(struct crew *crew)
{
    for (uint32_t i = 0; i < crew->count; i++) {
        struct crew_member *member = &crew->members[i];

        if (member->process.pid > 0 &&
            process_ended(member->process.pid, &member->end))
            member->process.pid = 0;
    }
}

uint32_t crew_workers_alive(const struct crew *crew)
{
    uint32_t alive = 0;

    for (uint32_t i = 1; i < crew->count; i++)
        alive += crew->members[i].process.pid > 0 && !crew->members[i].relay;
    return alive;
}

const struct train_process *crew_processes(struct crew *crew, uint32_t *count)
{
    if (crew->view_capacity < crew->count) {
        mem_free(crew->view);
        crew->view = mem_new(crew->capacity, sizeof *crew->view);
        crew->view_capacity = crew->view != NULL ? crew->capacity : 0;
    }
    *count = crew->view != NULL ? crew->count : 0;
    for (uint32_t i = 0; i < *count; i++)
        crew->view[i] = crew->members[i].process;
    return crew->view;
}
