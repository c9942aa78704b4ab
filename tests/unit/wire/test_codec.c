/*
 * Round trips of random messages of every kind, then damage: every truncation
 * must be refused, a flipped bit must give a message or ERR_FORMAT, and what
 * still decodes must encode to the same bytes.  Then the rules one by one.
 */
#include "wire/codec.h"

#include <float.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/chunkset.h"
#include "base/mem.h"
#include "code/preset.h"
#include "core/link/greeting.h"
#include "math/exact/pack.h"
#include "wire/random_msg.h"

#define ROUNDS 200u

struct fixture {
    struct codec_room room;
    struct random_room random;
    struct rng rng;
    uint8_t *bytes;
    uint8_t *again;
    size_t size;
};

static int setup(void **state)
{
    struct fixture *f = mem_new(1, sizeof *f);
    const size_t most = codec_message_max(RANDOM_DIMS, RANDOM_SUM_DIMS,
                                          RANDOM_ITEMS, RANDOM_BYTES);

    assert_non_null(f);
    assert_int_equal(
        codec_room_init(&f->room, RANDOM_DIMS, RANDOM_SUM_DIMS, RANDOM_ITEMS),
        ERR_OK);
    assert_int_equal(codec_room_answers(&f->room, RANDOM_ITEMS), ERR_OK);
    assert_int_equal(codec_room_peers(&f->room), ERR_OK);
    f->bytes = mem_new(most, 1);
    f->again = mem_new(most, 1);
    assert_non_null(f->bytes);
    assert_non_null(f->again);
    rng_init(&f->rng, 7);
    *state = f;
    return 0;
}

static int teardown(void **state)
{
    struct fixture *f = *state;

    codec_room_close(&f->room);
    mem_free(f->bytes);
    mem_free(f->again);
    mem_free(f);
    return 0;
}

static void make(struct fixture *f, enum msg_kind kind, struct msg *msg)
{
    random_msg(&f->rng, kind, &f->random, msg);
    assert_true(codec_bound(msg) <=
                codec_message_max(RANDOM_DIMS, RANDOM_SUM_DIMS, RANDOM_ITEMS,
                                  RANDOM_BYTES));
    f->size = codec_encode(msg, f->bytes);
    assert_true(f->size <= codec_bound(msg));
}

/* Does it decode, and, if it is of this release, to a message of the same
 * bytes?
 */
static bool decodes(struct fixture *f, const uint8_t *data, size_t size)
{
    struct msg msg;

    f->room.scaled = 0; /* Exponents of a scale that is known are not read. */
    if (codec_decode(data, size, &f->room, &msg) != ERR_OK)
        return false;
    if (greeting_foreign(&msg) != NULL)
        return true;
    assert_int_equal(codec_encode(&msg, f->again), size);
    assert_memory_equal(f->again, data, size);
    return true;
}

/* Sums that stay packed are the same message, but nobody has looked inside. */
static void test_packed_sums(void **state)
{
    struct fixture *f = *state;
    struct codec_room room = f->room;

    room.packed = true;
    for (uint32_t i = 0; i < ROUNDS; i++) {
        int64_t sum[RANDOM_SUM_DIMS];
        struct msg sent, got;
        struct unpacking unpacking;

        make(f, MSG_TALLY, &sent);
        assert_int_equal(codec_decode(f->bytes, f->size, &room, &got), ERR_OK);
        assert_null(got.tally.sum);
        assert_int_equal(got.tally.packed.count, sent.tally.dims);
        unpacking = unpack_begin(&got.tally.packed);
        assert_true(unpack_next(&unpacking, sent.tally.dims, sum));
        assert_memory_equal(sum, sent.tally.sum, sent.tally.dims * sizeof *sum);
        assert_int_equal(codec_encode(&got, f->again), f->size);
        assert_memory_equal(f->again, f->bytes, f->size);
        for (size_t size = 0; size < f->size; size += 1 + size / 8)
            assert_int_equal(codec_decode(f->bytes, size, &room, &got),
                             ERR_FORMAT);
    }
}

