/*
 * The board's three rules.  Rounds are read by one process while another, that
 * is killed with SIGKILL in the middle again and again, writes them: no copy
 * that holds may be of two rounds.  Answers are handed to and fro between two
 * threads, which ThreadSanitizer watches, and a worker dies in all its states.
 */
#include "os/run/board.h"

#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/mem.h"

#define ROUND  (512u * sizeof(uint64_t))
#define ANSWER 9000u

static struct board *board_of(uint32_t berths)
{
    const struct board_shape shape = {
        .berths = berths, .round_bytes = ROUND, .answer_bytes = ANSWER};
    struct board *board = NULL;

    assert_int_equal(board_new(&shape, &board), ERR_OK);
    return board;
}

static uint64_t post(struct board *board, uint8_t value)
{
    memset(board_round_open(board), value, ROUND);
    return board_round_publish(board);
}

static void test_shape_is_kept(void **state)
{
    struct board *board = board_of(3);

    (void)state;
    assert_int_equal(board_shape(board)->berths, 3);
    assert_int_equal(board_shape(board)->answer_bytes, ANSWER);
    board_free(board);
    board_free(NULL);
}

static void test_no_room_is_said(void **state)
{
    const struct board_shape shapes[] = {
        {.berths = 1, .round_bytes = SIZE_MAX - 1, .answer_bytes = 1},
        {.berths = 1, .round_bytes = 1, .answer_bytes = SIZE_MAX / 2},
        {.berths = UINT32_MAX, .round_bytes = 1, .answer_bytes = SIZE_MAX / 8},
    };
    struct board *board;

    (void)state;
    for (size_t i = 0; i < sizeof shapes / sizeof shapes[0]; i++)
        assert_int_equal(board_new(&shapes[i], &board), ERR_NOMEM);
}

static void test_a_round_is_there_until_two_more(void **state)
{
    struct board *board = board_of(1);
    const uint64_t first = post(board, 1);
    const uint64_t second = post(board, 2);
    const uint8_t *bytes = board_round(board, first);

    (void)state;
    assert_non_null(bytes);
    assert_int_equal(bytes[ROUND - 1], 1);
    assert_true(board_round_holds(board, first));
    assert_int_equal(board_round(board, second)[0], 2);
    (void)board_round_open(board); /* The third, in the place of the first. */
    assert_false(board_round_holds(board, first));
    assert_null(board_round(board, first));
    assert_non_null(board_round(board, second));
    (void)board_round_publish(board);
    assert_null(board_round(board, first));
    board_free(board);
}

static void test_numbers_nobody_published(void **state)
{
    struct board *board = board_of(1);
    const uint64_t first = post(board, 1);

    (void)state;
    assert_null(board_round(board, 0));
    assert_null(board_round(board, first + 1));
    assert_null(board_round(board, first + 2));
    assert_null(board_round(board, UINT64_MAX));
    board_free(board);
}

/* Rounds for ever, each all of one number; the newest one's name is told. */
static void write_rounds(struct board *board, _Atomic uint64_t *newest)
{
    for (uint64_t number = 1;; number++) {
        uint64_t *words = (uint64_t *)(void *)board_round_open(board);

        for (size_t i = 0; i < ROUND / sizeof number; i++)
            words[i] = number;
        atomic_store(newest, board_round_publish(board));
    }
}

/* The newest round; false if it was written over meanwhile. */
static bool read_newest(const struct board *board,
                        const _Atomic uint64_t *newest, bool dawdle,
                        uint64_t words[ROUND / sizeof(uint64_t)])
{
    const uint64_t number = atomic_load(newest);
    const uint8_t *bytes = board_round(board, number);

    if (bytes == NULL)
        return false;
    memcpy(words, bytes, ROUND / 2);
    if (dawdle)
        (void)sched_yield(); /* Let the writer overtake, often. */
    memcpy(words + ROUND / 2 / sizeof *words, bytes + ROUND / 2, ROUND / 2);
    return board_round_holds(board, number);
}

