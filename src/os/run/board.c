#define _GNU_SOURCE /* MAP_ANONYMOUS */
/*
 * board.c - shared memory between a coordinator and the workers forked beside
 * it, published by sequence numbers (a seqlock whose reader never waits).
 * BOARD-1 to BOARD-5 of the header are kept here.
 */
#include "os/run/board.h"

#include <assert.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/check.h"
#include "base/mem.h"

#define PAGE           4096u
#define SEQUENCE_LIMIT (UINT64_C(1) << 62) /* Nobody counts so far. */

static_assert(ATOMIC_LLONG_LOCK_FREE == 2,
              "a lock would be one process's, not the memory's");

/* Cache lines of their own: one side writes each. */
struct round_head {
    _Alignas(MEM_LINE) _Atomic uint64_t sequence; /* Odd: being written. */
};

struct answer_head {
    _Alignas(MEM_LINE) _Atomic uint64_t sequence; /* The worker's. */
    _Alignas(MEM_LINE) _Atomic uint64_t released; /* The coordinator's. */
};

struct note {
    _Alignas(MEM_LINE) uint32_t size;
    uint8_t bytes[BOARD_NOTE_BYTES];
};

struct notes {
    _Alignas(MEM_LINE) _Atomic uint64_t sequence; /* The writer's. */
    struct note note[BOARD_NOTES];
    _Alignas(MEM_LINE) _Atomic uint64_t taken; /* The reader's. */
};

struct bell_head {
    /* Rung and not heard yet: no need to ring again. */
    _Alignas(MEM_LINE) _Atomic uint32_t rung;
    _Atomic uint32_t awake; /* The listener looks by itself. */
};

struct berth_head {
    _Alignas(MEM_LINE) _Atomic uint64_t incarnation;
    struct answer_head answer[BOARD_ANSWERS];
    struct notes notes[2]; /* By enum board_side: to whom. */
    struct bell_head bell; /* The worker's. */
};

/* One process's view; only `memory` is shared. */
struct board {
    struct board_shape shape;
    size_t round_room, answer_room; /* Whole pages. */
    size_t size;
    uint8_t *memory;
    uint64_t last;    /* The newest round of ours; 0: none yet. */
    uint64_t writing; /* The round being written; 0: none. */
    /* One for each berth, the last is the coordinator's; inherited. */
    int bell[BOARD_BELLS_MAX + 1];
    uint32_t bells; /* 0: there are no notes. */
};

/* Layout: heads of rounds, heads of berths, the coordinator's bell, letters,
 * then bytes of rounds and answers, all on pages of their own. */
static size_t to_page(size_t size)
{
    return (size + PAGE - 1) / PAGE * PAGE;
}

static size_t letters_at(const struct board_shape *shape)
{
    return to_page(BOARD_ROUNDS * sizeof(struct round_head) +
                   shape->berths * sizeof(struct berth_head) +
                   sizeof(struct bell_head));
}

static size_t heads_size(const struct board_shape *shape)
{
    const size_t pairs = (size_t)shape->berths * shape->berths;

    return letters_at(shape) +
           (shape->letters ? to_page(pairs * sizeof(struct notes)) : 0);
}

static struct round_head *round_at(const struct board *board, uint64_t sequence)
{
    struct round_head *heads = (struct round_head *)(void *)board->memory;

    return &heads[sequence / 2 % BOARD_ROUNDS];
}

static struct berth_head *berth_at(const struct board *board, uint32_t berth)
{
    struct round_head *heads = (struct round_head *)(void *)board->memory;

    CHECK(berth < board->shape.berths);
    return (struct berth_head *)(void *)(heads + BOARD_ROUNDS) + berth;
}

static uint8_t *round_bytes(const struct board *board, uint64_t sequence)
{
    return board->memory + heads_size(&board->shape) +
           sequence / 2 % BOARD_ROUNDS * board->round_room;
}

static uint8_t *answer_bytes(const struct board *board, uint32_t berth,
                             uint32_t answer)
{
    return board->memory + heads_size(&board->shape) +
           BOARD_ROUNDS * board->round_room +
           ((size_t)berth * BOARD_ANSWERS + answer) * board->answer_room;
}

