/*
 * network_text.h - the text of a network as the user gives it: itself, or the
 * name of a file that holds it.
 */
#ifndef LEARN_NETWORK_TEXT_H
#define LEARN_NETWORK_TEXT_H

#include "base/err.h"

/* To be freed with mem_free; NULL if it fails.  A file is what is there by that
 * name and does not begin as a net does. */
MUST_CHECK enum err network_text(const char *given, char **text,
                                 struct why *why);

#endif /* LEARN_NETWORK_TEXT_H */
