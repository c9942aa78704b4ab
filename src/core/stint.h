/*
 * stint.h - what a process did from when to when, for --trace.
 *
 * Workers time their own stints on their own clocks and send them with PULSE;
 * the coordinator lays them on its clock (core/link/offset.h).
 */
#ifndef CORE_STINT_H
#define CORE_STINT_H

#include <stdint.h>

#include "base/time.h"

#define STINTS_MAX 64u /* In one PULSE. */

#define STINT_LIST(X)                                                          \
    X(STINT_COMPUTE, "compute")       /* a piece, to its end */                \
    X(STINT_WAIT, "wait")             /* nothing to do: others are slower */   \
    X(STINT_DELAYED, "delayed")       /* --delay: slow on purpose */           \
    X(STINT_CANCELLED, "cancelled")   /* a piece that was called off */        \
    X(STINT_SEND, "send")             /* an answer was on its way out */       \
    X(STINT_COMMIT, "commit")         /* coordinator: decode and update */     \
    X(STINT_JOURNAL, "journal")       /* coordinator: a record written */      \
    X(STINT_CHECKPOINT, "checkpoint") /* coordinator: beside the rounds */

#define STINT_ENUM(code, text) code,
enum stint_kind { STINT_LIST(STINT_ENUM) STINT_KINDS };
#undef STINT_ENUM

struct stint {
    enum stint_kind kind;
    uint32_t step;  /* Of the round it belongs to. */
    uint32_t piece; /* COMPUTE, CANCELLED, DELAYED. */
    time_us began;
    int64_t took_us;
    int64_t stop_us; /* CANCELLED: from hearing of it to standing still. */
};

const char *stint_name(enum stint_kind kind);

#endif /* CORE_STINT_H */
