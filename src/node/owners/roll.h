/*
 * roll.h - before a run on private data: who has rows, how many, how large.
 *
 * The coordinator's side of core/roll.h.  It serves the run's own socket
 * until every part is known, then hands it over to the coordinator; owners
 * dial that one as soon as they are told to join.
 */
#ifndef NODE_ROLL_H
#define NODE_ROLL_H

#include "base/flag.h"
#include "base/hash.h"
#include "base/time.h"
#include "node/owners/parts.h"
#include "os/net/token.h"

struct roll;

struct roll_options {
    int listen_fd; /* Stays the caller's. */
    const struct token *token;
    uint32_t count;            /* Different files to wait for. */
    struct digest arithmetic;  /* Owners must compute these bits. */
    time_us patience_us;       /* With nobody new; then it fails ... */
    time_us until;             /* ... and at this time; TIME_NEVER. */
    bool ring;                 /* Owners become peers: they are told all. */
    const struct flag *failed; /* Once raised: ERR_CLOSED.  May be NULL. */
};

MUST_CHECK enum err roll_new(const struct roll_options *options,
                             struct roll **roll, struct why *why);
void roll_free(struct roll *roll); /* Accepts NULL. */

/* Wait until so many different files were offered.  Fills in homes, rows,
 * cols and labels; the caller then chooses the rest of the schema and cuts it
 * into chunks. */
MUST_CHECK enum err roll_gather(struct roll *roll, struct parts *parts,
                                struct why *why);
/* What they are to be told, all of it known. */
void roll_describe(struct roll *roll, struct parts *parts);
/* The same, after summing up how large the owners' rows are: fills in the
 * bounds. */
MUST_CHECK enum err roll_measure(struct roll *roll, struct parts *parts,
                                 struct why *why);
/* Send all away with this sentence. */
void roll_refuse(struct roll *roll, const char *reason);
/* All is known: let them join.  ERR_NOMEM: they wait. */
MUST_CHECK enum err roll_dismiss(struct roll *roll);

#endif /* NODE_ROLL_H */
