/*
 * hash.h - SHA-256 (OpenSSL's), the oracle of the whole system.
 *
 * Vectors of numbers are hashed in canonical byte order: little-endian IEEE
 * bits or two's complement, whatever the machine.
 */
#ifndef BASE_HASH_H
#define BASE_HASH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define DIGEST_BYTES 32u
#define DIGEST_TEXT  65u /* Hex digits and a NUL. */

struct digest {
    uint8_t bytes[DIGEST_BYTES];
};

/* An incremental hash; init, then add, then end exactly once. */
struct hasher {
    void *context;
};

/* Is there SHA-256, and memory for it?  A program asks before it begins: its
 * first use takes some hundred KiB, and further down there is no way back. */
bool hash_ready(void);

void hasher_init(struct hasher *hasher);
void hasher_add(struct hasher *hasher, const void *data, size_t size);
void hasher_add_f64(struct hasher *hasher, const double *values, size_t count);
void hasher_add_i64(struct hasher *hasher, const int64_t *values, size_t count);
struct digest hasher_end(struct hasher *hasher);

struct digest hash_bytes(const void *data, size_t size);
struct digest hash_f64(const double *values, size_t count);
struct digest hash_f32(const float *values, size_t count);
/* Of `vectors` vectors that lie `stride` apart, the first `count` of each. */
struct digest hash_vectors(const double *values, size_t vectors, size_t stride,
                           size_t count);

bool digest_equal(const struct digest *a, const struct digest *b);
bool digest_zero(const struct digest *digest);
/* The first eight bytes as a number: a short name for a digest. */
uint64_t digest_short(const struct digest *digest);
/* Lower-case hex with a NUL; returns `text`. */
char *digest_text(const struct digest *digest, char text[DIGEST_TEXT]);

#endif /* BASE_HASH_H */
