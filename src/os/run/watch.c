/*
 * watch.c - a callback on the loop when a descriptor can be read.
 */
#include "base/mem.h"
#include "os/run/loop.h"
#include "os/run/loop_parts.h"

struct watch {
    uv_poll_t uv;
    loop_callback readable;
    void *context;
};

static void watch_release(uv_handle_t *handle)
{
    mem_free(handle->data);
}

static void watch_saw(uv_poll_t *uv, int status, int events)
{
    struct watch *watch = uv->data;

    (void)status;
    (void)events;
    watch->readable(watch->context);
}

enum err watch_new(struct loop *loop, int fd, loop_callback readable,
                   void *context, struct watch **watch)
{
    struct watch *made = mem_new(1, sizeof *made);

    if (made == NULL)
        return ERR_NOMEM;
    made->readable = readable;
    made->context = context;
    if (uv_poll_init(&loop->uv, &made->uv, fd) != 0) {
        mem_free(made);
        return ERR_IO;
    }
    made->uv.data = made;
    if (uv_poll_start(&made->uv, UV_READABLE, watch_saw) != 0) {
        watch_free(made);
        return ERR_IO;
    }
    *watch = made;
    return ERR_OK;
}

void watch_free(struct watch *watch)
{
    if (watch != NULL)
        uv_close((uv_handle_t *)&watch->uv, watch_release);
}
