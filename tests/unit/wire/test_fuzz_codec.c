/*
 * The fuzz target of tests/fuzz/fuzz_codec.c without a fuzzer: its corpus, then
 * random messages with random damage.  The target itself is the oracle.
 */
#include "../../fuzz/fuzz_codec.c" /* NOLINT(bugprone-suspicious-include) */

#include <dirent.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "wire/random_msg.h"

#define MUTATIONS  20000u
#define INPUT_MAX  16384u
#define CORPUS_MIN 60u /* One message of each kind, and bundles. */

/* Messages that this release reads; of others the corpus may be full. */
struct accepted {
    bool plain[MSG_LAST + 1];
    bool posted[MSG_LAST + 1];
    bool roll[ROLL_PARTS + 1];
    bool group[SUM_HAVE + 1];
};

static void look(const uint8_t *data, size_t size, struct accepted *accepted)
{
    struct codec_room room;
    struct posted where;
    struct msg msg;
    struct roll_msg roll;
    static struct sum_codec_room sums;
    struct sum_msg group;

    assert_int_equal(
        codec_room_init(&room, FUZZ_DIMS, FUZZ_SUM_DIMS, FUZZ_ITEMS), ERR_OK);
    assert_int_equal(codec_room_answers(&room, FUZZ_ITEMS), ERR_OK);
    assert_int_equal(codec_room_peers(&room), ERR_OK);
    if (codec_decode(data, size, &room, &msg) == ERR_OK &&
        greeting_foreign(&msg) == NULL)
        accepted->plain[msg.kind] = true;
    if (codec_decode_posted(data, size, &room, &msg, &where) == ERR_OK)
        accepted->posted[msg.kind] = true;
    if (roll_codec_decode(data, size, &roll) == ERR_OK &&
        ((roll.kind != ROLL_OFFER && roll.kind != ROLL_PEER) ||
         roll.offer.version == MSG_VERSION))
        accepted->roll[roll.kind] = true;
    if (sum_codec_decode(data, size, &sums, &group) == ERR_OK &&
        (group.kind != SUM_HELLO || group.version == SUM_VERSION))
        accepted->group[group.kind] = true;
    codec_room_close(&room);
}

static void replay(const char *folder, const char *name,
                   struct accepted *accepted)
{
    char path[1024];
    uint8_t data[INPUT_MAX];
    size_t size;
    FILE *file;

    (void)snprintf(path, sizeof path, "%s/%s", folder, name);
    file = fopen(path, "rb");
    assert_non_null(file);
    size = fread(data, 1, sizeof data, file);
    fclose(file);
    LLVMFuzzerTestOneInput(data, size);
    look(data, size, accepted);
}

/* If not: tools/fuzz.sh seeds. */
static void check_accepted(const struct accepted *accepted)
{
    for (int kind = MSG_HELLO; kind <= MSG_LAST; kind++)
        assert_true(accepted->plain[kind]);
    assert_true(accepted->posted[MSG_ROUND] && accepted->posted[MSG_TALLY]);
    for (int kind = ROLL_OFFER; kind <= ROLL_PARTS; kind++)
        assert_true(accepted->roll[kind]);
    for (int kind = SUM_HELLO; kind <= SUM_HAVE; kind++)
        assert_true(accepted->group[kind]);
}

static void test_corpus(void **state)
{
    const char *root = getenv("ROOT");
    char folder[512];
    struct dirent *entry;
    struct accepted accepted = {0};
    uint32_t count = 0;
    DIR *dir;

    (void)state;
    (void)snprintf(folder, sizeof folder, "%s/tests/fuzz/corpus/codec",
                   root != NULL ? root : ".");
    dir = opendir(folder);
    if (dir == NULL) {
        skip(); /* Not run from the repository. */
        return;
    }
    while ((entry = readdir(dir)) != NULL) {
        if (entry->d_name[0] == '.')
            continue;
        replay(folder, entry->d_name, &accepted);
        count++;
    }
    closedir(dir);
    assert_true(count >= CORPUS_MIN);
    check_accepted(&accepted);
}

static void damage(struct rng *rng, uint8_t *data, size_t *size)
{
    const uint64_t times = rng_below(rng, 4);

    for (uint64_t i = 0; i<times && * size> 0; i++) {
        const size_t at = (size_t)rng_below(rng, *size);

        if (rng_chance(rng, 0.2))
            *size = at;
        else if (rng_chance(rng, 0.5))
            data[at] = (uint8_t)rng_next(rng);
        else
            data[at] ^= (uint8_t)(1u << rng_below(rng, 8));
    }
}

static void test_damaged_messages(void **state)
{
    static uint8_t data[INPUT_MAX];
    struct random_room room;
    struct rng rng;
    struct msg msg;
    size_t size;

    (void)state;
    rng_init(&rng, 11);
    for (uint32_t i = 0; i < MUTATIONS; i++) {
        const enum msg_kind kind =
            (enum msg_kind)(1 + rng_below(&rng, MSG_LAST));

        random_msg(&rng, kind, &room, &msg);
        assert_true(codec_bound(&msg) <= sizeof data);
        size = codec_encode(&msg, data);
        damage(&rng, data, &size);
        LLVMFuzzerTestOneInput(data, size);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_corpus),
        cmocka_unit_test(test_damaged_messages),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
