/*
 * system_folder.c - which folders are the system's own.
 *
 * One rule, by the place where a path leads, there or not yet: what holds
 * programs, settings and the kernel's own is the system's with all that is
 * below; a folder in which others have theirs (/srv, /mnt, /var/lib) is so
 * itself, and what is below it is not.  A list, no guess: first folders of a
 * root such as /data or /work are where containers have what is theirs, and
 * /usr/src is where their images work.
 */
#include <stdio.h>
#include <string.h>

#include "os/file/file.h"

/* With all that is below. */
static const char *const whole[] = {
    "/bin",     "/boot",      "/etc",       "/lib",         "/lib32",
    "/lib64",   "/proc",      "/sbin",      "/sys",         "/usr/bin",
    "/usr/lib", "/usr/lib32", "/usr/lib64", "/usr/libexec", "/usr/sbin"};
static const char *const itself[] = {
    "/",          "/dev",       "/home",     "/media",     "/mnt",
    "/opt",       "/run",       "/run/user", "/srv",       "/usr",
    "/usr/local", "/usr/share", "/var",      "/var/cache", "/var/lib",
    "/var/log",   "/var/mail",  "/var/opt",  "/var/spool"};

/* Behind what is there, what is not yet: a name after the other. */
static bool append(char real[FILE_PATH_SIZE], const char *rest)
{
    size_t size = strcmp(real, "/") == 0 ? 0 : strlen(real);

    while (*rest != '\0') {
        const size_t name = strcspn(rest, "/");

        if (name > 0 && !(name == 1 && rest[0] == '.')) {
            if (size + name + 1 >= FILE_PATH_SIZE)
                return false;
            real[size] = '/';
            memcpy(real + size + 1, rest, name);
            size += name + 1;
            real[size] = '\0';
        }
        rest += name + (rest[name] == '/');
    }
    return true;
}

/* Where it leads.  What goes back (..) from a folder that is not there leads
 * nowhere that could be named. */
static bool find_real(const char *path, char real[FILE_PATH_SIZE])
{
    char all[FILE_PATH_SIZE];
    size_t there;

    if (snprintf(all, sizeof all, "%s%s", path[0] == '/' ? "" : "./", path) >=
        (int)sizeof all)
        return false;
    there = strlen(all);
    for (;;) {
        const char next = all[there];
        bool found;

        all[there] = '\0';
        found = file_absolute(all, real, FILE_PATH_SIZE);
        all[there] = next;
        if (found)
            return append(real, all + there);
        if (there <= 1) /* "/" or ".". */
            return false;
        while (there > 1 && all[--there] != '/')
            ;
    }
}

bool file_is_system(const char *path)
{
    char real[FILE_PATH_SIZE];

    if (!find_real(path, real))
        return false;
    for (size_t i = 0; i < sizeof whole / sizeof *whole; i++) {
        const size_t size = strlen(whole[i]);

        if (strncmp(real, whole[i], size) == 0 &&
            (real[size] == '/' || real[size] == '\0'))
            return true;
    }
    for (size_t i = 0; i < sizeof itself / sizeof *itself; i++)
        if (strcmp(real, itself[i]) == 0)
            return true;
    return false;
}
