/*
 * enrol.h - an owner of private data offers it, and learns its place in a job.
 *
 * The owner's side of core/roll.h.  The file is read twice: once as it is,
 * for the offer, and once with the columns and labels of all owners together,
 * which is what is then computed on.  What is sent is in core/roll.h; rows
 * are not.  A peer of a ring does the same, and learns what is known of all.
 */
#ifndef NODE_ENROL_H
#define NODE_ENROL_H

#include <stdint.h>

#include "base/err.h"
#include "base/flag.h"
#include "base/hash.h"
#include "base/time.h"
#include "core/msg.h"
#include "data/rows/dataset.h"
#include "data/source.h"
#include "node/owners/parts.h"
#include "os/net/interface.h"
#include "os/net/net.h"
#include "os/net/token.h"

struct enrol_options {
    const struct net_address *addresses; /* Of the coordinator; no relays. */
    uint32_t address_count;
    const char *folder; /* Of the run, if it is here: ways.h.  May be NULL. */
    const struct token *token;
    const struct net_source *source; /* To dial from; NULL: any. */
    char name[NAME_SIZE];
    enum isa isa;
    uint32_t threads;
    time_us give_up_us;         /* Unreachable for so long; TIME_NEVER. */
    struct source_options rows; /* The file, and how it is read. */
    bool ring;                  /* Enrol as one of its peers. */
    const struct flag *stop;    /* Once raised: ERR_CANCELLED.  May be NULL. */
};

struct enrol;

/* Rows of one's own in a job of all owners' rows. */
struct owned {
    struct dataset data;
    struct digest part;          /* Of the rows as offered. */
    struct digest job;           /* Of the whole. */
    uint32_t first, end, chunks; /* Its chunks, and how many there are. */
    uint32_t first_row;
};

/* Reads the rows as they are, for the offer.  Borrows the options. */
MUST_CHECK enum err enrol_new(const struct enrol_options *options,
                              struct enrol **enrol, struct why *why);
void enrol_free(struct enrol *enrol); /* Accepts NULL. */
/* Until the job is about to begin; `parts` only of a ring.  ERR_DENIED and
 * others: with a sentence. */
MUST_CHECK enum err enrol_serve(struct enrol *enrol, struct owned *owned,
                                struct parts *parts, struct why *why);
/* All is known already: nobody is asked.  ERR_MISMATCH: not of these rows. */
MUST_CHECK enum err enrol_place(struct enrol *enrol, const struct parts *parts,
                                struct owned *owned, struct why *why);
/* New, serve, free: an owner in a star. */
MUST_CHECK enum err enrol_run(const struct enrol_options *options,
                              struct owned *owned, struct why *why);
void owned_close(struct owned *owned); /* Zeroed is safe. */

#endif /* NODE_ENROL_H */
