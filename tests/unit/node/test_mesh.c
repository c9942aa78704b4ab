/*
 * Two peers' meshes on one loop, over real sockets and a board: what is lent
 * lies there as a letter at once, and arrives in the order in which it was sent
 * among what goes by the link, in every order of up to eight; what a link that
 * is gone has left is not taken for the next one's.
 */
#include "node/ring/mesh.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "core/ring/peer.h"
#include "node/ring/lending.h"
#include "node/ring/letters.h"
#include "os/clock.h"

enum { DIMS = 5000, SENT_MAX = 40 };

#define LIMIT_US (20 * SECOND_US)

struct side {
    struct mesh *mesh;
    uint32_t berth, number;
    uint64_t incarnation;
    uint32_t got[SENT_MAX]; /* Steps of what came, in its order. */
    uint32_t count, met, downs;
};

static struct loop *loop;
static struct timer *timer;
static struct board *board;
static struct net_listener doors[2];
static struct side here, there; /* The second dials. */
static const struct token token = {.name = "cluster", .key = {1, 2, 3}};
static bool (*until)(void);

static void look(void)
{
    if (until())
        loop_stop(loop);
}

static void meet(struct side *side)
{
    struct msg msg = {.kind = MSG_MEET,
                      .meet = {.version = MSG_VERSION,
                               .incarnation = side->incarnation,
                               .name = "p",
                               .end = 1}};

    mesh_send(side->mesh, side->number, &msg);
}

static void on_up(void *context, uint32_t number)
{
    struct side *side = context;

    side->number = number;
    meet(side);
}

static void on_down(void *context, uint32_t number)
{
    struct side *side = context;

    (void)number;
    side->downs++;
    look();
}

static void on_message(void *context, uint32_t number, const struct msg *msg)
{
    struct side *side = context;

    if (msg->kind == MSG_MEET) {
        side->met++;
        if (side->number == PEER_NO_LINK) {
            side->number = number;
            meet(side);
        }
    } else {
        assert_int_equal(number, side->number);
        assert_true(side->count < SENT_MAX);
        side->got[side->count++] = msg->kind == MSG_SLICE
                                       ? msg->slice.key.step
                                       : (uint32_t)msg->report.stand.position;
    }
    look();
}

static const struct mesh_events events = {
    .up = on_up, .down = on_down, .message = on_message};

static void on_limit(void *context)
{
    (void)context;
    fail_msg("nothing happened for %d s", (int)(LIMIT_US / SECOND_US));
}

static void run_until(bool (*happened)(void))
{
    until = happened;
    if (happened())
        return;
    timer_at(timer, clock_now_us() + LIMIT_US);
    loop_run(loop);
    timer_at(timer, TIME_NEVER);
    assert_true(happened());
}

static bool both_met(void)
{
    return here.met == 1 && there.met == 1;
}

static void open_side(struct side *side, uint32_t berth, int listen_fd)
{
    struct mesh_options options = {.loop = loop,
                                   .token = &token,
                                   .events = &events,
                                   .context = side,
                                   .listen_fd = listen_fd,
                                   .dims = DIMS,
                                   .sum_dims = DIMS,
                                   .message_max = 1u << 20,
                                   .board = board,
                                   .berth = berth};

    *side = (struct side){
        .berth = berth, .number = PEER_NO_LINK, .incarnation = 77 + berth};
    board_berth_take(board, berth, side->incarnation);
    assert_int_equal(mesh_new(&options, &side->mesh), ERR_OK);
}

static void dial(void)
{
    here.number = there.number = PEER_NO_LINK;
    here.met = there.met = here.count = there.count = 0;
    assert_int_equal(mesh_dial(there.mesh, PEER_DIALLED, &doors[0].local),
                     ERR_OK);
    run_until(both_met);
}

static int open_all(void **state)
{
    const struct net_address any = {.host = "127.0.0.1", .port = 0};

    (void)state;
    assert_int_equal(loop_new(&loop), ERR_OK);
    assert_int_equal(timer_new(loop, on_limit, NULL, &timer), ERR_OK);
    assert_int_equal(lending_new(4, 2, DIMS, 0, &board), ERR_OK);
    for (uint32_t i = 0; i < 2; i++)
        assert_int_equal(net_listen(&any, true, &doors[i], NULL), ERR_OK);
    open_side(&here, 1, doors[0].fd);
    open_side(&there, 3, doors[1].fd);
    dial();
    return 0;
}

