/*
 * account.c - a run's totals over all lives of its coordinator, from trace
 * events, ends of processes and the journal.
 */
#include "node/run/account.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "core/run/store.h"
#include "os/file/folder.h"

struct account_name {
    char name[NAME_SIZE];
    bool in;
    bool local;
    struct train_worker times;
    struct vitals past; /* Of its former lives. */
    uint32_t pulses;
};

void account_close(struct account *account)
{
    mem_free(account->names);
    *account = (struct account){0};
}

static struct account_name *name_find(struct account *account, const char *name)
{
    for (uint32_t i = 0; account->names != NULL && i < account->count; i++) {
        if (strcmp(account->names[i].name, name) == 0)
            return &account->names[i];
    }
    return NULL;
}

static struct account_name *name_of(struct account *account, const char *name)
{
    struct account_name *found = name_find(account, name);

    if (found != NULL)
        return found;
    if (account->count == account->capacity) {
        found = mem_grow(account->names, account->count, account->count + 1,
                         sizeof *found, &account->capacity);
        if (found == NULL)
            return NULL; /* Counted no more; the run goes on. */
        account->names = found;
    }
    found = &account->names[account->count++];
    (void)snprintf(found->name, sizeof found->name, "%s", name);
    return found;
}

/* A worker that dials a new life of the coordinator has not joined anew. */
static void joined(struct account *account, const char *name, bool local)
{
    struct account_name *who = name_of(account, name);

    if (who == NULL || who->in)
        return;
    who->in = true;
    who->local = local;
    account->joined++;
    account->alive++;
    if (account->alive > account->alive_max)
        account->alive_max = account->alive;
}

static void gone(struct account *account, const char *name, uint32_t *counter)
{
    struct account_name *who = name_find(account, name);

    if (who == NULL || !who->in)
        return;
    who->in = false;
    account->alive--;
    (*counter)++;
}

void account_worker_ended(struct account *account, const char *name, bool died)
{
    uint32_t uncounted = 0;

    gone(account, name, &uncounted);
    account->died += died ? 1 : 0;
}

static void committed(struct account *account, const struct trace *trace)
{
    const time_us pause = trace->now - account->committed_at;

    if (trace->key.step <= account->step && account->committed_at != 0)
        return; /* A step done again after a restart is no progress. */
    if (account->committed_at != 0 && pause > account->worst_pause_us)
        account->worst_pause_us = pause;
    account->committed_at = trace->now;
    account->step = trace->key.step;
    account->objective = trace->value;
}

static void count_ban(struct coordinator_stats *stats, const char *name,
                      uint8_t kind)
{
    if (stats->banned < BANNED_SHOWN) {
        memcpy(stats->banned_name[stats->banned], name, NAME_SIZE);
        stats->banned_for[stats->banned] = kind;
    }
    stats->banned++;
}

static void count(struct coordinator_stats *stats, const struct trace *trace)
{
    switch (trace->kind) {
    case TRACE_DUPLICATE:
        stats->duplicates++;
        break;
    case TRACE_STALE:
        stats->stale++;
        break;
    case TRACE_POISON:
        stats->poison++;
        if (trace->a < POISON_KINDS)
            stats->poison_by[trace->a]++;
        break;
    case TRACE_HEDGED:
        stats->hedged++;
        break;
    case TRACE_STOLEN:
        stats->stolen++;
        break;
    case TRACE_RESENT:
        stats->resent++;
        break;
    case TRACE_TALLY:
        stats->pieces_merged++;
        break;
    case TRACE_VIEW:
        stats->views++;
        break;
    case TRACE_ROLLBACK:
        stats->rollbacks++;
        break;
    case TRACE_ALARM:
        stats->alarms++;
        break;
    case TRACE_SWITCH:
        stats->switches++;
        break;
    case TRACE_JUDGED:
        stats->judged++;
        break;
    case TRACE_BANNED:
        count_ban(stats, trace->name, (uint8_t)trace->a);
        break;
    case TRACE_JOINED:
    case TRACE_DIED:
    case TRACE_LEFT:
    case TRACE_SUSPECT:
    case TRACE_CLEARED:
    case TRACE_ROUND:
    case TRACE_COMMIT:
    case TRACE_CHECKPOINT:
    case TRACE_DONE:
    case TRACE_FAILED:
    case TRACE_STINT:
    case TRACE_PULSE:
    case TRACE_AWAY:
    case TRACE_HOME:
    case TRACE_SHORT:
    case TRACE_ENOUGH:
    case TRACE_PEER:
    case TRACE_SUM:
    case TRACE_STOP:
    case TRACE_SIZE:
    case TRACE_PASS:
        break;
    }
}

