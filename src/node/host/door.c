/*
 * door.c - rate limiting of the log lines that strangers can provoke.
 */
#include "node/host/door.h"

#include <inttypes.h>

#include "os/log.h"

void door_end(struct door *door)
{
    if (door->held > 0)
        log_line("... and %" PRIu64 " more were turned away", door->held);
    door->held = 0;
}

void door_log(struct door *door, time_us now, const char *sentence)
{
    if (door->began_at == 0 || now - door->began_at >= DOOR_US) {
        door_end(door);
        door->began_at = now;
        door->lines = 0;
    }
    if (door->lines == DOOR_LINES) {
        door->held++;
        return;
    }
    door->lines++;
    log_line("%s", sentence);
}
