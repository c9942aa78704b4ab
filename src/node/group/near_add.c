/*
 * near_add.c - the sum of a call that is closed: everyone adds a slice.
 */
#include <string.h>

#include "base/check.h"
#include "node/group/near_parts.h"
#include "os/clock.h"

#define PAGE 4096u
/* Below it whoever is in adds all of it: that is done before another could say
 * that it has added its slice. */
#define ALONE_BYTES (32u << 10)
/* A slice is waited for so long; then it is added here. */
#define SLICE_US (20 * MS_US)
#define LOOK_US  MS_US

struct sum {
    struct near *near;
    const struct table_plan *plan;
    enum exact_type type;
    size_t unit;
    uint32_t slices;
    uint32_t seats[TABLE_SEATS]; /* Who is in, in order. */
    uint32_t own;                /* Which of them; TABLE_SEATS: not in. */
    uint8_t *values;
};

/* Of two slices or more the last is half of the numbers and a line each. */
static uint64_t slice_bytes(uint64_t stride)
{
    return stride / 2 / PAGE * PAGE + 2 * PAGE;
}

uint64_t near_seat_bytes(uint64_t stride)
{
    return 2 * stride + 2 * slice_bytes(stride);
}

static uint64_t vector_at(const struct near *near, uint32_t seat, uint64_t call)
{
    return seat * near_seat_bytes(near->stride) + (call & 1) * near->stride;
}

static uint64_t slice_at(const struct near *near, uint32_t seat, uint64_t call)
{
    return seat * near_seat_bytes(near->stride) + 2 * near->stride +
           (call & 1) * slice_bytes(near->stride);
}

uint8_t *near_vector(const struct near *near, uint32_t seat, uint64_t call)
{
    return segment_bytes(near->segment, vector_at(near, seat, call));
}

enum err near_reserve(struct near *near, uint64_t call, size_t size)
{
    uint64_t *reserved = &near->reserved[call & 1];
    enum err err;

    if (size <= *reserved)
        return ERR_OK;
    err =
        segment_reserve(near->segment, vector_at(near, near->seat, call), size);
    if (err == ERR_OK && size > ALONE_BYTES)
        err = segment_reserve(near->segment, slice_at(near, near->seat, call),
                              size / 2 + PAGE);
    if (err == ERR_OK)
        *reserved = size;
    return err;
}

/* Own numbers are where they came from, too, until the sum is there: nearer
 * than their copy, which is for others. */
static const uint8_t *row_of(const struct sum *sum, uint32_t index,
                             uint64_t from, const uint8_t *out)
{
    const uint8_t *const own = sum->values + from * sum->unit;

    if (index == sum->own && (out != own || sum->type == EXACT_I64))
        return own;
    return near_vector(sum->near, sum->seats[index], sum->plan->call) +
           from * sum->unit;
}

static void add(const struct sum *sum, uint64_t from, uint64_t to, uint8_t *out)
{
    const void *rows[TABLE_SEATS];
    double column[TABLE_SEATS];

    for (uint32_t i = 0; i < sum->slices; i++)
        rows[i] = row_of(sum, i, from, out);
    exact_sum(isa_best(), sum->type, rows, sum->slices, to - from, column, out);
}

static bool is_added(const struct sum *sum, uint32_t index)
{
    const uint64_t call = sum->plan->call;

    return segment_mark(sum->near->segment, sum->seats[index],
                        MARK_EVEN + (uint32_t)(call & 1)) == call;
}

/* Until the slice is there; false: add it yourself. */
static bool await(const struct sum *sum, uint32_t index)
{
    struct near *near = sum->near;
    const time_us until = clock_now_us() + SLICE_US;
    uint32_t bell = segment_bell(near->segment);

    while (!is_added(sum, index)) {
        const time_us now = clock_now_us();

        if (now >= until || !segment_occupied(near->segment, sum->seats[index]))
            return is_added(sum, index);
        (void)segment_wait(near->segment, bell, near->awake,
                           time_sooner(until, now + LOOK_US));
        bell = segment_bell(near->segment);
    }
    return true;
}

static uint8_t *slice_of(const struct sum *sum, uint32_t index)
{
    return segment_bytes(
        sum->near->segment,
        slice_at(sum->near, sum->seats[index], sum->plan->call));
}

static void take(const struct sum *sum, uint32_t index, bool wait)
{
    const uint64_t from = table_slice(sum->plan->count, sum->slices, index);
    const uint64_t to = table_slice(sum->plan->count, sum->slices, index + 1);

    if (is_added(sum, index) || (wait && await(sum, index)))
        near_copy(sum->values + from * sum->unit, slice_of(sum, index),
                  (to - from) * sum->unit, sum->plan->count * sum->unit);
    else
        add(sum, from, to, sum->values + from * sum->unit);
}

/* Our own slice, for all and for us. */
static void contribute(const struct sum *sum, uint32_t index)
{
    struct near *near = sum->near;
    const uint64_t call = sum->plan->call;
    const uint64_t from = table_slice(sum->plan->count, sum->slices, index);
    const uint64_t to = table_slice(sum->plan->count, sum->slices, index + 1);
    const uint64_t each = NEAR_BLOCK / sum->unit;
    struct near_share share = near_share(near, (to - from) * sum->unit);

    for (uint64_t at = from, end; at < to; at = end) {
        end = to - at < each ? to : at + each;
        add(sum, at, end, near->block);
        near_put(&share, slice_of(sum, index) + (at - from) * sum->unit,
                 near->block, (end - at) * sum->unit);
        memcpy(sum->values + at * sum->unit, near->block,
               (end - at) * sum->unit);
    }
    segment_set_mark(near->segment, near->seat,
                     MARK_EVEN + (uint32_t)(call & 1), call);
    segment_ring(near->segment);
}

static void list_seats(struct sum *sum)
{
    sum->own = TABLE_SEATS;
    for (uint32_t seat = 0; seat < TABLE_SEATS; seat++) {
        if ((sum->plan->set >> seat & 1) == 0)
            continue;
        if (seat == sum->near->seat)
            sum->own = sum->slices;
        sum->seats[sum->slices++] = seat;
    }
}

/* Of two vectors of integers one slice less to add is one more to copy. */
static bool adds_alone(const struct sum *sum)
{
    return sum->slices == 1 || (sum->slices == 2 && sum->type == EXACT_I64) ||
           sum->plan->count * sum->unit <= ALONE_BYTES;
}

enum err near_add(struct near *near, const struct table_plan *plan,
                  void *values)
{
    struct sum sum = {.near = near,
                      .plan = plan,
                      .type = (enum exact_type)plan->type,
                      .unit = exact_size((enum exact_type)plan->type),
                      .values = values};
    union near_value value;

    list_seats(&sum);
    CHECK(sum.slices > 0 && sum.unit > 0);
    if (adds_alone(&sum)) {
        add(&sum, 0, plan->count, values);
    } else {
        if (sum.own < TABLE_SEATS)
            contribute(&sum, sum.own);
        for (uint32_t k = 1; k <= sum.slices; k++) {
            const uint32_t index =
                sum.own < TABLE_SEATS ? (sum.own + k) % sum.slices : k - 1;

            if (index != sum.own)
                take(&sum, index, sum.own < TABLE_SEATS);
        }
    }
    (void)near_look(near, &value);
    return table_holds(&value.table, plan->call) ? ERR_OK : ERR_STALE;
}