static void test_every_kind_survives_the_wire(void **state)
{
    struct fixture *f = *state;
    struct msg msg;

    for (uint32_t i = 0; i < ROUNDS; i++) {
        for (int kind = MSG_HELLO; kind <= MSG_LAST; kind++) {
            make(f, (enum msg_kind)kind, &msg);
            assert_true(decodes(f, f->bytes, f->size));
        }
    }
}

static void test_fields_land_where_they_belong(void **state)
{
    struct fixture *f = *state;
    struct msg sent, got;

    make(f, MSG_TALLY, &sent);
    assert_int_equal(codec_decode(f->bytes, f->size, &f->room, &got), ERR_OK);
    assert_true(key_equal(&sent.tally.key, &got.tally.key));
    assert_true(sent.tally.loss == got.tally.loss);
    assert_memory_equal(sent.tally.sum, got.tally.sum,
                        RANDOM_DIMS * sizeof *sent.tally.sum);

    make(f, MSG_ROUND, &sent);
    assert_int_equal(codec_decode(f->bytes, f->size, &f->room, &got), ERR_OK);
    assert_memory_equal(sent.round.weights, got.round.weights,
                        RANDOM_DIMS * sizeof *sent.round.weights);
    assert_memory_equal(sent.round.exponent, got.round.exponent,
                        evaluation_dims(sent.round.kind, RANDOM_DIMS) *
                            sizeof *sent.round.exponent);
    assert_int_equal(sent.round.kind, got.round.kind);
    assert_int_equal(sent.round.soft, got.round.soft);
    assert_int_equal(sent.round.direction == NULL, got.round.direction == NULL);
    if (sent.round.direction != NULL)
        assert_memory_equal(sent.round.direction, got.round.direction,
                            RANDOM_DIMS * sizeof *sent.round.direction);
    assert_int_equal(sent.round.count, got.round.count);

    make(f, MSG_SUM, &sent);
    assert_int_equal(codec_decode(f->bytes, f->size, &f->room, &got), ERR_OK);
    assert_int_equal(sent.leaf, got.leaf);
    assert_int_equal(sent.sum.count, got.sum.count);
    for (uint32_t i = 0; i < sent.sum.count; i++) {
        assert_int_equal(sent.sum.answers[i].leaf, got.sum.answers[i].leaf);
        assert_int_equal(sent.sum.answers[i].piece, got.sum.answers[i].piece);
        assert_int_equal(sent.sum.answers[i].counted,
                         got.sum.answers[i].counted);
    }
    assert_memory_equal(sent.sum.sum, got.sum.sum,
                        RANDOM_DIMS * sizeof *sent.sum.sum);

    make(f, MSG_HELLO, &sent);
    assert_int_equal(codec_decode(f->bytes, f->size, &f->room, &got), ERR_OK);
    assert_string_equal(sent.hello.name, got.hello.name);
    assert_true(digest_equal(&sent.hello.data, &got.hello.data));
}

/* Read in place: the same numbers, and those of a scale that is known are not
 * read again. */
static void test_rounds_are_read_where_they_are(void **state)
{
    struct fixture *f = *state;
    struct msg sent, got;
    struct round_key key;

    for (uint32_t i = 0; i < ROUNDS; i++) {
        make(f, MSG_ROUND, &sent);
        sent.leaf = 0;
        f->size = codec_encode(&sent, f->bytes);
        codec_room_forget(&f->room);
        assert_int_equal(codec_decode_here(f->bytes, f->size, &f->room, &got),
                         ERR_OK);
        assert_true((const uint8_t *)got.round.weights > f->bytes);
        assert_int_equal((uintptr_t)got.round.weights % MEM_LINE, 0);
        assert_int_equal(codec_encode(&got, f->again), f->size);
        assert_int_equal(codec_encode(&sent, f->bytes), f->size);
        assert_memory_equal(f->again, f->bytes, f->size);
        assert_true(codec_peek_round(f->bytes, CODEC_PEEK_BYTES, &key));
        assert_true(key_equal(&key, &sent.round.key));
        assert_false(codec_peek_round(f->bytes, CODEC_PEEK_BYTES - 1, &key));
        if (evaluation_is_product(sent.round.kind))
            continue;
        f->random.exponent[0] = 1023; /* Of which nothing is seen now. */
        f->size = codec_encode(&sent, f->bytes);
        assert_int_equal(codec_decode_here(f->bytes, f->size, &f->room, &got),
                         ERR_OK);
        assert_memory_not_equal(got.round.exponent, f->random.exponent, 2);
        codec_room_forget(&f->room);
        assert_int_equal(codec_decode_here(f->bytes, f->size, &f->room, &got),
                         ERR_FORMAT);
    }
    make(f, MSG_WORK, &sent);
    assert_false(codec_peek_round(f->bytes, f->size, &key));
}

