/*
 * system_folder.c - which folders are the system's own.
 *
 * A list, not a rule: first folders of a root such as /data or /work are where
 * containers have what is theirs.
 */
#include <stdio.h>
#include <string.h>

#include "os/file/file.h"

/* `path`, or of what is there on the way to it the last. */
static bool find_last(const char *path, char real[FILE_PATH_SIZE])
{
    char part[FILE_PATH_SIZE];

    if (snprintf(part, sizeof part, "%s%s", path[0] == '/' ? "" : "./", path) >=
        (int)sizeof part)
        return false;
    while (!file_absolute(part, real, FILE_PATH_SIZE)) {
        char *slash = strrchr(part, '/');

        if (slash == NULL)
            return false;
        if (slash == part)
            slash++; /* "/" is always there. */
        if (*slash == '\0')
            return false;
        *slash = '\0';
    }
    return true;
}

bool file_is_system(const char *path)
{
    /* /usr/src is where images of containers work, /usr/local is a user's. */
    static const char *const whole[] = {
        "/boot", "/etc", "/proc", "/sys", "/usr/bin", "/usr/lib", "/usr/sbin"};
    static const char *const itself[] = {"/",    "/dev", "/home", "/lib",
                                         "/opt", "/run", "/usr",  "/var"};
    char real[FILE_PATH_SIZE];

    if (!find_last(path, real))
        return false;
    for (size_t i = 0; i < sizeof whole / sizeof *whole; i++) {
        const size_t size = strlen(whole[i]);

        if (strncmp(real, whole[i], size) == 0 &&
            (real[size] == '/' || real[size] == '\0'))
            return true;
    }
    for (size_t i = 0; i < sizeof itself / sizeof *itself; i++)
        if (strcmp(real, itself[i]) == 0 && file_exists(path))
            return true;
    return false;
}
