/*
 * Messages between owners of private data and the coordinator, to bytes and
 * back: every shorter prefix is refused, what no writer writes is refused, and
 * damaged bytes give a message that is written the same way, or a refusal.
 */
#include "wire/roll_codec.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/rng.h"
#include "wire/sample_msg.h"

enum { SIZE = 1024, DIMS = SAMPLE_ROLL_DIMS, DAMAGES = 20000 };

static void test_round_trip(void **state)
{
    (void)state;
    for (int kind = ROLL_OFFER; kind <= ROLL_PARTS; kind++) {
        const struct roll_msg msg = sample_roll((enum roll_kind)kind);
        uint8_t bytes[SIZE], again[SIZE];
        struct roll_msg read = {0};
        const size_t size = roll_codec_encode(&msg, bytes);

        assert_true(roll_codec_is(bytes, size));
        assert_true(size <= roll_codec_bound(&msg));
        assert_true(roll_codec_bound(&msg) <= roll_codec_max(DIMS));
        assert_int_equal(roll_codec_decode(bytes, size, &read), ERR_OK);
        assert_int_equal(read.kind, msg.kind);
        assert_int_equal(roll_codec_encode(&read, again), size);
        assert_memory_equal(bytes, again, size);
        for (size_t cut = 0; cut < size; cut++)
            assert_int_equal(roll_codec_decode(bytes, cut, &read), ERR_FORMAT);
        bytes[size] = 0;
        assert_int_equal(roll_codec_decode(bytes, size + 1, &read), ERR_FORMAT);
    }
}

static enum err recode(const struct roll_msg *msg)
{
    uint8_t bytes[SIZE];
    struct roll_msg read;

    return roll_codec_decode(bytes, roll_codec_encode(msg, bytes), &read);
}

/* Labels out of order, sizes below zero, chunks that are not there. */
static void test_nonsense(void **state)
{
    static const double backwards[] = {1, 1};
    static const double negative[DIMS] = {-1};
    static const int64_t below[3 * DIMS] = {-1};
    static const int16_t beyond[3 * DIMS] = {1023};
    struct roll_msg msg = sample_roll(ROLL_OFFER);

    (void)state;
    msg.offer.label_count = 2;
    msg.offer.labels = (const uint8_t *)backwards;
    assert_int_equal(recode(&msg), ERR_FORMAT);
    msg = sample_roll(ROLL_OFFER);
    msg.offer.rows = 0;
    assert_int_equal(recode(&msg), ERR_FORMAT);
    msg = sample_roll(ROLL_OFFER);
    msg.offer.height = msg.offer.cols + 1; /* An image of more columns. */
    msg.offer.width = msg.offer.channels = 1;
    assert_int_equal(recode(&msg), ERR_FORMAT);
    msg = sample_roll(ROLL_OFFER);
    msg.offer.least = 1;
    assert_int_equal(recode(&msg), ERR_FORMAT);
    msg = sample_roll(ROLL_SCHEMA);
    msg.schema.end = 6;
    assert_int_equal(recode(&msg), ERR_FORMAT);
    msg = sample_roll(ROLL_SCHEMA);
    msg.schema.first_row = msg.schema.rows;
    assert_int_equal(recode(&msg), ERR_FORMAT);
    msg = sample_roll(ROLL_SIZES);
    msg.sizes.x_max = (const uint8_t *)negative;
    assert_int_equal(recode(&msg), ERR_FORMAT);
    msg = sample_roll(ROLL_SUMS);
    msg.sums.sum = (const uint8_t *)below;
    assert_int_equal(recode(&msg), ERR_FORMAT);
    msg = sample_roll(ROLL_SCALES);
    msg.scales.scale = (const uint8_t *)beyond;
    assert_int_equal(recode(&msg), ERR_FORMAT);
}

static void test_damage(void **state)
{
    struct rng rng;

    (void)state;
    rng_init(&rng, 5);
    for (int i = 0; i < DAMAGES; i++) {
        const struct roll_msg msg =
            sample_roll((enum roll_kind)(ROLL_OFFER + i % 8));
        uint8_t bytes[SIZE], again[SIZE * 20];
        struct roll_msg read;
        const size_t size = roll_codec_encode(&msg, bytes);

        for (uint64_t k = rng_below(&rng, 4); k < 4; k++)
            bytes[rng_below(&rng, size)] = (uint8_t)rng_next(&rng);
        if (roll_codec_decode(bytes, size, &read) != ERR_OK)
            continue;
        assert_int_equal(roll_codec_encode(&read, again), size);
        assert_memory_equal(bytes, again, size);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_round_trip),
        cmocka_unit_test(test_nonsense),
        cmocka_unit_test(test_damage),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