static uint32_t bits_at(const uint8_t *at)
{
    uint32_t bits;

    memcpy(&bits, at, sizeof bits);
    return bits;
}

/* Narrow weights arrive as rounding makes them, whatever they were, and are
 * passed on with the same bytes; nothing else is rounded. */
static void test_narrow_weights_are_floats(void **state)
{
    static const double hard[] = {0.0,
                                  -0.0,
                                  1.0 / 3,
                                  -1.0 - 0x1p-24,  /* A tie: to even. */
                                  1.0 + 0x1.8p-23, /* Up. */
                                  0x1p-149,        /* The least. */
                                  -0x1p-150,       /* A tie: -0. */
                                  0x1.8p-149,      /* Denormal, a tie. */
                                  DBL_MIN,         /* 0. */
                                  FLT_MAX,
                                  0x1.ffffffp127 - 0x1p75, /* Still FLT_MAX. */
                                  -0x1.ffffffp127,         /* Infinite. */
                                  DBL_MAX};
    struct fixture *f = *state;
    double wanted[RANDOM_DIMS];
    struct msg sent, got;
    size_t at, wide;

    do
        make(f, MSG_ROUND, &sent);
    while (sent.round.kind != EVALUATE_GRADIENT);
    sent.leaf = 0;
    sent.round.narrow = false;
    wide = codec_encode(&sent, f->bytes);
    sent.round.narrow = true;
    for (uint32_t j = 0; j < RANDOM_DIMS; j++) {
        f->random.weights[j] = hard[j % (sizeof hard / sizeof *hard)];
        wanted[j] = (double)(float)f->random.weights[j];
    }
    f->size = codec_encode(&sent, f->bytes);
    assert_int_equal(wide - f->size, (RANDOM_DIMS * 8 + 63) / 64 * 64 -
                                         (RANDOM_DIMS * 4 + 63) / 64 * 64);
    at = codec_encode_head(&sent, f->again);
    codec_room_forget(&f->room);
    assert_int_equal(codec_decode(f->bytes, f->size, &f->room, &got), ERR_OK);
    assert_memory_equal(got.round.weights, wanted, sizeof wanted);
    assert_int_equal(codec_encode(&got, f->again), f->size);
    assert_memory_equal(f->again, f->bytes, f->size);
    assert_int_equal(codec_decode_here(f->again, f->size, &f->room, &got),
                     ERR_OK);
    assert_ptr_equal(got.round.weights, f->again + at);
    assert_memory_equal(got.round.weights, wanted, sizeof wanted);

    assert_int_equal(bits_at(f->bytes + at + 4), 0x80000000);
    assert_int_equal(bits_at(f->bytes + at + 11 * 4), 0xff800000);
    for (uint32_t i = 0; i < 4; i++) {
        const uint32_t none[] = {0x7f800001, 0x7fc00000, 0xff800001,
                                 0xffffffff};

        memcpy(f->bytes + at + (RANDOM_DIMS - 1) * 4, &none[i], 4);
        assert_false(decodes(f, f->bytes, f->size));
        assert_int_equal(codec_decode_here(f->bytes, f->size, &f->room, &got),
                         ERR_FORMAT);
    }
    sent.round.kind = EVALUATE_HESSVEC; /* Gradients alone. */
    sent.round.direction = f->random.direction;
    assert_false(decodes(f, f->bytes, codec_encode(&sent, f->bytes)));
}

