/*
 * replay.c - steps of codes whose slots compute a fixed list.
 *
 * A slot that begins at b computes its pieces one after the other; each is
 * answered (or, in numeric codes, all of them together) when it is computed
 * and the delay is over:
 *
 *     b --compute--> --hold--> answer --compute--> --hold--> answer ...
 *
 * All answers of the step, sorted by time, are counted in until the code says
 * enough.  Then every slot is called off: one that sleeps is free at once, one
 * that computes finishes its chunk first and begins the next step late.
 *
 * A step of a code of data is two such rounds, of products: every slot has a
 * block as large as the largest part, and takes half a chunk's time for each
 * of its chunks.
 */
#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "base/mem.h"
#include "plan/replay_parts.h"

struct arrival {
    time_us at;
    uint32_t slot;
    uint32_t index; /* Into replay->work. */
};

/* --- set-up -------------------------------------------------------------- */

/* What a slot computes, behind what the slots before it do. */
static enum err append_work(struct replay *replay, uint32_t slot,
                            const uint32_t *ids, uint32_t count,
                            size_t *capacity)
{
    const uint32_t used = replay->work_first[slot];

    if (used + count > *capacity) {
        uint32_t *grown =
            mem_grow(replay->work, used, used + count, sizeof *grown, capacity);

        if (grown == NULL)
            return ERR_NOMEM;
        replay->work = grown;
    }
    if (count > 0)
        memcpy(replay->work + used, ids, count * sizeof *ids);
    replay->work_first[slot + 1] = used + count;
    return ERR_OK;
}

static uint32_t largest_piece(const struct code *code)
{
    uint32_t largest = 0;

    for (uint32_t id = 1; id < code->piece_count; id++) {
        if (piece_chunks(code, id) > piece_chunks(code, largest))
            largest = id;
    }
    return largest;
}

/* The slot's pieces, or the one that its block is as large as. */
static uint32_t work_of(const struct code *code, uint32_t slot, uint32_t *ids)
{
    if (!code_spec_products(&code->spec))
        return code_work(code, slot, ids, code->piece_count);
    ids[0] = largest_piece(code);
    return 1;
}

static enum err list_work(struct replay *replay)
{
    const struct code *code = replay->code;
    uint32_t *ids = mem_new(code->piece_count, sizeof *ids);
    size_t capacity = 0;
    enum err err = ids == NULL ? ERR_NOMEM : ERR_OK;

    for (uint32_t slot = 0; err == ERR_OK && slot < code->slots; slot++)
        err =
            append_work(replay, slot, ids, work_of(code, slot, ids), &capacity);
    mem_free(ids);
    if (err != ERR_OK)
        return err;
    replay->arrivals =
        mem_new(replay->work_first[code->slots], sizeof *replay->arrivals);
    return replay->arrivals == NULL ? ERR_NOMEM : ERR_OK;
}

enum err replay_init(struct replay *replay, const struct code *code,
                     time_us chunk_us)
{
    const uint32_t slots = code->slots;
    enum err err = ERR_NOMEM;

    CHECK(chunk_us >= 0);
    *replay = (struct replay){
        .code = code, .rounds = code_spec_products(&code->spec) ? 2 : 1};
    replay->chunk_us = chunk_us / replay->rounds;
    replay->work_first = mem_new(slots + 1u, sizeof *replay->work_first);
    replay->free_at = mem_new(slots, sizeof *replay->free_at);
    replay->piece_in = mem_new(code->piece_count, sizeof *replay->piece_in);
    replay->slot_in = mem_new(slots, sizeof *replay->slot_in);
    replay->todo = mem_new(slots, sizeof *replay->todo);
    replay->slots = mem_new(slots, sizeof *replay->slots);
    if (replay->work_first != NULL && replay->free_at != NULL &&
        replay->piece_in != NULL && replay->slot_in != NULL &&
        replay->todo != NULL && replay->slots != NULL)
        err = list_work(replay);
    if (err == ERR_OK && code->spec.schedule == SCHED_STEAL)
        err = steal_new(replay);
    if (err == ERR_OK && code->spec.placement == PLACE_STALE)
        err = stale_new(replay);
    if (err != ERR_OK)
        replay_close(replay);
    return err;
}

void replay_close(struct replay *replay)
{
    stale_free(replay->stale);
    steal_free(replay->steal);
    mem_free(replay->work);
    mem_free(replay->work_first);
    mem_free(replay->free_at);
    mem_free(replay->arrivals);
    mem_free(replay->piece_in);
    mem_free(replay->slot_in);
    mem_free(replay->todo);
    mem_free(replay->slots);
    *replay = (struct replay){0};
}

