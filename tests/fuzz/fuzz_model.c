/*
 * Any bytes as a model file, encoder and all: a model, linear or a network, or
 * a sentence.  A model
 * must be within its limits, and written and read again it must be the same
 * to the bit.
 * README.md says how to build and run it.
 */
#include "fuzz.h"

#include <math.h>
#include <string.h>

#include "base/mem.h"
#include "model/file.h"
#include "model/net/neural_model.h"

enum { MODEL_MAX = 1 << 16 };

static void check(const struct model_file *model)
{
    const size_t numbers = model_file_numbers(model);

    FUZZ_REQUIRE(model->features >= 1 && model->features <= DATA_COLS_MAX);
    FUZZ_REQUIRE(model->outputs == 1 || model->outputs == model->classes);
    FUZZ_REQUIRE(model->classes == 0 || model->classes >= 2);
    for (size_t j = 0; j < numbers; j++)
        FUZZ_REQUIRE(model->net != NULL ? isfinite(model->net->parameters[j])
                                        : isfinite(model->w[j]));
    for (uint32_t k = 0; k < model->classes; k++)
        FUZZ_REQUIRE(isfinite(model->label[k]));
    FUZZ_REQUIRE(model->encoder.column == NULL ||
                 model->encoder.cols == model->features);
}

static void write_and_read(const struct model_file *model)
{
    struct model_file again = {0};
    struct why why = {0};
    char *text = NULL;
    char *second = NULL;
    size_t size = 0;
    size_t second_size = 0;
    struct digest hash, again_hash;

    FUZZ_REQUIRE(model_file_encode(model, &text, &size) == ERR_OK);
    FUZZ_REQUIRE(model_file_decode(&again, text, size, &why) == ERR_OK);
    FUZZ_REQUIRE(again.kind == model->kind);
    FUZZ_REQUIRE(again.outputs == model->outputs);
    FUZZ_REQUIRE(model_file_numbers(&again) == model_file_numbers(model));
    hash = model_file_hash(model);
    again_hash = model_file_hash(&again);
    FUZZ_REQUIRE(digest_equal(&hash, &again_hash));
    FUZZ_REQUIRE(model_file_encode(&again, &second, &second_size) == ERR_OK);
    FUZZ_REQUIRE(size == second_size && memcmp(text, second, size) == 0);
    mem_free(text);
    mem_free(second);
    model_file_close(&again);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct model_file model = {0};
    struct why why = {0};
    enum err err;

    if (size >= MODEL_MAX)
        return 0;
    err = model_file_decode(&model, (const char *)data, size, &why);
    FUZZ_REQUIRE((err == ERR_OK) == (why.text[0] == '\0'));
    if (err == ERR_OK) {
        fuzz_reached = true;
        check(&model);
        write_and_read(&model);
    }
    model_file_close(&model);
    return 0;
}
