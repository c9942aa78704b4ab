/*
 * view.c - a view is a numbered decision which worker fills which slot of which
 * code.  It is formed between rounds, or where one is begun anew, and durable
 * before a round carries it; only of elastic codes a seat is filled in
 * mid-round (SEG-2).  This file chooses the code, fills the slots and makes
 * room for both.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/bugs.h"
#include "base/check.h"
#include "base/mem.h"
#include "code/rules.h"
#include "core/star/coordinator_parts.h"

/* --- room for a code ----------------------------------------------------- */

static void room_free(struct coordinator *c)
{
    mem_free(c->pieces);
    mem_free(c->assignees);
    mem_free(c->piece_in);
    mem_free(c->ids);
    mem_free(c->coded);
    /* Messages of this very step may still point at the items. */
    CHECK(c->items.retired_count < RETIRED_MAX);
    c->items.retired[c->items.retired_count++] = c->items.list;
    c->pieces = NULL;
    c->assignees = NULL;
    c->piece_in = NULL;
    c->ids = NULL;
    c->items.list = NULL;
    c->coded = NULL;
}

/* How many workers may be asked for one piece at once: all whom the schedule
 * asks, and a few for hedging. */
static uint32_t assignees_max(const struct coordinator *c,
                              const struct code *code)
{
    const bool on_demand = code->spec.schedule == SCHED_STEAL;
    const uint32_t compared = c->options.verify || c->options.audit > 0;

    if (product_on(c))
        return code->slots;
    return (on_demand ? 1 : code->copies) + compared + ASSIGNEES_SPARE;
}

static uint32_t work_total(const struct code *code, uint32_t *ids)
{
    uint32_t total = 0;

    for (uint32_t slot = 0; slot < code->slots; slot++)
        total += code_work(code, slot, ids, code->piece_count);
    return total;
}

/* Of coded answers: folds, or one for each slot; of products, by pieces. */
static size_t coded_numbers(const struct coordinator *c,
                            const struct code *code)
{
    const size_t width = (size_t)c->options.job.sum_dims + 1;

    if (product_on(c))
        return segments_numbers(c, code);
    if (code->carrier == CARRIER_TALLY)
        return samples_numbers(c, code);
    return width * (code->folds > 0 ? code->folds : code->slots);
}

/* Besides init and adapt_look, the only place where the coordinator allocates:
 * a new code has other tables.  What the round at hand had is void then. */
static enum err room_make(struct coordinator *c, const struct code *code)
{
    const enum err err = segments_room(c, code);
    const uint32_t pieces = c->segments.max;

    room_free(c);
    if (err != ERR_OK)
        return err;
    c->pieces = mem_new(pieces, sizeof *c->pieces);
    c->piece_in = mem_new(pieces, sizeof *c->piece_in);
    c->ids = mem_new(pieces, sizeof *c->ids);
    c->assignees_max = assignees_max(c, code);
    c->assignees =
        mem_new((size_t)pieces * c->assignees_max, sizeof *c->assignees);
    if (c->pieces == NULL || c->piece_in == NULL || c->ids == NULL ||
        c->assignees == NULL || verify_room(c, pieces) != ERR_OK)
        return ERR_NOMEM;
    for (uint32_t id = 0; id < pieces; id++)
        c->pieces[id].assignee = c->assignees + (size_t)id * c->assignees_max;
    c->items.used = 0;
    /* What one step may send: every slot its whole part three times (the round,
     * what is sent again, what is taken back), each piece to a few others, and
     * some for each slot that comes. */
    c->items.capacity =
        3 * work_total(code, c->ids) + 4 * pieces + 12 * code->slots + 64;
    if (product_on(c)) /* A round, a plan, and what it takes back. */
        c->items.capacity += code->slots * (2 * code->parts + 4 * pieces);
    if (c->ballots != NULL)
        c->items.capacity += 2 * pieces; /* Each may go to a second one. */
    c->items.list = mem_new(c->items.capacity, sizeof *c->items.list);
    c->coded = mem_new(coded_numbers(c, code), sizeof *c->coded);
    if (c->items.list == NULL || c->coded == NULL)
        return ERR_NOMEM;
    return ERR_OK;
}

/* The user's code, fitted to another number of slots: as many stragglers as
 * the number allows, and the rules that counted on n counted anew. */
static struct code_spec spec_for(const struct coordinator *c, uint32_t slots)
{
    struct code_spec spec = c->recoding.wanted;
    const bool all_but_s = spec.k + spec.stragglers == c->recoding.wanted_slots;
    uint32_t most = slots;

