/*
 * Any bytes as an npz file, dense or sparse: rows or a sentence, and rows that
 * are in order.  README.md says how to build and run it.
 */
#include "fuzz.h"

#include <math.h>
#include <string.h>

#include "base/pool.h"
#include "data/read/npz.h"

enum { NPZ_MAX = 1 << 14 };

static void check_rows(const struct sparse *rows)
{
    for (uint32_t i = 0; i < rows->rows; i++) {
        for (size_t k = rows->start[i]; k < rows->start[i + 1]; k++) {
            FUZZ_REQUIRE(rows->index[k] < rows->cols);
            FUZZ_REQUIRE(k == rows->start[i] ||
                         rows->index[k - 1] < rows->index[k]);
            FUZZ_REQUIRE(isfinite(rows->value[k]) && rows->value[k] != 0);
        }
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct encoder encoder = {0};
    const struct source_options options = {
        .spec = "bytes.npz",
        .text = {size == 0 ? "" : (const char *)data, size},
        .unlabelled = true,
        .encoder = &encoder};
    struct stage stage = {0};
    struct sparse rows = {0};
    struct why why = {0};
    enum err err;

    if (size > NPZ_MAX)
        return 0;
    err = npz_read(&options, &stage, &why);
    FUZZ_REQUIRE((err == ERR_OK) == (why.text[0] == '\0'));
    if (err == ERR_OK) {
        fuzz_reached = true;
        FUZZ_REQUIRE(stage_unpack(&stage, &rows) == ERR_OK);
        check_rows(&rows);
    }
    sparse_close(&rows);
    stage_close(&stage);
    encoder_close(&encoder);
    return 0;
}