/* --- a step -------------------------------------------------------------- */

bool replay_enough(const struct replay *replay, uint32_t pieces_in,
                   uint32_t slots_in, bool late)
{
    const struct code *code = replay->code;
    const struct code_progress progress = {.piece_in = replay->piece_in,
                                           .slot_in = replay->slot_in,
                                           .pieces_in = pieces_in,
                                           .slots_in = slots_in,
                                           .late = late};

    return (code->carrier == CARRIER_TALLY && pieces_in == code->piece_count) ||
           code_enough(code, &progress);
}

/* One slot's way through a step: advances to the end of a piece's computing,
 * then to its answer. */
struct walk {
    const struct replay *replay;
    const struct delay_draw *draw;
    uint32_t index, end;    /* Of replay->work. */
    uint32_t coded_left;    /* Pieces of its coded answer still to come. */
    bool delayed;           /* The additive delay is spent. */
    bool answers;           /* The piece at hand ends with an answer. */
    time_us began;          /* The piece at hand. */
    time_us computed, sent; /* Its computing, its delay ended. */
};

static struct walk walk_begin(const struct replay *replay, uint32_t slot,
                              const struct delay_draw *draw)
{
    struct walk walk = {.replay = replay,
                        .draw = draw,
                        .index = replay->work_first[slot],
                        .end = replay->work_first[slot + 1],
                        .sent = replay->free_at[slot]};

    for (uint32_t i = walk.index; i < walk.end; i++)
        walk.coded_left += !code_plain(replay->code, replay->work[i]);
    return walk;
}

/* The next piece; false after the last.  The additive delay comes before the
 * first send. */
static bool walk_on(struct walk *walk)
{
    const struct replay *replay = walk->replay;
    time_us compute_us;
    uint32_t id, chunks;
    bool coded;

    if (walk->index == walk->end)
        return false;
    id = replay->work[walk->index];
    coded = !code_plain(replay->code, id);
    walk->answers = !coded || walk->coded_left == 1;
    chunks = piece_chunks(replay->code, id);
    compute_us = replay->chunk_us * chunks;
    walk->began = walk->sent;
    walk->computed = walk->began + compute_us;
    walk->sent =
        walk->computed + replay_hold(replay, walk->draw, chunks, compute_us,
                                     walk->answers && !walk->delayed);
    walk->delayed |= walk->answers;
    walk->coded_left -= coded;
    walk->index++;
    return true;
}

static uint32_t list_arrivals(struct replay *replay,
                              const struct delay_draw *draws)
{
    uint32_t count = 0;

    for (uint32_t slot = 0; slot < replay->code->slots; slot++) {
        struct walk walk = walk_begin(replay, slot, &draws[slot]);

        while (walk_on(&walk)) {
            if (walk.answers)
                replay->arrivals[count++] =
                    (struct arrival){walk.sent, slot, walk.index - 1};
        }
    }
    return count;
}

static int sooner(const void *a, const void *b)
{
    const struct arrival *one = a;
    const struct arrival *two = b;

    if (one->at != two->at)
        return one->at < two->at ? -1 : 1;
    return (one->index > two->index) - (one->index < two->index);
}

struct counts {
    uint32_t pieces, slots, chunks;
};

static void count_in(struct replay *replay, const struct arrival *arrival,
                     struct counts *counts)
{
    const struct code *code = replay->code;
    const uint32_t id = replay->work[arrival->index];
    const bool plain = code_plain(code, id);

    if (plain && !replay->piece_in[id]) {
        replay->piece_in[id] = true;
        counts->pieces++;
        counts->chunks += piece_chunks(code, id);
    }
    if (plain &&
        (code->carrier == CARRIER_F64 || --replay->todo[arrival->slot] > 0))
        return;
    replay->slot_in[arrival->slot] = true;
    counts->slots++;
    replay->slots[arrival->slot].answered_us = arrival->at;
}

static struct counts clear(struct replay *replay)
{
    const struct code *code = replay->code;
    struct counts counts = {0};

    memset(replay->piece_in, 0, code->piece_count * sizeof *replay->piece_in);
    for (uint32_t slot = 0; slot < code->slots; slot++) {
        replay->todo[slot] =
            replay->work_first[slot + 1] - replay->work_first[slot];
        /* Nothing to do is done. */
        replay->slot_in[slot] = !code->busy[slot];
        counts.slots += replay->slot_in[slot];
        replay->slots[slot] = (struct replay_slot){
            .began_us = replay->free_at[slot], .answered_us = -1};
    }
    return counts;
}

