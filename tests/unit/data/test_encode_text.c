/*
 * Fitted encoders are written, read back and written again: the same text, and
 * the same rows of another table.  Then every prefix and many changes of a
 * text must end in a sentence or in an encoder that can be written again;
 * known mistakes stand in a table with their sentences.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "data/table/encode.h"

/* Words with everything that text may hold: blanks, percent signs, other
 * alphabets, nothing at all. */
static const char table[] = "colour,size,weight,kind\n"
                            "red,10,1.25,cat\n"
                            "\"light  blue\",9.0,-2e-3,big dog\n"
                            "50%,9,3,cat\n"
                            "\"\",1e1,6,big dog\n"
                            "gr\xc3\xbcn,7,6.5,cat\n"
                            "\"tab\there\",8,6.5,cat\n";

static const char other[] = "colour,size,weight,kind\n"
                            "red,7,1,big dog\n"
                            "pink,9,2,cow\n"
                            "\"\",12,3,cat\n";

static struct frame read_frame(const char *text, const char *categorical)
{
    const struct frame_options options = {.categorical = categorical};
    struct text_source source = {0};
    struct frame frame = {0};
    struct why why = {0};

    assert_int_equal(text_open_memory(&source, text, strlen(text)), ERR_OK);
    assert_int_equal(frame_read(&source, &options, &frame, &why), ERR_OK);
    text_close(&source);
    return frame;
}

static struct encoder fit(const char *categorical, enum scaling scaling,
                          bool pairs)
{
    const struct encode_options how = {.scaling = scaling, .all_pairs = pairs};
    struct frame frame = read_frame(table, categorical);
    struct encoder encoder = {0};
    struct why why = {0};

    assert_int_equal(encoder_fit(&encoder, &frame, &how, &why), ERR_OK);
    frame_close(&frame);
    return encoder;
}

static void assert_same_rows(const struct encoder *a, const struct encoder *b,
                             const char *categorical)
{
    struct frame frame = read_frame(other, categorical);
    struct sparse x = {0};
    struct sparse y = {0};
    struct why why = {0};

    assert_int_equal(encoder_rows(a, &frame, &x, &why), ERR_OK);
    assert_int_equal(encoder_rows(b, &frame, &y, &why), ERR_OK);
    assert_int_equal(x.cols, y.cols);
    assert_int_equal(sparse_entries(&x), sparse_entries(&y));
    assert_memory_equal(x.label, y.label, x.rows * sizeof *x.label);
    assert_memory_equal(x.index, y.index, sparse_entries(&x) * sizeof *x.index);
    assert_memory_equal(x.value, y.value, sparse_entries(&x) * sizeof *x.value);
    sparse_close(&x);
    sparse_close(&y);
    frame_close(&frame);
}

static void check_round_trip(const char *categorical, enum scaling scaling,
                             bool pairs)
{
    struct encoder encoder = fit(categorical, scaling, pairs);
    struct encoder again = {0};
    struct why why = {0};
    char *text = NULL;
    char *second = NULL;
    size_t size = 0;
    size_t second_size = 0;

    assert_int_equal(encoder_to_text(&encoder, &text, &size), ERR_OK);
    assert_int_equal(encoder_from_text(&again, text, size, &why), ERR_OK);
    assert_int_equal(encoder_to_text(&again, &second, &second_size), ERR_OK);
    assert_int_equal(size, second_size);
    assert_memory_equal(text, second, size);
    assert_int_equal(encoder.cols, again.cols);
    assert_same_rows(&encoder, &again, categorical);
    mem_free(text);
    mem_free(second);
    encoder_close(&encoder);
    encoder_close(&again);
}

static void test_round_trips(void **state)
{
    (void)state;
    check_round_trip("colour,size,kind", SCALE_NONE, true);
    check_round_trip("colour,kind", SCALE_STANDARD, false);
    check_round_trip("all,kind", SCALE_NONE, true);
    check_round_trip("1,4", SCALE_MINMAX, false);
}

