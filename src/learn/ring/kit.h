/*
 * kit.h - of a training, what a machine needs that joins its ring without data
 * and that nobody below src/learn knows: what the model's file says beside its
 * weights (encoder, labels, network), how columns were renumbered, the rows
 * that are held out.
 *
 * Papers (node/ring/papers.h) carry it.  With the rows a setup follows from it
 * that has the same config_digest; if it has not, it was misread.
 */
#ifndef LEARN_KIT_H
#define LEARN_KIT_H

#include <stddef.h>
#include <stdint.h>

#include "learn/setup.h"

/* From mem_new.  ERR_NOMEM. */
MUST_CHECK enum err kit_make(const struct setup *setup, uint8_t **bytes,
                             size_t *size);
/* Into a setup that has the rows and nothing else.  ERR_FORMAT, ERR_NOMEM. */
MUST_CHECK enum err kit_take(const uint8_t *bytes, size_t size,
                             struct setup *setup);

#endif /* LEARN_KIT_H */
