#define _GNU_SOURCE
/*
 * program.c - fork and exec of the file that we are, or of one that came with
 * it.
 */
#include "os/run/program.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/mem.h"
#include "os/file/file.h"

#define SELF         "/proc/self/exe"
#define EXIT_NO_EXEC 127
#define WORDS_MAX    128u
#define OWN          "MUSTER_" /* Variables of ours. */

/* Only what may be called between fork and exec. */
static _Noreturn void become(const struct program_start *start,
                             char *const *argv, char *const *env)
{
    const int flags = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW;
    int in, out, err;

    if (prctl(PR_SET_PDEATHSIG, SIGKILL) != 0 || chdir(start->folder) != 0)
        _exit(EXIT_NO_EXEC);
    in = open("/dev/null", O_RDONLY);
    out = open(start->output, flags, 0644);
    err = open(start->errors, flags, 0644);
    if (in < 0 || out < 0 || err < 0 || dup2(in, 0) < 0 || dup2(out, 1) < 0 ||
        dup2(err, 2) < 0)
        _exit(EXIT_NO_EXEC);
    (void)execve(start->program != NULL ? start->program : SELF, argv, env);
    _exit(EXIT_NO_EXEC);
}

/* The file is written anew: what has its name may have others, and of what is
 * no file nobody may ever read. */
static enum err make_room(const char *folder, const char *name, struct why *why)
{
    char path[FILE_PATH_SIZE];
    struct stat info;

    file_path_in(folder, name, path);
    if (lstat(path, &info) != 0)
        return errno == ENOENT ? ERR_OK : file_write_failed(why, path, errno);
    if (!S_ISREG(info.st_mode))
        return why_set(why, ERR_DENIED,
                       "%.300s: no plain file; remove it, or choose another "
                       "folder",
                       path);
    return unlink(path) == 0 ? ERR_OK : file_write_failed(why, path, errno);
}

char **program_environment(const char *without, size_t length, const char *more)
{
    size_t count = 0, kept = 0;
    char **env;

    while (environ[count] != NULL)
        count++;
    env = mem_new(count + 2, sizeof *env);
    for (size_t i = 0; env != NULL && i < count; i++)
        if (length == 0 || strncmp(environ[i], without, length) != 0)
            env[kept++] = environ[i];
    if (env != NULL && more != NULL)
        memcpy(&env[kept], &more, sizeof *env);
    return env;
}

enum err program_run(const struct program_start *start, struct process_end *end,
                     struct why *why)
{
    char *argv[WORDS_MAX + 2] = {(char[]){"muster"}};
    char **env;
    size_t count = 0;
    pid_t pid, got;
    int status;
    enum err err = make_room(start->folder, start->output, why);

    if (err == ERR_OK)
        err = make_room(start->folder, start->errors, why);
    if (err != ERR_OK)
        return err;
    while (count < WORDS_MAX && start->words[count] != NULL) {
        memcpy(&argv[count + 1], &start->words[count], sizeof *argv);
        count++;
    }
    env = program_environment(OWN, strlen(OWN), NULL);
    if (env == NULL)
        return why_set(why, ERR_NOMEM, "%s", err_text(ERR_NOMEM));
    pid = fork();
    if (pid == 0)
        become(start, argv, env);
    mem_free(env);
    if (pid < 0)
        return why_set(why, ERR_IO, "cannot start another muster: %s",
                       strerror(errno));
    while ((got = waitpid(pid, &status, 0)) < 0 && errno == EINTR)
        continue;
    if (got != pid)
        return why_set(why, ERR_IO, "cannot wait for another muster: %s",
                       strerror(errno));
    *end = (struct process_end){
        .signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0,
        .code = WIFEXITED(status) ? WEXITSTATUS(status) : 0};
    return ERR_OK;
}

bool program_find(const char *name, char *path, size_t size)
{
    static const char *const where[] = {".", "examples", "../libexec/muster"};
    char self[4096];
    const ssize_t length = readlink(SELF, self, sizeof self - 1);
    char *slash;

    if (length <= 0)
        return false;
    self[length] = '\0';
    slash = strrchr(self, '/');
    if (slash == NULL)
        return false;
    *slash = '\0';
    for (size_t i = 0; i < sizeof where / sizeof *where; i++) {
        const int used = snprintf(path, size, "%s/%s/%s", self, where[i], name);

        if (used > 0 && (size_t)used < size && access(path, X_OK) == 0)
            return true;
    }
    return false;
}

void program_become(const char *path, char *const *argv)
{
    (void)execv(path, argv);
}
