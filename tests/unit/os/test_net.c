/*
 * Addresses as people write them, and listening sockets on free ports.
 */
#include "os/net/net.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

static void check_parse(const char *text, const char *host, uint16_t port)
{
    struct net_address address;
    struct why why = {0};

    assert_int_equal(net_parse(text, &address, &why), ERR_OK);
    assert_string_equal(address.host, host);
    assert_int_equal(address.port, port);
}

static void check_refused(const char *text)
{
    struct net_address address;
    struct why why = {0};

    assert_int_not_equal(net_parse(text, &address, &why), ERR_OK);
    assert_true(why.text[0] != '\0');
}

static void test_parse(void **state)
{
    char long_name[300];

    (void)state;
    check_parse("host:4711", "host", 4711);
    check_parse("10.0.0.1:1", "10.0.0.1", 1);
    check_parse("[::1]:65535", "::1", 65535);
    check_parse("[::1]", "::1", 0);
    check_parse(":80", "127.0.0.1", 80);
    check_parse("host", "host", 0);
    check_parse("", "127.0.0.1", 0);
    check_refused("host:");
    check_refused("host:x");
    check_refused("host:65536");
    check_refused("host:-1");
    check_refused("::1");
    check_refused("[::1");
    check_refused("[::1]x:1");
    memset(long_name, 'a', sizeof long_name);
    long_name[299] = '\0';
    check_refused(long_name);
}

static void test_text(void **state)
{
    struct net_address address;
    char text[NET_TEXT_SIZE];

    (void)state;
    assert_int_equal(net_parse("[::1]:5", &address, NULL), ERR_OK);
    assert_string_equal(net_text(&address, text), "[::1]:5");
    assert_int_equal(net_parse("h:5", &address, NULL), ERR_OK);
    assert_string_equal(net_text(&address, text), "h:5");
    net_own_name(address.host);
    assert_true(address.host[0] != '\0');
}

static void test_a_taken_port_is_replaced(void **state)
{
    const struct net_address any = {.host = "127.0.0.1"};
    struct net_address wanted = any;
    struct net_listener first, second;

    (void)state;
    assert_int_equal(net_listen(&any, true, &first, NULL), ERR_OK);
    assert_false(first.moved);
    assert_true(first.bound.port != 0);
    wanted.port = first.bound.port;
    assert_int_equal(net_listen(&wanted, true, &second, NULL), ERR_OK);
    assert_true(second.moved);
    assert_int_not_equal(second.bound.port, first.bound.port);
    net_close(&first);
    net_close(&second);
}

static void test_other_programs_ports_are_left_alone(void **state)
{
    const struct net_address wanted = {.host = "127.0.0.1", .port = 29500};
    struct net_listener listener;

    (void)state;
    assert_int_equal(net_listen(&wanted, true, &listener, NULL), ERR_OK);
    assert_true(listener.moved);
    assert_int_not_equal(listener.bound.port, 29500);
    net_close(&listener);
}

static void test_loopback_only(void **state)
{
    struct net_address wanted = {.host = "0.0.0.0"};
    struct net_listener listener;
    struct why why = {0};

    (void)state;
    assert_int_equal(net_listen(&wanted, true, &listener, &why), ERR_DENIED);
    assert_non_null(strstr(why.text, "--token-file"));
    assert_int_equal(net_listen(&wanted, false, &listener, &why), ERR_OK);
    assert_string_equal(listener.local.host, "127.0.0.1");
    net_close(&listener);
    memcpy(wanted.host, "127.0.0.9", 10);
    assert_int_equal(net_listen(&wanted, true, &listener, &why), ERR_OK);
    net_close(&listener);
    memcpy(wanted.host, "no-such.invalid", 16);
    assert_int_equal(net_listen(&wanted, true, &listener, &why), ERR_NOTFOUND);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_parse),
        cmocka_unit_test(test_text),
        cmocka_unit_test(test_a_taken_port_is_replaced),
        cmocka_unit_test(test_other_programs_ports_are_left_alone),
        cmocka_unit_test(test_loopback_only),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
