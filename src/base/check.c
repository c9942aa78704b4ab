/*
 * check.c - last words of a process that found a bug in itself.  A test may put
 * its own handler in front, which sees the failed condition and does not come
 * back.
 */
#include "base/check.h"

#include <stdio.h>
#include <stdlib.h>

static void (*check_handler)(const char *, int, const char *);

void check_set_handler(void (*handler)(const char *, int, const char *))
{
    check_handler = handler;
}

void check_failed(const char *file, int line, const char *condition)
{
    if (check_handler != NULL)
        check_handler(file, line, condition);
    (void)fprintf(stderr, "muster: bug: %s:%d: CHECK(%s) failed\n", file, line,
                  condition);
    abort();
}
