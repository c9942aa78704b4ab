/*
 * arithmetic.c - the parts of the arithmetic, from every layer that has any.
 */
#include "node/arithmetic.h"

#include <string.h>

#include "base/check.h"
#include "model/linear/golden.h"
#include "model/net/golden.h"
#include "optim/golden.h"

size_t arithmetic_parts(struct golden_part parts[ARITHMETIC_PARTS_MAX])
{
    size_t count;
    const struct golden_part *const math = golden_parts(&count);

    CHECK(count + 3 <= ARITHMETIC_PARTS_MAX);
    memcpy(parts, math, count * sizeof *parts);
    parts[count++] = scale_golden;
    parts[count++] = neural_golden;
    parts[count++] = optim_golden;
    return count;
}

struct digest arithmetic_digest_of(const struct golden_part *parts,
                                   size_t count)
{
    struct hasher hasher;

    hasher_init(&hasher);
    for (size_t i = 0; i < count; i++) {
        hasher_add(&hasher, parts[i].profile, strlen(parts[i].profile) + 1);
        hasher_add(&hasher, parts[i].expected, strlen(parts[i].expected) + 1);
    }
    return hasher_end(&hasher);
}

struct digest arithmetic_digest(void)
{
    struct golden_part parts[ARITHMETIC_PARTS_MAX];

    return arithmetic_digest_of(parts, arithmetic_parts(parts));
}

/* Its code does not change while a process runs, only a thread's modes do: one
 * bit for each variant that was found good. */
static unsigned checked;

enum err arithmetic_check(enum isa isa, struct why *why)
{
    struct golden_part parts[ARITHMETIC_PARTS_MAX];
    const size_t count = arithmetic_parts(parts);
    enum err err = golden_check_mode(isa, why);

    if (err != ERR_OK ||
        (__atomic_load_n(&checked, __ATOMIC_RELAXED) >> isa & 1) != 0)
        return err;
    for (size_t i = 0; err == ERR_OK && i < count; i++)
        err = golden_check_part(&parts[i], isa, why);
    if (err == ERR_OK)
        (void)__atomic_fetch_or(&checked, 1u << isa, __ATOMIC_RELAXED);
    return err;
}
