/*
 * Every input that the fuzzer's corpus keeps is run through its target: tables
 * against models give scores that a naive sum confirms, or a sentence.
 */
#include "../../fuzz/corpus_test.h"

/* Each target defines the same function, so no two can be linked.
 * NOLINTNEXTLINE(bugprone-suspicious-include) */
#include "../../fuzz/fuzz_predict.c"

int main(void)
{
    return corpus_test("predict", 13, 10);
}