    if (code_spec_elastic(&spec) ||
        (slots == c->recoding.wanted_slots && spec.stragglers < slots))
        return spec;
    spec.divisible = false;
    spec.quick = true; /* The others wait, and their patience is short. */
    if (spec.stragglers > slots - 1)
        spec.stragglers = slots - 1;
    if (spec.replicas > slots)
        spec.replicas = slots;
    if (spec.stop == STOP_GROUPS && spec.placement == PLACE_REP)
        most = slots / (spec.stragglers + 1);
    if (spec.stop == STOP_FIRST && all_but_s)
        spec.k = slots - spec.stragglers;
    else if (spec.k > most)
        spec.k = most;
    return spec;
}

/* Coded data have no other code to turn to: as many stragglers as can be
 * certified, and none always can. */
static enum err code_of_data(struct coordinator *c, uint32_t slots,
                             struct code *code, struct why *why)
{
    struct code_spec spec = spec_for(c, slots);
    enum err err =
        code_build(code, &spec, slots, job_data_chunks(&c->options.job), why);

    while (err == ERR_OK && slots != c->recoding.wanted_slots &&
           code->exactness == EXACT_APPROX && spec.stragglers > 0) {
        code_close(code);
        spec.stragglers--;
        spec.k = spec.stop == STOP_FIRST ? slots - spec.stragglers : spec.k;
        err = code_build(code, &spec, slots, job_data_chunks(&c->options.job),
                         why);
    }
    return err;
}

static enum err code_for(struct coordinator *c, uint32_t slots,
                         struct code *code, struct why *why)
{
    struct code_spec spec = spec_for(c, slots);
    enum err err =
        code_build(code, &spec, slots, job_data_chunks(&c->options.job), why);

    const bool worse = err == ERR_OK && !code_spec_estimates(&spec) &&
                       code->carrier == CARRIER_F64 &&
                       code->exactness == EXACT_APPROX &&
                       slots != c->recoding.wanted_slots;

    /* A life that goes on may have to do without the code of the last view: it
     * may have been this fallback then, too.  Rows that stay with their owners,
     * and averages, which are no sums, `rep` cannot take over. */
    if ((err == ERR_OK && !worse) ||
        (!c->code_built && !c->trainer.ledger.resumed) || err == ERR_NOMEM ||
        (code_traits(&spec) & (TRAIT(OWNERS) | TRAIT(AVERAGES))) != 0)
        return err;
    /* No such code, or no certificate, for this many: replication is exact for
     * any number. */
    if (worse)
        code_close(code);
    spec.placement = PLACE_REP;
    spec.divisible = false;
    spec.schedule = SCHED_ALL;
    spec.stop = STOP_COVER;
    spec.estimate = ESTIMATE_EXACT;
    spec.k = 0;
    (void)snprintf(spec.name, sizeof spec.name, "rep");
    return code_build(code, &spec, slots, job_data_chunks(&c->options.job),
                      why);
}

static bool rebuild(struct coordinator *c, uint32_t slots,
                    struct actions *actions)
{
    struct code code = {0};
    struct why why = {0};
    enum err err = product_on(c) ? code_of_data(c, slots, &code, &why)
                                 : code_for(c, slots, &code, &why);

    if (err == ERR_SHAPE && c->code_built && slots > c->code.slots &&
        view_feasible(c))
        return true; /* Who is beyond the code's limit waits for a slot. */
    if (err == ERR_OK)
        err = room_make(c, &code);
    if (err != ERR_OK) {
        code_close(&code);
        coordinator_fail(c, actions, err, "no code for %u workers: %s", slots,
                         why.text[0] != '\0' ? why.text : err_text(err));
        return false;
    }
    code_close(&c->code);
    c->code = code;
    c->code_built = true;
    c->stats.enough = code_spec_enough(&c->code.spec, slots);
    c->stats.slots = slots;
    return true;
}

/* --- another code where it pays ------------------------------------------ */

static void trace_switch(struct coordinator *c, struct actions *actions)
{
    struct trace *trace =
        coordinator_trace(c, actions, TRACE_SWITCH, LINK_NONE);
    struct candidate from;
    struct candidate to;

    candidate_of(&c->code.spec, &from);
    candidate_of(&c->recoding.wanted, &to);
    trace->key.step = c->trainer.optim.step;
    trace->value = c->recoding.change.gain;
    trace->a = (uint64_t)llround(1000 * c->recoding.change.gain_low);
    trace->b = (uint64_t)llround(1000 * c->recoding.change.gain_high);
    (void)snprintf(trace->name, sizeof trace->name, "%.30s instead of %.20s",
                   to.label, from.label);
}

