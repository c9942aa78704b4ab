/*
 * client.h - ask a running coordinator: `muster status`, `stop` and `set`.
 */
#ifndef NODE_CLIENT_H
#define NODE_CLIENT_H

#include "base/err.h"
#include "core/msg.h"

/* `where` is HOST:PORT or a run folder (its `address` file is read); `ask`
 * without its version.  The answer is JSON text with a NUL, from mem_new.
 * Errors come with a sentence; at most 10 s pass. */
MUST_CHECK enum err client_ask(const char *where, const char *token_file,
                               const struct msg_ask *ask, char **json,
                               struct why *why);

#endif /* NODE_CLIENT_H */