/* The same of rounds that are copied. */
static void test_a_known_scale_is_not_read_again(void **state)
{
    struct fixture *f = *state;
    struct msg sent, got;

    for (uint32_t i = 0; i < ROUNDS; i++) {
        make(f, MSG_ROUND, &sent);
        if (evaluation_is_product(sent.round.kind))
            continue;
        codec_room_forget(&f->room);
        assert_int_equal(codec_decode(f->bytes, f->size, &f->room, &got),
                         ERR_OK);
        assert_memory_equal(got.round.exponent, f->random.exponent, 2);
        f->random.exponent[0] = 1023;
        f->size = codec_encode(&sent, f->bytes);
        assert_int_equal(codec_decode(f->bytes, f->size, &f->room, &got),
                         ERR_OK);
        assert_memory_not_equal(got.round.exponent, f->random.exponent, 2);
        sent.round.key.scale++;
        f->size = codec_encode(&sent, f->bytes);
        assert_int_equal(codec_decode(f->bytes, f->size, &f->room, &got),
                         ERR_FORMAT);
    }
}

/* Found by fuzzing: a product has no exponents, so that a room without any
 * seemed to know its scale, and whatever followed was skipped. */
static void test_nothing_follows_a_product(void **state)
{
    struct fixture *f = *state;
    struct msg sent, got;

    codec_room_forget(&f->room);
    make(f, MSG_ROUND, &sent);
    sent.leaf = 0;
    sent.round.kind = EVALUATE_SCORES;
    sent.round.narrow = false;
    sent.round.direction = NULL;
    f->size = codec_encode(&sent, f->bytes);
    assert_int_equal(codec_decode_here(f->bytes, f->size, &f->room, &got),
                     ERR_OK);
    f->bytes[f->size] = 0;
    assert_int_equal(codec_decode_here(f->bytes, f->size + 1, &f->room, &got),
                     ERR_FORMAT);
}

/* Whatever lies between head and weights is 0. */
static void test_pads_are_zeros(void **state)
{
    struct fixture *f = *state;
    struct msg sent, got;
    size_t at;

    do {
        make(f, MSG_ROUND, &sent);
        sent.leaf = 0;
        f->size = codec_encode(&sent, f->bytes);
        assert_int_equal(codec_decode_here(f->bytes, f->size, &f->room, &got),
                         ERR_OK);
        at = (size_t)((const uint8_t *)got.round.weights - f->bytes);
    } while (f->bytes[at - 1] != 0 || codec_encode_head(&sent, f->again) != at);
    for (uint32_t i = 0; i < RANDOM_ITEMS; i++) {
        sent.round.count = i;
        f->size = codec_encode(&sent, f->bytes);
        assert_true(decodes(f, f->bytes, f->size));
        at = codec_encode_head(&sent, f->again);
        assert_int_equal(at % MEM_LINE, 0);
    }
    f->bytes[at - 1] = 1;
    assert_false(decodes(f, f->bytes, f->size));
}

/* Head and sums packed in their own place are the plain message. */
static void test_sums_are_packed_where_they_are(void **state)
{
    struct fixture *f = *state;
    const uint32_t dims = 2500;
    const size_t lead = (pack_lead(dims) + 7) / 8 * 8;
    struct msg msg = {.kind = MSG_TALLY};
    int64_t *sum = mem_new(dims, sizeof *sum);
    uint8_t *place = mem_new(lead + dims * sizeof *sum, 1);
    uint8_t *plain;
    size_t head, size;

    for (uint32_t width = 0; width <= 64; width += 8) {
        for (uint32_t j = 0; j < dims; j++)
            sum[j] =
                width == 0 ? 0 : (int64_t)(rng_next(&f->rng) >> (64 - width));
        msg.tally.dims = dims;
        msg.tally.sum = sum;
        plain = mem_new(codec_bound(&msg), 1);
        size = codec_encode(&msg, plain);
        head = codec_encode_head(&msg, f->again);
        memcpy(place + lead, sum, dims * sizeof *sum);
        assert_memory_equal(plain, f->again, head);
        assert_int_equal(pack_i64((const int64_t *)(const void *)(place + lead),
                                  dims, place),
                         size - head);
        assert_memory_equal(plain + head, place, size - head);
        mem_free(plain);
    }
    mem_free(sum);
    mem_free(place);
}

/* DATA, STATUS and CHUNKS end where the bytes end: shorter ones are other
 * messages. */
