/*
 * delay_load.c - delays with the trace files that their grammar names.
 */
#include "learn/recipe/delay_load.h"

#include "base/mem.h"
#include "os/file/file.h"

#define TRACE_BYTES_MAX ((size_t)1 << 30)

enum err delay_trace_load(const char *path, struct delay_trace *trace,
                          struct why *why)
{
    uint8_t *data;
    size_t size;
    enum err err = file_read(path, TRACE_BYTES_MAX, &data, &size, why);

    if (err != ERR_OK)
        return err;
    err = delay_trace_parse(trace, (const char *)data, why);
    mem_free(data);
    return err == ERR_OK ? err : why_in(why, err, "%.300s", path);
}

enum err delay_load(const char *text, uint64_t seed, struct delay *delay,
                    struct delay_files *files, struct why *why)
{
    struct delay made;
    enum err err = delay_parse(text, seed, &made, why);

    for (uint32_t i = 0; err == ERR_OK && i < made.count; i++) {
        if (made.term[i].kind != DELAY_TRACE)
            continue;
        err = delay_trace_load(made.term[i].name, &files->trace[i], why);
        made.term[i].trace = &files->trace[i];
    }
    if (err == ERR_OK)
        *delay = made;
    else
        delay_files_close(files);
    return err;
}

void delay_files_close(struct delay_files *files)
{
    for (uint32_t i = 0; i < DELAY_TERMS_MAX; i++)
        delay_trace_close(&files->trace[i]);
}
