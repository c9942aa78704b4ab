/*
 * Cards by name and by address, on the one that every machine has.
 */
#include "os/net/interface.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static void test_by_name(void **state)
{
    struct net_source source;
    struct why why = {0};

    (void)state;
    assert_int_equal(net_source_find("lo", &source, &why), ERR_OK);
    assert_string_equal(source.four, "127.0.0.1");
    assert_string_equal(net_source_host(&source), "127.0.0.1");
}

static void test_by_address(void **state)
{
    struct net_source source;
    struct why why = {0};

    (void)state;
    assert_int_equal(net_source_find("127.0.0.1", &source, &why), ERR_OK);
    assert_string_equal(source.four, "127.0.0.1");
    assert_string_equal(source.six, ""); /* That address and no other. */
}

static void test_unknown_lists_the_known(void **state)
{
    static const char *const unknown[] = {"nope0", "", "192.0.2.77",
                                          "2001:db8::77", "lo0extra"};

    (void)state;
    for (size_t i = 0; i < sizeof unknown / sizeof *unknown; i++) {
        struct net_source source;
        struct why why = {0};

        assert_int_equal(net_source_find(unknown[i], &source, &why),
                         ERR_NOTFOUND);
        assert_non_null(strstr(why.text, "lo"));
    }
}

static void test_host_of_six_only(void **state)
{
    const struct net_source source = {.six = "::1"};

    (void)state;
    assert_string_equal(net_source_host(&source), "::1");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_by_name),
        cmocka_unit_test(test_by_address),
        cmocka_unit_test(test_unknown_lists_the_known),
        cmocka_unit_test(test_host_of_six_only),
    };

    return cmocka_run_group_tests_name("interface", tests, NULL, NULL);
}