static void test_known_text(void **state)
{
    static const char wanted[] =
        "muster encoder 2\n"
        "table 4 names\n"
        "label 4 kind\n"
        "classes 2 big%20dog cat\n"
        "columns 3\n"
        "words 1 colour refuse 6 % 50%25 gr\xc3\xbcn light%20%20blue red "
        "tab%09here\n"
        "numbers 2 size refuse 4 7 8 9 10\n"
        "number 3 weight 0 1 refuse 0\n"
        "pairs 1\n"
        "pair 0 1 6 0 3 1 2 2 0 3 2 4 3 5 1\n"
        "end\n";
    struct encoder encoder = fit("colour,size,kind", SCALE_NONE, true);
    char *text = NULL;
    size_t size = 0;

    (void)state;
    assert_int_equal(encoder_to_text(&encoder, &text, &size), ERR_OK);
    assert_int_equal(size, strlen(wanted));
    assert_memory_equal(text, wanted, size);
    mem_free(text);
    encoder_close(&encoder);
}

static void test_unknown_words(void **state)
{
    struct encoder encoder = fit("colour,size,kind", SCALE_NONE, false);
    struct frame frame = read_frame(other, "colour,size,kind");
    struct unknown_words unknown = {0};
    struct stage stage = {0};
    struct sparse rows = {0};
    struct why why = {0};

    (void)state;
    assert_int_equal(encoder_apply(&encoder, &frame, &stage, &unknown, &why),
                     ERR_OK);
    assert_int_equal(unknown.fields, 2); /* pink and 12. */
    assert_int_equal(unknown.column, 0);
    assert_string_equal(unknown.text, "pink");
    assert_int_equal(stage_unpack(&stage, &rows), ERR_OK);
    assert_true(rows.label[0] == 0 && rows.label[2] == 1);
    assert_true(rows.label[1] == 2);                    /* No such class. */
    assert_int_equal(rows.start[2] - rows.start[1], 2); /* 9 and 2. */
    sparse_close(&rows);
    stage_close(&stage);
    frame_close(&frame);
    encoder_close(&encoder);
}

/* Reads it; what is accepted must bear being written and read again. */
static enum err try_text(const char *text, size_t size, struct why *why)
{
    struct encoder encoder = {0};
    struct encoder again = {0};
    char *copy = NULL;
    size_t copy_size = 0;
    const enum err err = encoder_from_text(&encoder, text, size, why);

    if (err != ERR_OK) {
        assert_null(encoder.column);
        return err;
    }
    assert_int_equal(encoder_to_text(&encoder, &copy, &copy_size), ERR_OK);
    assert_int_equal(encoder_from_text(&again, copy, copy_size, why), ERR_OK);
    assert_int_equal(encoder.cols, again.cols);
    mem_free(copy);
    encoder_close(&encoder);
    encoder_close(&again);
    return ERR_OK;
}

static void test_broken_bytes(void **state)
{
    struct encoder encoder = fit("colour,size,kind", SCALE_STANDARD, true);
    char *text = NULL;
    size_t size = 0;

    (void)state;
    assert_int_equal(encoder_to_text(&encoder, &text, &size), ERR_OK);
    for (size_t at = 0; at < size; at++) {
        const char sound = text[at];
        struct why why = {0};

        if (at + 1 < size) { /* The last byte is a line feed. */
            assert_int_not_equal(try_text(text, at, &why), ERR_OK);
            assert_int_not_equal(why.text[0], '\0');
        }
        for (int change = 1; change < 256; change += 17) {
            why = (struct why){0};
            text[at] = (char)(sound + change);
            if (try_text(text, size, &why) != ERR_OK)
                assert_int_not_equal(why.text[0], '\0');
        }
        text[at] = sound;
    }
    mem_free(text);
    encoder_close(&encoder);
}

