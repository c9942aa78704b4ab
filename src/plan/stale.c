/*
 * stale.c - steps that take late answers: core/star/stale.c without its
 * messages.
 *
 * Nobody is called off, so that a slot's answer has one time, whatever the
 * steps do meanwhile; only where it counts depends on them.  Answers come out
 * of a heap; between two steps all times are moved so that a step opens at 0.
 */
#include <string.h>

#include "base/check.h"
#include "base/mem.h"
#include "plan/replay_parts.h"

struct late {
    bool owes;     /* It is at work; else it waits for newer weights. */
    bool early;    /* It answered as the last step ended: counts in this one. */
    uint32_t step; /* Whose weights it has or had. */
    time_us began; /* From the opening of the step at hand; ... */
    time_us computed, sent; /* ... before it, if negative. */
    uint64_t order;         /* Of answers at the same time. */
    uint32_t counted;       /* Chunks, in chunks_done. */
};

struct stale {
    struct late *slot;
    uint32_t *heap; /* Slots that owe, the next to answer first. */
    uint32_t heap_count;
    uint32_t *age; /* Of the answers counted in. */
    uint32_t step; /* At hand. */
    uint64_t begun;
    uint32_t slots_in;
};

enum err stale_new(struct replay *replay)
{
    const uint32_t slots = replay->code->slots;
    struct stale *stale = mem_new(1, sizeof *stale);

    if (stale == NULL)
        return ERR_NOMEM;
    replay->stale = stale;
    stale->slot = mem_new(slots, sizeof *stale->slot);
    stale->heap = mem_new(slots, sizeof *stale->heap);
    stale->age = mem_new(slots, sizeof *stale->age);
    return stale->slot == NULL || stale->heap == NULL || stale->age == NULL
               ? ERR_NOMEM
               : ERR_OK;
}

void stale_free(struct stale *stale)
{
    if (stale == NULL)
        return;
    mem_free(stale->slot);
    mem_free(stale->heap);
    mem_free(stale->age);
    mem_free(stale);
}

/* --- the heap ------------------------------------------------------------ */

/* When the event behind the answer was planned: of two at the same time, the
 * core handles the one first that was planned first. */
static time_us planned(const struct late *late)
{
    return late->sent > late->computed ? late->computed : late->began;
}

static bool before(const struct stale *stale, uint32_t a, uint32_t b)
{
    const struct late *one = &stale->slot[a];
    const struct late *two = &stale->slot[b];

    if (one->sent != two->sent)
        return one->sent < two->sent;
    if (planned(one) != planned(two))
        return planned(one) < planned(two);
    return one->order < two->order;
}

static void push(struct stale *stale, uint32_t slot)
{
    uint32_t at = stale->heap_count++;

    while (at > 0 && before(stale, slot, stale->heap[(at - 1) / 2])) {
        stale->heap[at] = stale->heap[(at - 1) / 2];
        at = (at - 1) / 2;
    }
    stale->heap[at] = slot;
}

static uint32_t pop(struct stale *stale)
{
    const uint32_t first = stale->heap[0];
    const uint32_t last = stale->heap[--stale->heap_count];
    uint32_t at = 0;

    for (;;) {
        uint32_t child = 2 * at + 1;

        if (child >= stale->heap_count)
            break;
        if (child + 1 < stale->heap_count &&
            before(stale, stale->heap[child + 1], stale->heap[child]))
            child++;
        if (!before(stale, stale->heap[child], last))
            break;
        stale->heap[at] = stale->heap[child];
        at = child;
    }
    stale->heap[at] = last;
    return first;
}

/* --- a step -------------------------------------------------------------- */

static uint32_t chunks_of(const struct replay *replay, uint32_t slot)
{
    uint32_t chunks = 0;

    for (uint32_t i = replay->work_first[slot];
         i < replay->work_first[slot + 1]; i++)
        chunks += piece_chunks(replay->code, replay->work[i]);
    return chunks;
}

/* The slot is sent the weights of the step at hand. */
static void begin(struct replay *replay, uint32_t slot,
                  const struct delay_draw *draw, time_us now)
{
    struct stale *stale = replay->stale;
    struct late *late = &stale->slot[slot];
    const uint32_t chunks = chunks_of(replay, slot);
    const time_us compute_us = replay->chunk_us * chunks;

    late->owes = true;
    late->step = stale->step;
    late->began = now;
    late->computed = now + compute_us;
    late->sent =
        late->computed + replay_hold(replay, draw, chunks, compute_us, true);
    late->order = stale->begun++;
    late->counted = 0;
    push(stale, slot);
}

