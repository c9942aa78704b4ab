/*
 * What is a number in other clothes and what is a word, by examples.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>

#include "data/text/disguise.h"

static const char *of(const char *text)
{
    const char *const found = disguise_of((struct span){text, strlen(text)});

    return found == NULL ? "a word" : found;
}

static void all_are(const char *what, const char *const *texts)
{
    for (; *texts != NULL; texts++) {
        if (strcmp(of(*texts), what) != 0)
            fail_msg("'%s' is %s, not %s", *texts, of(*texts), what);
    }
}

static void test_numbers(void **state)
{
    static const char *const thousands[] = {
        "1,234,567.5",  "1.234.567",  "1.234,5",  "1 234",      "1'234'567",
        "1\302\240234", "12_000_000", "1.042.00", "-12.042.50", NULL};
    static const char *const either[] = {"162,435", "-1,234", "(12,000)", NULL};
    static const char *const commas[] = {"3,5",    "0,25",   ",5",
                                         "-12,50", "-0,250", NULL};
    static const char *const money[] = {"$12",
                                        "$1,234.50",
                                        "-$3",
                                        "$ 5",
                                        "12 \xe2\x82\xac",
                                        "\302\2439.99",
                                        "$-12",
                                        "5 USD",
                                        "$12k",
                                        "Rs. 50",
                                        NULL};
    static const char *const parts[] = {"45%", "4.5 %", "-3%", "1,5%", NULL};
    static const char *const units[] = {"12 kg",   "180cm", "19M",      "8.7M",
                                        "1248 CC", "201k",  "23 years", NULL};
    static const char *const brackets[] = {"(12)", "(1.5)", NULL};

    (void)state;
    all_are("a number with marks between its thousands", thousands);
    all_are("a number with a comma between its thousands or before its "
            "decimals",
            either);
    all_are("a number with a decimal comma", commas);
    all_are("an amount of money", money);
    all_are("a percentage", parts);
    all_are("a number with a unit", units);
    all_are("a number in brackets", brackets);
}

static void test_moments(void **state)
{
    static const char *const dates[] = {"2020-01-31",
                                        "2020-01-31 12:30:00",
                                        "2020-01-31T00:00:00Z",
                                        "31/01/2020",
                                        "2020-01-31 12:30:00+01:00",
                                        "1/31/20",
                                        "31.1.2020",
                                        "2020/1/5",
                                        "Jan-2015",
                                        "31 Jan 2020",
                                        "January 31, 2020",
                                        "1/31/2020 7:05 PM",
                                        "2020-01",
                                        "2020/12",
                                        "01/2020",
                                        "2020-Q1",
                                        "2020Q4",
                                        NULL};
    static const char *const times[] = {
        "12:30",   "7:05:59",         "23:59:59.25",
        "7:05 pm", "0 days 00:01:00", "-1 days +23:59:00.5",
        NULL};

    (void)state;
    all_are("a date", dates);
    all_are("a time", times);
}

/* Words, and what has digits in it but is no number. */
static void test_words(void **state)
{
    static const char *const words[] = {"",          "-",
                                        "%",         "$",
                                        ">50K",      "<=50K",
                                        "18-24",     "1st",
                                        "3rd",       "A12",
                                        "12A",       "1.2.3",
                                        "10.0.0.1",  "192.168.178.20",
                                        "1.042.0",   "555-1234",
                                        "4wd",       "q1",
                                        "may",       "March",
                                        "1,2,3",     "1,23,4",
                                        "12-34",     "2020-13-45",
                                        "C85 C87",   "PC 17599",
                                        "1:2",       "99:99",
                                        "male",      "()",
                                        "( )",       "k",
                                        "kg",        "113-45-6789",
                                        "2020-13",   "1234-01",
                                        "2020-1",    "2020-Q5",
                                        "2020-",     "2020Q",
                                        "1990-2000", "13/2020",
                                        "2020-01a",  "1/2",
                                        "May Day",   "a,b",
                                        "1,",        NULL};

    (void)state;
    all_are("a word", words);
}

static void test_points(void **state)
{
    static const struct {
        const char *text;
        enum points points;
    } fields[] = {{"12", POINTS_NONE},        {"919,80", POINTS_NONE},
                  {"1.042,00", POINTS_GROUP}, {"1.234.567", POINTS_GROUP},
                  {"-1.042,5", POINTS_GROUP}, {"195.990", POINTS_EITHER},
                  {"-1.234", POINTS_EITHER},  {"0.250", POINTS_OTHER},
                  {"195.99", POINTS_OTHER},   {"1234.567", POINTS_OTHER},
                  {"1,234.5", POINTS_OTHER},  {".250", POINTS_OTHER}};

    (void)state;
    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++) {
        const char *const text = fields[i].text;

        if (disguise_points((struct span){text, strlen(text)}) !=
            fields[i].points)
            fail_msg("'%s'", text);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_numbers),
        cmocka_unit_test(test_points),
        cmocka_unit_test(test_moments),
        cmocka_unit_test(test_words),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