static void add_vitals(struct vitals *to, const struct vitals *from)
{
    to->compute_us += from->compute_us;
    to->cancelled_us += from->cancelled_us;
    to->held_us += from->held_us;
    to->waited_us += from->waited_us;
    to->chunks += from->chunks;
    to->cancels += from->cancels;
    to->cpu_us += from->cpu_us;
    to->starved_us += from->starved_us;
    to->loop_us += from->loop_us;
    to->stopped_us += from->stopped_us;
    to->unsent_us += from->unsent_us;
    to->faults += from->faults;
}

/* Totals that have shrunk are those of a new life. */
static void take_pulse(struct account_name *who, const struct trace *trace)
{
    const struct vitals *now = &trace->pulse.vitals;
    struct train_worker *times = &who->times;

    if (now->compute_us < times->vitals.compute_us)
        add_vitals(&who->past, &times->vitals);
    times->vitals = *now;
    times->trip_us = trace->pulse.trip_us;
    /* The first is of the moment it came in. */
    times->spoke = who->pulses++ > 0;
}

static void count_times(struct account *account, const struct trace *trace)
{
    struct account_name *who =
        trace->kind == TRACE_SWITCH ? NULL : name_find(account, trace->name);

    if (who == NULL)
        return;
    if (trace->kind == TRACE_TALLY) {
        who->times.answers++;
        who->times.chunks += trace->b;
        who->times.compute_us += trace->answer.compute_us;
    }
    who->times.extra +=
        trace->kind == TRACE_STOLEN || trace->kind == TRACE_HEDGED;
    who->times.wasted +=
        trace->kind == TRACE_STALE || trace->kind == TRACE_DUPLICATE;
    if (trace->kind == TRACE_PULSE)
        take_pulse(who, trace);
}

static void note_relay(struct account *account, const struct trace *trace)
{
    struct account_name *who = name_find(account, trace->name);

    if (who != NULL)
        memcpy(who->times.relay, trace->relay, NAME_SIZE);
}

void account_trace(struct account *account, const struct trace *trace,
                   bool local)
{
    count(&account->life, trace);
    count_times(account, trace);
    if (trace->kind == TRACE_JOINED) {
        joined(account, trace->name, local);
        note_relay(account, trace);
    } else if (trace->kind == TRACE_LEFT) {
        gone(account, trace->name, &account->left);
    } else if (trace->kind == TRACE_DIED && !local) {
        gone(account, trace->name, &account->died);
    } else if (trace->kind == TRACE_COMMIT) {
        committed(account, trace);
    } else if (trace->kind == TRACE_ROUND) {
        if (account->began_at == 0)
            account->began_at = trace->now;
        if (trace->key.step >= account->opened)
            account->opened = trace->key.step + 1;
    }
}

static void add_trust(struct coordinator_stats *to,
                      const struct coordinator_stats *from)
{
    const uint32_t shown =
        from->banned < BANNED_SHOWN ? from->banned : BANNED_SHOWN;

    for (int kind = 0; kind < POISON_KINDS; kind++)
        to->poison_by[kind] += from->poison_by[kind];
    to->checked += from->checked;
    to->judged += from->judged;
    to->unchecked_bad += from->unchecked_bad;
    for (uint32_t i = 0; i < shown; i++)
        count_ban(to, from->banned_name[i], from->banned_for[i]);
    to->banned += from->banned - shown;
}

static void add_stats(struct coordinator_stats *to,
                      const struct coordinator_stats *from)
{
    to->duplicates += from->duplicates;
    to->stale += from->stale;
    to->poison += from->poison;
    to->hedged += from->hedged;
    to->stolen += from->stolen;
    to->resent += from->resent;
    to->shipped += from->shipped;
    to->fetched += from->fetched;
    to->peered += from->peered;
    to->peer_failed += from->peer_failed;
    to->peer_wrong += from->peer_wrong;
    to->pieces_merged += from->pieces_merged;
    to->pieces_assigned += from->pieces_assigned;
    to->views += from->views;
    to->rollbacks += from->rollbacks;
    to->switches += from->switches;
    to->alarms += from->alarms;
    to->redone += from->redone;
    add_trust(to, from);
}

void account_coordinator_died(struct account *account)
{
    account->coordinator_deaths++;
    add_stats(&account->past, &account->life);
    account->life = (struct coordinator_stats){0};
}

uint32_t account_strangers_alive(const struct account *account)
{
    uint32_t alive = 0;

    for (uint32_t i = 0; i < account->count; i++)
        alive += account->names[i].in && !account->names[i].local ? 1 : 0;
    return alive;
}

/* What each step that still stands was worth. */
struct worth {
    struct train_missing missing; /* Nothing, if slots is 0. */
    uint32_t exactness;
    double residual;
    uint32_t answered, age_max;
    uint64_t age_sum;
    uint32_t first, last; /* Steps; a GAP stands for many. */
};

struct worths {
    struct worth *steps;
    size_t count, capacity;
};

static struct train_missing missing_of(const struct record *record)
{
    struct train_missing missing = {0};

    for (size_t i = 0; i < sizeof record->silent; i++)
        if (record->silent[i] != 0)
            missing.slots = record->slots;
    missing.step = record->step;
    memcpy(missing.silent, record->silent, sizeof missing.silent);
    return missing;
}