static void count_in(struct replay *replay, uint32_t slot)
{
    struct stale *stale = replay->stale;

    stale->slots_in += !replay->slot_in[slot];
    replay->slot_in[slot] = true;
    stale->age[slot] = stale->step - stale->slot[slot].step;
}

/* Chunks of the slot's work done by `now` and not counted before. */
static uint32_t newly_done(const struct replay *replay, uint32_t slot,
                           time_us now)
{
    struct late *late = &replay->stale->slot[slot];
    const uint32_t all = chunks_of(replay, slot);
    const uint32_t done =
        now >= late->computed
            ? all
            : (uint32_t)((now - late->began) / replay->chunk_us);
    const uint32_t news = done - late->counted;

    late->counted = done;
    return news;
}

static bool may_end(const struct replay *replay)
{
    const struct stale *stale = replay->stale;

    for (uint32_t i = 0; i < stale->heap_count; i++) {
        if (stale->step + 1 - stale->slot[stale->heap[i]].step >
            replay->code->spec.staleness)
            return false;
    }
    return true;
}

static bool ends(const struct replay *replay)
{
    return replay_enough(replay, 0, replay->stale->slots_in, false) &&
           may_end(replay);
}

static void open_step(struct replay *replay, const struct delay_draw *draws)
{
    struct stale *stale = replay->stale;
    const uint32_t slots = replay->code->slots;
    const uint32_t first = code_first_slot(replay->code, stale->step);

    stale->slots_in = 0;
    for (uint32_t i = 0; i < slots; i++) {
        const uint32_t slot = (first + i) % slots;
        struct late *late = &stale->slot[slot];

        replay->slot_in[slot] = false;
        if (!replay->code->busy[slot] || late->early)
            count_in(replay, slot);
        late->early = false;
        if (replay->code->busy[slot] && !late->owes)
            begin(replay, slot, &draws[slot], 0);
        replay->slots[slot] = (struct replay_slot){
            .began_us = late->began > 0 ? late->began : 0, .answered_us = -1};
    }
}

/* The next answer; returns when it came. */
static time_us take(struct replay *replay, struct replay_step *step)
{
    struct stale *stale = replay->stale;
    const uint32_t slot = pop(stale);
    struct late *late = &stale->slot[slot];

    step->chunks_done += newly_done(replay, slot, late->sent);
    step->answers++;
    late->owes = false;
    replay->slots[slot].answered_us = late->sent;
    return late->sent;
}

/* Answers until the step ends; returns when that is. */
static time_us collect(struct replay *replay, const struct delay_draw *draws,
                       struct replay_step *step)
{
    struct stale *stale = replay->stale;
    time_us now = 0;

    while (!ends(replay)) {
        uint32_t slot;

        CHECK(stale->heap_count > 0);
        slot = stale->heap[0];
        now = take(replay, step);
        count_in(replay, slot);
        if (stale->slot[slot].step < stale->step && !ends(replay))
            begin(replay, slot, &draws[slot], now);
    }
    return now;
}

/* Answers of the last moment find the step over, and count in the next. */
static void take_early(struct replay *replay, time_us now,
                       struct replay_step *step)
{
    struct stale *stale = replay->stale;

    while (stale->heap_count > 0 && stale->slot[stale->heap[0]].sent == now) {
        stale->slot[stale->heap[0]].early = true;
        (void)take(replay, step);
    }
}

static void note_ages(const struct replay *replay, struct replay_step *step)
{
    const struct stale *stale = replay->stale;

    for (uint32_t slot = 0; slot < replay->code->slots; slot++) {
        if (!replay->slot_in[slot] || !replay->code->busy[slot])
            continue;
        step->aged++;
        step->age_sum += stale->age[slot];
        if (stale->age[slot] > step->age_max)
            step->age_max = stale->age[slot];
    }
}

/* The next step opens at `now`, which is its 0. */
static void shift(struct replay *replay, time_us now, struct replay_step *step)
{
    struct stale *stale = replay->stale;

    for (uint32_t slot = 0; slot < replay->code->slots; slot++) {
        struct late *late = &stale->slot[slot];
        const time_us computed = late->computed < now ? late->computed : now;

        if (late->owes)
            step->chunks_done += newly_done(replay, slot, now);
        replay->slots[slot].computed_us = computed > 0 ? computed : 0;
        late->began -= now;
        late->computed -= now;
        late->sent -= now;
    }
    stale->step++;
}

void stale_run(struct replay *replay, const struct delay_draw *draws,
               struct replay_step *step)
{
    *step = (struct replay_step){0};
    open_step(replay, draws);
    step->took_us = collect(replay, draws, step);
    step->chunks_in =
        code_covered(replay->code, replay->piece_in, replay->slot_in);
    note_ages(replay, step);
    take_early(replay, step->took_us, step);
    shift(replay, step->took_us, step);
}