static void test_every_truncation_is_refused(void **state)
{
    struct fixture *f = *state;
    struct msg msg;

    for (int kind = MSG_HELLO; kind <= MSG_LAST; kind++) {
        make(f, (enum msg_kind)kind, &msg);
        for (size_t size = 0; size < f->size; size++) {
            /* In a buffer of its own size, where a sanitizer sees overruns. */
            uint8_t *cut = mem_new(size, 1);

            memcpy(cut, f->bytes, size);
            if (kind == MSG_DATA || kind == MSG_STATUS || kind == MSG_CHUNKS)
                (void)decodes(f, cut, size);
            else
                assert_false(decodes(f, cut, size));
            mem_free(cut);
        }
    }
}

static void test_trailing_bytes_are_refused(void **state)
{
    struct fixture *f = *state;
    struct msg msg;

    for (int kind = MSG_HELLO; kind <= MSG_LAST; kind++) {
        if (kind == MSG_DATA || kind == MSG_STATUS)
            continue;
        make(f, (enum msg_kind)kind, &msg);
        f->bytes[f->size] = 0;
        assert_false(decodes(f, f->bytes, f->size + 1));
    }
}

static void test_flipped_bits_do_no_harm(void **state)
{
    struct fixture *f = *state;
    struct msg msg;

    for (int kind = MSG_HELLO; kind <= MSG_LAST; kind++) {
        make(f, (enum msg_kind)kind, &msg);
        for (size_t bit = 0; bit < f->size * 8; bit++) {
            f->bytes[bit / 8] ^= (uint8_t)(1u << bit % 8);
            codec_room_forget(&f->room); /* Read all of it. */
            (void)decodes(f, f->bytes, f->size);
            f->bytes[bit / 8] ^= (uint8_t)(1u << bit % 8);
        }
    }
}

/* What another release says after its version may be anything. */
static void test_greetings_of_other_releases(void **state)
{
    const uint8_t hello[] = {MSG_HELLO, MSG_VERSION + 1, 0, 0, 0, 0xff, 0xff};
    const uint8_t relay[] = {MSG_RELAY, MSG_VERSION - 1, 0, 0, 0};
    struct fixture *f = *state;
    struct msg msg;

    assert_int_equal(codec_decode(hello, sizeof hello, &f->room, &msg), ERR_OK);
    assert_non_null(greeting_foreign(&msg));
    assert_int_equal(msg.hello.version, MSG_VERSION + 1);
    assert_int_equal(codec_decode(relay, sizeof relay, &f->room, &msg), ERR_OK);
    assert_non_null(greeting_foreign(&msg));
    make(f, MSG_HELLO, &msg);
    assert_null(greeting_foreign(&msg));
}

static void test_unknown_kinds_are_refused(void **state)
{
    struct fixture *f = *state;
    uint8_t bytes[2] = {0};

    assert_false(decodes(f, bytes, 0));
    assert_false(decodes(f, bytes, 1));
    bytes[0] = MSG_LAST + 1;
    assert_false(decodes(f, bytes, 1));
    bytes[0] = 0xff;
    assert_false(decodes(f, bytes, 2));
}

static void test_vectors_need_a_job(void **state)
{
    struct fixture *f = *state;
    struct codec_room none;
    struct msg msg, got;

    assert_int_equal(codec_room_init(&none, 0, 0, 0), ERR_OK);
    for (int kind = MSG_HELLO; kind <= MSG_LAST; kind++) {
        const bool vector = kind == MSG_ROUND || kind == MSG_TALLY ||
                            kind == MSG_ROW || kind == MSG_SUM ||
                            kind == MSG_SLICE || kind == MSG_ROSTER ||
                            kind == MSG_PROPOSE;

        make(f, (enum msg_kind)kind, &msg);
        if (kind == MSG_TASK)
            msg.round.count = 0;
        if (kind == MSG_WORK || kind == MSG_DROP || kind == MSG_ALONE)
            msg.work.count = 0;
        if (kind == MSG_WATCH)
            msg.watch.count = 0;
        if (!vector) {
            f->size = codec_encode(&msg, f->bytes);
        }
        assert_int_equal(codec_decode(f->bytes, f->size, &none, &got),
                         vector ? ERR_FORMAT : ERR_OK);
    }
    codec_room_close(&none);
}