void view_adapt(struct coordinator *c, struct actions *actions)
{
    if (c->trainer.ledger.broken || c->view_dirty || !c->code_built ||
        !adapt_look(&c->recoding.adapt, &c->recoding.wanted,
                    &c->recoding.change))
        return;
    c->recoding.wanted_slots = c->code.slots;
    c->recoding.due = true;
    c->view_dirty = true;
    c->stats.switches++;
    trace_switch(c, actions);
}

/* --- who fills which slot ------------------------------------------------ */

/* Worker "w3" belongs in slot 3: delays and pictures then mean the same slot
 * in every life of the job. */
static uint32_t slot_by_name(const char *name)
{
    char *end;
    unsigned long slot;

    if (name[0] != 'w' || name[1] < '0' || name[1] > '9')
        return UINT32_MAX;
    slot = strtoul(name + 1, &end, 10);
    return *end == '\0' && slot < UINT32_MAX ? (uint32_t)slot : UINT32_MAX;
}

static void place(struct coordinator *c, uint32_t link, uint32_t slot)
{
    CHECK(c->slot_link[slot] == LINK_NONE);
    c->slot_link[slot] = link;
    c->members[link].state = MEMBER_ACTIVE;
    c->members[link].slot = slot;
}

static bool slot_free(const struct coordinator *c, uint32_t slot)
{
    return slot < c->code.slots && c->slot_link[slot] == LINK_NONE;
}

/* Does the worker have the data of the first piece that is this slot's? */
static bool slot_suits(struct coordinator *c, const struct member *member,
                       uint32_t slot)
{
    const struct piece *piece;

    if (code_work(&c->code, slot, c->ids, c->code.piece_count) == 0)
        return false;
    piece = &c->code.pieces[c->ids[0]];
    return job_suffices(&c->options.job, &member->held, piece->first,
                        piece->end) ||
           (member->near.members > 0 &&
            job_suffices(&c->options.job, &member->near, piece->first,
                         piece->end));
}

/* Who comes back, or comes with some of the data, goes where it need not be
 * sent.  Those who have everything suit anywhere. */
static void fill_by_data(struct coordinator *c, bool *changed)
{
    for (uint32_t link = 0; link < c->members_max; link++) {
        const struct member *member = &c->members[link];

        if (member->state != MEMBER_READY ||
            member->held.members + member->near.members == 0 ||
            chunkset_full(&member->held) ||
            (member->near.members > 0 && chunkset_full(&member->near)))
            continue;
        for (uint32_t slot = 0; slot < c->code.slots; slot++) {
            if (slot_free(c, slot) && slot_suits(c, member, slot)) {
                place(c, link, slot);
                *changed = true;
                break;
            }
        }
    }
}

/* Private data: owners fill the slots of their home; there is one for each. */
static void fill_homes(struct coordinator *c)
{
    for (uint32_t link = 0; link < c->members_max; link++) {
        uint32_t slot;

        if (c->members[link].state != MEMBER_READY)
            continue;
        slot = homes_slot_first(c, link);
        while (c->slot_link[slot] != LINK_NONE)
            slot++;
        CHECK(slot < homes_slot_end(c, link));
        place(c, link, slot);
    }
}

/* Everyone who can has a slot; returns how many are left over. */
static uint32_t fill_slots(struct coordinator *c, bool *changed)
{
    uint32_t spare = 0;
    uint32_t slot = 0;

    for (uint32_t link = 0; link < c->members_max; link++) {
        const uint32_t own = slot_by_name(c->members[link].name);

        if (c->members[link].state == MEMBER_READY && slot_free(c, own)) {
            place(c, link, own);
            *changed = true;
        }
    }
    fill_by_data(c, changed);
    for (uint32_t link = 0; link < c->members_max; link++) {
        if (c->members[link].state != MEMBER_READY)
            continue;
        while (slot < c->code.slots && !slot_free(c, slot))
            slot++;
        if (slot < c->code.slots) {
            place(c, link, slot);
            *changed = true;
        } else {
            spare++;
        }
    }
    return spare;
}

/* The lowest free slot, or the one of its name. */
void view_seat(struct coordinator *c, uint32_t link)
{
    uint32_t slot = slot_by_name(c->members[link].name);

    if (c->members[link].state != MEMBER_READY)
        return;
    for (uint32_t i = 0; !slot_free(c, slot) && i < c->code.slots; i++)
        slot = i;
    if (!slot_free(c, slot))
        return;
    place(c, link, slot);
    segments_seated(c, slot);
}

