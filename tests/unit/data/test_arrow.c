/*
 * Tables by Arrow's C stream, made by hand as the specification lays them out:
 * numbers with nulls, bools in bits, words, dictionaries, two batches with
 * offsets.  Each field must arrive where a csv of the same table puts it, and
 * everything must be released once.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>

#include "data/read/arrow.h"
#include "data/read/memory.h"
#include "data/source.h"

enum { COLUMNS = 5, BATCHES = 2, EACH = 3 };

static int released;

static void free_schema(struct ArrowSchema *schema)
{
    schema->release = NULL;
    released++;
}

static void free_array(struct ArrowArray *array)
{
    array->release = NULL;
    released++;
}

/* size, ok (bool), colour (words), kind (dictionary), label; six rows:
 *     1.5 true  red   small yes
 *     2   false blue  large no ...                                          */
static struct ArrowSchema words_schema = {.format = "u", .name = ""};
static struct ArrowSchema columns[COLUMNS] = {
    {.format = "g", .name = "size"},
    {.format = "b", .name = "ok"},
    {.format = "u", .name = "colour"},
    {.format = "c", .name = "kind", .dictionary = &words_schema},
    {.format = "U", .name = "label"},
};
static struct ArrowSchema *column_list[COLUMNS] = {
    &columns[0], &columns[1], &columns[2], &columns[3], &columns[4]};

static const double size[BATCHES][EACH + 1] = {{9, 1.5, 2, -3},
                                               {9, 4, 5, 0.25}};
static const uint8_t ok[BATCHES][1] = {{0x5}, {0x6}}; /* From bit 0. */
static const int32_t colour_at[BATCHES][EACH + 1] = {{0, 3, 7, 10},
                                                     {0, 4, 4, 7}};
static const char colour[BATCHES][16] = {"redbluered", "bluered"};
static const int8_t kind[BATCHES][EACH] = {{0, 1, 0}, {1, 1, 0}};
static const int32_t kind_at[3] = {0, 5, 10};
static const int64_t label_at[BATCHES][EACH + 1] = {{0, 3, 5, 8}, {0, 2, 5, 7}};
static const char label[BATCHES][16] = {"yesnoyes", "noyesno"};

static const void *buffers[BATCHES][COLUMNS][3], *kind_words[3];
static struct ArrowArray kind_dictionary, child[BATCHES][COLUMNS];
static struct ArrowArray *child_list[BATCHES][COLUMNS];
static uint8_t valid[BATCHES][1];
static int given;
static void (*spoil)(struct ArrowArray *batch); /* The second; or NULL. */

static int get_schema(struct ArrowArrayStream *stream, struct ArrowSchema *out)
{
    (void)stream;
    *out = (struct ArrowSchema){.format = "+s",
                                .n_children = COLUMNS,
                                .children = column_list,
                                .release = free_schema};
    return 0;
}

static void set(int b, int j, const void *values, const void *more, int offset)
{
    buffers[b][j][0] = valid[b][0] != 0xff && j == 0 ? valid[b] : NULL;
    buffers[b][j][1] = values;
    buffers[b][j][2] = more;
    child[b][j] = (struct ArrowArray){.length = EACH,
                                      .offset = offset,
                                      .null_count = -1,
                                      .n_buffers = more != NULL ? 3 : 2,
                                      .buffers = buffers[b][j]};
    child_list[b][j] = &child[b][j];
}

static int get_next(struct ArrowArrayStream *stream, struct ArrowArray *out)
{
    const int b = given++;

    (void)stream;
    *out = (struct ArrowArray){0};
    if (b == BATCHES)
        return 0;
    kind_words[1] = kind_at, kind_words[2] = "smalllarge";
    kind_dictionary =
        (struct ArrowArray){.length = 2, .n_buffers = 3, .buffers = kind_words};
    set(b, 0, size[b], NULL, 1);
    set(b, 1, ok[b], NULL, 0);
    set(b, 2, colour_at[b], colour[b], 0);
    set(b, 3, kind[b], NULL, 0);
    set(b, 4, label_at[b], label[b], 0);
    child[b][3].dictionary = &kind_dictionary;
    *out = (struct ArrowArray){.length = EACH,
                               .n_children = COLUMNS,
                               .children = child_list[b],
                               .release = free_array};
    if (b == 1 && spoil != NULL)
        spoil(out);
    return 0;
}

static const char *get_last_error(struct ArrowArrayStream *stream)
{
    (void)stream;
    return "mine";
}

static int fail_next(struct ArrowArrayStream *stream, struct ArrowArray *out)
{
    (void)stream;
    (void)out;
    return 5;
}

static void free_stream(struct ArrowArrayStream *stream)
{
    stream->release = NULL;
    released++;
}

static struct ArrowArrayStream stream_of(void)
{
    given = released = 0;
    memset(valid, 0xff, sizeof valid);
    return (struct ArrowArrayStream){get_schema, get_next, get_last_error,
                                     free_stream, NULL};
}

static struct digest load(const struct source_options *options)
{
    struct dataset data = {0};
    struct digest digest;
    struct why why = {0};

