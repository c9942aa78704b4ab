/*
 * log.h - a line on standard error: `muster: w3: cannot reach ...`.
 *
 * One write per line, so that lines of several processes do not mix.  Never a
 * secret, never more than a few lines a second: what peers can provoke is cut
 * off and counted.
 */
#ifndef OS_LOG_H
#define OS_LOG_H

#include <stdbool.h>

/* Who speaks in this process; "" = nobody in particular. */
void log_name(const char *name);
/* Say nothing (a screen is being drawn, or --quiet). */
void log_quiet(bool quiet);
__attribute__((format(printf, 1, 2))) void log_line(const char *format, ...);

#endif /* OS_LOG_H */
