#include "os/output.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "os/file.h"
#include "os/random.h"
#include "os/transfer.h"

#define PATH_SIZE 4096u

enum { BUFFER_SIZE = 1 << 18 };

struct output {
    int fd;
    int error; /* errno of the first failure. */
    uint64_t size;
    size_t used;
    char path[PATH_SIZE];
    char temporary[PATH_SIZE + 32]; /* "": none. */
    uint8_t buffer[BUFFER_SIZE];
};

static enum err open_file(struct output **output, const char *path, bool live,
                          struct why *why)
{
    struct output *made = mem_new(1, sizeof *made);

    if (made == NULL)
        return why_set(why, ERR_NOMEM, "%s: out of memory", path);
    if (snprintf(made->path, sizeof made->path, "%s", path) >=
        (int)sizeof made->path) {
        mem_free(made);
        return file_write_failed(why, path, ENAMETOOLONG);
    }
    if (!live)
        (void)snprintf(made->temporary, sizeof made->temporary,
                       "%s.tmp.%016" PRIx64, path, random_u64());
    made->fd =
        open(live ? made->path : made->temporary,
             O_WRONLY | O_CREAT | O_CLOEXEC | (live ? O_TRUNC : O_EXCL), 0644);
    if (made->fd < 0) {
        const int error = errno;

        mem_free(made);
        return file_write_failed(why, path, error);
    }
    *output = made;
    return ERR_OK;
}

enum err output_open(struct output **output, const char *path, struct why *why)
{
    return open_file(output, path, false, why);
}

enum err output_open_live(struct output **output, const char *path,
                          struct why *why)
{
    return open_file(output, path, true, why);
}

static void write_out(struct output *output, const void *data, size_t size)
{
    if (output->error == 0 && size > 0 &&
        transfer_write_all(output->fd, data, size) != ERR_OK)
        output->error = errno;
}

void output_write(struct output *output, const void *data, size_t size)
{
    output->size += size;
    if (size > BUFFER_SIZE - output->used) {
        write_out(output, output->buffer, output->used);
        output->used = 0;
    }
    if (size >= BUFFER_SIZE) {
        write_out(output, data, size);
    } else if (size > 0) {
        memcpy(output->buffer + output->used, data, size);
        output->used += size;
    }
}

uint64_t output_size(const struct output *output)
{
    return output->size;
}

static void drop_temporary(const struct output *output)
{
    if (output->temporary[0] != '\0')
        (void)unlink(output->temporary);
}

enum err output_commit(struct output *output, struct why *why)
{
    enum err err = ERR_OK;

    write_out(output, output->buffer, output->used);
    if (output->error == 0 && fsync(output->fd) != 0)
        output->error = errno;
    if (close(output->fd) != 0 && output->error == 0)
        output->error = errno;
    if (output->error == 0 && output->temporary[0] != '\0' &&
        rename(output->temporary, output->path) != 0)
        output->error = errno;
    if (output->error != 0) {
        drop_temporary(output);
        err = file_write_failed(why, output->path, output->error);
    }
    mem_free(output);
    return err;
}

void output_abort(struct output *output)
{
    if (output == NULL)
        return;
    (void)close(output->fd);
    drop_temporary(output);
    mem_free(output);
}