    if (source_load(options, &data, NULL, NULL, &why) != ERR_OK)
        fail_msg("%s", why.text);
    digest = dataset_digest(&data);
    dataset_close(&data);
    return digest;
}

static void test_as_csv(void **state)
{
    static const char text[] = "size,ok,colour,kind,label\n"
                               "1.5,1,red,small,yes\n2,0,blue,large,no\n"
                               "-3,1,red,small,yes\n4,0,blue,large,no\n"
                               "5,1,,large,yes\n0.25,1,red,small,no\n";
    struct ArrowArrayStream stream = stream_of();
    struct arrow_table table;
    const struct memory_rows rows = {.arrow = &table};
    const struct source_options arrow = {
        .memory = &rows, .missing = MISSING_ZERO, .intercept = true};
    const struct source_options csv = {.spec = "x.csv",
                                       .text = {text, sizeof text - 1},
                                       .missing = MISSING_ZERO,
                                       .intercept = true};
    struct digest one, two;

    (void)state;
    columns[2].format = "u";
    /* An empty word is a word, a missing one is none: csv has no difference,
     * so the row's colour is told to be missing there. */
    assert_int_equal(arrow_read(&stream, &table, NULL), ERR_OK);
    buffers[1][2][0] = "\x05"; /* Its second row. */
    one = load(&arrow);
    two = load(&csv);
    assert_memory_equal(&one, &two, sizeof one);
    arrow_close(&table);
    assert_int_equal(released, 1 + 1 + BATCHES);
}

static void refuse(enum err wanted, const char *sentence)
{
    struct ArrowArrayStream stream = stream_of();
    struct arrow_table table = {0};
    struct why why = {0};

    assert_int_equal(arrow_read(&stream, &table, &why), wanted);
    assert_string_equal(why.text, sentence);
    assert_null(stream.release);
}

static void test_refusals(void **state)
{
    struct ArrowArrayStream stream = stream_of();
    struct arrow_table table = {0};
    const struct memory_rows rows = {.arrow = &table};
    const struct source_options options = {.memory = &rows};
    struct dataset data = {0};
    struct why why = {0};

    (void)state;
    columns[1].format = "tdD";
    refuse(ERR_UNSUPPORTED, "column \"ok\" is of Arrow's type tdD; numbers, "
                            "bools and words are taken, so cast it or leave "
                            "it out");
    columns[1].format = "b";
    stream.get_next = fail_next;
    assert_int_equal(arrow_read(&stream, &table, &why), ERR_IO);
    assert_string_equal(why.text, "the stream failed: mine");
    stream = stream_of();
    stream.get_next = fail_next;
    stream.get_last_error = NULL;
    assert_int_equal(arrow_read(&stream, &table, &why), ERR_IO);
    stream = stream_of();
    stream.get_next = NULL;
    assert_int_equal(arrow_read(&stream, &table, &why), ERR_SHAPE);
    assert_null(stream.release);
    stream = stream_of();
    stream.get_schema = NULL;
    assert_int_equal(arrow_read(&stream, &table, &why), ERR_SHAPE);
    assert_string_equal(why.text,
                        "the stream has no get_schema or no get_next");
    stream = stream_of();
    valid[0][0] = 0xfb; /* The second of a child that begins at 1. */
    assert_int_equal(arrow_read(&stream, &table, &why), ERR_OK);
    assert_int_equal(source_load(&options, &data, NULL, NULL, &why), ERR_RANGE);
    assert_string_equal(why.text,
                        "the rows: row 1, column \"size\": missing or not "
                        "finite; fill missing values in, or train with "
                        "--missing mean, median, zero or indicator");
    arrow_close(&table);
}

static void negative_length(struct ArrowArray *batch)
{
    batch->length = -2;
}

static void negative_offset(struct ArrowArray *batch)
{
    batch->offset = -1;
}

static void endless_offset(struct ArrowArray *batch)
{
    batch->offset = INT64_MAX;
}

static void fewer_columns(struct ArrowArray *batch)
{
    batch->n_children--;
}

static void no_children(struct ArrowArray *batch)
{
    batch->children = NULL;
}

static void no_child(struct ArrowArray *batch)
{
    batch->children[1] = NULL;
}

static void longer_batch(struct ArrowArray *batch)
{
    batch->length = 1000000;
}

static void later_batch(struct ArrowArray *batch)
{
    batch->offset = 1;
}

static void child_offset(struct ArrowArray *batch)
{
    batch->children[0]->offset = -4;
}

static void endless_child(struct ArrowArray *batch)
{
    batch->children[0]->offset = INT64_MAX / 8;
}

static void no_buffers(struct ArrowArray *batch)
{
    batch->children[0]->buffers = NULL;
}

static void null_rows(struct ArrowArray *batch)
{
    static const uint8_t none = 0;
    static const void *bits[] = {&none};

    batch->n_buffers = 1;
    batch->buffers = bits;
    batch->null_count = -1;
}

static void null_rows_nowhere(struct ArrowArray *batch)
{
    batch->null_count = 1;
    batch->n_buffers = 0;
}

