/*
 * brief.h - bytes that tell an evaluator what a job is about: its model, its
 * rows, how a part steps by itself.
 *
 * eval/briefs.h writes them and only evaluators read them; whoever is in
 * between passes them on.
 */
#ifndef BASE_BRIEF_H
#define BASE_BRIEF_H

#include <stddef.h>
#include <stdint.h>

#define BRIEF_MAX 4096u

/* Borrowed. */
struct brief {
    const uint8_t *bytes;
    size_t size; /* At most BRIEF_MAX. */
};

#endif /* BASE_BRIEF_H */
