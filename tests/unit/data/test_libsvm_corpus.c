/*
 * Every input that the fuzzer's corpus keeps is run through its target, which
 * compares the LIBSVM reader with a naive one and aborts if they differ.
 */
#include "../../fuzz/corpus_test.h"

/* Each target defines the same function, so no two can be linked.
 * NOLINTNEXTLINE(bugprone-suspicious-include) */
#include "../../fuzz/fuzz_libsvm.c"

int main(void)
{
    return corpus_test("libsvm", 20, 7);
}