static void test_a_killed_writer_leaves_no_mixture(void **state)
{
    struct board *board = board_of(1);
    struct board *told = board_of(1); /* Memory that both share. */
    _Atomic uint64_t *newest =
        (_Atomic uint64_t *)(void *)board_round_open(told);
    uint64_t words[ROUND / sizeof(uint64_t)];

    (void)state;
    for (int life = 0; life < 10; life++) {
        const pid_t pid = fork();

        assert_true(pid >= 0);
        if (pid == 0) {
            (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
            write_rounds(board, newest);
        }
        for (int reads = 0, tries = 0; reads < 100; tries++) {
            assert_true(tries < 100000000);
            if (!read_newest(board, newest, tries % 2 == 0, words))
                continue;
            for (size_t i = 1; i < ROUND / sizeof *words; i++)
                assert_int_equal(words[i], words[0]);
            reads++;
        }
        assert_int_equal(kill(pid, SIGKILL), 0);
        assert_int_equal(waitpid(pid, NULL, 0), pid);
    }
    board_free(told);
    board_free(board);
}

static void test_answers_change_hands(void **state)
{
    struct board *board = board_of(2);
    uint64_t number[BOARD_ANSWERS];

    (void)state;
    for (uint32_t i = 0; i < BOARD_ANSWERS; i++) {
        assert_int_equal(board_answer_free(board, 1), i);
        memset(board_answer_open(board, 1, i), (int)i + 1, ANSWER);
        number[i] = board_answer_publish(board, 1, i);
    }
    assert_int_equal(board_answer_free(board, 1), BOARD_NONE);
    assert_int_equal(board_answer_free(board, 0), 0); /* Not its business. */
    assert_int_equal(board_answer(board, 1, 1, number[1])[ANSWER - 1], 2);
    board_answer_release(board, 1, 1, number[1]);
    assert_null(board_answer(board, 1, 1, number[1])); /* Not twice. */
    assert_int_equal(board_answer_free(board, 1), 1);
    board_free(board);
}

static void test_answers_nobody_published(void **state)
{
    struct board *board = board_of(1);

    (void)state;
    assert_null(board_answer(board, 0, 0, 0));
    assert_null(board_answer(board, 0, 0, 1));
    assert_null(board_answer(board, 0, BOARD_ANSWERS, 0));
    assert_null(board_answer(board, 0, UINT32_MAX, 0));
    board_free(board);
}

/* A worker dies half-way through an answer, or right after publishing it; its
 * next life finds both places free once the coordinator has met it. */
static void test_a_berth_is_reset(void **state)
{
    struct board *board = board_of(2);
    const pid_t pid = fork();
    uint64_t old;

    (void)state;
    assert_true(pid >= 0);
    if (pid == 0) {
        board_berth_take(board, 1, 77);
        memset(board_answer_open(board, 1, 0), 1, ANSWER);
        (void)board_answer_publish(board, 1, 0);
        memset(board_answer_open(board, 1, 1), 1, ANSWER / 2);
        (void)raise(SIGKILL);
    }
    assert_int_equal(waitpid(pid, NULL, 0), pid);
    assert_int_equal(board_berth_find(board, 77), 1);
    assert_int_equal(board_berth_find(board, 78), BOARD_NONE);
    old = 1;
    assert_non_null(board_answer(board, 1, 0, old));
    board_berth_take(board, 1, 78);
    board_berth_reset(board, 1);
    assert_int_equal(board_berth_find(board, 77), BOARD_NONE);
    assert_null(board_answer(board, 1, 0, old)); /* The old link's is void. */
    assert_int_equal(board_answer_free(board, 1), 0);
    board_free(board);
}

#define HANDOVERS 2000u
#define RINGS     40000u

static void *hand_over(void *argument)
{
    struct board *board = argument;

    for (uint32_t i = 0; i < HANDOVERS; i++) {
        uint32_t place;

        do
            place = board_answer_free(board, 0);
        while (place == BOARD_NONE);
        memset(board_answer_open(board, 0, place), (int)(i & 0x7f), 64);
        (void)board_answer_publish(board, 0, place);
    }
    return NULL;
}

static void test_handover_has_no_race(void **state)
{
    struct board *board = board_of(1);
    uint64_t next[BOARD_ANSWERS] = {1, 1};
    uint32_t taken = 0;
    pthread_t thread;

    (void)state;
    assert_int_equal(pthread_create(&thread, NULL, hand_over, board), 0);
    for (uint32_t i = 0; taken < HANDOVERS; i = (i + 1) % BOARD_ANSWERS) {
        const uint8_t *bytes = board_answer(board, 0, i, next[i]);

        if (bytes == NULL)
            continue;
        for (int k = 1; k < 64; k++)
            assert_int_equal(bytes[k], bytes[0]);
        board_answer_release(board, 0, i, next[i]++);
        taken++;
    }
    assert_int_equal(pthread_join(thread, NULL), 0);
    board_free(board);
}

static bool rings(const struct board *board, enum board_side side, int wait_ms)
{
    struct pollfd bell = {.fd = board_bell(board, 0, side), .events = POLLIN};

    return poll(&bell, 1, wait_ms) == 1;
}

/* From each berth to each: a first one stays until it is taken, and bells are
 * those of who is written to. */
static void test_letters(void **state)
{
    const struct board_shape shape = {.berths = 3, .letters = true};
    struct board *board = NULL;
    struct board *without = board_of(2);
    uint8_t note[BOARD_NOTE_BYTES] = {0};
    size_t size;

    (void)state;
    assert_int_equal(board_new(&shape, &board), ERR_OK);
    for (uint32_t pair = 0; pair < 9; pair++)
        for (uint32_t i = 0; i < BOARD_NOTES; i++) {
            const uint32_t letter = pair * 100 + i;

            assert_true(board_letter_leave(board, pair / 3, pair % 3, &letter,
                                           sizeof letter));
        }
    assert_false(board_letter_leave(board, 0, 1, "more", 5));
    for (uint32_t pair = 0; pair < 9; pair++) {
        for (uint32_t i = 0; i < BOARD_NOTES; i++) {
            const uint32_t letter = pair * 100 + i;

            for (uint32_t turn = 0; turn < 2; turn++) {
                assert_true(
                    board_letter_look(board, pair / 3, pair % 3, note, &size));
                assert_int_equal(size, sizeof letter);
                assert_memory_equal(note, &letter, sizeof letter);
            }
            board_letter_take(board, pair / 3, pair % 3);
        }
        assert_false(board_letter_look(board, pair / 3, pair % 3, note, &size));
    }
    for (uint32_t berth = 0; berth < 3; berth++) {
        struct pollfd bell = {.fd = board_bell(board, berth, BOARD_WORKER),
                              .events = POLLIN};

        assert_int_equal(poll(&bell, 1, 0), 1);
    }
    assert_false(board_letter_leave(without, 0, 1, "one", 4));
    assert_false(board_letter_look(without, 0, 1, note, &size));
    board_free(board);
    board_free(without);
}

/* BOARD-4: so many at a time, in their order, each way by itself, none that is
 * too long. */
static void test_notes_are_left_and_taken(void **state)
{
    struct board *board = board_of(2);
    uint8_t note[BOARD_NOTE_BYTES] = {0};
    static const uint8_t large[BOARD_NOTE_BYTES + 1];

    (void)state;
    assert_int_equal(board_note_take(board, 1, BOARD_WORKER, note), 0);
    assert_false(board_note_leave(board, 1, BOARD_WORKER, large, sizeof large));
    assert_false(board_note_leave(board, 1, BOARD_WORKER, large, 0));
    for (uint32_t turn = 0; turn < 3; turn++) {
        for (uint32_t i = 0; i < BOARD_NOTES; i++)
            assert_true(board_note_leave(board, 1, BOARD_WORKER, &i, sizeof i));
        assert_false(board_note_leave(board, 1, BOARD_WORKER, "more", 5));
        assert_int_equal(board_note_take(board, 0, BOARD_WORKER, note), 0);
        for (uint32_t i = 0; i < BOARD_NOTES; i++) {
            assert_int_equal(board_note_take(board, 1, BOARD_WORKER, note),
                             sizeof i);
            assert_memory_equal(note, &i, sizeof i);
        }
        assert_int_equal(board_note_take(board, 1, BOARD_WORKER, note), 0);
    }
    assert_true(board_note_leave(board, 1, BOARD_COORDINATOR, "back", 5));
    assert_int_equal(board_note_take(board, 1, BOARD_COORDINATOR, note), 5);
    assert_string_equal((char *)note, "back");
    board_free(board);

    board = board_of(BOARD_BELLS_MAX + 1);
    assert_int_equal(board_bell(board, 0, BOARD_COORDINATOR), -1);
    assert_false(board_note_leave(board, 0, BOARD_WORKER, "one", 4));
    board_bell_hush(board, 0, BOARD_WORKER);
    board_free(board);
}

/* Rung once for all that was left since it was heard; one that was left after
 * that rings anew, taken or not. */
static void test_bells_say_look(void **state)
{
    struct board *board = board_of(2);
    uint8_t note[BOARD_NOTE_BYTES];

    (void)state;
    assert_false(rings(board, BOARD_COORDINATOR, 0));
    assert_true(board_note_leave(board, 0, BOARD_COORDINATOR, "a", 2));
    assert_true(board_note_leave(board, 1, BOARD_COORDINATOR, "b", 2));
    assert_true(rings(board, BOARD_COORDINATOR, 0));
    assert_false(rings(board, BOARD_WORKER, 0));
    board_bell_hush(board, 0, BOARD_COORDINATOR);
    assert_false(rings(board, BOARD_COORDINATOR, 0));
    assert_int_equal(board_note_take(board, 0, BOARD_COORDINATOR, note), 2);
    assert_true(board_note_leave(board, 0, BOARD_COORDINATOR, "c", 2));
    assert_true(rings(board, BOARD_COORDINATOR, 0));
    board_free(board);
}

/* What was left for, or by, one that died is nothing to the next. */
static void test_a_reset_voids_notes(void **state)
{
    struct board *board = board_of(1);
    uint8_t note[BOARD_NOTE_BYTES];

    (void)state;
    assert_true(board_note_leave(board, 0, BOARD_WORKER, "old", 4));
    assert_true(board_note_leave(board, 0, BOARD_COORDINATOR, "old", 4));
    board_berth_reset(board, 0);
    assert_int_equal(board_note_take(board, 0, BOARD_WORKER, note), 0);
    assert_int_equal(board_note_take(board, 0, BOARD_COORDINATOR, note), 0);
    assert_true(board_note_leave(board, 0, BOARD_WORKER, "new", 4));
    assert_int_equal(board_note_take(board, 0, BOARD_WORKER, note), 4);
    assert_string_equal((char *)note, "new");
    board_free(board);
}

/* A worker that sleeps until it hears its bell, and answers. */
static void *echo(void *argument)
{
    struct board *board = argument;
    uint8_t note[BOARD_NOTE_BYTES];

    for (uint32_t i = 0; i < HANDOVERS;) {
        size_t size;

        assert_true(rings(board, BOARD_WORKER, -1));
        board_bell_hush(board, 0, BOARD_WORKER);
        size = board_note_take(board, 0, BOARD_WORKER, note);
        if (size == 0)
            continue;
        assert_true(board_note_leave(board, 0, BOARD_COORDINATOR, note, size));
        i++;
    }
    return NULL;
}

static void test_no_ring_is_lost(void **state)
{
    struct board *board = board_of(1);
    uint8_t note[BOARD_NOTE_BYTES];
    pthread_t thread;

    (void)state;
    assert_int_equal(pthread_create(&thread, NULL, echo, board), 0);
    for (uint32_t i = 0; i < HANDOVERS; i++) {
        uint32_t got = UINT32_MAX;

        assert_true(board_note_leave(board, 0, BOARD_WORKER, &i, sizeof i));
        do {
            assert_true(rings(board, BOARD_COORDINATOR, -1));
            board_bell_hush(board, 0, BOARD_COORDINATOR);
        } while (board_note_take(board, 0, BOARD_COORDINATOR, note) == 0);
        memcpy(&got, note, sizeof got);
        assert_int_equal(got, i);
    }
    assert_int_equal(pthread_join(thread, NULL), 0);
    board_free(board);
}

/* One bell for several: two workers leave a note each as soon as their last was
 * taken, so that one rings while the other's ring is being hushed. */
struct bell_ringer {
    struct board *board;
    uint32_t berth;
};

static void *ring_on(void *argument)
{
    const struct bell_ringer *ringer = argument;

    for (uint32_t i = 0; i < RINGS; i++) {
        while (!board_note_leave(ringer->board, ringer->berth,
                                 BOARD_COORDINATOR, &i, sizeof i))
            sched_yield();
    }
    return NULL;
}

static void test_no_ring_is_lost_among_several(void **state)
{
    struct board *board = board_of(2);
    struct bell_ringer ringers[2] = {{board, 0}, {board, 1}};
    uint8_t note[BOARD_NOTE_BYTES];
    uint32_t taken[2] = {0};
    pthread_t thread[2];

    (void)state;
    for (uint32_t i = 0; i < 2; i++)
        assert_int_equal(pthread_create(&thread[i], NULL, ring_on, &ringers[i]),
                         0);
    while (taken[0] < RINGS || taken[1] < RINGS) {
        assert_true(rings(board, BOARD_COORDINATOR, 10000));
        board_bell_hush(board, 0, BOARD_COORDINATOR);
        for (uint32_t i = 0; i < 2 * BOARD_NOTES; i++)
            taken[i % 2] +=
                board_note_take(board, i % 2, BOARD_COORDINATOR, note) > 0;
    }
    for (uint32_t i = 0; i < 2; i++)
        assert_int_equal(pthread_join(thread[i], NULL), 0);
    board_free(board);
}

/* Killed after leaving a note and before ringing: the next one that looks
 * without having been called finds it, and bells ring as before. */
static void test_a_note_without_a_ring(void **state)
{
    struct board *board = board_of(1);
    uint8_t note[BOARD_NOTE_BYTES];

    (void)state;
    assert_true(board_note_leave(board, 0, BOARD_COORDINATOR, "a", 2));
    {
        uint64_t written; /* As if the write had not happened. */

        assert_int_equal(read(board_bell(board, 0, BOARD_COORDINATOR), &written,
                              sizeof written),
                         sizeof written);
    }
    assert_false(rings(board, BOARD_COORDINATOR, 0));
    board_bell_hush(board, 0, BOARD_COORDINATOR);
    assert_int_equal(board_note_take(board, 0, BOARD_COORDINATOR, note), 2);
    assert_true(board_note_leave(board, 0, BOARD_COORDINATOR, "b", 2));
    assert_true(rings(board, BOARD_COORDINATOR, 0));
    board_free(board);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_shape_is_kept),
        cmocka_unit_test(test_no_room_is_said),
        cmocka_unit_test(test_a_round_is_there_until_two_more),
        cmocka_unit_test(test_numbers_nobody_published),
        cmocka_unit_test(test_a_killed_writer_leaves_no_mixture),
        cmocka_unit_test(test_answers_change_hands),
        cmocka_unit_test(test_answers_nobody_published),
        cmocka_unit_test(test_a_berth_is_reset),
        cmocka_unit_test(test_handover_has_no_race),
        cmocka_unit_test(test_notes_are_left_and_taken),
        cmocka_unit_test(test_letters),
        cmocka_unit_test(test_bells_say_look),
        cmocka_unit_test(test_a_reset_voids_notes),
        cmocka_unit_test(test_no_ring_is_lost),
        cmocka_unit_test(test_no_ring_is_lost_among_several),
        cmocka_unit_test(test_a_note_without_a_ring),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