/* The step ended at `now`: what has the slot done, and when is it free? */
static uint64_t call_off(struct replay *replay, uint32_t slot,
                         const struct delay_draw *draw, time_us now)
{
    struct walk walk = walk_begin(replay, slot, draw);
    time_us free_at = now;
    time_us computed = replay->free_at[slot];
    uint64_t chunks = 0;

    while (walk_on(&walk) && walk.began <= now) {
        if (walk.computed > now) {
            free_at = replay_called_off(walk.began, now, replay->chunk_us);
            chunks += (uint64_t)((free_at - walk.began) / replay->chunk_us);
            computed = free_at;
            break;
        }
        chunks += piece_chunks(replay->code, replay->work[walk.index - 1]);
        computed = walk.computed;
        if (walk.sent > now)
            break;
    }
    /* It may not even have begun: still busy with the step before. */
    if (replay->free_at[slot] > free_at)
        free_at = replay->free_at[slot];
    replay->slots[slot].computed_us = computed;
    replay->free_at[slot] = free_at - now;
    return chunks;
}

/* When the code's deadline comes; TIME_NEVER if it has none. */
time_us replay_deadline(const struct code *code)
{
    return code->spec.stop == STOP_DEADLINE
               ? (time_us)(code->spec.deadline_s * 1e6)
               : TIME_NEVER;
}

/* Count answers in until the code has enough; returns when that was. */
static time_us collect(struct replay *replay, uint32_t count,
                       struct counts *counts, uint32_t *answers)
{
    const time_us deadline = replay_deadline(replay->code);
    time_us now = 0;
    uint32_t next = 0;
    bool late = false;

    while (next < count) {
        const bool waits = !late && replay->arrivals[next].at > deadline;

        late |= waits;
        if (waits) {
            now = deadline;
        } else {
            count_in(replay, &replay->arrivals[next], counts);
            now = replay->arrivals[next++].at;
        }
        if (replay_enough(replay, counts->pieces, counts->slots, late))
            break;
    }
    *answers = next;
    return now;
}

static uint32_t covered(const struct replay *replay,
                        const struct counts *counts)
{
    const struct code *code = replay->code;

    if (code->carrier == CARRIER_TALLY)
        return counts->chunks;
    return code->exactness == EXACT_NUMERIC
               ? code->chunks
               : code_covered(code, replay->piece_in, replay->slot_in);
}

static void chain_run(struct replay *replay, const struct delay_draw *draws,
                      struct replay_step *step)
{
    const struct code *code = replay->code;
    struct counts counts = clear(replay);
    const uint32_t count = list_arrivals(replay, draws);
    uint32_t answers = 0;
    time_us now;

    qsort(replay->arrivals, count, sizeof *replay->arrivals, sooner);
    now = collect(replay, count, &counts, &answers);
    *step = (struct replay_step){.took_us = now,
                                 .chunks_in = covered(replay, &counts),
                                 .answers = answers};
    for (uint32_t slot = 0; slot < code->slots; slot++)
        step->chunks_done += call_off(replay, slot, &draws[slot], now);
}

/* Slots are told of the second product when the first is known. */
static void products_run(struct replay *replay, const struct delay_draw *draws,
                         struct replay_step *step)
{
    struct replay_step back;

    chain_run(replay, draws, step);
    chain_run(replay, draws, &back);
    for (uint32_t slot = 0; slot < replay->code->slots; slot++) {
        struct replay_slot *at = &replay->slots[slot];

        at->began_us += step->took_us;
        at->computed_us += step->took_us;
        at->answered_us += at->answered_us < 0 ? 0 : step->took_us;
    }
    step->took_us += back.took_us;
    step->answers += back.answers;
    step->chunks_done = (step->chunks_done + back.chunks_done) / 2;
}

enum err replay_run(struct replay *replay, const struct delay_draw *draws,
                    struct replay_step *step)
{
    enum err err = ERR_OK;

    if (replay->steal != NULL)
        err = steal_run(replay, draws, step);
    else if (replay->stale != NULL)
        stale_run(replay, draws, step);
    else if (code_spec_products(&replay->code->spec))
        products_run(replay, draws, step);
    else
        chain_run(replay, draws, step);
    if (err == ERR_OK)
        step->stalled = step->took_us > REPLAY_STALLED_US;
    return err;
}
