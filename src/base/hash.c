/*
 * hash.c - SHA-256 by OpenSSL behind a context of fixed size.  Vectors are
 * hashed in one byte order, because hashes of weights are compared between
 * machines.
 */
#include "base/hash.h"

#include <assert.h>
#include <openssl/evp.h>
#include <string.h>

#include "base/check.h"
#include "base/hex.h"

static_assert(sizeof(double) == 8, "canonical bytes are IEEE binary64");
#if __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "hasher_add_f64 and _i64 hash memory as it lies: little-endian only"
#endif

bool hash_ready(void)
{
    EVP_MD_CTX *context = EVP_MD_CTX_new();
    const bool ready =
        context != NULL && EVP_DigestInit_ex(context, EVP_sha256(), NULL) == 1;

    EVP_MD_CTX_free(context);
    return ready;
}

void hasher_init(struct hasher *hasher)
{
    EVP_MD_CTX *context = EVP_MD_CTX_new();

    /* These fail only for lack of memory or of SHA-256 itself. */
    CHECK(context != NULL);
    CHECK(EVP_DigestInit_ex(context, EVP_sha256(), NULL) == 1);
    hasher->context = context;
}

void hasher_add(struct hasher *hasher, const void *data, size_t size)
{
    CHECK(EVP_DigestUpdate(hasher->context, data, size) == 1);
}

void hasher_add_f64(struct hasher *hasher, const double *values, size_t count)
{
    hasher_add(hasher, values, count * sizeof *values);
}

void hasher_add_i64(struct hasher *hasher, const int64_t *values, size_t count)
{
    hasher_add(hasher, values, count * sizeof *values);
}

struct digest hasher_end(struct hasher *hasher)
{
    struct digest digest;
    unsigned size = 0;

    CHECK(EVP_DigestFinal_ex(hasher->context, digest.bytes, &size) == 1);
    CHECK(size == DIGEST_BYTES);
    EVP_MD_CTX_free(hasher->context);
    hasher->context = NULL;
    return digest;
}

struct digest hash_bytes(const void *data, size_t size)
{
    struct hasher hasher;

    hasher_init(&hasher);
    hasher_add(&hasher, data, size);
    return hasher_end(&hasher);
}

struct digest hash_f64(const double *values, size_t count)
{
    return hash_bytes(values, count * sizeof *values);
}

struct digest hash_f32(const float *values, size_t count)
{
    return hash_bytes(values, count * sizeof *values);
}

struct digest hash_vectors(const double *values, size_t vectors, size_t stride,
                           size_t count)
{
    struct hasher hasher;

    CHECK(count <= stride);
    hasher_init(&hasher);
    for (size_t k = 0; k < vectors; k++)
        hasher_add_f64(&hasher, values + k * stride, count);
    return hasher_end(&hasher);
}

bool digest_equal(const struct digest *a, const struct digest *b)
{
    return memcmp(a->bytes, b->bytes, DIGEST_BYTES) == 0;
}

bool digest_zero(const struct digest *digest)
{
    const struct digest zero = {{0}};

    return digest_equal(digest, &zero);
}

uint64_t digest_short(const struct digest *digest)
{
    uint64_t value = 0;

    for (unsigned i = 0; i < 8; i++)
        value |= (uint64_t)digest->bytes[i] << (8 * i);
    return value;
}

char *digest_text(const struct digest *digest, char text[DIGEST_TEXT])
{
    return hex_put(digest->bytes, DIGEST_BYTES, text);
}
