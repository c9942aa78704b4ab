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
#include "wire/codec.h"

#define FUZZ_DIMS     70u
#define FUZZ_SUM_DIMS (FUZZ_DIMS * (FUZZ_DIMS + 1) / 2) /* HESSIAN. */
#define FUZZ_ITEMS    9u

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct codec_room room;
    struct msg msg;
    uint8_t *again;

    if (room.dims == 0) {
        CHECK(codec_room_init(&room, FUZZ_DIMS, FUZZ_SUM_DIMS, FUZZ_ITEMS) ==
              ERR_OK);
        CHECK(codec_room_answers(&room, FUZZ_ITEMS) == ERR_OK);
    }
    if (codec_decode(data, size, &room, &msg) != ERR_OK)
        return 0;
    again = mem_new(codec_bound(&msg), 1);
    CHECK(again != NULL);
    CHECK(codec_encode(&msg, again) == size);
    CHECK(memcmp(again, data, size) == 0);
    mem_free(again);
    return 0;
}
