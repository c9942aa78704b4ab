/*
 * value_check.h - texts that have a grammar, read by their own parsers as soon
 * as they are chosen.
 *
 * Whether a value fits the others (workers, columns) is asked later, and so is
 * whether a file that it names is there.
 */
#ifndef LEARN_VALUE_CHECK_H
#define LEARN_VALUE_CHECK_H

#include "base/err.h"

MUST_CHECK enum err value_check_audit(const char *text, struct why *why);
/* Whether there is such a label is asked of the data. */
MUST_CHECK enum err value_check_class_weight(const char *text, struct why *why);
MUST_CHECK enum err value_check_listen(const char *text, struct why *why);
MUST_CHECK enum err value_check_peers(const char *text, struct why *why);
MUST_CHECK enum err value_check_separator(const char *text, struct why *why);
MUST_CHECK enum err value_check_shape(const char *text, struct why *why);
MUST_CHECK enum err value_check_chaos(const char *text, struct why *why);
MUST_CHECK enum err value_check_code(const char *text, struct why *why);
MUST_CHECK enum err value_check_delay(const char *text, struct why *why);
MUST_CHECK enum err value_check_valid(const char *text, struct why *why);
MUST_CHECK enum err value_check_net(const char *text, struct why *why);

#endif /* LEARN_VALUE_CHECK_H */
