/*
 * sizes.c - another size of samples while a run is under way (code flexent).
 *
 * A change is journaled when it is asked for, with the step from which on it
 * holds: the first of the next pass, since batches of one pass are to be
 * sampled alike.  In step s samples have the size of the last change in the
 * journal whose step is s or before.  A run that went back to a checkpoint so
 * makes each step again with the size that it had.
 */
#include <string.h>

#include "base/bugs.h"
#include "base/check.h"
#include "base/mem.h"
#include "core/star/coordinator_parts.h"
#include "math/computation.h"

/* The one at hand, and one to come: others are void (forget). */
#define ROOM_LEAST 2u

bool sizes_on(const struct coordinator *c)
{
    return c->options.job.sampled > 0;
}

/* The change that decides a step; NULL: none does. */
static const struct size_change *change_at(const struct coordinator *c,
                                           uint32_t step)
{
    for (uint32_t i = c->sizes.count; i > 0; i--) {
        if (c->sizes.list[i - 1].step <= step)
            return &c->sizes.list[i - 1];
    }
    return NULL;
}

double sizes_at(const struct coordinator *c, uint32_t step)
{
    const struct size_change *const change = change_at(c, step);

    return change == NULL ? c->options.code.size : change->size;
}

const struct size_change *
coordinator_next_size(const struct coordinator *coordinator)
{
    const struct coordinator *c = coordinator;
    const struct size_change *next = NULL;

    for (uint32_t i = 0; i < c->sizes.count; i++) {
        const struct size_change *const change = &c->sizes.list[i];

        if (change->step > c->trainer.optim.step &&
            change_at(c, change->step) == change &&
            (next == NULL || change->step < next->step))
            next = change;
    }
    return next;
}

double coordinator_size(const struct coordinator *coordinator)
{
    return sizes_on(coordinator)
               ? sizes_at(coordinator, coordinator->trainer.optim.step)
               : 0;
}

/* --- what the journal has ------------------------------------------------- */

static void count_change(void *context, const struct record *record)
{
    *(uint32_t *)context += record->kind == RECORD_SIZE;
}

static void keep_change(void *context, const struct record *record)
{
    struct sizes *const sizes = context;

    if (record->kind == RECORD_SIZE && !BUG(BUG_SIZE_FORGOTTEN))
        sizes->list[sizes->count++] =
            (struct size_change){.step = record->step, .size = record->size};
}

enum err sizes_room(struct coordinator *c, const struct recovery *recovery)
{
    const bool resumes = recovery != NULL && recovery->found;
    struct journal_summary summary;
    uint32_t count = 0;
    enum err err = ERR_OK;

    if (!sizes_on(c))
        return ERR_OK;
    if (resumes)
        err =
            journal_scan(recovery->journal_bytes, recovery->journal.valid_bytes,
                         count_change, &count, &summary);
    if (err != ERR_OK)
        return err;
    c->sizes.list =
        mem_new(count > ROOM_LEAST ? count : ROOM_LEAST, sizeof *c->sizes.list);
    if (c->sizes.list == NULL)
        return ERR_NOMEM;
    return resumes ? journal_scan(recovery->journal_bytes,
                                  recovery->journal.valid_bytes, keep_change,
                                  &c->sizes, &summary)
                   : ERR_OK;
}

void sizes_close(struct coordinator *c)
{
    mem_free(c->sizes.list);
    c->sizes = (struct sizes){0};
}

/* --- a change ------------------------------------------------------------- */

/* After the step at hand, which may be in the workers' hands. */
static uint32_t next_pass(const struct coordinator *c)
{
    const uint32_t steps = sampler_steps(&c->options.optim.sampler);
    const uint32_t done = c->trainer.optim.step;

    return BUG(BUG_SIZE_SOON) ? done + 1 : (done / steps + 1) * steps;
}

enum err coordinator_resizes(const struct coordinator *coordinator,
                             uint32_t *step, struct why *why)
{
    const struct coordinator *c = coordinator;
    const uint32_t next = next_pass(c);

    if (!sizes_on(c))
        return why_set(why, ERR_UNSUPPORTED,
                       "code %s draws no samples: only flexent has a size",
                       c->options.code.name);
    if (c->trainer.ledger.broken)
        return why_set(why, ERR_IO,
                       "the disk has failed, and a change must be durable "
                       "before it is used");
    if (c->stopping.how != STOPPING_NOT || c->gave_up != ERR_OK ||
        c->phase == COORDINATOR_DONE || c->phase == COORDINATOR_FAILED ||
        trainer_done(&c->trainer))
        return why_set(why, ERR_CANCELLED, "the run is about to end");
    if (next >= c->options.optim.steps)
        return why_set(why, ERR_RANGE,
                       "it would hold from the next pass on, and the run ends "
                       "after step %u, before that",
                       c->options.optim.steps);
    *step = next;
    return ERR_OK;
}

/* What no step will ask for any more: all but the change that decides the step
 * at hand, since the one that is asked for now replaces those to come. */
static void forget(struct coordinator *c)
{
    const struct size_change *const now = change_at(c, c->trainer.optim.step);

    c->sizes.count = now != NULL;
    if (now != NULL)
        c->sizes.list[0] = *now;
}

void sizes_change(struct coordinator *c, double size, struct actions *actions)
{
    struct record record = {.kind = RECORD_SIZE,
                            .job = c->options.job.id,
                            .view = c->view,
                            .size = size};
    struct trace *trace;

    if (coordinator_resizes(c, &record.step, NULL) != ERR_OK)
        return; /* Who asks for it was told why. */
    CHECK(computation_samples(size));
    forget(c);
    c->sizes.list[c->sizes.count++] =
        (struct size_change){.step = record.step, .size = size};
    memcpy(record.code, c->options.code.name, sizeof record.code);
    trace = coordinator_trace(c, actions, TRACE_SIZE, LINK_NONE);
    trace->key.step = record.step;
    trace->value = size;
    if (!BUG(BUG_SIZE_LOST))
        trainer_journal(&c->trainer, &record, true, actions);
}
