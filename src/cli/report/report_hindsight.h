/*
 * report_hindsight.h - what other codes would have taken, from a run's history.
 */
#ifndef CLI_REPORT_REPORT_HINDSIGHT_H
#define CLI_REPORT_REPORT_HINDSIGHT_H

#include <jansson.h>
#include <stdint.h>

#include "base/err.h"
#include "code/code.h"

/* Recorded steps: arrays of workers' names and of steps, in which `cells` has
 * [answered, compute, chunks] of each worker. */
struct report_steps {
    const json_t *names, *list;
};

/* A whole number; 0 if there is none. */
json_int_t report_whole(const json_t *object, const char *key);

/* The code that a part of a history names.  ERR_UNKNOWN, or as preset_spec. */
MUST_CHECK enum err report_spec(const json_t *code, uint32_t workers,
                                struct code_spec *spec);

/* `part` is the history's last: of the code and its slots.  An object with a
 * note, and with figures unless the note says why there are none. */
json_t *report_hindsight(const struct report_steps *steps, const json_t *part);

#endif /* CLI_REPORT_REPORT_HINDSIGHT_H */