static bool measure(struct board *board)
{
    const struct board_shape *shape = &board->shape;
    size_t rounds, answers;

    board->round_room = to_page(shape->round_bytes);
    board->answer_room = to_page(shape->answer_bytes);
    return shape->round_bytes < SIZE_MAX / 4 &&
           shape->answer_bytes < SIZE_MAX / 4 &&
           !__builtin_mul_overflow(board->round_room, BOARD_ROUNDS, &rounds) &&
           !__builtin_mul_overflow(board->answer_room,
                                   (size_t)shape->berths * BOARD_ANSWERS,
                                   &answers) &&
           !__builtin_add_overflow(rounds, answers, &board->size) &&
           !__builtin_add_overflow(board->size, heads_size(shape),
                                   &board->size);
}

static void close_bells(struct board *board)
{
    for (uint32_t i = 0; i < board->bells; i++)
        (void)close(board->bell[i]);
    board->bells = 0;
}

/* Without them everything goes over the link: no reason to fail. */
static void open_bells(struct board *board)
{
    if (board->shape.berths > BOARD_BELLS_MAX)
        return;
    while (board->bells < board->shape.berths + 1) {
        const int fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);

        if (fd < 0) {
            close_bells(board);
            return;
        }
        board->bell[board->bells++] = fd;
    }
}

enum err board_new(const struct board_shape *shape, struct board **board)
{
    struct board *made = mem_new(1, sizeof *made);
    void *memory = MAP_FAILED;

    if (made == NULL)
        return ERR_NOMEM;
    made->shape = *shape;
    /* Nothing is set aside: pages count once they are written to. */
    if (measure(made))
        memory = mmap(NULL, made->size, PROT_READ | PROT_WRITE,
                      MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED) {
        mem_free(made);
        return ERR_NOMEM;
    }
    made->memory = memory;
    open_bells(made);
    *board = made;
    return ERR_OK;
}

void board_free(struct board *board)
{
    if (board == NULL)
        return;
    close_bells(board);
    CHECK(munmap(board->memory, board->size) == 0);
    mem_free(board);
}

const struct board_shape *board_shape(const struct board *board)
{
    return &board->shape;
}

/* --- rounds -------------------------------------------------------------- */

/* The newest number a former life has used.  Read once: from then on we count
 * ourselves, whatever is written there. */
static uint64_t newest(const struct board *board)
{
    uint64_t most = 0;

    for (uint64_t i = 0; i < BOARD_ROUNDS; i++) {
        const uint64_t here = atomic_load(&round_at(board, 2 * i)->sequence);

        most = here > most && here < SEQUENCE_LIMIT ? here : most;
    }
    return most;
}

uint8_t *board_round_open(struct board *board)
{
    /* Even numbers are rounds; the other place than the newest one's. */
    const uint64_t last = board->last > 0 ? board->last : newest(board);
    const uint64_t sequence = (last / 2 + 1) * 2;

    CHECK(board->writing == 0);
    board->last = sequence;
    board->writing = sequence;
    /* Odd before the first byte changes; pairs with board_round_holds. */
    atomic_store_explicit(&round_at(board, sequence)->sequence, sequence - 1,
                          memory_order_relaxed);
    atomic_thread_fence(memory_order_release);
    return round_bytes(board, sequence);
}

uint64_t board_round_publish(struct board *board)
{
    const uint64_t sequence = board->writing;

    CHECK(sequence != 0);
    /* Pairs with the acquire in board_round. */
    atomic_store_explicit(&round_at(board, sequence)->sequence, sequence,
                          memory_order_release);
    board->writing = 0;
    return sequence;
}

const uint8_t *board_round(const struct board *board, uint64_t sequence)
{
    const uint64_t here = atomic_load_explicit(
        &round_at(board, sequence)->sequence, memory_order_acquire);

    if (sequence == 0 || sequence % 2 != 0 || here != sequence)
        return NULL;
    return round_bytes(board, sequence);
}

bool board_round_holds(const struct board *board, uint64_t sequence)
{
    /* What was copied was read before this: pairs with board_round_open. */
    atomic_thread_fence(memory_order_acquire);
    return atomic_load_explicit(&round_at(board, sequence)->sequence,
                                memory_order_relaxed) == sequence;
}

/* --- berths -------------------------------------------------------------- */

void board_berth_take(struct board *board, uint32_t berth, uint64_t incarnation)
{
    atomic_store(&berth_at(board, berth)->incarnation, incarnation);
}

