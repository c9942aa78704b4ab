/*
 * ledger.h - a run summed up over all lives of its coordinator.
 *
 * Three sources, each for what it cannot miss: the trace stream for who came
 * and when steps were committed, the supervisor's own waitpid for which local
 * workers died, the journal for what each step was worth.
 */
#ifndef NODE_LEDGER_H
#define NODE_LEDGER_H

#include <stdbool.h>
#include <stdint.h>

#include "core/star/coordinator.h"
#include "core/trace.h"
#include "node/run/train.h"

struct ledger_name;

struct ledger {
    struct ledger_name *names;
    uint32_t count;
    size_t capacity;
    uint32_t joined, left, died, alive, alive_max;
    struct coordinator_stats life; /* Of the present coordinator, by trace. */
    struct coordinator_stats past; /* Of those that died. */
    uint32_t step;                 /* Highest committed. */
    double objective;
    time_us began_at, committed_at; /* 0 = not yet. */
    time_us worst_pause_us;
    uint32_t coordinator_deaths;
};

void ledger_close(struct ledger *ledger);
/* `local`: the worker is a child of ours, whose death waitpid tells. */
void ledger_trace(struct ledger *ledger, const struct trace *trace, bool local);
/* A child of ours is gone; `died`: not in good order. */
void ledger_worker_ended(struct ledger *ledger, const char *name, bool died);
void ledger_coordinator_died(struct ledger *ledger);
uint32_t ledger_strangers_alive(const struct ledger *ledger);

/* Fill steps, times and stats.  `last`: stats of the last life, or NULL. */
void ledger_report(const struct ledger *ledger, const char *folder,
                   const struct coordinator_stats *last,
                   struct train_result *result);

#endif /* NODE_LEDGER_H */
