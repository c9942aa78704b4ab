/*
 * What a writer puts a reader must get back, for every kind of field; then
 * every prefix of a message must fail without a read past its end (which the
 * sanitizer build would report) and leave the reader not ok.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <string.h>

#include "base/bytes.h"

static size_t put_message(uint8_t *data, size_t capacity, bool *ok)
{
    struct writer out = writer_on(data, capacity);

    put_u8(&out, 0xab);
    put_u16(&out, 0xbeef);
    put_u32(&out, 0xdeadbeef);
    put_u64(&out, UINT64_C(0x0123456789abcdef));
    put_i64(&out, INT64_MIN);
    put_f64(&out, -0.0);
    put_bytes(&out, "xyz", 3);
    put_text(&out, "text");
    *ok = out.ok;
    return out.size;
}

static void get_message(struct reader *in, bool judge)
{
    char xyz[3] = {0};
    char text[5];
    const uint8_t u8 = get_u8(in);
    const uint16_t u16 = get_u16(in);
    const uint32_t u32 = get_u32(in);
    const uint64_t u64 = get_u64(in);
    const int64_t i64 = get_i64(in);
    const double f64 = get_f64(in);

    get_bytes(in, xyz, sizeof xyz);
    get_text(in, text, sizeof text);
    if (!judge)
        return;
    assert_int_equal(u8, 0xab);
    assert_int_equal(u16, 0xbeef);
    assert_true(u32 == 0xdeadbeef);
    assert_true(u64 == UINT64_C(0x0123456789abcdef));
    assert_true(i64 == INT64_MIN);
    assert_true(f64 == 0.0 && signbit(f64));
    assert_memory_equal(xyz, "xyz", 3);
    assert_string_equal(text, "text");
}

static void test_round_trip(void **state)
{
    uint8_t data[64];
    bool ok;
    const size_t size = put_message(data, sizeof data, &ok);
    struct reader in = reader_on(data, size);

    (void)state;
    assert_true(ok);
    assert_int_equal(size, 1 + 2 + 4 + 8 + 8 + 8 + 3 + 2 + 4);
    get_message(&in, true);
    assert_true(reader_done(&in));
}

static void test_layout_is_little_endian(void **state)
{
    uint8_t data[4];
    struct writer out = writer_on(data, sizeof data);

    (void)state;
    put_u32(&out, 0x04030201);
    for (unsigned i = 0; i < 4; i++)
        assert_int_equal(data[i], i + 1);
}

static void test_every_prefix_fails(void **state)
{
    uint8_t data[64];
    bool ok;
    const size_t size = put_message(data, sizeof data, &ok);

    (void)state;
    for (size_t cut = 0; cut < size; cut++) {
        struct reader in = reader_on(data, cut);

        get_message(&in, false);
        assert_false(in.ok);
        assert_false(reader_done(&in));
        (void)put_message(data, cut, &ok);
        assert_false(ok);
        (void)put_message(data, sizeof data, &ok);
    }
}

static void test_leftover_is_not_done(void **state)
{
    const uint8_t data[2] = {0};
    struct reader in = reader_on(data, 2);

    (void)state;
    (void)get_u8(&in);
    assert_true(in.ok);
    assert_false(reader_done(&in));
    (void)get_u8(&in);
    assert_true(reader_done(&in));
}

static void test_huge_sizes_do_not_wrap(void **state)
{
    uint8_t data[8] = {0};
    struct reader in = reader_on(data, sizeof data);
    struct writer out = writer_on(data, sizeof data);

    (void)state;
    (void)get_u8(&in);
    assert_null(get_view(&in, SIZE_MAX));
    assert_false(in.ok);
    put_u8(&out, 1);
    assert_null(put_room(&out, SIZE_MAX));
    assert_false(out.ok);
    put_u8(&out, 1); /* The error sticks. */
    assert_int_equal(out.size, 1);
}

static void test_text_refuses(void **state)
{
    const uint8_t with_nul[] = {3, 0, 'a', 0, 'b'};
    const uint8_t long_text[] = {3, 0, 'a', 'b', 'c'};
    struct reader in = reader_on(with_nul, sizeof with_nul);
    char text[3] = "zz";

    (void)state;
    get_text(&in, text, sizeof text);
    assert_false(in.ok);
    assert_string_equal(text, "");
    in = reader_on(long_text, sizeof long_text);
    get_text(&in, text, sizeof text);
    assert_false(in.ok);
    assert_string_equal(text, "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_round_trip),
        cmocka_unit_test(test_layout_is_little_endian),
        cmocka_unit_test(test_every_prefix_fails),
        cmocka_unit_test(test_leftover_is_not_done),
        cmocka_unit_test(test_huge_sizes_do_not_wrap),
        cmocka_unit_test(test_text_refuses),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
