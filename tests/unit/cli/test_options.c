/*
 * Words, environment and files are given to the parser as a user would, and
 * the settings compared; every refusal must come with its sentence.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/nearest.h"
#include "cli/options/options.h"

#define WORDS_MAX 32

static const struct option_shape train = {
    .command = CMD_TRAIN,
    .positional = {OPT_DATA, OPT_SAVE},
    .positional_count = 2,
};

static struct options options;
static struct why why;

/* Parse words separated by blanks. */
static enum err parse(const char *line)
{
    static char copy[512];
    char *words[WORDS_MAX];
    int count = 0;

    (void)snprintf(copy, sizeof copy, "%s", line);
    for (char *at = copy; *at != '\0' && count < WORDS_MAX;) {
        words[count++] = at;
        at += strcspn(at, " ");
        while (*at == ' ')
            *at++ = '\0';
    }
    options_close(&options);
    why = (struct why){0};
    return options_parse(&options, &train, count, words, &why);
}

static void refuse(const char *line, const char *sentence)
{
    assert_int_not_equal(parse(line), ERR_OK);
    assert_string_equal(why.text, sentence);
}

static void test_defaults(void **state)
{
    (void)state;
    assert_int_equal(parse(""), ERR_OK);
    assert_null(option_text(&options, OPT_STEPS));
    assert_null(option_text(&options, OPT_DATA));
    assert_null(option_text(&options, OPT_LR));
    assert_false(option_flag(&options, OPT_SYNC));
    assert_false(option_given(&options, OPT_STEPS));
}

static void test_forms(void **state)
{
    (void)state;
    assert_int_equal(parse("--steps=7 --chunk_rows 64 -n 8 -q a.svm m.txt"),
                     ERR_OK);
    assert_int_equal(option_count(&options, OPT_STEPS), 7);
    assert_int_equal(option_count(&options, OPT_CHUNK_ROWS), 64);
    assert_int_equal(option_count(&options, OPT_N), 8);
    assert_true(option_flag(&options, OPT_QUIET));
    assert_string_equal(option_text(&options, OPT_DATA), "a.svm");
    assert_string_equal(option_text(&options, OPT_SAVE), "m.txt");

    assert_int_equal(parse("-np 3 --no-sync --steps 5 -"), ERR_OK);
    assert_int_equal(option_count(&options, OPT_N), 3);
    assert_false(option_flag(&options, OPT_SYNC));
    assert_int_equal(option_count(&options, OPT_STEPS), 5);
    assert_string_equal(option_text(&options, OPT_DATA), "-");

    assert_int_equal(parse("--sync=yes -- --odd-name"), ERR_OK);
    assert_true(option_flag(&options, OPT_SYNC));
    assert_string_equal(option_text(&options, OPT_DATA), "--odd-name");

    assert_int_equal(parse("--workers 2:5"), ERR_OK);
    assert_int_equal(option_setting(&options, OPT_WORKERS)->low, 2);
    assert_int_equal(option_setting(&options, OPT_WORKERS)->high, 5);
    assert_int_equal(parse("--workers 4"), ERR_OK);
    assert_int_equal(option_setting(&options, OPT_WORKERS)->high, 4);
}

static void test_last_wins(void **state)
{
    (void)state;
    assert_int_equal(parse("--steps 1 --steps 2"), ERR_OK);
    assert_int_equal(option_count(&options, OPT_STEPS), 2);
}

static void test_resume_spares_the_data(void **state)
{
    (void)state;
    assert_int_equal(parse("--resume data.svm"), ERR_OK);
    assert_string_equal(option_text(&options, OPT_RESUME), "");
    assert_string_equal(option_text(&options, OPT_DATA), "data.svm");
    assert_int_equal(parse("--resume=runs/1"), ERR_OK);
    assert_string_equal(option_text(&options, OPT_RESUME), "runs/1");
}