uint32_t board_berth_find(const struct board *board, uint64_t incarnation)
{
    for (uint32_t i = 0; i < board->shape.berths; i++) {
        if (atomic_load(&berth_at(board, i)->incarnation) == incarnation)
            return i;
    }
    return BOARD_NONE;
}

void board_berth_reset(struct board *board, uint32_t berth)
{
    for (uint32_t i = 0; i < BOARD_ANSWERS; i++) {
        struct answer_head *head = &berth_at(board, berth)->answer[i];

        atomic_store(&head->released, atomic_load(&head->sequence));
    }
    /* Nobody reads there now: a worker does not between HELLO and WELCOME. */
    for (uint32_t i = 0; i < 2; i++) {
        struct notes *notes = &berth_at(board, berth)->notes[i];

        atomic_store(&notes->taken, atomic_load(&notes->sequence));
    }
}

uint32_t board_answer_free(const struct board *board, uint32_t berth)
{
    for (uint32_t i = 0; i < BOARD_ANSWERS; i++) {
        const struct answer_head *head = &berth_at(board, berth)->answer[i];

        /* The coordinator has read it: pairs with board_answer_release. */
        if (atomic_load_explicit(&head->released, memory_order_acquire) ==
            atomic_load_explicit(&head->sequence, memory_order_relaxed))
            return i;
    }
    return BOARD_NONE;
}

uint8_t *board_answer_open(struct board *board, uint32_t berth, uint32_t answer)
{
    CHECK(berth < board->shape.berths);
    CHECK(answer < BOARD_ANSWERS);
    return answer_bytes(board, berth, answer);
}

uint64_t board_answer_publish(struct board *board, uint32_t berth,
                              uint32_t answer)
{
    struct answer_head *head;
    uint64_t sequence;

    CHECK(answer < BOARD_ANSWERS);
    head = &berth_at(board, berth)->answer[answer];
    sequence = atomic_load_explicit(&head->sequence, memory_order_relaxed) + 1;
    /* Pairs with the acquire in board_answer. */
    atomic_store_explicit(&head->sequence, sequence, memory_order_release);
    return sequence;
}

const uint8_t *board_answer(const struct board *board, uint32_t berth,
                            uint32_t answer, uint64_t sequence)
{
    const struct answer_head *head;

    if (answer >= BOARD_ANSWERS)
        return NULL;
    head = &berth_at(board, berth)->answer[answer];
    if (atomic_load_explicit(&head->sequence, memory_order_acquire) !=
            sequence ||
        atomic_load_explicit(&head->released, memory_order_relaxed) == sequence)
        return NULL;
    return answer_bytes(board, berth, answer);
}

void board_answer_release(struct board *board, uint32_t berth, uint32_t answer,
                          uint64_t sequence)
{
    CHECK(answer < BOARD_ANSWERS);
    /* Pairs with the acquire in board_answer_free. */
    atomic_store_explicit(&berth_at(board, berth)->answer[answer].released,
                          sequence, memory_order_release);
}

/* --- notes --------------------------------------------------------------- */

static struct bell_head *bell_at(const struct board *board, uint32_t berth,
                                 enum board_side side)
{
    if (side == BOARD_WORKER)
        return &berth_at(board, berth)->bell;
    return (struct bell_head *)(void *)(berth_at(board, 0) +
                                        board->shape.berths);
}

int board_bell(const struct board *board, uint32_t berth, enum board_side side)
{
    if (board->bells == 0)
        return -1;
    return board->bell[side == BOARD_WORKER ? berth : board->bells - 1];
}

/* Both sides exchange: whoever finds it rung has been before the one who will
 * find it so next, and what was left before is seen then. */
static void ring(struct board *board, uint32_t berth, enum board_side side)
{
    const uint64_t one = 1;
    struct bell_head *head = bell_at(board, berth, side);

    if (atomic_exchange(&head->rung, 1) != 0 || atomic_load(&head->awake) != 0)
        return;
    /* It cannot be full, and if it were it would be readable. */
    (void)!write(board_bell(board, berth, side), &one, sizeof one);
}

/* Read first.  Who rings in between finds it rung still, does not write, and
 * its note is seen; the other way round its write would be read here, and the
 * bell be rung for ever with nothing to read: nobody would write again. */
