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
    valid[0][0] = 0xfb; /* The second of a child that begins at 1. */
    assert_int_equal(arrow_read(&stream, &table, &why), ERR_OK);
    assert_int_equal(source_load(&options, &data, NULL, NULL, &why), ERR_RANGE);
    assert_string_equal(why.text,
                        "the rows: row 1, column \"size\": missing or not "
                        "finite; --missing mean, median, zero or indicator "
                        "fills missing values in");
    arrow_close(&table);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_as_csv),
        cmocka_unit_test(test_refusals),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
