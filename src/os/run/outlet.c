/*
 * outlet.c - the writing end of a pipe on a loop.
 *
 * What the pipe does not take at once waits in one buffer, from `at` on.
 */
#include <errno.h>
#include <poll.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "os/run/loop.h"
#include "os/run/loop_parts.h"

#define CAPACITY_MIN 4096u

struct outlet {
    uv_poll_t uv;
    int fd;
    bool broken;  /* The reader is gone. */
    bool waiting; /* For the pipe to take more. */
    uint8_t *data;
    size_t at, end, capacity;
};

static void outlet_release(uv_handle_t *handle)
{
    struct outlet *outlet = handle->data;

    mem_free(outlet->data);
    mem_free(outlet);
}

enum err outlet_new(struct loop *loop, int fd, struct outlet **outlet)
{
    struct outlet *made = mem_new(1, sizeof *made);

    if (made == NULL)
        return ERR_NOMEM;
    made->fd = fd;
    /* It makes writes return at once. */
    if (uv_poll_init(&loop->uv, &made->uv, fd) != 0) {
        mem_free(made);
        return ERR_IO;
    }
    made->uv.data = made;
    *outlet = made;
    return ERR_OK;
}

static void give_up(struct outlet *outlet)
{
    outlet->broken = true;
    outlet->at = outlet->end = 0;
}

/* As much as the pipe takes; returns how much that is. */
static size_t write_some(struct outlet *outlet, const uint8_t *data,
                         size_t size)
{
    size_t gone = 0;

    while (gone < size) {
        const ssize_t wrote = write(outlet->fd, data + gone, size - gone);

        if (wrote < 0 && errno == EINTR)
            continue;
        if (wrote < 0 && errno != EAGAIN)
            give_up(outlet);
        if (wrote < 0)
            break;
        gone += (size_t)wrote;
    }
    return gone;
}

static void write_queued(struct outlet *outlet)
{
    const size_t gone =
        write_some(outlet, outlet->data + outlet->at, outlet->end - outlet->at);

    if (outlet->broken)
        return;
    outlet->at += gone;
    if (outlet->at == outlet->end)
        outlet->at = outlet->end = 0;
}

static void outlet_writable(uv_poll_t *uv, int status, int events);

static void watch_pipe(struct outlet *outlet)
{
    const bool wanted = outlet->at < outlet->end;

    if (wanted == outlet->waiting)
        return;
    if (!wanted)
        (void)uv_poll_stop(&outlet->uv);
    else if (uv_poll_start(&outlet->uv, UV_WRITABLE, outlet_writable) != 0)
        give_up(outlet);
    outlet->waiting = wanted && !outlet->broken;
}

static void outlet_writable(uv_poll_t *uv, int status, int events)
{
    struct outlet *outlet = uv->data;

    (void)events;
    if (status < 0)
        give_up(outlet);
    write_queued(outlet);
    watch_pipe(outlet);
}

/* At the end of the buffer, or of a longer one. */
static bool make_room(struct outlet *outlet, size_t size)
{
    const size_t queued = outlet->end - outlet->at;
    size_t capacity = CAPACITY_MIN;
    uint8_t *data = outlet->data;

    if (size <= outlet->capacity - outlet->end)
        return true;
    while (capacity < 2 * (queued + size))
        capacity *= 2;
    if (capacity > outlet->capacity)
        data = mem_new(capacity, 1);
    if (data == NULL)
        return false;
    if (queued > 0)
        memmove(data, outlet->data + outlet->at, queued);
    if (data != outlet->data) {
        mem_free(outlet->data);
        outlet->data = data;
        outlet->capacity = capacity;
    }
    outlet->at = 0;
    outlet->end = queued;
    return true;
}

/* Nearly always the pipe has room, and nothing is copied. */
bool outlet_send(struct outlet *outlet, const void *data, size_t size)
{
    const uint8_t *const bytes = data;
    size_t gone = 0;

    if (outlet->broken)
        return false;
    if (outlet->at == outlet->end)
        gone = write_some(outlet, bytes, size);
    if (outlet->broken || gone == size)
        return !outlet->broken;
    if (!make_room(outlet, size - gone)) {
        if (gone > 0) /* What follows could not be told apart any more. */
            give_up(outlet);
        return false;
    }
    memcpy(outlet->data + outlet->end, bytes + gone, size - gone);
    outlet->end += size - gone;
    watch_pipe(outlet);
    return !outlet->broken;
}

bool outlet_drain(struct outlet *outlet)
{
    struct pollfd room = {.fd = outlet->fd, .events = POLLOUT};

    while (outlet->at < outlet->end) {
        if (poll(&room, 1, -1) < 0 && errno != EINTR)
            give_up(outlet);
        write_queued(outlet);
    }
    watch_pipe(outlet);
    return !outlet->broken;
}

size_t outlet_queued(const struct outlet *outlet)
{
    return outlet->end - outlet->at;
}

void outlet_free(struct outlet *outlet)
{
    if (outlet == NULL)
        return;
    (void)uv_poll_stop(&outlet->uv);
    (void)close(outlet->fd);
    uv_close((uv_handle_t *)&outlet->uv, outlet_release);
}
