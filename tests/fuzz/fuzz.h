/*
 * fuzz.h - what fuzz targets share.
 *
 * A target is one function over bytes.  With clang it is linked with libFuzzer
 * and searches for inputs; everywhere the inputs in corpus/ are replayed
 * through it by replay.h.
 */
#ifndef FUZZ_FUZZ_H
#define FUZZ_FUZZ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Set by a target whose input got to what it is about: bytes that were read as
 * what they are to be, a step that was made.  A corpus of inputs that all end
 * before tests next to nothing (replay.h counts). */
static bool fuzz_reached __attribute__((unused));

/* An oracle's verdict: on failure the input is a finding. */
#define FUZZ_REQUIRE(x)                                                        \
    do {                                                                       \
        if (!(x)) {                                                            \
            (void)fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #x);      \
            abort();                                                           \
        }                                                                      \
    } while (0)

#endif /* FUZZ_FUZZ_H */
