/*
 * Every input that the fuzzer's corpus keeps is run through its target, which
 * must give tensors that survive writing and reading, or a sentence.
 */
#include "../../fuzz/corpus_test.h"

/* Each target defines the same function, so no two can be linked.
 * NOLINTNEXTLINE(bugprone-suspicious-include) */
#include "../../fuzz/fuzz_safetensors.c"

int main(void)
{
    return corpus_test("safetensors", 18, 5);
}
