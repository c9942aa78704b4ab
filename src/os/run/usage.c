#define _GNU_SOURCE /* syscall */
/*
 * usage.c - processor time and run-queue delay of this process and its threads,
 * from getrusage and /proc/.../schedstat.
 */
#include "os/run/usage.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define NS_IN_US 1000

static int64_t clock_us(clockid_t clock)
{
    struct timespec t;

    if (clock_gettime(clock, &t) != 0)
        return 0;
    return (int64_t)t.tv_sec * 1000000 + t.tv_nsec / NS_IN_US;
}

/* "RAN WAITED SLICES", in nanoseconds. */
static int64_t read_waited(const char *path)
{
    char text[128];
    char *at = text;
    ssize_t size;
    const int fd = open(path, O_RDONLY | O_CLOEXEC);

    if (fd < 0)
        return 0;
    size = read(fd, text, sizeof text - 1);
    (void)close(fd);
    if (size <= 0)
        return 0;
    text[size] = '\0';
    (void)strtoll(text, &at, 10);
    return strtoll(at, NULL, 10) / NS_IN_US;
}

void usage_thread(struct usage_thread *usage)
{
    usage->ran_us = clock_us(CLOCK_THREAD_CPUTIME_ID);
    usage->starved_us = read_waited("/proc/thread-self/schedstat");
}

void usage_others(struct usage_others *usage)
{
    const long self = syscall(SYS_gettid);
    struct rusage all;
    DIR *tasks = opendir("/proc/self/task");

    /* In this order, so that what runs in between does not make it negative;
     * the two clocks still round differently. */
    const int64_t own_us = clock_us(CLOCK_THREAD_CPUTIME_ID);
    const int64_t all_us = clock_us(CLOCK_PROCESS_CPUTIME_ID);

    *usage =
        (struct usage_others){.ran_us = all_us > own_us ? all_us - own_us : 0};
    if (getrusage(RUSAGE_SELF, &all) == 0)
        usage->faults = (uint64_t)all.ru_majflt;
    if (tasks == NULL)
        return;
    for (const struct dirent *entry = readdir(tasks); entry != NULL;
         entry = readdir(tasks)) {
        char path[64];
        const long task = strtol(entry->d_name, NULL, 10);

        if (task == 0 || task == self)
            continue;
        (void)snprintf(path, sizeof path, "/proc/self/task/%ld/schedstat",
                       task);
        usage->starved_us += read_waited(path);
    }
    (void)closedir(tasks);
}
