/*
 * Every input that the fuzzer's corpus keeps is run through its target, which
 * aborts if one of its oracles is not content.
 */
#include "../../fuzz/corpus_test.h"

/* Each target defines the same function, so no two can be linked.
 * NOLINTNEXTLINE(bugprone-suspicious-include) */
#include "../../fuzz/fuzz_papers.c"

int main(void)
{
    return corpus_test("papers", 3, 3);
}
