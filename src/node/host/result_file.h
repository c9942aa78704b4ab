/*
 * result_file.h - how a coordinator's last life hands over what it made.
 *
 * Written in one step before the coordinator says goodbye to anyone, read by
 * the supervisor once it is gone.  Where the disk takes no more, it is left in
 * memory that both have (os/file/memory_file.h): a model that is done is not
 * lost for want of room (P5).
 */
#ifndef NODE_RESULT_FILE_H
#define NODE_RESULT_FILE_H

#include <stdbool.h>
#include <stdint.h>

#include "core/run/names.h"
#include "core/star/coordinator.h"

#define RESULT_FILE "result"
extern const struct names result_names;

struct run_result {
    enum err err; /* ERR_OK: finished; ERR_CANCELLED: stopped. */
    char reason[REASON_SIZE];
    uint32_t steps;
    uint32_t saved; /* Fewer than steps: the disk failed. */
    uint64_t evaluations;
    struct optim_outcome outcome;
    struct coordinator_stats stats; /* Of that life. */
    uint32_t dims;
    double *weights; /* Read: from mem_new. */
};

/* `spare` is a memory file, or -1.  Success in one of the two places is one;
 * *on_disk says whether it was the file.  Without a folder it is not tried. */
MUST_CHECK enum err result_write(const char *folder, int spare,
                                 const struct run_result *result, bool *on_disk,
                                 struct why *why);
/* ERR_NOTFOUND if the coordinator died before it wrote one. */
MUST_CHECK enum err result_read(const char *folder, int spare,
                                struct run_result *result, struct why *why);
void result_remove(const char *folder);

#endif /* NODE_RESULT_FILE_H */
