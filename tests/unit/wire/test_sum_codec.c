/*
 * Messages of a group to bytes and back; every shorter prefix is refused, and
 * random bytes give a message or a refusal, never more than was sent.
 */
#include "wire/sum_codec.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/rng.h"
#include "wire/sample_msg.h"

enum { SIZE = 1 << 15 };

static struct sum_codec_room room;

static void test_round_trip(void **state)
{
    const double values[2] = {1, -0.0};

    (void)state;
    for (int kind = SUM_HELLO; kind <= SUM_HAVE; kind++) {
        const struct sum_msg msg = sample_sum((enum sum_kind)kind, values);
        static uint8_t bytes[SIZE], again[SIZE];
        struct sum_msg read = {0};
        const size_t size = sum_codec_encode(&msg, bytes);

        assert_true(size <= sum_codec_bound(&msg));
        assert_int_equal(sum_codec_decode(bytes, size, &room, &read), ERR_OK);
        assert_int_equal(read.kind, msg.kind);
        assert_int_equal(sum_codec_encode(&read, again), size);
        assert_memory_equal(bytes, again, size);
        for (size_t cut = 0; cut < size; cut++)
            assert_int_equal(sum_codec_decode(bytes, cut, &room, &read),
                             ERR_FORMAT);
        bytes[size] = 0;
        assert_int_equal(sum_codec_decode(bytes, size + 1, &room, &read),
                         ERR_FORMAT);
    }
}

static void refuse(const struct sum_msg *msg)
{
    uint8_t bytes[SIZE];
    struct sum_msg read;

    assert_int_equal(
        sum_codec_decode(bytes, sum_codec_encode(msg, bytes), &room, &read),
        ERR_FORMAT);
}

/* A type there is not, and views that cannot be. */
static void test_lies(void **state)
{
    const double values[2] = {1, 2};
    struct sum_msg msg = sample_sum(SUM_SLICE, values);
    struct sum_view view = *sample_sum(SUM_VIEW, values).view;

    (void)state;
    msg.shape = (struct sum_shape){3, 2};
    refuse(&msg);
    msg = sample_sum(SUM_VIEW, values);
    msg.view = &view;
    view.set = 4;
    refuse(&msg);
    view.set = 3;
    view.members_max = 1;
    refuse(&msg);
    view.members_max = SUM_SEATS + 1;
    refuse(&msg);
    view.members_max = 2;
    view.size_max = SUM_BYTES_MAX + 1;
    refuse(&msg);
    view.size_max = 1;
    view.seats[1].name[0] = ' ';
    refuse(&msg);
}

static void test_random_bytes(void **state)
{
    struct rng rng;

    (void)state;
    rng_init(&rng, 3);
    for (int round = 0; round < 200000; round++) {
        uint8_t bytes[64];
        const size_t size = (size_t)rng_below(&rng, sizeof bytes);
        struct sum_msg read = {0};

        for (size_t i = 0; i < size; i++)
            bytes[i] = (uint8_t)rng_below(&rng, i == 0 ? 16 : 256);
        if (sum_codec_decode(bytes, size, &room, &read) == ERR_OK)
            assert_true(read.size <= size);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_round_trip),
        cmocka_unit_test(test_lies),
        cmocka_unit_test(test_random_bytes),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
