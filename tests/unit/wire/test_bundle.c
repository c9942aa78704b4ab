/*
 * What goes into a bundle comes out of it, in order; damaged ones end early and
 * say so; what does not fit is refused whole.
 */
#include "wire/bundle.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

static struct bundle bundle;

static void add(const char *text)
{
    assert_true(bundle_add(&bundle, (const uint8_t *)text, strlen(text)));
}

static int begin(void **state)
{
    (void)state;
    bundle.size = 0;
    return 0;
}

static void test_comes_out_in_order(void **state)
{
    static const char *const texts[] = {"one", "", "three"};
    const uint8_t *message;
    size_t at = 0, size;

    (void)state;
    for (int i = 0; i < 3; i++)
        add(texts[i]);
    assert_true(bundle_is(bundle.bytes, bundle.size));
    for (int i = 0; i < 3; i++) {
        assert_true(
            bundle_next(bundle.bytes, bundle.size, &at, &message, &size));
        assert_int_equal(size, strlen(texts[i]));
        assert_memory_equal(message, texts[i], size);
    }
    assert_false(bundle_next(bundle.bytes, bundle.size, &at, &message, &size));
    assert_int_equal(at, bundle.size);
}

static void test_damage_is_seen(void **state)
{
    const uint8_t *message;
    size_t size;

    (void)state;
    add("abc");
    for (size_t cut = 1; cut < bundle.size; cut++) {
        size_t at = 0;

        assert_false(bundle_next(bundle.bytes, cut, &at, &message, &size));
        assert_int_equal(at, 0);
    }
    bundle.bytes[4] = 0xff; /* 4 GiB. */
    {
        size_t at = 0;

        assert_false(
            bundle_next(bundle.bytes, bundle.size, &at, &message, &size));
        assert_int_equal(at, 0);
    }
    assert_false(bundle_is((const uint8_t *)"x", 1));
    assert_false(bundle_is(bundle.bytes, 0));
}

static void test_large_ones_are_refused(void **state)
{
    static uint8_t large[BUNDLE_ITEM_MAX + 1];
    size_t before;

    (void)state;
    assert_false(bundle_add(&bundle, large, sizeof large));
    assert_int_equal(bundle.size, 0);
    do {
        before = bundle.size;
    } while (bundle_add(&bundle, large, BUNDLE_ITEM_MAX));
    assert_int_equal(bundle.size, before);
    assert_true(bundle.size + BUNDLE_ITEM_MAX + 4 > BUNDLE_CAPACITY);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(test_comes_out_in_order, begin),
        cmocka_unit_test_setup(test_damage_is_seen, begin),
        cmocka_unit_test_setup(test_large_ones_are_refused, begin),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
