/*
 * Tensors are written and read back to the same bytes; a file written by hand
 * says that the layout is the documented one.  Malformed headers stand in a
 * table with the sentence each must give, and every file cut short, or with a
 * byte changed, is read or refused without a fault.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "model/files/safetensors.h"

static const float small[] = {1, -2.5F, 1e-42F};
static const double wide[] = {1.0 / 3};
static const struct tensor two[] = {
    {"0.weight", TENSOR_F32, 2, {3, 1}, small},
    {"t\xc3\xa9", TENSOR_F64, 0, {0}, wide},
    {"nothing", TENSOR_F32, 2, {4, 0}, small},
};
static const struct tensor_note notes[] = {{"net", "dense3"},
                                           {"a \"b\"\n", ""}};

static void test_written_and_read(void **state)
{
    struct safetensors file;
    struct why why = {0};
    char *bytes = NULL;
    size_t size = 0;

    (void)state;
    assert_int_equal(safetensors_write(notes, 2, two, 3, &bytes, &size),
                     ERR_OK);
    assert_true(safetensors_begins(bytes, size));
    assert_int_equal(safetensors_read(&file, bytes, size, &why), ERR_OK);
    assert_int_equal(file.count, 3);
    for (size_t i = 0; i < 3; i++) {
        const struct tensor *const got = safetensors_find(&file, two[i].name);

        assert_non_null(got);
        assert_int_equal(got->type, two[i].type);
        assert_int_equal(got->rank, two[i].rank);
        assert_memory_equal(got->shape, two[i].shape, sizeof got->shape);
        assert_memory_equal(got->data, two[i].data,
                            tensor_numbers(got) *
                                tensor_number_size(got->type));
    }
    assert_null(safetensors_find(&file, "1.weight"));
    assert_string_equal(safetensors_note(&file, "net"), "dense3");
    assert_string_equal(safetensors_note(&file, "a \"b\"\n"), "");
    assert_null(safetensors_note(&file, "none"));
    safetensors_close(&file);
    mem_free(bytes);
}

static void test_layout(void **state)
{
    static const char wanted[] =
        "\x38\0\0\0\0\0\0\0"
        "{\"w\":{\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[0,8]}}  "
        "\0\0\x80\x3f\0\0\x20\xc0";
    const struct tensor one = {"w", TENSOR_F32, 1, {2}, small};
    char *bytes = NULL;
    size_t size = 0;

    (void)state;
    assert_int_equal(safetensors_write(NULL, 0, &one, 1, &bytes, &size),
                     ERR_OK);
    assert_int_equal(size, sizeof wanted - 1);
    assert_memory_equal(bytes, wanted, size);
    mem_free(bytes);
}

static void test_no_utf8_is_not_written(void **state)
{
    const struct tensor_note bad = {"key", "\xff"};
    char *bytes = NULL;
    size_t size = 0;

    (void)state;
    assert_int_equal(safetensors_write(&bad, 1, two, 1, &bytes, &size),
                     ERR_FORMAT);
    assert_null(bytes);
}

/* The head and 8 bytes of data. */
static enum err read_head(const char *head, struct why *why)
{
    char bytes[1024] = {0};
    const size_t length = strlen(head);
    struct safetensors file = {0};
    enum err err;

    assert_true(length + 16 < sizeof bytes);
    for (unsigned i = 0; i < 8; i++)
        bytes[i] = (char)(length >> (8 * i));
    (void)snprintf(bytes + 8, sizeof bytes - 8, "%s", head);
    err = safetensors_read(&file, bytes, 8 + length + 8, why);
    safetensors_close(&file);
    return err;
}

#define W(dtype, shape, offsets)                                               \
    "\"w\":{\"dtype\":\"" dtype "\",\"shape\":" shape                          \
    ",\"data_offsets\":" offsets "}"
#define V(offsets)                                                             \
    ",\"v\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":" offsets "}"

