/*
 * quick.h - a short name for bytes, an order of magnitude faster than SHA-256.
 *
 * It tells things apart that differ by accident: the weights of one round from
 * those of another.  It is no proof of anything: whoever wants two inputs with
 * one name can make them.  What must be proved has a digest (base/hash.h).
 */
#ifndef BASE_QUICK_H
#define BASE_QUICK_H

#include <stddef.h>
#include <stdint.h>

#include "base/pool.h"

#define QUICK_WHOLE (UINT32_C(1) << 16)

/* The same on every machine. */
uint64_t quick_u64(const void *data, size_t size, uint64_t seed);
/* Of what may be long: beyond QUICK_WHOLE bytes the names of its blocks, each
 * with its place, added up; so that slices can be named at once. */
uint64_t quick_long(struct pool *pool, const void *data, size_t size,
                    uint64_t seed);

/* The same in two parts, for who has the first bytes at hand anyway: quick_part
 * of whole blocks of SLICE_GRAIN words, up to byte `from`, added up to `part`;
 * and the rest. */
uint64_t quick_part(const void *data, size_t from, size_t to, uint64_t seed);
uint64_t quick_rest(struct pool *pool, const void *data, size_t size,
                    uint64_t seed, size_t from, uint64_t part);

#endif /* BASE_QUICK_H */