static void test_too_many_items_are_refused(void **state)
{
    struct fixture *f = *state;
    struct codec_room small;
    struct msg msg, got;

    assert_int_equal(codec_room_init(&small, RANDOM_DIMS, RANDOM_SUM_DIMS, 1),
                     ERR_OK);
    do
        make(f, MSG_WORK, &msg);
    while (msg.work.count < 2);
    assert_int_equal(codec_decode(f->bytes, f->size, &small, &got), ERR_FORMAT);
    codec_room_close(&small);
    assert_int_equal(codec_room_init(&small, DIMS_MAX + 1, DIMS_MAX + 1, 1),
                     ERR_TOOBIG);
    assert_int_equal(codec_room_init(&small, 1, 1, ITEMS_MAX + 1), ERR_TOOBIG);
}

/* Ranges of items are of a block's rows, too, of which there may be more than
 * there are chunks at most. */
static void test_ranges_of_many_rows(void **state)
{
    struct fixture *f = *state;
    const struct item far = {.id = 3,
                             .first = CHUNKS_MAX + 1,
                             .end = 3 * CHUNKS_MAX,
                             .coefficient = 1};
    struct msg msg, got;
    size_t size;

    make(f, MSG_WORK, &msg);
    msg.work.count = 1;
    msg.work.items = &far;
    size = codec_encode(&msg, f->bytes);
    assert_int_equal(codec_decode(f->bytes, size, &f->room, &got), ERR_OK);
    assert_int_equal(got.work.items[0].first, far.first);
    assert_int_equal(got.work.items[0].end, far.end);
}

static void test_rules(void **state)
{
    struct fixture *f = *state;
    struct msg msg;

    make(f, MSG_NEED, &msg);
    msg.need.first = 2;
    msg.need.end = 1;
    assert_false(decodes(f, f->bytes, codec_encode(&msg, f->bytes)));
    msg.need.first = 1;
    msg.need.end = CHUNKS_MAX + 1;
    assert_false(decodes(f, f->bytes, codec_encode(&msg, f->bytes)));

    make(f, MSG_WELCOME, &msg);
    msg.welcome.beat_us = -1; /* 0: no beats. */
    assert_false(decodes(f, f->bytes, codec_encode(&msg, f->bytes)));
    make(f, MSG_WELCOME, &msg);
    msg.welcome.dims = DIMS_MAX + 1;
    assert_false(decodes(f, f->bytes, codec_encode(&msg, f->bytes)));
    make(f, MSG_WELCOME, &msg);
    msg.welcome.shard_max = SHARD_MAX + 1;
    assert_false(decodes(f, f->bytes, codec_encode(&msg, f->bytes)));

    make(f, MSG_HELLO, &msg);
    memcpy(msg.hello.name, "w 1", 4);
    assert_false(decodes(f, f->bytes, codec_encode(&msg, f->bytes)));
    msg.hello.name[0] = '\0';
    assert_false(decodes(f, f->bytes, codec_encode(&msg, f->bytes)));

    make(f, MSG_BYE, &msg);
    msg.leaf = 0; /* Of which the next byte would speak. */
    f->size = codec_encode(&msg, f->bytes);
    f->bytes[1] = 2; /* Neither true nor false. */
    assert_false(decodes(f, f->bytes, f->size));

    make(f, MSG_ROUND, &msg);
    msg.round.delay_s = -1.0;
    assert_false(decodes(f, f->bytes, codec_encode(&msg, f->bytes)));
    do
        make(f, MSG_ROUND, &msg);
    while (evaluation_is_product(msg.round.kind)); /* No exponents there. */
    f->random.exponent[3] = 1023;
    assert_false(decodes(f, f->bytes, codec_encode(&msg, f->bytes)));
}

/* A size that the command line refuses does not come by another way; a round
 * of no samples has 0. */