static const struct {
    const char *head, *sentence;
} malformed[] = {
    {"", "its header is no JSON object"},
    {" {}", "its header is no JSON object"},
    {"[]", "its header is no JSON object"},
    {"{\"w\":", "its header, byte 5: "},
    {"{} x", "its header, byte 4: "},
    {"{" W("F32", "[2]", "[0,8]") "," W("F32", "[2]", "[0,8]") "}",
     "its header has 'w' twice"},
    {"{,}", "its header, byte 2: a string is missing"},
    {"{" W("F32", "[2]", "[0,8]") ",}", "its header, byte 55: a string"},
    {"{" W("F32", "[2]", "[0,8]") " " W("F32", "[2]", "[0,8]") "}",
     "its header, byte 55: ',' or '}' is missing"},
    {"{\"w\" {}}", "its header, byte 6: ':' is missing"},
    {"{\"w", "its header, byte 3: the end of a string is missing"},
    {"{\"w\n\":{}}", "its header, byte 4: a byte that stands in no string"},
    {"{\"\xc3(\":{}}", "its header, byte 3: a byte that stands in no string"},
    {"{\"\xed\xa0\x80\":{}}", "its header, byte 3: a byte that stands in no"},
    {"{\"\\x\":{}}", "its header, byte 3: no character is written so"},
    {"{\"\\", "its header, byte 3: no character is written so"},
    {"{\"\\u00e\":{}}", "its header, byte 3: no character is written so"},
    {"{\"\\u0000\":{}}", "its header, byte 3: no character is written so"},
    {"{\"\\udc00\":{}}", "its header, byte 3: no character is written so"},
    {"{\"\\ud800\":{}}", "its header, byte 3: half of a character"},
    {"{\"\\ud800\\ud800\":{}}", "its header, byte 3: half of a character"},
    {"{\"w\":{\"shape\":[2],}}", "its header, byte 19: "},
    {"{\"w\":{\"shape\":[2],\"shape\":[2]}}",
     "its header, byte 25: duplicate object key"},
    {"{\"__metadata__\":{},\"__metadata__\":{}}",
     "its header has '__metadata__' twice"},
    {"{\"__metadata__\":{\"a\":\"\",\"b\":\"\",\"\\u0061\":\"\"}}",
     "its header has 'a' twice"},
    {"{\"__metadata__\":{\"a\":\"\",}}", "its header, byte 25: a string"},
    {"{}", "bytes behind the last tensor are in none"},
    {"{\"w\":1}",
     "tensor 'w': not described by dtype, shape and data_offsets alone"},
    {"{\"w\":{\"dtype\":\"F32\",\"shape\":[2]}}",
     "tensor 'w': not described by dtype, shape and data_offsets alone"},
    {"{" W("BF16", "[4]", "[0,8]") "}",
     "tensor 'w': its numbers are BF16; F32 and F64 are read"},
    {"{" W("F32", "2", "[0,8]") "}", "tensor 'w': no shape"},
    {"{" W("F32", "[2.5]", "[0,8]") "}",
     "tensor 'w': its shape is not one of whole numbers"},
    {"{" W("F32", "[-2]", "[0,8]") "}",
     "tensor 'w': its shape is not one of whole numbers"},
    {"{" W("F32", "[1,1,1,1,1,1,1,1,2]", "[0,8]") "}",
     "tensor 'w': more than 8 dimensions"},
    {"{" W("F32", "[4294967296,4294967296,2]", "[0,8]") "}",
     "tensor 'w': its shape has more numbers than the file has bytes"},
    {"{" W("F32", "[0,9223372036854775807,4]", "[0,8]") "}",
     "tensor 'w': its data_offsets do not fit its shape"},
    {"{" W("F32", "[3]", "[0,8]") "}",
     "tensor 'w': its data_offsets do not fit its shape"},
    {"{" W("F32", "[2]", "[0]") "}",
     "tensor 'w': its data_offsets are not two whole numbers"},
    {"{" W("F32", "[2]", "[0,\"8\"]") "}",
     "tensor 'w': its data_offsets are not two whole numbers"},
    {"{" W("F32", "[2]", "[-8,0]") "}",
     "tensor 'w': its data_offsets are not two whole numbers"},
    {"{" W("F32", "[2]", "[4,12]") "}",
     "tensor 'w': its data_offsets lie outside of the data"},
    {"{" W("F32", "[2]", "[8,0]") "}",
     "tensor 'w': its data_offsets lie outside of the data"},
    {"{" W("F32", "[1]", "[4,8]") "}",
     "tensor 'w': bytes before it are in no tensor"},
    {"{" W("F32", "[1]", "[0,4]") "}",
     "bytes behind the last tensor are in none"},
    {"{" W("F32", "[2]", "[0,8]") V("[4,8]") "}",
     "tensor 'v': it shares bytes with another"},
    {"{" W("F32", "[1]", "[0,4]") V("[0,4]") "}",
     "tensor 'w': it shares bytes with another"},
    {"{\"__metadata__\":[]," W("F32", "[2]", "[0,8]") "}",
     "__metadata__ is not an object"},
    {"{\"__metadata__\":{\"n\":1}," W("F32", "[2]", "[0,8]") "}",
     "__metadata__ 'n' is not a text"},
};

