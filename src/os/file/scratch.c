#define _GNU_SOURCE
/*
 * scratch.c - a temporary folder under TMPDIR (mkdtemp), removed with all that
 * is in it.
 *
 * SIGKILL leaves nobody in a process to tidy up, so another one does: it waits
 * for the end of a stream whose other end this process and its children hold.
 * It is in a session of its own, where no Ctrl-C reaches it, and no child of
 * ours, so that a host that waits for all its children does not wait for it.
 */
#include "os/file/scratch.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

/* What this process wrote there is flatter: a ring's peers have a folder each,
 * a search one for each training. */
enum { DEPTH_MAX = 8 };

/* Links are removed, never followed. */
static void remove_all(int parent, const char *name, int depth)
{
    const int fd =
        openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    DIR *folder = fd < 0 ? NULL : fdopendir(fd);
    const struct dirent *entry;

    if (folder == NULL) {
        if (fd >= 0)
            (void)close(fd);
        return;
    }
    while ((entry = readdir(folder)) != NULL) {
        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
            continue;
        if (unlinkat(fd, entry->d_name, 0) != 0 && depth > 0)
            remove_all(fd, entry->d_name, depth - 1);
    }
    (void)closedir(folder);
    (void)unlinkat(parent, name, AT_REMOVEDIR);
}

/* Until a byte says that there is nothing to do, or nobody is left who could
 * write one. */
__attribute__((noreturn)) static void keep(const char *path, int end)
{
    char done;
    ssize_t got;

    (void)setsid();
    (void)prctl(PR_SET_NAME, "muster:keeper", 0, 0, 0);
    if (end > 0)
        (void)close_range(0, (unsigned)end - 1, 0);
    (void)close_range((unsigned)end + 1, UINT_MAX, 0);
    do
        got = read(end, &done, 1);
    while (got < 0 && errno == EINTR);
    if (got == 0)
        remove_all(AT_FDCWD, path, DEPTH_MAX);
    _exit(0);
}

/* Without one the folder is removed in good order only. */
static void start_keeper(struct scratch *scratch)
{
    sigset_t all, before;
    int ends[2];
    pid_t child;

    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
        return;
    sigfillset(&all); /* None of the host's handlers runs in the keeper. */
    (void)pthread_sigmask(SIG_SETMASK, &all, &before);
    child = fork();
    if (child == 0 && fork() == 0)
        keep(scratch->path, ends[0]);
    if (child == 0)
        _exit(0);
    while (child > 0 && waitpid(child, NULL, 0) < 0 && errno == EINTR)
        continue;
    (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
    (void)close(ends[0]);
    scratch->lifeline = ends[1];
}

enum err scratch_open(struct scratch *scratch, struct why *why)
{
    const char *under = getenv("TMPDIR");
    int size;

    *scratch = (struct scratch){.lifeline = -1};
    if (under == NULL || under[0] == '\0')
        under = "/tmp";
    size = snprintf(scratch->path, sizeof scratch->path, "%s/muster-XXXXXX",
                    under);
    if (size < 0 || (size_t)size >= sizeof scratch->path)
        return why_set(why, ERR_SHAPE, "TMPDIR: not a path");
    if (mkdtemp(scratch->path) == NULL)
        return why_set(why, ERR_IO, "%s: cannot make a folder: %s", under,
                       strerror(errno));
    start_keeper(scratch);
    return ERR_OK;
}

void scratch_close(struct scratch *scratch)
{
    remove_all(AT_FDCWD, scratch->path, DEPTH_MAX);
    if (scratch->lifeline < 0)
        return;
    (void)send(scratch->lifeline, "", 1, MSG_NOSIGNAL);
    (void)close(scratch->lifeline);
}
