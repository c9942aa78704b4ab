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
/* What somebody should know or see to. */
__attribute__((format(printf, 1, 2))) void log_line(const char *format, ...);
/* Progress: not with log_quiet (--quiet). */
__attribute__((format(printf, 1, 2))) void log_note(const char *format, ...);
void log_quiet(bool quiet);
/* Of more than ten lines in a second the rest is counted; say how many, if that
 * has not been said.  Before a process ends. */
void log_end(void);

#endif /* OS_LOG_H */
