/*
 * outlet.c - the writing end of a pipe on a loop.
 */
#include <stdint.h>
#include <string.h>

#include "base/check.h"
#include "base/mem.h"
#include "os/loop.h"
#include "os/loop_parts.h"

struct outlet {
    uv_pipe_t uv;
    bool broken;
};

struct parcel {
    uv_write_t request;
    struct outlet *outlet;
    uint8_t data[];
};

static void outlet_release(uv_handle_t *handle)
{
    mem_free(handle->data);
}

enum err outlet_new(struct loop *loop, int fd, struct outlet **outlet)
{
    struct outlet *made = mem_new(1, sizeof *made);

    if (made == NULL)
        return ERR_NOMEM;
    CHECK(uv_pipe_init(&loop->uv, &made->uv, 0) == 0);
    made->uv.data = made;
    if (uv_pipe_open(&made->uv, fd) != 0) {
        uv_close((uv_handle_t *)&made->uv, outlet_release);
        return ERR_IO;
    }
    *outlet = made;
    return ERR_OK;
}

static void parcel_written(uv_write_t *request, int status)
{
    struct parcel *parcel = request->data;

    if (status < 0 && status != UV_ECANCELED)
        parcel->outlet->broken = true;
    mem_free(parcel);
}

/* What does not fit into the pipe now. */
static bool send_later(struct outlet *outlet, const void *data, size_t size)
{
    struct parcel *parcel;
    uv_buf_t buffer;

    parcel = mem_new(1, sizeof *parcel + size);
    if (parcel == NULL)
        return false;
    memcpy(parcel->data, data, size);
    parcel->outlet = outlet;
    parcel->request.data = parcel;
    buffer = uv_buf_init((char *)parcel->data, (unsigned)size);
    if (uv_write(&parcel->request, (uv_stream_t *)&outlet->uv, &buffer, 1,
                 parcel_written) != 0) {
        mem_free(parcel);
        outlet->broken = true;
        return false;
    }
    return true;
}

/* Nearly always the pipe has room, and nothing is copied. */
bool outlet_send(struct outlet *outlet, const void *data, size_t size)
{
    uv_buf_t buffer = {.len = size};
    int sent;

    if (outlet->broken)
        return false;
    memcpy(&buffer.base, &data, sizeof data); /* libuv only reads there. */
    sent = uv_try_write((uv_stream_t *)&outlet->uv, &buffer, 1);
    if (sent == UV_EAGAIN)
        sent = 0;
    outlet->broken = sent < 0;
    if (outlet->broken || (size_t)sent == size)
        return !outlet->broken;
    return send_later(outlet, (const uint8_t *)data + sent,
                      size - (size_t)sent);
}

size_t outlet_queued(const struct outlet *outlet)
{
    return uv_stream_get_write_queue_size((const uv_stream_t *)&outlet->uv);
}

void outlet_free(struct outlet *outlet)
{
    if (outlet != NULL)
        uv_close((uv_handle_t *)&outlet->uv, outlet_release);
}
