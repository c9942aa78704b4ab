/*
 * delay_load.h - delays as people name them, with the files they speak of.
 */
#ifndef LEARN_DELAY_LOAD_H
#define LEARN_DELAY_LOAD_H

#include "plan/delay.h"
#include "plan/delay_trace.h"

/* A delay and the traces its terms borrow.  Zeroed is no delay. */
struct delay_files {
    struct delay_trace trace[DELAY_TERMS_MAX];
};

/* Parse and read.  Sentences name the file and the line. */
MUST_CHECK enum err delay_load(const char *text, uint64_t seed,
                               struct delay *delay, struct delay_files *files,
                               struct why *why);
void delay_files_close(struct delay_files *files);

/* One file. */
MUST_CHECK enum err
delay_trace_load(const char *path, struct delay_trace *trace, struct why *why);

#endif /* LEARN_DELAY_LOAD_H */