static void test_malformed(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof malformed / sizeof *malformed; i++) {
        struct why why = {0};

        assert_int_not_equal(read_head(malformed[i].head, &why), ERR_OK);
        if (strncmp(why.text, malformed[i].sentence,
                    strlen(malformed[i].sentence)) != 0)
            fail_msg("%s: said \"%s\"", malformed[i].head, why.text);
    }
    assert_int_equal(read_head("{" W("F32", "[2]", "[0,8]") "}", NULL), ERR_OK);
    assert_int_equal(
        read_head("{" W("F32", "[1]", "[4,8]") V("[0,4]") "}  ", NULL), ERR_OK);
}

static void test_escapes(void **state)
{
    static const char bytes[] =
        "\x52\0\0\0\0\0\0\0"
        "{ \"__metadata__\"\t:\r\n{\"\\u00e9\\\"\\/\": "
        "\"\\\\\\b\\f\\n\\r\\t\\uD83d\\uDC26\\u20AC\xc3\xa9\" , \"\":\"\" } } ";
    struct safetensors file = {0};
    struct why why = {0};

    (void)state;
    if (safetensors_read(&file, bytes, sizeof bytes - 1, &why) != ERR_OK)
        fail_msg("%s", why.text);
    assert_int_equal(file.notes, 2);
    assert_string_equal(safetensors_note(&file, "\xc3\xa9\"/"),
                        "\\\b\f\n\r\t\xf0\x9f\x90\xa6\xe2\x82\xac\xc3\xa9");
    assert_string_equal(safetensors_note(&file, ""), "");
    safetensors_close(&file);
}

static void test_lying_lengths(void **state)
{
    static const char huge[] = "\xff\xff\xff\xff\xff\xff\xff\xff{}";
    static const char beyond[] = "\x09\0\0\0\0\0\0\0{}";
    struct safetensors file;
    struct why why = {0};

    (void)state;
    assert_int_equal(safetensors_read(&file, huge, sizeof huge - 1, &why),
                     ERR_TRUNCATED);
    assert_int_equal(safetensors_read(&file, beyond, sizeof beyond - 1, &why),
                     ERR_TRUNCATED);
    assert_int_equal(safetensors_read(&file, huge, 7, &why), ERR_TRUNCATED);
    assert_string_equal(why.text, "7 bytes; a safetensors file has at least 8");
    assert_false(safetensors_begins(huge, sizeof huge - 1));
    assert_false(safetensors_begins("solver_type L2R_LR", 18));
}

static void test_cut_and_changed(void **state)
{
    struct safetensors file = {0};
    char *bytes = NULL;
    size_t size = 0;

    (void)state;
    assert_int_equal(safetensors_write(notes, 2, two, 3, &bytes, &size),
                     ERR_OK);
    for (size_t cut = 0; cut < size; cut++) {
        char *const part = mem_new(cut, 1); /* So that a byte beyond shows. */

        assert_non_null(part);
        memcpy(part, bytes, cut);
        assert_int_not_equal(safetensors_read(&file, part, cut, NULL), ERR_OK);
        mem_free(part);
    }
    for (size_t at = 0; at < size; at++) {
        const char was = bytes[at];

        for (int bit = 0; bit < 8; bit++) {
            bytes[at] = (char)(was ^ (1 << bit));
            if (safetensors_read(&file, bytes, size, NULL) == ERR_OK)
                safetensors_close(&file);
        }
        bytes[at] = was;
    }
    mem_free(bytes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_written_and_read),
        cmocka_unit_test(test_layout),
        cmocka_unit_test(test_no_utf8_is_not_written),
        cmocka_unit_test(test_malformed),
        cmocka_unit_test(test_escapes),
        cmocka_unit_test(test_lying_lengths),
        cmocka_unit_test(test_cut_and_changed),
    };

    return cmocka_run_group_tests_name("safetensors", tests, NULL, NULL);
}
