/*
 * file.h - whole files by path, for what people see and name.
 *
 * Run folders with journal and checkpoint go through os/file/folder.h instead.
 */
#ifndef OS_FILE_H
#define OS_FILE_H

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

/* The whole file, with a NUL after its last byte that does not count, from
 * mem_new.  ERR_NOTFOUND, ERR_TOOBIG (more than `max` bytes), ERR_DENIED (a
 * pipe with a name, too, which could be waited for without end: those that are
 * open already, such as /dev/stdin, are read), ERR_IO; the sentence names the
 * path. */
MUST_CHECK enum err file_read(const char *path, size_t max, uint8_t **data,
                              size_t *size, struct why *why);

/* A file whose name we chose: replaced durably and in one step, whatever was
 * there, with `mode`, 0600 or 0644.  What users name is written by
 * os/file/output.h. */
MUST_CHECK enum err file_write_atomic(const char *path, const void *data,
                                      size_t size, unsigned mode,
                                      struct why *why);

/* Make a folder of mode 0700 and its missing parents; fine if it is there. */
MUST_CHECK enum err file_make_folder(const char *path, struct why *why);

/* The last of them must be new: ERR_EXISTS whatever has that name. */
MUST_CHECK enum err file_make_new_folder(const char *path, struct why *why);
/* ERR_DENIED with a sentence unless it is a folder of ours that no other user
 * can put files in, nor another folder in its place; a link to one must be
 * ours, too.  The folder that we work in and those above it are believed: who
 * owns them has what is done there anyway. */
MUST_CHECK enum err file_check_folder(const char *path, struct why *why);

/* Is it there, and another user's?  The sentence says whose; what to do about
 * it is the caller's to say. */
bool file_is_foreign(const char *path, struct why *why);
/* We ourselves, root, or somebody whom our namespace has no number for. */
bool file_is_trusted(uint32_t user);
/* Where the system has its own files, or what leads there: no place to put
 * others.  Also of what is not there yet. */
bool file_is_system(const char *path);

/* FOLDER/NAME, or, if that is too long for any file, nothing at all. */
#define FILE_PATH_SIZE 4096u
void file_path_in(const char *folder, const char *name,
                  char path[FILE_PATH_SIZE]);
/* ERR_NOTFOUND, or why it cannot be said whether it is there. */
MUST_CHECK enum err file_find(const char *path, struct why *why);
bool file_exists(const char *path);
/* A name of the system for what is open already: /dev/fd/3. */
bool file_is_descriptor(const char *path);
bool file_is_folder(const char *path);
bool file_is_link(const char *path);
/* The same file from any folder; false if it is not there or too long. */
bool file_absolute(const char *path, char *out, size_t capacity);
/* What a symbolic link says; false if it is none, or too long. */
bool file_read_link(const char *path, char *out, size_t capacity);
/* One file takes another's name, both in the open `folder` (AT_FDCWD: by their
 * paths).  0, or an errno. */
MUST_CHECK int file_rename(int folder, const char *from, const char *to);
/* The end of writing beside and renaming: if it fails, `from` is removed. */
MUST_CHECK int file_take_place(int folder, const char *from, const char *to);
/* Where this user's caches lie (XDG), and `under` it: "", "/chunks".  False if
 * nobody says where, or it is too long. */
bool file_cache_path(const char *under, char *path, size_t capacity);

/* A symbolic link to `target` in the place of whatever is at `path`. */
MUST_CHECK enum err file_link_atomic(const char *target, const char *path,
                                     struct why *why);
/* Fine if there is none. */
void file_remove(const char *path);
/* True: it was there, and nobody else has removed it. */
bool file_remove_first(const char *path);
/* If it is empty. */
void file_remove_folder(const char *path);

/* Every name in a folder, in no order; nothing if it cannot be read. */
void file_names(const char *folder,
                void (*see)(void *context, const char *name), void *context);

/* The same of files in a folder that may hold anything: neither a link nor a
 * pipe, which could make us wait, ERR_DENIED. */
MUST_CHECK enum err file_read_plain(const char *path, size_t max,
                                    uint8_t **data, size_t *size,
                                    struct why *why);

/* ERR_DENIED with a sentence unless the file is a plain one, ours and closed
 * to everyone else (S4). */
MUST_CHECK enum err file_check_private(const char *path, struct why *why);
/* The same of the very file that is read: nobody can put another one there in
 * between. */
MUST_CHECK enum err file_read_private(const char *path, size_t max,
                                      uint8_t **data, size_t *size,
                                      struct why *why);

/* Hold `path` (a plain file, made if need be) until the process ends or `fd` is
 * closed with file_unlock.  ERR_EXISTS if another process holds it, or removed
 * it just now: who holds it may. */
MUST_CHECK enum err file_lock(const char *path, int *fd, struct why *why);
void file_unlock(int fd);
/* Does a process hold it?  Looking gets in nobody's way. */
bool file_locked(const char *path);

/* The sentence for a system call on `path` that failed: what to do about it,
 * too, where that is known. */
#define FILE_STRANGERS_LINK EREMCHG /* Which no file gives. */
#define FILE_STRANGERS_FILE ENOTUNIQ
enum err file_read_words(struct why *why, int error); /* All but the path. */
enum err file_read_failed(struct why *why, const char *path, int error);
enum err file_write_failed(struct why *why, const char *path, int error);

#endif /* OS_FILE_H */
