/*
 * greeting.h - the two things that everyone who comes in must share with us.
 *
 * Workers, relays and owners of private data greet with different messages;
 * all name the protocol they speak, and those who compute name their bits.
 */
#ifndef CORE_GREETING_H
#define CORE_GREETING_H

#include <stdint.h>

#include "base/hash.h"
#include "base/time.h"
#include "core/msg.h"

/* Whoever took up the connection answers a greeting within so long, or is not
 * the one that was meant: the next way is tried. */
#define GREETING_US (10 * SECOND_US)

/* Why one who speaks `version` cannot be talked to; NULL: it can. */
const char *greeting_version(uint32_t version);
/* The same of HELLO or RELAY; NULL for everything else.  Another release may
 * have other fields: nothing but the version of such a greeting was read. */
const char *greeting_foreign(const struct msg *msg);
/* The same of one who computes. */
const char *greeting_objection(uint32_t version, const struct digest *theirs,
                               const struct digest *ours);

#endif /* CORE_GREETING_H */
