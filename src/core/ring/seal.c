/*
 * seal.c - the writer's side of a seqlock and the reader's last look.
 */
#include "core/ring/seal.h"

#include <stdatomic.h>

/* Before the first byte changes: pairs with seal_holds. */
void seal_break(struct seal *seal)
{
    const uint64_t number = __atomic_load_n(&seal->number, __ATOMIC_RELAXED);

    __atomic_store_n(&seal->number, number + 1, __ATOMIC_RELAXED);
    atomic_thread_fence(memory_order_release);
}

uint64_t seal_number(const struct seal *seal)
{
    return __atomic_load_n(&seal->number, __ATOMIC_RELAXED);
}

/* What was read was read before this. */
bool seal_holds(const struct seal *seal, uint64_t number)
{
    atomic_thread_fence(memory_order_acquire);
    return __atomic_load_n(&seal->number, __ATOMIC_RELAXED) == number;
}
