/*
 * client.h - ask a running coordinator: `muster status`, `muster stop`.
 */
#ifndef NODE_CLIENT_H
#define NODE_CLIENT_H

#include "base/err.h"
#include "core/msg.h"

/* `where` is HOST:PORT or a run folder (its `address` file is read).  The
 * answer is JSON text with a NUL, from mem_new.  Errors come with a sentence;
 * at most 10 s pass. */
MUST_CHECK enum err client_ask(const char *where, const char *token_file,
                               enum ask_what what, char **json,
                               struct why *why);

#endif /* NODE_CLIENT_H */