/* LIBLINEAR's one-letter flags, among them those with a label inside. */
static void test_liblinear_words(void **state)
{
    (void)state;
    assert_int_equal(parse("-s 2 -c 0.5 -e 1e-3 -B -1 -v 5 -q -w1 2 -w-1 0.5 "
                           "a.svm m.txt"),
                     ERR_OK);
    assert_int_equal(option_count(&options, OPT_SOLVER), 2);
    assert_true(option_real(&options, OPT_COST) == 0.5);
    assert_true(option_real(&options, OPT_EPS) == 1e-3);
    assert_true(option_real(&options, OPT_BIAS) == -1);
    assert_int_equal(option_count(&options, OPT_FOLDS), 5);
    assert_true(option_flag(&options, OPT_QUIET));
    assert_string_equal(option_text(&options, OPT_CLASS_WEIGHT), "1=2,-1=0.5");
    assert_string_equal(option_text(&options, OPT_DATA), "a.svm");
    assert_string_equal(option_text(&options, OPT_SAVE), "m.txt");
    assert_int_equal(parse("-w7 1 --class-weight balanced"), ERR_OK);
    assert_string_equal(option_text(&options, OPT_CLASS_WEIGHT), "balanced");
    refuse("-w1", "-w1: a value is missing: WEIGHT");
    refuse("-wx 1", "no option --wx; --help lists them");
    assert_int_equal(option_find("c", 1), OPT_COST);
    assert_int_equal(option_find("optimiser", 9), OPT_OPTIM);
    assert_int_equal(option_find("zzz", 3), OPTIONS);
}

/* `-b 1` is one flag, `--probability 1` a flag and a word. */
static void test_flag_with_digit(void **state)
{
    static const struct option_shape predict = {
        .command = CMD_PREDICT,
        .positional = {OPT_DATA, OPT_MODEL_FILE, OPT_PREDICTIONS},
        .positional_count = 3,
    };
    char b[] = "-b", zero[] = "0", one[] = "1", data[] = "data";
    char *words[][3] = {{b, one, data}, {b, zero, data}, {b, data, NULL}};

    (void)state;
    for (int i = 0; i < 3; i++) {
        options_close(&options);
        assert_int_equal(
            options_parse(&options, &predict, i < 2 ? 3 : 2, words[i], &why),
            ERR_OK);
        assert_int_equal(option_flag(&options, OPT_PROBABILITY), i != 1);
        assert_string_equal(option_text(&options, OPT_DATA), "data");
        assert_null(option_text(&options, OPT_MODEL_FILE));
    }
}

static void test_refusals(void **state)
{
    (void)state;
    refuse("--stps 3", "no option --stps; did you mean --steps?");
    refuse("--zzzzzzzz", "no option --zzzzzzzz; --help lists them");
    refuse("--steps", "--steps: a value is missing: N");
    refuse("--steps -5",
           "--steps -5: expected a whole number from 1 to 4294967295");
    refuse("--steps 0",
           "--steps 0: expected a whole number from 1 to 4294967295");
    refuse("--steps 1e3",
           "--steps 1e3: expected a whole number from 1 to 4294967295");
    refuse("--steps 99999999999999999999",
           "--steps 99999999999999999999: expected a whole number from 1 to "
           "4294967295");
    refuse("--l2 nan", "--l2 nan: expected a number from 0 to "
                       "1e+300");
    refuse("--l2 1x", "--l2 1x: expected a number from 0 to "
                      "1e+300");
    refuse("--model far",
           "--model far: expected one of: linear logistic svm hinge softmax");
    refuse("--sync=perhaps", "--sync perhaps: expected yes or no");
    refuse("--no-steps", "no option --no-steps; did you mean --steps?");
    refuse("a b c", "c: one argument too many; --help says which there are");
    refuse("--faults", "no option --faults; did you mean --folds?");
    refuse("--workers 5:2", "--workers 5:2: expected a whole number, or two as "
                            "LOW:HIGH, from 1 to 10000");
    refuse("--test=", "--test: the value is empty; expected FILE");
}

static void write_file(const char *path, const char *text)
{
    FILE *file = fopen(path, "w");

    assert_non_null(file);
    assert_true(fputs(text, file) >= 0);
    assert_int_equal(fclose(file), 0);
}

