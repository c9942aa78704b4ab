/*
 * The bytes of a sample of every kind of message, by their hash, as they were
 * recorded: a refactoring changes none, and whoever changes one changes
 * MSG_VERSION, too.  To record the table anew:
 *
 *     RECORD=1 build/release/tests/unit/wire-test_recorded \
 *         > tests/unit/wire/recorded.inc
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/mem.h"
#include "wire/codec.h"
#include "wire/peer_codec.h"
#include "wire/random_msg.h"
#include "wire/sample_msg.h"

#define SAMPLES   32u /* Of each kind: optional fields come and go. */
#define KINDS_MAX 96u
#define BYTES_MAX ((size_t)1 << 20)

/* `group` tells the four protocols apart; `kind` is its own number there. */
struct recorded {
    char group[8];
    uint32_t kind;
    uint64_t hash;
};

static const struct recorded recorded[] = {
#include "wire/recorded.inc"
};
static const size_t recorded_count = sizeof recorded / sizeof *recorded;

struct table {
    struct recorded row[KINDS_MAX];
    size_t count;
    uint8_t *bytes;
};

static void add_row(struct table *table, const char *group, uint32_t kind,
                    struct hasher *hasher)
{
    const struct digest digest = hasher_end(hasher);
    struct recorded *row = &table->row[table->count++];

    assert_true(table->count <= KINDS_MAX);
    (void)snprintf(row->group, sizeof row->group, "%s", group);
    row->kind = kind;
    row->hash = digest_short(&digest);
}

/* To a member and to a leaf, and on a board where it can lie there. */
static void add_message(struct table *table, enum msg_kind kind)
{
    static struct random_room room;
    const struct posted where = {.place = 5, .sequence = 77};
    struct hasher hasher;
    struct rng rng;

    rng_init(&rng, (uint64_t)kind);
    hasher_init(&hasher);
    for (uint32_t i = 0; i < SAMPLES; i++) {
        struct msg msg;
        size_t size;

        random_msg(&rng, kind, &room, &msg);
        size = codec_encode(&msg, table->bytes);
        hasher_add(&hasher, table->bytes, size);
        if (!codec_posts(&msg) || msg.leaf != 0)
            continue;
        size = codec_encode_posted(&msg, &where, table->bytes);
        hasher_add(&hasher, table->bytes, size);
    }
    add_row(table, "msg", (uint32_t)kind, &hasher);
}

static void add_sum(struct table *table, enum sum_kind kind)
{
    static const double values[] = {1.5, -2.25};
    const struct sum_msg msg = sample_sum(kind, values);
    struct hasher hasher;

    hasher_init(&hasher);
    hasher_add(&hasher, table->bytes, sum_codec_encode(&msg, table->bytes));
    add_row(table, "sum", (uint32_t)kind, &hasher);
}

static void add_roll(struct table *table, enum roll_kind kind)
{
    const struct roll_msg msg = sample_roll(kind);
    struct hasher hasher;

    hasher_init(&hasher);
    hasher_add(&hasher, table->bytes, roll_codec_encode(&msg, table->bytes));
    add_row(table, "roll", (uint32_t)kind, &hasher);
}

static void add_peer(struct table *table, enum peer_kind kind)
{
    static const uint8_t bytes[] = {3, 1, 4, 1, 5};
    const struct peer_msg msg = {.kind = kind,
                                 .chunk = 9,
                                 .size = 26,
                                 .at = 5,
                                 .bytes = bytes,
                                 .count = sizeof bytes};
    struct hasher hasher;

    hasher_init(&hasher);
    hasher_add(&hasher, table->bytes, peer_codec_encode(&msg, table->bytes));
    add_row(table, "peer", (uint32_t)kind, &hasher);
}

static void fill(struct table *table)
{
    *table = (struct table){.bytes = mem_new(BYTES_MAX, 1)};
    assert_non_null(table->bytes);
    for (int kind = 1; kind <= MSG_LAST; kind++)
        add_message(table, (enum msg_kind)kind);
    for (int kind = SUM_HELLO; kind <= SUM_HAVE; kind++)
        add_sum(table, (enum sum_kind)kind);
    for (int kind = ROLL_OFFER; kind <= ROLL_PARTS; kind++)
        add_roll(table, (enum roll_kind)kind);
    for (int kind = PEER_WANT; kind <= PEER_WAIT; kind++)
        add_peer(table, (enum peer_kind)kind);
    mem_free(table->bytes);
}

static void test_bytes_are_as_recorded(void **state)
{
    struct table table;
    size_t wrong = 0;

    (void)state;
    fill(&table);
    assert_int_equal(table.count, recorded_count);
    for (size_t i = 0; i < recorded_count; i++) {
        if (memcmp(&table.row[i], &recorded[i], sizeof recorded[i]) == 0)
            continue;
        print_message("%s message %u: other bytes than recorded\n",
                      table.row[i].group, table.row[i].kind);
        wrong++;
    }
    assert_int_equal(wrong, 0);
}

/* The table as C. */
static int record(void)
{
    struct table table;

    fill(&table);
    (void)printf("/* clang-format off */\n/* By RECORD=1 wire-test_recorded; "
                 "test_recorded.c. */\n");
    for (size_t i = 0; i < table.count; i++)
        (void)printf("{\"%s\", %u, UINT64_C(0x%016" PRIx64 ")},\n",
                     table.row[i].group, table.row[i].kind, table.row[i].hash);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_bytes_are_as_recorded),
    };

    if (getenv("RECORD") != NULL)
        return record();
    return cmocka_run_group_tests_name("recorded", tests, NULL, NULL);
}
