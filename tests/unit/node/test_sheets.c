/*
 * Slices become the bytes that the codec gives, one for all who are sent the
 * same total, in memory that is used again once nobody holds it.
 */
#include "node/ring/sheets.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#include "base/mem.h"
#include "wire/codec.h"

#define DIMS 5000u

static int64_t sums[DIMS];

static struct msg slice_of(bool total, uint32_t at, uint32_t count)
{
    return (struct msg){.kind = MSG_SLICE,
                        .slice = {.key = {.step = 3, .view = 7},
                                  .total = total,
                                  .end = 9,
                                  .dims = DIMS,
                                  .at = at,
                                  .count = count,
                                  .sum = sums + at}};
}

static int fill(void **state)
{
    (void)state;
    for (uint32_t j = 0; j < DIMS; j++)
        sums[j] = ((int64_t)j << 40) - 3 * (int64_t)j;
    return 0;
}

static void assert_bytes(const struct sheet *sheet, const struct msg *msg)
{
    uint8_t *bytes = mem_new(codec_bound(msg), 1);
    const size_t size = codec_encode(msg, bytes);

    assert_int_equal(sheet->size, size);
    assert_memory_equal(sheet->blob->bytes, bytes, size);
    mem_free(bytes);
}

static void run_backwards(struct pool *pool, pool_item item, void *context,
                          uint32_t items)
{
    for (uint32_t i = items; i-- > 0;)
        item(context, i % pool->threads, i);
}

static void test_totals_are_encoded_once(void **state)
{
    const struct msg total = slice_of(true, 64, 640);
    struct msg other = total;
    struct pool two = {.threads = 2, .run = run_backwards};
    struct sheets sheets = {.count = 0};
    const struct msg *all[] = {&total, &other, &other, &total, &other};
    uint32_t which;

    (void)state;
    sheets_begin(&sheets, &two);
    for (uint32_t i = 0; i < 3; i++) {
        assert_true(sheets_add(&sheets, all[i], &which));
        assert_int_equal(which, 0);
    }
    other.slice.flags = SLICE_STOP;
    assert_true(sheets_add(&sheets, &other, &which));
    assert_int_equal(which, 1);
    sheets_encode(&sheets, &two);
    assert_bytes(&sheets.list[0], &total);
    assert_bytes(&sheets.list[1], &other);
    sheets_end(&sheets);
    sheets_close(&sheets);
}

/* Parts differ in who they are for, and there are no more than fit. */
static void test_parts_are_each_their_own(void **state)
{
    struct msg part[SHEETS_MAX + 1];
    struct pool two = {.threads = 2, .run = run_backwards};
    struct sheets sheets = {.count = 0};
    uint32_t which = 0;

    (void)state;
    for (uint32_t i = 0; i <= SHEETS_MAX; i++)
        part[i] = slice_of(false, 64 * i, 64);
    part[1] = part[0];
    sheets_begin(&sheets, NULL);
    assert_true(sheets_add(&sheets, &part[0], &which));
    assert_false(sheets_add(&sheets, &part[1], &which));
    sheets_end(&sheets);
    sheets_begin(&sheets, &two);
    for (uint32_t i = 0; i < 4; i++) {
        assert_true(sheets_add(&sheets, &part[i], &which));
        assert_int_equal(which, i);
    }
    assert_false(sheets_add(&sheets, &part[4], &which));
    sheets_encode(&sheets, &two);
    for (uint32_t i = 0; i < 4; i++)
        assert_bytes(&sheets.list[i], &part[i]);
    sheets_end(&sheets);
    sheets_close(&sheets);
}

/* What a link holds stays as it is; what it has let go of is used again. */
static void test_memory_is_used_again(void **state)
{
    const struct msg first = slice_of(false, 0, 4000);
    const struct msg second = slice_of(false, 64, 4000);
    struct sheets sheets = {.count = 0};
    struct blob *held[SHEETS_MAX + 3];
    const struct blob *before;
    size_t size = 0;
    uint32_t which;

    (void)state;
    for (uint32_t i = 0; i < SHEETS_MAX + 3; i++) {
        sheets_begin(&sheets, NULL);
        assert_true(sheets_add(&sheets, &first, &which));
        sheets_encode(&sheets, NULL);
        held[i] = blob_hold(sheets.list[0].blob);
        size = sheets.list[0].size;
        sheets_end(&sheets);
        for (uint32_t j = 0; j < i; j++)
            assert_ptr_not_equal(held[i], held[j]);
    }
    before = held[5];
    blob_drop(held[5]);
    sheets_begin(&sheets, NULL);
    assert_true(sheets_add(&sheets, &second, &which));
    sheets_encode(&sheets, NULL);
    assert_ptr_equal(sheets.list[0].blob, before);
    assert_bytes(&sheets.list[0], &second);
    assert_bytes(&(struct sheet){.blob = held[4], .size = size}, &first);
    sheets_end(&sheets);
    for (uint32_t i = 0; i < SHEETS_MAX + 3; i++)
        if (i != 5)
            blob_drop(held[i]);
    sheets_close(&sheets);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_totals_are_encoded_once),
        cmocka_unit_test(test_parts_are_each_their_own),
        cmocka_unit_test(test_memory_is_used_again),
    };

    return cmocka_run_group_tests_name("node/ring/sheets", tests, fill, NULL);
}