/* Those steps do not stand any more. */
static void forget_after(struct worths *all, uint32_t step)
{
    while (all->count > 0 && all->steps[all->count - 1].first > step)
        all->count--;
    if (all->count > 0 && all->steps[all->count - 1].last > step)
        all->steps[all->count - 1].last = step;
}

static void note_record(void *context, const struct record *record)
{
    struct worths *all = context;
    struct worth *grown;
    uint32_t last;

    if (record->kind == RECORD_ROLLBACK)
        forget_after(all, record->step);
    last = all->count == 0 ? 0 : all->steps[all->count - 1].last;
    if ((record->kind != RECORD_STEP && record->kind != RECORD_GAP) ||
        record->step <= last)
        return;
    if (all->count == all->capacity) {
        grown = mem_grow(all->steps, all->count, all->count + 1, sizeof *grown,
                         &all->capacity);
        if (grown == NULL)
            return;
        all->steps = grown;
    }
    all->steps[all->count++] = (struct worth){.missing = missing_of(record),
                                              .exactness = record->exactness,
                                              .residual = record->residual,
                                              .answered = record->answered,
                                              .age_sum = record->age_sum,
                                              .age_max = record->age_max,
                                              .first = last + 1,
                                              .last = record->step};
}

static void list_missing(const struct worths *all, struct train_result *result)
{
    result->partial = 0;
    result->missing_count = 0;
    for (size_t i = 0; i < all->count; i++) {
        if (all->steps[i].missing.slots == 0)
            continue;
        result->partial++;
        if (result->missing_count < TRAIN_MISSING_MAX)
            result->missing[result->missing_count++] = all->steps[i].missing;
    }
}

static void sum_worths(const struct worths *all,
                       struct coordinator_stats *stats)
{
    memset(stats->exactness, 0, sizeof stats->exactness);
    stats->worst_residual = 0;
    stats->aged = 0;
    stats->age_sum = 0;
    stats->age_max = 0;
    for (size_t i = 0; i < all->count; i++) {
        const struct worth *worth = &all->steps[i];

        const uint32_t steps = worth->last - worth->first + 1;

        if (worth->exactness <= EXACT_APPROX)
            stats->exactness[worth->exactness] += steps;
        stats->worst_residual =
            record_worse(stats->worst_residual, worth->residual);
        stats->aged += worth->answered;
        stats->age_sum += worth->age_sum;
        if (worth->age_max > stats->age_max)
            stats->age_max = worth->age_max;
    }
}

static void read_journal(const char *path, struct train_result *result)
{
    struct folder folder;
    struct journal_summary summary;
    struct worths all = {0};
    enum err err = folder_open(&folder, path, NULL);

    if (err == ERR_OK)
        err = store_walk(&folder.disk, note_record, &all, &summary);
    if (err == ERR_OK) {
        /* Later ones are in the journal, but not in this model. */
        forget_after(&all, result->steps);
        sum_worths(&all, &result->stats);
        list_missing(&all, result);
    }
    mem_free(all.steps);
    folder_close(&folder);
}

/* w2 comes before w10. */
static int by_name(const void *a, const void *b)
{
    const struct train_worker *one = a;
    const struct train_worker *two = b;
    const size_t length_1 = strlen(one->name);
    const size_t length_2 = strlen(two->name);

    if (length_1 != length_2)
        return length_1 < length_2 ? -1 : 1;
    return strcmp(one->name, two->name);
}

static void list_times(const struct account *account,
                       struct train_result *result)
{
    struct train_worker *workers = mem_new(account->count, sizeof *workers);

    if (workers == NULL || account->count == 0) {
        mem_free(workers);
        return; /* The model matters more. */
    }
    for (uint32_t i = 0; i < account->count; i++) {
        workers[i] = account->names[i].times;
        memcpy(workers[i].name, account->names[i].name, NAME_SIZE);
        add_vitals(&workers[i].vitals, &account->names[i].past);
    }
    qsort(workers, account->count, sizeof *workers, by_name);
    result->workers = workers;
    result->worker_count = account->count;
}

void account_report(const struct account *account, const char *folder,
                    const struct coordinator_stats *last,
                    struct train_result *result)
{
    result->stats = last != NULL ? *last : account->life;
    add_stats(&result->stats, &account->past);
    read_journal(folder, result);
    result->stats.joined = account->joined;
    result->stats.left = account->left;
    result->stats.died = account->died;
    result->stats.alive_max = account->alive_max;
    result->coordinator_deaths = account->coordinator_deaths;
    result->opened = account->opened;
    list_times(account, result);
    result->worst_pause_s = (double)account->worst_pause_us / (double)SECOND_US;
    if (account->committed_at > account->began_at && account->began_at != 0)
        result->elapsed_s =
            (double)(account->committed_at - account->began_at) /
            (double)SECOND_US;
}
