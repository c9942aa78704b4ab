/*
 * Any bytes as an IDX file of rows, and as one of labels: rows or a sentence,
 * and as many rows as the header counts.
 * README.md says how to build and run it.
 */
#include "fuzz.h"

#include <math.h>
#include <string.h>

#include "base/mem.h"
#include "data/idx.h"

enum { IDX_MAX = 1 << 16 };

static void read_rows(const uint8_t *data, size_t size)
{
    static const double labels[IDX_MAX];
    const uint64_t rows = size < 8 ? 0
                                   : (uint64_t)data[4] << 24 |
                                         (uint64_t)data[5] << 16 |
                                         (uint64_t)data[6] << 8 | data[7];
    struct unpacker *in = NULL;
    struct stage stage = {0};
    struct why why = {0};
    enum err err;

    if (rows > IDX_MAX)
        return;
    FUZZ_REQUIRE(unpacker_open_memory(data, size, &in) == ERR_OK);
    err = idx_stage(in, labels, rows, pool_serial(), &stage, &why);
    FUZZ_REQUIRE((err == ERR_OK) == (why.text[0] == '\0'));
    FUZZ_REQUIRE(err != ERR_OK || stage_rows(&stage) == rows);
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
    err = idx_labels(in, &labels, &count, &why);
    FUZZ_REQUIRE((err == ERR_OK) == (why.text[0] == '\0'));
    for (uint64_t i = 0; i < count; i++)
        FUZZ_REQUIRE(isfinite(labels[i]));
    mem_free(labels);
    unpacker_close(in);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < IDX_MAX) {
        read_rows(data, size);
        read_labels(data, size);
    }
    return 0;
}