static void test_sizes_are_those_of_the_command(void **state)
{
    static const char *const sizes[] = {"0",     "1e-9", ".0009", ".001",
                                        ".0011", "1",    "1.01",  "-.1"};
    struct fixture *f = *state;
    struct msg msg;

    do
        make(f, MSG_ASK, &msg);
    while (msg.ask.what != ASK_SIZE);
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        double size;
        const bool good = preset_size(sizes[i], &size, NULL) == ERR_OK;

        msg.ask.size = strtod(sizes[i], NULL);
        assert_int_equal(decodes(f, f->bytes, codec_encode(&msg, f->bytes)),
                         good);
    }
    make(f, MSG_ROUND, &msg);
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        double size;
        const bool good = preset_size(sizes[i], &size, NULL) == ERR_OK;

        msg.round.size = strtod(sizes[i], NULL);
        assert_int_equal(decodes(f, f->bytes, codec_encode(&msg, f->bytes)),
                         good || msg.round.size == 0);
    }
}

/* What a worker says it took goes into delays and plans. */
static void test_durations_have_a_cap(void **state)
{
    const int64_t day = 24 * 3600 * SECOND_US;
    struct fixture *f = *state;
    struct msg msg;

    for (int i = 0; i < 2; i++) {
        const enum msg_kind kind = i == 0 ? MSG_TALLY : MSG_ROW;

        make(f, kind, &msg);
        *(i == 0 ? &msg.tally.compute_us : &msg.row.compute_us) = day;
        assert_true(decodes(f, f->bytes, codec_encode(&msg, f->bytes)));
        *(i == 0 ? &msg.tally.compute_us : &msg.row.compute_us) = day + 1;
        assert_false(decodes(f, f->bytes, codec_encode(&msg, f->bytes)));
        *(i == 0 ? &msg.tally.compute_us : &msg.row.compute_us) = -1;
        assert_false(decodes(f, f->bytes, codec_encode(&msg, f->bytes)));
    }
}

static void test_control_characters_do_not_travel(void **state)
{
    struct fixture *f = *state;
    struct msg msg = {.kind = MSG_REJECT}, got;

    memcpy(msg.reject.reason, "a\x1b[2Jb", 7);
    f->size = codec_encode(&msg, f->bytes);
    assert_int_equal(codec_decode(f->bytes, f->size, &f->room, &got), ERR_OK);
    assert_string_equal(got.reject.reason, "a?[2Jb");
    f->bytes[4] = '\n';
    assert_false(decodes(f, f->bytes, f->size));
}

static void test_names(void **state)
{
    char name[NAME_SIZE + 1];

    (void)state;
    assert_true(codec_name_valid("w0"));
    assert_true(codec_name_valid("A.b_c-9"));
    assert_false(codec_name_valid(""));
    assert_false(codec_name_valid("a/b"));
    memset(name, 'a', sizeof name);
    name[NAME_SIZE] = '\0';
    assert_false(codec_name_valid(name));
    name[NAME_SIZE - 1] = '\0';
    assert_true(codec_name_valid(name));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_kind_survives_the_wire),
        cmocka_unit_test(test_packed_sums),
        cmocka_unit_test(test_fields_land_where_they_belong),
        cmocka_unit_test(test_rounds_are_read_where_they_are),
        cmocka_unit_test(test_narrow_weights_are_floats),
        cmocka_unit_test(test_a_known_scale_is_not_read_again),
        cmocka_unit_test(test_nothing_follows_a_product),
        cmocka_unit_test(test_pads_are_zeros),
        cmocka_unit_test(test_sums_are_packed_where_they_are),
        cmocka_unit_test(test_every_truncation_is_refused),
        cmocka_unit_test(test_trailing_bytes_are_refused),
        cmocka_unit_test(test_flipped_bits_do_no_harm),
        cmocka_unit_test(test_greetings_of_other_releases),
        cmocka_unit_test(test_unknown_kinds_are_refused),
        cmocka_unit_test(test_vectors_need_a_job),
        cmocka_unit_test(test_ranges_of_many_rows),
        cmocka_unit_test(test_too_many_items_are_refused),
        cmocka_unit_test(test_rules),
        cmocka_unit_test(test_sizes_are_those_of_the_command),
        cmocka_unit_test(test_durations_have_a_cap),
        cmocka_unit_test(test_control_characters_do_not_travel),
        cmocka_unit_test(test_names),
    };

    return cmocka_run_group_tests(tests, setup, teardown);
}
