/*
 * Every input that the fuzzer's corpus keeps is run through its target, which
 * must give a network whose tensors fill its parameters, or a sentence.
 */
#include "../../fuzz/corpus_test.h"

/* Each target defines the same function, so no two can be linked.
 * NOLINTNEXTLINE(bugprone-suspicious-include) */
#include "../../fuzz/fuzz_net.c"

int main(void)
{
    return corpus_test("net", 18, 9);
}
