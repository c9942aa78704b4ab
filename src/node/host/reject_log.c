/*
 * reject_log.c - rate limiting of the log lines that strangers can provoke.
 */
#include "node/host/reject_log.h"

#include <inttypes.h>
#include <string.h>

#include "base/quick.h"
#include "os/log.h"

void reject_log_end(struct reject_log *log)
{
    if (log->held > 0)
        log_line("... and %" PRIu64 " more were turned away", log->held);
    log->held = 0;
}

void reject_log_add(struct reject_log *log, time_us now, const char *sentence)
{
    if (log->began_at == 0 || now - log->began_at >= REJECT_LOG_US) {
        reject_log_end(log);
        log->began_at = now;
        log->lines = 0;
    }
    if (log->lines == REJECT_LOG_LINES) {
        log->held++;
        return;
    }
    log->lines++;
    log_line("%s", sentence);
}

void reject_log_once(struct reject_log *log, time_us now, const char *what,
                     const char *sentence)
{
    const uint64_t name = quick_u64(what, strlen(what), 0);
    const uint32_t known =
        log->said_count < REJECT_LOG_SAID ? log->said_count : REJECT_LOG_SAID;

    for (uint32_t i = 0; i < known; i++)
        if (log->said[i] == name)
            return;
    log->said[log->said_count++ % REJECT_LOG_SAID] = name;
    reject_log_add(log, now, sentence);
}
