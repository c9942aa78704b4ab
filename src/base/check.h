/*
 * check.h - assertions that stay on.
 *
 * CHECK is for the control plane: arguments, states, protocol invariants.  A
 * failed CHECK is a bug in Muster, never bad input; it prints where and ends
 * the process, because going on could commit a wrong step.  DCHECK is for
 * inner loops and compiles to nothing unless MUSTER_DEBUG is defined.
 */
#ifndef BASE_CHECK_H
#define BASE_CHECK_H

__attribute__((noreturn)) void check_failed(const char *file, int line,
                                            const char *condition);

/* Replace what happens on failure (tests only); NULL restores abort. */
void check_set_handler(void (*handler)(const char *file, int line,
                                       const char *condition));

#define CHECK(x)                                                               \
    do {                                                                       \
        if (!(x))                                                              \
            check_failed(__FILE__, __LINE__, #x);                              \
    } while (0)

#ifdef MUSTER_DEBUG
#define DCHECK(x) CHECK(x)
#else
#define DCHECK(x) ((void)sizeof(!(x)))
#endif

#endif /* BASE_CHECK_H */
