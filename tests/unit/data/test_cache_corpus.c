/*
 * Every input that the fuzzer's corpus keeps is run through its target, which
 * must refuse the page or find every section in its file.
 */
#include "../../fuzz/corpus_test.h"

/* Each target defines the same function, so no two can be linked.
 * NOLINTNEXTLINE(bugprone-suspicious-include) */
#include "../../fuzz/fuzz_cache.c"

int main(void)
{
    return corpus_test("cache", 4, 3);
}
