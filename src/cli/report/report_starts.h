/*
 * report_starts.h - a run's starts taken together: --resume is another one.
 */
#ifndef CLI_REPORT_REPORT_STARTS_H
#define CLI_REPORT_REPORT_STARTS_H

#include <jansson.h>

struct report_starts {
    json_int_t count, killed; /* A start that was killed has no result. */
    double elapsed_s;         /* Of those, as far as its steps were kept. */
    json_t *times;            /* worker_times, added up by name. */
    json_t *gaps;             /* [first, last] steps of which nothing is. */
    json_int_t last;          /* Kept so far, ... */
    json_int_t stride;        /* ... of so many one; 0: it left a result. */
};

void report_starts_init(struct report_starts *starts);
/* The history of the next start. */
void report_starts_add(struct report_starts *starts, const json_t *part);
/* Into the report; `last_step` is the journal's.  Ends `starts`. */
void report_starts_end(struct report_starts *starts, json_int_t last_step,
                       json_t *data);

#endif /* CLI_REPORT_REPORT_STARTS_H */
