/*
 * account.h - a run summed up over all lives of its coordinator.
 *
 * Three sources, each for what it cannot miss: the trace stream for who came
 * and when steps were committed, the supervisor's own waitpid for which local
 * workers died, the journal for what each step was worth.
 */
#ifndef NODE_ACCOUNT_H
#define NODE_ACCOUNT_H

#include <stdbool.h>
#include <stdint.h>

#include "core/star/coordinator.h"
#include "core/trace.h"
#include "node/run/train.h"

struct account_name;

struct account {
    struct account_name *names;
    uint32_t count;
    size_t capacity;
    uint32_t joined, left, died, alive, alive_max;
    struct coordinator_stats life; /* Of the present coordinator, by trace. */
    struct coordinator_stats past; /* Of those that died. */
    uint32_t step;                 /* Highest committed. */
    uint32_t opened;               /* Highest that opened, and one. */
    double objective;
    time_us began_at, committed_at; /* 0 = not yet. */
    time_us worst_pause_us;
    uint32_t coordinator_deaths;
};

void account_close(struct account *account);
/* `local`: the worker is a child of ours, whose death waitpid tells. */
void account_trace(struct account *account, const struct trace *trace,
                   bool local);
/* A child of ours is gone; `died`: not in good order. */
void account_worker_ended(struct account *account, const char *name, bool died);
void account_coordinator_died(struct account *account);
uint32_t account_strangers_alive(const struct account *account);

/* Fill steps, times and stats.  `last`: stats of the last life, or NULL. */
void account_report(const struct account *account, const char *folder,
                    const struct coordinator_stats *last,
                    struct train_result *result);

#endif /* NODE_ACCOUNT_H */
