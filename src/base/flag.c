/*
 * flag.c - a flag that one thread raises and others look at: whoever sees it
 * raised sees what was written before.
 */
#include "base/flag.h"

void flag_raise(struct flag *flag)
{
    __atomic_store_n(&flag->raised, 1, __ATOMIC_RELEASE);
}

void flag_lower(struct flag *flag)
{
    __atomic_store_n(&flag->raised, 0, __ATOMIC_RELEASE);
}

bool flag_raised(const struct flag *flag)
{
    return __atomic_load_n(&flag->raised, __ATOMIC_ACQUIRE) != 0;
}

bool flag_raise_first(struct flag *flag)
{
    return __atomic_exchange_n(&flag->raised, 1, __ATOMIC_ACQ_REL) == 0;
}
