/*
 * limits.c - resource limits (RLIMIT_NOFILE, RLIMIT_STACK) and the number of
 * descriptors in use.
 */
#include "os/run/limits.h"

#include <dirent.h>
#include <fcntl.h>
#include <stddef.h>
#include <sys/resource.h>

#define NUMBERS_MAX 65536u

/* Without /proc: one by one. */
static uint64_t count_numbers(void)
{
    const uint64_t most = limits_files();
    uint64_t count = 0;

    for (uint64_t fd = 0; fd < most && fd < NUMBERS_MAX; fd++)
        count += fcntl((int)fd, F_GETFD) >= 0;
    return count;
}

uint64_t limits_files_open(void)
{
    DIR *folder = opendir("/proc/self/fd");
    uint64_t count = 0;

    if (folder == NULL)
        return count_numbers();
    for (const struct dirent *entry = readdir(folder); entry != NULL;
         entry = readdir(folder))
        count += entry->d_name[0] != '.';
    (void)closedir(folder);
    return count - 1; /* The folder itself. */
}

uint64_t limits_files(void)
{
    struct rlimit limit;

    if (getrlimit(RLIMIT_NOFILE, &limit) != 0)
        return UINT64_MAX;
    return limit.rlim_cur;
}

uint64_t limits_files_raise(uint64_t wanted)
{
    struct rlimit limit;
    rlim_t before;

    if (getrlimit(RLIMIT_NOFILE, &limit) != 0)
        return UINT64_MAX;
    before = limit.rlim_cur;
    if (before >= wanted)
        return before;
    limit.rlim_cur = wanted < limit.rlim_max ? wanted : limit.rlim_max;
    (void)setrlimit(RLIMIT_NOFILE, &limit);
    return before;
}

void limits_files_restore(uint64_t before)
{
    struct rlimit limit;

    if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur <= before)
        return;
    limit.rlim_cur = before;
    (void)setrlimit(RLIMIT_NOFILE, &limit);
}

uint64_t limits_stack(void)
{
    struct rlimit limit;

    return getrlimit(RLIMIT_STACK, &limit) == 0 ? limit.rlim_cur : UINT64_MAX;
}
