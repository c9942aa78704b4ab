/*
 * Random decimals of every length go through number_parse and through strtod:
 * the bits must agree.  What strtod takes but a data file must not hold, and
 * the reverse, stands in a table.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/rng.h"
#include "data/text/number.h"

static uint64_t bits_of(double value)
{
    uint64_t bits;

    memcpy(&bits, &value, sizeof bits);
    return bits;
}

static void assert_like_strtod(const char *text, uint64_t seed)
{
    const double wanted = strtod(text, NULL);
    double value = 0;

    if (number_parse(text, strlen(text), &value) != NUMBER_OK ||
        bits_of(value) != bits_of(wanted))
        fail_msg("seed %llu: '%s' gave %.17g, strtod says %.17g",
                 (unsigned long long)seed, text, value, wanted);
}

static void random_decimal(struct rng *rng, char *text)
{
    const uint64_t digits = 1 + rng_below(rng, rng_chance(rng, 0.2) ? 60 : 20);
    const uint64_t point = rng_below(rng, digits + 1);

    if (rng_chance(rng, 0.5))
        *text++ = rng_chance(rng, 0.5) ? '-' : '+';
    for (uint64_t i = 0; i < digits; i++) {
        if (i == point)
            *text++ = '.';
        *text++ = (char)('0' + (int)rng_below(rng, 10));
    }
    if (rng_chance(rng, 0.5)) {
        /* The exponent stays where no value overflows. */
        text += sprintf(text, "%c%s%d", rng_chance(rng, 0.5) ? 'e' : 'E',
                        rng_chance(rng, 0.3) ? "-00" : "",
                        (int)rng_below(rng, rng_chance(rng, 0.5) ? 25 : 240));
    }
    *text = '\0';
}

static void test_random_decimals(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 20; seed++) {
        struct rng rng;

        rng_init(&rng, seed);
        for (int i = 0; i < 5000; i++) {
            char text[128];

            random_decimal(&rng, text);
            assert_like_strtod(text, seed);
        }
    }
}

static void test_round_trip_17g(void **state)
{
    struct rng rng;

    (void)state;
    rng_init(&rng, 99);
    for (int i = 0; i < 20000; i++) {
        const uint64_t bits = rng_next(&rng);
        char text[64];
        double value;

        memcpy(&value, &bits, sizeof value);
        if ((bits >> 52 & 0x7ff) == 0x7ff)
            continue;
        (void)snprintf(text, sizeof text, "%.17g", value);
        assert_like_strtod(text, 99);
    }
}

static void test_hard_cases(void **state)
{
    static const char *const cases[] = {
        "0",
        "-0",
        "00000000000000000000000000000001",
        "1.225e+006",
        "9007199254740993",
        "9007199254740992.5",
        "1e22",
        "1e23",
        "2.2250738585072011e-308",
        "4.9e-324",
        "2.4703282292062327e-324",
        "2.4703282292062328e-324",
        "1e-400",
        "0e999999999999",
        "0.000000000000000000000000000000000000000000001e45",
        "1.7976931348623157e308",
        "5.",
        ".5",
        "+.5e-1",
        "123456789012345678901234567890e-20",
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_like_strtod(cases[i], 0);
}

static void test_refusals(void **state)
{
    static const struct {
        const char *text;
        enum number number;
    } cases[] = {
        {"", NUMBER_NOT},
        {"+", NUMBER_NOT},
        {".", NUMBER_NOT},
        {"e5", NUMBER_NOT},
        {"1e", NUMBER_NOT},
        {"1e+", NUMBER_NOT},
        {"1 ", NUMBER_NOT},
        {" 1", NUMBER_NOT},
        {"1,5", NUMBER_NOT},
        {"0x10", NUMBER_NOT},
        {"1.2.3", NUMBER_NOT},
        {"--1", NUMBER_NOT},
        {"info", NUMBER_NOT},
        {"nan", NUMBER_NONFINITE},
        {"-NaN", NUMBER_NONFINITE},
        {"nan(1)", NUMBER_NOT},
        {"nanos", NUMBER_NOT},
        {"Nancy", NUMBER_NOT},
        {"infos", NUMBER_NOT},
        {"inf", NUMBER_NONFINITE},
        {"+Infinity", NUMBER_NONFINITE},
        {"1e309", NUMBER_HUGE},
        {"-1.7976931348623159e308", NUMBER_HUGE},
        {"1e999999999999999999999", NUMBER_HUGE},
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        double value = 42;

        assert_int_equal(
            number_parse(cases[i].text, strlen(cases[i].text), &value),
            cases[i].number);
        assert_true(value == 42);
    }
}

static void test_length_limit(void **state)
{
    char text[NUMBER_TEXT_MAX + 1];
    double value = 0;

    (void)state;
    memset(text, '0', sizeof text);
    text[NUMBER_TEXT_MAX - 1] = '7';
    assert_int_equal(number_parse(text, NUMBER_TEXT_MAX, &value), NUMBER_OK);
    assert_true(value == 7);
    assert_int_equal(number_parse(text, NUMBER_TEXT_MAX + 1, &value),
                     NUMBER_NOT);
}

/* 0.1234567890123456789 takes the slow path. */
static void test_comma_locale(void **state)
{
    static const char text[] = "0.1234567890123456789";
    double value = 0;

    (void)state;
    if (setlocale(LC_ALL, "de_DE.UTF-8") == NULL &&
        setlocale(LC_ALL, "fr_FR.UTF-8") == NULL) {
        print_message("no locale with a decimal comma is installed\n");
        skip();
    }
    assert_int_equal(number_parse(text, sizeof text - 1, &value), NUMBER_OK);
    assert_true(value == 0.1234567890123456789);
    assert_string_equal(localeconv()->decimal_point, ",");
    (void)setlocale(LC_ALL, "C");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_random_decimals),
        cmocka_unit_test(test_round_trip_17g),
        cmocka_unit_test(test_hard_cases),
        cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_length_limit),
        cmocka_unit_test(test_comma_locale),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
