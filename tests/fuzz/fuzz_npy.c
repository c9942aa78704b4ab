/*
 * Any bytes as an npy file of rows, and as one of labels: rows or a sentence.
 * The first byte says which column is the label.
 * README.md says how to build and run it.
 */
#include "fuzz.h"

#include <math.h>
#include <string.h>

#include "base/mem.h"
#include "data/npy.h"

enum { NPY_MAX = 1 << 16 };

static void read_rows(const uint8_t *data, size_t size, uint64_t column)
{
    struct unpacker *in = NULL;
    struct stage stage = {0};
    struct sparse rows = {0};
    struct why why = {0};
    enum err err;

    FUZZ_REQUIRE(unpacker_open_memory(data, size, &in) == ERR_OK);
    err = npy_stage(in, NULL, 0, column, pool_serial(), &stage, &why);
    FUZZ_REQUIRE((err == ERR_OK) == (why.text[0] == '\0'));
    if (err == ERR_OK) {
        FUZZ_REQUIRE(stage_unpack(&stage, &rows) == ERR_OK);
        for (size_t k = 0; k < sparse_entries(&rows); k++)
            FUZZ_REQUIRE(isfinite(rows.value[k]) && rows.index[k] < rows.cols);
    }
    sparse_close(&rows);
    stage_close(&stage);
    unpacker_close(in);
}

static void read_labels(const uint8_t *data, size_t size)
{
    struct unpacker *in = NULL;
    struct why why = {0};
    double *labels = NULL;
    uint64_t count = 0;
    enum err err;

    FUZZ_REQUIRE(unpacker_open_memory(data, size, &in) == ERR_OK);
    err = npy_labels(in, &labels, &count, &why);
    FUZZ_REQUIRE((err == ERR_OK) == (why.text[0] == '\0'));
    for (uint64_t i = 0; i < count; i++)
        FUZZ_REQUIRE(isfinite(labels[i]));
    mem_free(labels);
    unpacker_close(in);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size > 0 && size < NPY_MAX) {
        read_rows(data + 1, size - 1, data[0]);
        read_labels(data + 1, size - 1);
    }
    return 0;
}
