/*
 * reading.c - ends of a command that still reads its rows.
 */
#include "cli/reading.h"

#include "cli/cli.h"
#include "node/host/ways.h"
#include "os/file/file.h"
#include "os/run/interrupt.h"

/* By `muster stop`, or with its folder. */
static bool is_stopped(void *context)
{
    const struct reading *reading = context;
    char path[FILE_PATH_SIZE];

    file_path_in(reading->folder, READING_FILE, path);
    return file_find(path, NULL) == ERR_NOTFOUND;
}

static void end(void *context, int number)
{
    const struct reading *reading = context;

    reading->end(reading->context, number);
}

enum err reading_begin(struct reading *reading, struct why *why)
{
    struct interrupt_early early = {.end = end, .context = reading};
    char path[FILE_PATH_SIZE];
    enum err err = ERR_OK;

    reading->there = false;
    if (reading->folder != NULL) {
        file_path_in(reading->folder, READING_FILE, path);
        err = file_write_atomic(path, "", 0, 0600, why);
        reading->there = err == ERR_OK;
    }
    if (reading->there)
        early.over = is_stopped;
    if (err == ERR_OK)
        interrupt_begin_early(&early);
    return err;
}

void reading_forget(struct reading *reading)
{
    char path[FILE_PATH_SIZE];

    if (!reading->there)
        return;
    file_path_in(reading->folder, READING_FILE, path);
    file_remove(path);
    reading->there = false;
}

void reading_end(struct reading *reading)
{
    interrupt_end_early();
    reading_forget(reading);
}

void reading_over(struct reading *reading, struct flag *stop)
{
    char path[FILE_PATH_SIZE];

    if (!reading->there)
        return;
    file_path_in(reading->folder, READING_FILE, path);
    if (!file_remove_first(path))
        flag_raise(stop);
    reading->there = false;
}

int reading_status(int number, bool kept)
{
    if (number == INTERRUPT_INT || (number != 0 && !kept))
        return EXIT_SIGNAL + number;
    return EXIT_PREEMPTED;
}
