/*
 * Sums computed in a box come out as the plain message; boxes that someone else
 * holds, as a link does while it sends, are not used again.
 */
#include "node/host/outbox.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#include "base/mem.h"

#define DIMS 3000u

static struct msg tally_of(const int64_t *sum)
{
    return (struct msg){
        .kind = MSG_TALLY,
        .tally = {.key = {.step = 3}, .piece = 1, .dims = DIMS, .sum = sum}};
}

static int64_t *open_box(struct outbox *outbox, uint32_t most)
{
    int64_t *sum;

    assert_true(outbox_open(outbox, most, &sum));
    return sum;
}

static void test_a_box_holds_the_plain_message(void **state)
{
    struct outbox outbox;
    struct envelope plain = {0}, packed = {0};
    struct msg msg;
    int64_t *sum, *copy = mem_new(DIMS, sizeof *copy);

    (void)state;
    outbox_init(&outbox, DIMS);
    sum = open_box(&outbox, 2);
    assert_int_equal((uintptr_t)sum % MEM_LINE, 0);
    for (uint32_t j = 0; j < DIMS; j++)
        copy[j] = sum[j] = ((int64_t)j << 50) - j;
    msg = tally_of(copy);
    assert_false(outbox_owns(&outbox, &msg));
    assert_true(envelope_fill(&plain, &msg));
    msg = tally_of(sum);
    assert_true(outbox_owns(&outbox, &msg));
    assert_true(outbox_fill(&outbox, &packed, &msg));
    assert_int_equal(packed.head_size + packed.tail_size, plain.tail_size);
    assert_memory_equal(packed.room->bytes, plain.tail->bytes,
                        packed.head_size);
    assert_memory_equal(packed.tail->bytes,
                        plain.tail->bytes + packed.head_size, packed.tail_size);
    envelope_close(&plain);
    envelope_close(&packed);
    outbox_close(&outbox);
    mem_free(copy);
}

/* As a link does with what is in the box. */
static struct blob *send(struct outbox *outbox, const int64_t *sum)
{
    struct envelope envelope = {0};
    const struct msg msg = tally_of(sum);
    struct blob *held;

    assert_true(outbox_fill(outbox, &envelope, &msg));
    held = blob_hold(envelope.tail);
    envelope_close(&envelope);
    return held;
}

static void test_a_box_that_is_sent_is_taken(void **state)
{
    struct outbox outbox;
    struct blob *first, *second;
    int64_t *sum, *other;

    (void)state;
    outbox_init(&outbox, DIMS);
    sum = open_box(&outbox, 2);
    first = send(&outbox, sum);
    other = open_box(&outbox, 2);
    assert_ptr_not_equal(other, sum);
    second = send(&outbox, other);
    assert_null(open_box(&outbox, 2));
    blob_drop(first);
    assert_ptr_equal(open_box(&outbox, 2), sum);
    assert_null(open_box(&outbox, 1));
    blob_drop(second);
    assert_non_null(open_box(&outbox, 1));
    outbox_close(&outbox);
}

/* A worker that is short of memory has one box, and frees the other. */
static void test_one_box(void **state)
{
    struct outbox outbox;
    struct blob *held;
    int64_t *sum;

    (void)state;
    outbox_init(&outbox, DIMS);
    sum = open_box(&outbox, 2);
    held = send(&outbox, sum);
    assert_non_null(open_box(&outbox, 2));
    blob_drop(held);
    assert_non_null(open_box(&outbox, 1));
    assert_true((outbox.boxes[0] == NULL) != (outbox.boxes[1] == NULL));
    outbox_close(&outbox);
}

/* What a lost link still sends is not waited for. */
static void test_what_is_abandoned_is_no_box(void **state)
{
    struct outbox outbox;
    struct blob *held;
    int64_t *sum;

    (void)state;
    outbox_init(&outbox, DIMS);
    sum = open_box(&outbox, 1);
    held = send(&outbox, sum);
    assert_null(open_box(&outbox, 1));
    outbox_abandon(&outbox);
    assert_int_equal(held->holders, 1);
    assert_non_null(open_box(&outbox, 1));
    blob_drop(held);
    outbox_close(&outbox);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_box_holds_the_plain_message),
        cmocka_unit_test(test_a_box_that_is_sent_is_taken),
        cmocka_unit_test(test_one_box),
        cmocka_unit_test(test_what_is_abandoned_is_no_box),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
