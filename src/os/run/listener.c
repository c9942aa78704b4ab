/*
 * listener.c - waiting for a bell: first by looking at memory, then asleep
 * (spin-then-park).
 *
 * The idle handle keeps libuv from blocking; the prepare handle runs before
 * each look at the descriptors.  It looks at the board for GLANCE_NS, again and
 * again until a wait has taken AWAKE_NS, and only then lets the loop sleep.
 */
#include "os/run/listener.h"

#include "base/check.h"
#include "base/mem.h"
#include "os/run/loop_parts.h"
#include "os/run/pause.h"
#include "os/run/threads.h"

#define AWAKE_NS  UINT64_C(400000)
#define GLANCE_NS UINT64_C(20000)
#define HANDLES   3
#define CROWDED   256u /* Waits asleep after one that was disturbed. */

struct listener {
    uv_poll_t poll;
    uv_prepare_t prepare;
    uv_idle_t idle;
    int open; /* Of these. */
    struct board *board;
    uint32_t berth;
    enum board_side side;
    loop_callback rung;
    void *context;
    bool spins;       /* The last wait was short. */
    bool unlikely;    /* That it will be rung soon. */
    uint32_t crowded; /* Waits to come in which others need the processor. */
    uint64_t since;   /* This one's beginning, by uv_hrtime; 0: not yet. */
};

static void stay(uv_idle_t *idle)
{
    (void)idle; /* That it is there keeps the loop awake. */
}

static void heard(struct listener *listener)
{
    listener->spins =
        listener->since != 0 && uv_hrtime() - listener->since < AWAKE_NS;
    listener->since = 0;
    listener->crowded -= listener->crowded > 0;
    listener->rung(listener->context);
}

/* By the kernel: we slept, or somebody had thought so. */
static void called(uv_poll_t *poll, int status, int events)
{
    struct listener *listener = poll->data;

    (void)status;
    (void)events;
    board_bell_hush(listener->board, listener->berth, listener->side);
    heard(listener);
}

void listener_expect(struct listener *listener, bool ring)
{
    if (listener == NULL)
        return;
    listener->unlikely = !ring;
    listener->since = 0;
}

void listener_look(struct listener *listener)
{
    if (listener == NULL)
        return;
    board_bell_hush(listener->board, listener->berth, listener->side);
    listener->rung(listener->context);
}

/* A glance that took far too long was interrupted: somebody else had the
 * processor, which therefore is not to spare. */
static bool glance(struct listener *listener)
{
    const uint64_t began = uv_hrtime();
    uint64_t now = began;
    bool rung = false;

    while (!rung && now - began < GLANCE_NS) {
        rung =
            board_bell_heard(listener->board, listener->berth, listener->side);
        processor_pause();
        now = uv_hrtime();
    }
    if (now - began > 4 * GLANCE_NS)
        listener->crowded = CROWDED;
    return rung;
}

/* Is the loop to sleep now?  Not if it has been rung meanwhile. */
static bool lie_down(struct listener *listener)
{
    (void)uv_idle_stop(&listener->idle);
    return board_bell_sleep(listener->board, listener->berth, listener->side);
}

static void get_up(struct listener *listener)
{
    board_bell_wake(listener->board, listener->berth, listener->side);
    (void)uv_idle_start(&listener->idle, stay);
}

static void before_poll(uv_prepare_t *prepare)
{
    struct listener *listener = prepare->data;

    if (listener->since == 0)
        listener->since = uv_hrtime();
    if (listener->spins && !listener->unlikely && listener->crowded == 0 &&
        uv_hrtime() - listener->since < AWAKE_NS) {
        get_up(listener);
        if (glance(listener))
            heard(listener);
    } else if (!lie_down(listener)) {
        get_up(listener);
        if (board_bell_heard(listener->board, listener->berth, listener->side))
            heard(listener);
    }
}

static void closed(uv_handle_t *handle)
{
    struct listener *listener = handle->data;

    if (--listener->open == 0)
        mem_free(listener);
}

void listener_free(struct listener *listener)
{
    if (listener == NULL)
        return;
    (void)board_bell_sleep(listener->board, listener->berth, listener->side);
    uv_close((uv_handle_t *)&listener->poll, closed);
    uv_close((uv_handle_t *)&listener->prepare, closed);
    uv_close((uv_handle_t *)&listener->idle, closed);
}

/* All who share the board have a processor each. */
static bool may_stay(const struct board *board)
{
    return board_shape(board)->workers < threads_available();
}

static bool start(struct listener *listener)
{
    return uv_poll_start(&listener->poll, UV_READABLE, called) == 0 &&
           (!may_stay(listener->board) ||
            uv_prepare_start(&listener->prepare, before_poll) == 0);
}

enum err listener_new(struct loop *loop, struct board *board, uint32_t berth,
                      enum board_side side, loop_callback rung, void *context,
                      struct listener **listener)
{
    const int fd = board != NULL ? board_bell(board, berth, side) : -1;
    struct listener *made;

    *listener = NULL;
    if (fd < 0)
        return ERR_OK;
    made = mem_new(1, sizeof *made);
    if (made == NULL)
        return ERR_NOMEM;
    *made = (struct listener){.open = HANDLES,
                              .board = board,
                              .berth = berth,
                              .side = side,
                              .rung = rung,
                              .context = context};
    if (uv_poll_init(&loop->uv, &made->poll, fd) != 0) {
        mem_free(made);
        return ERR_IO;
    }
    CHECK(uv_prepare_init(&loop->uv, &made->prepare) == 0);
    CHECK(uv_idle_init(&loop->uv, &made->idle) == 0);
    made->poll.data = made->prepare.data = made->idle.data = made;
    /* A former life may have been killed while it was awake. */
    (void)board_bell_sleep(board, berth, side);
    board_bell_hush(board, berth, side);
    if (!start(made)) {
        listener_free(made);
        return ERR_IO;
    }
    *listener = made;
    return ERR_OK;
}
