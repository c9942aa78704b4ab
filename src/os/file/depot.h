/*
 * depot.h - a folder of pieces named by what is in them, with a cap.
 *
 *     FOLDER/HEX     the piece whose SHA-256 is HEX; mode 0600
 *
 * A piece appears whole (written beside, then renamed) and is hashed again
 * whenever it is read: what accidents or people did to it is found, and it is
 * removed.  Nothing is made durable: a piece lost with the power is fetched
 * again.  Several processes may share a folder, and its cap: FOLDER/.bytes has
 * what is taken, and is locked by who writes.  Over the cap the pieces that
 * were not used for the longest time go.
 */
#ifndef OS_DEPOT_H
#define OS_DEPOT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/hash.h"

struct depot;

/* Made if need be, of mode 0700. */
MUST_CHECK enum err depot_open(const char *folder, uint64_t bytes_max,
                               struct depot **depot, struct why *why);
void depot_close(struct depot *depot); /* Accepts NULL. */

/* Any thread; the others one thread at a time. */
bool depot_has(const struct depot *depot, const struct digest *digest);

/* Bytes of a piece.  ERR_NOTFOUND. */
MUST_CHECK enum err depot_size(const struct depot *depot,
                               const struct digest *digest, size_t *size);
/* ERR_NOTFOUND; ERR_MISMATCH: it was damaged, and is removed; ERR_TOOBIG;
 * ERR_IO.
 */
MUST_CHECK enum err depot_get(struct depot *depot, const struct digest *digest,
                              uint8_t *bytes, size_t capacity, size_t *size);
/* ERR_MISMATCH if that is not its digest; ERR_IO with a sentence. */
MUST_CHECK enum err depot_put(struct depot *depot, const struct digest *digest,
                              const uint8_t *bytes, size_t size,
                              struct why *why);

/* Where pieces are kept if the user does not say: below XDG_CACHE_HOME, or
 * .cache in HOME.  False if there is neither. */
bool depot_default(char *path, size_t capacity);

#endif /* OS_DEPOT_H */
