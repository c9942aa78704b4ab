/*
 * The user's vector is lent to links, and nobody reads it once he has it back.
 */
#include "node/group/vectors.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "math/exact/exact.h"

enum { NUMBERS = 96 };

static struct sum_action slice_of(uint32_t slot, uint32_t slots)
{
    return (struct sum_action){
        .kind = SUM_ACTION_SEND,
        .slot = slot,
        .slots = slots,
        .call = 1,
        .shape = {.type = EXACT_I64, .count = NUMBERS},
        .msg = {.kind = SUM_SLICE},
    };
}

/* A view of three becomes one of two while a link to the one who is out still
 * has the first slice: what it sends at last must not be what the user did with
 * his memory since. */
static void test_cut_again(void **state)
{
    struct vectors vectors = {0};
    const struct sum_action before = slice_of(0, 3);
    const struct sum_action after = slice_of(0, 2);
    int64_t own[NUMBERS];
    int64_t sent[NUMBERS];
    struct blob *held;
    size_t size, longer;

    (void)state;
    for (int64_t i = 0; i < NUMBERS; i++)
        own[i] = 100 + i;
    memcpy(sent, own, sizeof sent);
    held = blob_hold(vectors_cut(&vectors, &before, own, &size));
    assert_in_range(size, 1, sizeof own / 2 - 1);
    assert_ptr_equal(held->bytes, own);
    assert_ptr_equal(vectors_cut(&vectors, &after, own, &longer)->bytes, own);
    assert_in_range(longer, size + 1, sizeof own);
    assert_true(vectors_settle(&vectors, true));
    memset(own, 0, sizeof own);
    assert_memory_equal(held->bytes, sent, size);
    blob_drop(held);
    vectors_close(&vectors);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_cut_again),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