static int close_all(void **state)
{
    (void)state;
    mesh_free(here.mesh);
    mesh_free(there.mesh);
    timer_free(timer);
    loop_free(loop);
    board_free(board);
    for (uint32_t i = 0; i < 2; i++)
        net_close(&doors[i]);
    return 0;
}

/* What may go as a letter. */
static void lend(struct side *from, uint32_t step)
{
    struct slice_room rooms[PEER_ROOMS];
    struct msg msg = {
        .kind = MSG_SLICE,
        .slice = {.key = {.step = step}, .end = 1, .dims = DIMS, .count = 50}};

    lending_rooms(board, from->berth, DIMS, rooms);
    msg.slice.sum = rooms[0].sum;
    msg.slice.seal = rooms[0].seal;
    msg.slice.number = seal_number(rooms[0].seal);
    mesh_send(from->mesh, from->number, &msg);
}

/* What goes by the link. */
static void say(struct side *from, uint32_t number)
{
    struct msg msg = {.kind = MSG_REPORT,
                      .report = {.stand = {.position = number}}};

    mesh_send(from->mesh, from->number, &msg);
}

static bool lies_there(const struct side *from, const struct side *to)
{
    struct letter letter;

    return letter_look(board, from->berth, to->berth, &letter);
}

static uint32_t wanted; /* So many messages. */

static bool all_came(void)
{
    return here.count == wanted && there.count == wanted;
}

static void assert_in_order(const struct side *side)
{
    for (uint32_t i = 0; i < wanted; i++)
        assert_int_equal(side->got[i], i);
}

static void test_a_letter_lies_there_at_once(void **state)
{
    (void)state;
    wanted = 1;
    lend(&here, 0);
    lend(&there, 0);
    assert_true(lies_there(&here, &there));
    assert_true(lies_there(&there, &here));
    run_until(all_came);
    assert_in_order(&here);
    assert_in_order(&there);
    assert_false(lies_there(&here, &there));
    assert_int_equal(mesh_slice_bytes(here.mesh), 0);
}

/* Letters are there before what was sent before them, and more of them than
 * there is room for. */
static void send_all(struct side *from, uint32_t pattern)
{
    for (uint32_t i = 0; i < wanted; i++)
        if ((pattern >> i & 1) != 0)
            lend(from, i);
        else
            say(from, i);
}

static void test_letters_keep_their_order(void **state)
{
    (void)state;
    wanted = 8;
    for (uint32_t pattern = 0; pattern < 256; pattern++) {
        here.count = there.count = 0;
        send_all(&here, pattern);
        send_all(&there, 255 - pattern);
        run_until(all_came);
        assert_in_order(&here);
        assert_in_order(&there);
    }
    wanted = SENT_MAX;
    here.count = there.count = 0;
    for (uint32_t i = 0; i < wanted; i++) {
        lend(&here, i);
        lend(&there, i);
    }
    run_until(all_came);
    assert_in_order(&here);
    assert_in_order(&there);
}

static bool one_down(void)
{
    return here.downs == 1;
}

/* Some that might have been read, and some that wait for what never comes:
 * found before the next link is up, and after it. */
static void test_letters_of_a_link_that_is_gone(void **state)
{
    struct letter old;
    struct letter_road road = {0};

    (void)state;
    lend(&here, 100);
    assert_true(letter_look(board, here.berth, there.berth, &old));
    say(&here, 101);
    lend(&here, 102);
    mesh_close(there.mesh, there.number);
    assert_true(lies_there(&here, &there));
    run_until(one_down);
    dial();
    wanted = 2;
    road.link = old.link;
    for (uint32_t i = 0; i < wanted; i++) {
        road.sent = 1000 * i;
        assert_true(letter_leave(board, here.berth, there.berth, &road,
                                 old.bytes, old.size));
        lend(&here, i);
        lend(&there, i);
    }
    run_until(all_came);
    assert_in_order(&here);
    assert_in_order(&there);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_a_letter_lies_there_at_once,
                                        open_all, close_all),
        cmocka_unit_test_setup_teardown(test_letters_keep_their_order, open_all,
                                        close_all),
        cmocka_unit_test_setup_teardown(test_letters_of_a_link_that_is_gone,
                                        open_all, close_all),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
