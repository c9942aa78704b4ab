/*
 * The language of --chaos: what it means, and that mistakes get a sentence.
 */
#include "node/host/chaos.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

static void test_events(void **state)
{
    struct chaos chaos;
    struct why why = {0};

    (void)state;
    assert_int_equal(chaos_parse("kill:w3@20,stop:w2@10+5,leave:w1@40,join@25,"
                                 "kill:coordinator@30,seed=7",
                                 &chaos, &why),
                     ERR_OK);
    assert_int_equal(chaos.count, 5);
    assert_int_equal(chaos.seed, 7);
    assert_int_equal(chaos.events[0].kind, CHAOS_KILL);
    assert_string_equal(chaos.events[0].name, "w3");
    assert_int_equal(chaos.events[0].step, 20);
    assert_int_equal(chaos.events[1].kind, CHAOS_STOP);
    assert_int_equal(chaos.events[1].step, 10);
    assert_int_equal(chaos.events[1].steps, 5);
    assert_int_equal(chaos.events[2].kind, CHAOS_LEAVE);
    assert_int_equal(chaos.events[3].kind, CHAOS_JOIN);
    assert_string_equal(chaos.events[3].name, "");
    assert_int_equal(chaos.events[3].step, 25);
    assert_string_equal(chaos.events[4].name, "coordinator");
}

static void test_steps_that_wait(void **state)
{
    static const uint32_t acts[] = {3, 4, 5, 7, 9};
    struct chaos chaos;
    struct why why = {0};
    uint32_t at = 0;

    (void)state;
    assert_int_equal(chaos_parse("kill:w0@3,stop:w1@4+5,leave:w2@5,join@7,"
                                 "lie:w3@6,kill=1/s",
                                 &chaos, &why),
                     ERR_OK);
    for (uint32_t step = 0; step < 12; step++) {
        const bool wanted = at < 5 && acts[at] == step;

        assert_int_equal(chaos_acts(&chaos, step), wanted);
        at += wanted;
    }
    assert_int_equal(at, 5);
}

static void test_rates(void **state)
{
    struct chaos chaos;

    (void)state;
    assert_int_equal(
        chaos_parse("kill=0.5/s,stop=2/s,join=1e-1/s,coordinator=0/s", &chaos,
                    NULL),
        ERR_OK);
    assert_true(chaos.kill_rate == 0.5);
    assert_true(chaos.stop_rate == 2);
    assert_true(chaos.join_rate == 0.1);
    assert_true(chaos.coordinator_rate == 0);
    assert_int_equal(chaos.count, 0);
}

static void test_mistakes(void **state)
{
    static const char *const wrong[] = {
        "",
        "kill",
        "kill:w3",
        "kill@20",
        "kill:@20",
        "kill:w3@",
        "kill:w3@x",
        "kill:w3@20+5",
        "kill:w3@-",
        "stop:w3@20",
        "stop:w3@2+",
        "stop:w3@2+x",
        "join:w3@1",
        "leave:w/@1",
        "burn:w3@1",
        "kill=0.5",
        "kill=/s",
        "kill=-1/s",
        "kill=nan/s",
        "kill=inf/s",
        "die=1/s",
        "seed=x",
        "seed=",
        "kill:w3@20,",
        ",",
        "kill:w3@1=2",
        "kill:w3@4294967296",
        "leave:coordinator@1",
        "kil:w1@2",
        "joins@3",
    };
    struct chaos chaos = {.count = 99};

    (void)state;
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        struct why why = {0};

        assert_int_equal(chaos_parse(wrong[i], &chaos, &why), ERR_FORMAT);
        assert_true(strncmp(why.text, "chaos", 5) == 0);
        assert_int_equal(chaos.count, 99); /* Untouched on failure. */
    }
}

static void test_too_many(void **state)
{
    static char text[CHAOS_MAX * 10 + 20];
    struct chaos chaos;

    (void)state;
    for (uint32_t i = 0; i < CHAOS_MAX; i++)
        memcpy(text + 7 * i, "join@1,", 8);
    text[7 * CHAOS_MAX - 1] = '\0';
    assert_int_equal(chaos_parse(text, &chaos, NULL), ERR_OK);
    memcpy(text + 7 * CHAOS_MAX - 1, ",join@2", 8);
    assert_int_equal(chaos_parse(text, &chaos, NULL), ERR_FORMAT);
    memset(text, 'a', 300);
    text[300] = '\0';
    assert_int_equal(chaos_parse(text, &chaos, NULL), ERR_FORMAT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_events),   cmocka_unit_test(test_steps_that_wait),
        cmocka_unit_test(test_rates),    cmocka_unit_test(test_mistakes),
        cmocka_unit_test(test_too_many),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
