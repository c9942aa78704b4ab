/*
 * digests.c - the digest of all arithmetic, as it is compiled in, and of each
 * instruction set that this machine has whether it keeps it.
 *
 * Built by clang.sh with another compiler than the program's:
 *
 *     d9a0...                              as `muster version` prints
 *     portable
 *     avx2: the avx2 kernel computes ...   if it does not
 */
#include <stdio.h>

#include "node/arithmetic.h"

int main(void)
{
    const struct digest digest = arithmetic_digest();
    char text[DIGEST_TEXT];

    (void)printf("%s\n", digest_text(&digest, text));
    for (unsigned i = 0; i < ISAS; i++) {
        const enum isa isa = (enum isa)i;
        struct why why = {{0}};

        if (!isa_runs(isa))
            continue;
        if (arithmetic_check(isa, &why) == ERR_OK)
            (void)printf("%s\n", isa_name(isa));
        else
            (void)printf("%s: %s\n", isa_name(isa), why.text);
    }
    return 0;
}
