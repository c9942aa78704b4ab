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

enum { SIZE = 1024, DIMS = 8, DAMAGES = 20000 };

static const double labels[] = {-1, 0.5, 3};
static const double sizes[DIMS] = {0, 1, 2.5, 3, 4, 5, 6, 1e300};
static const int16_t scales[2 * DIMS] = {-1022, 0, 7, 1022};
static const int64_t sums[2 * DIMS] = {0, 1, INT64_MAX};

static struct roll_msg message(enum roll_kind kind)
{
    struct roll_msg msg = {.kind = kind};

    switch (kind) {
    case ROLL_OFFER:
        msg.offer = (struct roll_offer){.version = MSG_VERSION,
                                        .name = "h1",
                                        .rows = 100,
                                        .cols = 6,
                                        .label_count = 3,
                                        .labels = (const uint8_t *)labels};
        msg.offer.part.bytes[3] = 9;
        break;
    case ROLL_SCHEMA:
        msg.schema = (struct roll_schema){.known = true,
                                          .rows = 300,
                                          .cols = 7,
                                          .intercept = true,
                                          .chunk_rows = 64,
                                          .model = 2,
                                          .first = 1,
                                          .end = 3,
                                          .chunks = 5,
                                          .label_count = 3,
                                          .labels = (const uint8_t *)labels};
        break;
    case ROLL_SIZES:
        msg.sizes = (struct roll_sizes){.label = 1,
                                        .norm = 2,
                                        .weight = 1,
                                        .dims = DIMS,
                                        .x_max = (const uint8_t *)sizes};
        break;
    case ROLL_SCALES:
        msg.scales =
            (struct roll_scales){.dims = DIMS,
                                 .u = (const uint8_t *)scales,
                                 .v = (const uint8_t *)(scales + DIMS)};
        break;
    case ROLL_SUMS:
        msg.sums = (struct roll_sums){.dims = DIMS,
                                      .u = (const uint8_t *)sums,
                                      .v = (const uint8_t *)(sums + DIMS)};
        break;
    case ROLL_NO:
        (void)strcpy(msg.no.reason, "no room");
        break;
    }
    return msg;
}

static void test_round_trip(void **state)
{
    (void)state;
    for (int kind = ROLL_OFFER; kind <= ROLL_NO; kind++) {
        const struct roll_msg msg = message((enum roll_kind)kind);
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
    static const int64_t below[2 * DIMS] = {-1};
    static const int16_t beyond[2 * DIMS] = {1023};
    struct roll_msg msg = message(ROLL_OFFER);

    (void)state;
    msg.offer.label_count = 2;
    msg.offer.labels = (const uint8_t *)backwards;
    assert_int_equal(recode(&msg), ERR_FORMAT);
    msg = message(ROLL_OFFER);
    msg.offer.rows = 0;
    assert_int_equal(recode(&msg), ERR_FORMAT);
    msg = message(ROLL_SCHEMA);
    msg.schema.end = 6;
    assert_int_equal(recode(&msg), ERR_FORMAT);
    msg = message(ROLL_SIZES);
    msg.sizes.x_max = (const uint8_t *)negative;
    assert_int_equal(recode(&msg), ERR_FORMAT);
    msg = message(ROLL_SUMS);
    msg.sums.u = (const uint8_t *)below;
    assert_int_equal(recode(&msg), ERR_FORMAT);
    msg = message(ROLL_SCALES);
    msg.scales.v = (const uint8_t *)beyond;
    assert_int_equal(recode(&msg), ERR_FORMAT);
}

static void test_damage(void **state)
{
    struct rng rng;

    (void)state;
    rng_init(&rng, 5);
    for (int i = 0; i < DAMAGES; i++) {
        const struct roll_msg msg =
            message((enum roll_kind)(ROLL_OFFER + i % 6));
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
