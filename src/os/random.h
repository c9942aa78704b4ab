/*
 * random.h - randomness that nobody can predict: names of lives, cookies, keys.
 *
 * What decides a result never comes from here; see base/rng.h.
 */
#ifndef OS_RANDOM_H
#define OS_RANDOM_H

#include <stddef.h>
#include <stdint.h>

void random_fill(void *data, size_t size);
uint64_t random_u64(void); /* Never 0. */

#endif /* OS_RANDOM_H */
