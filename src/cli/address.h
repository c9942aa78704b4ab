/*
 * address.h - may we go there?  Off this machine nothing starts without a key.
 */
#ifndef CLI_ADDRESS_H
#define CLI_ADDRESS_H

#include "base/err.h"

/* `address` as typed (NULL: loopback), `token_file` or NULL.  ERR_RANGE: not an
 * address; ERR_SHAPE: needs a key (`remedy` says how to get one); ERR_DENIED
 * and others: the key's file is not private or not there. */
MUST_CHECK enum err address_check(const char *address, const char *token_file,
                                  const char *remedy, struct why *why);

#endif /* CLI_ADDRESS_H */
