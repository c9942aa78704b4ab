/*
 * Class weights, held-out rows and column numbers on small tables made here.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>

#include "base/mem.h"
#include "learn/rows.h"

#define ROWS 10u

static const struct frame_column numbers; /* Labels are no words. */

/* Rows of one column, the row's number; three are of the label 4, the others
 * of the label 2. */
static void make(struct dataset *data)
{
    static const double label[] = {2, 4};

    *data = (struct dataset){0};
    assert_int_equal(dataset_init(data, ROWS, 1, 8), ERR_OK);
    assert_int_equal(dataset_set_labels(data, label, 2), ERR_OK);
    for (uint32_t row = 0; row < ROWS; row++) {
        *(float *)dataset_row(data, row) = (float)row;
        data->y[row] = row < 3 ? 1 : -1;
    }
    chunkset_fill(&data->present);
}

static void test_class_weights(void **state)
{
    struct dataset data;
    struct why why = {0};

    (void)state;
    make(&data);
    assert_int_equal(rows_weigh(&data, &numbers, false, "4=2,2=0.5", &why),
                     ERR_OK);
    assert_true(data.weight[0] == 2 && data.weight[9] == 0.5);
    /* They multiply what is there. */
    assert_int_equal(rows_weigh(&data, &numbers, false, "2=4", &why), ERR_OK);
    assert_true(data.weight[0] == 2 && data.weight[9] == 2);
    dataset_close(&data);
    make(&data);
    assert_int_equal(rows_weigh(&data, &numbers, false, "balanced", &why),
                     ERR_OK);
    assert_true(data.weight[0] == 10 / 6.0 && data.weight[9] == 10 / 14.0);
    dataset_close(&data);
}

/* Three classes by number, and the same labels as they were read. */
static void test_class_weights_of_many(void **state)
{
    static const double label[] = {-5, 2, 7};
    static const uint32_t class[] = {0, 1, 2, 2, 1, 2, 2, 2, 2, 2};
    struct dataset data = {0};
    struct why why = {0};

    (void)state;
    for (int as_read = 0; as_read < 2; as_read++) {
        make(&data);
        assert_int_equal(dataset_set_labels(&data, label, 3), ERR_OK);
        for (uint32_t i = 0; i < 10; i++)
            data.y[i] = as_read ? label[class[i]] : (double)class[i];
        assert_int_equal(rows_weigh(&data, &numbers, as_read, "balanced", &why),
                         ERR_OK);
        assert_true(data.weight[0] == 10 / 3.0 && data.weight[4] == 10 / 6.0 &&
                    data.weight[9] == 10 / 21.0);
        assert_int_equal(
            rows_weigh(&data, &numbers, as_read, "7=2.1,-5=3", &why), ERR_OK);
        assert_true(data.weight[0] == 10 / 3.0 * 3 &&
                    data.weight[1] == 10 / 6.0 &&
                    data.weight[9] == 10 / 21.0 * 2.1);
        assert_int_equal(rows_weigh(&data, &numbers, as_read, "3=2", &why),
                         ERR_RANGE);
        assert_string_equal(why.text, "--class-weight 3=2: there is no such "
                                      "label; there are -5, 2, 7");
        data.classes = 0;
        assert_int_equal(rows_weigh(&data, &numbers, as_read, "3=2", &why),
                         ERR_SHAPE);
        dataset_close(&data);
    }
}

/* Words may have blanks, commas and equals signs in them. */
static void test_class_weights_of_words(void **state)
{
    static char no[] = "no";
    static char odd[] = "no=x, y";
    static const double label[] = {0, 1};
    struct category category[] = {{.text = no}, {.text = odd}};
    const struct frame_column words = {.category = category, .categories = 2};
    struct dataset data = {0};
    struct why why = {0};

    (void)state;
    make(&data);
    assert_int_equal(dataset_set_labels(&data, label, 2), ERR_OK);
    assert_int_equal(rows_weigh(&data, &words, false, "no=x, y=5,no=2", &why),
                     ERR_OK);
    assert_true(data.weight[0] == 5 && data.weight[9] == 2);
    assert_int_equal(rows_weigh(&data, &words, false, "No=5", &why), ERR_RANGE);
    assert_string_equal(why.text, "--class-weight No=5: there is no such "
                                  "label; there are no, \"no=x, y\"");
    assert_int_equal(rows_weigh(&data, &words, false, "0=5", &why), ERR_RANGE);
    assert_int_equal(rows_weigh(&data, &words, false, "no=x", &why), ERR_RANGE);
    dataset_close(&data);
}

