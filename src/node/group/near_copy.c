/*
 * near_copy.c - numbers into memory that others read, and back.
 */
#include <string.h>

#include "base/check.h"
#include "math/vec.h"
#include "node/group/near_parts.h"
#include "os/clock.h"

#define PAGE 4096u
#define LINE 64u
/* From here on nothing is left in a cache until it is read: what is written
 * need not be fetched first. */
#define PAST_BYTES (32u << 20)
/* Who reads what was written past the caches waits for memory, where it could
 * have had it from a cache.  So how much is to be gained depends on which cache
 * holds it: somebody's own, one of all, none. */
#define SMALL_BYTES   (1u << 20)
#define SMALL_PERCENT 300u
#define HELD_BYTES    (8u << 20)
#define HELD_PERCENT  200u
#define LONG_PERCENT  125u
#define TRIAL_MAX     (128u << 10)

static void write_past(uint8_t *to, const uint8_t *from, size_t size)
{
    const size_t head = (LINE - (uintptr_t)to % LINE) % LINE;
    const uint8_t *source = from + head;
    uint8_t *place = to + head;
    size_t numbers;

    if (size < PAGE || (uintptr_t)source % sizeof(double) != 0) {
        memcpy(to, from, size);
        return;
    }
    numbers = (size - head) / sizeof(double);
    memcpy(to, from, head);
    vec_stream((const double *)(const void *)source, numbers,
               (double *)(void *)place);
    memcpy(place + numbers * sizeof(double), source + numbers * sizeof(double),
           size - head - numbers * sizeof(double));
}

static void write_as(bool past, uint8_t *to, const uint8_t *from, size_t size)
{
    if (past)
        write_past(to, from, size);
    else
        memcpy(to, from, size);
}

void near_copy(void *to, const void *from, size_t size, size_t whole)
{
    write_as(whole >= PAST_BYTES, to, from, size);
}

_Static_assert((uint64_t)NEAR_TIMED << NEAR_GAITS == PAST_BYTES,
               "what is longer goes past the caches");

static bool is_timed(size_t size)
{
    return size >= NEAR_TIMED && size < PAST_BYTES;
}

/* By size, since what caches hold of it is what matters. */
static struct gait *gait_of(struct near *near, enum near_kind kind, size_t size)
{
    uint32_t size_class = 0;

    while (size >= (size_t)NEAR_TIMED << (size_class + 1))
        size_class++;
    CHECK(size_class < NEAR_GAITS);
    return &near->gaits[kind][size_class];
}

static struct near_share begin(struct near *near, enum near_kind kind,
                               size_t size)
{
    struct near_share share = {
        .past = size >= PAST_BYTES,
        .percent = size < SMALL_BYTES  ? SMALL_PERCENT
                   : size < HELD_BYTES ? HELD_PERCENT
                                       : LONG_PERCENT,
    };

    if (!is_timed(size))
        return share;
    share.gait = gait_of(near, kind, size);
    share.past = share.gait->past;
    if (gait_tries(share.gait)) {
        share.trials = 2;
        share.turn = near->turns++;
    }
    return share;
}

struct near_share near_share(struct near *near, size_t size)
{
    return begin(near, NEAR_SLICE, size);
}

void near_put(struct near_share *share, uint8_t *to, const uint8_t *from,
              size_t size)
{
    /* The first of two may be the slower one whatever the way. */
    const bool past = ((share->trials + share->turn) & 1) != 0;
    uint64_t began;

    if (share->trials == 0) {
        write_as(share->past, to, from, size);
        return;
    }
    began = clock_now_ns();
    write_as(past, to, from, size);
    share->took[past] = clock_now_ns() - began;
    share->trials--;
    if (share->trials == 0)
        gait_learn(share->gait, share->took[false], share->took[true],
                   share->percent);
}

static size_t trial_of(size_t size)
{
    const size_t part = size / 16 / PAGE * PAGE;

    if (part > TRIAL_MAX)
        return TRIAL_MAX;
    return part < PAGE ? PAGE : part;
}

/* The slices of a vector are read by one member each, near or far, a slice that
 * was added by all the others: its trials tell more.  But of long ones, which
 * no cache holds, only what the writing takes matters. */
static struct near_share begin_vector(struct near *near, size_t size,
                                      uint32_t members)
{
    const size_t slice = size / members;

    if (members > 2 && size < HELD_BYTES && is_timed(slice))
        return (struct near_share){.past =
                                       gait_of(near, NEAR_SLICE, slice)->past};
    return begin(near, NEAR_VECTOR, size);
}

/* Trials are here and there in it, lest they be of the same lines always. */
void near_put_all(struct near *near, uint8_t *to, const uint8_t *from,
                  size_t size, uint32_t members)
{
    struct near_share share = begin_vector(near, size, members);
    const size_t trial = trial_of(size);
    size_t done = 0;

    if (share.trials > 0) {
        done = (size - 2 * trial) / 4 * (share.turn / 2 % 5) / PAGE * PAGE;
        write_as(share.past, to, from, done);
    }
    while (share.trials > 0) {
        near_put(&share, to + done, from + done, trial);
        done += trial;
    }
    near_put(&share, to + done, from + done, size - done);
}
