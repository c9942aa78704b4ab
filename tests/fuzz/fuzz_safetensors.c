/*
 * Any bytes as a safetensors file: tensors or a sentence.  Tensors must lie
 * within the bytes, one behind the other, and written and read again they must
 * be the same.  Names and texts are those that jansson finds in the header, and
 * what is refused as no JSON jansson refuses, too.
 * README.md says how to build and run it.
 */
#include "fuzz.h"

#include <jansson.h>
#include <string.h>

#include "base/mem.h"
#include "model/files/safetensors.h"

static size_t bytes_of(const struct tensor *tensor)
{
    return tensor_numbers(tensor) * tensor_number_size(tensor->type);
}

static void check(const struct safetensors *file, const uint8_t *end)
{
    const char *at = (const char *)end;

    for (size_t i = file->count; i-- > 0;) {
        at -= bytes_of(&file->tensor[i]);
        FUZZ_REQUIRE(file->tensor[i].rank <= TENSOR_RANK_MAX);
        FUZZ_REQUIRE((const char *)file->tensor[i].data == at);
    }
}

static void compare(const struct safetensors *file, const json_t *tree)
{
    const json_t *const notes = json_object_get(tree, "__metadata__");

    FUZZ_REQUIRE(json_object_size(tree) == file->count + (notes != NULL));
    FUZZ_REQUIRE(json_object_size(notes) == file->notes);
    for (size_t i = 0; i < file->count; i++)
        FUZZ_REQUIRE(json_object_get(tree, file->tensor[i].name) != NULL);
    for (size_t i = 0; i < file->notes; i++) {
        const struct tensor_note *const note = &file->note[i];
        const json_t *const text = json_object_get(notes, note->key);

        FUZZ_REQUIRE(json_is_string(text));
        FUZZ_REQUIRE(strcmp(json_string_value(text), note->text) == 0);
        FUZZ_REQUIRE(safetensors_note(file, note->key) == note->text);
    }
}

/* The header by another's reader, which passes a NUL byte behind a number;
 * NULL: no JSON object. */
static json_t *tree_of(const uint8_t *data, size_t size)
{
    uint64_t length = UINT64_MAX;

    if (size >= sizeof length)
        memcpy(&length, data, sizeof length);
    if (size < sizeof length || length > size - sizeof length ||
        memchr(data + sizeof length, 0, (size_t)length) != NULL)
        return NULL;
    return json_loadb((const char *)data + sizeof length, (size_t)length,
                      JSON_REJECT_DUPLICATES, NULL);
}

static void write_and_read(const struct safetensors *file)
{
    const struct tensor_note note = {"key", "text"};
    struct safetensors again;
    struct why why = {0};
    char *bytes = NULL;
    size_t size = 0;

    FUZZ_REQUIRE(safetensors_write(&note, 1, file->tensor, file->count, &bytes,
                                   &size) == ERR_OK);
    FUZZ_REQUIRE(safetensors_read(&again, bytes, size, &why) == ERR_OK);
    FUZZ_REQUIRE(again.count == file->count);
    for (size_t i = 0; i < file->count; i++) {
        const struct tensor *const was = &file->tensor[i];
        const struct tensor *const is = safetensors_find(&again, was->name);

        FUZZ_REQUIRE(is != NULL && is->type == was->type);
        FUZZ_REQUIRE(is->rank == was->rank);
        FUZZ_REQUIRE(memcmp(is->shape, was->shape, sizeof is->shape) == 0);
        FUZZ_REQUIRE(memcmp(is->data, was->data, bytes_of(was)) == 0);
    }
    safetensors_close(&again);
    mem_free(bytes);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct safetensors file = {0};
    struct why why = {0};
    const enum err err = safetensors_read(&file, data, size, &why);
    json_t *const tree = tree_of(data, size);

    FUZZ_REQUIRE((err == ERR_OK) == (why.text[0] == '\0'));
    if (err == ERR_OK) {
        fuzz_reached = true;
        check(&file, data + size);
        compare(&file, tree);
        write_and_read(&file);
    }
    FUZZ_REQUIRE(strncmp(why.text, "its header, byte", 16) != 0 ||
                 tree == NULL);
    json_decref(tree);
    safetensors_close(&file);
    return 0;
}
