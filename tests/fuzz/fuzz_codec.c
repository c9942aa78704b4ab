/*
 * fuzz_codec.c - any bytes give a message or ERR_FORMAT (P12).
 *
 * Oracle: what decodes must encode to the very same bytes, so that there is
 * one way to write each message and a reader cannot be led astray by another.
 * Build with clang -fsanitize=fuzzer,address,undefined; tests/unit/wire/
 * test_fuzz_codec.c replays the corpus and random mutations of it.
 */
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/check.h"
#include "base/mem.h"
#include "core/link/greeting.h"
#include "wire/bundle.h"
#include "wire/codec.h"
#include "wire/roll_codec.h"
#include "wire/sum_codec.h"

#define FUZZ_DIMS     70u
#define FUZZ_SUM_DIMS (FUZZ_DIMS * (FUZZ_DIMS + 1) / 2) /* HESSIAN. */
#define FUZZ_ITEMS    9u

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Every message lies inside, one after the other, up to the end or to the
 * first that does not. */
static void walk_bundle(const uint8_t *data, size_t size)
{
    const uint8_t *message, *end = data + 1;
    size_t at = 0, message_size;

    while (bundle_next(data, size, &at, &message, &message_size)) {
        CHECK(message == end + 4);
        end = message + message_size;
        CHECK(end == data + at && at <= size);
    }
    CHECK(at == 0 || at == size);
}

/* Messages of owners of private data: the same oracle. */
static void call_roll(const uint8_t *data, size_t size)
{
    struct roll_msg msg;
    uint8_t *again;

    if (roll_codec_decode(data, size, &msg) != ERR_OK)
        return;
    again = mem_new(roll_codec_bound(&msg), 1);
    CHECK(again != NULL);
    CHECK(roll_codec_encode(&msg, again) == size);
    CHECK(memcmp(again, data, size) == 0);
    mem_free(again);
}

/* Messages of a group: the same oracle. */
static void call_group(const uint8_t *data, size_t size)
{
    static struct sum_codec_room views;
    struct sum_msg msg;
    uint8_t *again;

    if (sum_codec_decode(data, size, &views, &msg) != ERR_OK)
        return;
    again = mem_new(sum_codec_bound(&msg), 1);
    CHECK(again != NULL);
    CHECK(sum_codec_encode(&msg, again) == size);
    CHECK(memcmp(again, data, size) == 0);
    mem_free(again);
}

/* A ROUND whose vectors are any bytes, on a board that holds just them. */
static void find_vectors(struct codec_room *room, const uint8_t *data,
                         size_t size, struct msg_round *round)
{
    const size_t bytes = codec_laid_bound(
        round->dims, evaluation_dims(round->kind, round->dims));
    uint8_t *board = mem_new(bytes, 1);

    CHECK(board != NULL);
    memcpy(board, data, size < bytes ? size : bytes);
    CHECK(codec_find_vectors(board, bytes - 1, room, round) == ERR_FORMAT);
    codec_room_forget(room);
    if (codec_find_vectors(board, bytes, room, round) == ERR_OK) {
        CHECK((const uint8_t *)round->weights == board);
        codec_copy_vectors(room, round);
        CHECK(memcmp(round->weights, board,
                     round->dims * sizeof *round->weights) == 0);
    }
    codec_room_forget(room);
    mem_free(board);
}

/* Messages with vectors elsewhere: the same oracle again. */
static void call_posted(struct codec_room *room, const uint8_t *data,
                        size_t size)
{
    struct posted where;
    struct msg msg;
    uint8_t *again;

    if (codec_decode_posted(data, size, room, &msg, &where) != ERR_OK)
        return;
    again = mem_new(codec_posted_bound(&msg), 1);
    CHECK(again != NULL);
    CHECK(codec_encode_posted(&msg, &where, again) == size);
    CHECK(memcmp(again, data, size) == 0);
    mem_free(again);
    if (msg.kind == MSG_ROUND)
        find_vectors(room, data, size, &msg.round);
}

/* In place the same bytes are taken, and as the same message; of a scale that
 * is known exponents are not looked at.  All but a ROUND lie in memory of their
 * own size, where a sanitizer sees overruns; that may have weights to widen. */
static void read_here(struct codec_room *room, const struct msg *good,
                      const uint8_t *data, size_t size)
{
    const bool round = good != NULL && good->kind == MSG_ROUND;
    uint8_t *inbox = mem_new(round ? codec_bound(good) : size, 1);
    uint8_t *again;
    struct msg msg;

    CHECK(inbox != NULL);
    memcpy(inbox, data, size);
    codec_room_forget(room);
    CHECK((codec_decode_here(inbox, size, room, &msg) == ERR_OK) ==
          (good != NULL));
    if (round) {
        memcpy(inbox, data, size);
        CHECK(codec_decode_here(inbox, size, room, &msg) == ERR_OK);
        CHECK((const uint8_t *)msg.round.weights > inbox);
        again = mem_new(codec_bound(&msg), 1);
        CHECK(again != NULL);
        CHECK(codec_encode(&msg, again) == size);
        CHECK(memcmp(again, data, size) == 0);
        mem_free(again);
    }
    mem_free(inbox);
}

/* Left packed: what is accepted more are sums that do not unpack, no more. */
static void keep_packed(const struct codec_room *room, bool good,
                        const uint8_t *data, size_t size)
{
    struct codec_room packed = *room;
    struct unpacking unpacking;
    const struct packed *sums;
    struct msg msg;

    packed.packed = true;
    if (codec_decode(data, size, &packed, &msg) != ERR_OK) {
        CHECK(!good);
        return;
    }
    if (msg.kind != MSG_TALLY && msg.kind != MSG_SLICE) {
        CHECK(good);
        return;
    }
    sums = msg.kind == MSG_TALLY ? &msg.tally.packed : &msg.slice.packed;
    CHECK(sums->count ==
          (msg.kind == MSG_TALLY ? msg.tally.dims : msg.slice.count));
    unpacking = unpack_begin(sums);
    CHECK(unpack_next(&unpacking, sums->count, packed.sum) == good);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct codec_room room;
    struct msg msg;
    uint8_t *again;
    bool good;

    if (room.dims == 0) {
        CHECK(codec_room_init(&room, FUZZ_DIMS, FUZZ_SUM_DIMS, FUZZ_ITEMS) ==
              ERR_OK);
        CHECK(codec_room_answers(&room, FUZZ_ITEMS) == ERR_OK);
        CHECK(codec_room_peers(&room) == ERR_OK);
    }
    if (bundle_is(data, size))
        walk_bundle(data, size);
    if (roll_codec_is(data, size))
        call_roll(data, size);
    call_group(data, size);
    if (codec_is_posted(data, size))
        call_posted(&room, data, size);
    codec_room_forget(&room);
    good = codec_decode(data, size, &room, &msg) == ERR_OK;
    keep_packed(&room, good, data, size);
    read_here(&room, good ? &msg : NULL, data, size);
    if (!good || greeting_foreign(&msg) != NULL)
        return 0;
    again = mem_new(codec_bound(&msg), 1);
    CHECK(again != NULL);
    CHECK(codec_encode(&msg, again) == size);
    CHECK(memcmp(again, data, size) == 0);
    mem_free(again);
    return 0;
}
