/*
 * address.h - may we go there?  Off this machine nothing starts without a key.
 * And what others are told to dial.
 */
#ifndef LEARN_ADDRESS_H
#define LEARN_ADDRESS_H

#include "base/err.h"

/* `address` as typed (NULL: loopback), `token_file` or NULL.  ERR_RANGE: not an
 * address; ERR_SHAPE: needs a key (`remedy` says how to get one); ERR_DENIED
 * and others: the key's file is not private or not there. */
MUST_CHECK enum err address_check(const char *address, const char *token_file,
                                  const char *remedy, struct why *why);

/* The same of what a command dials, which may be a run's folder, too. */
MUST_CHECK enum err address_check_dial(const char *where,
                                       const char *token_file,
                                       const char *remedy, struct why *why);

/* --interface and --listen together, either may be NULL: what address_check
 * is to see, in `text`.  ERR_RANGE: no such card, or two places. */
#define ADDRESS_SIZE 300u
MUST_CHECK enum err address_of_interface(const char *interface,
                                         const char *listen,
                                         char text[ADDRESS_SIZE],
                                         struct why *why);

/* What to type elsewhere: `local`, where this machine dials, or this machine's
 * name and that port where --listen says all of its addresses.  Returns
 * `text`. */
const char *address_for_others(const char *listen, const char *local,
                               char text[ADDRESS_SIZE]);

#endif /* LEARN_ADDRESS_H */
