/*
 * Every input that the fuzzer's corpus keeps is run through its target, which
 * compares readings of a table with each other and aborts if they differ.
 */
#include "../../fuzz/corpus_test.h"

/* Each target defines the same function, so no two can be linked.
 * NOLINTNEXTLINE(bugprone-suspicious-include) */
#include "../../fuzz/fuzz_csv.c"

int main(void)
{
    return corpus_test("csv", 14, 10);
}