static void no_values(struct ArrowArray *batch)
{
    batch->children[0]->buffers[1] = NULL;
}

static void few_buffers(struct ArrowArray *batch)
{
    batch->children[2]->n_buffers = 2;
}

static void no_text(struct ArrowArray *batch)
{
    batch->children[2]->buffers[2] = NULL;
}

static void nulls_nowhere(struct ArrowArray *batch)
{
    batch->children[0]->null_count = 1;
}

static void falling_words(struct ArrowArray *batch)
{
    static const int32_t at[EACH + 1] = {0, 4, 3, 7};

    batch->children[2]->buffers[1] = at;
}

static void negative_words(struct ArrowArray *batch)
{
    static const int64_t at[EACH + 1] = {-1, 2, 5, 7};

    batch->children[4]->buffers[1] = at;
}

static void no_dictionary(struct ArrowArray *batch)
{
    batch->children[3]->dictionary = NULL;
}

static void dictionary_length(struct ArrowArray *batch)
{
    batch->children[3]->dictionary->length = -1;
}

static void index_behind(struct ArrowArray *batch)
{
    static const int8_t at[EACH] = {0, 2, 0};

    batch->children[3]->buffers[1] = at;
}

static void index_below(struct ArrowArray *batch)
{
    static const int8_t at[EACH] = {0, 1, -1};

    batch->children[3]->buffers[1] = at;
}

/* Everything is released, of a refused stream too. */
static void refuse_batch(void (*how)(struct ArrowArray *batch),
                         const char *sentence)
{
    spoil = how;
    refuse(ERR_SHAPE, sentence);
    spoil = NULL;
    assert_int_equal(released, 1 + 1 + BATCHES);
}

static void test_batches_that_cannot_be(void **state)
{
    static const char batch[] =
        "the length or offset of a batch is below 0 or too large";
    static const char size_range[] =
        "column \"size\" of a batch: its length or offset is below 0 or too "
        "large";

    (void)state;
    refuse_batch(negative_length, batch);
    refuse_batch(negative_offset, batch);
    refuse_batch(endless_offset, batch);
    refuse_batch(fewer_columns, "a batch has other columns");
    refuse_batch(no_children, "a batch has other columns");
    refuse_batch(no_child, "column \"ok\" of a batch: it is missing");
    refuse_batch(longer_batch,
                 "column \"size\" of a batch: it is shorter than its batch");
    refuse_batch(later_batch,
                 "column \"size\" of a batch: it is shorter than its batch");
    refuse_batch(child_offset, size_range);
    refuse_batch(endless_child, size_range);
}

static void test_buffers_that_cannot_be(void **state)
{
    (void)state;
    refuse_batch(no_buffers, "column \"size\" of a batch: a buffer is missing");
    refuse_batch(null_rows, "a batch has rows that are null as a whole; leave "
                            "them out");
    refuse_batch(null_rows_nowhere, "a batch has rows that are null as a "
                                    "whole; leave them out");
    refuse_batch(no_values, "column \"size\" of a batch: a buffer is missing");
    refuse_batch(few_buffers,
                 "column \"colour\" of a batch: a buffer is missing");
    refuse_batch(nulls_nowhere, "column \"size\" of a batch: it has nulls but "
                                "does not say where");
}

static void test_words_that_cannot_be(void **state)
{
    (void)state;
    refuse_batch(no_text, "column \"colour\" of a batch: the text of its words "
                          "is missing");
    refuse_batch(falling_words, "column \"colour\" of a batch: a word begins "
                                "below 0 or ends before it begins");
    refuse_batch(negative_words, "column \"label\" of a batch: a word begins "
                                 "below 0 or ends before it begins");
    refuse_batch(no_dictionary,
                 "column \"kind\" of a batch: its dictionary is missing");
    refuse_batch(dictionary_length, "column \"kind\" of a batch: its length or "
                                    "offset is below 0 or too large");
    refuse_batch(index_behind, "column \"kind\" of a batch: an index is "
                               "outside its dictionary");
    refuse_batch(index_below, "column \"kind\" of a batch: an index is "
                              "outside its dictionary");
}

static void test_schemas_that_cannot_be(void **state)
{
    static const char unsaid[] =
        "the stream does not say what each of its columns holds";

    (void)state;
    columns[3].format = "g";
    refuse(ERR_SHAPE, "column \"kind\": the indices of its dictionary are not "
                      "integers");
    columns[3].format = "c";
    columns[0].format = NULL;
    refuse(ERR_SHAPE, unsaid);
    columns[0].format = "g";
    words_schema.format = NULL;
    refuse(ERR_SHAPE, unsaid);
    words_schema.format = "u";
    column_list[2] = NULL;
    refuse(ERR_SHAPE, unsaid);
    column_list[2] = &columns[2];
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_as_csv),
        cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_batches_that_cannot_be),
        cmocka_unit_test(test_buffers_that_cannot_be),
        cmocka_unit_test(test_words_that_cannot_be),
        cmocka_unit_test(test_schemas_that_cannot_be),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
