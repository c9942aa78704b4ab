/*
 * board.h - memory that a coordinator and the workers forked beside it share.
 *
 * (Or that a ring's peers share: berths without a coordinator, which leave each
 * other letters.)
 *
 * What is large is written once and read where it lies; who wrote what and
 * where is said in a small message, left here as a note or sent over the link.
 * Heartbeats and death are the link's business as before.
 *
 *     round   [ sequence | bytes ]   two of them, in turn; the coordinator
 *     round   [ sequence | bytes ]   writes, all workers read
 *     berth 0 [ incarnation ][ notes to the worker ][ notes from it ]
 *             [ answer: sequence, released | bytes ] x 2
 *     berth 1  ...                   one worker writes, the coordinator reads
 *
 * Anonymous shared memory, mapped before the forks: every later life of a
 * coordinator or a worker finds it too, and nothing is left when the last
 * process ends.
 *
 *   BOARD-1  A round is published by its sequence, last of all; a reader reads,
 *            for as long as it takes, and then looks at the sequence again;
 *            if it is another, nothing of what was read is kept.
 *            The coordinator does not wait for readers: who comes two rounds
 *            late finds another number and takes the message for lost.
 *   BOARD-2  An answer is its worker's while released = sequence, and the
 *            coordinator's from publishing (sequence + 1) to releasing.  So
 *            kill -9 of a worker leaves a half-written answer that nobody was
 *            told of; it is released when the next life takes the berth.
 *   BOARD-3  Sizes and offsets come from each process's own copy of the shape.
 *            Nothing read from here is used as a length or an index, but the
 *            size of a note, if that is no more than a note can have.
 *   BOARD-4  Notes are a ring: of BOARD_NOTES places those from taken to
 *            sequence are the reader's, the others the writer's.  If all are
 *            the reader's the writer uses the link; so nobody waits for a
 *            reader, and of what was left before something was sent the reader
 *            can know by then, if it takes all there are.  A bell
 *            only says: look at the notes.  Whoever is killed between leaving
 *            one and ringing has told nobody: so look at times without, too.
 *            Letters, from one berth to another, are notes, too, of which the
 *            reader looks at the first for as long as it likes.
 *   BOARD-5  Who rings writes `rung`, then reads `awake`; who lies down writes
 *            `awake`, then reads `rung`: one of the two sees the other.
 */
#ifndef OS_BOARD_H
#define OS_BOARD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

#define BOARD_ROUNDS  2u
#define BOARD_ANSWERS 2u
#define BOARD_NONE    UINT32_MAX

#define BOARD_NOTE_BYTES 1008u
#define BOARD_NOTES      8u  /* Left and not taken, each way of a berth. */
#define BOARD_BELLS_MAX  64u /* With more berths there are no notes. */

struct board;

struct board_shape {
    uint32_t berths;
    uint32_t workers; /* That begin; other berths are for those who come. */
    size_t round_bytes;
    size_t answer_bytes;
    bool letters; /* Each berth may write to each other one. */
};

MUST_CHECK enum err board_new(const struct board_shape *shape,
                              struct board **board);
void board_free(struct board *board); /* Accepts NULL. */
const struct board_shape *board_shape(const struct board *board);

/* --- rounds -------------------------------------------------------------- */

/* The coordinator: room for a new round, whose bytes are nobody's yet. */
uint8_t *board_round_open(struct board *board);
/* They are written: returns the number to call the round by, never 0. */
uint64_t board_round_publish(struct board *board);

/* A worker: where round `sequence` lies, NULL if it is gone. */
const uint8_t *board_round(const struct board *board, uint64_t sequence);
/* After reading: was it that round all the time? */
bool board_round_holds(const struct board *board, uint64_t sequence);

/* --- berths -------------------------------------------------------------- */

/* A worker: this is my berth, and I am that incarnation. */
void board_berth_take(struct board *board, uint32_t berth,
                      uint64_t incarnation);
/* The coordinator: the berth of that incarnation, or BOARD_NONE.  Only a
 * process that shares the memory can have written the number there. */
uint32_t board_berth_find(const struct board *board, uint64_t incarnation);
/* ... its answers, published or half written, are the worker's again, and notes
 * either way are of a life, or a link, that is over. */
void board_berth_reset(struct board *board, uint32_t berth);

/* A worker: a free answer of its berth, or BOARD_NONE. */
uint32_t board_answer_free(const struct board *board, uint32_t berth);
uint8_t *board_answer_open(struct board *board, uint32_t berth,
                           uint32_t answer);
/* Returns its number, for the message. */
uint64_t board_answer_publish(struct board *board, uint32_t berth,
                              uint32_t answer);

/* The coordinator: the bytes of a published answer; NULL if there is no such
 * answer, or it is another one by now.  They may change while they are read:
 * the worker is not trusted to keep BOARD-2. */
const uint8_t *board_answer(const struct board *board, uint32_t berth,
                            uint32_t answer, uint64_t sequence);
void board_answer_release(struct board *board, uint32_t berth, uint32_t answer,
                          uint64_t sequence);

/* --- notes --------------------------------------------------------------- */

enum board_side { BOARD_WORKER, BOARD_COORDINATOR };

/* To the other side of the berth.  False: it has not taken the last ones, or
 * there are no notes, or this is too long for one. */
MUST_CHECK bool board_note_leave(struct board *board, uint32_t berth,
                                 enum board_side to, const void *data,
                                 size_t size);
/* The first that was left for `side`: its size, 0 if there is nothing.  Who
 * does not trust the other side takes BOARD_NOTES at a time, and no more. */
size_t board_note_take(struct board *board, uint32_t berth,
                       enum board_side side, uint8_t note[BOARD_NOTE_BYTES]);
/* The same from one berth to another, of a board that has letters; the bell
 * that is rung is that berth's, as a worker. */
MUST_CHECK bool board_letter_leave(struct board *board, uint32_t from,
                                   uint32_t to, const void *data, size_t size);
/* Is there one?  Then the first, which stays until it is taken; *size 0: it is
 * none that anybody leaves. */
bool board_letter_look(const struct board *board, uint32_t from, uint32_t to,
                       uint8_t note[BOARD_NOTE_BYTES], size_t *size);
void board_letter_take(struct board *board, uint32_t from, uint32_t to);

/* Readable once somebody has rung; -1: there are no notes.  The coordinator
 * has one for all berths. */
int board_bell(const struct board *board, uint32_t berth, enum board_side side);
/* It was heard; before looking at the notes. */
void board_bell_hush(struct board *board, uint32_t berth, enum board_side side);

/* Who listens may stay awake and ask by itself whether it has been rung (true:
 * hushed, too); whoever rings need not write to the descriptor meanwhile. */
void board_bell_wake(struct board *board, uint32_t berth, enum board_side side);
bool board_bell_heard(struct board *board, uint32_t berth,
                      enum board_side side);
/* No more: false if it has been rung and not heard yet. */
bool board_bell_sleep(struct board *board, uint32_t berth,
                      enum board_side side);

#endif /* OS_BOARD_H */
