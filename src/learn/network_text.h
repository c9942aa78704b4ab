/*
 * network_text.h - the text of a network as the user gives it: itself, or the
 * name of a file that holds it.
 */
#ifndef LEARN_NETWORK_TEXT_H
#define LEARN_NETWORK_TEXT_H

#include "base/err.h"

/* What `given` says, or the file of that name holds; a text that begins with a
 * layer is never taken for a name.  To be freed with mem_free; NULL if it
 * fails. */
MUST_CHECK enum err network_text(const char *given, char **text,
                                 struct why *why);

/* Is it such a text, as far as can be told without its file and its input? */
MUST_CHECK enum err network_check(const char *given, struct why *why);

#endif /* LEARN_NETWORK_TEXT_H */
