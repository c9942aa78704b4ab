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
#define CORPUS_MIN 34u /* One message of each kind, and bundles. */

static void replay(const char *folder, const char *name)
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
}

static void test_corpus(void **state)
{
    const char *root = getenv("ROOT");
    char folder[512];
    struct dirent *entry;
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
        replay(folder, entry->d_name);
        count++;
    }
    closedir(dir);
    assert_true(count >= CORPUS_MIN);
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
