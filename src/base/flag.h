/*
 * flag.h - one flag between threads: what calls off work that is under way.
 */
#ifndef BASE_FLAG_H
#define BASE_FLAG_H

#include <stdbool.h>

/* Any thread may raise, lower and look at it. */
struct flag {
    int raised; /* Atomic; by the functions below only. */
};

void flag_raise(struct flag *flag);
void flag_lower(struct flag *flag);
/* True: it was down, and nobody else has raised it. */
bool flag_raise_first(struct flag *flag);
bool flag_raised(const struct flag *flag);

#endif /* BASE_FLAG_H */
