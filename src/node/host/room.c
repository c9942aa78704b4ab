/*
 * room.c - admission by file descriptors: they are counted and the limit raised
 * before a run starts.
 */
#include "node/host/room.h"

#include "os/run/limits.h"

enum err room_make(const struct room_wish *wish, uint64_t *before,
                   struct why *why)
{
    const uint64_t need = limits_files_open() + ROOM_OWN +
                          2 * (uint64_t)wish->links + wish->berths +
                          wish->doors;
    const uint64_t was = limits_files_raise(need);
    const uint64_t have = limits_files();

    if (have >= need) {
        *before = was;
        return ERR_OK;
    }
    limits_files_restore(was);
    return why_set(why, ERR_IO,
                   "%s: %llu open files are needed at once, and the limit is "
                   "%llu; raise it with `ulimit -n %llu`%s",
                   wish->who, (unsigned long long)need,
                   (unsigned long long)have, (unsigned long long)need,
                   wish->relays ? ", take fewer workers, or put them behind "
                                  "relays with --fanout 8"
                                : "");
}
