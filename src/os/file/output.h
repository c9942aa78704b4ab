/*
 * output.h - the one way by which a file is written, whole or not at all.
 *
 * What users name is written as they mean it:
 *     a file, or nothing   beside it, then renamed over it: readers see the old
 *                          or the new.  Mode and group stay those of the old,
 *                          if that is ours; of another user's file it takes
 *                          only what is denied.  It is ours in any case.
 *     a symbolic link      its target so; the link stays.  One of neither ours
 *                          nor root's is refused.
 *     a device, /dev/fd/N  written through; so is what our own standard output
 *                          or standard error goes to.
 *     a pipe, a socket     refused by its name: nobody may ever read from it.
 *     "-", /dev/stdout     standard output (output_take_stdout).
 * A file that is not writable is not replaced, though its folder would allow
 * it.
 */
#ifndef OS_OUTPUT_H
#define OS_OUTPUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

struct output;

enum output_way {
    OUTPUT_WHOLE, /* As above. */
    OUTPUT_LIVE,  /* Straight into the file, which is emptied: readers see it
                     grow, and what was written stays whatever happens.
                     Another user's file is refused. */
    OUTPUT_OWN,   /* A name that we chose: whatever has it is replaced, links
                     are not followed. */
    OUTPUT_NEW,   /* Straight into a file that must not be there, ERR_EXISTS;
                     links are not followed. */
};

/* New files get `mode`, 0600 to 0644. */
MUST_CHECK enum err output_open(struct output **output, const char *path,
                                enum output_way way, unsigned mode,
                                struct why *why);
/* Appends; the first failure is kept and told by output_commit. */
void output_write(struct output *output, const void *data, size_t size);
/* Replace `path`, durably; frees `output` whatever the outcome. */
MUST_CHECK enum err output_commit(struct output *output, struct why *why);
/* Drop what was written; accepts NULL. */
void output_abort(struct output *output);

/* All of it at once; signals that end the program wait until a file is there.
 */
MUST_CHECK enum err output_put(const char *path, enum output_way way,
                               unsigned mode, const void *data, size_t size,
                               struct why *why);
/* The same the way OUTPUT_WHOLE, mode 0644. */
MUST_CHECK enum err output_save(const char *path, const void *data, size_t size,
                                struct why *why);

/* The same the way OUTPUT_OWN, with the mode and group of the file `like`. */
MUST_CHECK enum err output_put_like(const char *path, const char *like,
                                    const void *data, size_t size,
                                    struct why *why);

/* For who writes beside it by itself: the file that `path` leads to, there or
 * not; ERR_DENIED if that is no file.  Then put `part` in its place, with what
 * it takes from the old one as above. */
MUST_CHECK enum err output_target(const char *path, char *target,
                                  size_t capacity, struct why *why);
MUST_CHECK enum err output_place(const char *part, const char *target,
                                 struct why *why);

/* "-", or another name of standard output. */
bool output_is_stdout(const char *path);
/* From now on standard output is for what is written to "-" alone: everything
 * else that is printed goes to standard error.  Before anything is printed. */
MUST_CHECK enum err output_take_stdout(struct why *why);

/* Could `path` be written the way OUTPUT_WHOLE?  A program asks before it works
 * for hours; a file is made beside it and removed to know. */
MUST_CHECK enum err output_check(const char *path, struct why *why);

/* The mode of what is made of a file: who may not read that may not read it.
 */
unsigned output_mode_of(const char *path);
/* Is there a plain file of that name, links followed? */
bool output_is_file(const char *path);
/* The same, with something in it, or nobody can say what? */
bool output_is_filled(const char *path);
/* Are both there, and the same file?  "-" as the first is standard input. */
bool output_is_input(const char *input, const char *path);

#endif /* OS_OUTPUT_H */
