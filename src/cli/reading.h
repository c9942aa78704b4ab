/*
 * reading.h - a command reads its rows: nothing can be saved yet, and nobody
 * listens for `muster stop`.
 *
 * Readers look at no flag, and may wait for a pipe without end.  So whatever
 * asks for an end at that time, a signal or `muster stop` of the folder, ends
 * the program beside them (os/run/interrupt.h), with a sentence.
 */
#ifndef CLI_READING_H
#define CLI_READING_H

#include <stdbool.h>

#include "base/err.h"
#include "base/flag.h"

struct reading {
    const char *folder; /* Which the command holds; NULL: none. */
    /* Undo, say it, exit, on a thread of its own: what it touches nothing else
     * changes while rows are read.  `number`: the signal; 0: `muster stop`. */
    void (*end)(void *context, int number);
    void *context;
    bool there; /* READING_FILE is in the folder. */
};

/* From now on until reading_end, or interrupt_begin and reading_over. */
MUST_CHECK enum err reading_begin(struct reading *reading, struct why *why);
/* They could not be read; nothing if they were. */
void reading_end(struct reading *reading);
/* They are read, and interrupt_begin has this flag: it is raised if somebody
 * said stop meanwhile. */
void reading_over(struct reading *reading, struct flag *stop);
/* READING_FILE goes: who ends otherwise does so first. */
void reading_forget(struct reading *reading);
/* The exit status: of what can be gone on with, of what is to be begun anew. */
int reading_status(int number, bool kept);

#endif /* CLI_READING_H */