static void test_precedence(void **state)
{
    (void)state;
    write_file("options.conf", "# a comment\n"
                               "--steps 11\n"
                               "l2=0.5   # another\n"
                               "\n"
                               "seed 3\n"
                               "sync\n");
    assert_int_equal(setenv("MUSTER_STEPS", "22", 1), 0);
    assert_int_equal(setenv("MUSTER_SEED", "4", 1), 0);
    assert_int_equal(parse("--config options.conf --seed 5"), ERR_OK);
    assert_int_equal(option_count(&options, OPT_STEPS), 22);
    assert_int_equal(option_setting(&options, OPT_STEPS)->origin,
                     ORIGIN_ENVIRONMENT);
    assert_int_equal(option_count(&options, OPT_SEED), 5);
    assert_int_equal(option_setting(&options, OPT_SEED)->origin, ORIGIN_FLAG);
    assert_true(option_real(&options, OPT_L2) == 0.5);
    assert_int_equal(option_setting(&options, OPT_L2)->origin, ORIGIN_FILE);
    assert_true(option_flag(&options, OPT_SYNC));

    assert_int_equal(setenv("MUSTER_STEPS", "none", 1), 0);
    refuse("", "environment MUSTER_STEPS: --steps none: expected a whole "
               "number from 1 to 4294967295");
    assert_int_equal(unsetenv("MUSTER_STEPS"), 0);
    assert_int_equal(unsetenv("MUSTER_SEED"), 0);
    assert_int_equal(remove("options.conf"), 0);
}

static void test_bad_file(void **state)
{
    (void)state;
    write_file("bad.conf", "steps 5\n\nstpes 6\n");
    refuse("--config bad.conf",
           "bad.conf: line 3: no option --stpes; did you mean --steps?");
    assert_int_equal(remove("bad.conf"), 0);
    assert_int_equal(parse("--config nowhere.conf"), ERR_NOTFOUND);
}

static void test_table(void **state)
{
    (void)state;
    for (int id = 0; id < OPTIONS; id++) {
        const struct option *row = option_row(id);

        assert_int_equal(option_use(id)->id, id);
        assert_int_not_equal(option_use(id)->commands, 0);
        assert_non_null(row->name);
        assert_non_null(row->help);
        assert_null(strchr(row->name, '_'));
        assert_true(row->kind == VALUE_FLAG || row->value != NULL);
        assert_true(row->kind != VALUE_CHOICE || row->choices != NULL);
        for (int other = 0; other < id; other++)
            assert_string_not_equal(row->name, option_row(other)->name);
        /* A name or alias leads to its own row: nothing is hidden. */
        assert_int_equal(option_find(row->name, strlen(row->name)), id);
        for (const char *at = row->aliases; at != NULL && *at != '\0';) {
            const size_t length = strcspn(at, "|");

            assert_int_equal(option_find(at, length), id);
            at += length + (at[length] == '|');
        }
    }
}

static void test_nearest(void **state)
{
    const char *const names[] = {"train", "join", "status"};

    (void)state;
    assert_string_equal(nearest_name("trian", names, 3), "train");
    assert_string_equal(nearest_name("stauts", names, 3), "status");
    assert_string_equal(nearest_name("TRAIN", names, 3), "train");
    assert_null(nearest_name("x", names, 3));
    assert_null(nearest_name("predict", names, 3));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_defaults),
        cmocka_unit_test(test_forms),
        cmocka_unit_test(test_last_wins),
        cmocka_unit_test(test_resume_spares_the_data),
        cmocka_unit_test(test_liblinear_words),
        cmocka_unit_test(test_flag_with_digit),
        cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_precedence),
        cmocka_unit_test(test_bad_file),
        cmocka_unit_test(test_table),
        cmocka_unit_test(test_nearest),
    };
    const int failed =
        cmocka_run_group_tests_name("options", tests, NULL, NULL);

    options_close(&options);
    return failed;
}