static void test_class_weight_refusals(void **state)
{
    static const struct {
        const char *list, *sentence;
    } bad[] = {
        {"heavy", "--class-weight heavy: expected LABEL=WEIGHT,... or "
                  "balanced"},
        {"4", "--class-weight 4: expected LABEL=WEIGHT,... or balanced"},
        {"4=1,5=1", "--class-weight 5=1: there is no such label; there are 2, "
                    "4"},
        {"4=0", "--class-weight 4=0: the weight must be above 0 and at most "
                "1e12"},
        {"4=inf", "--class-weight 4=inf: the weight must be above 0 and at "
                  "most 1e12"},
        {"4=1x", "--class-weight 4=1x: the weight must be above 0 and at most "
                 "1e12"},
        {"4=", "--class-weight 4=: the weight must be above 0 and at most "
               "1e12"},
    };
    struct dataset data;

    (void)state;
    make(&data);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct why why = {0};

        assert_int_equal(rows_weigh(&data, &numbers, false, bad[i].list, &why),
                         ERR_RANGE);
        assert_string_equal(why.text, bad[i].sentence);
    }
    dataset_close(&data);
}

static void test_parts(void **state)
{
    static const char *const files[] = {"a.svm", "0",       "1",   "1.5",
                                        "-0.1",  "0.2.svm", "nan", ""};
    double part = 7;

    (void)state;
    assert_true(rows_is_part("0.25", &part) && part == 0.25);
    assert_true(rows_is_part("1e-3", &part) && part == 1e-3);
    for (size_t i = 0; i < sizeof files / sizeof *files; i++)
        assert_false(rows_is_part(files[i], &part));
    assert_false(rows_is_part(NULL, &part));
}

/* Every row is in one of the two, with its label. */
static void test_split(void **state)
{
    struct dataset data, held = {0};
    struct why why = {0};
    uint32_t seen[ROWS] = {0};
    uint32_t order[ROWS];
    uint32_t count = 0;

    (void)state;
    make(&data);
    assert_int_equal(rows_hold_out(&data, false, 0.25, 3, order, &count),
                     ERR_OK);
    assert_int_equal(count, 3);
    assert_int_equal(rows_split(&data, order, count, &held, &why), ERR_OK);
    assert_int_equal(held.rows, 3);
    assert_int_equal(data.rows, 7);
    for (uint32_t row = 0; row < ROWS; row++) {
        const struct dataset *in = row < 3 ? &held : &data;
        const uint32_t at = row < 3 ? row : row - 3;
        double value;

        dataset_row_values(in, at, &value);
        assert_true(in->y[at] == (value < 3 ? 1 : -1));
        seen[(uint32_t)value]++;
    }
    for (uint32_t row = 0; row < ROWS; row++)
        assert_int_equal(seen[row], 1);
    dataset_close(&held);
    assert_int_equal(rows_hold_out(&data, false, 0.99, 3, order, &count),
                     ERR_OK);
    assert_int_equal(count, 7); /* All that are left. */
    dataset_close(&data);
}

/* A third of each class, whatever the seed; a permutation all the same. */
static void test_split_by_class(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 20; seed++) {
        struct dataset data;
        uint32_t order[ROWS], seen[ROWS] = {0};
        uint32_t held = 0, positives = 0;

        make(&data);
        assert_int_equal(
            rows_hold_out(&data, true, 1.0 / 3, seed, order, &held), ERR_OK);
        assert_int_equal(held, 4);
        for (uint32_t i = 0; i < held; i++)
            positives += data.y[order[i]] > 0;
        assert_int_equal(positives, 1); /* Of three. */
        for (uint32_t i = 0; i < ROWS; i++)
            seen[order[i]]++;
        for (uint32_t i = 0; i < ROWS; i++)
            assert_int_equal(seen[i], 1);
        assert_int_equal(rows_shuffle(&data, true, seed, order), ERR_OK);
        for (uint32_t i = 0; i < ROWS; i++)
            assert_true(data.y[order[i]] == (i < 7 ? -1 : 1));
        dataset_close(&data);
    }
}

static void test_columns(void **state)
{
    uint32_t original[] = {2, 0, 1};
    struct dataset data = {.cols = 3, .stride = 8};
    const double inside[8] = {10, 20, 30};
    double outside[3], back[8];

    (void)state;
    rows_weights_out(&data, inside, outside);
    assert_memory_equal(outside, inside, sizeof outside);
    data.original = original;
    rows_weights_out(&data, inside, outside);
    assert_true(outside[2] == 10 && outside[0] == 20 && outside[1] == 30);
    memset(back, 0xff, sizeof back);
    rows_weights_in(&data, outside, back);
    assert_memory_equal(back, inside, sizeof inside);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_class_weights),
        cmocka_unit_test(test_class_weights_of_many),
        cmocka_unit_test(test_class_weights_of_words),
        cmocka_unit_test(test_class_weight_refusals),
        cmocka_unit_test(test_parts),
        cmocka_unit_test(test_split),
        cmocka_unit_test(test_split_by_class),
        cmocka_unit_test(test_columns),
    };

    return cmocka_run_group_tests_name("rows", tests, NULL, NULL);
}