static void test_sentences(void **state)
{
#define HEAD "muster encoder 2\ntable 3 names\nlabel 3 y\n"
    static const struct {
        const char *text;
        enum err err;
        const char *sentence;
    } cases[] = {
        {"muster encoder 1\n", ERR_UNSUPPORTED,
         "version '1'; this program reads version 2"},
        {"muster decoder 1\n", ERR_FORMAT, "'decoder' where 'encoder' belongs"},
        {"muster encoder 2\nindex 2\nend\n", ERR_FORMAT,
         "'2' is no number up to 1"},
        {"muster encoder 2\nrows 1\n", ERR_FORMAT,
         "'rows' where table or index belongs"},
        {"muster encoder 2\ntable 3 nameless\n", ERR_FORMAT,
         "'nameless' where names or bare belongs"},
        {"muster encoder 2\ntable 3 names\nlabel 4 y\n", ERR_FORMAT,
         "'4' is no number up to 3"},
        {HEAD "columns 0\n", ERR_FORMAT, "no columns"},
        {HEAD "columns 1\nnumber 3 y 0 1 refuse 0\n", ERR_FORMAT,
         "column 3 is out of order"},
        {HEAD "columns 2\nnumber 2 a 0 1 refuse 0\nnumber 1 b 0 1 refuse 0\n",
         ERR_FORMAT, "column 1 is out of order"},
        {HEAD "columns 1\nnumber 1 a 0 1 keep 0\n", ERR_FORMAT,
         "'keep' where refuse, fill or flag belongs"},
        {HEAD, ERR_TRUNCATED, "the text ends too early"},
        {HEAD "columns 4000000", ERR_TRUNCATED, "the text ends too early"},
        {HEAD "columns -1\n", ERR_FORMAT, "'-1' is no number up to 16777216"},
        {HEAD "columns 1\nthing 3\n", ERR_FORMAT,
         "'thing' is no kind of column"},
        {HEAD "columns 1\nnumber 1 a nan 1\n", ERR_FORMAT,
         "'nan' is not a finite number"},
        {HEAD "columns 1\nwords 1 a refuse 2 b a\n", ERR_FORMAT,
         "category 'a' is out of order"},
        {HEAD "columns 1\nwords 1 a refuse 2 a a\n", ERR_FORMAT,
         "category 'a' is out of order"},
        {HEAD "columns 1\nnumbers 1 a refuse 2 10 9\n", ERR_FORMAT,
         "category '9' is out of order"},
        {HEAD "columns 1\nnumbers 1 a refuse 1 ten\n", ERR_FORMAT,
         "category 'ten' is not a number"},
        {HEAD "columns 1\nwords 1 a refuse 1 a%2\n", ERR_FORMAT,
         "'a%2' is no word"},
        {HEAD "columns 1\nwords 1 a refuse 1 a%00\n", ERR_FORMAT,
         "'a%00' is no word"},
        {HEAD "columns 1\nwords 1 a refuse 1 a\npairs 1\npair 0 1 1 0 0\n",
         ERR_FORMAT, "a pair of columns 0 and 1"},
        {HEAD "columns 2\nwords 1 a refuse 1 a\nwords 2 b refuse 1 b\npairs "
              "1\npair 0 1 1 0 1\n",
         ERR_FORMAT, "'1' is no number up to 0"},
        {HEAD "columns 2\nwords 1 a refuse 2 a b\nwords 2 b refuse 1 c\n"
              "pairs 1\npair 0 1 2 1 0 0 0",
         ERR_FORMAT, "pairs are out of order"},
        {HEAD "columns 1\nnumber 1 a 0 1 refuse 0\npairs 0\nend\nmore",
         ERR_FORMAT, "text follows its end"},
    };
#undef HEAD

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct why why = {0};

        assert_int_equal(try_text(cases[i].text, strlen(cases[i].text), &why),
                         cases[i].err);
        assert_string_equal(why.text, cases[i].sentence);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_round_trips),
        cmocka_unit_test(test_known_text),
        cmocka_unit_test(test_unknown_words),
        cmocka_unit_test(test_broken_bytes),
        cmocka_unit_test(test_sentences),
    };

    return cmocka_run_group_tests_name("encode_text", tests, NULL, NULL);
}
