/*
 * SHA-256 is held against the examples of FIPS 180-4, whole and in pieces; the
 * hashes of numbers against hand-written canonical bytes.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>

#include "base/hash.h"
#include "base/hex.h"

static void assert_hex(const struct digest *digest, const char *hex)
{
    char text[DIGEST_TEXT];

    assert_string_equal(digest_text(digest, text), hex);
}

static void test_published_examples(void **state)
{
    const struct digest empty = hash_bytes("", 0);
    const struct digest abc = hash_bytes("abc", 3);

    (void)state;
    assert_hex(&empty, "e3b0c44298fc1c149afbf4c8996fb924"
                       "27ae41e4649b934ca495991b7852b855");
    assert_hex(&abc, "ba7816bf8f01cfea414140de5dae2223"
                     "b00361a396177a9cb410ff61f20015ad");
    assert_true(digest_short(&abc) == UINT64_C(0xeacf018fbf1678ba));
    assert_true(digest_equal(&abc, &abc));
    assert_false(digest_equal(&abc, &empty));
}

static void test_pieces_equal_whole(void **state)
{
    const struct digest whole = hash_bytes("abc", 3);
    struct hasher hasher;
    struct digest pieces;

    (void)state;
    hasher_init(&hasher);
    hasher_add(&hasher, "a", 1);
    hasher_add(&hasher, "", 0);
    hasher_add(&hasher, "bc", 2);
    pieces = hasher_end(&hasher);
    assert_true(digest_equal(&whole, &pieces));
}

static void test_numbers_are_canonical(void **state)
{
    static const uint8_t one[] = {0, 0, 0, 0, 0, 0, 0xf0, 0x3f};
    static const uint8_t minus_two[] = {0xfe, 0xff, 0xff, 0xff,
                                        0xff, 0xff, 0xff, 0xff};
    static const uint8_t short_one[] = {0, 0, 0x80, 0x3f};
    const struct digest short_bytes = hash_bytes(short_one, sizeof short_one);
    const float f = 1;
    const struct digest short_value = hash_f32(&f, 1);
    const double x = 1;
    const int64_t n = -2;
    const struct digest by_bytes = hash_bytes(one, sizeof one);
    const struct digest by_value = hash_f64(&x, 1);
    const struct digest integer_bytes = hash_bytes(minus_two, sizeof minus_two);
    struct hasher hasher;
    struct digest integer;

    (void)state;
    assert_true(digest_equal(&by_bytes, &by_value));
    assert_true(digest_equal(&short_bytes, &short_value));
    hasher_init(&hasher);
    hasher_add_i64(&hasher, &n, 1);
    integer = hasher_end(&hasher);
    assert_true(digest_equal(&integer_bytes, &integer));
    hasher_init(&hasher);
    hasher_add_f64(&hasher, &x, 1);
    integer = hasher_end(&hasher);
    assert_true(digest_equal(&by_value, &integer));
}

static void test_hex(void **state)
{
    const uint8_t bytes[] = {0x00, 0x9f, 0xa0, 0xff};
    uint8_t back[sizeof bytes] = {1, 1, 1, 1};
    char text[2 * sizeof bytes + 1];

    (void)state;
    assert_string_equal(hex_put(bytes, sizeof bytes, text), "009fa0ff");
    assert_true(hex_get("009Fa0fF and more", sizeof back, back));
    assert_memory_equal(back, bytes, sizeof bytes);
    assert_false(hex_get("009fa0f", sizeof back, back));
    assert_false(hex_get("009fa0fg", sizeof back, back));
    assert_false(hex_get("", sizeof back, back));
    assert_true(hex_get("", 0, back));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_published_examples),
        cmocka_unit_test(test_pieces_equal_whole),
        cmocka_unit_test(test_numbers_are_canonical),
        cmocka_unit_test(test_hex),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