void board_bell_hush(struct board *board, uint32_t berth, enum board_side side)
{
    uint64_t rings;

    if (board->bells == 0)
        return;
    (void)!read(board_bell(board, berth, side), &rings, sizeof rings);
    (void)atomic_exchange(&bell_at(board, berth, side)->rung, 0);
}

void board_bell_wake(struct board *board, uint32_t berth, enum board_side side)
{
    struct bell_head *head = bell_at(board, berth, side);

    if (atomic_load_explicit(&head->awake, memory_order_relaxed) == 0)
        atomic_store(&head->awake, 1);
}

bool board_bell_heard(struct board *board, uint32_t berth, enum board_side side)
{
    struct bell_head *head = bell_at(board, berth, side);

    return atomic_load_explicit(&head->rung, memory_order_relaxed) != 0 &&
           atomic_exchange(&head->rung, 0) != 0;
}

bool board_bell_sleep(struct board *board, uint32_t berth, enum board_side side)
{
    struct bell_head *head = bell_at(board, berth, side);

    atomic_store(&head->awake, 0);
    return atomic_load(&head->rung) == 0;
}

/* False: there is no room. */
static bool leave(struct notes *notes, const void *data, size_t size)
{
    const uint64_t sequence =
        atomic_load_explicit(&notes->sequence, memory_order_relaxed);
    struct note *note = &notes->note[sequence % BOARD_NOTES];

    /* Pairs with the release in take. */
    if (size == 0 || size > BOARD_NOTE_BYTES ||
        sequence - atomic_load_explicit(&notes->taken, memory_order_acquire) >=
            BOARD_NOTES)
        return false;
    memcpy(note->bytes, data, size);
    note->size = (uint32_t)size;
    /* Pairs with the acquire in look. */
    atomic_store_explicit(&notes->sequence, sequence + 1, memory_order_release);
    return true;
}

/* Is there any? */
static bool look(const struct notes *notes, uint8_t bytes[BOARD_NOTE_BYTES],
                 size_t *size)
{
    const uint64_t taken =
        atomic_load_explicit(&notes->taken, memory_order_relaxed);
    const struct note *left = &notes->note[taken % BOARD_NOTES];

    *size = 0;
    if (atomic_load_explicit(&notes->sequence, memory_order_acquire) == taken)
        return false;
    *size = *(const volatile uint32_t *)&left->size; /* Once: it may change. */
    if (*size > BOARD_NOTE_BYTES)
        *size = 0;
    memcpy(bytes, left->bytes, *size);
    return true;
}

static void take(struct notes *notes)
{
    const uint64_t taken =
        atomic_load_explicit(&notes->taken, memory_order_relaxed);

    atomic_store_explicit(&notes->taken, taken + 1, memory_order_release);
}

bool board_note_leave(struct board *board, uint32_t berth, enum board_side to,
                      const void *data, size_t size)
{
    if (board->bells == 0 ||
        !leave(&berth_at(board, berth)->notes[to], data, size))
        return false;
    ring(board, berth, to);
    return true;
}

size_t board_note_take(struct board *board, uint32_t berth,
                       enum board_side side, uint8_t note[BOARD_NOTE_BYTES])
{
    struct notes *notes = &berth_at(board, berth)->notes[side];
    size_t size;

    if (look(notes, note, &size))
        take(notes);
    return size;
}

static struct notes *letters(const struct board *board, uint32_t from,
                             uint32_t to)
{
    CHECK(from < board->shape.berths && to < board->shape.berths);
    return (struct notes *)(void *)(board->memory + letters_at(&board->shape)) +
           (size_t)to * board->shape.berths + from;
}

bool board_letter_leave(struct board *board, uint32_t from, uint32_t to,
                        const void *data, size_t size)
{
    if (board->bells == 0 || !board->shape.letters ||
        !leave(letters(board, from, to), data, size))
        return false;
    ring(board, to, BOARD_WORKER);
    return true;
}

bool board_letter_look(const struct board *board, uint32_t from, uint32_t to,
                       uint8_t note[BOARD_NOTE_BYTES], size_t *size)
{
    *size = 0;
    return board->shape.letters && look(letters(board, from, to), note, size);
}

void board_letter_take(struct board *board, uint32_t from, uint32_t to)
{
    take(letters(board, from, to));
}