static void empty_slots(struct coordinator *c)
{
    for (uint32_t slot = 0; slot < c->members_max; slot++)
        c->slot_link[slot] = LINK_NONE;
    for (uint32_t link = 0; link < c->members_max; link++) {
        if (c->members[link].state == MEMBER_ACTIVE)
            c->members[link].state = MEMBER_READY;
    }
}

bool view_feasible(struct coordinator *c)
{
    for (uint32_t slot = 0; slot < c->code.slots; slot++)
        c->slot_alive[slot] = c->slot_link[slot] != LINK_NONE;
    return code_feasible(&c->code, c->slot_alive);
}

/* --- forming ------------------------------------------------------------- */

static void journal_view(struct coordinator *c, struct actions *actions)
{
    struct record record = {
        .kind = RECORD_VIEW,
        .job = c->options.job.id,
        .view = c->view,
        .step = c->trainer.optim.step,
        .slots = c->code.slots,
        .answered = c->alive,
        .stragglers = c->recoding.wanted.stragglers,
        .k = c->recoding.wanted.k,
        .planned = c->recoding.wanted_slots,
        .gain = c->recoding.change.gain,
        .gain_low = c->recoding.change.gain_low,
        .gain_high = c->recoding.change.gain_high,
    };

    memcpy(record.code, c->code.spec.name, sizeof record.code);
    c->recoding.change = (struct plan_choice){0};
    c->phase = COORDINATOR_VIEWING;
    trainer_journal(&c->trainer, &record, !BUG(BUG_UNSYNCED_VIEW), actions);
}

/* The same for private data.  A home without an owner keeps its slot: the step
 * may have to wait, but a code for the others would not be the same sum. */
static bool settle_homes(struct coordinator *c, struct actions *actions)
{
    if (homes_recount(c) || !c->code_built) {
        if (!rebuild(c, homes_slots(c), actions))
            return false;
        empty_slots(c);
    }
    fill_homes(c);
    return true;
}

/* Slots for the living; false if the job has failed. */
static bool settle(struct coordinator *c, struct actions *actions)
{
    bool changed = false;

    if (homes_on(c))
        return settle_homes(c, actions);

    if (!c->code_built && !rebuild(c, c->options.slots, actions))
        return false;
    if (c->recoding.due && !rebuild(c, c->code.slots, actions))
        return false;
    c->recoding.due = false;
    if (code_spec_elastic(&c->code.spec)) {
        (void)fill_slots(c, &changed); /* Too few wait, too many do, too. */
        return true;
    }
    if (!c->recoding.refit && fill_slots(c, &changed) == 0 && view_feasible(c))
        return true;
    c->recoding.refit = false;
    if (!rebuild(c, c->alive, actions))
        return false;
    if (c->code.slots < c->alive)
        return true; /* As many as it serves have one. */
    empty_slots(c);
    return fill_slots(c, &changed) == 0;
}

void view_form(struct coordinator *c, struct actions *actions)
{
    struct trace *trace;

    stale_call_off(c, actions);
    if (c->alive == 0) {
        c->phase = COORDINATOR_GATHERING;
        c->gather.until = c->now + c->options.job.dead_us;
        return;
    }
    if (c->trainer.ledger.broken) {
        commit_fail_disk(c, ERR_IO, actions);
        return;
    }
    if (!settle(c, actions))
        return;
    c->view_dirty = false;
    c->view++;
    c->stats.views++;
    trace = coordinator_trace(c, actions, TRACE_VIEW, LINK_NONE);
    trace->key.view = c->view;
    trace->a = c->code.slots;
    trace->b = c->alive;
    if (c->options.adapt)
        adapt_view(&c->recoding.adapt, &c->code);
    journal_view(c, actions);
}

void view_journaled(struct coordinator *c, struct actions *actions)
{
    if (c->view_dirty)
        view_form(c, actions); /* Someone came or went meanwhile. */
    else
        round_open(c, actions);
}

void view_gather(struct coordinator *c, struct actions *actions)
{
    if (ledger_waits(&c->trainer.ledger))
        return; /* The JOB record comes first. */
    if ((c->alive >= c->gather.workers && !shipping_counting(c) &&
         homes_manned(c)) ||
        (c->alive > 0 && c->now >= c->gather.until))
        commit_advance(c, actions);
}
